#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD SECONDS: the fuzz target with libFuzzer, from the corpus. What it finds beyond that stays in BUILD/fuzz.
#
# clang compiles the sources of the library once more, with AddressSanitizer; libkvslot.so is that of BUILD.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
build=$1 seconds=$2
command -v clang >/dev/null || {
  echo "run.sh: clang was not found (Debian: apt-get install clang libclang-rt-dev)" >&2
  exit 2
}
mkdir -p "$build/fuzz/found"
clang -std=c17 -g -O1 -D_GNU_SOURCE= -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
  -I"$here/../include" -I"$here/../src" -I"$here/../../sdk/include" "$here/json_fuzz.c" "$here"/../src/*.c \
  -L"$build/lib" -Wl,-rpath,"$build/lib" -lkvslot -lyajl -o "$build/fuzz/connector"
cd "$build/fuzz"
./connector -max_total_time="$seconds" -max_len=4096 -timeout=30 -print_final_stats=1 found "$here/corpus"
