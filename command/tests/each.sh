#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# each.sh KVSLOT SHY-PLUGIN STORE: every command once, well and badly. The only test of the command that runs under KVSLOT_RUN (valgrind
# takes seconds for a start); the others look closer.
set -eu
kvslot=$1 shy=$2 store=$3
. "$(dirname -- "$0")/lib.sh"

succeed --help
succeed list
succeed info "$shy"
succeed info "$shy" --json
head -c 100000 /dev/urandom >value
succeed put "$store" --key-hex 6b6579 value -p timeout=5m
if [ "$store" != mock ]; then # there each process has a store of its own
  succeed get "$store" key copy
  same value copy
  succeed query "$store" key
  # shellcheck disable=SC2002
  cat value | run put "$store" piped
  succeed keys "$store"
  succeed remove "$store" key
fi
refuse 3 'absent' get "$store" absent copy
refuse 2 'empty' query "$store" ''
refuse 1 'support' remove "$shy" key
refuse 1 'nowhere/file' get "$shy" key --size 4 nowhere/file
refuse 2 'nonsense' put "$store" key value -p nonsense=1
refuse 3 'nothing' conform --explain nothing
succeed new store2 --shape async
refuse 1 'exists' new store2
refuse 2 "'9'" new 9
refuse 2 'no command' nonsense -p a=b
finish
