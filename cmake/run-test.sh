#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run-test.sh FOLDER COMMAND...: runs the command in FOLDER, made afresh, with TMPDIR set to it.
set -eu
work=$1
shift
rm -rf -- "$work"
mkdir -p -- "$work"
cd -- "$work"
TMPDIR=$work
export TMPDIR
exec "$@"
