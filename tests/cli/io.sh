# SPDX-License-Identifier: Apache-2.0
# How pages come from disk: both ways of reading, what refuses them, policies, and what goes wrong in the middle of a run.
. "$(dirname "$0")/lib.sh"

expect 0 generate kron --scale 14 --seed 1 --page-size 64K -o g.mill
export MILL_FAULT=hold:n=1	# streamed, whatever would fit
expect 0 pagerank g.mill --iterations 6 --json; cp out want.json
hash() { value hash "$1"; }
same() { [ "$(hash out)" = "$(hash want.json)" ] || failed "other bits"; }
json want.json "not r['memory']['resident'] and r['bytes']['disk_read'] > 0"
json want.json "all(s['wait'] >= 0 and s['decode'] > 0 and s['compute'] > 0 for s in r['supersteps'] if s['pages_active'])"
for io in uring pread; do
	expect 0 pagerank g.mill --iterations 6 --io $io --json; same
	[ $io = uring ] || json out "r['options']['io'] == 'pread'"
done
expect 0 pagerank g.mill --iterations 6; says "waiting for pages"
MILL_FAULT= expect 0 pagerank g.mill --iterations 6 --json; same
json out "r['memory']['resident'] and all(s['wait'] == 0 and s['decode'] == 0 for s in r['supersteps'])"

# What the system refuses is done in another way, and the report says so.
for err in EPERM ENOMEM; do
	MILL_FAULT="hold:n=1;io:op=ring,n=1,err=$err,sticky" expect 0 pagerank g.mill --iterations 6 --io uring --json; same
	json out "r['options']['io'] == 'pread'"
done
for io in uring pread; do
	MILL_FAULT="hold:n=1;io:op=direct,n=1,err=EINVAL,sticky" expect 0 pagerank g.mill --iterations 6 --io $io --json; same
done
must bash -c "ulimit -l 0; ulimit -n 24; $(printf %q "$millrace") pagerank g.mill --iterations 6 --json >out"; same
expect 2 pagerank g.mill --iterations 6 --io aio; hints "takes uring, pread"

# Faults of single reads.
for io in uring pread; do
	for n in 4 6; do
		MILL_FAULT="hold:n=1;io:op=read,n=$n,err=EIO,sticky" expect 5 pagerank g.mill --iterations 6 --io $io
		MILL_FAULT="hold:n=1;io:op=read,n=$n,err=EINTR" expect 0 pagerank g.mill --iterations 6 --io $io --json; same
		MILL_FAULT="hold:n=1;io:op=read,n=$n,short=1" expect 0 pagerank g.mill --iterations 6 --io $io --json; same
	done
	MILL_FAULT="hold:n=1;io:op=read,n=1,short=5000,sticky" expect 0 pagerank g.mill --iterations 6 --io $io --json; same
done

# Policies change what is read, never what comes of it.
for policy in auto fifo lru frequency pinned graphie; do
	expect 0 list policies; says "$policy"
	expect 0 pagerank g.mill --iterations 6 --policy $policy --json; same
	json out "r['options']['policy'] == '$policy'"
done
expect 2 pagerank g.mill --iterations 6 --policy lro; hints "lru"

# A page that changes under a run, or ends: the code of a corrupt store, no hang.
cp -r g.mill bad.mill
printf 'x' | dd of=bad.mill/out.pages bs=1 seek=200000 conv=notrunc status=none
cp -r g.mill cut.mill
truncate -s 131072 cut.mill/out.pages
for io in uring pread; do
	expect 4 pagerank bad.mill --io $io; hints "out.pages"
	expect 4 bfs bad.mill --io $io
	expect 4 pagerank cut.mill --io $io
done
# Two runs on one store at once.
"$millrace" pagerank g.mill --iterations 6 --json=one.json --quiet & first=$!
expect 0 pagerank g.mill --iterations 6 --json=two.json --quiet
must wait $first
must [ "$(hash one.json)" = "$(hash two.json)" ]
must [ "$(hash one.json)" = "$(hash want.json)" ]
done_testing
