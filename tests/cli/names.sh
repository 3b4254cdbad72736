# SPDX-License-Identifier: Apache-2.0
# Vertices with names: what users give and get, whatever the order, the splitting and the budget.
shared=$(realpath -m "${SHARED_GRAPHS:-$(dirname "$0")/../../../shared/graphs}")
. "$(dirname "$0")/lib.sh"

printf '# genes\nzoe bob 2\nbob\talice\t3\nalice,"Smith, J.",0.5\n"a ""b"""  zoe 1\n\xc3\xa9 bob 7 # more\n"#x" random 1\n' >g.el
printf '"#x" random 1\n"a ""b""" zoe 1\nalice "Smith, J." 0.5\nbob alice 3\nzoe bob 2\n\xc3\xa9 bob 7\n' >want.el
expect 0 import g.el --names --weights 3 -o g.mill
says "read 6 edges: 0 self-loops, 0 duplicates, ids are names"; says "weights f64"
expect 0 verify g.mill
expect 0 info g.mill; says '#x to '
expect 0 info g.mill --json; json out "r['store']['names'] and r['store']['min_id'] == '#x' and r['store']['max_id'] == 'é'"
expect 0 export g.mill -o got.el; must cmp got.el want.el
expect 0 import got.el --names --weights 3 -o again.mill; expect 0 export again.mill -o got.el; must cmp got.el want.el

# Any order, split, packed, and with next to no memory: the same export, and the same results.
head -n 3 g.el | gzip >a.el.gz
tac g.el | head -n 4 >b.el
tac g.el >c.el
for input in "a.el.gz b.el" c.el; do
	# shellcheck disable=SC2086
	expect 0 import $input --names --weights 3 --force -o again.mill
	expect 0 export again.mill -o got.el; must cmp got.el want.el
done
for hold in 1 2 3 5; do
	MILL_FAULT=hold:n=$hold expect 0 import g.el --names --weights 3 --force -o again.mill
	must diff -r g.mill again.mill
done

# Sources and results by name.
expect 0 bfs g.mill --source zoe --check -o r.tsv; says "source zoe, reached 4"
tail -n +3 r.tsv >r.txt
printf '#x\t-1\t-1\nSmith, J.\t3\talice\na "b"\t-1\t-1\nalice\t2\tbob\nbob\t1\tzoe\nrandom\t-1\t-1\nzoe\t0\tzoe\n\xc3\xa9\t-1\t-1\n' >want.txt
must cmp r.txt want.txt
expect 0 bfs g.mill --source 'Smith, J.' --json; json out "r['result']['source'] == 'Smith, J.'"
expect 0 bfs g.mill --source id:random -o r.csv; says "source random, reached 1"
must grep -qx '"Smith, J.",-1,-1' r.csv
must grep -qx '"a ""b""",-1,-1' r.csv
must grep -qx 'random,0,random' r.csv
expect 0 bfs g.mill --source max-degree; says "source #x"
expect 0 bfs g.mill --source zoe -o r.npy
expect 2 bfs g.mill --source nobody; hints "nobody is not a vertex"
expect 2 bfs g.mill --source 3
printf 'zoe\n\xc3\xa9\n' >who
expect 0 pagerank g.mill --personalize @who --check --json
json out "len(r['result']['top']) == 8 and r['result']['top'][0][0] == 'bob'"
expect 0 pagerank g.mill --personalize alice --check; says "alice ("
expect 2 pagerank g.mill --personalize al; hints "al is not a vertex"
expect 0 sssp g.mill --source zoe --check -o -; must grep -qx 'Smith, J.	5.5	alice' out

# Numbers where a format has nothing else.
expect 0 export g.mill -o g.mtx; must grep -qx '5 4 3' g.mtx

