#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clone to a backend of your own that passes: builds and installs kvslot into build/quickstart, scaffolds a backend in a
# new folder outside this tree, builds it against the install, and runs the conformance suite on it and on LMDB.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[ $# -eq 0 ] || fail 2 "it takes no arguments, but was given '$1'"
need "${build_packages[@]}"

jobs=$(jobs_count)
cd "$root"
prefix=$root/build/quickstart/prefix
mkdir -p build/quickstart

say "Building kvslot"
cmake --preset release "${build_options[@]}" >build/quickstart/configure.log 2>&1 || {
  cat build/quickstart/configure.log >&2
  fail 1 "configuring failed"
}
cmake --build build/release -j "$jobs" --target kvslot_package

say "Installing it into $prefix"
rm -rf -- "$prefix"
cmake --install build/release --prefix "$prefix" >build/quickstart/install.log
kvslot=$prefix/bin/kvslot

place=$(mktemp -d "${TMPDIR:-/tmp}/kvslot-quickstart.XXXXXX")
store=$(mktemp -d "$root/build/quickstart/lmdb.XXXXXX")
trap 'rm -rf -- "$store"; rmdir -- "$place" 2>/dev/null || true' EXIT
demo=$place/demo

say "Scaffolding a backend in $demo"
"$kvslot" new demo --dir "$demo"
cmake -S "$demo" -B "$demo/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_PREFIX_PATH=$prefix" >"$place/cmake.log" 2>&1 || {
  cat "$place/cmake.log" >&2
  fail 1 "configuring $demo failed"
}
rm -f -- "$place/cmake.log"
cmake --build "$demo/build" -j "$jobs"
plugin=$demo/build/kvslot-demo.so

status=0
say "Conformance of the new backend: kvslot conform $plugin"
"$kvslot" conform "$plugin" || status=1
say "Conformance of LMDB: kvslot conform lmdb:$store"
"$kvslot" conform "lmdb:$store" || status=1

if [ "$status" -ne 0 ]; then
  fail 1 "a conformance run above did not pass; the scaffolded backend is in $demo"
fi
cat <<EOF

==> What to do next
Your backend is in    $demo
It keeps its values in memory. Its README.md says which numbered marks in the source to replace by calls to your store.
After an edit:

    cmake --build $demo/build
    $kvslot conform $plugin

Or start one under your own name:

    $kvslot new NAME --dir FOLDER        (--shape async for a store with an asynchronous library)
    $kvslot --help
EOF
