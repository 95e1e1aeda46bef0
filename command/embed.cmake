# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE=templates -D OUTPUT=templates.c -D "FILES=blocking/backend.c.in;..." -P embed.cmake
#
# Writes a C source with the templates' bytes: `kvslot new` needs no file beside the program. A file's name loses its .in, and
# backend.c becomes the backend's own name.
set(arrays)
set(rows)
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(shape "${file}" DIRECTORY)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE "\\.in$" "" name "${name}")
  string(REGEX REPLACE "^backend\\." "@NAME@." name "${name}")
  file(READ "${SOURCE}/${file}" bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char file_${number}[] = {\n    ${bytes}\n};\n\n")
  string(APPEND rows "    {\"${shape}\", \"${name}\", file_${number}, sizeof file_${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}.new" "/* Made by embed.cmake; do not edit. */
#include \"command.h\"

${arrays}const struct cmd_template kvs_cmd_templates[] = {
${rows}    {NULL, NULL, NULL, 0},
};
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
