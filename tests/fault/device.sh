# SPDX-License-Identifier: Apache-2.0
# Every OpenCL call of a run fails once, or from then on: exit 8 with one line, nothing hangs, and with --fallback the result is that of the
# cpu. Without OpenCL the cpu is all there is.
. "$(dirname "$0")/../cli/lib.sh"

printf '0 1 1\n0 2 5\n1 3 1\n2 3 1\n4 0 1\n1 4 2\n' >g.el
expect 0 import g.el --weights 3 --page-size 64K -o g.mill

# No driver: an error for who asks for one, nothing for who lists.
export OCL_ICD_VENDORS=$scratch/none OCL_ICD_FILENAMES=
expect 0 list devices; says "cpu "
if ! grep -q opencl: out; then
	expect 8 bfs g.mill --source 0 --device opencl; hints "OpenCL is not there"; hints "--device cpu"
	expect 0 bfs g.mill --source 0 --device opencl --fallback --json=r.json; says "  device  opencl failed (OpenCL is not there"
	json r.json "r['options']['device'] == 'opencl' and r['error'] is None"
fi
unset OCL_ICD_VENDORS OCL_ICD_FILENAMES
"$millrace" list devices | grep -q opencl:0 || done_testing

hash_of() { sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p' "$1"; }

# faulty FAULT COMMAND...: sets rc; what ends well has the hash $want
faulty() {
	local fault=$1
	shift
	rc=0
	MILL_FAULT=$fault timeout 60 "$millrace" "$@" --json=r.json >out 2>err </dev/null || rc=$?
	case $rc in
	0) [ "$(hash_of r.json)" = "$want" ] || failed "MILL_FAULT=$fault millrace $*: exit 0, another result" ;;
	8) one_line || failed "MILL_FAULT=$fault millrace $*: not one line: $(head -c 300 err)" ;;
	*) failed "MILL_FAULT=$fault millrace $*: exit $rc: $(head -c 300 err)" ;;
	esac
}

# sweep FAULT COMMAND...: K = 1, 2, ... until the run ends well: no fault is survived. Beyond 16 some are left out.
sweep() {
	local fault=$1 n=1
	shift
	while :; do
		faulty "${fault/K/$n}" "$@"
		[ $rc = 8 ] && [ $n -lt 2000 ] || break
		n=$((n < 16 ? n + 1 : n + n / 4))
	done
	[ $n -gt 1 ] || failed "$fault $*: the fault never struck"
	[ $n -lt 2000 ] || failed "$fault $*: no end"
}

for command in "bfs g.mill --source 0 --check" "sssp g.mill --source 0" "pagerank g.mill --iterations 2 --tolerance 0" \
	"sssp g.mill --source 0 --check --policy graphie --partition-size 24"; do
	# shellcheck disable=SC2086
	{
		expect 0 ${command%% --policy*} --json=want.json	# of the cpu, which takes no settings of devices
		want=$(hash_of want.json)
		[ -n "$want" ] || failed "$command: no hash"
		for op in open build alloc write read fill launch wait finish any; do
			sweep "cl:op=$op,n=K" $command --device opencl
		done
		for op in launch wait; do
			for n in 1 9; do
				faulty "cl:op=$op,n=$n,sticky" $command --device opencl
				[ $rc = 8 ] || failed "cl:op=$op,n=$n,sticky $command: exit $rc"
				faulty "cl:op=$op,n=$n,sticky" $command --device opencl --fallback
				[ $rc = 0 ] || failed "cl:op=$op,n=$n,sticky $command --fallback: exit $rc"
				grep -q '^  device  opencl failed (.*), ran on the cpu$' out ||
					failed "cl:op=$op,n=$n,sticky $command --fallback: not told: $(head -c 300 out)"
			done
		done
	}
done

# A part of a device; and several, of which the first are open when another fails.
if "$millrace" list devices | grep -q "opencl:0 .* 2 units, divisible"; then
	expect 0 bfs g.mill --source 0 --json=want.json
	want=$(hash_of want.json)
	for op in open build any; do
		sweep "cl:op=$op,n=K" bfs g.mill --source 0 --check --device opencl:0/2:1
	done
fi
struck=0
for n in {1..24}; do
	rc=0
	MILL_FAULT=cl:op=open,n=$n timeout 60 "$millrace" degrees g.mill --device opencl,opencl,opencl --fallback >out 2>err || rc=$?
	case $rc in
	0) grep -q '^  device  opencl,opencl,opencl failed (.*), ran on the cpu$' out || failed "open $n of three devices: not told"
	   struck=$((struck + 1)) ;;
	2) grep -q "runs on one device" err || failed "open $n of three devices: $(head -c 300 err)" ;;
	*) failed "open $n of three devices: exit $rc: $(head -c 300 err)" ;;
	esac
done
[ $struck -gt 6 ] || failed "of opening three devices only $struck calls failed"

# Intersection brings lists of its own to the device.
expect 0 triangles g.mill --lcc=directed --json=want.json
want=$(hash_of want.json)
for op in open build alloc write read fill launch wait finish any; do
	sweep "cl:op=$op,n=K" triangles g.mill --lcc=directed --check --device opencl
done

# What is done again counts once, and appears whole.
expect 0 bfs g.mill --source 0 -o want.tsv
MILL_FAULT=cl:op=read,n=9 expect 0 bfs g.mill --source 0 --device opencl --fallback --repeat 3 --check -o got.tsv --json=r.json --trace t.json
must cmp want.tsv got.tsv
json r.json "len(r['runs']) == 3 and r['check'] == 'passed' and r['options']['device'] == 'opencl' and r['bytes']['to_device'] == 0"
must python3 -m json.tool t.json /dev/null
# Other codes than the usual; a work-group that no device has.
MILL_FAULT=cl:op=launch,n=1,err=-6 expect 8 bfs g.mill --source 0 --device opencl; hints "no memory left"
expect 8 bfs g.mill --source 0 --device opencl --group-size 65536; hints "the device allows"
expect 8 bfs g.mill --source 0 --device opencl:77
done_testing
