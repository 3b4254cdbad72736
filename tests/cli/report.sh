# SPDX-License-Identifier: Apache-2.0
# The JSON report: every key always, errors included; where it goes.
. "$(dirname "$0")/lib.sh"

expect 0 generate kron --scale 8 --seed 1 -o g.mill
cat >keys.py <<'PY'
import json, sys
want = {"millrace": None, "command": None,
        "store": ["path", "vertices", "edges", "stored_edges", "directed", "weighted", "bytes", "pages"],
        "options": None, "seconds": ["load", "run", "output", "total"], "runs": None, "iterations": None,
        "edges_traversed": None, "mteps": None, "updates": None, "device": None, "policy_owns": None, "lanes": None, "atomics": None,
        "bytes": ["disk_read", "to_device", "from_device", "topology", "read_only", "writable", "flags"],
        "pages": ["active", "read", "to_device", "reused"],
        "memory": ["budget", "peak_rss", "device_budget", "device_peak", "driver"],
        "predicted": ["seconds", "disk_read", "iterations", "memory", "constants"], "cost": None, "supersteps": None, "result": ["hash"], "check": None, "error": None}
r = json.load(open(sys.argv[1]))
missing = [k for k in want if k not in r] + [f"{k}.{x}" for k, xs in want.items() if xs for x in xs if x not in r[k]]
sys.exit(f"missing: {missing}" if missing else 0)
PY

expect 0 bfs g.mill --source max-degree --check --repeat 3 --json
must python3 keys.py out
json out "r['command'] == 'bfs' and len(r['runs']) == 3 and r['seconds']['run'] == sorted(r['runs'])[1]"
json out "r['check'] == 'passed' and r['error'] is None and len(r['result']['hash']) == 16"
json out "r['options']['threads'] >= 1 and r['options']['memory'] > 0 and r['options']['source'] == 'max-degree'"
json out "r['memory']['peak_rss'] > 0 and r['memory']['device_budget'] is None and r['cost'] is None"
json out "all(k in s for s in r['supersteps'] for k in ('step', 'frontier', 'direction', 'edges', 'updates', 'seconds', 'disk_read'))"
json out "sum(s['updates'] for s in r['supersteps']) == r['updates'] and len(r['supersteps']) > 0"
json out "abs(r['mteps'] - r['edges_traversed'] / r['seconds']['run'] / 1e6) < 1e-6 * r['mteps']"

# With an error: the same keys, the code, and still the one line.
for arguments in "bfs missing.mill:5" "bfs g.mill --nonsense:2" "bfs g.mill --source 99999:2" "bfs g.mill --memory 1K:7" "bfs:2"; do
	code=${arguments##*:}
	set -- ${arguments%:*}
	expect "$code" "$@" --json
	must python3 keys.py out
	json out "r['error']['code'] == $code and r['error']['message']"
done
for command in "info missing.mill" "verify missing.mill" "export missing.mill -o x.el" "plan bfs missing.mill" "lab bfs missing.mill" "import missing.el -o x.mill"; do
	set -- $command
	expect 5 "$@" --json
	json out "r['command'] == '$1' and r['error']['code'] == 5 and 'store' in r"
done

# In a file it adds to the text, whole or not at all, also after an error.
expect 0 bfs g.mill --source max-degree --json=report.json; says "reached"
must python3 keys.py report.json
expect 2 bfs g.mill --source 99999 --json=report.json; silent
json report.json "r['error']['code'] == 2"
expect 5 bfs g.mill --json=no/such/report.json; silent
must [ -z "$(find . -name '*.partial*')" ]
expect 0 bfs g.mill --source max-degree -o - --json=report.json; must grep -qE '^0	' out
expect 0 bfs g.mill --source max-degree --quiet; silent

# Any path makes valid JSON.
name=$(printf 'odd "\\ \t\377\xc3\xa9.mill')
cp -r g.mill "$name"
expect 0 info "$name" --json; json out "r['store']['vertices'] == 256 and 'é' in r['store']['path']"
expect 5 info "$(printf 'two\nlines')"
done_testing
