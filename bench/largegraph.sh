#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# LargeGraph beside Graphie, GTS and Subway: bytes, exchanged state and updates of sssp with a
# device budget of 25 % of the CSR. Counts, not seconds: PoCL shares the cores with the host.
#	bench/largegraph.sh MILLRACE WORK_DIR [GRAPHS]
# GRAPHS has webgraph/cnr-2000.graph; without it only R-MAT 16 is run.
set -euo pipefail
mill=$1 dir=$2 graphs=${3:-}
here=$(dirname "$0")
mkdir -p "$dir"

[ -d "$dir/rmat16.mill" ] ||
	"$mill" generate rmat --scale 16 --weights u32 --page-size 64K -o "$dir/rmat16.mill" --quiet
if [ -n "$graphs" ] && [ ! -d "$dir/cnr.mill" ]; then
	"$mill" import "$graphs/webgraph/cnr-2000.graph" -o "$dir/cnr-plain.mill" --quiet
	"$mill" export "$dir/cnr-plain.mill" -o "$dir/cnr.el" --quiet
	"$here/cnr_weights.py" <"$dir/cnr.el" >"$dir/cnr-weighted.el"
	"$mill" import "$dir/cnr-weighted.el" --format edgelist --weights auto --weight-type u32 \
		--page-size 64K -o "$dir/cnr.mill" --quiet
fi

# row NAME STORE SOURCE OPTIONS...
row() {
	local name=$1 store=$2 source=$3
	shift 3
	"$mill" sssp "$store" --source "$source" --device opencl --device-memory 25% \
		--quiet --json "$@" | python3 -c '
import json, sys
r, name = json.load(sys.stdin), sys.argv[1]
s = r["store"]
csr = 8 * s["stored_edges"] + 8 * (s["vertices"] + 1)
b, l = r["bytes"], r["largegraph"]
state = l["exchanged"] if l else b["writable"]
both = b["to_device"] + b["from_device"]
share = 100 * l["device_edges"] / max(l["device_edges"] + l["host_edges"], 1) if l else 100
track = l["tracking_edges"] / s["stored_edges"] if l else 0
print("%-22s %8.2f %8.3f %8.2f %9d %6.1f %6d %7.1f" % (name, b["topology"] / csr, state / csr,
      both / csr, r["updates"], share, r["iterations"], track))' "$name"
}

for graph in cnr:0 rmat16:max-degree; do
	store=$dir/${graph%%:*}.mill
	[ -d "$store" ] || continue
	echo "== ${graph%%:*}: sssp, 25 % of the CSR; x CSR; device's share of the edges"
	printf '%-22s %8s %8s %8s %9s %6s %6s %7s\n' row topology state both updates dev% rounds track
	large="--policy largegraph"
	row graphie "$store" "${graph##*:}" --policy graphie
	row gts "$store" "${graph##*:}" --policy gts
	row subway "$store" "${graph##*:}" $large --baseline subway
	row subway-async "$store" "${graph##*:}" $large --baseline subway-async
	row largegraph "$store" "${graph##*:}" $large
	row largegraph-w "$store" "${graph##*:}" $large --no-keep
	for alpha in 0 1% 25% 50% 100%; do
		row "alpha $alpha" "$store" "${graph##*:}" $large --alpha $alpha
	done
	row "1 sweep" "$store" "${graph##*:}" $large --sweeps 1
	row "chain 1" "$store" "${graph##*:}" $large --chain 1
	row "chain full" "$store" "${graph##*:}" $large --chain full
	row "paths paper" "$store" "${graph##*:}" $large --paths paper
	row "only cpu" "$store" "${graph##*:}" $large --only cpu
	row "only device" "$store" "${graph##*:}" $large --only device
done
