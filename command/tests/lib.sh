# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# Sourced by the tests of the command, after `set -eu`; kvslot is the program. KVSLOT_RUN goes in front of it (valgrind).
failures=0

run() {
  # shellcheck disable=SC2086
  ${KVSLOT_RUN-} "$kvslot" "$@"
}

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# succeed ARGUMENT...: kvslot does it and complains of nothing; its output is in the file `out`.
succeed() {
  code=0
  run "$@" >out 2>err </dev/null || code=$?
  if [ "$code" -ne 0 ] || [ -s err ]; then
    fail "kvslot $* exited with $code and said: $(cat err)"
  fi
}

# refuse CODE PATTERN ARGUMENT...: kvslot exits with CODE, prints nothing, and says one sentence that matches PATTERN.
refuse() {
  want=$1 pattern=$2 code=0
  shift 2
  run "$@" >out 2>err </dev/null || code=$?
  if [ "$code" -ne "$want" ]; then
    fail "kvslot $* exited with $code, not $want, and said: $(cat err)"
  elif [ "$(wc -l <err)" -ne 1 ] || ! grep -q '^kvslot: ' err; then
    fail "kvslot $* did not say one sentence: $(cat err)"
  elif ! grep -qE -e "$pattern" err; then
    fail "kvslot $* said '$(cat err)', not /$pattern/"
  elif [ -s out ]; then
    fail "kvslot $* failed, and printed: $(head -c 200 out)"
  fi
}

# printed TEXT: that and nothing else is in `out`.
printed() {
  [ "$(cat out)" = "$1" ] || fail "printed '$(cat out)', not '$1'"
}

same() {
  cmp -- "$1" "$2" || fail "$1 and $2 differ"
}

finish() {
  if [ "$failures" -ne 0 ]; then
    echo "$failures checks failed"
    exit 1
  fi
  echo "all checks passed"
}
