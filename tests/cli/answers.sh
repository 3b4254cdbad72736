#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every algorithm against independent answers: those of SHARED_GRAPHS (../shared/graphs; igraph, scipy, LDBC, LAGraph), resident and
# streamed. Without that folder there is nothing to compare with.
shared=$(realpath -m "${SHARED_GRAPHS:-$(dirname "$0")/../../../shared/graphs}")
. "$(dirname "$0")/lib.sh"
[ -d "$shared" ] || exit 77

cat >compare.py <<'PY'
# compare.py HOW WANT GOT: columns 1 and COLUMN of two files; HOW: "exact", "parts" (the same partition), or a tolerance.
import gzip, math, sys
how, want, got = sys.argv[1:4]
column = int(sys.argv[4]) if len(sys.argv) > 4 else 1
def read(path, column):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return {x[0]: x[column] for x in (line.split() for line in f if not line.startswith("#")) if x}
def number(text):
    return math.inf if text in ("9223372036854775807", "infinity", "-1") else float(text)
a, b = read(want, 1), read(got, column)
assert a.keys() == b.keys(), "other ids"
if how == "parts":
    there, back = {}, {}
    assert all(there.setdefault(v, b[k]) == b[k] and back.setdefault(b[k], v) == v for k, v in a.items()), "other parts"
else:
    slack = 0 if how == "exact" else float(how)
    for k, v in a.items():
        x, y = number(v), number(b[k])
        assert x == y or abs(x - y) <= slack * max(abs(x), 1e-12), f"{k}: {v}, not {b[k]}"
PY
# same HOW WANT COLUMN ARG...: the result of a run is this, resident and with the least budget.
same() {
	local how=$1 want=$2 column=$3 least budget
	shift 3
	expect 7 "$@" --check -o got.tsv --memory 1M
	least=$(sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p' err)
	for budget in "" "$least"; do
		expect 0 "$@" ${budget:+--memory "$budget"} --check -o got.tsv
		must python3 compare.py "$how" "$want" got.tsv "$column"
	done
}

# LDBC Graphalytics' examples.
for kind in directed undirected; do
	ldbc=$shared/ldbc/example-$kind source=1
	[ $kind = directed ] || source=2
	expect 0 import "$ldbc.properties" -o ldbc-$kind.mill
	same exact "$ldbc-BFS" 1 bfs ldbc-$kind.mill --source $source
	same 1e-9 "$ldbc-SSSP" 1 sssp ldbc-$kind.mill --source $source
	same 1e-9 "$ldbc-PR" 1 pagerank ldbc-$kind.mill --precision f64 --iterations 2 --tolerance 0
	same parts "$ldbc-WCC" 1 cc ldbc-$kind.mill
	same exact "$ldbc-CDLP" 1 cdlp ldbc-$kind.mill --iterations 2
	same 1e-9 "$ldbc-LCC" 2 triangles ldbc-$kind.mill --lcc=directed
done

# igraph's and scipy's, of the simple graphs.
for name in wiki-Vote:--directed p2p-Gnutella08:--directed ca-CondMat:--undirected power:--undirected; do
	direction=${name#*:} name=${name%:*}
	file=$(ls "$shared/snap/$name".*)
	expect 0 import "$file" $direction --dedup first --loops drop -o $name.mill
	for method in afforest hooking labels; do
		same exact "$shared/expected/$name.wcc.tsv.gz" 1 cc $name.mill --method $method
	done
	same exact "$shared/expected/$name.kcore.tsv.gz" 1 kcore $name.mill
	same exact "$shared/expected/$name.triangles.tsv.gz" 1 triangles $name.mill
	same 1e-9 "$shared/expected/$name.lcc.tsv.gz" 2 triangles $name.mill --lcc
	[ ! -e "$shared/expected/$name.scc.tsv.gz" ] || same exact "$shared/expected/$name.scc.tsv.gz" 1 scc $name.mill
done
same 1e-6 "$shared/expected/power.bc.tsv.gz" 1 bc power.mill --sources all
same 1e-6 "$shared/expected/p2p-Gnutella08.bc.tsv.gz" 1 bc p2p-Gnutella08.mill --sources all
done_testing
