#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# counts.sh [--compare] MILLRACE SCRATCH [GRAPHS]: counts the transfers to and from a device,
# for kron 18 and, if GRAPHS (an argument or a variable) has webgraph/cnr-2000.graph, for that.
# Runs bfs, sssp, cc by labels, pagerank (exact, 5 iterations) and bc (one source), from the
# vertex of the highest degree, under auto, lru, graphie with each wire and gts with each scan,
# on one compute unit, with one queue and one thread: there counts repeat exactly. Budgets are
# "few", the least one of `plan` and 2 MiB more, and "all", which holds the whole graph. The
# lines are like those of tests/algo/counts.txt; bench/counts.txt is the record. --compare
# prints the lines that differ from it, and fails if there are any. The stores stay in SCRATCH.
# Takes two minutes.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/lib.sh"
compare=
if [ "${1-}" = --compare ]; then
	compare=1
	shift
fi
millrace=$(realpath "$1")
mkdir -p "$2"
scratch=$(realpath "$2")
graphs=${3:-${GRAPHS:-}}
graphs=${graphs:+$(realpath "$graphs")}
cd "$scratch"
export XDG_CACHE_HOME=$scratch/cache

need_opencl
unit=$(python3 - <<'PY'
import json
d = next(d for d in json.load(open("devices.json"))["devices"] if d["name"] == "opencl:0")
print(f"opencl:0/{d['units']}:0" if d["units"] > 1 and d["parts"] == d["units"] else "")
PY
)
[ -n "$unit" ] || { echo "opencl:0 cannot be divided into its compute units"; exit 1; }

# Prints a line from report.json. by_step is a digest of the counts of every step. bc has no
# hash: the bits of its sums of floats are not promised.
line() { # NAME
	python3 - "$1" <<'PY'
import hashlib, json, sys
r = json.load(open("report.json"))
b, p, steps = r["bytes"], r["pages"], r["supersteps"]
fields = ("frontier", "direction", "edges", "updates", "pages_active", "pages_to_device",
          "pages_reused", "to_device")
digest = hashlib.sha256(repr([[s[f] for f in fields] for s in steps]).encode()).hexdigest()[:16]
counts = {
    "steps": r["iterations"],
    "active": p["active"],
    "moved": p["to_device"],
    "reused": p["reused"],
    "to_device": b["to_device"],
    "from_device": b["from_device"],
    "topology": b["topology"],
    "read_only": b["read_only"],
    "writable": b["writable"],
    "flags": b["flags"],
    "peak": r["memory"]["device_peak"],
    "disk": p["read"],
    "updates": r["updates"],
    "edges": sum(s["edges"] for s in steps),
}
if r["command"] != "bc":
    counts["hash"] = r["result"]["hash"]
counts["by_step"] = digest
print(sys.argv[1] + ":", *(f"{k} {v}" for k, v in counts.items()))
PY
}

# Runs an algorithm with both budgets.
count() { # NAME GRAPH WAY POLICY-OPTIONS -- ALGORITHM OPTIONS
	local name=$1 graph=$2 way=$3 policy=() planned room budget
	shift 3
	while [ "$1" != -- ]; do
		policy+=("$1")
		shift
	done
	shift
	planned=("${@:2}")
	[ "${2-}" != --source ] || planned=("${@:4}")	# a plan does not depend on the source
	"$millrace" plan "$1" "$graph.mill" "${planned[@]}" --device "$unit" --memory 1G \
		"${policy[@]}" --quiet --json=plan.json
	for room in few all; do
		budget=512M
		[ $room = all ] || budget=$(($(value plan.json device_needed) + 2097152))
		"$millrace" "$1" "$graph.mill" "${@:2}" --device "$unit" --queues 1 --threads 1 \
			--memory 1G --device-memory "$budget" "${policy[@]}" --quiet \
			--json=report.json
		line "$name ${graph#counts-} packed $way $room"
	done
}

# Runs an algorithm under all policies. Graphie's partitions, and so its wires, exist for bfs,
# sssp and cc only.
count_ways() { # NAME GRAPH ALGORITHM OPTIONS
	local name=$1 graph=$2 wire
	shift 2
	count "$name" "$graph" auto --policy auto -- "$@"
	count "$name" "$graph" lru --policy lru -- "$@"
	for wire in edges csr packed; do
		case $name-$wire in
		pagerank-csr | pagerank-packed | bc-csr | bc-packed) ;;
		*) count "$name" "$graph" graphie/$wire --policy graphie --wire $wire -- "$@" ;;
		esac
	done
	count "$name" "$graph" gts --policy gts -- "$@"
	count "$name" "$graph" gts/pages --policy gts --scan pages -- "$@"
}

count_graph() { # GRAPH SSSP-OPTIONS
	local graph=$1 source
	shift
	"$millrace" bfs "$graph.mill" --source max-degree --quiet --json=report.json
	source=$(python3 -c '
import json
print(json.load(open("report.json"))["result"]["source"])')
	count_ways bfs "$graph" bfs --source "$source"
	count_ways sssp "$graph" sssp --source "$source" "$@"
	count_ways labels "$graph" cc --method labels
	count_ways pagerank "$graph" pagerank --exact --iterations 5 --tolerance 0
	count_ways bc "$graph" bc --sources "$source"
}

count_all() {
	make_store counts-kron18 generate kron --scale 18 --weights u32 --page-size 64K
	count_graph counts-kron18
	if [ -n "$graphs" ] && [ -e "$graphs/webgraph/cnr-2000.graph" ]; then
		make_store counts-cnr-2000 import "$graphs/webgraph/cnr-2000.graph" --page-size 64K
		count_graph counts-cnr-2000 --unit-weights
	fi
}

if [ -z "$compare" ]; then
	count_all
	exit
fi
count_all >lines
# Compare only the graphs that were counted.
grep -E "^[a-z]+ ($(cut -d' ' -f2 lines | sort -u | paste -sd'|')) " "$here/counts.txt" >recorded
diff recorded lines && echo "$(wc -l <lines) lines, all as recorded"