# Headers of CSV files: by their words, or by a weight that is none.
printf 'Source,Target\nx,y\n' >h.csv; expect 0 import h.csv --names -o h.mill; says "1 edges"; says "taken as a header"
printf 'gene_a,gene_b,score\nx,y,5\n' >h.csv
expect 0 import h.csv --names --weights score --force -o h.mill; says "read 1 edges"; says "weights u32"
expect 0 import h.csv --names --weights auto --force -o h.mill; says "read 1 edges"
expect 0 import h.csv --names --force -o h.mill; says "read 2 edges"
printf 'a,b\nx,y\n' >h.csv; expect 0 import h.csv --names --force -o h.mill; says "read 2 edges"

# Rules name the vertices.
printf 'a b\nc a\na b\n' >twice.el
expect 3 import twice.el --names --dedup error -o bad.mill; hints "from a to b"
MILL_FAULT=hold:n=2 expect 3 import twice.el --names --dedup error -o bad.mill; hints "from a to b"
printf 'a b\nb b\n' >loop.el
expect 3 import loop.el --names --loops error -o bad.mill; hints "loop.el:2"
expect 0 import loop.el --names --loops drop -o loop.mill; says "2 vertices, 1 edges"
: >empty.el
expect 0 import empty.el --names -o empty.mill; expect 0 verify empty.mill; expect 0 info empty.mill
expect 0 pagerank empty.mill -o -

# Bad lines and options.
while IFS='|' read -r line text; do
	printf -- "$text" >bad.el
	expect 3 import bad.el --names -o bad.mill; hints "bad.el:$line"
	must [ ! -e bad.mill ]
done <<'BAD'
1|alone\n
2|a b\n"a b\n
1|"a"x b\n
1|"" b\n
2|a b\na \033[1m\n
1|a ,\n
BAD
python3 -c "print('a', 'x' * 4095); print('b', 'x' * 4095)" >long.el
expect 0 import long.el --names -o long.mill; expect 0 verify long.mill; says "sound"
python3 -c "print('a', 'x' * 4096)" >long.el
expect 9 import long.el --names -o bad.mill; hints "long.el:1"
expect 2 import g.el --names --base 1 -o bad.mill
expect 2 import g.mtx --names -o bad.mill; hints "only edge lists"
must [ ! -e bad.mill ]

# Every byte and every length of the files of names.
for file in names names.index; do
	size=$(stat -c %s g.mill/$file)
	for at in $(seq 0 $((size - 1))); do
		rm -rf bad.mill && cp -r g.mill bad.mill
		python3 - bad.mill/$file "$at" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[2])] ^= 1
open(sys.argv[1], "wb").write(data)
PY
		expect 4 verify bad.mill
		expect 4 export bad.mill -o bad.el
		truncate -s "$at" bad.mill/$file
		expect 4 info bad.mill
	done
done

# More names than the budget holds at once, within what was promised.
python3 - <<'PY'
import random
random.seed(5)
n = 600000
with open('big.el', 'w') as f:
    for i in range(n):
        f.write(f'vertex/{random.randrange(n) * 2654435761 % 2**32:x} v{random.randrange(n)}\n')
PY
expect 0 import big.el --names -o big1.mill
expect 0 import big.el --names --memory 64M -o big2.mill --json=report.json
must diff -r big1.mill big2.mill
peak=$(sed -n 's/.*"peak_rss": *\([0-9]*\).*/\1/p' report.json)
[ -n "${MILL_SANITIZE:-}" ] || must [ "$peak" -le $((105 * 64 * 1048576 / 100 + 16 * 1048576)) ]
expect 0 verify big2.mill
tr ' ' '\n' <big.el | LC_ALL=C sort -u >want.txt
must cmp big2.mill/names want.txt
LC_ALL=C sort big.el >want.el
"$millrace" export big2.mill -o - | LC_ALL=C sort >got.el; must cmp got.el want.el

[ -d "$shared" ] || done_testing
expect 0 import "$shared/names/WormNet.v3.benchmark.txt" --names -o w.mill --json
json out "(r['store']['vertices'], r['store']['edges']) == (2445, 78736)"
expect 0 export w.mill -o got.el
must diff got.el <(tr '\t' ' ' <"$shared/names/WormNet.v3.benchmark.txt" | LC_ALL=C sort)
done_testing
