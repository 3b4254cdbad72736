#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stream.sh MILLRACE [PEERS [KEEP]]: measures graphs larger than their budget. Drops the system's
# caches before every run, if it runs as root. All parts, or PARTS="disk fits grid scales":
#	disk    streamed runs of kron SCALE (22) against the longer of two times: fio reads the
#	        same bytes, the same run is resident; medians of ROUNDS (3)
#	fits    a budget that just holds the graph against no limit: bytes read after loading
#	        (none), and the ratio
#	grid    kron LARGE (24) with 512M against GridGraph with 1 GB, if its `preprocess` is below
#	        PEERS/*/bin
#	scales  time per edge of kron SCALES (18 20 22 24 26) with MEMORY (1G), and KEEP/scales.svg
# KEEP keeps the stores: 30 GB with those of GridGraph. fio is a Debian package.
set -euo pipefail
millrace=$(realpath "$1") here=$(dirname "$0")
. "$here/lib.sh"
scale=${SCALE:-22} large=${LARGE:-24} rounds=${ROUNDS:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
peers=${2:+$(realpath "$2")}
keep=${3:-$scratch}
mkdir -p "$keep"
keep=$(realpath "$keep")
report=$scratch/report
export OMP_NUM_THREADS=${THREADS:-$(nproc)}

drop_caches() { sync; [ ! -w /proc/sys/vm/drop_caches ] || echo 3 >/proc/sys/vm/drop_caches; }
middle() { printf '%s\n' "$@" | median; }
calc() { awk "BEGIN { printf \"%.${2:-3}f\", $1 }"; }
kron() { # SCALE: makes a store with weights; prints its path
	local store=$keep/stream-kron$1.mill
	[ -e "$store" ] ||
		"$millrace" generate kron --scale "$1" --weights u32 -o "$store" --quiet --memory 8G
	echo "$store"
}
bare() { # SCALE: makes a store without weights; prints its path
	local store=$keep/stream-bare$1.mill
	[ -e "$store" ] || "$millrace" generate kron --scale "$1" -o "$store" --quiet --memory 8G
	echo "$store"
}
# Prints the options of an algorithm that every part uses.
options_of() { # ALGORITHM
	case $1 in
	pagerank) echo --iterations 10 --tolerance 0 ;;
	bfs | sssp) echo --source max-degree ;;
	esac
}
run() { # ALGORITHM STORE OPTION...: writes $report
	drop_caches
	"$millrace" "$@" $(options_of "$1") --json="$report" --quiet
}
# Prints the seconds that fio takes to read BYTES of a store's pages as the stream does: in order,
# 1 MiB at a time, 16 reads in flight. 0: there is no fio.
by_fio() { # STORE BYTES
	command -v fio >/dev/null || { echo 0; return; }
	local file=$1/out.pages
	drop_caches
	fio --name=pages --filename="$file" --readonly --rw=read --bs=1M --direct=1 \
		--ioengine=io_uring --iodepth=16 --size="$(stat -c %s "$file")" --io_size="$2" \
		--output-format=terse --terse-version=3 |
		awk -F';' '{ printf "%.4f", $9 / 1000 }'
}

part_disk() {
	local store algorithm least i bytes
	printf '\n%-10s %-8s %9s %10s %9s %9s %9s %7s\n' algorithm graph budget 'read MiB' \
		streamed fio resident ratio
	for algorithm in bfs sssp cc pagerank; do
		store=$(kron "$scale")
		[ $algorithm = sssp ] || store=$(bare "$scale")
		"$millrace" plan $algorithm "$store" --json="$scratch/plan" --quiet
		least=$(value "$scratch/plan" needed)
		streamed=() alone=() resident=()
		for ((i = 0; i < rounds; i++)); do
			run $algorithm "$store" --memory "$least"
			[ "$(value "$report" resident)" = false ]
			bytes=$(value "$report" disk_read)
			streamed+=("$(value "$report" run)")
			alone+=("$(by_fio "$store" "$bytes")")
			run $algorithm "$store"
			resident+=("$(value "$report" run)")
		done
		s=$(middle "${streamed[@]}") f=$(middle "${alone[@]}") r=$(middle "${resident[@]}")
		printf '%-10s %-8s %9s %10d %9.3f %9.3f %9.3f %7.2f\n' $algorithm "kron$scale" \
			"$((least >> 20))M" $((bytes >> 20)) "$s" "$f" "$r" \
			"$(calc "$s / ($f > $r ? $f : $r)" 2)"
	done
}

part_fits() {
	local store algorithm i just
	printf '\n%-10s %-8s %9s %12s %9s %9s %7s\n' algorithm graph budget 'read after' \
		just ample ratio
	for algorithm in bfs sssp cc pagerank; do
		store=$(kron "$scale")
		"$millrace" plan $algorithm "$store" --json="$scratch/plan" --quiet
		just=$(value "$scratch/plan" resident)
		tight=() ample=()
		for ((i = 0; i < rounds; i++)); do
			run $algorithm "$store" --memory "$just" --repeat 3
			tight+=("$(value "$report" run)")
			reads=$(value "$report" disk_read)
			[ "$(value "$report" resident)" = true ]
			run $algorithm "$store" --repeat 3
			ample+=("$(value "$report" run)")
		done
		s=$(middle "${tight[@]}") r=$(middle "${ample[@]}")
		printf '%-10s %-8s %9s %12d %9.3f %9.3f %7.2f\n' $algorithm "kron$scale" \
			"$((just >> 20))M" "$reads" "$s" "$r" "$(calc "$s / $r" 2)"
	done
}

