#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gts.sh MILLRACE SCRATCH [GRAPHS]: prints measurements of --policy gts beside the numbers of its
# paper, as Markdown for README.md. All parts, or PARTS="caches bytes mappings pages speed":
#	caches    the hit rate of bfs by the size of the cache, and B / (S + L) (figure 11):
#	          kron SCALE - 2, and cnr-2000 if GRAPHS has webgraph/cnr-2000.graph
#	bytes     the bytes that a scan moves under strategies P and S with one, two and three
#	          devices, and the closed forms: pagerank, and the first level of cc
#	mappings  SIMD slots per edge by the mapping and the density 1:4 .. 1:32 (figure 14):
#	          rmat SCALE - 2
#	pages     small and large pages of paged stores, and the formulas of the paper and of
#	          Millrace: kron SCALE - 4 .. SCALE
#	speed     pagerank of kron SCALE on half of a device and on both halves, in turns,
#	          medians of ROUNDS (5)
# SCALE is 20 by default. The stores and the plot stay in SCRATCH.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/lib.sh"
millrace=$(realpath "$1")
mkdir -p "$2"
scratch=$(realpath "$2")
graphs=${3:+$(realpath "$3")}
scale=${SCALE:-20} rounds=${ROUNDS:-5}
middle=$((scale - 2))
cd "$scratch"

need_opencl
# Small pages: a percentage of a small graph would be less than one page of the usual size.
small_kron() { make_store "gts-kron$1" generate kron --scale "$1" --page-size 64K; }

caches_of() { # STORE
	"$millrace" lab bfs "$1.mill" --source max-degree --policies gts --device-memory 400% \
		--device-caches 0,5%,10%,15%,20%,25%,30%,40%,50%,100% --quiet \
		--json=report.json --plot "$1-caches.svg"
	python3 - <<'PY'
import json
r = json.load(open("report.json"))
g = r["rows"][0]["gts"]
print(f"\nbfs of {r['store']['path']}: {g['small_pages']} small and {g['large_pages']} large",
      f"pages, {r['rows'][0]['iterations']} levels\n")
print("| cache, of the CSR | pages B | found there | of uses | hit rate | B / (S + L) |")
print("|---|---|---|---|---|---|")
for x in r["rows"]:
    cells = [x["policy"].split()[-1], x["gts"]["cached_pages"], x["pages_reused"],
             x["pages_active"], f"{x['hit_rate']:.3f}", f"{x['cache_share']:.3f}"]
    print("| " + " | ".join(map(str, cells)) + " |")
PY
}
caches() {
	small_kron "$middle"
	caches_of "gts-kron$middle"
	if [ -n "$graphs" ] && [ -e "$graphs/webgraph/cnr-2000.graph" ]; then
		make_store gts-cnr-2000 import "$graphs/webgraph/cnr-2000.graph" --page-size 64K
		caches_of gts-cnr-2000
	fi
}

# Prints a row from report.json: the bytes moved by kind, and the closed form. Its SP + LP is
# that of the run with one device.
scan_line() { # ALGORITHM STRATEGY N
	python3 - "$@" <<'PY'
import json, os, sys
algorithm, strategy, n = sys.argv[1], sys.argv[2].upper(), int(sys.argv[3])
r = json.load(open("report.json"))
b, steps, levels = r["bytes"], r["supersteps"], r["iterations"]
if algorithm == "pagerank":
    # Every iteration is a scan. The device makes WA of zeros; it only comes back.
    moved = [b["writable"] / levels, b["read_only"] / levels, b["topology"] / levels]
    size = 8
else:
    # WA goes down and back in every level, with one device only in the first and the last one.
    # RA of the first level is estimated by its share of the pages.
    ways = 2 if n == 1 else 2 * levels
    pages = sum(s["pages_to_device"] for s in steps)
    read_only = b["read_only"] * steps[0]["pages_to_device"] / pages
    moved = [b["writable"] / ways, read_only, steps[0]["to_device"]]
    size = 4
if n == 1:
    json.dump(moved[2], open("topology.json", "w"))
topology = json.load(open("topology.json"))
wa = size * r["store"]["connected"]
ra = 0	# a part of WA
if algorithm == "pagerank" or (strategy == "S" and n > 1):
    ra = size * r["store"]["sources"]
form = wa + n * (ra + topology) if strategy == "S" else n * wa + ra + topology
mib = [f"{x / 2**20:.3f}" for x in (*moved, sum(moved), form)]
print("| " + " | ".join([algorithm, strategy, str(n), *mib, f"{sum(moved) / form:.4f}"]) + " |")
PY
}
bytes() {
	local device=opencl n strategy algorithm options
	small_kron "$middle"
	echo
	echo "A scan of kron $middle without a cache, MiB. pagerank: the device makes WA of zeros,"
	echo "so WA counts on the way back. cc: the first level; its RA is estimated by its share"
	echo "of the pages, and under P it is a part of WA. The forms count 8 (pagerank) or 4 bytes"
	echo "for each vertex and list, and the SP + LP of one device:"
	echo
	printf '| | strategy | devices | WA | RA | SP + LP | together |'
	echo " P: N WA + RA + SP + LP; S: WA + N (RA + SP + LP) | ratio |"
	echo "|---|---|---|---|---|---|---|---|---|"
	for algorithm in pagerank cc; do
		options="--method labels"
		[ $algorithm = cc ] || options="--exact --iterations 3 --tolerance 0"
		for strategy in p s; do
			device=opencl
			for n in 1 2 3; do
				"$millrace" $algorithm "gts-kron$middle.mill" $options \
					--policy gts --device $device --strategy $strategy \
					--device-cache 0 \
					--device-memory 400% --quiet --json=report.json
				scan_line $algorithm $strategy $n
				device+=,opencl
			done
		done
	done
}

