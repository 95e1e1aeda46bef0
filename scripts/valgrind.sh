#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# valgrind.sh PROGRAM [ARGUMENT...]: runs a test program under valgrind; put in front of it as KVSLOT_TEST_WRAPPER.
#
# Exits 99 where valgrind has found an error, in the program or in one of its children, else with the program's status.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[ $# -gt 0 ] || fail 2 "usage: scripts/valgrind.sh PROGRAM [ARGUMENT...]"
logs=$(mktemp -d "${TMPDIR:-/tmp}.valgrind.XXXXXX") # not in TMPDIR, which is the test's own
trap 'rm -rf -- "$logs"' EXIT

status=0
# Programs that tests start and that are not ours run as they are.
# The parent of a child that has exited with 99 fails in its own way: so the processes' reports are looked at too.
valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
  --trace-children=yes '--trace-children-skip=*/redis-server,*/openssl' --fair-sched=try --error-markers=valgrind-error-begin,valgrind-error-end \
  "--log-file=$logs/%p" "$@" || status=$?
find "$logs" -type f -exec cat {} + >&2
if [ "$status" -ne 0 ] && grep -rqs valgrind-error-begin "$logs"; then
  status=99
fi
exit "$status"
