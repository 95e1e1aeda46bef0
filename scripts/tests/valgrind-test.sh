#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# When valgrind.sh runs a test once more, with a valgrind that only does what each of its runs is told to.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/assert.sh"

mkdir "$TMPDIR/bin" "$TMPDIR/work"
cat >"$TMPDIR/bin/valgrind" <<'EOS'
#!/bin/sh
# $RUNS has one word for each run: its status, with an e behind it where a process of it reported an error.
for option; do
  case $option in
  --log-file=*) log=$(echo "${option#*=}" | sed "s/%p/$$/") ;;
  --error-markers=*) mark=${option#*=} ;;
  --error-exitcode=99) exitcode=99 ;;
  esac
done
echo "$* in $PWD" >>"$CALLS"
set -- $RUNS
shift $(($(grep -c . "$CALLS") - 1))
: "${exitcode:?}"
case $1 in
*e) printf '%s\nan error of pid %s\n%s\n' "${mark%,*}" $$ "${mark#*,}" >"$log" ;;
*) echo "not an error" >"$log" ;;
esac
touch "left by run $$"
exit "${1%e}"
EOS
chmod +x "$TMPDIR/bin/valgrind"
calls=$TMPDIR/calls
cd "$TMPDIR/work"

run() { # run RUNS [A=b...]
  local runs=$1
  shift
  : >"$calls"
  try env PATH="$TMPDIR/bin:$PATH" TMPDIR="$PWD" CALLS="$calls" RUNS="$runs" "$@" "$scripts/valgrind.sh" program -a 'b c'
  count=$(grep -c . "$calls")
}
again='program has failed with'

run 0
is "passes: status" "$status" 0
is "passes: runs" "$count" 1
has "passes: the program" "$(cat "$calls")" " program -a b c in $PWD"
has_not "passes: not again" "$out" "$again"

run '1 0'
is "fails once: status" "$status" 0
is "fails once: runs" "$count" 2
has "fails once: said" "$out" "valgrind.sh: program has failed with 1, and valgrind has found no error: it is run once more, and that counts"
has "fails once: in a fresh folder" "$(tail -n 1 "$calls")" " program -a b c in $PWD/again."

run '1 3'
is "fails twice: status" "$status" 3
is "fails twice: runs" "$count" 2

run '99 0'
is "an error, its process told it: status" "$status" 99
is "an error, its process told it: runs" "$count" 1

run '1e 0'
is "an error of a child: status" "$status" 99
is "an error of a child: runs" "$count" 1
has "an error of a child: shown" "$out" "an error of pid"
has_not "an error of a child: not again" "$out" "$again"

run '1 1e'
is "an error in the second run: status" "$status" 99

run '0e'
is "an error of a child that was meant to fail: status" "$status" 0
has "an error of a child that was meant to fail: shown" "$out" "an error of pid"

run '3 0' KVSLOT_VALGRIND_ONCE=1
is "once: status" "$status" 3
is "once: runs" "$count" 1
run '3e' KVSLOT_VALGRIND_ONCE=1
is "once, an error: status" "$status" 99

is "nothing is left beside the test's folder" "$(echo "$PWD".*)" "$PWD.*"
