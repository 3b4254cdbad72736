# SPDX-License-Identifier: Apache-2.0
# One graph in every format, packed and not, gives one export; bad files name their place. The graphs
# of SHARED_GRAPHS (../shared/graphs) are looked at in addition where they are there.
shared=$(realpath -m "${SHARED_GRAPHS:-$(dirname "$0")/../../../shared/graphs}")
. "$(dirname "$0")/lib.sh"

expect 0 list formats; says "mtx"; says "bvgraph"

# From 1, with all ids in use, so that every format can hold it.
printf '1 2 5\n1 3 6\n2 3 7\n3 1 8\n4 4 9\n' >want
same() { # FILE OPTION...
	expect 0 import "$@" --force -o s.mill
	expect 0 verify s.mill
	expect 0 export s.mill -o got
	must cmp got want
}
same want --weights auto
shuf -n 9 --random-source=want want >shuffled.el; same shuffled.el --weights auto
head -n 2 want >a.el; tail -n +3 want >b.el; same a.el b.el --weights auto
(echo '%%MatrixMarket matrix coordinate integer general'; echo '4 4 5'; cat want) >g.mtx; same g.mtx
(echo 'p sp 4 5'; sed 's/^/a /' want) >g.gr; same g.gr
(echo 'from,to,w'; tr ' ' ',' <want) >g.csv; same g.csv --weights w
expect 0 import want --weights auto --force -o s.mill
for suffix in mtx wsg; do expect 0 export s.mill -o e.$suffix; done
expect 0 export s.mill --format mtx -o -; must cmp out e.mtx
for suffix in mtx wsg; do same e.$suffix; done
python3 - <<'PY'
import bz2, gzip, struct
text = open('want', 'rb').read()
half = text.index(b'2 3')
for name, pack in (('gz', gzip.compress), ('bz2', bz2.compress)):
    open('packed.' + name, 'wb').write(pack(text[:half]) + pack(text[half:]))
    open('cut.' + name, 'wb').write(pack(text)[:-9])
    open('junk.' + name, 'wb').write(pack(text) + b'junk')
open('w.raw', 'wb').write(b''.join(struct.pack('<QQi', *map(int, l.split())) for l in text.splitlines()))
PY
same w.raw --id-bits 64 --weight-type u32
for packing in gz bz2; do
	same packed.$packing --weights auto
	"$millrace" import - --weights auto --force -o s.mill <packed.$packing >/dev/null || failed "stdin"
	for bad in cut junk; do
		expect 3 import $bad.$packing -o bad.mill; hints "$bad.$packing: byte "
		must [ ! -e bad.mill ]
	done
done
if command -v zstd >/dev/null; then
	(head -n 2 want | zstd -c; tail -n +3 want | zstd -c) >packed.zst; same packed.zst --weights auto
	zstd -qc want | head -c 20 >cut.zst
	expect 3 import cut.zst -o bad.mill; hints "cut.zst: byte "
fi

# What the input says of itself, and what overrides it.
printf '3 2\n2\n1 3\n2\n' >m.graph
expect 0 import m.graph -o m.mill; says "metis: read 2 edges"; says "taken as undirected"
expect 0 import m.graph --directed --force -o m.mill --json
json out "r['store']['directed'] and r['store']['edges'] == 4 and r['input']['format'] == 'metis'"
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n' >r.mtx
expect 0 import r.mtx -o r.mill; says "rectangular: rows are 1 to 2, columns 3 to 5"
expect 3 import m.graph g.mtx -o bad.mill; hints "g.mtx"
expect 2 import g.mtx --weights 3 -o bad.mill; hints "only edge lists"
expect 2 import want --format raw -o bad.mill; hints "--id-bits"

# A graph of several files.
printf 'graph.g.directed = false\ngraph.g.meta.vertices = 3\ngraph.g.edge-properties.names = a, b\n' >g.properties
printf '1\n2\n7\n' >g.v
printf '1 2 0.5 3\n' >g.e
for file in g.properties g.v g.e "g.v g.e g.properties"; do
	# shellcheck disable=SC2086
	expect 0 import $file --weights b --force -o l.mill --json
	json out "r['store']['vertices'] == 3 and r['store']['edges'] == 1 and not r['store']['directed']"
	expect 0 export l.mill -o -; says "1 2 3"
done
printf '1\n2\n' >g.v
expect 3 import g.e -o bad.mill; hints "g.v:2"
# An edge to a vertex that is not listed, however few of them fit.
sed -i '/vertices/d' g.properties
printf '1 2 1 1\n# no line\n2 7 1 1\n' >g.e
for fault in "" hold:n=5; do
	printf '7\n2\n1\n' >g.v
	MILL_FAULT=$fault expect 0 import g.e --force -o l.mill; says "3 vertices, 2 edges"
	printf '2\n8\n1\n' >g.v
	MILL_FAULT=$fault expect 3 import g.e -o bad.mill; hints "g.e:3: vertex 7 is not in g.v"
	must [ ! -e bad.mill ]
done

# BVGraph with Golomb codes; zetak is their modulus.
python3 - <<'PY'
import random
random.seed(2)
def gamma(x):
    b = bin(x + 1)[2:]
    return '0' * (len(b) - 1) + b
