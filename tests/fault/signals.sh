# SPDX-License-Identifier: Apache-2.0
# SIGINT and SIGTERM end a run on several devices that would never end: the documented code, one
# line, a report, no result.
. "$(dirname "$0")/../cli/lib.sh"
expect 0 list devices
grep -q opencl out || exit 77

expect 0 generate kron --scale 9 --degree 120 --multigraph --seed 4 --directed --page-size 64K -o g.mill

# stopped SIGNAL CODE OPTION...: sends the signal when the run has made some passes
stopped() {
	local signal=$1 code=$2 got
	shift 2
	rm -f r.json t.json
	# A shell would let what it starts in the background ignore SIGINT.
	timeout -s KILL 120 python3 - "$signal" "$millrace" pagerank g.mill --exact --iterations 1000000000 \
		--tolerance 0 --policy gts "$@" --json=r.json -o never.tsv --trace t.json >out 2>err <<'PY'
import glob, os, signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[2:])
while p.poll() is None and not any(os.path.getsize(f) > 300000 for f in glob.glob("t.json.partial-*")):
    time.sleep(0.05)
p.send_signal(getattr(signal, "SIG" + sys.argv[1]))
sys.exit(p.wait())
PY
	got=$?
	[ $got = "$code" ] || failed "SIG$signal, $*: exit $got: $(head -c 300 err)"
	one_line || failed "SIG$signal, $*: not one line: $(head -c 300 err)"
	must [ ! -e never.tsv ]
	json r.json "r['error']['code'] == $code and r['iterations'] > 0"
}

stopped INT 130 --device opencl,opencl,opencl --strategy p --device-cache 0
stopped TERM 143 --device opencl,opencl --strategy s --chunks 2
done_testing
