# SPDX-License-Identifier: Apache-2.0
# Graphs that do not fit --memory, and vertices in another order: the same store, the same results.
. "$(dirname "$0")/lib.sh"

# Over the disk with a real budget, within what was promised: 1.05 x 24M + 16M.
expect 0 generate kron --scale 16 --degree 40 --seed 7 -o memory.mill
expect 0 generate kron --scale 16 --degree 40 --seed 7 -o disk.mill --memory 24M --json=report.json
must diff -r memory.mill disk.mill
peak=$(sed -n 's/.*"peak_rss": *\([0-9]*\).*/\1/p' report.json)
must [ "${peak:-0}" -gt 0 ]
[ -n "${MILL_SANITIZE:-}" ] || must [ "$peak" -le $((105 * 24 * 1048576 / 100 + 16 * 1048576)) ]
rm -r memory.mill disk.mill

# Ids of which not even a list would fit.
if [ -z "${MILL_SANITIZE:-}" ]; then
	expect 0 generate uniform --vertices 1600000 --degree 1 --directed -o u.mill
	"$millrace" export u.mill -o - | awk '{ printf "%.0f %.0f\n", $1 * 1000003 + 17, $2 * 1000003 + 17 }' >apart.el
	rm -r u.mill
	expect 0 import apart.el -o memory.mill --json=report.json
	json report.json "r['store']['vertices'] > 1200000 and r['store']['max_id'] > 2**40"
	expect 0 import apart.el -o disk.mill --memory 24M --json=report.json
	must diff -r memory.mill disk.mill
	json report.json "r['memory']['peak_rss'] <= 1.05 * 24 * 2**20 + 16 * 2**20"
	rm -r memory.mill disk.mill apart.el
fi

# Few edges at a time; other ids, weights, directions.
expect 0 generate powerlaw --scale 9 --degree 8 --directed --weights u32 --seed 3 -o p.mill
expect 0 export p.mill -o p.el
awk '{ print $1 * 1000003 + 17, $2 * 1000003 + 17, $3 }' p.el >far.el
for file in p.el far.el; do
	for how in "" "--undirected" "--undirected --dedup sum" "--out-only --loops drop --dedup min" "--order degree" \
		"--undirected --order auto --codec raw"; do
		# shellcheck disable=SC2086
		expect 0 import $file --weights 3 $how -o a.mill --force
		# shellcheck disable=SC2086
		MILL_FAULT=hold:n=700 expect 0 import $file --weights 3 $how -o b.mill --force --tmp .
		must diff -r a.mill b.mill
	done
done

# Whatever the order: the same edges, depths, parents, distances, exact scores.
expect 0 import far.el --weights 3 -o none.mill
expect 0 import far.el --weights 3 -o degree.mill --order degree; says "by degree"
expect 0 verify degree.mill
for store in none degree; do
	expect 0 export $store.mill -o $store.el
	expect 0 bfs $store.mill --source max-degree --check -o $store.bfs.csv
	expect 0 sssp $store.mill --source random --seed 5 --check -o $store.sssp.csv
	expect 0 pagerank $store.mill --exact --check -o $store.pr.csv
done
for what in el bfs.csv sssp.csv pr.csv; do
	must cmp none.$what degree.$what
done

# auto: what packs better. Degrees help kron, and wreck a grid, which then is as without the option.
expect 0 generate kron --scale 12 -o k.mill --order auto; says "by degree"
expect 0 generate grid --scale 14 -o g.mill
expect 0 generate grid --scale 14 -o g2.mill --order auto
must diff -r g.mill g2.mill

# A budget that cannot be kept, a directory that is not there.
expect 7 generate kron --scale 10 -o x.mill --memory 1M; hints "--memory"
MILL_FAULT=hold:n=700 expect 5 import p.el -o x.mill --tmp nowhere; hints nowhere
must [ ! -e x.mill ]
must [ -z "$(find . -name '*.new' -o -name '.millrace*')" ]

# A disk that cannot hold what the size of an input promises is told before the work.
yes '123 456' | head -c 4000000 >large.el
truncate -s 8T large.el
if [ "$(stat -c %s large.el)" = 8796093022208 ] && [ "$(df --output=avail -k . | tail -n 1)" -lt 4000000000 ]; then
	expect 6 import large.el --memory 64M -o x.mill; hints "temporary files"; hints "--tmp"
	expect 6 import large.el --names --memory 64M -o x.mill; hints "temporary files"
	must [ ! -e x.mill ]
fi
rm large.el

# Killed at any time, nothing is in the way of the next one.
for delay in 0.05 0.2 0.4; do
	"$millrace" generate kron --scale 19 --memory 64M -o killed.mill --tmp . >/dev/null 2>&1 &
	sleep $delay
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
	rm -rf killed.mill
	expect 0 generate kron --scale 6 -o killed.mill --force
	must [ -z "$(find . -name '*.new' -o -name '.millrace*')" ]
done
done_testing
