# SPDX-License-Identifier: Apache-2.0
# The plan: what is predicted stands beside what was, and the cache of what was measured is never in the way.
. "$(dirname "$0")/lib.sh"
cache=$PWD/cache
export XDG_CACHE_HOME=$cache
file=$cache/millrace/machine.json

expect 0 generate kron --scale 12 --seed 1 --weights u32 --page-size 64K -o g.mill

# A run measures nothing and writes nothing.
expect 0 bfs g.mill --source max-degree --json
json out "r['predicted']['constants'] == 'defaults' and r['predicted']['seconds'] > 0 and r['predicted']['iterations'] > 0"
must [ ! -e "$cache" ]
# The plan does, once.
expect 0 plan bfs g.mill --memory 1G; says "resident"; says "measured on this machine"; says "supersteps"; says "terms"
json "$file" "len(r['graphs']) == 1 and r['graphs'][0]['read'] > 0"
cp "$file" first
expect 0 plan pagerank g.mill --json; must cmp "$file" first
cat >keys.py <<'PY'
import json, sys
keys = ["seconds", "seconds_low", "seconds_high", "read_seconds", "compute_seconds", "step_seconds", "device_seconds", "load_seconds",
        "iterations", "iterations_low", "iterations_high", "pages_read", "disk_read", "load_read", "to_device", "memory", "constants"]
p = json.load(open(sys.argv[1]))["predicted"]
assert list(p) == keys, p
assert all((v is None) == (sys.argv[2] == "unknown") for v in p.values()), p
if sys.argv[2] == "known":
    assert p["seconds_low"] <= p["seconds"] <= p["seconds_high"] and p["iterations_low"] <= p["iterations"] <= p["iterations_high"]
PY
must python3 keys.py out known
json out "r['predicted']['constants'] == 'measured' and r['predicted']['memory'] == r['plan']['resident']"
expect 0 bfs g.mill --source max-degree --json=r.json; says "predicted"
must python3 keys.py r.json known; json r.json "r['predicted']['constants'] == 'measured'"
expect 0 plan bfs g.mill --recalibrate; must python3 -c "import json; assert len(json.load(open('$file'))['graphs']) == 1"
# Another graph is a line of its own, and before that uses what is known of the machine.
expect 0 generate grid --vertices 10000 -o grid.mill
expect 0 bfs grid.mill --json; json out "r['predicted']['constants'] == 'measured'"
expect 0 plan bfs grid.mill --json; json "$file" "len(r['graphs']) == 2 and r['graphs'][0]['local'] == 1 and r['graphs'][1]['local'] == 0"
json out "r['predicted']['iterations'] > 50"
# Other threads are another machine.
expect 0 bfs g.mill --threads 1 --json; json out "r['predicted']['constants'] == 'defaults'"
expect 2 plan bfs missing.mill --recalibrated
expect 2 bfs g.mill --recalibrate
expect 5 plan bfs missing.mill --json; must python3 keys.py out unknown
expect 7 bfs g.mill --memory 1M --json=r.json; must python3 keys.py r.json known

# Streamed: the pages are exact, and so are steps that nothing decides but the options.
MILL_FAULT=hold:n=1000000 expect 0 pagerank g.mill --iterations 4 --tolerance 0 --json
json out "r['predicted']['pages_read'] == r['pages']['read'] > 1 and r['predicted']['disk_read'] == r['bytes']['disk_read']"
json out "r['predicted']['iterations'] == r['iterations'] == 4"
expect 0 plan pagerank g.mill --iterations 7 --tolerance 0 --json
json out "[r['predicted'][k] for k in ('iterations', 'iterations_low', 'iterations_high')] == [7, 7, 7]"
expect 0 plan cdlp g.mill --iterations 7 --json; json out "r['predicted']['iterations'] == 7"

# Every algorithm has a plan.
for algorithm in sssp cc bc kcore degrees scc triangles cdlp; do
	expect 0 plan $algorithm g.mill; says "supersteps"
done
if "$millrace" list devices | grep -q opencl:0; then
	expect 0 plan bfs g.mill --device opencl:0 --json
	must python3 keys.py out known; json out "r['predicted']['device_seconds'] > 0 and r['predicted']['constants'] == 'measured'"
	# The terms of GTS's equations: they add up, before a run alone and after it beside what it took.
	cat >cost.py <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
c, terms = r["cost"], ["attributes", "stream", "calls", "kernel", "sync", "disk"]
assert list(c) == ["equation", "predicted", "actual"] and c["equation"] == int(sys.argv[2]), c
assert (c["actual"] is None) == (sys.argv[3] == "plan"), c
for side in filter(None, (c["predicted"], c["actual"])):
    assert list(side) == terms + ["total"] and min(side.values()) >= 0, side
    assert abs(sum(side[t] for t in terms) - side["total"]) <= 1e-9 + 1e-6 * side["total"], side
