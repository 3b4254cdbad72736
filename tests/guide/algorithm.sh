#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# algorithm.sh SOURCE BUILD: the algorithm of docs/writing-an-algorithm.md becomes a command of a copy of the tree by the files and the line that the guide
# shows, and nothing else: on the cpu, resident and streamed, and on an OpenCL device, if there is one, under every policy.
set -euo pipefail
source=$(realpath "$1") build=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrong() { echo "$*" >&2; exit 1; }

# Each block of C begins with the name of its file, and goes to the end of that.
cd "$scratch"
cp -r "$source"/{src,include,cmake,bench,docs,CMakeLists.txt} .
awk '/^```c$/ { getline; file = $2; next } /^```/ { file = "" } file { print >>file }' docs/writing-an-algorithm.md
changed=$(diff -rq "$source/src" src | sort || true)
[ "$changed" = "Files $source/src/algo/algorithms.h and src/algo/algorithms.h differ
Only in src/algo: bottleneck.c
Only in src/algo: bottleneck.op.h" ] || wrong "the guide changes: $changed"
# Of the edge, the declaration and the loop: comments, blank lines and what #defines and declares structs too.
lines=$(awk '/^## 3/ { exit } /^```c$/ { getline; on = 1; next } /^```/ { on = 0 } on' docs/writing-an-algorithm.md | grep -cv '^\s*$')
[ "$lines" -lt 70 ] || wrong "the example has grown to $lines lines"

# With the options of BUILD, so that its objects serve where the guide changes nothing.
mapfile -t options < <(sed -nE 's/^((MILL_[A-Z_]+|CMAKE_BUILD_TYPE|CMAKE_C_FLAGS):.*)/-D\1/p' "$build/CMakeCache.txt")
cmake -S . -B build "${options[@]}" -DMILL_TESTS=OFF -DCMAKE_C_COMPILER_LAUNCHER="$source/tests/guide/reuse.sh" >log 2>&1 ||
	{ cat log; exit 1; }
REUSE=$build cmake --build build -j"$(nproc)" --target mill_cli >log 2>&1 || { grep -E 'error|warning' log; exit 1; }
millrace=$scratch/build/millrace
export XDG_CACHE_HOME=$scratch/.cache

# What comes from the row.
has() { grep -qF -- "$1" out || wrong "'$1' is missing in: $(cat out)"; }
"$millrace" help bottleneck >out; has "--ceiling W"; has "leave out heavier edges"; has "--async"; has "--filter"; has "id bottleneck"
"$millrace" help >out; has "paths from a source with the smallest largest weight"
"$millrace" list algorithms >out; has bottleneck
"$millrace" completion words -- bottleneck g.mill --ceil >out; has --ceiling
"$millrace" completion words -- bottle >out; has bottleneck
! "$millrace" botleneck 2>out; has "did you mean 'bottleneck'?"

# Gunrock's sample graph, known answers; then an oracle.
printf '%s\n' '0 1 39' '0 2 6' '0 3 41' '1 0 51' '1 2 63' '1 4 17' '2 3 10' '2 4 44' '2 5 41' '3 5 13' '3 6 58' '4 2 43' \
	'4 5 50' '4 6 59' '5 6 35' >sample.wel
"$millrace" import sample.wel --weights 3 -o sample.mill --quiet
"$millrace" bottleneck sample.mill --source 0 --check -o - | grep -v '^#' >got
printf '%s\t%s\n' 0 0 1 39 2 6 3 10 4 39 5 13 6 35 >want
diff want got
"$millrace" bottleneck sample.mill --source 0 --ceiling 38 --check -o - | grep -v '^#' >got
printf '%s\t%s\n' 0 0 1 -1 2 6 3 10 4 -1 5 13 6 35 >want
diff want got
cat >oracle.py <<'PY'
import heapq, sys
edges, ceiling, source = {}, int(sys.argv[2]), int(sys.argv[3])
for line in open(sys.argv[1]):
    u, v, w = map(int, line.split())
    if w <= ceiling:
        edges.setdefault(u, []).append((v, w))
best, queue = {}, [(0, source)]
while queue:
    x, u = heapq.heappop(queue)
    if u not in best:
        best[u] = x
        for v, w in edges.get(u, []):
            heapq.heappush(queue, (max(x, w), v))
for line in open(sys.argv[4]):
    if line[0] != "#":
        v, x = map(int, line.split())
        assert best.get(v, -1) == x, (v, x, best.get(v))
PY
"$millrace" generate kron --scale 15 --degree 8 --weights u32 --page-size 64K -o kron.mill --quiet
"$millrace" export kron.mill -o half.el --quiet
awk '{ print; print $2, $1, $3 }' half.el >kron.el
for ceiling in 255 40; do
	"$millrace" bottleneck kron.mill --source max-degree --ceiling $ceiling --check --json=r.json -o kron.tsv >out; has "check   passed"
	python3 oracle.py kron.el $ceiling "$(sed -n 's/^ *"source": \([0-9]*\).*/\1/p' r.json | tail -n 1)" kron.tsv
done

# The same bits everywhere. agrees OWNS ARGUMENT...: OWNS is what policy_owns says.
fact() { python3 -c "import json; print(json.load(open('r.json'))$1)"; }
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" r.json | head -n 1; }
"$millrace" bottleneck kron.mill --source max-degree --quiet --json=r.json
hash=$(value hash)
agrees() {
	"$millrace" bottleneck kron.mill --source max-degree --check --quiet --json=r.json "${@:2}" || wrong "${*:2}: it fails"
	[ "$(value hash)" = "$hash" ] && grep -q '"check": "passed"' r.json || wrong "${*:2}: another result"
	[ "$(value policy_owns)" = "$1" ] || wrong "${*:2}: policy_owns is $(value policy_owns)"
}
agrees null --threads 1
agrees null --async
export MILL_FAULT=hold:n=1	# streams what would fit
agrees null; [ "$(value resident)" = false ] || wrong "the graph was resident"
agrees null --async
agrees null --memory 66M --io pread
unset MILL_FAULT
"$millrace" plan bottleneck kron.mill --ceiling 9 >out; has "supersteps"
! "$millrace" bottleneck kron.mill --memory 1M 2>out; has "needs"

"$millrace" list devices | grep -q opencl || { echo "no OpenCL device: only the cpu was tried"; exit 0; }
agrees null --device opencl
least() {
	! "$millrace" bottleneck kron.mill --device opencl --device-memory 1 "$@" 2>out
	sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p' out
}
agrees null --device opencl --device-memory "$(least)"
[ "$(fact "['pages']['to_device']")" -gt "$(fact "['store']['pages']")" ] || wrong "all pages stay in the least memory"
MILL_FAULT=hold:n=1 agrees null --device opencl --device-memory "$(least)" --memory 66M
agrees null --device opencl --mapping thread --filter exact
for policy in graphie gts; do
	agrees true --device opencl --policy $policy
	agrees true --device opencl --policy $policy --device-memory "$(least --policy $policy)"
done
agrees true --device opencl:0/2 --strategy s
"$millrace" lab bottleneck kron.mill --source max-degree --ceiling 90 --policies all,lru,graphie,gts --check >out; has same; has passed
