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
for file in share/doc/kvslot/LICENSE share/doc/kvslot/conform-report.schema.json share/doc/kvslot/examples/lmdb.html share/kvslot/mock/expected-capabilities include/kvslot/kvslot.h include/kvslot/backend.h include/kvslot/testkit.h include/kvslot/connector.h; do
  [ -e "$prefix/$file" ] || is "installed $file" "not there" "there"
done
has_not "internal library" "$(find "$prefix" -name '*.a')" libkvslot_core

exported() {
  nm -D --defined-only "$1" | awk '$2 != "A" {print $3}'
}
others=$(exported "$prefix/lib/libkvslot.so" | sed 's/@.*//' | grep -v '^kvs_' || true)
is "what libkvslot exports beside kvs_*" "$others" ""
others=$(exported "$prefix/lib/libkvslot-testkit.so" | grep -vE '^kvs_(conform|mock)_' || true)
is "what libkvslot-testkit exports beside kvs_conform_* and kvs_mock_*" "$others" ""
others=$(exported "$prefix/lib/libkvslot-connector.so" | sed 's/@.*//' | grep -vE '^kvs_(connector|ec)_' || true)
is "what libkvslot-connector exports beside kvs_connector_* and kvs_ec_*" "$others" ""
has "libkvslot is not unloaded" "$(readelf -d "$prefix/lib/libkvslot.so")" "NODELETE"
# A program's own copy of a function would stand before the library's.
for program in kvslot kvslot-case; do
  has_not "exports of $program" "$(exported "$prefix/bin/$program")" "kvs_"
done
for plugin in "$prefix"/lib/kvslot/*.so; do
  is "exports of ${plugin##*/}" "$(exported "$plugin")" "kvs_backend_entry"
  has_not "libraries of ${plugin##*/}" "$(readelf -d "$plugin")" "libkvslot"
done

try "$prefix/bin/kvslot" list
is "kvslot list: status" "$status" 0
has "kvslot list" "$out" "$prefix/lib/kvslot/kvslot-lmdb.so"
has "kvslot list" "$out" "$prefix/lib/kvslot/kvslot-mock.so"

# The program of README.md, and one that links the kit.
mkdir program
cat >program/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(program C)
find_package(kvslot REQUIRED COMPONENTS sdk testkit connector)
add_executable(program program.c)
target_link_libraries(program PRIVATE kvslot::sdk)
add_executable(kit kit.c)
target_link_libraries(kit PRIVATE kvslot::testkit)
add_executable(exchange exchange.c)
target_link_libraries(exchange PRIVATE kvslot::connector)
EOF
sed -n '/^```c$/,/^```$/p' "$scripts/../README.md" | grep -v '^```' >program/program.c
cat >program/kit.c <<'EOF'
#include <kvslot/testkit.h>
#include <kvslot/kvslot.h>
#include <stdio.h>

int main(void)
{
    return puts(kvs_version()) < 0;
}
EOF
cat >program/exchange.c <<'EOF'
#include <kvslot/connector.h>
#include <stdio.h>

int main(void)
{
    kvs_connector *c;
    char *json;
    if (kvs_connector_build("", NULL, 0, &c, NULL) != KVS_OK || kvs_connector_prefill(c, &json, NULL, NULL) != KVS_OK)
        return 1;
    puts(json);
    kvs_connector_text_free(json);
    kvs_connector_free(c);
    return 0;
}
EOF
cmake -S program -B program/build -DCMAKE_PREFIX_PATH="$prefix" "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror" >cmake.log
cmake --build program/build >>cmake.log
try program/build/program
is "the program of README.md" "$out" "a block of the cache"
try program/build/kit
is "the version" "$out" "$(sed -n 's/^#define KVS_VERSION_TEXT "\(.*\)"/\1/p' "$prefix/include/kvslot/types.h")"

try program/build/exchange
is "a prefill's parameters" "$out" '{"do_remote_decode":true,"do_remote_prefill":false}'

