#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-header.sh COMPILER LANGUAGE STANDARD INCLUDE-DIR... -- HEADER: does the header compile alone, twice in one unit, with
# nothing defined before it?
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 5 ] || fail 2 "COMPILER LANGUAGE STANDARD INCLUDE-DIR... -- HEADER are needed"
compiler=$1 language=$2 standard=$3
shift 3
includes=()
while [ $# -gt 1 ] && [ "$1" != -- ]; do
  includes+=("-I$1")
  shift
done
[ $# -eq 2 ] || fail 2 "one HEADER is needed after --"
header=$2

printf '#include <%s>\n#include <%s>\nint kvs_header_check(void);\n' "$header" "$header" |
  "$compiler" -x "$language" "-std=$standard" -fsyntax-only -Wall -Wextra -Wundef -pedantic -Werror "${includes[@]}" -
