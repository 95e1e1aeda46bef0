#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mutants.sh [OPTION...]: breaks the SDK on purpose, one change at a time, and sees that the tests which cite the broken
# requirement fail. The changes are in sdk/tests/mutants; --help lists the options.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

need "${build_packages[@]}" g++ git libcmocka-dev python3
exec python3 "$root/scripts/mutants/run.py" "$@"
