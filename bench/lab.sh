#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lab.sh MILLRACE SCRATCH [GRAPHS]: prints the transfers to an OpenCL device under every policy,
# with several budgets, and the cost of the mappings of edges to work-items, as Markdown for
# README.md. Graphs: kron SCALE (20) and a grid of SIDE x SIDE (512), and cnr-2000 if GRAPHS has
# webgraph/cnr-2000.graph; the stores and plots stay in SCRATCH. ALGORITHMS, BUDGETS, POLICIES
# and REPEAT may be given; MAPPINGS= leaves out the mappings.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/lib.sh"
millrace=$(realpath "$1")
mkdir -p "$2"
scratch=$(realpath "$2")
graphs=${3:+$(realpath "$3")}
scale=${SCALE:-20} side=${SIDE:-512} repeat=${REPEAT:-3} budgets=${BUDGETS:-10%,25%,50%,100%}
algorithms=${ALGORITHMS:-bfs sssp cc pagerank}
cd "$scratch"

need_opencl
# Small pages for small graphs: a percentage of one would be less than a page of the usual size.
# Budgets are percentages of the graph's own CSR: it has weights only for sssp, which reads them.
small=$([ "$scale" -ge 18 ] || echo --page-size 64K)
make_store "kron$scale" generate kron --scale "$scale" $small
make_store "kron$scale-w" generate kron --scale "$scale" --weights u32 $small
make_store "grid$side" generate grid --vertices $((side * side)) --page-size 64K
make_store "grid$side-w" generate grid --vertices $((side * side)) --weights u32 --page-size 64K
stores="kron$scale grid$side"
if [ -n "$graphs" ] && [ -e "$graphs/webgraph/cnr-2000.graph" ]; then
	make_store cnr-2000 import "$graphs/webgraph/cnr-2000.graph" --page-size 64K
	stores+=" cnr-2000"
fi

options_of() { # ALGORITHM STORE
	case $1 in
	bfs) echo --source max-degree ;;
	sssp) echo --source max-degree $([ "$2" != cnr-2000 ] || echo --unit-weights) ;;
	cc) echo --method labels ;;
	pagerank) echo --exact --iterations 10 --tolerance 0 ;;
	esac
}
# Prints the lab's table as Markdown. Its first line is a title, two blanks separate its cells.
markdown() {
	awk -F'  +' '
	NR == 1 { print "\n" $0 "\n"; next }
	NR == 2 { columns = NF }
	{
		line = "|"
		for (i = 2; i <= columns; i++)
			line = line " " $i " |"
		print line
	}
	NR == 2 { line = "|"; for (i = 2; i <= columns; i++) line = line "---|"; print line }'
}
lab() { # FILE ALGORITHM STORE OPTION...
	local file=$1 algorithm=$2 store=$3
	shift 3
	[ "$algorithm" != sssp ] || [ ! -e "$store-w.mill" ] || store=$store-w
	"$millrace" lab "$algorithm" "$store.mill" $(options_of "$algorithm" "$store") \
		--repeat "$repeat" "$@" >"$file" || {
		echo "$algorithm of $store: exit $?"
		return 0
	}
	markdown <"$file"
}

for store in $stores; do
	for algorithm in $algorithms; do
		lab "$store-$algorithm.txt" "$algorithm" "$store" --budgets "$budgets" \
			${POLICIES:+--policies "$POLICIES"} \
			--plot "$store-$algorithm.svg" --json="$store-$algorithm.json"
	done
done
[ -n "${MAPPINGS-yes}" ] || exit 0
echo
echo "Mappings, all pages on the device:"
for store in $stores; do
	for algorithm in $algorithms; do
		[ "$algorithm" != pagerank ] || continue	# it has no frontier
		lab "$store-$algorithm-mappings.txt" "$algorithm" "$store" --mappings \
			--device-memory 400%
	done
done
