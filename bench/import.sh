#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# import.sh MILLRACE [PEERS]: imports a kron graph of SCALE (22) from text, with all memory and with
# MEMORY (256M), and compares it with GAPBS's converter (PEERS/gapbs/converter) if there is one.
# Prints the best of REPEAT (3) and ratios; the programs run in turns. Needs at least five times the
# size of the text in a scratch folder below TMPDIR.
set -euo pipefail
millrace=$(realpath "$1")
peers=${2:-}
scale=${SCALE:-22}
repeat=${REPEAT:-3}
memory=${MEMORY:-256M}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$millrace" generate kron --scale "$scale" --seed 1 -o g.mill --quiet
"$millrace" export g.mill -o g.el --quiet
rm -r g.mill
{ cat g.el; echo "no edge"; } >bad.el	# all edges are read and collected, then the import fails
bytes=$(stat -c %s g.el)

# run NAME COMMAND...: keeps the best time and the peak memory of all calls with this name.
declare -A best peak
run() {
	local name=$1
	shift
	/usr/bin/time -o time -f '%e %M' "$@" >/dev/null 2>&1 || true
	read -r seconds kib < <(tail -n 1 time)
	best[$name]=$(printf '%s\n' "$seconds" ${best[$name]:+"${best[$name]}"} | sort -g |
		head -n 1)
	peak[$name]=$(printf '%s\n' "$kib" ${peak[$name]:+"${peak[$name]}"} | sort -gr | head -n 1)
}
for ((i = 0; i < repeat; i++)); do
	run plenty "$millrace" import g.el --undirected -o a.mill --force --quiet
	run small "$millrace" import g.el --undirected -o b.mill --force --quiet --memory "$memory"
	run parse "$millrace" import bad.el --undirected -o c.mill --threads 1 --quiet
	[ ! -x "$peers/gapbs/converter" ] || run gapbs "$peers/gapbs/converter" -f g.el -s -b g.sg
done
diff -r a.mill b.mill >/dev/null || { echo "the stores differ" >&2; exit 1; }

# row TEXT NAME [BASE]: prints a row, with the ratio of its time to that of BASE.
row() {
	printf '%-38s %8.2f s %8.0f MB/s %8d MiB' "$1" "${best[$2]}" \
		"$(awk "BEGIN { print $bytes / 1e6 / ${best[$2]} }")" $((${peak[$2]} / 1024))
	[ -z "${3:-}" ] ||
		printf ' %8.2f x %s' "$(awk "BEGIN { print ${best[$2]} / ${best[$3]} }")" "$3"
	echo
}
echo "kron $scale as text, $((bytes / 1000000)) MB"
[ -z "${best[gapbs]:-}" ] || row "gapbs: converter to .sg" gapbs
row "plenty: import, all memory" plenty ${best[gapbs]:+gapbs}
row "small: import --memory $memory" small plenty
row "parse: read, parse, collect, 1 thread" parse
