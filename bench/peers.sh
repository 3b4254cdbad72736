#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# peers.sh MILLRACE [PEERS [KEEP]]: ours beside the peers found built below the folder PEERS (GAPBS's bfs sssp pr cc bc tc,
# Ligra's BC KCore) and igraph (build/release/igraph, one thread, on the smaller graphs), on the same graphs, sources and
# threads, ROUNDS rounds in turns; a line per algorithm and graph with the medians, the ratio to the best
# peer and peak memory, then the geometric means. GRAPHS="kron20 kron22 urand22 grid2000" ALGORITHMS="bfs ..." KEEP
# keeps the graphs. Nothing here builds a peer.
set -euo pipefail
millrace=$(realpath "$1") here=$(dirname "$0")
. "$here/lib.sh"
rounds=${ROUNDS:-3} threads=${THREADS:-$(nproc)}
graphs=${GRAPHS:-kron20 kron22 urand22 grid2000}
algorithms=${ALGORITHMS:-bfs sssp pagerank cc bc triangles kcore}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
peers=${2:+$(realpath "$2")}
keep=${3:-$scratch}
mkdir -p "$keep"
igraph=$(dirname "$millrace")/igraph
export OMP_NUM_THREADS=$threads OMP_WAIT_POLICY=passive

# find_peer NAME: its path below PEERS, or nothing.
find_peer() { [ -z "$peers" ] || find -L "$peers" -maxdepth 3 -type f -name "$1" -not -path '*/bin/*' -perm -u+x | head -n 1; }
median() { sort -g "$1" | awk '{ x[NR] = $1 } END { if (NR) print x[int((NR + 1) / 2)] }'; }

make_graph() { # NAME
	local store=$keep/$1.mill
	[ -e "$store" ] || case $1 in
	kron*) "$millrace" generate kron --scale "${1#kron}" --weights u32 -o "$store" --quiet ;;
	urand*) "$millrace" generate uniform --scale "${1#urand}" --weights u32 -o "$store" --quiet ;;
	grid*) "$millrace" generate grid --vertices $((${1#grid} * ${1#grid})) --weights u32 -o "$store" --quiet ;;
	*) echo "peers.sh: unknown graph $1" >&2; exit 2 ;;
	esac
	for form in sg wsg; do
		[ -e "$keep/$1.$form" ] || "$millrace" export "$store" -o "$keep/$1.$form" --quiet
	done
}

# Ligra's binary form, from .sg: 32-bit offsets and the same neighbours.
make_ligra() { # NAME
	[ -e "$keep/$1.config" ] || perl -e '
		open(my $in, "<:raw", "$ARGV[0].sg"); read($in, my $head, 17);
		my ($d, $m, $n) = unpack("Cq<q<", $head);
		open(my $idx, ">:raw", "$ARGV[0].idx"); open(my $adj, ">:raw", "$ARGV[0].adj");
		for (my $left = $n; $left > 0;) {
			my $some = $left < 65536 ? $left : 65536;
			read($in, my $b, 8 * $some); print $idx pack("V*", unpack("Q<*", $b)); $left -= $some;
		}
		read($in, my $b, 8);
		while (read($in, $b, 1 << 20)) { print $adj $b; }
		open(my $c, ">", "$ARGV[0].config"); print $c "$n\n";' "$keep/$1"
}

# Each prints "seconds KiB" of one call, the best or the middle of its trials as the peer counts them.
timed() { # COMMAND...: runs it, leaves its output in $scratch/out and its peak memory in $scratch/kib
	/usr/bin/env time -f %M -o "$scratch/kib" "$@" >"$scratch/out" 2>&1
}
ours() { # ALGORITHM OPTION...
	"$millrace" "$@" --threads "$threads" --repeat 3 --json="$scratch/report" --quiet
	echo "$(value "$scratch/report" run) $(($(value "$scratch/report" peak_rss) / 1024))"
}
gapbs() { # PROGRAM OPTION...
	timed "$@" -n 3
	echo "$(sed -n 's/^Trial Time: *//p' "$scratch/out" | sort -g | sed -n 2p) $(tail -n 1 "$scratch/kib")"
}
ligra() { # PROGRAM OPTION...
	timed "$@"
	echo "$(sed -n 's/^Running time *: *//p' "$scratch/out" | sort -g | sed -n 2p) $(tail -n 1 "$scratch/kib")"
}
by_igraph() { # PROGRAM FILE ALGORITHM
	timed "$1" "$2" 1 "$3"
	echo "$(sed -n "s/^$3 //p" "$scratch/out") $(tail -n 1 "$scratch/kib")"
}

# peer LABEL COMMAND...: one more peer for the comparison that is under way.
peer() {
	local label=$1
	shift
	[ -n "$2" ] && [ -x "$2" ] || return 0
	labels+=("$label")
	commands+=("$(printf '%q ' "$@")")
}

compare() { # ALGORITHM GRAPH DIVISOR OUR-OPTION...
	local algorithm=$1 graph=$2 divisor=$3 i k best= name= text=
	shift 3
	rm -f "$scratch"/t.*
	for ((i = 0; i < rounds; i++)); do
		ours "$algorithm" "$keep/$graph.mill" "$@" >>"$scratch/t.ours"
		for k in "${!labels[@]}"; do eval "${commands[$k]}" >>"$scratch/t.$k"; done
	done
	cut -d' ' -f1 "$scratch/t.ours" >"$scratch/s"
	local mine=$(median "$scratch/s") kib=$(tail -n 1 "$scratch/t.ours" | cut -d' ' -f2) their_kib=-
	for k in "${!labels[@]}"; do
		cut -d' ' -f1 "$scratch/t.$k" >"$scratch/s"
		local t=$(median "$scratch/s")
		[ -n "$t" ] || continue
		text+=$(awk -v l="${labels[$k]}" -v t="$t" -v d="$divisor" 'BEGIN { printf " %s %.2f", l, t / d * 1e3 }')
		if [ -z "$best" ] || awk "BEGIN { exit !($t < $best) }"; then
			best=$t name=${labels[$k]} their_kib=$(tail -n 1 "$scratch/t.$k" | cut -d' ' -f2)
		fi
	done
	awk -v a="$algorithm" -v g="$graph" -v d="$divisor" -v m="$mine" -v b="${best:-0}" -v n="${name:--}" -v x="$text" \
		-v k="$kib" -v tk="$their_kib" 'BEGIN {
			ratio = (b > 0) ? sprintf("%.3f", m / b) : "-"
			theirs = (tk == "-") ? tk : sprintf("%d", tk / 1024)
			printf "| %s | %s | %.2f | %s | %s |%s | %d | %s |\n", a, g, m / d * 1e3, ratio, n, x, k / 1024, theirs
		}' |
		tee -a "$scratch/table"
}

