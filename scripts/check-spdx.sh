#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does every source file, script and page begin with its licence line (after a #! line)?
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

mapfile -t files < <(project_files '*.c' '*.h' '*.cpp' '*.hpp' '*.h.in' '*.c.in' '*.cmake' '*.cmake.in' '*CMakeLists.txt' \
  '*CMakeLists.txt.in' '*.sh' '*.py' '*.map' '*.md' '*.md.in' '*.supp' 'sdk/tests/mutants/*.txt' '.ci/*' .gitignore .editorconfig .clang-format)
[ ${#files[@]} -gt 0 ] || fail 1 "no source files were found under $root"
cd "$root"
wrong=0
for file in "${files[@]}"; do
  if ! head -n 2 -- "$file" | grep -q 'SPDX-License-Identifier: Apache-2\.0'; then
    echo "$file: its first line (second after a #! line) has no 'SPDX-License-Identifier: Apache-2.0'"
    wrong=$((wrong + 1))
  fi
done
[ "$wrong" -eq 0 ] || fail 1 "$wrong of ${#files[@]} files have no licence line"
echo "${#files[@]} files checked"