mappings() {
	local density algorithm options
	echo
	echo "SIMD slots per edge, rmat $middle:"
	echo
	echo "| vertices : edges | | thread | warp 4 | warp 8 | warp 16 | warp 32 | hybrid |"
	echo "|---|---|---|---|---|---|---|---|"
	for density in 4 8 16 32; do
		make_store "gts-rmat$middle-$density" generate rmat --scale "$middle" \
			--degree "$density" --directed --multigraph --page-size 64K
		for algorithm in bfs pagerank; do
			options="--source max-degree"
			[ $algorithm = bfs ] || options="--exact --iterations 1 --tolerance 0"
			"$millrace" lab $algorithm "gts-rmat$middle-$density.mill" $options \
				--mappings --policies gts --device-memory 400% --quiet \
				--json=report.json
			python3 - "$density" "$algorithm" <<'PY'
import json, sys
rows = json.load(open("report.json"))["rows"]
slots = [f"{x['lanes'] / x['edges']:.2f}" for x in rows]
print("| " + " | ".join(["1:" + sys.argv[1], sys.argv[2], *slots]) + " |")
PY
		done
	done
}

pages() {
	local k size
	echo
	echo "Pages of kron graphs, \`--addressing paged\`; GTS's formula with p + q = 4, and ours:"
	echo "4 bytes per edge, 4 per list, and in each page 64 for the header and 4 for the end of"
	echo "the last list:"
	echo
	printf '| kron | page size | small | large | together |'
	printf ' (E (p + q) + V (p + q + 8)) / page size | (4 E + 4 lists) / (page size - 68) |'
	echo " of GTS's | of ours |"
	echo "|---|---|---|---|---|---|---|---|---|"
	for ((k = scale - 4; k <= scale; k++)); do
		for size in 64K 1M; do
			make_store "gts-paged$k-$size" generate kron --scale "$k" \
				--page-size $size --addressing paged
			"$millrace" info "gts-paged$k-$size.mill" --quiet --json=report.json
			python3 - "$k" $size <<'PY'
import json, sys
s = json.load(open("report.json"))["store"]
small, large = s["small_pages"], s["large_pages"]
pages, theirs = small + large, s["record_pages"]
ours = (4 * s["stored_edges"] + 4 * s["sources"]) / (s["page_size"] - 68)
print(f"| {sys.argv[1]} | {sys.argv[2]} | {small} | {large} | {pages} | {theirs:.1f} | {ours:.1f}",
      f"| {pages / theirs:.3f} | {pages / ours:.3f} |")
PY
		done
	done
}

speed() {
	local i device
	make_store "gts-kron$scale-1M" generate kron --scale "$scale"
	if ! "$millrace" list devices | grep -q "opencl:0 .*divisible"; then
		echo
		echo "opencl:0 cannot be divided: no measurement of two devices."
		return
	fi
	: >half
	: >both
	for ((i = 0; i < rounds; i++)); do
		for device in half:opencl:0/2:0 both:opencl:0/2; do
			"$millrace" pagerank "gts-kron$scale-1M.mill" --iterations 10 \
				--tolerance 0 --policy gts --device "${device#*:}" \
				--device-memory 400% --quiet --json=report.json
			value report.json run >>"${device%%:*}"
		done
	done
	python3 - <<'PY'
import statistics
half, both = (statistics.median(map(float, open(name))) for name in ("half", "both"))
n = len(open("half").readlines())
print(f"\n10 iterations of pagerank under strategy P, medians of {n} in turns:",
      f"opencl:0/2:0 {1e3 * half:.1f} ms, opencl:0/2 {1e3 * both:.1f} ms:",
      f"{half / both:.2f} times as fast.")
PY
}

for part in ${PARTS:-caches bytes mappings pages speed}; do
	case $part in
	caches | bytes | mappings | pages | speed) $part ;;
	*) echo "gts.sh: no part $part"; exit 2 ;;
	esac
done
