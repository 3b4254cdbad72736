#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stores with page addresses: the same graph as a dense store, to every command; and what cannot be addressed is refused.
. "$(dirname "$0")/lib.sh"
[ "${MILL_VID_BITS:-32}" = 32 ] || exit 77	# a narrow build has too few addresses

one_process
# Both stores of what is in $make, as dense.mill and paged.mill.
record_id=
both() {
	expect 0 $make --addressing dense --codec raw --force -o dense.mill "$@"
	expect 0 $make --addressing paged $record_id --force -o paged.mill "$@"
	expect 0 verify paged.mill
	expect 0 info paged.mill; says "addressing    paged"; says "raw"
	expect 0 export dense.mill -o dense.el
	expect 0 export paged.mill -o paged.el
	must cmp dense.el paged.el
}
# The same result on both stores.
same() {
	expect 0 "$1" dense.mill "${@:2}" --json=dense.json
	expect 0 "$1" paged.mill "${@:2}" --json=paged.json
	json dense.json paged.json "r['result']['hash'] == w['result']['hash']"
}
# yes: with weights; out: only those that need no in-edges.
algorithms() {
	local weighted=$1; shift
	same bfs --source max-degree --check "$@"
	same cc --check "$@"
	[ "$weighted" != yes ] || same sssp --source max-degree --check "$@"
	same sssp --source max-degree --unit-weights "$@"
	[ "$weighted" != out ] || return
	same pagerank --iterations 5 --tolerance 0 "$@"
	same kcore "$@"
	same triangles "$@"
	same degrees "$@"
	same cdlp --iterations 3 "$@"
	same bc --source max-degree "$@"
}

# ---- Options ----
printf '0 1\n1 2\n' >g.el
expect 2 import g.el -o x --addressing sparse; hints "dense, paged"
expect 2 import g.el -o x --addressing paged --codec packed; hints "--codec raw"
expect 2 import g.el -o x --record-id 2,2; hints "--addressing paged"
expect 2 import g.el -o x --addressing dense --record-id 2,2; hints "--addressing paged"
for bad in 3,3 4,0 0,4 1,1 4,4; do
	expect 2 import g.el -o x --addressing paged --record-id $bad; hints "32 bits"
done
for bad in 4 2,2,2 a,b 2.2 -1,5 16,16; do
	expect 2 import g.el -o x --addressing paged --record-id=$bad; hints "--record-id"
done
must [ ! -e x ]
expect 0 import g.el -o x --addressing paged --codec raw --json=r.json
json r.json 'r["store"]["addressing"] == "paged" and r["store"]["out_slots"] == 2 and r["store"]["in_slots"] == 3'
json r.json 'r["store"]["format"] == 3 and r["store"]["codec"] == "raw" and r["options"]["addressing"] == "paged"'
expect 0 import g.el -o x --force --json=r.json
json r.json 'r["store"]["addressing"] == "dense" and r["store"]["format"] == 2 and r["store"]["out_slots"] is None'
expect 0 help import; says "--addressing"; says "--record-id"

# ---- Graphs ----
# Odd ones: none, one vertex, only sinks behind one source, loops, in-rows with gaps.
: >empty.el
printf '7 7\n' >loop.el
printf '5 1\n5 2\n5 9\n' >sinks.el
printf '0 9\n1 9\n2 3\n' >gaps.el
for f in empty loop sinks gaps; do
	for kind in --directed --undirected "--directed --out-only"; do
		make="import $f.el"
		both $kind
		[ $f = empty ] && continue
		case $kind in *out-only) algorithms out ;; *) algorithms no ;; esac
	done
done
expect 0 info paged.mill; says "small and 0 large pages"
make="generate path --vertices 1"; both

# Weights, both directions, several pages; and a budget in which nothing stays.
make="generate rmat --scale 13 --directed --weights u32"; both --page-size 64K
algorithms yes
algorithms yes --memory 68M
same scc
make="generate kron --scale 12 --multigraph --weights f32"; both --page-size 64K --order degree
algorithms yes
record_id="--record-id 2,2" make="generate kron --scale 12"; both --page-size 64K
expect 0 info paged.mill; says "65536 slots a page"; says "GTS's formula"
expect 0 info paged.mill --json
json out 'r["store"]["record_pages"] == (4 * r["store"]["stored_edges"] + 12 * r["store"]["vertices"]) / 65536 and r["store"]["largest_page"] == 65536 * 16'
same bfs --source max-degree --check
record_id="--record-id 3,1" make="generate kron --scale 12"; both --page-size 64K
expect 0 info paged.mill --json; json out 'r["store"]["out_slots"] == 256 and r["store"]["small_pages"] == r["store"]["pages"]'
same bfs --source max-degree --check