# Runs a command and prints the bytes that it read, from a disk or from the system's cache.
read_by() { # COMMAND...
	"$@" >"$scratch/out" 2>&1 &
	local pid=$! bytes=0
	while [ -r /proc/$pid/io ]; do
		bytes=$(awk '/^rchar/ { print $2 }' /proc/$pid/io 2>/dev/null || echo "$bytes")
		sleep 0.05
	done
	wait $pid
	echo "${bytes:-0}"
}
row() { # NAME OURS THEIRS [NOTE]
	printf '%-28s %9.2f %9.2f %7.1f   %s\n' "$1" "$2" "$3" "$(calc "$3 / $2" 2)" "${4:-}"
}
# Prints the seconds that a command takes.
elapsed() { # COMMAND...
	{ /usr/bin/env time -f %e "$@" >/dev/null; } 2>&1 | tail -n 1
}

part_grid() {
	local preprocess bin ours theirs disk peak
	local grid=$keep/gridgraph$large arcs=$keep/kron$large.arcs store=$keep/grid-kron$large.mill
	preprocess=$([ -z "$peers" ] ||
		find -L "$peers" -maxdepth 3 -path '*/bin/preprocess' -perm -u+x | head -n 1)
	[ -n "$preprocess" ] || { echo "no GridGraph below '$peers': not compared"; return 0; }
	bin=$(dirname "$preprocess")
	if [ ! -e "$arcs" ]; then
		"$millrace" export "$(bare "$large")" -o "$keep/arcs.sg" --quiet
		"$(dirname "$millrace")/arcs" "$keep/arcs.sg" >"$arcs"
		rm "$keep/arcs.sg"
	fi
	printf '\n%-28s %9s %9s %7s\n' "kron$large, 512M and 1 GB" millrace GridGraph times
	rm -rf "$grid"
	drop_caches
	theirs=$(elapsed "$preprocess" -i "$arcs" -o "$grid" -v $((1 << large)) -p 8 -t 0)
	drop_caches
	ours=$(elapsed "$millrace" import "$arcs" --format raw --id-bits 32 --undirected \
		-o "$store" --force --quiet)
	row preprocess "$ours" "$theirs"
	drop_caches
	"$millrace" bfs "$store" --source max-degree --json="$report" --quiet
	source=$(sed -n 's/^ *"source": \([0-9][0-9]*\).*/\1/p' "$report")
	bytes=$(read_by "$bin/bfs" "$grid" "$source" 1)
	theirs=$(sed -n 's/.* in \([0-9.]*\) seconds.*/\1/p' "$scratch/out")
	drop_caches
	"$millrace" bfs "$store" --source "$source" --memory "${GRID_MEMORY:-512M}" --json="$report" --quiet
	disk=$(($(value "$report" disk_read) >> 20)) peak=$(($(value "$report" peak_rss) >> 20))
	row bfs "$(value "$report" run)" "$theirs" \
		"read $disk MiB, GridGraph $((bytes >> 20)); peak $peak MiB"
	drop_caches
	"$bin/wcc" "$grid" 1 >"$scratch/out" 2>&1
	theirs=$(sed -n 's/.* in \([0-9.]*\) seconds.*/\1/p' "$scratch/out")
	drop_caches
	"$millrace" cc "$store" --memory 512M --json="$report" --quiet
	peak=$(($(value "$report" peak_rss) >> 20))
	row components "$(value "$report" run)" "$theirs" "peak $peak MiB"
	drop_caches
	"$bin/pagerank" "$grid" 5 1 >"$scratch/out" 2>&1
	theirs=$(calc "$(sed -n 's/.*took \([0-9.]*\) seconds.*/\1/p' "$scratch/out") / 5" 4)
	drop_caches
	"$millrace" pagerank "$store" --iterations 5 --tolerance 0 --memory 512M --json="$report" \
		--quiet
	peak=$(($(value "$report" peak_rss) >> 20))
	row "pagerank, an iteration" "$(calc "$(value "$report" run) / 5" 4)" "$theirs" \
		"peak $peak MiB"
}

part_scales() {
	local s store edges edges_stored
	printf '\n%-6s %-9s %9s %10s %9s %10s %9s %9s\n' scale algorithm seconds 'ns/edge' MTEPS \
		'bytes/edge' resident 'peak MiB'
	: >"$scratch/points"
	for s in ${SCALES:-18 20 22 24 26}; do
		store=$(bare "$s")
		for algorithm in bfs pagerank; do
			run $algorithm "$store" --memory "${MEMORY:-1G}"
			edges_stored=$(value "$report" stored_edges)
			edges=$edges_stored
			[ $algorithm = bfs ] || edges=$((edges_stored * 10))
			ns=$(calc "$(value "$report" run) * 1e9 / $edges" 4)
			printf '%s\t%s\t%s\n' $algorithm "$edges_stored" "$ns" >>"$scratch/points"
			printf '%-6s %-9s %9.3f %10.3f %9.1f %10.2f %9s %9d\n' "$s" $algorithm \
				"$(value "$report" run)" "$ns" "$(value "$report" mteps)" \
				"$(calc "$(value "$report" disk_read) / $edges" 3)" \
				"$(value "$report" resident)" \
				$(($(value "$report" peak_rss) >> 20))
		done
	done
	python3 "$here/plot.py" "kron, one budget of ${MEMORY:-1G}" "stored edges" \
		"ns per edge (pagerank: and iteration)" <"$scratch/points" >"$keep/scales.svg"
	echo "plot: $keep/scales.svg"
}

for part in ${PARTS:-disk fits grid scales}; do
	part_$part
done
