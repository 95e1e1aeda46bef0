#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What valgrind.sh makes of a program and its children, with a valgrind that only does what it is told to.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/assert.sh"

mkdir "$TMPDIR/bin" "$TMPDIR/work"
cat >"$TMPDIR/bin/valgrind" <<'EOS'
#!/bin/sh
# $RUN is its status, with an e behind it where a process of it reported an error.
for option; do
  case $option in
  --log-file=*) log=$(echo "${option#*=}" | sed "s/%p/$$/") ;;
  --error-markers=*) mark=${option#*=} ;;
  --error-exitcode=99) exitcode=99 ;;
  esac
done
echo "$* in $PWD" >>"$CALLS"
: "${exitcode:?}"
case $RUN in
*e) printf '%s\nan error of pid %s\n%s\n' "${mark%,*}" $$ "${mark#*,}" >"$log" ;;
*) echo "not an error" >"$log" ;;
esac
exit "${RUN%e}"
EOS
chmod +x "$TMPDIR/bin/valgrind"
calls=$TMPDIR/calls
cd "$TMPDIR/work"

run() { # run RUN
  : >"$calls"
  try env PATH="$TMPDIR/bin:$PATH" TMPDIR="$PWD" CALLS="$calls" RUN="$1" "$scripts/valgrind.sh" program -a 'b c'
  is "$1: runs" "$(grep -c . "$calls")" 1
}

run 0
is "passes: status" "$status" 0
has "passes: the program" "$(cat "$calls")" " program -a b c in $PWD"

run 3
is "fails: status" "$status" 3

run 99
is "an error, its process told it: status" "$status" 99

run 1e
is "an error of a child: status" "$status" 99
has "an error of a child: shown" "$out" "an error of pid"

run 0e
is "an error of a child that was meant to fail: status" "$status" 0
has "an error of a child that was meant to fail: shown" "$out" "an error of pid"

is "nothing is left beside the test's folder" "$(echo "$PWD".*)" "$PWD.*"
