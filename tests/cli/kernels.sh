# SPDX-License-Identifier: Apache-2.0
# Every kernel under oclgrind: no race, no access out of bounds, no uninitialised read. Small graphs, because it is slow; `make check-kernels`
# gives LONG=1: larger ones (scale 10), and every mapping with every filter.
. "$(dirname "$0")/lib.sh"
[ -z "${MILL_SANITIZE:-}" ] || exit 77	# oclgrind preloads itself, and so do sanitizers
command -v oclgrind >/dev/null || exit 77

# Its exit code is millrace's, so what counts is that the log is empty.
plain() {
	rm -f log
	MILL_RACE_CHECK=1 oclgrind --data-races --uninitialized --log log "$millrace" "$@" --device opencl \
		>out 2>err || failed "$*: exit $?: $(head -c 300 err)"
	[ -f log ] && [ ! -s log ] || failed "$*: $(head -n 8 log)"
}

clean() { plain "$@" --check; }

# The same with no more device memory than is needed, as a refusal says: pages in slots.
small() {
	expect 7 "$@" --device opencl --device-memory 1K --check
	clean "$@" --device-memory "$(sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p' err)"
}

scale=8 filters="fused:thread exact:group inexact:input exact:output"
[ -z "${LONG:-}" ] || scale=10 filters="$(echo {fused,exact,inexact}:{thread,group,input,output})"
expect 0 generate kron --scale $scale --seed 1 --weights u32 --page-size 64K -o u32.mill
expect 0 generate kron --scale $scale --seed 1 --weights f32 --directed --codec raw --page-size 64K -o f32.mill
for store in u32.mill f32.mill; do
	clean bfs $store --source max-degree
	clean sssp $store --source max-degree
	clean pagerank $store --iterations 2 --tolerance 0
	for method in afforest hooking labels; do
		clean cc $store --method $method
	done
	clean scc $store
	clean cdlp $store --iterations 2
	clean kcore $store
	clean degrees $store
	clean bc $store --sources max-degree
done
clean bfs u32.mill --source max-degree -o p.tsv
clean sssp f32.mill --source max-degree -o p.tsv
clean sssp u32.mill --source max-degree --unit-weights
clean pagerank u32.mill --iterations 2 --tolerance 0 --precision f64
clean pagerank u32.mill --iterations 2 --tolerance 0 --exact

# Lists that span pages leave partial sums, and are counted in parts where pages come one by one.
expect 0 generate star --vertices 40000 --page-size 64K -o star.mill
clean pagerank star.mill --iterations 1 --tolerance 0
expect 0 plan cdlp star.mill --device opencl --check --json
needed=$(sed -n 's/.*"device_needed": *\([0-9]*\).*/\1/p' out)
clean cdlp star.mill --iterations 1 --device-memory "$needed"
clean cdlp star.mill --iterations 1

# Lists that pass a block through slots, lists that are one, with and without weights; long ones and short ones, which are searched for.
expect 0 generate kron --scale 10 --seed 1 --degree 24 --directed --page-size 64K -o dense.mill
clean triangles dense.mill --device-memory 150K
clean triangles dense.mill --device-memory 160K --lcc=directed
clean triangles u32.mill --lcc
expect 0 generate clique --vertices 80 --page-size 64K -o clique.mill
clean triangles clique.mill

