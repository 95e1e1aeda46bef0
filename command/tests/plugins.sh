#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plugins.sh KVSLOT FOLDER: plugins that must be refused, each with a sentence that names the file.
set -eu
kvslot=$1 folder=$2
. "$(dirname -- "$0")/lib.sh"

bad() {
  [ -f "$folder/kvslot-$1.so" ] || fail "$folder/kvslot-$1.so was not built"
  for command in info query conform; do
    key=
    [ $command != query ] || key=k
    refuse 2 "kvslot-$1\.so.*$2" $command "$folder/kvslot-$1.so" $key
  done
}
bad t-api-newer 'API'
bad t-api-older 'API'
bad t-magic '.'
bad t-no-symbol 'kvs_backend_entry'
bad t-null '.'
bad t-no-open 'open'
bad t-no-put 'put'
bad t-no-get 'get'
bad t-no-io 'put'
bad t-misnamed 't-other'
bad t-size-small '.'
# By name it is the same.
KVSLOT_PLUGIN_PATH=$folder
export KVSLOT_PLUGIN_PATH
refuse 2 'kvslot-t-no-open\.so.*open' info t-no-open
succeed list
grep -q "^t-no-open  *$folder/kvslot-t-no-open\.so\$" out || fail "list does not show t-no-open: $(cat out)"
finish
