#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh WHEELS PYTHON PLUGINS RELEASE PROGRAM [ARGUMENT...]: runs a Python program with that release of NIXL and the NIXL
# plugins of a folder. The release is taken from the folder WHEELS, and downloaded where it is not there.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
wheels=$1
python=$2
plugins=$3
release=$4
shift 4

installed=$(bash "$here/fetch.sh" "$wheels" "$python" "$release")
export NIXL_PLUGIN_DIR=$plugins
export PYTHONPATH=$installed/nixl-$release:$installed/numpy
export PYTHONDONTWRITEBYTECODE=1 PYTHONFAULTHANDLER=1
"$python" -c 'import torch' 2>/dev/null || PYTHONPATH+=:$here/stand-in
# The wheel's logger writes what the cases bring about on purpose.
export NIXL_LOG_LEVEL=${NIXL_LOG_LEVEL:-ERROR}
exec "$python" -u "$@"
