#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-kernels.sh MILLRACE [COMPILER...]: checks that the text of every kernel program, as
# MILLRACE gives it to OpenCL, is also OpenCL C 1.2 for clang and CUDA for nvcc. COMPILER is
# clang or nvcc; both by default. A compiler that is not installed is named and skipped. LONG=1:
# checks the kernels that count lanes too. Exit 77: there is no OpenCL device, or no compiler.
set -eu
millrace=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- clang nvcc
"$millrace" list devices | grep -q 'opencl:0' || { echo "no OpenCL device"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export XDG_CACHE_HOME=$scratch/.cache

for weights in u32 f32; do
	"$millrace" generate kron --scale 6 --seed 1 --weights $weights --directed --page-size 64K \
		-o $weights.mill >/dev/null
done
# More paths than a double can count: a chain of 1,100 diamonds.
awk 'BEGIN {
	for (i = 0; i < 3300; i += 3)
		print i, i + 1 "\n" i, i + 2 "\n" i + 1, i + 3 "\n" i + 2, i + 3
}' >chain.el
"$millrace" import chain.el --page-size 64K -o chain.mill >/dev/null
# Distances beyond 32 bits.
printf '0 1 4000000000\n1 2 4000000000\n' >far.el
"$millrace" import far.el --weights 3 --page-size 64K -o far.mill >/dev/null

run() {
	"$millrace" "$@" --device opencl >out 2>&1 && return
	echo "millrace $*: $(tail -n 1 out)"
	exit 1
}
searches() { # OPTION...; --check makes a search compute parents, which is a kernel too
	run bfs u32.mill --check "$@"
	run sssp u32.mill --check "$@"
	run sssp u32.mill --unit-weights "$@"
	run sssp f32.mill --check "$@"
	run sssp far.mill --source 0 --check "$@"
	run kcore u32.mill "$@"
	run bc chain.mill --source 0 "$@"
	for method in afforest hooking labels; do
		run cc u32.mill --method $method "$@"
	done
	run bfs u32.mill --policy graphie "$@"
	run sssp u32.mill --policy graphie "$@"
	run sssp u32.mill --policy graphie --unit-weights "$@"
	run sssp f32.mill --policy graphie "$@"
	run cc u32.mill --policy graphie "$@"
	run bfs u32.mill --policy gts "$@"
	run sssp u32.mill --policy gts "$@"
	run sssp u32.mill --policy gts --unit-weights "$@"
	run sssp f32.mill --policy gts "$@"
	run sssp far.mill --source 0 --policy gts "$@"
	run cc u32.mill --policy gts "$@"
	for precision in "--precision f32" "--precision f64" --exact; do
		# shellcheck disable=SC2086
		run pagerank u32.mill --iterations 1 --tolerance 0 $precision --policy gts "$@"
	done
}
rest() {
	run pagerank u32.mill --iterations 1 --tolerance 0
	run pagerank u32.mill --iterations 1 --tolerance 0 --precision f64
	run pagerank u32.mill --iterations 1 --tolerance 0 --exact
	run scc u32.mill
	run cdlp u32.mill --iterations 1
	run triangles u32.mill
}
mkdir plain lanes
export MILL_KERNEL_DUMP=$scratch/plain
searches
rest
if [ -n "${LONG:-}" ]; then
	MILL_KERNEL_DUMP=$scratch/lanes
	searches --lanes
fi
n=$(find plain -name '*.cl' | wc -l)
[ "$n" -ge 40 ] || { echo "only $n programs were built"; exit 1; }
for join in bfs sssp_unit sssp_short sssp_long sssp_f32 cc_label add_f32 add_f64 add_u64; do
	[ -f plain/${join}_join.cl ] || { echo "no ${join}_join.cl was built"; exit 1; }
done

cl() {
	clang -x cl -cl-std=CL1.2 -fsyntax-only -Xclang -finclude-default-header \
		-Wall -Wno-unused-function -Werror "$@"
}
cu() {
	nvcc -x cu -arch=sm_75 -fmad=false -diag-suppress 177 -Werror all-warnings \
		-c -o /dev/null "$@"
}
ran=
for compiler; do
	command -v "$compiler" >/dev/null || { echo "no $compiler: not checked with it"; continue; }
	for f in $(find plain lanes -name '*.cl'); do
		case $compiler in
		clang) cl "$f" && cl -DRACE_CHECK=1 "$f" ;;
		nvcc) [ "${f%%/*}" = lanes ] || cu "$f" ;;
		esac || { echo "$compiler: $f"; exit 1; }
	done
	ran="$ran $compiler"
done
[ -n "$ran" ] || exit 77
echo "$n kernel programs:$ran"
