# SPDX-License-Identifier: Apache-2.0
# Every kernel under oclgrind: no race, no access out of bounds, no uninitialised read. Without optimisation: oclgrind
# 21.10 executes integers of odd width wrongly, which optimised code has, and so never left a pull early.
# Runs the rows that use a program that is not in the record (kernels.txt), on small graphs: oclgrind is slow.
# `make check-kernels` gives RECORD=write and LONG=1: all rows, larger graphs (scale 10), every mapping with every
# filter, and a new record.
. "$(dirname "$0")/lib.sh"
. "$transcripts/texts.bash" || exit 1
[ -z "${MILL_SANITIZE:-}" ] || exit 77	# oclgrind preloads itself, and so do sanitizers
command -v oclgrind >/dev/null || exit 77
expect 0 list devices
grep -q opencl:0 out || exit 77	# no texts to compare with the record

# ---- Rows: a command each, run as it is (plain), with --check (clean), or that in the least device memory (small) ----
rows=()
plain() { rows+=("plain $*"); }
clean() { rows+=("clean $*"); }
small() { rows+=("small $*"); }

scale=8 filters="fused:thread exact:group inexact:input exact:output"
[ -z "${LONG:-}" ] || scale=10 filters="$(echo {fused,exact,inexact}:{thread,group,input,output})"
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
clean sssp far.mill --source 0
plain sssp far.mill --source 0 --policy gts
plain sssp u32.mill --source max-degree --unit-weights --policy graphie
clean bc paths.mill --source 0
clean pagerank u32.mill --iterations 2 --tolerance 0 --precision f64
clean pagerank u32.mill --iterations 2 --tolerance 0 --exact

# Lists that span pages leave partial sums, and are counted in parts where pages come one by one.
clean pagerank star.mill --iterations 1 --tolerance 0
small cdlp star.mill --iterations 1
clean cdlp star.mill --iterations 1

# Lists that pass a block through slots, lists that are one, with and without weights; long ones and short ones, which are searched for.
clean triangles dense.mill --device-memory 150K
clean triangles dense.mill --device-memory 160K --lcc=directed
clean triangles u32.mill --lcc
clean triangles clique.mill

# Mappings divide the edges among work-items; filters collect the vertices at their ends.
for both in $filters; do
	clean bfs packed.mill --source max-degree --direction push --mapping "${both#*:}" --filter "${both%:*}"
	small bfs raw.mill --source max-degree --direction push --mapping "${both#*:}" --filter "${both%:*}"
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
for store in many.mill more.mill; do
	for run in "bfs --source max-degree" "pagerank --iterations 2 --tolerance 0" "cc" "cc --method hooking" "kcore" "scc" \
		"bc --sources max-degree"; do
		# shellcheck disable=SC2086
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
	# shellcheck disable=SC2086
	set -- $run
	plain "$1" paged.mill "${@:2}" --policy gts --chunks 2 --device-cache 0 --mapping hybrid
done
plain bfs raw-star.mill --source max-degree --policy gts
plain pagerank raw-star.mill --iterations 1 --tolerance 0 --exact --policy gts
plain cc many.mill --policy gts --device opencl --chunks 2 --strategy p --lanes
plain bfs many.mill --source max-degree --policy gts --device opencl --strategy s --lanes --mapping warp

# LargeGraph: chunks that stay and chunks that pass through, copies in local memory, rows.
for store in u32.mill far.mill; do
	clean sssp $store --source max-degree --policy largegraph --alpha 50%
	clean sssp $store --source max-degree --policy largegraph --alpha 100% --chunk-size 1K --no-keep
	clean sssp $store --source max-degree --policy largegraph --baseline subway-async
done
clean bfs u32.mill --source max-degree --policy largegraph --alpha 100%
clean cc u32.mill --method labels --policy largegraph --alpha 100%

