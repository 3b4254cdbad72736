# SPDX-License-Identifier: Apache-2.0
# Components and degrees from the command line: answers, methods, budgets.
. "$(dirname "$0")/lib.sh"

# 10 -> 20 -> 30 -> 10, 30 -> 5, 7 -> 7, 8 -> 9 twice.
printf '10 20\n20 30\n30 10\n30 5\n7 7\n8 9\n8 9\n' >g.el
expect 0 import g.el -o g.mill
expect 0 import g.el --out-only -o out-only.mill
expect 0 import g.el --undirected -o both.mill

for method in auto afforest hooking labels; do
	expect 0 cc g.mill --method $method --check -o c.tsv
	says "components 3"; says "largest 4"; says "check   passed"
	printf '5\t5\n7\t7\n8\t8\n9\t8\n10\t5\n20\t5\n30\t5\n' >want
	must diff <(grep -v '^#' c.tsv) want
	expect 0 cc both.mill --method $method --check -o c.tsv
	must diff <(grep -v '^#' c.tsv) want
	expect 0 plan cc g.mill --method $method --check --json; json out "r['plan']['state'] > 0"
done
expect 0 cc g.mill --json
json out "r['options']['method'] == 'auto' and r['result']['components'] == 3 and r['result']['largest'] == 4"
expect 2 cc g.mill --method guess; hints "afforest"
expect 2 bfs g.mill --method labels
expect 0 cc out-only.mill --check -o c.tsv
must diff <(grep -v '^#' c.tsv) want
expect 0 cc out-only.mill --method hooking --check
expect 2 cc out-only.mill --method labels; hints "in-"

expect 0 scc g.mill --check -o s.tsv
says "components 5"; says "largest 3"
printf '5\t5\n7\t7\n8\t8\n9\t9\n10\t10\n20\t10\n30\t10\n' >want
must diff <(grep -v '^#' s.tsv) want
expect 2 scc out-only.mill; hints "in-edges"
expect 0 scc both.mill --check --json; json out "r['result']['components'] == 3"

expect 0 degrees g.mill --check -o d.csv
must [ "$(head -n 1 d.csv)" = "id,degree,in_degree" ]
must [ "$(grep '^30,' d.csv)" = "30,2,1" ]
must [ "$(grep '^9,' d.csv)" = "9,0,2" ]
says "2..3"; says "##"
expect 0 degrees g.mill --json
json out "r['result']['distribution'] == [[0, 2], [1, 3], [2, 2]] and r['result']['max'] == 2 and r['result']['isolated'] == 0"
json out "r['result']['median'] == 1 and r['result']['mean'] == 1 and r['result']['max_in'] == 2"
expect 0 degrees both.mill --check -o d.csv
must [ "$(head -n 1 d.csv)" = "id,degree" ]
expect 0 degrees out-only.mill --check -o d.csv
must [ "$(head -n 1 d.csv)" = "id,degree" ]

# The smallest budget that the plan names is enough, and is kept; every budget and method gives the same bits.
expect 0 generate rmat --scale 14 --degree 8 --directed --seed 3 --page-size 64K -o r.mill
for algorithm in "cc" "cc --method hooking" "cc --method labels" "scc" "degrees"; do
	set -- $algorithm
	expect 0 "$1" r.mill "${@:2}" --json; cp out large
	expect 0 plan "$1" r.mill "${@:2}" --check --json
	needed=$(python3 -c "import json; print(json.load(open('out'))['plan']['needed'])")
	expect 0 "$1" r.mill "${@:2}" --check --memory "$needed" --json; cp out small
	must [ "$(grep '"hash"' large)" = "$(grep '"hash"' small)" ]
	json small "r['check'] == 'passed' and r['memory']['counted'] <= r['memory']['budget']"
	[ -n "${MILL_SANITIZE:-}" ] || json small "r['memory']['peak_rss'] <= 1.05 * r['memory']['budget'] + (16 << 20)"
	expect 7 "$1" r.mill "${@:2}" --memory "$((needed / 2))"; hints "needs"
done
done_testing
