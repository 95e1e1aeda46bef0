#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-requirements.sh [--strict]: every KVS-REQ id cited anywhere must be a requirement of docs/contract.md, and no id
# may stand for two. Requirements that no test cites are listed; with --strict they are an error, unless the contract's
# table "Not built yet" has them, and one of that table is an error where a test does cite it.
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

# What breaks the SDK on purpose is no test of it.
project_files '*/tests/*' 'testkit/cases/*' |
  grep -vE '^(scripts/tests/check-requirements\.sh|sdk/tests/mutants/.*)$' | cited | sed 's/.*://' | sort -u >"$work/tested"
# The last column of the table's rows.
sed -n '/^## Not built yet$/,/^## /p' "$contract" | grep '^|' | sed -E 's/ *\|[^|]*$//; s/.*\|//' |
  grep -oE 'KVS-REQ-[0-9]+' | sort -u >"$work/unbuilt" || true
show() { # show FILE TEXT: the ids of the file, one behind the other, below what they are
  [ -s "$1" ] || return 0
  echo "$(wc -l <"$1") of $(wc -l <"$work/all") requirements $2:"
  sed 's/KVS-REQ-//' "$1" | paste -sd' ' | fold -sw 100
}
if [ "$strict" = yes ]; then
  comm -23 "$work/all" "$work/tested" | comm -23 - "$work/unbuilt" >"$work/untested"
  comm -12 "$work/unbuilt" "$work/tested" >"$work/early"
  show "$work/untested" 'are built and cited by no test'
  show "$work/early" 'are listed as not built yet, but cited by a test'
  if [ -s "$work/untested" ] || [ -s "$work/early" ]; then
    status=1
  fi
else
  comm -23 "$work/all" "$work/tested" >"$work/untested"
  show "$work/untested" 'are cited by no test'
fi
exit "$status"
