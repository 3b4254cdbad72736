# SPDX-License-Identifier: Apache-2.0
# --trace: Chrome trace events of everything a run does, also of one that failed or was stopped.
. "$(dirname "$0")/lib.sh"

expect 0 generate kron --scale 14 --seed 1 --weights u32 --page-size 64K -o g.mill
cat >trace.py <<'PY'
import collections, json, sys
t = json.load(open(sys.argv[1]))
spans = collections.defaultdict(list)
names = collections.Counter()
moved = collections.Counter()
for e in t["traceEvents"]:
    if e["ph"] == "M":
        assert e["args"]["name"]
        continue
    assert e["ph"] == "X" and e["pid"] == 1 and e["dur"] >= 0 and e["ts"] >= 0, e
    spans[e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["name"]))
    names[e["name"]] += 1
    moved[e["name"]] += e.get("args", {}).get("bytes", 0)
assert sum(names.values()) == t["otherData"]["events"] and t["otherData"]["dropped"] == 0
# On a track one span lies inside another or beside it; a thousandth is what is rounded.
for track in spans.values():
    track.sort(key=lambda s: (s[0], -s[1]))
    inside = []
    for begin, end, name in track:
        while inside and inside[-1][1] <= begin + 0.002:
            inside.pop()
        assert not inside or end <= inside[-1][1] + 0.002, (inside[-1], begin, end, name)
        inside.append((begin, end, name))
tracks = {e["tid"] for e in t["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
assert set(spans) <= tracks, "a track without a name"
n = collections.Counter({k: v for k, v in names.items()})
if len(sys.argv) > 2:
    r = json.load(open(sys.argv[2])) if len(sys.argv) > 3 else None
    sys.exit(not eval(sys.argv[-1]))
PY

# Streamed: every page read of the ledger is there, and every superstep.
MILL_FAULT=hold:n=1000000 expect 0 pagerank g.mill --iterations 3 --tolerance 0 -o scores.tsv --json=r.json --trace t.json
must python3 trace.py t.json r.json "n['read'] == r['pages']['read'] > 1 and n['scan'] == r['iterations'] == 3"
must python3 trace.py t.json r.json "n['decode'] == n['compute'] == r['pages']['active'] and n['pass'] == 3 and n['output'] == 1"
json r.json "r['options']['trace'] == 't.json'"
cp scores.tsv traced.tsv
MILL_FAULT=hold:n=1000000 expect 0 pagerank g.mill --iterations 3 --tolerance 0 -o scores.tsv
must cmp scores.tsv traced.tsv
# Resident.
expect 0 sssp g.mill --source max-degree --check --repeat 3 --json=r.json --trace t.json
must python3 trace.py t.json r.json "n['load'] == 1 and n['check'] == 1 and n['push'] >= 3 * r['iterations'] and n['share'] > 0"
if "$millrace" list devices | grep -q opencl:0; then
	expect 0 bfs g.mill --source max-degree --device opencl:0 --json=r.json --trace t.json
	# Every command of the device, on the tracks of its queues; all that moved, once.
	must python3 trace.py t.json r.json "sum(v for k, v in n.items() if k.startswith('bfs_')) >= r['iterations'] and n['build'] >= 1"
	must python3 trace.py t.json r.json "n['to device'] >= r['pages']['to_device'] > 0"
	must python3 trace.py t.json r.json "moved['to device'] == r['bytes']['to_device'] and moved['from device'] == r['bytes']['from_device']"
	must grep -q '"queue 0 transfers"' t.json
	must grep -q ' kernels"' t.json
fi

# Whole or not at all, whatever happens to the run.
expect 7 bfs g.mill --memory 1M --trace t.json; must python3 trace.py t.json
rm t.json
MILL_FAULT="hold:n=1000000;io:op=read,n=9,err=EIO,sticky" expect 5 pagerank g.mill --trace t.json
must python3 trace.py t.json
rm t.json
expect 2 bfs g.mill --source 99999999 --trace t.json; must python3 trace.py t.json
expect 6 bfs g.mill --trace /dev/full
expect 5 bfs g.mill --trace no/such/t.json
expect 5 bfs g.mill --trace .
expect 2 bfs g.mill --trace -
expect 2 bfs g.mill --trace x.tsv -o x.tsv
expect 2 plan bfs g.mill --trace t.json
must [ -z "$(find . -name '*.partial*')" ]
done_testing
