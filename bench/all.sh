#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# all.sh BUILD OUT [PEERS [GRAPHS]]: makes every table of bench/README.md and writes them to
# OUT/REPORT.md. BUILD is the folder with millrace and the programs of bench/. PEERS is a folder
# with built peers, GRAPHS one with webgraph/cnr-2000.graph.
#
# The quick form (the default) has small graphs and few repetitions. All tables together take about
# ten minutes: it shows that each command works and the size of the ratios. FULL=1 makes the tables
# at the sizes of bench/README.md, which takes hours. TABLES="peers lab" chooses some.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
peers=${3:+$(realpath "$3")} graphs=${4:+$(realpath "$4")}
millrace=$build/millrace report=$out/REPORT.md failures=0 full=${FULL:-}
began=$SECONDS

# store KIND SCALE: makes a store with weights for the C programs; prints its path.
store() {
	local path=$out/$1$2-w.mill
	[ -e "$path" ] ||
		"$millrace" generate "$1" --scale "$2" --weights u32 --seed 1 -o "$path" --quiet
	echo "$path"
}

# pick QUICK FULL: prints one of the two, by the form.
pick() { [ -z "$full" ] && echo "$1" || echo "$2"; }

# table NAME TITLE [VARIABLE=VALUE...] COMMAND...: appends the output of a command to the report.
table() {
	local name=$1 title=$2 start=$SECONDS rc=0 command
	shift 2
	case " ${TABLES:-$name} " in *" $name "*) ;; *) return 0 ;; esac
	printf '%-11s %s ... ' "$name" "$title"
	command=$(printf '%s ' "${@//$here\//bench/}" |
		sed "s|$build|build/release|g; s|$out|build/bench|g; s| *\$||")
	printf '\n## %s\n`%s`\n\n' "$title" "$command" >>"$report"
	env "$@" >"$out/table.txt" 2>&1 || rc=$?
	# Tables in Markdown are copied, the others are indented as code.
	if grep -q '^|' "$out/table.txt"; then
		cat "$out/table.txt"
	else
		sed 's/^/    /' "$out/table.txt"
	fi >>"$report"
	if [ $rc = 0 ]; then
		echo "$((SECONDS - start)) s"
	else
		echo "failed: $(tail -n 1 "$out/table.txt")"
		failures=$((failures + 1))
	fi
}

{
	echo "# Figures of $("$millrace" --version | head -n 1), $(pick quick full) form"
	echo
	gib=$(awk '/^MemTotal/ { printf "%d", $2 / 1048576 }' /proc/meminfo)
	echo "$(nproc) cores, $gib GiB. Compare only numbers of one run."
} >"$report"
form=$(pick "quick form, about ten minutes on an idle machine" "full form, hours")
echo "$form; the report goes to $report"
[ -n "$peers" ] || echo "PEERS is not given: GAPBS, Ligra and GridGraph are not compared"
[ -n "$graphs" ] || echo "GRAPHS is not given: no rows of cnr-2000"

table algorithms "Every algorithm, resident and with the least budget" \
	SCALE=20 REPEAT=$(pick 1 5) "$here/run.sh" "$millrace" "$out"
table templates "The operators against plain loops" \
	"$build/templates" "$(store kron "$(pick 18 22)")" $(pick 5 9)
table peers "Peers in memory" \
	GRAPHS="$(pick "kron16 urand16 grid500" "kron20 kron22 urand22 grid2000")" \
	ROUNDS=$(pick 1 3) "$here/peers.sh" "$millrace" "$peers" "$out"
table budget "Time against the memory budget" \
	SCALE=$(pick 20 22) ROUNDS=$(pick 1 3) \
	"$here/budget.sh" "$millrace" "$out/budget.svg" "$peers" "$out"
table stream "Streamed from disk" \
	SCALE=$(pick 21 22) LARGE=$(pick 20 24) \
	SCALES="$(pick "16 18 20 21" "18 20 22 24 26")" MEMORY=$(pick 128M 1G) ROUNDS=$(pick 1 3) \
	"$here/stream.sh" "$millrace" "$peers" "$out"
table import "Import" \
	SCALE=$(pick 17 22) REPEAT=$(pick 1 3) "$here/import.sh" "$millrace" "$peers"
table codec "Packed pages" \
	SIZES=$(pick 18 22) SCALE=$(pick 18 21) REPEAT=$(pick 1 3) \
	"$here/codec.sh" "$millrace" "$build/codec" "$out/codec"
table buckets "Buckets of sssp" \
	SCALE=$(pick 11 16) SIDE=$(pick 64 512) "$here/buckets.sh" "$millrace" "$out"
table device "A device against the native CPU" \
	"$build/device" "$(store kron "$(pick 18 20)")" $(pick 5 15)
table lab "Transfers to a device, and mappings" \
	SCALE=$(pick 14 20) SIDE=$(pick 64 512) REPEAT=$(pick 1 3) POLICIES=all,active,reuse \
	"$here/lab.sh" "$millrace" "$out/lab" "$graphs"
table graphie "Graphie, part by part" \
	SCALE=$(pick 14 20) SIDE=$(pick 64 512) REPEAT=$(pick 1 5) \
	BUDGETS=$(pick 50%,100% 10%,25%,50%,100%) ALGORITHMS="bfs sssp cc" MAPPINGS= \
	POLICIES=graphie-naive,graphie-opt1,graphie-opt2,graphie \
	"$here/lab.sh" "$millrace" "$out/lab" "$graphs"
table gts "GTS" \
	SCALE=$(pick 14 20) ROUNDS=$(pick 1 5) "$here/gts.sh" "$millrace" "$out/gts" "$graphs"
table largegraph "LargeGraph" \
	"$here/largegraph.sh" "$millrace" "$out/largegraph" "$graphs"
table cost "Predicted and actual cost" \
	SCALE=$(pick 12 18) SIDE=$(pick 64 128) REPEAT=$(pick 1 3) \
	"$here/cost.sh" "$millrace" "$out/cost"
table counts "Counted transfers against the record" \
	"$here/counts.sh" --compare "$millrace" "$out/counts" ${graphs:+"$graphs"}

echo "$((SECONDS - began)) s in all, $failures tables failed; $report"
[ $failures = 0 ]
