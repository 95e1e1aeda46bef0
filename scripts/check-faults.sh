#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-faults.sh: each test that docs/faults.md names is there.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"
missing=0 rows=0
while IFS=' ' read -r file function; do
  rows=$((rows + 1))
  case $file in
    */*) ;;
    *) file=sdk/tests/$file ;;
  esac
  if ! grep -qE "^static void $function\(void" "$file"; then
    echo "docs/faults.md names $function of $file, which is not there" >&2
    missing=$((missing + 1))
  fi
done < <(sed -n 's/.*| `\([^`]*\.c\): \([a-z_0-9]*\)` |$/\1 \2/p' docs/faults.md)
[ "$rows" -gt 0 ] || fail 2 "docs/faults.md names no test"
[ "$missing" -eq 0 ] || fail 1 "$missing of $rows tests are not there"
[ "$(grep -c '^| [^-]' docs/faults.md)" -eq $((rows + $(grep -c '^| fault |' docs/faults.md))) ] ||
  fail 1 "a row of docs/faults.md names no test"
echo "$rows kinds of fault, each with its test"