assert c["predicted"]["total"] == r["predicted"]["device_seconds"] > 0
# What a run waits for is no more than the run took; its transfers may be behind one another.
assert sys.argv[3] == "plan" or 0 < c["actual"]["total"] < 2 * r["seconds"]["run"] + 1e-3, (c, r["seconds"])
PY
	must python3 cost.py out 2 plan
	expect 0 plan pagerank g.mill --device opencl:0; says "equation 1"; says "attributes"; says "stream"; says "predicted"
	for budget in 64M 2M; do
		for run in "bfs 2 --source max-degree" "pagerank 1 --iterations 3" "cc 1" "kcore 2"; do
			set -- $run
			algorithm=$1 equation=$2
			shift 2
			expect 0 plan $algorithm g.mill --device opencl:0 --device-memory $budget --json; must python3 cost.py out $equation plan
			expect 0 $algorithm g.mill "$@" --device opencl:0 --device-memory $budget --policy lru --json=r.json; says "equation $equation"; says "actual"
			must python3 cost.py r.json $equation run
		done
	done
	# GTS's own policy: state crosses, and what two devices wrote is merged.
	for run in "bfs 2 --source max-degree" "sssp 2 --source max-degree" "cc 2" "pagerank 1 --iterations 3"; do
		set -- $run
		algorithm=$1 equation=$2
		shift 2
		for how in "opencl:0 --device-memory 1M" "opencl:0" "opencl:0/2" "opencl:0/2 --strategy s" "opencl:0 --chunks 3"; do
			expect 0 plan $algorithm g.mill --policy gts --device $how --json; must python3 cost.py out $equation plan
			json out "r['cost']['predicted']['attributes'] > 0"
			expect 0 $algorithm g.mill "$@" --policy gts --device $how --json=r.json; says "equation $equation"
			must python3 cost.py r.json $equation run
			json r.json "r['cost']['actual']['attributes'] > 0 and (r['cost']['predicted']['sync'] > 0) == ('$how' == 'opencl:0/2')"
		done
	done
	# What computes on the host has no equation, nor has a run that did not begin.
	expect 0 degrees g.mill --device opencl:0 --json; json out "r['cost'] is None"
	expect 5 bfs missing.mill --device opencl:0 --json; json out "r['cost'] is None"
fi
expect 0 plan bfs g.mill --json; json out "r['cost'] is None"

# Garbage is measured again and replaced.
for garbage in "" "$(head -c 200 "$file")" "$(sed 's/"read": [0-9.e+-]*/"read": nan/' "$file")" \
	"$(sed 's/"read": [0-9.e+-]*/"read": -1/' "$file")" "$(tr , '\n' <"$file")"; do
	printf '%s' "$garbage" >"$file"
	expect 0 bfs g.mill; says "by defaults"
	expect 0 plan bfs g.mill; says "measured on this machine"
	must python3 -m json.tool "$file" /dev/null
done
head -c 1000000 /dev/urandom >"$file"
expect 0 bfs g.mill; expect 0 plan bfs g.mill; must python3 -m json.tool "$file" /dev/null
rm "$file"; mkdir "$file"
expect 0 bfs g.mill; expect 0 plan bfs g.mill --json; json out "r['predicted']['constants'] == 'measured'"
rmdir "$file"

# Nowhere to keep it.
for place in /dev/null/none relative; do
	XDG_CACHE_HOME=$place HOME=/proc expect 0 plan bfs g.mill; says "measured on this machine"
	XDG_CACHE_HOME=$place HOME=/proc expect 0 bfs g.mill
done
unset XDG_CACHE_HOME
(failures=0; unset HOME; expect 0 plan bfs g.mill; expect 0 bfs g.mill; exit $failures) || failed "without HOME"
HOME=$PWD/home; mkdir home; export HOME
expect 0 plan bfs g.mill; must python3 -m json.tool home/.cache/millrace/machine.json /dev/null
must [ ! -e relative ]

# What cannot be measured keeps its default; what cannot be written is not missed.
rm -r home/.cache
MILL_FAULT=io:op=write,n=1,err=ENOSPC,sticky expect 0 plan bfs g.mill --json; json out "r['predicted']['constants'] == 'measured'"
rm -r home/.cache
MILL_FAULT=io:op=mkdir,n=1,err=EACCES,sticky expect 0 plan bfs g.mill
must [ ! -e home/.cache ]
MILL_FAULT=io:op=read,n=12,err=EIO,sticky expect 0 plan bfs g.mill --json; json out "r['predicted']['constants'] == 'defaults'"
expect 0 plan bfs g.mill --memory 66M --json; json out "r['predicted']['memory'] <= 66 << 20"
must [ -z "$(find . -name '*.partial*')" ]
done_testing
