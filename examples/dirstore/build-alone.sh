#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build-alone.sh CMAKE SOURCE BUILD: installs kvslot's build tree into ./prefix, builds this example against that, and puts a
# value through the plugin with the installed command.
set -eu
cmake=$1
source=$2
build=$3
here=$(pwd)
unset KVSLOT_PLUGIN_PATH
"$cmake" --install "$build" --prefix "$here/prefix" >install.log
"$cmake" -S "$source" -B alone -DCMAKE_PREFIX_PATH="$here/prefix" >configure.log
"$cmake" --build alone -j 2
printf 'a value\n' >value
"$here/prefix/bin/kvslot" put "$here/alone/kvslot-dirstore.so" key value -p path="$here/store"
"$here/prefix/bin/kvslot" get "$here/alone/kvslot-dirstore.so" key -p path="$here/store" >back
cmp value back
cmp value store/6b6579
