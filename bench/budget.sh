#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# budget.sh MILLRACE PLOT.svg [PEERS [KEEP]]: prints and plots time against the memory budget. Runs
# bfs (with parents) and pagerank (10 iterations) of kron SCALE (22) under budgets from the least to
# all memory. The time is what a user waits for: load, run and parents, without the output; the
# median of ROUNDS (3). If the folder PEERS has GAPBS built, its peak memory and its time (read and
# run) are a point each. KEEP keeps the stores.
set -eu
millrace=$(realpath "$1") plot=$2 here=$(dirname "$(realpath "$0")")
. "$here/lib.sh"
scale=${SCALE:-22} rounds=${ROUNDS:-3} threads=${THREADS:-$(nproc)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
peers=${3:+$(realpath "$3")}
keep=${4:-$scratch}
mkdir -p "$keep"
store=$keep/budget-kron$scale.mill
export OMP_NUM_THREADS=$threads OMP_WAIT_POLICY=passive

[ -e "$store" ] || "$millrace" generate kron --scale "$scale" --seed 1 -o "$store" --quiet
options_of() { # ALGORITHM
	case $1 in
	bfs) echo --source max-degree -o "$scratch/depths.npy" ;;
	pagerank) echo --iterations 10 --tolerance 0 ;;
	esac
}
# Prints the seconds of load, run and parents of one run; writes $scratch/report.
run() { # ALGORITHM OPTION...
	"$millrace" "$1" "$store" $(options_of "$1") "${@:2}" --threads "$threads" \
		--json="$scratch/report" --quiet
	awk -v l="$(value "$scratch/report" load)" -v r="$(value "$scratch/report" run)" \
		-v p="$(value "$scratch/report" parents)" 'BEGIN { print l + r + p }'
}

# Prints the least budget, from the error message of a budget that is too small: it counts the
# parents, which `plan` does not.
least_of() { # ALGORITHM
	"$millrace" "$1" "$store" $(options_of "$1") --threads "$threads" --memory 1M 2>&1 |
		sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p'
}

echo "| algorithm | budget, MiB | graph | seconds | peak, MiB | read, MiB |"
echo "|---|---|---|---|---|---|"
: >"$scratch/points"
for algorithm in bfs pagerank; do
	"$millrace" plan $algorithm "$store" --threads "$threads" --json="$scratch/plan" --quiet
	all=$(($(value "$scratch/plan" resident) / 1048576 + 64))
	least=$(($(least_of $algorithm) / 1048576 + 1))
	budgets="$least $((least * 5 / 4)) $((least * 3 / 2)) $((least * 2)) $((least * 3))"
	budgets+=" $all $((all * 2))"
	for budget in $(printf '%s\n' $budgets | sort -n | uniq); do
		[ "$budget" -le $((all * 2)) ] || continue
		: >"$scratch/times"
		for ((i = 0; i < rounds; i++)); do
			run $algorithm --memory "${budget}M" >>"$scratch/times"
		done
		seconds=$(median <"$scratch/times")
		graph=streamed
		[ "$(value "$scratch/report" resident)" = false ] || graph=resident
		printf '| %s | %d | %s | %.3f | %d | %d |\n' \
			$algorithm "$budget" $graph "$seconds" \
			$(($(value "$scratch/report" peak_rss) >> 20)) \
			$(($(value "$scratch/report" disk_read) >> 20))
		printf '%s\t%s\t%s\n' "millrace $algorithm" "$budget" "$seconds" >>"$scratch/points"
	done
done

# Prints the row of a GAPBS program: its time to read and run, and its peak memory.
gapbs() { # NAME PROGRAM OPTION...
	local name=$1 program sg=$keep/budget-kron$scale.sg seconds mib
	program=$(find_peer "$2")
	if [ -z "$program" ]; then
		echo "GAPBS's $2 is not below '${peers:-}': no point for $name"
		return 0
	fi
	[ -e "$sg" ] || "$millrace" export "$store" -o "$sg" --quiet
	: >"$scratch/times"
	for ((i = 0; i < rounds; i++)); do
		/usr/bin/env time -f %M -o "$scratch/kib" "$program" -f "$sg" -n 1 "${@:3}" \
			>"$scratch/out" 2>&1
		awk '/^(Read|Trial) Time:/ { s += $3 } END { print s }' "$scratch/out" \
			>>"$scratch/times"
	done
	seconds=$(median <"$scratch/times") mib=$(($(tail -n 1 "$scratch/kib") / 1024))
	printf '| GAPBS %s | no budget | resident | %.3f | %d | |\n' "$name" "$seconds" "$mib"
	printf 'GAPBS %s\t%s\t%s\n' "$name" "$mib" "$seconds" >>"$scratch/points"
}
"$millrace" bfs "$store" --source max-degree --json="$scratch/report" --quiet
gapbs bfs bfs -r "$(sed -n 's/^ *"source": \([0-9][0-9]*\).*/\1/p' "$scratch/report")"
gapbs pagerank pr -i 10 -t 0
edges=$(value "$scratch/report" stored_edges)
python3 "$here/plot.py" "kron $scale: $((edges / 1000000)) million stored edges, $threads threads" \
	"memory budget, MiB (GAPBS: its peak memory)" "seconds: load, run, parents" \
	<"$scratch/points" >"$scratch/plot.svg"
mv "$scratch/plot.svg" "$plot"
