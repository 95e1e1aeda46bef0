#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-requirements.sh [--strict]: every KVS-REQ id cited anywhere must be a requirement of docs/contract.md, and no id
# may stand for two. Requirements that no test cites are listed; with --strict they are an error.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

strict=no
case ${1-} in
'') ;;
--strict) strict=yes ;;
*) fail 2 "unknown option '$1'; --strict is the only one" ;;
esac

# The project to look at; the test of this script has a small one of its own.
root=${KVSLOT_CHECK_ROOT:-$root}
contract=docs/contract.md
cd "$root"
[ -f "$contract" ] || fail 1 "$root/$contract is not there"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export LC_ALL=C

grep -oE '^- \*\*KVS-REQ-[0-9]+\*\*' "$contract" | grep -oE 'KVS-REQ-[0-9]+' | sort >"$work/all" || true
[ -s "$work/all" ] || fail 1 "$contract has no line '- **KVS-REQ-nnn** ...'"
status=0
if [ -n "$(uniq -d "$work/all")" ]; then
  echo "defined more than once: $(uniq -d "$work/all" | tr '\n' ' ')"
  status=1
fi
sort -u -o "$work/all" "$work/all"

cited() { # prints FILE:LINE:ID for every id in the files named on standard input
  tr '\n' '\0' | xargs -0r grep -HnoE 'KVS-REQ-[0-9]+' -- || true
}
project_files '*.c' '*.h' '*.cpp' '*.hpp' '*.h.in' '*.c.in' '*.sh' '*.py' '*.cmake' '*CMakeLists.txt' '*.md' |
  grep -v '^scripts/tests/check-requirements\.sh$' | cited >"$work/cited"
while IFS=: read -r file line id; do
  if ! grep -qx -- "$id" "$work/all"; then
    echo "$file:$line: $id is not in $contract"
    status=1
  fi
done <"$work/cited"

project_files '*/tests/*' 'testkit/cases/*' | grep -v '^scripts/tests/check-requirements\.sh$' | cited |
  sed 's/.*://' | sort -u >"$work/tested"
comm -23 "$work/all" "$work/tested" >"$work/untested"
if [ -s "$work/untested" ]; then
  echo "$(wc -l <"$work/untested") of $(wc -l <"$work/all") requirements are cited by no test:"
  sed 's/KVS-REQ-//' "$work/untested" | paste -sd' ' | fold -sw 100
  [ "$strict" = no ] || status=1
fi
exit "$status"
