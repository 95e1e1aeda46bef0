#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs.sh KVSLOT DOCS: does docs/kvslot.md have the options that --help has, and no others?
set -eu
kvslot=$1 page=$2
. "$(dirname -- "$0")/lib.sh"

# Options of the help in `out`: the lines that begin with one.
of_help() {
  sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' out | sort
}

# Options in the tables of the page's section $1.
of_page() {
  awk -v title="$1" '/^##/ { on = ($0 == title) } on && /^\| `-/' "$page" | cut -d'|' -f2 | grep -oE -- '--[a-z-]+' | sort
}

succeed --help
of_help >help.options
of_page '## Common options' >page.options
cmp -s help.options page.options || fail "common options: $(diff help.options page.options)"
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
[ -n "$commands" ] || fail "--help lists no commands"
for command in $commands; do
  grep -q "^### $command\$" "$page" || fail "$page has no section '### $command'"
  succeed "$command" --help
  of_help | grep -vx -e --param -e --help >help.options || true
  of_page "### $command" >page.options || true
  cmp -s help.options page.options || fail "$command: $(diff help.options page.options)"
  usage=$(sed -n 's/^Usage: //p' out)
  grep -qxF "    $usage" "$page" || fail "$page does not have the usage '$usage'"
done
for section in $(sed -n 's/^### //p' "$page"); do
  case " $(echo "$commands" | tr '\n' ' ')" in
  *" $section "*) ;;
  *) fail "$page describes '$section', which is no command" ;;
  esac
done

# The table of exit codes, word for word.
succeed --help
sed -n '/^Exit codes:/,$s/^  \([0-9]\)  \(.*\)/| \1 | \2 |/p' out >help.codes
[ "$(wc -l <help.codes)" -eq 4 ] || fail "--help has no table of exit codes"
while IFS= read -r line; do
  grep -qxF -- "$line" "$page" || fail "$page does not have '$line'"
done <help.codes
for name in $(sed -n '/^Environment:/,/^$/s/^  \([A-Z_]*\) .*/\1/p' out); do
  grep -q "^| \`$name\` " "$page" || fail "$page does not have $name"
done
finish
