#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# codec.sh MILLRACE CODEC [KEEP]: compares the packed codec with raw pages. Prints sizes and the
# speed of decoding (CODEC is the program bench/codec.c), then the times to generate, to load,
# and to run streamed, with the ratio packed / raw; both run in turns. SIZES is the scale of
# kron for sizes (22), SCALE for times (21). WEB: an edge list that is measured too.
set -euo pipefail
millrace=$(realpath "$1")
codec=$(realpath "$2")
. "$(dirname "$0")/lib.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
keep=$(realpath "${3:-$scratch}")
mkdir -p "$keep"
cd "$keep"
sizes=${SIZES:-22}
scale=${SCALE:-21}
repeat=${REPEAT:-3}

make_store() { [ -e "$1" ] || "$millrace" "${@:2}" -o "$1" --quiet; }
make_store kron$sizes generate kron --scale "$sizes"
make_store kron$sizes-auto generate kron --scale "$sizes" --order auto
make_store grid generate grid --vertices 4000000
stores=(kron$sizes kron$sizes-auto grid)
if [ -n "${WEB:-}" ]; then
	make_store web import "$WEB"
	stores+=(web)
fi
"$codec" "${stores[@]}"

# seconds KEY ARGUMENT...: runs a command and prints the value of a key in its report.
seconds() { "$millrace" "${@:2}" --json="$scratch/report" --quiet; value "$scratch/report" "$1"; }
# compare NAME KEY ARGUMENT...: prints medians of KEY of a command. Its last argument, which is
# added here, is "raw" or "packed": the codec, or a store of that name.
compare() {
	local raw=() packed=() i
	for ((i = 0; i < repeat; i++)); do
		raw+=("$(seconds "$2" "${@:3:1}" "${@:4}" raw)")
		packed+=("$(seconds "$2" "${@:3:1}" "${@:4}" packed)")
	done
	local r p
	r=$(printf '%s\n' "${raw[@]}" | sort -g | sed -n "$((repeat / 2 + 1))p")
	p=$(printf '%s\n' "${packed[@]}" | sort -g | sed -n "$((repeat / 2 + 1))p")
	printf '%-28s %10.3f %10.3f %8.2f\n' "$1" "$r" "$p" "$(awk "BEGIN { print $p / $r }")"
}

printf '\n%-28s %10s %10s %8s\n' "kron $scale, seconds" raw packed ratio
compare generate seconds generate kron --scale "$scale" --force -o x --codec
rm -rf x
for c in raw packed; do
	make_store $c generate kron --scale "$scale" --codec $c
done
pagerank=(--iterations 10 --tolerance 0)
compare "load" load bfs --source max-degree
compare "bfs, resident" run bfs --source max-degree --repeat 5
compare "bfs, --memory 128M" run bfs --source max-degree --repeat 5 --memory 128M
compare "pagerank, --memory 128M" run pagerank "${pagerank[@]}" --memory 128M
