#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-requirements.sh on small projects. The ids are put together here, so that they are not cited by this file.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/assert.sh"

req=KVS-REQ
project=$TMPDIR/project
mkdir -p "$project/docs" "$project/sdk/src" "$project/sdk/tests"
export KVSLOT_CHECK_ROOT=$project
check() {
  try bash "$scripts/check-requirements.sh" "$@"
}

printf -- '- **%s-%s** [sdk] A sentence.\n' $req 001 $req 002 >"$project/docs/contract.md"
echo "/* $req-001 */" >"$project/sdk/tests/test_a.c"
check
is "an id without a test: status" "$status" 0
has "an id without a test: count" "$out" "1 of 2 requirements are cited by no test:"
has "an id without a test: the id" "$out" "
002"
check --strict
is "strict: status" "$status" 1

echo "/* $req-002 */" >"$project/sdk/src/a.c"
check --strict
is "a source is no test: status" "$status" 1

echo "/* $req-002 */" >>"$project/sdk/tests/test_a.c"
check --strict
is "all tested: status" "$status" 0
is "all tested: output" "$out" ""

printf -- '- **%s-004** [sdk] Later.\n\n## Not built yet\n\n| what | ids |\n| --- | --- |\n' $req >>"$project/docs/contract.md"
mkdir "$project/sdk/tests/mutants"
echo "$req-004: a mutant is no test" >"$project/sdk/tests/mutants/a.txt"
check --strict
is "strict, without a test: status" "$status" 1
has "strict, without a test: text" "$out" "1 of 3 requirements are built and cited by no test:
004"
printf '| part of %s-001 | %s-004 |\n' $req $req >>"$project/docs/contract.md"
check --strict
is "strict, not built yet: status" "$status" 0
is "strict, not built yet: output" "$out" ""
echo "/* $req-004 */" >"$project/sdk/tests/test_b.c"
check --strict
is "strict, tested early: status" "$status" 1
has "strict, tested early: text" "$out" "1 of 3 requirements are listed as not built yet, but cited by a test:
004"
rm -r "$project/sdk/tests/test_b.c" "$project/sdk/tests/mutants"

echo "/* $req-003 */" >>"$project/sdk/src/a.c"
check
is "unknown id: status" "$status" 1
has "unknown id: where" "$out" "sdk/src/a.c:2: $req-003 is not in docs/contract.md"
rm "$project/sdk/src/a.c"

printf -- '- **%s-001** [sdk] Another sentence.\n' $req >>"$project/docs/contract.md"
check
is "doubled id: status" "$status" 1
has "doubled id: which" "$out" "defined more than once: $req-001"

rm "$project/docs/contract.md"
check
is "no contract: status" "$status" 1
has "no contract: text" "$out" "docs/contract.md is not there"

check --nothing
is "unknown option: status" "$status" 2
