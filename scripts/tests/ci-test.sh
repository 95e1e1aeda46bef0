#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which long parts CI runs: .ci/run in a small repository, with a test script that only notes its calls.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/assert.sh"

repo=$TMPDIR/repo
mkdir -p "$repo/.ci" "$repo/sdk" "$repo/plugins/lmdb" "$repo/docs"
cp "$scripts/../.ci/run" "$repo/.ci/run"
cat >"$repo/.ci/parts" <<'EOF'
# a comment
test    20
first   15   sdk
second  25   sdk plugins/lmdb
third   10   plugins/lmdb
other   5    bridge
EOF
cat >"$repo/test.sh" <<'EOF'
#!/bin/sh
echo "test${1:+ $*}" >>calls
[ "${2-test}" != "${FAIL-}" ]
EOF
chmod +x "$repo/test.sh"
export KVSLOT_CI_TEST=./test.sh GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.example

commit() { # commit FILE [DATE]
  echo "$1" >>"$repo/$1"
  git -C "$repo" add -A
  GIT_COMMITTER_DATE=${2-} git -C "$repo" commit -qm "$1"
}
run() {
  rm -f "$repo/calls"
  try env "$@" "$repo/.ci/run"
  calls=$(paste -sd, "$repo/calls")
}
git -C "$repo" init -q
printf 'calls\n' >"$repo/.gitignore"

commit sdk/a '2001-01-01T00:00:00Z'
commit docs/b
run A=b
is "only docs changed: status" "$status" 0
is "only docs changed: calls" "$calls" "test"
has "only docs changed: said" "$out" "left out: first: nothing of it changed in the last 24 hours"

commit plugins/lmdb/c
run A=b
is "lmdb changed: calls" "$calls" "test,test --full second,test --full third"
has "lmdb changed: first is left out" "$out" "left out: first: nothing"

commit sdk/d
run A=b
is "under the limit: status" "$status" 0
is "under the limit: calls" "$calls" "test,test --full first,test --full third"
has "over the limit: said" "$out" "left out: second: 35 minutes are used and it takes 25, which is not under 60"

run FAIL=first
is "a part fails: status" "$status" 1
is "a part fails: the others run" "$calls" "test,test --full first,test --full third"
has "a part fails: said" "$out" "failed: first"

run FAIL=test
is "the tests fail: status" "$status" 1
is "the tests fail: nothing else runs" "$calls" "test"
