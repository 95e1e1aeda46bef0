#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh FOLDER PYTHON RELEASE...: installs these releases of NIXL's wheel, and numpy, each into a folder of its own below
# FOLDER/TAG, where TAG is what of the interpreter a wheel depends on. What is there already stays: no download twice.
# Prints FOLDER/TAG. Where one cannot be installed, says which and why, and exits 1.
set -euo pipefail
mkdir -p -- "$1"
folder=$(cd -- "$1" && pwd)
python=$2
shift 2

tag=$("$python" -c 'import platform, sys; print("cp%d%d-%s" % (*sys.version_info[:2], platform.machine()))') || {
  echo "fetch.sh: '$python' does not run" >&2
  exit 1
}
mkdir -p "$folder/$tag"
cd "$folder/$tag"
# Tests that run side by side wait for one another here.
exec 9>.lock
flock 9

# install NAME REQUIREMENT
install() {
  [ ! -d "$1" ] || return 0
  rm -rf ".new-$1"
  if ! "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-input \
    --no-deps --only-binary :all: --target ".new-$1" "$2" >".$1.log" 2>&1 9>&-; then
    echo "the wheel $2 could not be installed for $tag: $(tail -n 1 ".$1.log")" >&2
    rm -rf ".new-$1"
    return 1
  fi
  mv ".new-$1" "$1"
}

failed=0
install numpy 'numpy<3' || failed=1
for release in "$@"; do
  install "nixl-$release" "nixl-cu12==$release" || failed=1
done
[ "$failed" -eq 0 ] || exit 1
pwd
