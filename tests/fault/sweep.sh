# SPDX-License-Identifier: Apache-2.0
# Every allocation and every I/O operation of every command fails once, or from then on: the exit code is a documented
# one, stderr one line, nothing half-made stays, and exit 0 means the bytes of the fault-free run.
. "$(dirname "$0")/../cli/lib.sh"

printf '0 1 1\n0 2 5\n1 3 1\n2 3 1\n4 0 1\n1 4 2\n' >g.el
expect 0 import g.el --weights 3 --page-size 64K -o g.mill
paged=
[ "${MILL_VID_BITS:-32}" != 32 ] || paged=--addressing=paged	# of which a narrow build has too few
expect 0 import g.el --weights 3 --page-size 64K $paged -o paged.mill

# faulty FAULT ALLOWED-CODES COMMAND...: sets rc
faulty() {
	local fault=$1 allowed=$2
	shift 2
	rc=0
	MILL_FAULT=$fault timeout 60 "$millrace" "$@" >out 2>err </dev/null || rc=$?
	case " 0 $allowed " in
	*" $rc "*) ;;
	*) failed "MILL_FAULT=$fault millrace $*: exit $rc: $(head -c 300 err)" ;;
	esac
	[ $rc = 0 ] || one_line || failed "MILL_FAULT=$fault millrace $*: not one line: $(head -c 300 err)"
}

# sweep KIND ALLOWED COMMAND...: n = 1, 2, ... until ten in a row change nothing; where no failure is allowed,
# n = 1 .. 60. Beyond 24 some are left out, unless LONG is set. $target is what the command makes (a store or a file; may be empty), $want what it must be equal to.
sweep() {
	local kind=$1 allowed=$2 n=0 calm=0
	shift 2
	while { [ $calm -lt 10 ] && [ $n -lt 20000 ]; } || { [ -z "$allowed" ] && [ $n -lt 60 ]; }; do
		n=$((n < 24 || ${LONG:-0} ? n + 1 : n + n / 8))
		[ -z "$target" ] || rm -rf "$target"
		faulty "${kind/K/$n}" "$allowed" "$@"
		if [ $rc != 0 ]; then
			calm=0
			# Only what can still fail after it has appeared may leave it, and then whole.
			[ -z "$target" ] || [ ! -e "$target" ] || diff -r "$target" "$want" >/dev/null ||
				failed "${kind/K/$n} $*: left half of $target"
		else
			calm=$((calm + 1))
			[ -z "$target" ] || diff -r "$target" "$want" >/dev/null || failed "${kind/K/$n} $*: exit 0, other bytes"
		fi
		leftovers=$(find . -name '*.new' -o -name '*.partial-*' -o -name '*.tmp')
		[ -z "$leftovers" ] || failed "${kind/K/$n} $*: left $leftovers"
	done
	[ $n -gt 10 ] || failed "$kind $*: the fault never struck"
	[ $n -lt 20000 ] || failed "$kind $*: no end"
}

expect 0 generate kron --scale 6 --seed 1 --page-size 64K -o want.gen
mkdir tmp
printf '0 1 1\n0 2 5\n1 3 1\n2 3 1\n4 0 1\n1 4 2\n5 5 1\n12345678901234567890 4 2\n5 1 7\n6 2 9\n6 1 4\n' >far.el
expect 0 import far.el --weights 3 --order auto --page-size 64K -o far.mill
printf 'b a 1\na c 5\nlonger a 2\nd "e f" 1\n' >named.el
expect 0 import named.el --names --weights 3 --page-size 64K -o named.mill
expect 0 bfs named.mill --source b -o want.csv
expect 0 bfs g.mill --source 0 -o want.tsv
expect 0 export g.mill -o want.el
expect 0 triangles g.mill --lcc=directed -o want.tri.tsv

makers() { # KIND ALLOWED
	target=made.mill want=g.mill
	sweep "$1" "$2" import g.el --weights 3 --page-size 64K -o made.mill
	target=made.gen want=want.gen
	sweep "$1" "$2" generate kron --scale 6 --seed 1 --page-size 64K -o made.gen
	# Pages that are read and written once more.
	target=made.paged want=paged.mill
	sweep "$1" "$2" import g.el --weights 3 --page-size 64K $paged -o made.paged
	# The same over the disk: a few edges at a time, ids too far apart for a bitmap in the end.
	target=made.far want=far.mill
	sweep "hold:n=6;$1" "$2" import far.el --weights 3 --order auto --page-size 64K -o made.far --tmp tmp
	[ -z "$(ls -A tmp)" ] || failed "$1: import left $(ls -A tmp) in its --tmp"
	target=made.named want=named.mill
	sweep "hold:n=3;$1" "$2" import named.el --names --weights 3 --page-size 64K -o made.named --tmp tmp
	[ -z "$(ls -A tmp)" ] || failed "$1: import left $(ls -A tmp) in its --tmp"
	target=made.csv want=want.csv
	sweep "$1" "$2" bfs named.mill --source b -o made.csv
	target=made.tsv want=want.tsv
	sweep "$1" "$2" bfs g.mill --source 0 --check -o made.tsv
	target=made.el want=want.el
	sweep "$1" "$2" export g.mill -o made.el
	# Streamed, so that its undirected view is a temporary graph, and the oriented one another.
	target=made.tri.tsv want=want.tri.tsv
	sweep "hold:n=1;$1" "$2" triangles g.mill --lcc=directed --check -o made.tri.tsv
}

all() { # KIND ALLOWED
	makers "$1" "$2"
	target=
	for command in "info g.mill" "verify named.mill" "verify g.mill" "verify paged.mill" "sssp paged.mill --source 0 --check" "sssp g.mill --source 0 --check" "pagerank g.mill --check" \
		"cc g.mill --check" "cc g.mill --method hooking" "scc g.mill --check" "degrees g.mill --check" \
		"bfs g.mill --source 0 --trace t.json"; do
		# shellcheck disable=SC2086
		sweep "$1" "$2" $command
	done
	sweep "hold:n=1;$1" "$2" pagerank g.mill --io pread
	sweep "hold:n=1;$1" "$2" pagerank g.mill --io uring
	for command in "kcore g.mill --check" "cdlp g.mill --check"; do
		# shellcheck disable=SC2086
		sweep "$1" "$2" $command
		# shellcheck disable=SC2086
		sweep "hold:n=1;$1" "$2" $command
	done
}

all alloc:n=K 7
all alloc:n=K,sticky 7
all "io:op=any,n=K,err=EIO" "3 4 5"
makers "io:op=write,n=K,err=ENOSPC,sticky" 6
all "io:op=any,n=K,err=EINTR" ""
all "io:op=read,n=K,short=1" ""
expect 0 verify g.mill
done_testing
