#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# options-test.sh COMPILER: what configuring says where a library is missing, and about values that it does not know.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/assert.sh"
compiler=$1

configure() { # configure OPTION...; a library variable set to nothing stands for one that is not there
  rm -rf build
  try cmake -S "$scripts/.." -B build "-DCMAKE_C_COMPILER=$compiler" "$@"
  out=$(printf '%s' "$out" | tr -s ' \n' ' ')
}

configure -DKVSLOT_lmdb_LIBRARY= -DKVSLOT_cmocka_LIBRARY=
is "no lmdb, AUTO: status" "$status" 0
has "no lmdb, AUTO" "$out" "kvslot: the lmdb backend left out: lmdb was not found (Debian: apt-get install liblmdb-dev)"
has "no cmocka, AUTO" "$out" "kvslot: the unit tests left out: cmocka was not found (Debian: apt-get install libcmocka-dev)"

configure -DKVSLOT_lmdb_LIBRARY= -DKVSLOT_LMDB=ON
is "no lmdb, ON: status" "$status" 1
has "no lmdb, ON" "$out" "KVSLOT_LMDB is ON but lmdb was not found (Debian: apt-get install liblmdb-dev)"

configure -DKVSLOT_jansson_LIBRARY=
is "no jansson, AUTO: status" "$status" 0
has "no jansson, AUTO: testkit" "$out" "kvslot: the testkit left out: jansson was not found"
has "no jansson, AUTO: wqskv" "$out" "kvslot: the wqskv backend left out: jansson was not found"
has "no jansson, AUTO: command" "$out" "kvslot: the kvslot command left out: jansson and testkit were not found"

configure -DKVSLOT_jansson_LIBRARY= -DKVSLOT_COMMAND=ON
is "no jansson, ON: status" "$status" 1

configure -DKVSLOT_yajl_LIBRARY=
is "no yajl, AUTO: status" "$status" 0
has "no yajl, AUTO" "$out" "kvslot: the connector library left out: yajl was not found (Debian: apt-get install libyajl-dev)"

configure -DKVSLOT_LMDB=OFF
is "OFF: status" "$status" 0
has "OFF" "$out" "kvslot: the lmdb backend left out: KVSLOT_LMDB is OFF"

configure -DKVSLOT_LMDB=maybe
is "another value: status" "$status" 1
has "another value" "$out" "KVSLOT_LMDB is 'maybe'; it can be ON, OFF or AUTO"

configure -DKVSLOT_TIMEOUT_MULTIPLIER=0
is "multiplier 0: status" "$status" 1
has "multiplier 0" "$out" "KVSLOT_TIMEOUT_MULTIPLIER is '0'; a whole number from 1 is needed"

configure -DCMAKE_CXX_COMPILER=
is "no C++ compiler, AUTO: status" "$status" 0
has "no C++ compiler, AUTO" "$out" "kvslot: the NIXL plugins left out: libstdc++ was not found (Debian: apt-get install g++)"
configure -DCMAKE_CXX_COMPILER= -DKVSLOT_NIXL=ON
is "no C++ compiler, ON: status" "$status" 1

configure -DCMAKE_CXX_COMPILER= -DKVSLOT_WQSKV=ON
is "no C++ compiler, wqskv: status" "$status" 1
has "no C++ compiler, wqskv" "$out" "KVSLOT_WQSKV is ON but libstdc++ was not found (Debian: apt-get install g++ libjansson-dev)"
configure -DWQSKV_INCLUDE_DIR=/nowhere/include
is "no vendor's header: status" "$status" 1
has "no vendor's header" "$out" "kvslot: there is no file /nowhere/include/kv_interface.h; WQSKV_INCLUDE_DIR and WQSKV_LIBRARY_DIR, both"
