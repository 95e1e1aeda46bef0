#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# new.sh KVSLOT-BUILD CMAKE SHAPE [CMAKE-ARGUMENT...]: installs kvslot here, scaffolds a backend, builds it against the install with
# warnings as errors, and runs its own test, the conformance suite.
set -eu
build=$1 cmake=$2 shape=$3
shift 3
. "$(dirname -- "$0")/lib.sh"
"$cmake" --install "$build" --prefix "$PWD/prefix" >install.log
kvslot=$PWD/prefix/bin/kvslot
unset KVSLOT_PLUGIN_PATH
export HOME="$PWD" # CMake's registry of packages is there

succeed new my-store2 --shape "$shape" --dir "my $shape"
grep -qxF "made my $shape/my-store2.c" out || fail "new says: $(cat out)"
grep -qF -- "-DCMAKE_PREFIX_PATH=$PWD/prefix" out && grep -qF "  $kvslot conform my" out || fail "new does not say where kvslot is: $(cat out)"
files='memory.h my-store2.c' marked=my-store2.c table_shape=$shape libraries=
if [ "$shape" = vendor ]; then # the marks go on from one file to the other
  files='my-store2.c shim.cpp shim.h vendor.cpp vendor.h' marked='shim.cpp my-store2.c' table_shape=async libraries=libstdc
fi
[ "$(cd "my $shape" && echo *)" = "CMakeLists.txt README.md expected-capabilities $files" ] || fail "files: $(ls "my $shape")"
! grep -rE '@[A-Z]+@' "my $shape" || fail "a placeholder is left"
cd "my $shape"

# The marks are numbered from 1 in the order in which they are met; all but the first say whether they are required.
# shellcheck disable=SC2086
cat $marked >../marked
grep -oE 'EDIT [0-9]+:' ../marked | grep -oE '[0-9]+' >../marks
seq 1 "$(wc -l <../marks)" | cmp -s - ../marks || fail "marks: $(tr '\n' ' ' <../marks)"
[ "$(wc -l <../marks)" -ge 8 ] || fail "too few marks"
[ "$(grep -cE '(Required|Not required)\. ?\*/' ../marked)" -ge "$(wc -l <../marks)" ] || fail "a mark does not say if it is required"
grep -q "EDIT $(wc -l <../marks)" README.md || fail "README.md counts the marks otherwise"
awk 'length > 110 { print FILENAME ": " FNR ": too long"; bad = 1 } END { exit bad }' ./*.[ch]* || fail "long lines"

"$cmake" -S . -B build -DCMAKE_PREFIX_PATH="$PWD/../prefix" "$@" >../configure.log 2>&1 || { cat ../configure.log; fail configure; }
"$cmake" --build build -j 2 >../build.log 2>&1 || { cat ../build.log; fail build; }
"$(dirname -- "$cmake")/ctest" --test-dir build --output-on-failure >../test.log 2>&1 || { cat ../test.log; fail "its test"; }
grep -q '1/1 Test.*conformance.*Passed' ../test.log || { cat ../test.log; fail "no test ran"; }

grep -q '"verdict": "pass"' build/conformance.my_store2.json || fail "the test leaves no report"
sed 's/^range none/range native/' expected-capabilities >../expect
code=0
run conform build/kvslot-my-store2.so --filter open.limits --expect ../expect >../out 2>../err || code=$?
[ "$code" -eq 1 ] || fail "a lost capability is exit code $code: $(cat ../out ../err)"
grep -q 'range is expected to be native and is none' ../out || fail "a lost capability is not named: $(cat ../out)"

# It links nothing of kvslot. KVS-REQ-413
readelf -d build/kvslot-my-store2.so >../dynamic
grep -q "NEEDED.*$libraries" ../dynamic || fail "readelf says nothing of libraries"
! grep 'NEEDED.*kvslot' ../dynamic || fail "the plugin links kvslot"

# By hand, as its README says, and by name. KVS-REQ-435
succeed conform build/kvslot-my-store2.so -p max_value=1MiB --filter 'roundtrip.*'
grep -q '^verdict: pass' out || fail "verdict: $(cat out)"
KVSLOT_PLUGIN_PATH=build
export KVSLOT_PLUGIN_PATH
succeed info my-store2
grep -qE "^shape +$table_shape\$" out || fail "shape: $(cat out)"
grep -qE "^flags .*emulated\$" out || fail "a template's store is not marked EMULATED"
refuse 2 "key is empty" put my-store2 ''
refuse 2 "value" put my-store2 k README.md -p max_value=10
"$cmake" --install build --prefix "$PWD/../prefix" >../install2.log
unset KVSLOT_PLUGIN_PATH
succeed info my-store2
finish
