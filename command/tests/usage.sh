#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage.sh KVSLOT: help, version, and every kind of wrong command line.
set -eu
kvslot=$1
. "$(dirname -- "$0")/lib.sh"
commands='list info put get query remove keys conform new'

succeed --version
grep -qE '^kvslot [0-9]+\.[0-9]+\.[0-9]+$' out || fail "version: $(cat out)"
succeed --help
for word in $commands KVSLOT_LOG KVSLOT_PLUGIN_PATH; do
  grep -q -- "$word" out || fail "--help does not speak of $word"
done
for code in 0 1 2 3; do
  grep -q "^  $code  " out || fail "--help does not explain exit code $code"
done
for command in $commands; do
  succeed "$command" --help
  grep -q "^Usage: kvslot $command " out || fail "$command --help has no usage"
  refuse 2 "unknown.*'--nonsense'.*kvslot $command --help" "$command" --nonsense
  refuse 2 "unknown option '-x'" "$command" -x
  refuse 2 'was given 4 operands' "$command" a b c d
done

refuse 2 'a command is needed'
refuse 2 "there is no command 'lst'; the commands are list, info, .* new$" lst
refuse 2 "unknown option '-x'" -x list
refuse 2 'takes TARGET KEY \[FILE\], and was given 1 operand;' put mock
refuse 2 'takes TARGET KEY, and was given 1 operand;' query mock
refuse 2 'takes TARGET, and was given 0 operands' info
refuse 2 'needs a TARGET' conform
refuse 2 '--key-hex needs HEX' put mock --key-hex
refuse 2 "--key-hex takes hexadecimal digits, and 'g' is none" query mock --key-hex 0g
refuse 2 '--key-hex takes two digits for each byte, and was given 3' query mock --key-hex 012
refuse 2 '--json takes no argument' info --json=x mock
refuse 2 "--size is '-1'; it takes a size" get mock k --size -1
refuse 2 "--size is '4kk'" get mock k --size 4kk
refuse 2 "--jobs is '0'; it takes a whole number from 1 to 256" conform mock --jobs 0
refuse 2 "--seed is '-1'" conform mock --seed -1
refuse 2 "--repeat is '1x'" conform mock --repeat 1x
refuse 2 "--timeout-multiplier is '0'" conform mock --timeout-multiplier 0
refuse 2 "--timeout-multiplier is 'nan'" conform mock --timeout-multiplier nan

# A parameter may stand in front of the command; its text is repeated in no error, it may be a secret.
refuse 2 "-p needs NAME=VALUE, and there is no '='" query mock k -p geheim
refuse 2 '-p needs NAME=VALUE, and there is no name' query mock k -p =geheim
! grep -q geheim err || fail "an error shows a parameter: $(cat err)"
refuse 2 "kvslot list' takes no parameters" list -p a=b
refuse 2 "kvslot new' takes no parameters" -p a=b new x
refuse 2 "parameter 'threads' is 'lots'" -p threads=lots query mock k
refuse 2 "there is no command 'redis'" redis://user:geheim@host
refuse 2 "unknown or ambiguous option '--pass'" query --pass=geheim mock k

# Output that nobody takes.
for arguments in --help --version list 'info mock' 'info mock --json'; do
  code=0
  # shellcheck disable=SC2086
  run $arguments >/dev/full 2>err || code=$?
  [ "$code" -eq 1 ] || fail "kvslot $arguments >/dev/full exited with $code"
  grep -q '^kvslot: .*No space left' err || fail "kvslot $arguments >/dev/full said: $(cat err)"
done
code=0
run list >&- 2>err || code=$?
[ "$code" -eq 1 ] || fail "kvslot list without a standard output exited with $code"
finish
