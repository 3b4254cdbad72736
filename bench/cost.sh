#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cost.sh MILLRACE SCRATCH: prints the costs that GTS's equations predict for 20 runs on an
# OpenCL device and the actual ones, as Markdown for README.md: the terms (predicted / actual,
# in ms), and the median and the worst of predicted / actual. Graphs: kron and uniform SCALE
# (18), with room for 25 % and for 75 % of their pages, and a grid of SIDE x SIDE (128) with 25
# %; the stores stay in SCRATCH. The constants are measured first, once for each graph. May be
# given: POLICY (gts), REPEAT (3: the median of 3 processes counts), and OPTIONS for all
# runs, such as --strategy s.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/lib.sh"
millrace=$(realpath "$1")
mkdir -p "$2"
cd "$2"
scale=${SCALE:-18} side=${SIDE:-128} policy=${POLICY:-gts} repeat=${REPEAT:-3}
read -ra options <<<"--device opencl --policy $policy ${OPTIONS:-}"

need_opencl
same="--weights u32 --page-size 64K --seed 1"
make_store "kron$scale" generate kron --scale "$scale" $same
make_store "uniform$scale" generate uniform --scale "$scale" $same
make_store "grid$side" generate grid --vertices $((side * side)) $same

options_of() { # ALGORITHM
	case $1 in
	bfs | sssp) echo --source max-degree ;;
	pagerank) echo --iterations 10 --tolerance 0 ;;
	esac
}
# Prints the least memory of the run plus PERCENT of the bytes of its pages.
budget() { # ALGORITHM STORE PERCENT
	"$millrace" plan "$1" "$2" "${options[@]}" --quiet --json=plan.json
	echo $(($(value plan.json device_needed) + $(value plan.json pass_bytes) * $3 / 100))
}
# Prints the equation, its terms and totals, and the seconds of the run, predicted and actual.
costs() { # REPORT
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
c = r["cost"]
keys = ("attributes", "stream", "calls", "kernel", "sync", "disk", "total")
terms = [f"{c[which][key]:.9f}" for key in keys for which in ("predicted", "actual")]
print(c["equation"], *terms, r["predicted"]["seconds"], r["seconds"]["run"])' "$1"
}

: >costs.tsv
one() { # ALGORITHM STORE PERCENT
	local algorithm=$1 store=$2.mill memory arguments i
	memory=$(budget "$algorithm" "$store" "$3")
	read -ra arguments <<<"$(options_of "$algorithm")"
	for ((i = 0; i < repeat; i++)); do
		"$millrace" "$algorithm" "$store" "${arguments[@]}" "${options[@]}" \
			--device-memory "$memory" --quiet --json=report.json
		costs report.json
	done | sort -g -k 17 | sed -n "$((repeat / 2 + 1))p" >cost
	echo "$algorithm $2 $3% $(cat cost)" >>costs.tsv
}
for store in "kron$scale" "uniform$scale" "grid$side"; do
	"$millrace" plan bfs "$store.mill" "${options[@]}" --recalibrate --quiet
	for algorithm in bfs sssp cc pagerank; do
		one $algorithm "$store" 25
		case $store in grid*) ;; *) one $algorithm "$store" 75 ;; esac
	done
done
[ -s costs.tsv ]

awk '
function ms(p, a) { return sprintf("%.1f / %.1f", 1e3 * p, 1e3 * a) }
function sort_numbers(x, n,   i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && x[j] < x[j - 1]; j--) {
			t = x[j]
			x[j] = x[j - 1]
			x[j - 1] = t
		}
}
function summary(what, x, n,   worst, middle) {
	sort_numbers(x, n)
	worst = 1 / x[1] > x[n] ? x[1] : x[n]
	middle = n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
	printf "%s: predicted / actual %.2f in the median of %d runs, ", what, middle, n
	printf "%.2f to %.2f; the worst is %.2f.\n", x[1], x[n], worst
}
BEGIN {
	printf "| run | pages that fit | equation | attributes | stream | calls | kernel | "
	print "sync | disk | total | predicted / actual |"
	print "|---|---|---|---|---|---|---|---|---|---|---|"
}
{
	printf "| %s of %s | %s | %s |", $1, $2, $3, $4
	for (k = 5; k <= 17; k += 2)
		printf " %s |", ms($k, $(k + 1))
	printf " %.2f |\n", $17 / $18
	terms[NR] = $17 / $18
	run[NR] = $19 / $20
}
END {
	print ""
	summary("The equation and its terms", terms, NR)
	summary("The whole prediction and the time of the run", run, NR)
}' costs.tsv
