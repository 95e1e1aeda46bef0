#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# badinput.sh KVSLOT SHY-PLUGIN: each wrong input is one sentence and the right exit code. KVS-REQ-011 KVS-REQ-082
set -eu
kvslot=$1 shy=$2
. "$(dirname -- "$0")/lib.sh"
store=lmdb:$PWD/store
echo value >value

# Backends.
refuse 3 "no backend 'lmbd'.*'lmdb'" info lmbd
refuse 3 "no backend 'lmbd'.*'lmdb'" put lmbd:/x k value
refuse 3 "no backend 'nothing-like-it'.*kvslot-nothing-like-it\.so" query nothing-like-it k
KVSLOT_PLUGIN_PATH=$PWD/a:$PWD/b refuse 3 "no backend 'zz'.*$PWD/a.*$PWD/b" info zz
refuse 2 "'Lmdb'|malformed" info Lmdb
refuse 2 'malformed' query "lmdb:%zz" k
refuse 2 'malformed|TARGET|target' query '' k

# Parameters, in the URI and beside it.
for command in get query remove keys put; do
  key=k
  [ $command != keys ] || key=
  refuse 2 "no parameter 'pth'.*'path'.*path, " $command "lmdb:?pth=x" $key
  refuse 2 "no parameter 'map_sise'.*'map_size'" $command "$store" $key -p map_sise=1GiB
  refuse 2 "parameter 'map_size' is '12x'.*64KiB.*64TiB" $command "$store?map_size=12x" $key
  refuse 2 "parameter 'sync' is 'maybe'.*full" $command "$store" $key -p sync=maybe
  refuse 2 "parameter 'timeout' is '5'" $command "$store" $key -p timeout=5
  refuse 2 "parameter 'max_readers' is '1'.*2.*65536" $command "$store" $key -p max_readers=1
  refuse 2 "'path' is given twice" $command "$store" $key -p path=/x
  refuse 2 "needs parameter 'path'" $command lmdb $key
done
refuse 2 "'mood' is 'soso'.*good.*bad" query "$shy" k -p mood=soso
refuse 2 "host" query lmdb://host/x k

# Paths.
refuse 1 "/proc/none.*No such file" put lmdb:/proc/none/x k value
refuse 1 "value/x.*Not a directory" put "lmdb:$PWD/value/x" k value
refuse 1 "absent" query "lmdb:$PWD/absent?create=no" k
[ ! -e absent ] || fail "create=no made the folder"

# Keys.
long=$(printf '%0600d' 0)
succeed put "$store" k value
for command in put get query remove; do
  refuse 2 'key is empty' $command "$store" ''
  refuse 2 'key is empty' $command "$store" --key-hex ''
  refuse 2 'key has 600 bytes.*511' $command "$store" "$long"
done
refuse 2 'key has 512 bytes.*511' query "$store?prefix=$(printf '%0511d' 0)" k
refuse 2 '1000' put "$shy" k /proc/kallsyms

# What is a plugin's file, a URI, a name: KVS-REQ-527
refuse 3 "plugin './nodir:x' cannot be loaded" info ./nodir:x
refuse 3 "plugin 'x\.so' cannot be loaded" info x.so
refuse 3 "no backend 'x'" info x:/nodir/y.so
refuse 3 "no backend 'so'" info so
cp "$shy" ./kvslot-shy.so
succeed info kvslot-shy.so

# Files that are no plugins.
mkdir folder
refuse 2 "folder'? is a (folder|directory)" info ./folder
refuse 2 "folder'? is a (folder|directory)" query "$PWD/folder/" k
refuse 3 'none\.so.*No such file' info none.so
refuse 3 'none\.so.*No such file' conform ./none.so
refuse 2 'value.*not a shared object' info ./value
: >empty.so
refuse 2 'empty\.so.*not a shared object' info empty.so
head -c 100 "$shy" >kvslot-cut.so
refuse 2 'kvslot-cut\.so' info ./kvslot-cut.so

# Secrets: neither given nor default ones are ever shown, by the backend either. KVS-REQ-518
: >all
secret() {
  code=$1 pattern=$2
  shift 2
  if [ "$code" -eq 0 ]; then succeed "$@"; else refuse "$code" "$pattern" "$@"; fi
  cat out err >>all
}
secret 0 '' info "$shy"
secret 0 '' info "$shy" --json
secret 1 'password is wrong' query "$shy" kk -p password=geheim-not
secret 0 '' query "$shy" kk -p password=geheim
echo geheim >secret
secret 0 '' query "$shy" kk -p password=@secret
echo geheim-not >secret
secret 1 'password is wrong' query "$shy" kk -p password=@secret
secret 2 "password" query "$shy" kk -p password=@nosuchfile
SHY_PASSWORD=geheim-env secret 1 'password is wrong' query "$shy" kk
secret 3 'no backend' query redis://geheim-user:geheim@host/0 k
secret 2 'geschwister|no parameter' query "$shy" kk -p password=geheim -p geschwister=1
secret 2 'twice' query "$shy" kk -p password=geheim -p password=geheim
KVSLOT_PLUGIN_PATH=$(dirname -- "$shy")
export KVSLOT_PLUGIN_PATH
secret 1 'password is wrong' query shy://me:geheim-not@there kk
secret 2 'twice' query shy://me:geheim@there kk -p password=geheim
secret 2 'port' query shy://me:geheim@there:7 kk
secret 2 '' query 'shy://me:geheim%zz@there' kk
if grep geheim all; then
  fail "a secret was shown"
fi
finish
