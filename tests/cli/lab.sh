# SPDX-License-Identifier: Apache-2.0
# The lab: one run under several policies, budgets and mappings; the same result in every row.
. "$(dirname "$0")/lib.sh"

expect 0 generate kron --scale 13 --seed 1 --weights u32 --page-size 64K -o g.mill

# What can be typed wrongly, said before any device is looked for.
expect 2 lab; hints "usage: millrace lab ALGO STORE"
expect 2 lab bfs g.mill more
expect 2 lab nonsense g.mill; hints "unknown algorithm"
expect 2 lab bfs g.mill --nonsense; hints "unknown option"
expect 2 lab bfs g.mill --policies reuze; hints "did you mean reuse?"
expect 2 lab bfs g.mill --policies all,nonsense; hints "there are all,active,reuse"
expect 2 lab bfs g.mill --policies all,,reuse; hints "empty"
expect 2 lab bfs g.mill --wires edges,nonsense; hints "takes edges, csr, packed"
expect 2 lab bfs g.mill --wires edges --wire csr
expect 2 lab bfs g.mill --queue-counts 4,x; hints "from 1 to 256"
expect 2 lab bfs g.mill --queue-counts 0
expect 2 lab bfs g.mill --queue-counts 4 --queues 3
expect 2 bfs g.mill --wire csr --device opencl; hints "policy graphie"
expect 2 lab bfs g.mill --policies all --mappings
expect 2 lab bfs g.mill --mapping group --mappings
expect 2 lab bfs g.mill --budgets 10% --device-memory 20%
expect 2 lab bfs g.mill --budgets 10%,lots; hints "--budgets lots"
expect 2 lab bfs g.mill --device cpu; hints "list devices"
expect 2 lab bfs g.mill --damping 0.5; hints "means nothing for bfs"
expect 2 lab bfs g.mill -o out.tsv; hints "unknown option"
expect 2 lab bfs g.mill --policy lru; hints "unknown option"
expect 2 lab bfs g.mill --plot pages.png; hints ".svg"
expect 2 lab bfs g.mill --plot a.svg --json=a.svg
expect 5 lab bfs g.mill --plot no/such/a.svg
expect 5 lab bfs missing.mill --json; json out "r['command'] == 'lab' and r['error']['code'] == 5 and r['rows'] == []"
expect 2 bfs g.mill --plot a.svg; hints "unknown option"
expect 2 bfs g.mill --budgets 10%
expect 2 plan bfs g.mill --policies all
expect 0 help lab; says "examples:"; says "--budgets LIST"; says "default opencl"
expect 8 lab bfs g.mill --device opencl:99
"$millrace" list devices | grep -q opencl || exit 77

# The table: one row a policy, one hash.
expect 0 lab bfs g.mill --source max-degree --device-memory 60% --check
says "x CSR"; says "reused"; says "hash"
must [ "$(grep -cE '^  (all|active|reuse|fifo|lru|frequency|pinned|graphie(-naive|-opt1|-opt2)?) +60% .* passed$' out)" = 11 ]
must [ "$(grep -c ' same ' out)" = 10 ]
expect 0 lab bfs g.mill --source max-degree --device-memory 60% --policies reuse --quiet; silent

# The report.
expect 0 bfs g.mill --source max-degree --json=cpu.json
expect 0 lab bfs g.mill --source max-degree --budgets 60%,200% --policies all,active,reuse --check --repeat 3 --json=lab.json
says "same"
cat >rows.py <<'PY'
import json
r = json.load(open("lab.json"))
cpu = json.load(open("cpu.json"))
keys = ["policy", "budget", "to_device", "topology", "read_only", "writable", "flags", "csr_multiple", "pages_to_device", "pages_reused", "pages_active",
        "partitions", "updates", "iterations",
        "edges", "lanes", "atomics", "seconds", "hash", "check", "error", "supersteps"]
