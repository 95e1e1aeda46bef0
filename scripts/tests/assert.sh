# SPDX-License-Identifier: Apache-2.0
# Assertions for the tests of scripts; sourced. Each prints both operands and ends the test where it does not hold.
scripts=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

is() { # is WHAT GOT WANTED
  if [ "$2" != "$3" ]; then
    printf 'FAILED: %s\n  got:    %s\n  wanted: %s\n' "$1" "$2" "$3" >&2
    exit 1
  fi
}

has() { # has WHAT TEXT PART
  case $2 in
  *"$3"*) ;;
  *)
    printf 'FAILED: %s\n  text:   %s\n  lacks:  %s\n' "$1" "$2" "$3" >&2
    exit 1
    ;;
  esac
}

has_not() { # has_not WHAT TEXT PART
  case $2 in
  *"$3"*)
    printf 'FAILED: %s\n  text:   %s\n  has:    %s\n' "$1" "$2" "$3" >&2
    exit 1
    ;;
  esac
}

# try COMMAND...: runs it; its output is in $out, its exit status in $status.
try() {
  status=0
  out=$("$@" 2>&1) || status=$?
}
