#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest.sh DIR JOBS: runs all tests of a build tree; ctest's own summary is the last thing printed.
#
# Where at most $most have failed and none of them with a report of a sanitizer or of valgrind, those are run once more, one
# after the other, and that run counts: under tools that make threads take turns, on processors that others use too, a time
# limit may be missed. Such a test is named, since it has a fault of its own: it took something for prompt that need not be.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[ $# -eq 2 ] || fail 2 "usage: scripts/ctest.sh DIR JOBS"
dir=$1 jobs=$2 most=3
reports='(Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer|runtime error:|valgrind-error-begin'

shown=$(mktemp "${TMPDIR:-/tmp}/ctest.XXXXXX")
trap 'rm -f -- "$shown"' EXIT

ctest --test-dir "$dir" --no-tests=error --output-on-failure -j "$jobs" | tee "$shown" && exit 0

failed=$(sed -n '/^The following tests FAILED:/,$s/^[[:space:]]*[0-9]* - \(.*\) (.*/\1/p' "$shown")
count=$(printf '%s' "$failed" | grep -c . || true)
if [ "$count" -eq 0 ] || [ "$count" -gt "$most" ] || grep -Eq "$reports" "$shown"; then
  exit 1
fi
say "Failed and run once more, alone, which counts: ${failed//$'\n'/, }"
ctest --test-dir "$dir" --rerun-failed --no-tests=error --output-on-failure
