#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# peers.sh MILLRACE PEERS [KEEP]: ours beside the peers found built in the folder PEERS (GAPBS's bfs, sssp, pr), on the
# same graph, source and threads, ROUNDS rounds in turns; prints the medians and their ratio. The graph is
# exported as .sg and .wsg for them. SCALE=22.
set -euo pipefail
millrace=$(realpath "$1") peers=$(realpath "$2")
. "$(dirname "$0")/lib.sh"
scale=${SCALE:-22} rounds=${ROUNDS:-5} threads=${THREADS:-$(nproc)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
keep=${3:-$scratch}
mkdir -p "$keep"
export OMP_NUM_THREADS=$threads OMP_WAIT_POLICY=passive

store=$keep/kron$scale.mill
[ -e "$store" ] || "$millrace" generate kron --scale "$scale" --weights u32 --seed 1 -o "$store" --quiet
[ -e "$keep/kron$scale.wsg" ] || "$millrace" export "$store" -o "$keep/kron$scale.wsg" --quiet
[ -e "$keep/kron$scale.sg" ] || "$millrace" export "$store" -o "$keep/kron$scale.sg" --quiet
"$millrace" bfs "$store" --source max-degree --json="$scratch/report" --quiet
# options.source says max-degree, result.source which vertex that is.
source=$(sed -n 's/^ *"source": \([0-9][0-9]*\).*/\1/p' "$scratch/report")

median() { sort -g "$1" | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }
ours() { # ALGORITHM OPTION...
	"$millrace" "$@" --threads "$threads" --repeat 3 --json="$scratch/report" --quiet
	value "$scratch/report" run
}
theirs() { "$@" -n 3 | sed -n 's/^Trial Time: *//p' | sort -g | sed -n 2p; }

printf '%-12s %12s %12s %8s\n' kron$scale millrace GAPBS ratio
compare() { # NAME DIVISOR PEER-COMMAND -- OUR-COMMAND
	local name=$1 divisor=$2 peer=()
	shift 2
	while [ "$1" != -- ]; do peer+=("$1"); shift; done
	shift
	[ -x "${peer[0]}" ] || return 0
	: >"$scratch/ours"; : >"$scratch/theirs"
	for ((i = 0; i < rounds; i++)); do
		ours "$@" >>"$scratch/ours"
		theirs "${peer[@]}" >>"$scratch/theirs"
	done
	awk -v n="$name" -v d="$divisor" -v a="$(median "$scratch/ours")" -v b="$(median "$scratch/theirs")" \
		'BEGIN { printf "%-12s %10.2fms %10.2fms %8.3f\n", n, a / d * 1e3, b / d * 1e3, a / b }'
}
compare bfs 1 "$peers/bfs" -f "$keep/kron$scale.sg" -r "$source" -- bfs "$store" --source "$source"
compare pagerank/it 5 "$peers/pr" -f "$keep/kron$scale.sg" -i 5 -t 0 -- pagerank "$store" --iterations 5 --tolerance 0
# Their default delta is 1; 2 is what their benchmark takes for kron.
compare sssp 1 "$peers/sssp" -f "$keep/kron$scale.wsg" -r "$source" -d 2 -- sssp "$store" --source "$source"
