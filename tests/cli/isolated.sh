# SPDX-License-Identifier: Apache-2.0
# A million vertices of which six have edges: they cost what the six cost, and are in every result.
. "$(dirname "$0")/lib.sh"

n=1000000
printf '%%%%MatrixMarket matrix coordinate integer general\n%d %d 5\n1 2 3\n2 3 1\n999999 1 2\n5 5 4\n3 400000 7\n' $n $n >many.mtx
printf '%%%%MatrixMarket matrix coordinate integer general\n7 7 5\n1 2 3\n2 3 1\n6 1 2\n4 4 4\n3 5 7\n' >few.mtx
expect 0 import many.mtx -o many.mill --quiet
expect 0 import few.mtx -o few.mill --quiet
must grep -qx 'connected 6' many.mill/manifest
expect 0 verify many.mill
expect 0 info many.mill; says "5 vertices have out-edges, 999994 are isolated"

state() { python3 -c 'import json; print(json.load(open("out"))["plan"]["state"])'; }
for a in bfs sssp pagerank cc scc bc kcore triangles cdlp degrees; do
	expect 0 plan $a few.mill --json; few=$(state)
	expect 0 plan $a many.mill --json
	[ "$(state)" -le $((few + n / 4)) ] || failed "$a: $(state) bytes of state, of a graph of seven vertices $few"
done

# row ID COLUMNS: what the last output says of a vertex. Ids of Matrix Market begin at 1 there.
row() { grep -qxF -- "$(printf '%s' "$1")" out.tsv || failed "no row '$1': $(grep "^${1%%	*}	" out.tsv)"; }
for memory in 1G 96M; do
	expect 0 bfs many.mill --source 1 --memory $memory --check -o out.tsv; says "reached 4"
	must [ "$(grep -vc '^#' out.tsv)" = $n ]
	row '1	0	1'; row '400000	3	3'; row '77	-1	-1'; row '1000000	-1	-1'
	expect 0 sssp many.mill --source 999999 --memory $memory --check -o out.tsv
	row '999999	0	999999'; row '400000	13	3'; row '77	inf	-1'
	expect 0 cc many.mill --memory $memory --check -o out.tsv; says "components 999996, largest 5"
	row '400000	1'; row '5	5'; row '77	77'
	expect 0 scc many.mill --memory $memory --check -o out.tsv; says "components 1000000, largest 1"
	expect 0 cdlp many.mill --memory $memory --check -o out.tsv; row '77	77'
	expect 0 kcore many.mill --memory $memory --check -o out.tsv; says "core size 5"; row '2	1'; row '77	0'
	expect 0 degrees many.mill --memory $memory --check --json; json out "r['result']['isolated'] == 999994"
	expect 0 triangles many.mill --lcc --memory $memory --check -o out.tsv; row '77	0	0'
	expect 0 pagerank many.mill --precision f64 --tolerance 0 --iterations 60 --memory $memory --check -o out.tsv
	# The score of one that is alone: x = (0.15 + 0.85 d) / n, where d is what all without out-edges hold.
	must python3 - out.tsv $n <<'PY'
import sys
s = {int(a): float(b) for a, b in (l.split() for l in open(sys.argv[1]) if l[0] != "#")}
n = int(sys.argv[2])
d = sum(v for k, v in s.items() if k not in (1, 2, 3, 5, 999999))
assert len(s) == n and abs(sum(s.values()) - 1) < 1e-9 and s[77] == s[1000000]
assert abs(s[77] * n - (0.15 + 0.85 * d)) < 1e-9
assert abs(s[2] - (s[77] + 0.85 * s[1])) < 1e-15
PY
done

# The source itself is isolated, and so are the vertices of --personalize.
expect 0 bfs many.mill --source 77 --check -o out.tsv; says "reached 1, max depth 0"; row '77	0	77'; row '78	-1	-1'; row '1	-1	-1'
expect 0 sssp many.mill --source 77 --check -o out.tsv; row '77	0	77'; row '1	inf	-1'
expect 0 bc many.mill --sources 77 --check --json; json out "r['result']['source'] == 77 and r['result']['reached'] == 1"
expect 0 bc many.mill --sources 1,77 --check --json; json out "r['result']['sources'] == 2 and r['result']['reached'] == 5"
expect 0 pagerank many.mill --personalize 77 --check -o out.tsv; row '77	1'; row '78	0'; row '1	0'
printf '77\n1\n77\n78\n' >who
expect 0 pagerank many.mill --personalize @who --check --json; json out "abs(r['result']['sum'] - 1) < 1e-6"
json out "[t[0] for t in r['result']['top'][1:3]] == [77, 78] or [t[0] for t in r['result']['top'][:3]] == [77, 78, 1]"
done_testing
