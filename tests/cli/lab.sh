# SPDX-License-Identifier: Apache-2.0
# The lab: one run under several policies, budgets and mappings; the same result in every row.
. "$(dirname "$0")/lib.sh"
one_process

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
expect 2 lab bfs g.mill --policies all --mappings; hints "use only gts"
expect 2 lab bfs g.mill --policies gts,reuse --mappings; hints "use only gts"
expect 2 lab bfs g.mill --device-caches 0,lots; hints "--device-caches lots"
expect 2 lab bfs g.mill --device-caches 0,,1M; hints "empty"
expect 2 lab bfs g.mill --device-caches "$(printf '1M,%.0s' {1..16})1M"; hints "too many"
expect 2 lab bfs g.mill --device-caches 0,1M --device-cache 1M; hints "give one of them"
expect 2 lab bfs g.mill --device-caches 0,1M --policies reuse,graphie; hints "needs a row of gts"
expect 2 lab bfs g.mill --device-caches 0,1M --mappings; hints "needs a row of gts"
expect 2 lab bfs g.mill --device-caches 0,1M --queue-counts 1,2 --plot a.svg; hints "give one of them"
expect 2 lab bfs g.mill --strategy p; hints "unknown option"
expect 2 lab bfs g.mill --policies gts --warp 5; hints "takes 4, 8, 16 or 32"
expect 2 lab bfs g.mill --policies gts --device-memory 4M,4M; hints "2 sizes"
expect 2 lab bfs g.mill --policies reuse --device opencl,opencl --device-memory 4M,4M,4M; hints "3 sizes"
expect 2 bfs g.mill --device-caches 0,1M; hints "unknown option"
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
for option in device-caches chunks device-cache main-buffer warp; do says "--$option "; done
says "other rows the first"
expect 8 lab bfs g.mill --device opencl:99
expect 0 list devices
grep -q opencl out || skip_rest

# The table: one row a policy, one hash.
expect 0 lab bfs g.mill --source max-degree --device-memory 60% --check
says "x CSR"; says "reused"; says "hash"
must [ "$(grep -cE '^  (all|active|reuse|fifo|lru|frequency|pinned|graphie(-naive|-opt1|-opt2)?|gts) +60% .* passed$' out)" = 12 ]
must [ "$(grep -c ' same ' out)" = 11 ]; says "hit rate"; says "B/(S+L)"
expect 0 lab bfs g.mill --source max-degree --device-memory 60% --policies reuse --quiet; silent

