#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh MILLRACE: runs algorithms with less memory than the graph takes. SCALE=21 takes a minute.
set -euo pipefail
millrace=$(realpath "$1")
. "$(dirname "$0")/lib.sh"
scale=${SCALE:-21}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

run() {
	echo
	echo "\$ millrace $*"
	"$millrace" "$@"
}

run generate kron --scale "$scale" --seed 1 -o graph.mill
run info graph.mill
"$millrace" info graph.mill --json=info.json --quiet
graph=$(value info.json csr_bytes)

# A budget must hold the vertex state and 64 MiB; take 8 MiB more.
"$millrace" plan pagerank graph.mill --check --json=plan.json --quiet
budget=$((($(value plan.json needed) >> 20) + 8))
run plan bfs graph.mill --check --memory ${budget}M
run bfs graph.mill --source max-degree --memory ${budget}M --check --json=bfs.json
run pagerank graph.mill --memory ${budget}M --check --json=pagerank.json

echo
echo "The graph takes $(mib "$graph") as a CSR. With a budget of $budget MiB"
for algorithm in bfs pagerank; do
	check=$(sed -n 's/^  "check": "\(.*\)",$/\1/p' $algorithm.json)
	echo "  $algorithm peaked at $(mib "$(value $algorithm.json peak_rss)") resident (VmHWM)," \
		"read $(mib "$(value $algorithm.json disk_read)") from disk and its check $check."
done
[ $((budget << 20)) -lt "$graph" ] ||
	echo "  (At this SCALE the least budget, the vertex state and 64 MiB, exceeds the graph.)"
echo "The five highest PageRank scores:"
sed -n '/"top"/,/]$/s/^ *\[ \([^,]*\), \(.*\) \],*$/  \1\t\2/p' pagerank.json | head -n 5
