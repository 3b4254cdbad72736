#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# peers.sh MILLRACE [PEERS [KEEP]]: compares Millrace with the peers that are built below the
# folder PEERS (GAPBS's bfs sssp pr pr_spmv cc bc tc, Ligra's BC KCore) and with igraph
# (build/release/igraph, one thread, on the smaller graphs): the same graphs, sources and
# threads, ROUNDS (3) rounds in turns. Prints a line for each algorithm and graph (medians, the
# ratio to the best peer, peak memory), then the geometric means, and the peers that it did not
# find.
#
# The times: `bfs` is the run with its parents, as the peers compute them; `pagerank` one of
# five iterations, without load; `pagerank-load` loading and five iterations, each program from
# its own file; the others are the run without load.
#
# GRAPHS="kron20 kron22 urand22 grid2000" names graphs to generate; a word with a slash is a
# file that `import` reads and makes undirected and simple. igraph gets graphs with a .sg file
# of at most IGRAPH_MOST (200M) bytes. ALGORITHMS="bfs sssp ..." chooses algorithms. KEEP keeps
# the graphs. This script does not build peers.
set -euo pipefail
millrace=$(realpath "$1") here=$(dirname "$0")
. "$here/lib.sh"
rounds=${ROUNDS:-3} threads=${THREADS:-$(nproc)}
graphs=${GRAPHS:-kron20 kron22 urand22 grid2000}
algorithms=${ALGORITHMS:-bfs sssp pagerank pagerank-load cc bc triangles kcore}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
peers=${2:+$(realpath "$2")}
keep=${3:-$scratch}
mkdir -p "$keep"
igraph=$(dirname "$millrace")/igraph
export OMP_NUM_THREADS=$threads OMP_WAIT_POLICY=passive

missed=
[ -n "$(find_peer pr)" ] || missed+=" GAPBS"
[ -n "$(find_peer KCore)" ] || missed+=" Ligra"
[ -x "$igraph" ] || missed+=" igraph"