echo "| algorithm | graph | millrace, ms | ratio | best peer | peers, ms | peak MiB | peer's MiB |"
echo "|---|---|---|---|---|---|---|---|"
for graph in $graphs; do
	make_graph "$graph"
	sg=$keep/$graph.sg wsg=$keep/$graph.wsg small=
	# igraph needs some 60 bytes an edge, and minutes for the larger ones.
	[ "$(stat -c %s "$sg")" -gt $((200 << 20)) ] || small=$igraph
	"$millrace" bfs "$keep/$graph.mill" --source max-degree --json="$scratch/report" --quiet
	# options.source says max-degree, result.source which vertex that is.
	source=$(sed -n 's/^ *"source": \([0-9][0-9]*\).*/\1/p' "$scratch/report")
	for algorithm in $algorithms; do
		labels=() commands=()
		case $algorithm in
		bfs)
			peer GAPBS gapbs "$(find_peer bfs)" -f "$sg" -r "$source"
			peer igraph by_igraph "$small" "$sg" bfs
			;;
		sssp)	# their delta has no automatic: the best of some
			for delta in 2 32 256; do
				peer "GAPBS-$delta" gapbs "$(find_peer sssp)" -f "$wsg" -r "$source" -d $delta
			done
			peer igraph by_igraph "$small" "$wsg" sssp
			;;
		pagerank) peer GAPBS gapbs "$(find_peer pr)" -f "$sg" -i 5 -t 0 ;;
		cc)
			peer GAPBS gapbs "$(find_peer cc)" -f "$sg"
			peer igraph by_igraph "$small" "$sg" cc
			;;
		bc)
			peer GAPBS gapbs "$(find_peer bc)" -f "$sg" -r "$source" -i 1
			[ -z "$(find_peer BC)" ] || make_ligra "$graph"
			peer Ligra ligra "$(find_peer BC)" -s -b -r "$source" -rounds 3 "$keep/$graph"
			;;
		triangles) peer GAPBS gapbs "$(find_peer tc)" -f "$sg" ;;
		kcore)
			[ -z "$(find_peer KCore)" ] || make_ligra "$graph"
			peer Ligra ligra "$(find_peer KCore)" -s -b -rounds 3 "$keep/$graph"
			peer igraph by_igraph "$small" "$sg" kcore
			;;
		esac
		case $algorithm in
		bfs | sssp) compare $algorithm "$graph" 1 --source "$source" ;;
		bc) compare bc "$graph" 1 --sources "$source" ;;
		pagerank) compare pagerank "$graph" 5 --iterations 5 --tolerance 0 ;;
		*) compare $algorithm "$graph" 1 ;;
		esac
	done
done
echo
echo "geometric means of the ratios:"
awk -F' *[|] *' '$5 != "-" { s[$2] += log($5); n[$2]++ } END { for (a in s) printf "  %-10s %.3f\n", a, exp(s[a] / n[a]) }' \
	"$scratch/table" | sort