rows = r["rows"]
assert all(list(x) == keys for x in rows), [list(x) for x in rows]
assert r["command"] == "lab" and r["algorithm"] == "bfs" and r["csr_bytes"] == r["store"]["csr_bytes"] and r["error"] is None
assert [x["policy"] for x in rows] == ["all", "active", "reuse"] * 2
assert [x["budget"] for x in rows] == [r["csr_bytes"] * 6 // 10] * 3 + [r["csr_bytes"] * 2] * 3, [x["budget"] for x in rows]
assert {x["hash"] for x in rows} == {cpu["result"]["hash"]}
assert r["options"]["source"] == "max-degree" and r["options"]["repeat"] == 3 and r["options"]["policies"] == "all,active,reuse"
assert r["options"]["budgets"] == "60%,200%" and r["options"]["device_memory"] is None and r["options"]["device"] == "opencl"
assert r["options"]["do_a"] == 15 and r["options"]["do_b"] == 18 and r["options"]["queues"] == 32
for x in rows:
    assert x["check"] == "passed" and x["error"] is None and x["seconds"] > 0 and x["lanes"] is None
    assert x["iterations"] == len(x["supersteps"]) > 0
    for key in ("updates", "edges", "pages_active", "pages_to_device", "pages_reused"):
        assert x[key] == sum(s[key] for s in x["supersteps"]), key
    assert abs(x["csr_multiple"] - x["topology"] / r["csr_bytes"]) < 1e-9 and x["topology"] <= x["to_device"]
    assert x["pages_to_device"] > 0 and x["updates"] == cpu["updates"]	# of a cold run, also with --repeat
every, active, reuse = rows[:3]
assert every["to_device"] > active["to_device"] > reuse["to_device"] and reuse["topology"] > 0
assert every["pages_to_device"] > active["pages_to_device"] > reuse["pages_to_device"]
assert every["pages_reused"] == active["pages_reused"] == 0 and active["pages_to_device"] == active["pages_active"]
assert reuse["pages_to_device"] + reuse["pages_reused"] == reuse["pages_active"]
# Enough for all of it: each page crosses once; without reuse the active ones cross in every step.
pages = r["store"]["pages"]
assert [s["pages_to_device"] for s in every["supersteps"]] == [pages] * every["iterations"]
assert rows[5]["pages_to_device"] == pages and rows[4]["pages_to_device"] == rows[4]["pages_active"] > pages
PY
must python3 rows.py

# A budget that is too small is a row that says so, unless there is no other.
expect 0 lab bfs g.mill --source max-degree --budgets 1K,200% --policies reuse --json=lab.json --plot small.svg
must grep -qE '^  reuse +1K  needs [0-9]+ bytes$' out
json lab.json "[x['hash'] is None for x in r['rows']] == [True, False] and r['rows'][0]['supersteps'] == [] and r['rows'][1]['error'] is None"
json lab.json "r['rows'][0]['error']['code'] == 7 and r['rows'][0]['error']['needed'] > 1024"
needed=$(python3 -c "import json; print(json.load(open('lab.json'))['rows'][0]['error']['needed'])")
expect 0 lab bfs g.mill --source max-degree --device-memory "$needed" --policies reuse
expect 7 lab bfs g.mill --source max-degree --budgets 1K,2K --json; hints "too small"; hints "bytes"
json out "len(r['rows']) == 22 and r['error']['code'] == 7 and all(x['error']['code'] == 7 for x in r['rows'])"
expect 7 lab bfs g.mill --source max-degree --memory 1M; hints "--memory"

# Graphie: what each part buys, wires and queues side by side; times over queues are a drawing of their own.
expect 0 lab sssp g.mill --source max-degree --device-memory 60% --policies graphie-naive,graphie-opt1,graphie-opt2,graphie --check --json=lab.json
json lab.json "len({x['hash'] for x in r['rows']}) == 1 and all(x['partitions']['count'] > 32 for x in r['rows'])"
json lab.json "r['rows'][0]['pages_reused'] == r['rows'][1]['pages_reused'] == 0 and not r['rows'][0]['partitions']['staging']"
json lab.json "r['rows'][0]['pages_to_device'] == r['rows'][0]['iterations'] * r['rows'][0]['partitions']['count']"
json lab.json "all(sum(x[k] for k in ('topology', 'read_only', 'writable', 'flags')) > x['to_device'] for x in r['rows'])"
expect 0 lab bfs g.mill --source max-degree --device-memory 100% --policies reuse,graphie --wires edges,csr,packed --queue-counts 1,8 \
	--json=lab.json --plot queues.svg
json lab.json "[x['policy'] for x in r['rows']][:4] == ['reuse q1', 'reuse q8', 'graphie edges q1', 'graphie edges q8'] and len(r['rows']) == 8"
json lab.json "[x['partitions'] and x['partitions']['wire'] for x in r['rows']][::2] == [None, 'edges', 'csr', 'packed']"
json lab.json "r['rows'][2]['topology'] > r['rows'][4]['topology'] > r['rows'][6]['topology']"
must grep -q "time by the number of queues" queues.svg
must python3 -c "import xml.etree.ElementTree as x; x.parse('queues.svg')"

# Mappings: lanes and atomics are counted.
expect 0 lab sssp g.mill --source max-degree --device-memory 200% --mappings --json=lab.json; says "mapping"; says "lanes"; says "atomics"
json lab.json "[x['policy'] for x in r['rows']] == ['thread', 'group', 'input', 'output', 'auto'] and len({x['hash'] for x in r['rows']}) == 1"
json lab.json "all(x['lanes'] >= x['edges'] > 0 and x['supersteps'][0]['atomics'] > 0 for x in r['rows']) and r['options']['lanes']"
json lab.json "r['rows'][0]['lanes'] > r['rows'][1]['lanes'] > r['rows'][3]['lanes']"

# Other algorithms, each with its options; sums of floats may differ.
for run in "cc --method labels" "pagerank --exact --iterations 3 --tolerance 0" "pagerank --iterations 3" "bc --sources random:2" kcore \
	"sssp --unit-weights --delta 2" degrees scc "cdlp --iterations 3" "triangles --lcc"; do
	set -- $run
	algorithm=$1
	shift
	expect 0 lab "$algorithm" g.mill "$@" --device-memory 400% --policies all,reuse --check --json
	json out "all(x['check'] == 'passed' for x in r['rows']) and len(r['rows']) == 2"
done

# The plot: well-formed, a panel for each row, whole or not at all.
name=$(printf 'odd <&> \377\xc3\xa9 \001.mill')
cp -r g.mill "$name"
expect 0 lab bfs "$name" --source max-degree --budgets 1K,60%,200% --plot pages.svg
cat >plot.py <<'PY'
import sys, xml.etree.ElementTree as xml
root = xml.parse(sys.argv[1]).getroot()
n = "{http://www.w3.org/2000/svg}"
text = ["".join(t.itertext()) for t in root.iter(n + "text")]
assert root.tag == n + "svg" and len(root.findall(n + "g")) == int(sys.argv[2]), len(root.findall(n + "g"))
assert len(list(root.iter(n + "path"))) == 2 * int(sys.argv[3])
assert "pages" in text and "superstep" in text and "active" in text and "moved to the device" in text
assert text[0].startswith("bfs of ") and any(t.startswith("needs ") for t in text)
PY
must python3 plot.py pages.svg 33 22
must python3 plot.py small.svg 2 1
rm pages.svg
expect 7 lab bfs g.mill --budgets 1K --plot pages.svg; must [ ! -e pages.svg ]
# Longer than the ledger: the sum of the rest is no superstep.
expect 0 generate path --vertices 1500 --page-size 64K -o path.mill
expect 0 lab bfs path.mill --source 0 --device-memory 10M --policies reuse --plot path.svg
must grep -q "later supersteps are left out" path.svg
must python3 -c "import xml.etree.ElementTree as x; x.parse('path.svg')"

# Stopped: what was done is told.
"$millrace" generate grid --vertices 250000 --page-size 64K -o grid.mill --quiet
timeout --foreground -k 60 -s INT 2 "$millrace" lab bfs grid.mill --source 0 --device-memory 30% --repeat 1000 --json=stop.json \
	--progress=always >out 2>err
must [ $? = 124 ]
json stop.json "r['error']['code'] == 130 and r['error']['message'] == 'lab: stopped by SIGINT'"
must grep -q "all: bfs" err

# The report of a run on the device has the same numbers.
expect 0 bfs g.mill --source max-degree --device opencl --device-memory 200% --lanes --json=run.json; says "device  opencl"; says "moved to it"
json run.json "r['device'].startswith('opencl') and r['lanes'] is not None and r['supersteps'][0]['lanes'] is not None"
json run.json "all(r['bytes'][k] is not None for k in ('topology', 'read_only', 'writable', 'flags'))"
json run.json "sum(r['bytes'][k] for k in ('topology', 'read_only', 'writable', 'flags')) == r['bytes']['to_device'] + r['bytes']['from_device']"
json cpu.json "r['device'] == 'cpu' and r['lanes'] is None and r['atomics'] is None and r['supersteps'][0]['lanes'] is None"
json cpu.json "all(r['bytes'][k] is None for k in ('topology', 'read_only', 'writable', 'flags'))"
must [ -z "$(find . -name '*.partial*')" ]
done_testing