# The report.
expect 0 bfs g.mill --source max-degree --json=cpu.json
expect 0 lab bfs g.mill --source max-degree --budgets 60%,200% --policies all,active,reuse --check --repeat 3 --json=lab.json
says "same"
cat >rows.py <<'PY'
import json
r = json.load(open("lab.json"))
cpu = json.load(open("cpu.json"))
keys = ["policy", "policy_owns", "budget", "to_device", "topology", "read_only", "writable", "flags", "csr_multiple", "pages_to_device", "pages_reused", "pages_active",
        "hit_rate", "cache_share", "partitions", "gts", "largegraph", "updates", "iterations",
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
    assert x["check"] == "passed" and x["error"] is None and x["seconds"] > 0 and x["lanes"] is x["policy_owns"] is None
    assert x["iterations"] == len(x["supersteps"]) > 0
    for key in ("updates", "edges", "pages_active", "pages_to_device", "pages_reused"):
        assert x[key] == sum(s[key] for s in x["supersteps"]), key
    assert abs(x["csr_multiple"] - x["topology"] / r["csr_bytes"]) < 1e-9 and x["topology"] <= x["to_device"]
    assert x["hit_rate"] == x["pages_reused"] / (x["pages_reused"] + x["pages_to_device"]) and x["cache_share"] is x["gts"] is None
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
json out "len(r['rows']) == 24 and r['error']['code'] == 7 and all(x['error']['code'] == 7 for x in r['rows'])"
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

# Rule V-C: a graph that fits is divided by the queues, and each part has a buffer. Where pages are small, parts are runs of whole ones.
expect 0 generate clique --vertices 128 -o clique.mill
for queues in 4 32; do
	expect 0 bfs clique.mill --device opencl --policy graphie --queues $queues --check --json=r.json
	json r.json "r['partitions']['count'] == r['partitions']['buffers'] == $queues and r['partitions']['bytes'] == 8 * r['store']['stored_edges'] // $queues"
	expect 0 sssp g.mill --source max-degree --device opencl --policy graphie --queues $queues --json=r.json
	json r.json "r['partitions']['count'] == r['partitions']['buffers'] >= $queues"
	json r.json "12 * r['store']['stored_edges'] / $queues / 2 < r['partitions']['bytes'] <= 12 * r['store']['stored_edges'] / $queues + 1"
done
# With --no-skip idle partitions have kernels too, and nothing else changes.
cat >launches.py <<'PY'
import json
hashes = set()
for skip in ("skip", "all"):
    r, t = (json.load(open(f"{skip}.{kind}.json")) for kind in ("run", "trace"))
    events = t["traceEvents"] if isinstance(t, dict) else t
    n = sum(e.get("ph") == "X" and e["name"].endswith("_partition_edges") for e in events)
    passed = r["pages"]["to_device"] + r["pages"]["reused"]
    every = r["iterations"] * r["partitions"]["count"]
    assert n == passed == (every if skip == "all" else r["pages"]["active"]), (skip, n, passed, every)
    assert r["pages"]["active"] < every and r["check"] == "passed", (skip, r["pages"], every)
    hashes.add(r["result"]["hash"])
assert len(hashes) == 1, hashes
PY
expect 0 sssp g.mill --source max-degree --device opencl --policy graphie --check --trace skip.trace.json --json=skip.run.json
expect 0 sssp g.mill --source max-degree --device opencl --policy graphie --check --trace all.trace.json --json=all.run.json --no-skip
must python3 launches.py

# What a policy has no kernels for goes over pages, as under another: the row says so.
expect 0 lab kcore g.mill --device-memory 60% --policies graphie,fifo,gts,lru --json=lab.json; says "note"
must [ "$(grep -cE '^  graphie .*  over pages, as fifo$' out)" = 1 ]
must [ "$(grep -cE '^  gts .*  over pages, as lru$' out)" = 1 ]
must [ "$(grep -c 'over pages' out)" = 2 ]
json lab.json "[x['policy_owns'] for x in r['rows']] == [False, None, False, None]"
cat >pairs.py <<'PY'
import json
rows = json.load(open("lab.json"))["rows"]
for a, b in (rows[:2], rows[2:]):
    same = ("pages_to_device", "pages_reused", "pages_active", "topology", "iterations", "hash")
    assert all(a[k] == b[k] for k in same) and a["partitions"] is a["gts"] is None, (a["policy"], b["policy"])
PY
must python3 pairs.py
expect 0 lab bfs g.mill --source max-degree --budgets 1K,200% --policies graphie,reuse,gts --json=lab.json
must [ "$(grep -c 'note\|over pages' out)" = 0 ]
json lab.json "[x['policy_owns'] for x in r['rows']] == [None, None, None, True, None, True]"
# So do run and plan.
for policy in graphie:fifo gts:lru; do
	expect 0 kcore g.mill --device opencl --policy ${policy%:*} --check --json=r.json
	says "  policy  ${policy%:*} has no kernels of its own for kcore: it ran over pages, as under ${policy#*:}"
	json r.json "r['policy_owns'] is False and r['partitions'] is r['gts'] is None"
	expect 0 plan kcore g.mill --device opencl --policy ${policy%:*} --json=r.json
	says "${policy%:*} has no kernels of its own for kcore: it runs over pages, as under ${policy#*:}"
	json r.json "r['plan']['policy_owns'] is False and r['plan']['gts'] is None"
	for command in "cc g.mill --check" "plan cc g.mill"; do
		expect 0 $command --device opencl --policy ${policy%:*} --json=r.json
		json r.json "r.get('plan', r)['policy_owns'] is True"; must [ "$(grep -c 'no kernels' out)" = 0 ]
	done
	expect 0 kcore g.mill --policy ${policy%:*} --json=r.json; must [ "$(grep -c '  policy ' out)" = 0 ]
	json r.json "r['policy_owns'] is None"
done
expect 0 kcore g.mill --policy fifo --device opencl --json=r.json; must [ "$(grep -c '  policy ' out)" = 0 ]
json r.json "r['policy_owns'] is None"
expect 7 kcore g.mill --policy gts --device opencl --device-memory 1K --json=r.json; json r.json "r['policy_owns'] is None"

# GTS: rows that know one device take the first; each device may have a budget of its own. Options of gts and of graphie are their rows' alone.
expect 0 lab bfs g.mill --source max-degree --device opencl,opencl:0 --device-memory 80%,60% --policies reuse,graphie,gts,gts-p,gts-s --wire csr \
	--no-staging --chunks 2 --warp 8 --mapping hybrid --main-buffer 100% --device-cache 128K --check --json=lab.json
must [ "$(grep -c ' 80%,60% .* passed$' out)" = 5 ]
json lab.json "len({x['hash'] for x in r['rows']}) == 1 and [x['policy'] for x in r['rows']][2:] == ['gts', 'gts-p', 'gts-s']"
json lab.json "[x['gts'] and (x['gts']['devices'], x['gts']['strategy']) for x in r['rows']] == [None, None, (1, 'p'), (2, 'p'), (2, 's')]"
json lab.json "all(x['gts']['chunks'] == 2 and x['gts']['cached_pages'] in (1, 2) for x in r['rows'][2:])"
json lab.json "all(x['budget'] == r['csr_bytes'] * 8 // 10 for x in r['rows']) and len(r['options']['device_memory']) == 2"
json lab.json "r['options']['device_cache'] == 128 << 10 and r['options']['warp'] == 8 and r['options']['wire'] == 'csr' and r['options']['chunks'] == 2"
json lab.json "r['rows'][1]['partitions']['wire'] == 'csr' and r['rows'][4]['pages_active'] == 2 * r['rows'][2]['pages_active']"
json lab.json "r['options']['chunks'] == 2 and r['options']['warp'] == 8 and r['options']['device_cache'] == 128 << 10"
expect 0 lab bfs g.mill --source max-degree --device-memory 80% --policies reuse,gts --mapping group --filter exact --direction pull --json=lab.json
json lab.json "len({x['hash'] for x in r['rows']}) == 1 and r['rows'][0]['supersteps'][0]['direction'] == 'pull' and r['rows'][1]['gts']['devices'] == 1"
expect 0 lab sssp g.mill --source max-degree --device opencl,opencl --budgets 1K,80% --policies gts,gts-p,gts-s --chunks 2 --json=lab.json
json lab.json "[x['error'] and x['error']['code'] for x in r['rows']] == [7] * 3 + [None] * 3 and len({x['hash'] for x in r['rows'][3:]}) == 1"
for i in 0 2; do
	needed=$(python3 -c "import json; print(json.load(open('lab.json'))['rows'][$i]['error']['needed'])")
	expect 0 lab sssp g.mill --source max-degree --device opencl,opencl --device-memory "$needed" --policies "$([ $i = 0 ] && echo gts || echo gts-s)" --chunks 2
done
expect 0 lab bfs g.mill --source max-degree --device opencl,opencl --device-memory 80% --json=lab.json
json lab.json "len(r['rows']) == 14 and r['options']['policies'].endswith('graphie,gts,gts-p,gts-s') and len({x['hash'] for x in r['rows']}) == 1"
expect 2 lab kcore g.mill --device opencl,opencl --policies gts-p; hints "kcore runs on one device"
expect 2 lab kcore g.mill --device opencl,opencl --json=lab.json; json lab.json "not r['rows']"	# said before any row runs
expect 0 lab kcore g.mill --device-memory 200% --policies reuse,gts --json=lab.json
json lab.json "r['rows'][1]['gts'] is None and r['rows'][1]['cache_share'] is None and len({x['hash'] for x in r['rows']}) == 1"

# Caches: what stays is found; a scan of more than that is not.
expect 0 lab bfs g.mill --source max-degree --device-memory 200% --policies reuse,gts --device-caches 0,256K,100% --json=lab.json --plot caches.svg
json lab.json "[x['policy'] for x in r['rows']] == ['reuse', 'gts cache 0', 'gts cache 256K', 'gts cache 100%']"
json lab.json "[x['gts']['cached_pages'] for x in r['rows'][1:3]] == [0, 4] and r['rows'][3]['gts']['cached_pages'] == r['store']['pages']"
json lab.json "all(x['cache_share'] == x['gts']['cached_pages'] / r['store']['pages'] for x in r['rows'][1:])"
json lab.json "r['rows'][1]['hit_rate'] == 0 < r['rows'][3]['hit_rate'] and r['rows'][3]['pages_to_device'] == r['store']['pages']"
json lab.json "all(abs(x['hit_rate'] - x['pages_reused'] / x['pages_active']) < 1e-12 for x in r['rows'])"
must grep -q "hit rate by the size of the cache" caches.svg
must python3 - <<'PY'
import xml.etree.ElementTree as xml
n = "{http://www.w3.org/2000/svg}"
root = xml.parse("caches.svg").getroot()
text = ["".join(t.itertext()) for t in root.iter(n + "text")]
path = [p.get("d") for p in root.iter(n + "path")]
assert len(path) == 2 and path[1] == "M0.0 260.0" + path[1][len("M0.0 260.0"):] and path[1].endswith("L420.0 0.0"), path
assert all(p.count("L") == 2 for p in path) and "gts at 200%" in text and "256K" in text and "100%" in text, text
PY
expect 0 lab bfs g.mill --source max-degree --device opencl,opencl --device-memory 200% --device-caches 0,100% --queue-counts 1,4 --json=lab.json
json lab.json "len(r['rows']) == 12 and r['rows'][5]['policy'] == 'gts-p cache 0 q4' and r['options']['policies'] == 'gts,gts-p,gts-s'"

# Mappings: lanes and atomics are counted. GTS has its own.
expect 0 lab sssp g.mill --source max-degree --device opencl,opencl --device-memory 200% --mappings --policies gts,gts-s --json=lab.json; says "lanes"
json lab.json "[x['policy'] for x in r['rows']][:6] == ['gts ' + m for m in ('thread', 'warp 4', 'warp 8', 'warp 16', 'warp 32', 'hybrid')]"
json lab.json "len(r['rows']) == 12 and all(x['lanes'] >= x['edges'] > 0 and x['atomics'] >= x['updates'] > 0 for x in r['rows'])"
json lab.json "len({x['hash'] for x in r['rows']}) == 1"
expect 0 lab pagerank g.mill --exact --iterations 2 --tolerance 0 --device-memory 200% --mappings --policies gts --json=lab.json
json lab.json "[x['lanes'] for x in r['rows'][:5]] == sorted((x['lanes'] for x in r['rows'][:5]), reverse=True) and len({x['hash'] for x in r['rows']}) == 1"
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
	expect 0 lab "$algorithm" g.mill "$@" --device-memory 400% --policies all,reuse,gts --check --json
	json out "all(x['check'] == 'passed' for x in r['rows']) and len(r['rows']) == 3"
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
must python3 plot.py pages.svg 36 24
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
