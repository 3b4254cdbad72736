# SPDX-License-Identifier: Apache-2.0
# Every kernel under oclgrind at scale 10 (or 8): no race, no access out of bounds, no uninitialised read.
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

expect 0 generate kron --scale 10 --seed 1 --weights u32 --page-size 64K -o u32.mill
expect 0 generate kron --scale 10 --seed 1 --weights f32 --directed --page-size 64K -o f32.mill
for store in u32.mill f32.mill; do
	clean bfs $store --source max-degree
	clean sssp $store --source max-degree
	clean pagerank $store --iterations 2 --tolerance 0
	for method in afforest hooking labels; do
		clean cc $store --method $method
	done
	clean scc $store
done
clean sssp u32.mill --source max-degree --unit-weights
clean pagerank u32.mill --iterations 2 --tolerance 0 --precision f64
clean pagerank u32.mill --iterations 2 --tolerance 0 --exact

# Lists that span pages leave partial sums.
expect 0 generate star --vertices 40000 --page-size 64K -o star.mill
clean pagerank star.mill --iterations 1 --tolerance 0

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
done_testing