make_graph() { # NAME [FILE]
	local store=$keep/$1.mill
	if [ -n "${2:-}" ] && [ ! -e "$store" ]; then
		# sssp needs weights: a number from 1 to 255, computed from the ends of the edge.
		"$millrace" import "$2" --undirected --dedup first --loops drop \
			-o "$scratch/plain.mill" --quiet
		"$millrace" export "$scratch/plain.mill" -o "$scratch/plain.el" --quiet
		awk '!/^[#%]/ { print $1, $2, ($1 * 7919 + $2 * 104729) % 255 + 1 }' \
			"$scratch/plain.el" >"$scratch/weighted.el"
		"$millrace" import "$scratch/weighted.el" --undirected --weights 3 --dedup first \
			-o "$store" --quiet
		rm -rf "$scratch"/plain.* "$scratch/weighted.el"
	fi
	if [ ! -e "$store" ]; then
		local kind
		case $1 in
		kron*) kind=(kron --scale "${1#kron}") ;;
		urand*) kind=(uniform --scale "${1#urand}") ;;
		grid*) kind=(grid --vertices $((${1#grid} * ${1#grid}))) ;;
		*) echo "peers.sh: unknown graph $1" >&2; exit 2 ;;
		esac
		"$millrace" generate "${kind[@]}" --weights u32 -o "$store" --quiet
	fi
	for form in sg wsg; do
		[ -e "$keep/$1.$form" ] || "$millrace" export "$store" -o "$keep/$1.$form" --quiet
	done
}

# Converts .sg to Ligra's binary format: 32-bit offsets and the same neighbours.
make_ligra() { # NAME
	[ -e "$keep/$1.config" ] || perl -e '
		open(my $in, "<:raw", "$ARGV[0].sg"); read($in, my $head, 17);
		my ($d, $m, $n) = unpack("Cq<q<", $head);
		open(my $idx, ">:raw", "$ARGV[0].idx"); open(my $adj, ">:raw", "$ARGV[0].adj");
		for (my $left = $n; $left > 0;) {
			my $some = $left < 65536 ? $left : 65536;
			read($in, my $b, 8 * $some);
			print $idx pack("V*", unpack("Q<*", $b)); $left -= $some;
		}
		read($in, my $b, 8);
		while (read($in, $b, 1 << 20)) { print $adj $b; }
		open(my $c, ">", "$ARGV[0].config"); print $c "$n\n";' "$keep/$1"
}

# ours, gapbs, gapbs_load, ligra and by_igraph print "seconds KiB" of one call: the median of its
# trials, as the program prints them.
timed() { # COMMAND...: runs it; its output goes to $scratch/out, its peak memory to $scratch/kib
	/usr/bin/env time -f %M -o "$scratch/kib" "$@" >"$scratch/out" 2>&1
}
ours() { # ALGORITHM OPTION...
	"$millrace" "$@" --threads "$threads" --repeat 3 --json="$scratch/report" --quiet
	local kib=$(($(value "$scratch/report" peak_rss) / 1024))
	awk -v run="$(value "$scratch/report" run)" -v kib=$kib \
		-v more="${more:+$(value "$scratch/report" $more)}" \
		'BEGIN { print run + more, kib }'
}
gapbs() { # PROGRAM OPTION...
	timed "$@" -n 3
	echo "$(sed -n 's/^Trial Time: *//p' "$scratch/out" | sort -g | sed -n 2p)" \
		"$(tail -n 1 "$scratch/kib")"
}
gapbs_load() { # PROGRAM OPTION...: counts the time to read the file too
	timed "$@" -n 1
	echo "$(awk '/^(Read|Trial) Time:/ { s += $3 } END { print s }' "$scratch/out")" \
		"$(tail -n 1 "$scratch/kib")"
}
ligra() { # PROGRAM OPTION...
	timed "$@"
	echo "$(sed -n 's/^Running time *: *//p' "$scratch/out" | sort -g | sed -n 2p)" \
		"$(tail -n 1 "$scratch/kib")"
}
by_igraph() { # PROGRAM FILE ALGORITHM
	timed "$1" "$2" 1 "$3"
	echo "$(sed -n "s/^$3 //p" "$scratch/out") $(tail -n 1 "$scratch/kib")"
}

# peer LABEL FUNCTION PROGRAM OPTION...: adds a peer to the next comparison, if it is built.
peer() {
	local label=$1
	shift
	[ -n "$2" ] && [ -x "$2" ] || return 0
	labels+=("$label")
	commands+=("$(printf '%q ' "$@")")
}

# compare NAME GRAPH DIVISOR MORE ALGORITHM OPTION...: runs all in turns and prints a row. MORE:
# a key of the report that is added to the seconds of the run, or "".
compare() {
	local algorithm=$1 graph=$2 divisor=$3 more=$4 command=$5 i k best= name= text=
	shift 5
	rm -f "$scratch"/t.*
	for ((i = 0; i < rounds; i++)); do
		ours "$command" "$keep/$graph.mill" "$@" >>"$scratch/t.ours"
		for k in "${!labels[@]}"; do eval "${commands[$k]}" >>"$scratch/t.$k"; done
	done
	cut -d' ' -f1 "$scratch/t.ours" >"$scratch/s"
	local mine kib their_kib=-
	mine=$(median <"$scratch/s")
	kib=$(tail -n 1 "$scratch/t.ours" | cut -d' ' -f2)
	for k in "${!labels[@]}"; do
		cut -d' ' -f1 "$scratch/t.$k" >"$scratch/s"
		local t=$(median <"$scratch/s")
		[ -n "$t" ] || continue
		text+=$(awk -v l="${labels[$k]}" -v t="$t" -v d="$divisor" \
			'BEGIN { printf " %s %.2f", l, t / d * 1e3 }')
		if [ -z "$best" ] || awk "BEGIN { exit !($t < $best) }"; then
			best=$t name=${labels[$k]}
			their_kib=$(tail -n 1 "$scratch/t.$k" | cut -d' ' -f2)
		fi
	done
	awk -v a="$algorithm" -v g="$graph" -v d="$divisor" -v m="$mine" -v b="${best:-0}" \
		-v n="${name:--}" -v x="$text" -v k="$kib" -v tk="$their_kib" 'BEGIN {
			ratio = (b > 0) ? sprintf("%.3f", m / b) : "-"
			theirs = (tk == "-") ? tk : sprintf("%d", tk / 1024)
			printf "| %s | %s | %.2f | %s | ", a, g, m / d * 1e3, ratio
			printf "%s |%s | %d | %s |\n", n, x, k / 1024, theirs
		}' |
		tee -a "$scratch/table"
}

echo "| algorithm | graph | millrace, ms | ratio | best peer | peers, ms | peak MiB | peer's MiB |"
echo "|---|---|---|---|---|---|---|---|"
for graph in $graphs; do
	file=
	case $graph in */*) file=$(realpath "$graph") graph=$(basename "${graph%%.*}") ;; esac
	make_graph "$graph" "$file"
	sg=$keep/$graph.sg wsg=$keep/$graph.wsg small=
	# igraph needs about 60 bytes per edge, and minutes for the larger graphs.
	[ "$(stat -c %s "$sg")" -gt "$(numfmt --from=iec "${IGRAPH_MOST:-200M}")" ] || small=$igraph
	"$millrace" bfs "$keep/$graph.mill" --source max-degree --json="$scratch/report" --quiet
	# The report has options.source, "max-degree", and result.source, the number of that vertex.
	source=$(sed -n 's/^ *"source": \([0-9][0-9]*\).*/\1/p' "$scratch/report")
	for algorithm in $algorithms; do
		labels=() commands=()
		case $algorithm in
		bfs)
			peer GAPBS gapbs "$(find_peer bfs)" -f "$sg" -r "$source"
			peer igraph by_igraph "$small" "$sg" bfs
			;;
		sssp)	# GAPBS does not choose delta itself: try some, the best one counts
			for delta in 2 32 256; do
				peer "GAPBS-$delta" gapbs "$(find_peer sssp)" -f "$wsg" \
					-r "$source" -d $delta
			done
			peer igraph by_igraph "$small" "$wsg" sssp
			;;
		pagerank)
			peer GAPBS gapbs "$(find_peer pr)" -f "$sg" -i 5 -t 0
			peer GAPBS-spmv gapbs "$(find_peer pr_spmv)" -f "$sg" -i 5 -t 0
			;;
		pagerank-load)
			peer GAPBS gapbs_load "$(find_peer pr)" -f "$sg" -i 5 -t 0
			peer GAPBS-spmv gapbs_load "$(find_peer pr_spmv)" -f "$sg" \
				-i 5 -t 0
			;;
		cc)
			peer GAPBS gapbs "$(find_peer cc)" -f "$sg"
			peer igraph by_igraph "$small" "$sg" cc
			;;
		bc)
			peer GAPBS gapbs "$(find_peer bc)" -f "$sg" -r "$source" -i 1
			[ -z "$(find_peer BC)" ] || make_ligra "$graph"
			peer Ligra ligra "$(find_peer BC)" -s -b -r "$source" -rounds 3 \
				"$keep/$graph"
			;;
		triangles) peer GAPBS gapbs "$(find_peer tc)" -f "$sg" ;;
		kcore)
			[ -z "$(find_peer KCore)" ] || make_ligra "$graph"
			peer Ligra ligra "$(find_peer KCore)" -s -b -rounds 3 "$keep/$graph"
			peer igraph by_igraph "$small" "$sg" kcore
			;;
		esac
		case $algorithm in
		bfs)
			compare bfs "$graph" 1 parents bfs --source "$source" \
				-o "$scratch/depths.npy"
			;;
		sssp) compare sssp "$graph" 1 "" sssp --source "$source" ;;
		bc) compare bc "$graph" 1 "" bc --sources "$source" ;;
		pagerank) compare pagerank "$graph" 5 "" pagerank --iterations 5 --tolerance 0 ;;
		pagerank-load)
			compare pagerank-load "$graph" 1 load pagerank --iterations 5 --tolerance 0
			;;
		*) compare $algorithm "$graph" 1 "" $algorithm ;;
		esac
	done
done
echo
echo "geometric means of the ratios:"
awk -F' *[|] *' '
$5 != "-" { s[$2] += log($5); n[$2]++ }
END { for (a in s) printf "  %-10s %.3f\n", a, exp(s[a] / n[a]) }' "$scratch/table" | sort
[ -z "$missed" ] || echo "not found, so not compared:$missed"
