#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How the scripts install what is missing, on a machine made of fake programs: id, dpkg-query, apt-get, sudo.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/assert.sh"

bin=$TMPDIR/bin
calls=$TMPDIR/calls
mkdir "$bin"

fake() { # fake NAME <script
  { echo '#!/bin/sh' && cat; } >"$bin/$1"
  chmod +x "$bin/$1"
}
for tool in bash sh env dirname cat; do
  ln -s "$(command -v "$tool")" "$bin/$tool"
done
fake dpkg-query <<'EOF'
for package; do :; done
case $package in have-*) printf installed ;; removed-*) printf config-files ;; *) exit 1 ;; esac
EOF

# run_need UID PACKAGE...
run_need() {
  local uid=$1
  shift
  echo "echo $uid" | fake id
  : >"$calls"
  try env -i PATH="$bin" CALLS="$calls" bash -c 'set -euo pipefail; . "$0/lib.sh"; need "$@"; echo reached' "$scripts" "$@" </dev/null
}
fake_apt() { # fake_apt STATUS
  fake apt-get <<EOF
echo "apt-get \$*" >>"\$CALLS"
exit $1
EOF
}
line='apt-get update && apt-get install -y --no-install-recommends miss-a removed-b'

fake_apt 0
run_need 0 have-a have-b
is "nothing missing: status" "$status" 0
is "nothing missing: output" "$out" reached
is "nothing missing: calls" "$(cat "$calls")" ""

run_need 0 have-a miss-a removed-b
is "as root: status" "$status" 0
has "as root: goes on" "$out" reached
is "as root: calls" "$(cat "$calls")" "apt-get -q update
apt-get -q install -y --no-install-recommends miss-a removed-b"

run_need 1000 have-a miss-a removed-b
is "no sudo: status" "$status" 2
has "no sudo: the line" "$out" "$line"
has_not "no sudo: ends" "$out" reached
is "no sudo: calls" "$(cat "$calls")" ""

fake sudo <<'EOF'
echo "sudo $*" >>"$CALLS"
[ "$1" = -n ] && shift
"$@"
EOF
ln -s "$(command -v true)" "$bin/true"
run_need 1000 miss-a removed-b
is "sudo: status" "$status" 0
is "sudo: calls" "$(cat "$calls")" "sudo -n true
sudo env DEBIAN_FRONTEND=noninteractive apt-get -q update
apt-get -q update
sudo env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends miss-a removed-b
apt-get -q install -y --no-install-recommends miss-a removed-b"

fake sudo <<'EOF'
echo "sudo: a password is required" >&2
exit 1
EOF
run_need 1000 miss-a removed-b
is "sudo wants a password: status" "$status" 2
has "sudo wants a password: the line" "$out" "$line"

fake_apt 100
run_need 0 miss-a removed-b
is "apt fails: status" "$status" 2
has "apt fails: the line" "$out" "$line"
has_not "apt fails: ends" "$out" reached

rm "$bin/apt-get"
run_need 0 miss-a removed-b
is "no apt: status" "$status" 2
has "no apt: the line" "$out" "$line"
