# SPDX-License-Identifier: Apache-2.0
# MILL_FAULT reaches a real process: a fault of each kind, and runs that go on without their device.
# The sweeps over all faults are test_host.c and test_device.c.
. "$(dirname "$0")/../cli/lib.sh"

printf '0 1 1\n0 2 5\n1 3 1\n2 3 1\n4 0 1\n1 4 2\n' >g.el
expect 0 import g.el --weights 3 --page-size 64K -o g.mill
MILL_FAULT=alloc:n=9 expect 7 bfs g.mill --source 0
MILL_FAULT=io:op=write,n=3,err=ENOSPC expect 6 import g.el -o none.mill
must [ ! -e none.mill ]
MILL_FAULT=io:op=read,n=1,err=EIO expect 5 export g.mill -o none.el
must [ ! -e none.el ]
MILL_FAULT=io:op=read,n=1,short=1 expect 0 verify g.mill
MILL_FAULT="hold:n=1;alloc:n=30" expect 7 pagerank g.mill
MILL_FAULT=disk:n=1 expect 2 bfs g.mill --source 0; hints "MILL_FAULT is not understood: disk:n=1"

# Without a driver: an error for a run, nothing for a list.
export OCL_ICD_VENDORS=$scratch/none OCL_ICD_FILENAMES=
expect 0 list devices; says "cpu "
if ! grep -q opencl: out; then
	expect 8 bfs g.mill --source 0 --device opencl; hints "OpenCL is not there"; hints "--device cpu"
	expect 0 bfs g.mill --source 0 --device opencl --fallback --json=r.json
	says "  device  opencl failed (OpenCL is not there"
	json r.json "r['options']['device'] == 'opencl' and r['error'] is None"
fi
unset OCL_ICD_VENDORS OCL_ICD_FILENAMES
expect 0 list devices
grep -q opencl:0 out || done_testing

# A run that goes on without its device is repeated as often as asked, and its result appears once.
expect 0 bfs g.mill --source 0 -o want.tsv
for devices in opencl opencl,opencl,opencl; do
	MILL_FAULT=cl:op=read,n=9 expect 0 bfs g.mill --source 0 --device $devices --fallback --repeat 3 \
		--check -o got.tsv --json=r.json --trace t.json
	must cmp want.tsv got.tsv
	json r.json "len(r['runs']) == 3 and r['check'] == 'passed' and r['device'] == 'cpu'"
	json r.json "r['options']['device'] == '$devices' and r['bytes']['to_device'] == 0"
	json t.json "r"
	rm got.tsv
done
MILL_FAULT=cl:op=launch,n=1 expect 8 bfs g.mill --source 0 --device opencl; hints "OpenCL error -5"
done_testing
