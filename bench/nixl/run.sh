#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD RELEASE COMMAND...: runs bench-nixl of that build with that release of NIXL, which is downloaded where build/wheels
# has it not.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd -- "$1" && pwd)
release=$2
shift 2
wheels=$(bash "$root/bridge/nixl/wheels/fetch.sh" "${KVSLOT_WHEELS_FOLDER:-$root/build/wheels}" "${KVSLOT_PYTHON:-python3}" "$release")
NIXL_CAPI=$(find "$wheels/nixl-$release" -name libnixl_capi.so | head -n 1)
[ -n "$NIXL_CAPI" ] || {
  echo "run.sh: NIXL $release has no libnixl_capi.so" >&2
  exit 1
}
export NIXL_CAPI NIXL_PLUGIN_DIR=$build/lib/bench-nixl NIXL_LOG_LEVEL=${NIXL_LOG_LEVEL:-ERROR}
export KVSLOT_PLUGIN_PATH=$build/lib/kvslot
exec "$@"
