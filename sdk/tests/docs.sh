#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs.sh HEADERS: what a requirement asks of the documentation stands in the public headers.
set -eu
headers=$1

# says WHERE WHAT: the sentence is there, however its lines are broken.
says() {
  tr -s ' *\n' ' ' <"$headers/$1" | grep -qF -- "$2" || {
    echo "$1 does not say: $2" >&2
    exit 1
  }
}

# KVS-REQ-059
says kvslot.h 'meta_info "7" and dev_id 7 are one key'

# KVS-REQ-089
says kvslot.h 'no security boundary'

# KVS-REQ-204
says kvslot.h 'Done functions of an engine may run inside kvs_xfer_post(), kvs_xfer_check(), kvs_xfer_wait(),'
for call in kvs_xfer_cancel kvs_xfer_release kvs_xfer_abandon kvs_engine_progress kvs_engine_close 'the calls for one key'; do
  tr -s ' *\n' ' ' <"$headers/kvslot.h" | grep -oE 'Done functions of an engine may run inside [^:]*:' | grep -qF "$call" || {
    echo "kvslot.h does not say that done functions may run inside $call" >&2
    exit 1
  }
done
says kvslot.h 'on the thread that calls: hold no lock there that a done function takes.'
