# SPDX-License-Identifier: Apache-2.0
# Making, reading and refusing stores.
. "$(dirname "$0")/lib.sh"

printf '# a comment\n1 2\n2 1\n2 3\n3 3\n3 3\n' >a.el
expect 0 import a.el -o a.mill
says "read 5 edges: 2 self-loops, 1 duplicates, ids 1 to 3, not symmetric, no weights; taken as directed"
says "3 vertices, 5 edges (5 stored)"
expect 0 info a.mill; says "a directed graph, 3 vertices, 5 edges"
expect 0 verify a.mill; says "sound"
expect 0 export a.mill -o a.out
printf '1 2\n2 1\n2 3\n3 3\n3 3\n' >a.want
must diff <(grep -v '^#' a.out | tr '\t' ' ' | sort) a.want
expect 0 export a.mill -o -; must cmp out a.out

expect 0 import a.el --undirected --dedup first --loops drop --force -o a.mill --json
json out "r['store']['vertices'] == 3 and r['store']['edges'] == 2 and r['store']['stored_edges'] == 4"
json out "r['input']['edges_read'] == 5 and r['options']['undirected'] and r['error'] is None"
expect 0 import - -o stdin.mill --quiet; silent

# The target exists, or another process is making it.
expect 2 import a.el -o a.mill; hints "--force"
expect 2 generate kron --scale 6 -o a.mill
expect 0 generate path --vertices 4 --force -o a.mill
expect 0 info a.mill; says "4 vertices"

# Weights only if asked for.
printf '0 1 5\n1 2 7\n' >w.el
expect 0 import w.el -o w0.mill; says "no weights"
expect 0 import w.el --weights auto -o w1.mill; says "weights u32"
expect 0 import w.el --weights 3 --weight-type f64 -o w2.mill; says "weights f64"
expect 3 import a.el --weights 3 -o w3.mill; hints "a.el:2"
expect 0 sssp w1.mill --source 0 -o -; must grep -qE '^2	12	1$' out

# Bad input names its line and leaves nothing.
while IFS='|' read -r line text; do
	printf -- "$text" >bad.el
	expect 3 import bad.el -o bad.mill; hints "bad.el:$line"
	must [ ! -e bad.mill ]; must [ ! -e bad.mill.new ]
done <<'BAD'
1|-5 3\n
1|1\n
2|1 2\n1 2x\n
1|18446744073709551616 0\n
3|1 2\n\nx y\n
BAD
expect 3 import a.el -o e.mill --loops error
expect 3 import a.el -o e.mill --dedup error

# The edges of what can be imported.
printf '' >empty.el
printf '7 7\n' >one.el
printf '1 2\r\n3 4' >crlf.el
printf '18446744073709551615 0\n' >large.el
for name in empty one crlf large; do
	expect 0 import $name.el -o $name.mill
	expect 0 verify $name.mill
	expect 0 info $name.mill
done
expect 0 info empty.mill; says "0 vertices, 0 edges"
expect 0 info large.mill --json; json out "r['store']['max_id'] == '18446744073709551615'"
expect 2 bfs empty.mill
expect 0 pagerank empty.mill
expect 0 bfs one.mill --source 7 --check -o -; must grep -qE '^7	0	7$' out
expect 0 pagerank one.mill --check -o -; must grep -qE '^7	1(\.0)?$' out
expect 0 bfs large.mill --source 18446744073709551615 --json
json out "r['result']['source'] == '18446744073709551615' and r['result']['reached'] == 2"

# Files that are not there, are no store, or may not be written.
expect 5 info missing.mill; expect 5 bfs missing.mill; expect 5 verify missing.mill
expect 5 import missing.el -o x.mill; hints "missing.el"
echo hello >hello
mkdir folder
expect 3 info hello; expect 3 bfs hello
expect 3 info folder
expect 5 generate path --vertices 4 -o no/such/folder.mill
expect 5 export a.mill -o no/such/file.el
must [ ! -e x.mill ]

# A second process that makes the same store is refused; what a killed one left is swept.
mkdir lock.mill.new
if command -v flock >/dev/null; then
	flock lock.mill.new "$millrace" generate path --vertices 4 -o lock.mill >out 2>err
	[ $? = 10 ] || failed "a locked target: $(cat err)"
	must one_line
fi
expect 0 generate path --vertices 4 -o lock.mill
must [ ! -e lock.mill.new ]

# The same seed, the same store; another seed, another graph.
expect 0 generate kron --scale 8 --seed 5 --threads 1 -o s1.mill
expect 0 generate kron --scale 8 --seed 5 --threads 2 -o s2.mill
expect 0 generate kron --scale 8 --seed 6 -o s3.mill
must diff -r s1.mill s2.mill
must [ "$("$millrace" export s1.mill -o - | cksum)" != "$("$millrace" export s3.mill -o - | cksum)" ]
done_testing
