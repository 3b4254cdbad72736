#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# policy.sh MILLRACE GUIDE FOLDER: the policy of docs/writing-a-policy.md, built as it stands there: on an OpenCL device, if there is one, with
# slots for some pages, results are those of the cpu, and as many pages cross as must.
set -euo pipefail
millrace=$1 guide=$2 folder=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

lines=$(wc -l <"$folder/random.c")
[ "$lines" -lt 100 ] || { echo "the policy has grown to $lines lines" >&2; exit 1; }

"$millrace" generate kron --scale 16 --page-size 64K -o "$scratch/kron.mill" --quiet
for algorithm in bfs pagerank; do
	"$guide" "$scratch/kron.mill" $algorithm >"$scratch/$algorithm"
	[ "$(grep -vc '^#' "$scratch/$algorithm")" = 65536 ]
done

"$millrace" list devices | grep -q opencl || { echo "no OpenCL device: only the cpu was tried"; exit 0; }
export XDG_CACHE_HOME=$scratch/.cache

# on_device ALGORITHM DEVICE-MEMORY [SEED]: sets policy, pages, stay, moved, reused and active
on_device() {
	"$guide" "$scratch/kron.mill" "$1" opencl "$2" "${3:-0}" >"$scratch/got" 2>"$scratch/err"
	cmp <(grep -v '^#' "$scratch/$1") <(grep -v '^#' "$scratch/got") || { echo "$*: the device gives another result" >&2; exit 1; }
	eval "$(grep '^policy=' "$scratch/err")"
	[ "$policy" = random ] && [ $((moved + reused)) = "$active" ] || { cat "$scratch/err" >&2; exit 1; }
}
least() {
	! "$guide" "$scratch/kron.mill" "$1" opencl 1 >"$scratch/got" 2>"$scratch/err"
	sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p' "$scratch/err"
}

# Five scans: what stays is used again in each but the first.
bytes=$(least pagerank)
for more in 0 5 17; do
	on_device pagerank $((bytes + more * 65536)) $more
	[ "$stay" -gt "$more" ] && [ "$stay" -lt "$pages" ] || { echo "$stay of $pages pages stay" >&2; exit 1; }
	[ "$moved" = $((pages + 4 * (pages - stay))) ] || { echo "$moved pages crossed: $(cat "$scratch/err")" >&2; exit 1; }
done
on_device pagerank 0
[ "$moved" = "$pages" ] || { echo "$moved of $pages pages crossed, with room for all" >&2; exit 1; }

# A search: each order leaves other pages there for the next step.
bytes=$(least bfs)
for seed in 1 2 3 4 5 6 7 8; do
	on_device bfs $((bytes + 8 * 65536)) $seed
	[ "$reused" -gt 0 ] || { echo "no page was used again" >&2; exit 1; }
	echo "$moved"
done >"$scratch/moved"
[ "$(sort -u "$scratch/moved" | wc -l)" -gt 1 ] || { echo "all orders move as many pages: $(cat "$scratch/moved")" >&2; exit 1; }
