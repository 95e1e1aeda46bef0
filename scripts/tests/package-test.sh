#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package-test.sh BUILD: installs that build, moves the install elsewhere, and uses it as another project would.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/assert.sh"
build=$1
unset KVSLOT_PLUGIN_PATH

cmake --install "$build" --prefix "$TMPDIR/first" >install.log
mv first second
prefix=$TMPDIR/second
for file in share/doc/kvslot/LICENSE include/kvslot/kvslot.h include/kvslot/backend.h include/kvslot/testkit.h \
  share/kvslot/templates/blocking share/kvslot/templates/async; do
  [ -e "$prefix/$file" ] || is "installed $file" "not there" "there"
done
has_not "internal library" "$(find "$prefix" -name '*.a')" libkvslot_core

exported() {
  nm -D --defined-only "$1" | awk '$2 != "A" {print $3}'
}
others=$(exported "$prefix/lib/libkvslot.so" | sed 's/@.*//' | grep -v '^kvs_' || true)
is "what libkvslot exports beside kvs_*" "$others" ""
for plugin in "$prefix"/lib/kvslot/*.so; do
  is "exports of ${plugin##*/}" "$(exported "$plugin")" "kvs_backend_entry"
  has_not "libraries of ${plugin##*/}" "$(readelf -d "$plugin")" "libkvslot"
done

try "$prefix/bin/kvslot" list
is "kvslot list: status" "$status" 0
has "kvslot list" "$out" "$prefix/lib/kvslot/kvslot-lmdb.so"
has "kvslot list" "$out" "$prefix/lib/kvslot/kvslot-mock.so"

# A program, and a test that uses the kit.
mkdir program
cat >program/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(program C)
find_package(kvslot REQUIRED COMPONENTS sdk testkit)
add_executable(program program.c)
target_link_libraries(program PRIVATE kvslot::sdk kvslot::testkit)
EOF
cat >program/program.c <<'EOF'
#include <kvslot/kvslot.h>
#include <kvslot/testkit.h>
#include <stdio.h>

int main(void)
{
    kvs_engine *engine;
    struct kvs_error err;
    char back[5] = "";
    uint64_t size = 0;
    if (kvs_engine_open("mock:package", NULL, 0, &engine, &err) != KVS_OK ||
        kvs_put(engine, "key", 3, "value", 5, &err) != KVS_OK || kvs_query(engine, "key", 3, &size, &err) != KVS_OK ||
        kvs_get(engine, "key", 3, back, 5, &err) != KVS_OK || kvs_engine_close(engine, KVS_SEC(5), &err) != KVS_OK) {
        puts(err.text);
        return 1;
    }
    printf("%s %.5s %d\n", kvs_version(), back, (int)size);
    return 0;
}
EOF
cmake -S program -B program/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log
cmake --build program/build >>cmake.log
try program/build/program
is "the program" "$out" "$(sed -n 's/^#define KVS_VERSION_TEXT "\(.*\)"/\1/p' "$prefix/include/kvslot/types.h") value 5"

# An unknown component, and a version from the future.
for wanted in "kvslot REQUIRED COMPONENTS nothing" "kvslot 0.999 REQUIRED"; do
  mkdir -p refused
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(refused C)\nfind_package(%s)\n' "$wanted" >refused/CMakeLists.txt
  try cmake -S refused -B refused/build -DCMAKE_PREFIX_PATH="$prefix"
  is "find_package($wanted): status" "$status" 1
  rm -r refused
done

# Both templates, built and run through the suite as they come.
for shape in blocking async; do
  "$prefix/bin/kvslot" new "my_$shape" --shape "$shape" --dir "$TMPDIR/my_$shape" >new.log
  cmake -S "my_$shape" -B "my_$shape/build" -DCMAKE_PREFIX_PATH="$prefix" "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror" >>cmake.log
  cmake --build "my_$shape/build" >>cmake.log
  plugin=$TMPDIR/my_$shape/build/kvslot-my_$shape.so
  is "exports of ${plugin##*/}" "$(exported "$plugin")" "kvs_backend_entry"
  try "$prefix/bin/kvslot" conform "$plugin"
  [ "$status" -eq 0 ] || is "conformance of the $shape template" "$out" "a pass"
done
