#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# newbad.sh KVSLOT: what `kvslot new` refuses, and that it leaves nothing behind then.
set -eu
kvslot=$1
. "$(dirname -- "$0")/lib.sh"
mkdir here
cd here

for name in '' Store 1st _x -- x.y 'x y' x/y ../x é; do
  refuse 2 "cannot be a backend's" new -- "$name"
done
for name in lmdb mock redis rediss valkey wqskv; do
  refuse 2 "'$name' is kept for kvslot's own" new "$name"
done
refuse 2 'has 33 bytes; at most 32' new abcdefghijklmnopqrstuvwxyz0123456
refuse 2 "no shape 'fast'; --shape takes blocking, async or vendor" new store --shape fast
refuse 2 "no shape 'common'" new store --shape common
refuse 1 'folder nowhere/deep cannot be made: No such file' new store --dir nowhere/deep
rm -f out err
[ -z "$(ls)" ] || fail "left behind: $(ls)"

mkdir store
echo mine >store/mine
refuse 1 'folder ./store cannot be made: File exists; --dir takes another' new store
refuse 1 'folder store cannot be made: File exists' new other --dir store
[ "$(ls store)" = mine ] || fail "a folder that was there is touched: $(ls store)"

# No room in the middle: everything is taken back.
(
  ulimit -f 2
  trap '' XFSZ
  refuse 1 'half/.* cannot be written: File too large' new half
  finish
) || fail "writing over a limit"
[ ! -e half ] || fail "half a backend is left: $(ls half)"

succeed new abcdefghijklmnopqrstuvwxyz012345
succeed new a
[ "$(cd a && echo *)" = 'CMakeLists.txt README.md a.c expected-capabilities memory.h' ] || fail "files: $(ls a)"
succeed new x-y_z --shape async --dir "$PWD/x"
grep -q 'x_y_z_submit' x/x-y_z.c || fail "a dash is no part of a C name"
finish
