#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# data.sh KVSLOT SHY-PLUGIN: values in and out of an LMDB store; each command is a process of its own.
set -eu
kvslot=$1 shy=$2
. "$(dirname -- "$0")/lib.sh"
store=lmdb:$PWD/store

head -c 1000003 /dev/urandom >value
succeed put "$store" key value
printed ''
succeed query "$store" key
printed 1000003
run get "$store" key >copy
same value copy

# Pipes, and a part of a file.
# shellcheck disable=SC2002
cat value | run put "$store" piped
run get "$store" piped - | cmp - value || fail "what came through a pipe is not the same"
{ dd bs=3 count=1 of=first 2>/dev/null && run put "$store" rest -; } <value
run get "$store" rest >rest
cat first rest | cmp - value || fail "the file's offset was not honoured"
run put "$store" proc /proc/self/status # a regular file that says it is empty
run get "$store" proc | grep -q '^Name:' || fail "/proc/self/status came back without a name"

# 0 bytes are a value.
: >empty
for source in empty /dev/null; do
  succeed put "$store" nothing "$source"
  succeed query "$store" nothing
  printed 0
  echo old >target
  succeed get "$store" nothing target
  same empty target
done
: | run put "$store" nothing-piped
succeed query "$store" nothing-piped
printed 0

# A file is replaced as a whole, with its mode, also behind a link; or left as it was.
echo old >target
chmod 640 target
ln -s target link
succeed get "$store" key link
same value target
[ -L link ] || fail "the link was replaced"
[ "$(stat -c %a target)" = 640 ] || fail "the mode became $(stat -c %a target)"
(umask 027 && run get "$store" key fresh)
[ "$(stat -c %a fresh)" = 640 ] || fail "a new file has mode $(stat -c %a fresh)"
refuse 3 "there is no key 'absent'" get "$store" absent target
same value target
refuse 3 "there is no key 'absent'" get "$store" absent new
[ ! -e new ] || fail "a file was made for a key that is not there"
refuse 1 'bytes' get "$store" key target --size 5
same value target
refuse 1 'nowhere/new cannot be written: No such file' get "$store" key nowhere/new
mkdir folder
refuse 1 'folder cannot be written: Is a directory' get "$store" key folder
ln -s nowhere dangling
refuse 1 'dangling cannot be written' get "$store" key dangling
# A file system that fills up in the middle: more than the process may write.
(
  ulimit -f 100
  trap '' XFSZ
  refuse 1 'target cannot be written: File too large' get "$store" key target
  finish
) || fail "writing over a limit"
same value target
[ -z "$(find . -name '.kvslot-*')" ] || fail "temporary files are left: $(find . -name '.kvslot-*')"

# What is no regular file is written to, not replaced. No device is named here: a broken command run as root would replace it.
run get "$store" key /dev/stdout | cmp - value || fail "/dev/stdout as a pipe"
{
  echo before
  run get "$store" key /dev/stdout
  echo after
} >all
[ "$(wc -c <all)" -eq $((1000003 + 13)) ] || fail "/dev/stdout as a file has $(wc -c <all) bytes"
mkfifo pipe
cat pipe >from-pipe &
run get "$store" key pipe
wait
same value from-pipe
[ -p pipe ] || fail "the pipe was replaced"
code=0
run get "$store" key >/dev/full 2>err || code=$?
[ "$code" -eq 1 ] && grep -q '^kvslot: standard output cannot be written: No space left' err || fail "$code $(cat err)"
code=0
run get "$store" key >&- 2>err || code=$? # the store's own files must not become standard output
[ "$code" -eq 1 ] || fail "without a standard output it exited with $code"
run get "$store" key | cmp - value || fail "the store is damaged"
{ run get "$store" key 2>err || echo $? >code; } | head -c 1 >/dev/null
[ "$(cat code)" = 1 ] && grep -q 'Broken pipe' err || fail "a closed pipe: $(cat err)"
refuse 1 'none cannot be read: No such file' put "$store" other none
refuse 1 'folder cannot be read: Is a directory' put "$store" other folder
refuse 3 "there is no key 'other'" query "$store" other

# Keys are bytes.
fresh=lmdb:$PWD/keys
for hex in 610a62 00 ff0d0a 5c783431 2d64617368 7b7d20; do
  succeed put "$fresh" --key-hex $hex value
done
succeed put "$fresh" -- -plain value
succeed put "$fresh" lmdb:/x value
succeed keys "$fresh"
LC_ALL=C sort out >sorted
LC_ALL=C sort >expected <<'END'
a\x0ab
\x00
\xff\x0d\x0a
\x5cx41
-dash
{} 
-plain
lmdb:/x
END
same expected sorted
succeed keys "$fresh" -- -
printed "$(printf '%s\n' -dash -plain)"
succeed keys "$fresh" --prefix-hex 610a
printed 'a\x0ab'
run keys -0 "$fresh" --prefix-hex 61 >raw
printf 'a\nb\0' | cmp - raw || fail "keys -0: $(od -c raw)"
succeed keys "$fresh" nothing-begins-so
printed ''
run get "$fresh" --key-hex 00 | cmp - value || fail "a key of one NUL"

# A prefix of the engine's keeps users apart.
succeed put "$fresh?prefix=mine/" k value
succeed keys "$fresh" -p prefix=mine/
printed k
succeed keys "$fresh" mine
printed mine/k

succeed remove "$store" key
refuse 3 "there is no key 'key'" remove "$store" key
refuse 3 "there is no key 'key'" query "$store" key
refuse 3 "there is no key '.*x00" get "$store" --key-hex 00

# A store that can't tell how long values are (KVS-REQ-383), writes once, and does not remove or list.
refuse 1 '--size' get "$shy" kk
succeed get "$shy" kk --size 4
printed four
refuse 1 '4' get "$shy" kk --size 5
succeed query "$shy" kk
printed unknown
refuse 1 'unknown' query "$shy" k
refuse 1 'once|exists' put "$shy" k empty
refuse 1 'support' remove "$shy" k
refuse 1 'support|list' keys "$shy"
finish
