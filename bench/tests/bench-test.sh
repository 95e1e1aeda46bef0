#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench-test.sh PROGRAM...: the forms of a bench program's table and JSON, and what it says about wrong options. How quick
# anything is does not matter here.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/tests/assert.sh"
program=("$@")

try "${program[@]}" --list
is "--list: status" "$status" 0
names=$out
is "--list: no name twice" "$(sort <<<"$names" | uniq -d)" ""
kind=${names%%/*}
has "--list" "$names" "$kind/"

try "${program[@]}" --small
is "--small: status" "$status" 0
table=$out
has "the table's head" "$(head -n 1 <<<"$table" | tr -s ' ')" "bench value baseline ratio spread limit unit"
# NAME VALUE BASELINE RATIOx SPREAD% ...: numbers, or - where there is none; value, baseline and ratio are above 0.
row='^([0-9]+\.[0-9]|-) ([0-9]+\.[0-9]|-) ([0-9]+\.[0-9][0-9]x|-) ([0-9]+%|-) '
for name in $names; do
  rest=$(sed -n "s|^$name *||p" <<<"$table" | tr -s ' ')
  [[ $rest =~ $row ]] || is "row of $name" "$rest" "numbers"
  case ${rest%% *} in 0.0) is "value of $name" 0.0 "above 0" ;; esac
done
has "the table's end" "$table" "limits met"

try "${program[@]}" --small --rounds 1 --json
is "--json: status" "$status" 0
json=$out
is "--json: first line" "$(head -n 1 <<<"$json")" "["
is "--json: last line" "$(tail -n 1 <<<"$json")" "]"
number='[0-9][0-9.e+-]*'
for name in $names; do
  line=$(grep -F "{\"name\": \"$name\"," <<<"$json") || is "JSON of $name" "" "a row"
  form="\"value\": ($number|null), \"unit\": \"[^\"]+\", \"baseline\": ($number|null), \"ratio\": ($number|null),"
  form+=" \"spread\": ($number|null)"
  [[ $line =~ $form ]] || is "JSON of $name" "$line" "all of name, value, unit, baseline, ratio, spread"
done
is "--json: rows" "$(grep -c '{"name": ' <<<"$json")" "$(wc -l <<<"$names")"

try "${program[@]}" --list --filter "$kind/"
is "--filter" "$(grep -vc "^$kind/" <<<"$out" || true)" 0

try "${program[@]}" --filter no-such-bench
is "nothing to run: status" "$status" 2
has "nothing to run" "$out" "no bench has 'no-such-bench' in its name; --list shows them"
try "${program[@]}" --rounds 0
is "--rounds 0: status" "$status" 2
has "--rounds 0" "$out" "--rounds is '0'; a whole number from 1 to 999 is needed"
try "${program[@]}" --rounds -1
is "--rounds -1: status" "$status" 2
try "${program[@]}" --sample-ms 10x
is "--sample-ms 10x: status" "$status" 2
try "${program[@]}" --fast
is "--fast: status" "$status" 2
has "--fast" "$out" "usage:"
try "${program[@]}" post
is "an argument: status" "$status" 2
has "an argument" "$out" "'post' is no option"
