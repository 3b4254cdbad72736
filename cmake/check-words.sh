#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-words.sh: keeps the house readable. Fails if README.md or ARCHITECTURE.md grows too long, if a line of src/ or
# of a document is too wide, or if a comment or message speaks of "who" where a page, a thread or a caller is meant.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0

complain() { # WHAT LINES: fails if there are lines
	[ -n "$2" ] || return 0
	echo "$1"
	echo "$2" | head -n 10
	bad=1
}
# wide COLUMNS FILE...: prints the lines that are wider; tabs are 8 columns, a character is one.
wide() {
	local columns=$1 file
	shift
	for file; do
		expand -t 8 "$file" | LC_ALL=C.UTF-8 grep -nE "^.{$((columns + 1))}" | sed "s|^|$file:|" || true
	done
}

mapfile -t documents < <(git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*')
mapfile -t sources < <(find src include -name '*.[chS]' -o -name '*.inc' -o -name '*.cl')
complain "README.md has more than 110 lines" "$(awk 'END { if (NR > 110) print NR " lines" }' README.md)"
complain "README.md has lines of more than 100 columns" "$(wide 100 README.md)"
complain "ARCHITECTURE.md has more than 900 words" "$(wc -w <ARCHITECTURE.md | awk '$1 > 900')"
complain "a document has lines of more than 120 columns" "$(wide 120 "${documents[@]}")"
complain "a source has lines of more than 100 columns" "$(wide 100 "${sources[@]}")"
# "who to follow" is the name of an algorithm.
complain "name the thing: a page, a thread, a caller" \
	"$(grep -rnwiE 'who|whom|whose|nobody|somebody' src include docs ./*.md | grep -vi 'who to follow' || true)"
exit $bad
