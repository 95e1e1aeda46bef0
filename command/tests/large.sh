#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# large.sh KVSLOT: a value of 300 MB through LMDB, byte for byte, from another process.
set -eu
kvslot=$1
. "$(dirname -- "$0")/lib.sh"

head -c 300000000 /dev/urandom >value
succeed put "lmdb:$PWD/store" key value
succeed query "lmdb:$PWD/store" key
printed 300000000
succeed get "lmdb:$PWD/store" key copy
same value copy
rm -rf copy store
# shellcheck disable=SC2002
cat value | run put "lmdb:$PWD/store" key
run get "lmdb:$PWD/store" key | cmp - value || fail "through pipes it is not the same"
rm -rf value store
finish