make_stores() {
	# Distances beyond 32 bits; more paths than a double can count: 200 parallel edges a step.
	printf '0 1 4000000000\n1 2 4000000000\n' >far.el
	expect 0 import far.el --weights 3 --page-size 64K -o far.mill
	awk 'BEGIN { for (v = 0; v < 145; v++) for (i = 0; i < 200; i++) print v, v + 1 }' >paths.el
	expect 0 import paths.el --page-size 64K -o paths.mill
	expect 0 generate kron --scale $scale --seed 1 --weights u32 --page-size 64K -o u32.mill
	expect 0 generate kron --scale $scale --seed 1 --weights f32 --directed --codec raw --page-size 64K -o f32.mill
	expect 0 generate star --vertices 40000 --page-size 64K -o star.mill
	expect 0 generate kron --scale 10 --seed 1 --degree 24 --directed --page-size 64K -o dense.mill
	expect 0 generate clique --vertices 80 --page-size 64K -o clique.mill
	expect 0 generate kron --scale 8 --seed 2 --weights u32 --page-size 64K -o packed.mill
	expect 0 generate kron --scale 8 --seed 2 --weights u32 --directed --codec raw --page-size 64K -o raw.mill
	expect 0 generate kron --scale 8 --degree 100 --multigraph --seed 3 --weights f32 --page-size 64K -o many.mill
	expect 0 generate kron --scale 8 --degree 80 --multigraph --directed --seed 3 --codec raw --page-size 64K -o more.mill
	expect 0 generate star --vertices 40000 --codec raw --page-size 64K -o raw-star.mill
	json <("$millrace" info many.mill --json) "r['store']['pages'] > 2"
	json <("$millrace" info more.mill --json) "r['store']['pages'] > 2"
	expect 0 generate kron --scale 8 --seed 1 --weights u32 --page-size 64K -o p32.mill
	expect 0 generate kron --scale 8 --seed 1 --weights f32 --directed --page-size 64K -o pf.mill
	expect 0 generate kron --scale 8 --degree 80 --multigraph --directed --weights u32 --seed 3 --addressing paged --page-size 64K -o paged.mill
	json <("$millrace" info paged.mill --json) "r['store']['small_pages'] > 1"
}

# ---- The rows that are needed now ----
dump_texts "$scratch/texts"
[ "$failures" = 0 ] || done_testing
programs=$(unknown_texts "$scratch/texts" oclgrind)
if [ "${RECORD:-}" = write ]; then
	wanted=("${rows[@]}")
else
	# shellcheck disable=SC2086
	mapfile -t wanted < <([ -z "$programs" ] || printf '%s\n' "${rows[@]}" | python3 -m kernels rows "$record" $programs)
fi
echo "$(wc -w <<<"$programs") of $(find texts -name '*.cl' | wc -l) kernel programs are new, ${#wanted[@]} of ${#rows[@]} rows use them:" $programs
[ ${#wanted[@]} != 0 ] || { [ -z "$programs" ] && done_testing; }
make_stores

# grind ARG...: its exit code is millrace's, so the log must be empty
grind() {
	rm -f log
	MILL_RACE_CHECK=1 oclgrind --build-options -O0 --data-races --uninitialized --log log "$millrace" "$@" --device opencl \
		>out 2>err || failed "$*: exit $?: $(head -c 300 err)"
	[ -f log ] && [ ! -s log ] || failed "$*: $(head -n 8 log)"
}

for row in "${wanted[@]}"; do
	read -r -a word <<<"$row"
	rm -rf used
	mkdir used
	case ${word[0]} in
	plain) MILL_KERNEL_DUMP=used grind "${word[@]:1}" ;;
	clean) MILL_KERNEL_DUMP=used grind "${word[@]:1}" --check ;;
	small)
		expect 7 "${word[@]:1}" --device opencl --device-memory 1K --check
		MILL_KERNEL_DUMP=used grind "${word[@]:1}" --check --device-memory "$(sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p' err)"
		;;
	esac
	printf '%s\t%s\n' "$row" "$(basename -s .cl used/*.cl | tr '\n' ' ')" >>uses
done
# A program that no row runs is not checked.
for program in $programs; do
	grep -qE "[[:space:]]$program( |$)" uses || failed "no row runs the program $program"
done
if [ "${RECORD:-}" = write ] && [ "$failures" = 0 ]; then
	python3 -m kernels record "$record" "$scratch/texts" oclgrind uses
fi
done_testing
