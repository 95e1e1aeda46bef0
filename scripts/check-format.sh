#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-format.sh [--fix]: do all C sources look as .clang-format says? Other versions than 14 format a little differently.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

case ${1-} in
'') mode=(--dry-run -Werror) ;;
--fix) mode=(-i) ;;
*) fail 2 "unknown option '$1'; --fix is the only one" ;;
esac

formatter=
for candidate in clang-format-14 clang-format; do
  if command -v "$candidate" >/dev/null 2>&1 && "$candidate" --version | grep -q 'version 14\.'; then
    formatter=$candidate
    break
  fi
done
[ -n "$formatter" ] || fail 2 "clang-format 14 was not found (Debian 12: apt-get install clang-format)"

mapfile -t files < <(project_files '*.c' '*.h' '*.cpp' '*.hpp')
[ ${#files[@]} -gt 0 ] || fail 1 "no source files were found under $root"
cd "$root"
"$formatter" --style=file "${mode[@]}" "${files[@]}" || fail 1 "run scripts/check-format.sh --fix"
echo "${#files[@]} files checked"
