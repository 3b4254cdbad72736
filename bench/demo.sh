#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh MILLRACE: a graph streams through less memory than it takes. SCALE=21 is about a minute.
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

# The least that a budget may be is the vertex state and 64 MiB: a little more than that.
"$millrace" plan pagerank graph.mill --check --json=plan.json --quiet
budget=$((($(value plan.json needed) >> 20) + 8))
run plan bfs graph.mill --check --memory ${budget}M
run bfs graph.mill --source max-degree --memory ${budget}M --check --json=bfs.json
run pagerank graph.mill --memory ${budget}M --check --json=pagerank.json

echo
echo "The graph takes $(mib "$graph") as a CSR. With a budget of $budget MiB"
for algorithm in bfs pagerank; do
	echo "  $algorithm peaked at $(mib "$(value $algorithm.json peak_rss)") resident (VmHWM)," \
		"read $(mib "$(value $algorithm.json disk_read)") from disk and its check $(sed -n 's/^  "check": "\(.*\)",$/\1/p' $algorithm.json)."
done
[ $((budget << 20)) -lt "$graph" ] || echo "  (At this SCALE the budget exceeds the graph: the vertex state and 64 MiB are the least.)"
echo "The five highest PageRank scores:"
sed -n '/"top"/,/]$/s/^ *\[ \([^,]*\), \(.*\) \],*$/  \1\t\2/p' pagerank.json | head -n 5
