#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh MILLRACE [KEEP]: prints a table of every algorithm, without a budget and with the least
# one: medians of REPEAT (5) runs at SCALE (20). Stores are made in a scratch folder, or kept in
# KEEP and used again.
set -euo pipefail
millrace=$(realpath "$1")
. "$(dirname "$0")/lib.sh"
scale=${SCALE:-20}
repeat=${REPEAT:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
keep=${2:-$scratch}
mkdir -p "$keep"

printf '%-12s %-10s %-10s %10s %10s %12s %12s\n' graph algorithm memory seconds MTEPS \
	'read MiB' 'peak MiB'
for kind in kron uniform; do
	store=$keep/$kind$scale.mill
	[ -e "$store" ] ||
		"$millrace" generate "$kind" --scale "$scale" --weights u32 --seed 1 -o "$store" \
			--quiet
	for algorithm in bfs sssp pagerank cc scc bc triangles kcore cdlp degrees; do
		arguments=(--repeat "$repeat")
		case $algorithm in
		pagerank) arguments+=(--iterations 10 --tolerance 0) ;;
		bfs | sssp) arguments+=(--source max-degree) ;;
		bc) arguments+=(--sources max-degree) ;;
		esac
		"$millrace" plan $algorithm "$store" --json="$scratch/plan" --quiet
		for least in "" "$(value "$scratch/plan" needed)"; do
			budget=()
			[ -z "$least" ] || budget=(--memory "$least")
			report=$scratch/report
			"$millrace" $algorithm "$store" "${arguments[@]}" "${budget[@]}" \
				--json="$report" --quiet
			# The least budget may hold all of a small graph: print what the run did.
			memory=streamed
			[ "$(value "$report" resident)" = false ] || memory=resident
			printf '%-12s %-10s %-10s %10.4f %10.1f %12d %12d\n' \
				$kind$scale $algorithm $memory \
				"$(value "$report" run)" "$(value "$report" mteps)" \
				$(($(value "$report" disk_read) >> 20)) \
				$(($(value "$report" peak_rss) >> 20))
		done
	done
done
