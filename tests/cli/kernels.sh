# SPDX-License-Identifier: Apache-2.0
# Every kernel under oclgrind at scale 10: no race, no access out of bounds, no uninitialised read.
. "$(dirname "$0")/lib.sh"
[ -z "${MILL_SANITIZE:-}" ] || exit 77	# oclgrind preloads itself, and so do sanitizers
command -v oclgrind >/dev/null || exit 77

# Its exit code is millrace's, so what counts is that the log is empty.
clean() {
	rm -f log
	MILL_RACE_CHECK=1 oclgrind --data-races --uninitialized --log log "$millrace" "$@" --device opencl --check \
		>out 2>err || failed "$*: exit $?: $(head -c 300 err)"
	[ -f log ] && [ ! -s log ] || failed "$*: $(head -n 8 log)"
}

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
	clean cdlp $store --iterations 2
done
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
done_testing
