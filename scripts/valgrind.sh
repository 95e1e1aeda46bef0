#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# valgrind.sh PROGRAM [ARGUMENT...]: runs a test program under valgrind; put in front of it as KVSLOT_TEST_WRAPPER.
#
# Exits 99 where valgrind has found an error, in the program or in one of its children. Where it has found none and the
# program failed all the same, it is run once more, and that run counts: on threads that take turns, 30 times slower, a time
# limit may be missed, and valgrind is here for memory errors. With KVSLOT_VALGRIND_ONCE set there is no second run: for
# callers who expect a program to fail.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[ $# -gt 0 ] || fail 2 "usage: scripts/valgrind.sh PROGRAM [ARGUMENT...]"
logs=$(mktemp -d "${TMPDIR:-/tmp}.valgrind.XXXXXX") # not in TMPDIR, which is the test's own
trap 'rm -rf -- "$logs"' EXIT

# run COMMAND...: its status in $status, 99 where a process of it has an error.
run() {
  status=0
  # The parent of a child that has exited with 99 fails in its own way: so the processes' reports are looked at too.
  valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    --trace-children=yes --fair-sched=try --error-markers=valgrind-error-begin,valgrind-error-end \
    "--log-file=$logs/%p" "$@" || status=$?
  find "$logs" -type f -exec cat {} + >&2
  if [ "$status" -ne 0 ] && grep -rqs valgrind-error-begin "$logs"; then
    status=99
  fi
}

run "$@"
if [ "$status" -ne 0 ] && [ "$status" -ne 99 ] && [ -z "${KVSLOT_VALGRIND_ONCE-}" ]; then
  printf '%s: %s has failed with %s, and valgrind has found no error: it is run once more, and that counts\n' \
    "${0##*/}" "$1" "$status" >&2
  rm -rf -- "${logs:?}"/*
  if [ -n "${TMPDIR-}" ]; then # in a fresh folder, as the first time
    TMPDIR=$(mktemp -d "$TMPDIR/again.XXXXXX")
    export TMPDIR
    cd -- "$TMPDIR"
  fi
  run "$@"
fi
exit "$status"
