#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# algorithm.sh MILLRACE GUIDE FOLDER: the algorithm of docs/writing-an-algorithm.md, built as it stands there, on Gunrock's sample graph
# (known answers) and on a larger one, resident and streamed, on the cpu and on an OpenCL device if there is one.
set -euo pipefail
millrace=$1 guide=$2 folder=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Two files of fewer than 40 lines, comments and blank lines apart.
lines=$(cat "$folder"/bottleneck.{op.h,c} | grep -cvE '^\s*(/\*.*\*/\s*)?$')
[ "$lines" -lt 40 ] || { echo "the example has grown to $lines lines" >&2; exit 1; }

printf '%s\n' '0 1 39' '0 2 6' '0 3 41' '1 0 51' '1 2 63' '1 4 17' '2 3 10' '2 4 44' '2 5 41' '3 5 13' '3 6 58' '4 2 43' \
	'4 5 50' '4 6 59' '5 6 35' >"$scratch/sample.wel"
"$millrace" import "$scratch/sample.wel" --weights 3 -o "$scratch/sample.mill" --quiet
"$guide" "$scratch/sample.mill" 0 | grep -v '^#' >"$scratch/got"
printf '%s\t%s\n' 0 0 1 39 2 6 3 10 4 39 5 13 6 35 >"$scratch/want"
diff "$scratch/want" "$scratch/got"

"$millrace" generate kron --scale 16 --weights u32 --page-size 64K -o "$scratch/kron.mill" --quiet
"$guide" "$scratch/kron.mill" max-degree >"$scratch/resident"
"$guide" "$scratch/kron.mill" max-degree 69206016 >"$scratch/streamed"
cmp "$scratch/resident" "$scratch/streamed"
[ "$(grep -vc '^#' "$scratch/resident")" = 65536 ]

"$millrace" list devices | grep -q opencl || { echo "no OpenCL device: only the cpu was tried"; exit 0; }
export XDG_CACHE_HOME=$scratch/.cache
# on_device GRAPH SOURCE WANT [MEMORY [DEVICE-MEMORY]]
on_device() {
	"$guide" "$scratch/$1.mill" "$2" "${4:-0}" opencl "${5:-0}" | grep -v '^#' >"$scratch/got"
	diff -q "$scratch/$3" "$scratch/got" || { echo "$*: the device gives another result" >&2; exit 1; }
}
grep -v '^#' "$scratch/resident" >"$scratch/want_kron"
on_device sample 0 want
on_device kron max-degree want_kron
# The least device memory, as the message says it, holds a few of the graph's 154 pages; one byte less is refused.
refused() {
	if "$guide" "$scratch/kron.mill" max-degree 0 opencl "$1" >"$scratch/got" 2>"$scratch/err"; then
		echo "$1 bytes of device memory are not refused" >&2
		exit 1
	fi
	least=$(sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p' "$scratch/err")
}
refused 1
[ "$least" -lt $((32 * 65536)) ] || { echo "the least device memory is $least" >&2; exit 1; }
refused $((least - 1))
on_device kron max-degree want_kron 0 "$least"
on_device kron max-degree want_kron 0 $((least + 5 * 65536))
on_device kron max-degree want_kron 69206016 "$least"
