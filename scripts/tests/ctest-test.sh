#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# When ctest.sh runs tests once more: with tests that do what each of their runs is told to.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/assert.sh"

# A test, to be called with its name: does the first line of its file and takes that away.
cat >"$TMPDIR/act" <<'EOS'
#!/bin/sh
echo "$1" >>"$0.calls"
line=$(head -n 1 "$0.$1")
sed -i 1d "$0.$1"
eval "$line"
EOS
chmod +x "$TMPDIR/act"

# tests NAME=LINES...: runs these; LINES are what the runs of NAME do, one a run.
tests() {
  local test
  rm -rf -- "$TMPDIR/tree" "$TMPDIR"/act.*
  mkdir "$TMPDIR/tree"
  : >"$TMPDIR/act.calls"
  for test; do
    printf '%s\n' "${test#*=}" >"$TMPDIR/act.${test%%=*}"
    printf 'add_test(%s "%s" %s)\n' "${test%%=*}" "$TMPDIR/act" "${test%%=*}" >>"$TMPDIR/tree/CTestTestfile.cmake"
  done
  [ $# -gt 0 ] || : >"$TMPDIR/tree/CTestTestfile.cmake"
  try "$scripts/ctest.sh" "$TMPDIR/tree" 2
  calls=$(sort "$TMPDIR/act.calls" | tr '\n' ' ')
}
again='run once more'

tests one=true two=true
is "all pass: status" "$status" 0
is "all pass: runs" "$calls" "one two "
has_not "all pass: not again" "$out" "$again"
has "all pass: the summary" "$(tail -n 3 <<<"$out")" "100% tests passed, 0 tests failed out of 2"

tests one=true 'two=false
true'
is "one fails once: status" "$status" 0
is "one fails once: runs" "$calls" "one two two "
has "one fails once: named" "$out" "Failed and run once more, alone, which counts: two"

tests 'one=false
false' 'two=false
true'
is "one fails twice: status" "$([ "$status" -ne 0 ] && echo failed)" failed
is "one fails twice: runs" "$calls" "one one two two "
has "one fails twice: both named" "$out" "which counts: one, two"

tests 'one=kill -SEGV $$
true'
is "a crash, once: status" "$status" 0

for report in 'WARNING: ThreadSanitizer: data race' 'ERROR: AddressSanitizer: x' 'ERROR: LeakSanitizer: x' \
  'a.c:1:2: runtime error: signed overflow' '==7== valgrind-error-begin'; do
  tests one=true "two=echo '$report'; false
true"
  is "$report: status" "$([ "$status" -ne 0 ] && echo failed)" failed
  is "$report: runs" "$calls" "one two "
done

tests "one=echo 'ERROR: AddressSanitizer: which it is about'" 'two=false
true'
is "a report of one that passes: status" "$status" 0

tests 'a=false
true' 'b=false
true' 'c=false
true' 'd=false
true'
is "many fail: status" "$([ "$status" -ne 0 ] && echo failed)" failed
is "many fail: runs" "$calls" "a b c d "

tests
is "no tests: status" "$([ "$status" -ne 0 ] && echo failed)" failed

try "$scripts/ctest.sh"
is "wrong use: status" "$status" 2
