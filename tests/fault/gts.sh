# SPDX-License-Identifier: Apache-2.0
# Several devices under faults: OpenCL calls that fail in the middle of a run, on the first device and on others, allocations, reads,
# damaged and missing files, signals. A documented code and one line, or the result of the cpu; nothing hangs.
. "$(dirname "$0")/../cli/lib.sh"
"$millrace" list devices | grep -q opencl || exit 77

hash_of() { sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p' "$1"; }
kron="generate kron --scale 9 --degree 120 --multigraph --seed 4 --weights u32 --directed --page-size 64K"
mkdir a b
# shellcheck disable=SC2086
{
	expect 0 $kron -o g.mill
	expect 0 $kron --addressing paged -o p.mill
	expect 0 $kron --stripe a,b -o s.mill
}
json <("$millrace" info g.mill --json) "r['store']['pages'] >= 8"
p="--policy gts --device opencl,opencl,opencl --strategy p"
s="--policy gts --device opencl,opencl --strategy s --chunks 2"

# faulty FAULT CODES COMMAND...: sets rc, one of 0 and the codes; 0 means the file want.tsv
faulty() {
	local fault=$1 codes=$2
	shift 2
	rc=0
	rm -f got.tsv
	MILL_FAULT=$fault timeout 120 "$millrace" "$@" -o got.tsv --json=r.json >out 2>err </dev/null || rc=$?
	case " 0 $codes " in
	*" $rc "*) ;;
	*) failed "MILL_FAULT=$fault millrace $*: exit $rc: $(head -c 300 err)" ;;
	esac
	if [ $rc = 0 ]; then
		cmp -s want.tsv got.tsv || failed "MILL_FAULT=$fault millrace $*: exit 0, another result"
	else
		one_line || failed "MILL_FAULT=$fault millrace $*: not one line: $(head -c 300 err)"
		[ ! -e got.tsv ] || failed "MILL_FAULT=$fault millrace $*: left got.tsv"
	fi
}

# sweep FAULT CODES FIRST STEP COMMAND...: K = FIRST, then STEP per cent on, until twice nothing is hit
sweep() {
	local fault=$1 codes=$2 n=$3 step=$4 calm=0 struck=0
	shift 4
	while [ $calm -lt 2 ] && [ "$n" -lt 20000 ]; do
		faulty "${fault/K/$n}" "$codes" "$@"
		if [ $rc = 0 ]; then calm=$((calm + 1)); else calm=0 struck=$((struck + 1)); fi
		n=$((n + 1 + n * step / 100))
	done
	[ $struck -gt 0 ] || failed "$fault $*: the fault never struck"
	[ "$n" -lt 20000 ] || failed "$fault $*: no end"
}

# ---- OpenCL ----
# Calls of all devices are counted together: pages and passes alternate between them, so that each is hit at some K.
for command in "bfs g.mill --source max-degree --check $p" "sssp g.mill --source max-degree $s" \
	"pagerank p.mill --exact --iterations 3 --tolerance 0 --check $p --device-cache 0"; do
	# shellcheck disable=SC2086
	{
		expect 0 ${command%% --policy*} -o want.tsv
		for op in open build alloc write read fill launch wait finish; do
			sweep "cl:op=$op,n=K" 8 1 60 $command
		done
		sweep "cl:op=any,n=K,sticky" 8 7 120 $command
		for fault in cl:op=launch,n=5 cl:op=write,n=9,sticky cl:op=read,n=3 cl:op=wait,n=4,sticky cl:op=open,n=3 cl:op=finish,n=2; do
			faulty $fault "" $command --fallback
			grep -q '^  device  opencl.* failed (.*), ran on the cpu$' out || failed "$fault $command --fallback: not told"
			json r.json "r['device'] == 'cpu' and r['gts'] is None and r['error'] is None"
		done
	}
done
MILL_FAULT=cl:op=launch,n=9 expect 0 bfs g.mill --source max-degree --fallback --repeat 3 --check --trace t.json --json=r.json $p
json r.json "len(r['runs']) == 3 and r['check'] == 'passed' and r['device'] == 'cpu'"
must python3 -m json.tool t.json /dev/null

# ---- Memory and files ----
# shellcheck disable=SC2086
for command in "bfs g.mill --source max-degree $p" "cc p.mill $s"; do
	expect 0 ${command%% --policy*} -o want.tsv
	sweep alloc:n=K 7 1 12 $command
	sweep alloc:n=K,sticky 7 2 40 $command
	sweep "hold:n=1;io:op=read,n=K,err=EIO" 5 1 15 $command --device-cache 0 --main-buffer 1
	sweep "hold:n=1;io:op=read,n=K,err=EIO" 5 3 25 $command --device-cache 0 --io pread
	for n in 1 9 30 60; do
		faulty "hold:n=1;io:op=read,n=$n,short=512" "" $command --device-cache 0
		faulty "hold:n=1;io:op=read,n=$n,err=EINTR" "" $command --io pread
	done
done

# A part of the pages is gone, cut off, or is not what it was.
# shellcheck disable=SC2086
for how in "$p" "$s" "--policy gts --device opencl"; do
	expect 0 bfs s.mill --source max-degree --check $how
	mv b/s.mill-* gone
	expect 5 bfs s.mill --source max-degree $how; hints "stripe.1"
	mv gone "$(readlink s.mill/stripe.1 | sed 's,.*/b/,b/,')"
	file=$(ls b/s.mill-*/out.pages)
	cp "$file" whole
	truncate -s -65536 "$file"
	expect 4 bfs s.mill --source max-degree $how
	cp whole "$file"
	printf '\x5a' | dd of="$file" bs=1 seek=70000 conv=notrunc status=none
	expect 4 pagerank s.mill --exact $how; hints "page"
	expect 4 pagerank s.mill --exact $how --fallback; hints "page"	# no device can help it
	cp whole "$file"
	expect 0 bfs s.mill --source max-degree --check $how
done

# ---- Signals ----
# In the middle of it: so many iterations that it would never end.
for signal in "INT 130" "TERM 143"; do
	for how in "$p --device-cache 0" "$s"; do
		# shellcheck disable=SC2086
		{
			set -- $signal
			rm -f t.json r.json
			# A shell that starts something in the background lets it ignore SIGINT.
			timeout -s KILL 120 python3 - "$1" "$millrace" pagerank g.mill --exact --iterations 1000000000 --tolerance 0 $how \
				--json=r.json -o never.tsv --trace t.json >out 2>err <<'PY'
import os, signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[2:])
for _ in range(600):	# its threads are those of the devices too
    time.sleep(0.1)
    if os.path.exists("t.json") or p.poll() is not None or len(os.listdir(f"/proc/{p.pid}/task")) > 3:
        break
time.sleep(3)
p.send_signal(getattr(signal, "SIG" + sys.argv[1]))
sys.exit(p.wait())
PY
			rc=$?
			[ $rc = "$2" ] || failed "SIG$1, $how: exit $rc: $(head -c 300 err)"
			one_line || failed "SIG$1, $how: not one line: $(head -c 300 err)"
			must [ ! -e never.tsv ]
			json r.json "r['error']['code'] == $2 and r['iterations'] > 0"
		}
	done
done
done_testing