def golomb(x, b):
    k = b.bit_length() - 1
    short = (2 << k) - b
    r = x % b
    low = (format(r, 'b').zfill(k) if k else '') if r < short else format(r + short, 'b').zfill(k + 1)
    return '0' * (x // b) + '1' + low
for modulus in (1, 2, 3, 5, 8, 13):
    bits, text, n, arcs = '', '', 60, 0
    for u in range(n):
        to = sorted(random.sample(range(n), random.randrange(9)))
        bits += gamma(len(to))
        for i, v in enumerate(to):
            text += f'{u} {v}\n'
            d = v - u
            bits += golomb((2 * d if d >= 0 else -2 * d - 1) if not i else v - to[i - 1] - 1, modulus)
        arcs += len(to)
    bits += '0' * (-len(bits) % 8)
    open(f'golomb{modulus}.graph', 'wb').write(int(bits, 2).to_bytes(len(bits) // 8, 'big'))
    open(f'golomb{modulus}.want', 'w').write(text)
    open(f'golomb{modulus}.properties', 'w').write(
        f'graphclass=it.unimi.dsi.webgraph.BVGraph\nnodes={n}\narcs={arcs}\nwindowsize=0\n'
        f'minintervallength=0\nzetak={modulus}\ncompressionflags=RESIDUALS_GOLOMB\n')
PY
for file in golomb*.graph; do
	expect 0 import $file --force -o l.mill
	expect 0 export l.mill -o got
	must cmp got "${file%.graph}.want"
done
sed -i 's/RESIDUALS/OUTDEGREES/' golomb3.properties
expect 3 import golomb3.graph -o bad.mill

# Bad input costs no more than it is worth.
printf '%%%%MatrixMarket matrix coordinate pattern general\n2147483647 2147483647 1\n1 1\n' >lie.mtx
expect 9 import lie.mtx --memory 64M -o bad.mill; hints "lie.mtx"
must [ ! -e bad.mill ]
expect 0 import want -o big.mill --quiet
printf '0 99999999999\n' >sparse.el
expect 0 import sparse.el -o sparse.mill
expect 9 export sparse.mill -o sparse.mtx; must [ ! -e sparse.mtx ]
expect 2 export big.mill -o big.wsg; hints "no weights"

# A few KiB that unpack to 16 MiB of edges: what they hold is imported, or refused at its line, within the budget.
python3 - <<'PY'
import bz2, gzip
text = b'1 2\n' * (1 << 22)
open('bomb.gz', 'wb').write(gzip.compress(text, 9))
open('bomb.bz2', 'wb').write(bz2.compress(text))
open('late.gz', 'wb').write(gzip.compress(text + b'x\n', 9))
PY
for packing in gz bz2; do
	expect 0 import bomb.$packing --dedup first --memory 64M --force -o bomb.mill --json=report.json
	json report.json "r['store']['edges'] == 1 and r['input']['edges_read'] == 2**22"
	[ -n "${MILL_SANITIZE:-}" ] || json report.json "r['memory']['peak_rss'] <= 1.05 * 64 * 2**20 + 16 * 2**20"
done
expect 3 import late.gz --memory 64M -o bad.mill; hints "late.gz:4194305"
must [ ! -e bad.mill ]

[ -d "$shared" ] || done_testing
counts() { # FILE VERTICES EDGES OPTION...
	local file=$1 vertices=$2 edges=$3
	shift 3
	expect 0 import "$shared/$file" "$@" --force -o c.mill --json
	json out "(r['store']['vertices'], r['store']['edges']) == ($vertices, $edges)"
}
counts webgraph/cnr-2000.graph-txt.gz 325557 3216152
expect 0 export c.mill -o ascii.el
counts webgraph/cnr-2000.graph 325557 3216152
expect 0 export c.mill -o bv.el; must cmp ascii.el bv.el
counts metis/mdual.graph 258569 513132
counts metis/4elt.graph 15606 45878
counts ldbc/example-directed.e 10 17
counts ldbc/example-undirected.v 9 12
counts lagraph/west0067.mtx 67 294
counts lagraph/bcsstk13.mtx 2003 42943
for file in "$shared"/lagraph/mangled*.mtx; do
	if [ "${file##*/}" = mangled14.mtx ]; then
		expect 3 import "$file" --dedup error -o bad.mill
		expect 0 import "$file" --force -o c.mill
	else
		expect 3 import "$file" -o bad.mill; hints "${file##*/}:"
	fi
done
for file in 4.el 4.wel 4.mtx 4.gr; do
	expect 0 import "$shared/gapbs/graphs/$file" --dedup first --loops drop --weights none --force -o c.mill
	"$millrace" export c.mill -o - | awk -v shift="$([[ $file = *el ]]; echo $?)" '{ print $1 - shift, $2 - shift }' >$file.out
	must cmp $file.out 4.el.out
done
expect 3 import "$shared/gapbs/graphs/4.graph" -o bad.mill; hints "4.graph:3"
expect 3 import "$shared/gapbs/graphs/4w.graph" -o bad.mill; hints "not symmetric"
done_testing
