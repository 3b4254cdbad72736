#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# buckets.sh MILLRACE SCRATCH: prints millions of instructions (callgrind, one thread) of sssp
# by its number of buckets, with the delta that it chooses and with a small one. Instructions do
# not depend on the load of the machine. SCALE (14) is the scale of kron, SIDE (256) the side of
# the grid. Needs valgrind; the stores stay in SCRATCH.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/lib.sh"
millrace=$(realpath "$1")
mkdir -p "$2"
cd "$2"
scale=${SCALE:-14} side=${SIDE:-256}
command -v valgrind >/dev/null || { echo "no valgrind"; exit 1; }

make_store "kron$scale-w" generate kron --scale "$scale" --weights u32 --seed 1
make_store "grid$side-w" generate grid --vertices $((side * side)) --weights u32

instructions() { # STORE OPTION...
	valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$millrace" sssp "$1.mill" --source max-degree --threads 1 --quiet "${@:2}" 2>&1 |
		awk '/Collected/ { printf "%.1f", $NF / 1e6 }'
}
echo "| sssp | 2 buckets | 4 | 8 | 16 |"
echo "|---|---|---|---|---|"
for store in "kron$scale-w" "grid$side-w"; do
	for delta in auto 5; do
		printf '| %s, --delta %s |' "$store" $delta
		for buckets in 2 4 8 16; do
			printf ' %s |' "$(instructions "$store" --delta $delta --buckets $buckets)"
		done
		echo
	done
done
