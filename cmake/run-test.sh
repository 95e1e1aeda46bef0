#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run-test.sh FOLDER COMMAND...: runs the command in FOLDER, made afresh, with TMPDIR set to it, and the folder for programs' states in it.
set -eu
work=$1
shift
rm -rf -- "$work"
mkdir -p -- "$work"
cd -- "$work"
TMPDIR=$work
XDG_STATE_HOME=$work/state
export TMPDIR XDG_STATE_HOME
exec "$@"
