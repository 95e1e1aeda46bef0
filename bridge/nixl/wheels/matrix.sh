#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh WHEELS PYTHON PLUGINS WORK "BACKEND..." "RELEASE...": the cases with every backend in every release, and a table of
# how they went. Exit 1 unless all did well. What each printed is in WORK/BACKEND-RELEASE/output.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
mkdir -p -- "$1" "$4"
wheels=$(cd -- "$1" && pwd)
python=$2
plugins=$3
work=$(cd -- "$4" && pwd)
read -r -a backends <<<"$5"
read -r -a releases <<<"$6"

# one BACKEND RELEASE: what the table says of it.
one() {
  local folder=$work/$1-$2 status=0
  rm -rf "$folder"
  mkdir -p "$folder"
  if ! bash "$here/fetch.sh" "$wheels" "$python" "$2" >"$folder/output" 2>&1; then
    echo "no wheel"
    return
  fi
  (cd "$folder" && timeout -k 5 300 bash "$here/run.sh" "$wheels" "$python" "$plugins" "$2" "$here/cases.py" "$1") \
    >"$folder/output" 2>&1 || status=$?
  case $status in
  0) sed -n "s/^$1: \([0-9]*\) cases passed$/\1 passed/p" "$folder/output" ;;
  124 | 137) echo "too slow" ;;
  *) sed -n "s/^FAILED: $1: \(.*\)/\1 FAILED/p" "$folder/output" | grep . || echo "exit $status" ;;
  esac
}

bad=()
table=$(printf '%-10s' backend)$(printf ' %-12s' "${releases[@]}")$'\n'
for backend in "${backends[@]}"; do
  table+=$(printf '%-10s' "$backend")
  for release in "${releases[@]}"; do
    result=$(one "$backend" "$release")
    table+=$(printf ' %-12s' "$result")
    case $result in *' passed') ;; *) bad+=("$backend-$release") ;; esac
    echo "nixl-cu12 $release with $backend: $result"
  done
  table+=$'\n'
done
for name in "${bad[@]}"; do
  printf '\n==> %s\n' "$name"
  tail -n 40 "$work/$name/output"
done
printf '\n%s\n' "$table"
[ ${#bad[@]} -eq 0 ] || exit 1
