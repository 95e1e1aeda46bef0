# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts; sourced, not run. Expects `set -euo pipefail`.
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

say() {
  printf '\n==> %s\n' "$*"
}

# fail STATUS TEXT: one sentence to standard error, and the end.
fail() {
  local status=$1
  shift
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit "$status"
}

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need PACKAGE...: installs those Debian packages that are missing; where that can't be done, prints how to, and exits 2.
need() {
  local package missing=() as_root=()
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if ! command -v apt-get >/dev/null 2>&1; then
    fail 2 "there is no apt-get here; on Debian this would install what is missing: $line"
  fi
  if [ "$(id -u)" -ne 0 ]; then
    # Without a terminal sudo could only wait for a password that nobody types.
    if command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      fail 2 "packages are missing and this user cannot install them; as root, run: $line"
    fi
  fi
  say "Installing ${missing[*]}"
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update ||
    ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}"; then
    fail 2 "installing failed; as root, run: $line"
  fi
}

# What every build takes.
build_packages=(gcc libc6-dev make cmake ninja-build liblmdb-dev libjansson-dev libyajl-dev)

# What the tests take beyond that. The servers that they start are their own: one that the package may have started is left
# alone.
test_packages=(libcmocka-dev redis-server openssl libhiredis-dev libevent-dev)

# Every part is asked for by name: a missing dependency is an error then, not a part left out.
build_options=(-DKVSLOT_WERROR=ON -DKVSLOT_LMDB=ON -DKVSLOT_CONNECTOR=ON -DKVSLOT_TESTKIT=ON -DKVSLOT_COMMAND=ON)

# How many jobs a build or test run may use.
jobs_count() {
  local n
  n=$(nproc 2>/dev/null || echo 2)
  [ "$n" -ge 2 ] || n=2
  echo "$n"
}

# project_files PATTERN...: the project's files that match one of the shell patterns, one a line, seen from the root.
# Those of git where there is a repository, so that what lies about untracked and ignored does not count.
project_files() {
  local pattern file
  if [ "$(git -c safe.directory="$root" -C "$root" rev-parse --show-toplevel 2>/dev/null)" = "$root" ]; then
    git -c safe.directory="$root" -C "$root" ls-files --cached --others --exclude-standard
  else
    (cd "$root" && find . -path ./build -prune -o -path ./.git -prune -o -type f -print | sed 's,^\./,,')
  fi | LC_ALL=C sort -u | while IFS= read -r file; do
    [ -f "$root/$file" ] || continue
    for pattern in "$@"; do
      # shellcheck disable=SC2254
      case $file in $pattern)
        printf '%s\n' "$file"
        break
        ;;
      esac
    done
  done
}
