#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# conform.sh KVSLOT SHY-PLUGIN JSON-CHECK: options, exit codes and reports of `kvslot conform`. What the suite does is tested
# with the testkit.
set -eu
kvslot=$1 shy=$2 check=$3
. "$(dirname -- "$0")/lib.sh"

succeed conform --list
id=$(sed -n '1s/ .*//p' out)
[ "$(wc -l <out)" -ge 40 ] || fail "only $(wc -l <out) cases"
[ "$(grep -cE '^[a-z_.]+ +core ' out)" -ge 30 ] || fail "fewer than 30 core cases"
sed 's/ .*//' out | sort | uniq -d >twice
[ ! -s twice ] || fail "ids that stand for two cases: $(cat twice)"
for case in $(sed 's/ .*//' out); do
  succeed conform --explain "$case"
  grep -q -- "$case" out || fail "--explain $case does not name it: $(cat out)"
done
refuse 3 "no.such" conform --explain no.such

succeed conform mock --filter "$id" --seed 42 --json report --jobs 2 --timeout-multiplier 2.5
grep -qE "PASS +$id " out || fail "no PASS for $id: $(cat out)"
[ "$("$check" report seed)" = '"42"' ] || fail "the report's seed is $("$check" report seed)"
[ "$("$check" report verdict)" = '"pass"' ] || fail "the verdict is $("$check" report verdict)"
refuse 2 'nothing\.like\.this' conform mock --filter 'nothing.like.this'
refuse 3 "no backend 'mokc'" conform mokc
refuse 2 "no parameter 'nam'" conform mock -p nam=x
refuse 1 'password is wrong' conform "$shy" -p password=geheim-not
! grep -q geheim err || fail "a secret is shown: $(cat err)"

# A store that does not keep what it is given: fail, exit code 1, table on standard output, one sentence beside it.
# KVS-REQ-517
code=0
run conform "$shy" -p password=geheim --filter 'roundtrip.*' --json report >out 2>err || code=$?
[ "$code" -eq 1 ] || fail "conform of a bad store exited with $code: $(cat out err)"
grep -q '^FAIL ' out || fail "no case is FAIL: $(cat out)"
[ "$(wc -l <err)" -le 1 ] || fail "more than a sentence: $(cat err)"
[ "$("$check" report verdict)" = '"fail"' ] || fail "the verdict is $("$check" report verdict)"
! grep -q geheim out err report || fail "a secret is shown: $(grep geheim out err report)"
# A verdict of partial fails only where it is asked for.
succeed conform mock --filter "$id" --skip open.limits,"$id"
code=0
run conform mock --filter "$id" --skip "$id" --strict >out 2>err || code=$?
[ "$code" -eq 1 ] || fail "a partial verdict with --strict exited with $code"
grep -q '^kvslot: the verdict is partial' err || fail "a partial verdict with --strict said: $(cat err)"
succeed conform mock --filter "$id" --strict

# The report has the hash of the file.
succeed conform "$shy" -p password=geheim --filter open.limits --json report
[ "$("$check" report backend.file.sha256)" = "\"$(sha256sum "$shy" | cut -d' ' -f1)\"" ] ||
  fail "the plugin's hash is $("$check" report backend.file)"
refuse 1 'nowhere' conform mock --filter "$id" --json nowhere/report

# A configuration may name the target; what the command line has goes before it.
printf '{"target": "mock", "params": {"model": "poll"}, "filter": "%s", "seed": 7, "junit_file": "junit.xml"}' "$id" >conf
succeed conform --config conf --json report -p model=thread
[ "$("$check" report seed)" = '"7"' ] || fail "the report's seed is $("$check" report seed)"
grep -q '"model": "thread"' report || fail "the command line's parameter does not count: $(cat report)"
grep -q '<testcase ' junit.xml || fail "no JUnit report"
# What failed with it is run again with it.
printf '{"expect_file": "wrong"}' >conf
echo 'max_value 1' >wrong
code=0
run conform mock --config conf --filter expected.capabilities >out 2>err || code=$?
[ "$code" -eq 1 ] || fail "a store that is not as expected exited with $code: $(cat out err)"
grep -q 'again: kvslot conform mock .* --config conf' out || fail "the configuration is not named: $(cat out)"
echo '{"colour": 1}' >conf
refuse 2 'colour' conform --config conf
refuse 2 'TARGET' conform --until-fail
succeed conform mock --filter "$id" --until-fail --repeat 2
grep -q 'round 1: nothing failed' out || fail "no second round: $(cat out)"

# Two reports: exit code 1 is for a second one that is worse, and for nothing else.
succeed conform mock --filter "$id" --json before
succeed conform mock --filter "$id" --json after
succeed conform --compare before after --time-ratio 900
grep -q '^0 worse' out || fail "a run is not as good as itself: $(cat out)"
sed 's/"PASS",/"FAIL",/' after >worse
code=0
run conform --compare before worse >out 2>err || code=$?
[ "$code" -eq 1 ] || fail "conform --compare of a worse report exited with $code: $(cat out err)"
grep -qE "^WORSE +$id +PASS +FAIL" out || fail "the table does not say what is worse: $(cat out)"
succeed conform --compare worse before
head -c 100 after >broken
refuse 2 'report broken is no JSON: line' conform --compare before broken
refuse 2 'report nowhere cannot be read' conform --compare nowhere after
refuse 2 'two reports' conform --compare before
refuse 2 'time-ratio' conform --compare before after --time-ratio 1
refuse 2 'compare' conform mock --time-ratio 2

# The steps that a case of the model prints fail again, as they stand there.
code=0
run conform 'rogue:?defect=removed_comes_back' --filter model.reopen --seed 5 >out 2>err || code=$?
[ "$code" -eq 1 ] || fail "a store whose removed keys come back exited with $code: $(cat out err)"
grep '^ *|' out >steps || fail "no steps are printed: $(cat out)"
[ "$(grep -c . steps)" -le 100 ] || fail "they are not shrunk: $(cat steps)" # how far depends on the time there is
code=0
run conform 'rogue:?defect=removed_comes_back' --replay steps >out 2>err || code=$?
[ "$code" -eq 1 ] && grep -q '^FAIL  *model.replay ' out || fail "the steps do not fail again: $(cat out err)"
succeed conform mock --replay steps
grep -qE '^PASS +model.replay ' out || fail "the steps did not run: $(cat out)"
echo 'read k1 v1' >steps
refuse 2 "script steps: line 1: 'v1' stands where the end of the line is expected" conform mock --replay steps
refuse 1 'script nowhere cannot be read' conform mock --replay nowhere

# Each rogue is caught, or the exit code says so. Signals end their processes, also where a sanitizer would exit with a code.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0" TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0"
succeed conform --self-test --filter lost_write,writes_past_end --jobs 2
[ "$(grep -c '^caught ' out)" -eq 2 ] || fail "two rogues are not caught: $(cat out)"
refuse 2 'no_such' conform --self-test --filter no_such
finish