record_id=

# The list of a hub fills many pages.
make="generate star --vertices 200000"; both --page-size 64K
expect 0 info paged.mill --json
json out 'r["store"]["large_pages"] == 13 and r["store"]["small_pages"] == r["store"]["pages"] - 13'
same bfs --source 0 --check
same pagerank --iterations 5 --tolerance 0
same bfs --source 17 --check --memory 68M

# Stripes; stores are made anew with the same bytes.
mkdir a b
make="generate kron --scale 13"; both --page-size 64K --stripe a,b
algorithms no
expect 0 generate kron --scale 13 --page-size 64K --addressing paged -o one.mill --threads 1
expect 0 generate kron --scale 13 --page-size 64K --addressing paged -o two.mill --threads 2
must diff -r one.mill two.mill
# What memory cannot hold comes in pieces.
MILL_FAULT=hold:n=1000 expect 0 generate kron --scale 13 --page-size 64K --addressing paged -o two.mill --force
must diff -r one.mill two.mill

# ---- Limits ----
# 2^24 slots leave 255 pages.
expect 9 generate kron --scale 18 --page-size 64K --addressing paged --record-id 1,3 -o limit.mill
hints "--record-id"; hints "--page-size"; hints "dense"
must [ ! -e limit.mill ]
must [ ! -e limit.mill.new ]
expect 0 generate kron --scale 18 --page-size 1M --addressing paged --record-id 1,3 -o limit.mill

# ---- Damage ----
# A changed byte is found; and an id that no vertex has, with all checksums right, is refused by every reader.
cp -r one.mill bad.mill
printf '\xff' | dd of=bad.mill/out.pages bs=1 seek=50000 conv=notrunc status=none
expect 4 verify bad.mill
python3 - bad.mill one.mill <<'PY'
import re, seal, shutil, struct, sys
bad, good = sys.argv[1:]
slots = int(re.search(rb"out_slots (\d+)", open(good + "/manifest", "rb").read())[1])
pages = bytearray(open(good + "/out.pages", "rb").read())
rows = struct.unpack_from("<I", pages, seal.BLOCK + 36)[0]
at = struct.unpack_from("<I", pages, 48)[0]
for name, id in (("slot", slots + rows), ("far", 0xfffffff0), ("sink", len(pages) // seal.BLOCK * slots)):
    store = "%s-%s.mill" % (bad, name)
    shutil.copytree(good, store)
    # The second page has slots that are not rows, unless it is the one with most.
    struct.pack_into("<I", pages, at, id)
    seal.put_first_block(store, pages)
PY
for store in bad.mill-{slot,far,sink}.mill; do
	expect 0 info "$store"
	expect 4 verify "$store"; hints "a neighbour that does not exist"
	expect 4 export "$store" -o bad.el
	expect 4 pagerank "$store"
	expect 4 pagerank "$store" --memory 68M
	expect 0 list devices
	grep -q opencl out || continue
	for policy in auto graphie; do
		expect 4 bfs "$store" --source max-degree --device opencl --policy $policy --direction push; hints "page 0"
	done
	expect 4 pagerank "$store" --device opencl; hints "a neighbour that does not exist"
done

# ---- Devices ----
expect 0 list devices
if grep -q opencl out; then
	make="generate rmat --scale 12 --directed --weights u32"; both --page-size 64K
	# Two of the algorithms in turn.
	algorithms=("bfs --source max-degree --check" "pagerank --exact --iterations 4 --tolerance 0" "sssp --source max-degree --check"
		"cc --method labels")
	i=0
	for how in "" "--device-memory 600K" "--policy lru --device-memory 600K" "--policy fifo --no-skip --device-memory 600K" \
		"--policy frequency --no-reuse --device-memory 600K" "--policy graphie" "--policy graphie --wire csr" \
		"--policy graphie --wire packed" "--policy graphie --partition-size 10K --device-memory 600K"; do
		i=$((i + 1))
		# shellcheck disable=SC2086
		for algorithm in "${algorithms[i % 2]}" "${algorithms[i % 2 + 2]}"; do
			same $algorithm --device opencl $how
		done
	done
	expect 0 bfs paged.mill --source max-degree --device opencl --policy graphie --json
	json out 'r["partitions"]["addressing"] == "paged" and r["partitions"]["seconds"]["round2"] == 0'
	expect 0 bfs dense.mill --source max-degree --device opencl --policy graphie --json
	json out 'r["partitions"]["addressing"] == "dense" and r["partitions"]["seconds"]["round2"] > 0'
	expect 0 bfs paged.mill --source max-degree --device opencl --policy graphie; says "ids as stored"
fi
done_testing