# The suite as a test of another project's.
mkdir suite
cat >suite/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(suite C)
find_package(kvslot REQUIRED COMPONENTS command)
enable_testing()
kvslot_add_conformance(mock PARAMETERS model=poll FILTER open.limits,roundtrip.* STRICT)
kvslot_add_conformance(mock:other NAME expected EXPECT expected FILTER open.limits)
EOF
echo 'ttl native' >suite/expected
cmake -S suite -B suite/build -DCMAKE_PREFIX_PATH="$prefix" >>cmake.log
try ctest --test-dir suite/build --output-on-failure
is "the suite as a test: status" "$status" 8
has "the suite as a test" "$(echo "$out" | tr -s ' .')" "conformance.mock . Passed"
has "the suite as a test" "$out" "ttl is expected to be native and is none"
has "its report" "$(cat suite/build/conformance.mock.json)" '"verdict": "pass"'
has "its report as JUnit" "$(cat suite/build/conformance.mock.xml)" '<testcase '
refuse_conformance() { # refuse_conformance ARGUMENTS SENTENCE
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(suite C)\nfind_package(kvslot REQUIRED)\nkvslot_add_conformance(%s)\n' \
    "$1" >suite/CMakeLists.txt
  try cmake -S suite -B suite/none -DCMAKE_PREFIX_PATH="$prefix"
  is "kvslot_add_conformance($1): status" "$status" 1
  has "kvslot_add_conformance($1)" "$(echo "$out" | tr -s ' \n' ' ')" "$2"
}
refuse_conformance 'mock EXPECT nothing' "EXPECT is 'nothing', and there is no file"
refuse_conformance 'mock PARAMETERS model' "PARAMETERS has 'model', which is not name=value"
refuse_conformance 'mock COLOUR red' "'COLOUR;red' is not an argument"

# A NIXL plugin of another project's.
if [ -e "$prefix/lib/libkvslot-nixl.a" ]; then
  mkdir bridge
  cat >bridge/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(bridge LANGUAGES C CXX)
find_package(kvslot REQUIRED COMPONENTS nixl)
kvslot_add_nixl_plugin(NAME OTHER BACKEND mock)
add_executable(look look.c)
target_link_libraries(look PRIVATE ${CMAKE_DL_LIBS})
EOF
  cat >bridge/look.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>

/* The table begins with the interface's number; its fourth and fifth members answer the plugin's name and version. */
struct table {
    int api;
    void *create, *destroy;
    const char *(*name)(void), *(*version)(void);
};

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    struct table *(*init)(void);
    if (!plugin || !(*(void **)&init = dlsym(plugin, "nixl_plugin_init")))
        return printf("%s\n", dlerror()), 1;
    return printf("%d %s %s\n", init()->api, init()->name(), init()->version()) < 0;
}
EOF
  cmake -S bridge -B bridge/build -DCMAKE_PREFIX_PATH="$prefix" "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror" \
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror" >>cmake.log
  cmake --build bridge/build >>cmake.log
  version=$(sed -n 's/^#define KVS_VERSION_TEXT "\(.*\)"/\1/p' "$prefix/include/kvslot/types.h")
  for plugin in bridge/build/libplugin_OTHER.so "$prefix"/lib/kvslot/nixl/*.so; do
    is "exports of ${plugin##*/}" "$(exported "$plugin" | sort | paste -sd' ')" "nixl_plugin_fini nixl_plugin_init"
    name=${plugin##*/libplugin_}
    try bridge/build/look "$(realpath "$plugin")"
    is "${plugin##*/}" "$out" "1 ${name%.so} $version"
  done
  is "plugins for NIXL" "$(cd "$prefix/lib/kvslot/nixl" && echo *)" "libplugin_KVSLOT.so libplugin_LMDB.so"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(bridge C)' 'find_package(kvslot)' \
    'kvslot_add_nixl_plugin(NAME X)' >bridge/CMakeLists.txt
  try cmake -S bridge -B bridge/none -DCMAKE_PREFIX_PATH="$prefix"
  is "a project without C++: status" "$status" 1
  has "a project without C++" "$out" "the project has to enable the language CXX"
fi

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
