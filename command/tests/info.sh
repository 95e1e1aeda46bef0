#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# info.sh KVSLOT SHY-PLUGIN JSON-CHECK: what list and info say.
set -eu
kvslot=$1 shy=$2 check=$3
. "$(dirname -- "$0")/lib.sh"

# in_json PATH TEXT
in_json() {
  got=$("$check" out "$1") || fail "info --json is no JSON"
  [ "$got" = "$2" ] || fail "$1 is $got, not $2"
}
# has LINE
has() {
  grep -qE -- "^$1\$" out || fail "no line '$1' in: $(cat out)"
}

succeed list
grep -qE '^lmdb  +/.*/kvslot-lmdb\.so$' out || fail "list: $(cat out)"
grep -qE '^mock  +/.*/kvslot-mock\.so$' out || fail "list: $(cat out)"
LC_ALL=C sort -c out || fail "list is not in the order of names"

succeed info lmdb
has 'name +lmdb'
has 'shape +async'
has 'threads +parallel'
has '  read +native'
has '  ttl +none'
has '  max_key +511 \(bytes\)'
has '  max_batch +65536 \(descriptors\)'
has '  path: string, required.*'
has '  map_size: size 64KiB to 64TiB, default .1GiB.*'
has '      in a URI: path'
has '  timeout: duration.*default .30s.*'
has '      environment: KVSLOT_TIMEOUT'
cp out by-name
succeed info "lmdb:$PWD/nowhere?create=no" # nothing is opened
same by-name out
succeed info lmdb --json
cp out first
succeed info lmdb --json
same first out
sed -n 's/^  "\([a-z_]*\)":.*/\1/p' out >members
LC_ALL=C sort -c members || fail "the members are not sorted: $(tr '\n' ' ' <members)"
in_json name '"lmdb"'
in_json shape '"async"'
in_json thread_model '"parallel"'
in_json capabilities.durable '"native"'
in_json capabilities.ttl '"none"'
in_json limits.max_key 511
in_json memory.local '["dram"]'
in_json flags '["complete_deferred"]'
in_json parameters.0.name '"path"'
in_json parameters.0.required true
in_json parameters.0.uri '"path"'
in_json sdk_parameters.0.name '"timeout"'
in_json sdk_parameters.0.unit '"ns"'

succeed info mock --json
in_json shape '"async, blocking"'
in_json flags '["emulated"]'
in_json limits.max_value null

succeed info "$shy"
has 'name +shy'
has 'file +.*/kvslot-shy\.so'
has 'schemes +timid\?mood=bad'
has 'flags +emulated'
has '  query +native'
has '  list +none'
has '  remove +none'
has '  overwrite +none'
has '  max_value +1000 \(bytes\)'
has '  max_key +no limit'
has '  password: string, secret'
has '      environment: SHY_PASSWORD'
has '  mood: enum good\|bad, default .good.'
has '  patience: duration 1ms to 1m, default .5s.'
succeed info "$shy" --json # its help is no UTF-8
in_json parameters.0.secret true
in_json parameters.0.default null
in_json parameters.0.help '"opens ? it"'
in_json parameters.1.choices '["good","bad"]'
in_json parameters.2.min 1000000
in_json parameters.2.max 60000000000
in_json parameters.3.min null

# A log line is no part of the output.
KVSLOT_LOG=trace run info lmdb --json >out 2>/dev/null
in_json name '"lmdb"'
finish
