# SPDX-License-Identifier: Apache-2.0
# Algorithms from the command line: sources, results in files, checks, budgets.
. "$(dirname "$0")/lib.sh"

# 0 -> 1 -> 3, 0 -> 2 -> 3, and 4 -> 0, which nothing reaches.
printf '0 1 1\n0 2 5\n1 3 1\n2 3 1\n4 0 1\n' >g.el
expect 0 import g.el --weights 3 -o g.mill

expect 0 bfs g.mill --source 0 --check -o d.tsv
says "reached 4"; says "check   passed"
printf '0\t0\t0\n1\t1\t0\n2\t1\t0\n3\t2\t1\n4\t-1\t-1\n' >want
must diff <(grep -v '^#' d.tsv) want
must [ "$(head -c 1 d.tsv)" = "#" ]
expect 0 bfs g.mill --source 0 -o -; must cmp out d.tsv
expect 0 bfs g.mill --source 0 -o d.csv
must [ "$(head -n 1 d.csv | tr -d '\r')" = "id,depth,parent" ]
must [ "$(tail -n 1 d.csv | tr -d '\r')" = "4,-1,-1" ]
expect 0 bfs g.mill --source 0 -o d.npy
must [ "$(head -c 6 d.npy | tail -c 5)" = NUMPY ]

expect 0 sssp g.mill --source 0 --check -o s.tsv
printf '0\t0\t0\n1\t1\t0\n2\t5\t0\n3\t2\t1\n4\tinf\t-1\n' >want
must diff <(grep -v '^#' s.tsv) want
expect 0 sssp g.mill --source 0 --unit-weights --check -o s.tsv
must [ "$(grep '^2' s.tsv)" = "$(printf '2\t1\t0')" ]
expect 0 sssp g.mill --source 0 --delta 2 --check --json
json out "r['check'] == 'passed' and r['options']['delta'] == 2 and r['options']['buckets'] == 2"
expect 0 sssp g.mill --source 0 --delta 2 --buckets 64 --check --json
json out "r['check'] == 'passed' and r['options']['buckets'] == 64"

expect 0 pagerank g.mill --check --precision f64 --tolerance 1e-12 --iterations 1000 --json
json out "abs(r['result']['sum'] - 1) < 1e-9 and r['check'] == 'passed' and len(r['result']['top']) > 0"
expect 0 pagerank g.mill --iterations 3 --tolerance 0 --json; json out "r['iterations'] == 3"
expect 0 pagerank g.mill --personalize 0 --check -o p.tsv
must grep -qE '^4	0(\.0)?$' p.tsv

# 0 -> 1 -> 3 and 0 -> 2 -> 3, 4 -> 0: through 0 lead 4 -> 1, 2, 3, through 1 and 2 half of 0 -> 3 and of 4 -> 3.
expect 0 bc g.mill --sources all --check -o b.tsv; says "sources 5"; says "check   passed"
printf '0\t3\n1\t1\n2\t1\n3\t0\n4\t0\n' >want
must diff <(grep -v '^#' b.tsv) want
expect 0 bc g.mill --sources all --normalized -o b.tsv
must [ "$(grep '^0' b.tsv)" = "$(printf '0\t0.25')" ]
expect 0 bc g.mill --sources 0,4 --check --json
json out "r['check'] == 'passed' and r['result']['sources'] == 2 and r['result']['top'][0] == [0, 3.0]"
printf '4\n0\n' >ids
expect 0 bc g.mill --sources @ids --json; json out "r['result']['top'][0] == [0, 3.0]"
expect 0 bc g.mill --source max-degree --json; json out "r['result']['source'] == 0"
expect 2 bc g.mill --sources 0 --source 1; expect 2 bc g.mill --sources 0,0; expect 2 bc g.mill --sources random:5
expect 5 bc g.mill --sources @missing
expect 0 plan bc g.mill --sources all

# Sources: by id, the best connected, random and the same for the same seed.
expect 2 bfs g.mill --source 5; hints "5"
expect 2 bfs g.mill --source 99999999999999999999
expect 2 bfs g.mill --source -1
expect 2 bfs g.mill --source x
expect 0 bfs g.mill --source max-degree --json; json out "r['result']['source'] == 0"
expect 0 bfs g.mill --seed 7 --json; cp out one
expect 0 bfs g.mill --seed 7 --json; cp out two
must [ "$(grep '"source"' one)" = "$(grep '"source"' two)" ]
expect 2 pagerank g.mill --personalize 77
expect 5 pagerank g.mill --personalize @missing

# Output: refused before the work, whole or not at all, replaced if there.
expect 2 bfs g.mill -o result; hints ".tsv"
expect 5 bfs g.mill --source 0 -o no/such/file.tsv
mkdir is-a-folder.tsv
expect 5 bfs g.mill --source 0 -o is-a-folder.tsv
expect 2 bfs g.mill --source 0 -o - --json; hints "--json=FILE"
expect 0 bfs g.mill --source 0 -o d.tsv
must [ -z "$(find . -name '*.partial*')" ]

# Budgets.
expect 7 bfs g.mill --memory 1K; hints "needs"
expect 7 bfs g.mill --memory 0
expect 7 bfs g.mill --memory 50%
expect 0 plan bfs g.mill --memory 1G; says "resident"
expect 0 plan pagerank g.mill --precision f64 --json
json out "r['plan']['needed'] >= 64 << 20 and r['plan']['state'] > 0 and r['plan']['fits']"
expect 0 generate kron --scale 12 --seed 1 --page-size 64K --weights u32 -o k.mill
for algorithm in "bfs --source max-degree" "sssp --source max-degree" "pagerank --iterations 5 --tolerance 0"; do
	set -- $algorithm
	expect 0 "$1" k.mill "${@:2}" --json; cp out large
	expect 0 "$1" k.mill "${@:2}" --memory 66M --threads 1 --json; cp out small
	must [ "$(grep '"hash"' large)" = "$(grep '"hash"' small)" ]
done
done_testing