# Who takes which edges, and what becomes of the vertices that they lead to.
expect 0 generate kron --scale 8 --seed 2 --weights u32 --page-size 64K -o packed.mill
expect 0 generate kron --scale 8 --seed 2 --weights u32 --directed --codec raw --page-size 64K -o raw.mill
for both in $filters; do
	clean bfs packed.mill --source max-degree --direction push --mapping ${both#*:} --filter ${both%:*}
	small bfs raw.mill --source max-degree --direction push --mapping ${both#*:} --filter ${both%:*}
done
for mapping in thread group input output; do
	small sssp packed.mill --source max-degree --mapping $mapping --filter exact
	clean kcore raw.mill --mapping $mapping --filter inexact
	clean bfs raw.mill --source max-degree --direction push --mapping $mapping --filter inexact --group-size 64
done
clean bfs raw.mill --source max-degree --direction push --filter exact --group-size 1
for direction in estimate pull; do
	clean bfs packed.mill --source max-degree --direction $direction
	small bfs raw.mill --source max-degree --direction $direction
done
small bfs packed.mill --source max-degree --no-skip --no-reuse

# Several pages, and lists that span them: partial sums, rows that pages share.
expect 0 generate kron --scale 8 --degree 100 --multigraph --seed 3 --weights f32 --page-size 64K -o many.mill
expect 0 generate kron --scale 8 --degree 80 --multigraph --directed --seed 3 --codec raw --page-size 64K -o more.mill
expect 0 generate star --vertices 40000 --codec raw --page-size 64K -o raw-star.mill
for store in many.mill more.mill; do
	json <("$millrace" info $store --json) "r['store']['pages'] > 2"
	for run in "bfs --source max-degree" "pagerank --iterations 2 --tolerance 0" "cc" "cc --method hooking" "kcore" "scc" \
		"bc --sources max-degree"; do
		set -- $run
		small "$1" $store "${@:2}"
	done
done
small sssp many.mill --source max-degree --queues 3
clean pagerank raw-star.mill --iterations 1 --tolerance 0
small pagerank raw-star.mill --iterations 1 --tolerance 0
small bfs raw-star.mill --source max-degree --mapping output

# By partitions: every wire, values staged or not, parts of pages and lists in several of them. Without parents, which are settled page
# by page: the cache is made anew for that, and oclgrind 21.10 takes buffers that have the number of freed ones for uninitialised.
expect 0 generate kron --scale 8 --seed 1 --weights u32 --page-size 64K -o p32.mill
expect 0 generate kron --scale 8 --seed 1 --weights f32 --directed --page-size 64K -o pf.mill
for wire in edges csr packed; do
	for store in p32.mill pf.mill; do
		plain bfs $store --source max-degree --policy graphie --wire $wire --partition-size 500
		plain sssp $store --source max-degree --policy graphie --wire $wire
	done
	clean cc p32.mill --policy graphie --wire $wire --no-staging --partition-size 300
	clean cc pf.mill --policy graphie --wire $wire
done

# Pages that are streamed past the state: by vertices, by virtual warps, and lists that are pages; copies and parts of the state, its chunks, and
# addresses.
expect 0 generate kron --scale 8 --degree 80 --multigraph --directed --weights u32 --seed 3 --addressing paged --page-size 64K -o paged.mill
json <("$millrace" info paged.mill --json) "r['store']['small_pages'] > 1"
for store in u32.mill f32.mill; do
	plain bfs $store --source max-degree --policy gts --mapping thread
	plain bfs $store --source max-degree --policy gts --mapping warp --warp 8
	plain sssp $store --source max-degree --policy gts --mapping thread
	plain sssp $store --source max-degree --policy gts --mapping hybrid
	plain cc $store --policy gts --mapping hybrid
	plain pagerank $store --iterations 2 --tolerance 0 --exact --policy gts --mapping warp
	plain bc $store --sources max-degree --policy gts --mapping hybrid
done
plain sssp u32.mill --source max-degree --unit-weights --policy gts
for precision in f32 f64; do
	plain pagerank u32.mill --iterations 2 --tolerance 0 --precision $precision --policy gts
done
for run in "bfs --source max-degree" "sssp --source max-degree" cc "pagerank --iterations 2 --tolerance 0 --exact" "bc --sources max-degree"; do
	set -- $run
	plain "$1" paged.mill "${@:2}" --policy gts --chunks 2 --device-cache 0 --mapping hybrid
done
plain bfs raw-star.mill --source max-degree --policy gts
plain pagerank raw-star.mill --iterations 1 --tolerance 0 --exact --policy gts
plain cc many.mill --policy gts --device opencl --chunks 2 --strategy p --lanes
plain bfs many.mill --source max-degree --policy gts --device opencl --strategy s --lanes --mapping warp
done_testing
