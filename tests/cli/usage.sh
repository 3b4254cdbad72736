# SPDX-License-Identifier: Apache-2.0
# What can be typed wrongly: exit 2, one line, a hint. And what help shows.
. "$(dirname "$0")/lib.sh"

expect 2; hints "help"
expect 2 nonsense; hints "unknown command 'nonsense'"
expect 2 bsf; hints "did you mean 'bfs'"
expect 0 --version; says "millrace 0."; says "cpu"
expect 0 help; says "import"; says "exit codes"
expect 0 --help; says "pagerank"
expect 2 help nothing

# Every command explains itself, both ways, with examples; help and list name the same algorithms.
for command in import generate export info verify plan lab bfs sssp pagerank list help; do
	expect 0 help $command; says "usage: millrace $command"; says "examples:"
	cp out first
	expect 0 $command --help; must cmp out first
	expect 2 $command --nonsense; hints "unknown option --nonsense"
done
expect 0 list; says "algorithms:"; says "devices:"; says "policies:"; says "formats:"; says "kron"
expect 0 list algorithms --json
cp out listed
json listed "{a['name'] for a in r['algorithms']} >= {'bfs', 'sssp', 'pagerank'}"
for algorithm in $(python3 -c "import json; print(*[a['name'] for a in json.load(open('listed'))['algorithms']])"); do
	expect 0 help "$algorithm"
done
json listed "{o['name']: o['default'] for a in r['algorithms'] if a['name'] == 'pagerank' for o in a['options']} == {'damping': '0.85', 'tolerance': '1e-6', 'iterations': '100', 'precision': None, 'exact': None, 'personalize': None}"
json listed "[(a['columns'], a['facts']) for a in r['algorithms'] if a['name'] == 'bfs'] == [(['depth', 'parent'], ['source', 'reached', 'max_depth'])]"
json listed "[o['words'] for a in r['algorithms'] if a['name'] == 'cc' for o in a['options']] == [['auto', 'afforest', 'hooking', 'labels']]"
expect 2 list nonsense
# No option comes twice; those of an algorithm are in its help and, with it, in that of plan and lab.
for algorithm in $(python3 -c "import json; print(*[a['name'] for a in json.load(open('listed'))['algorithms']])"); do
	for command in "$algorithm" "plan $algorithm" "lab $algorithm"; do
		expect 0 $command --help; says "examples:"
		must [ -z "$(sed -n '/^options:/,/^$/s/^  \(--[a-z-]*\).*/\1/p' out | sort | uniq -d)" ]
	done
done
expect 0 help cdlp; says "the most iterations (default 10)"; expect 0 help pagerank; says "the most iterations (default 100)"
expect 0 plan pagerank --help; says "--damping"; expect 0 plan --help; must [ "$(grep -c -- --damping out)" = 0 ]; says "millrace help ALGO"
expect 0 help bfs; says "columns (-o)               id depth parent"; says "hash source reached max_depth"

expect 0 generate kron --scale 6 --seed 1 -o g.mill

# Options: both spellings, values that are missing, malformed, out of range or given twice.
expect 0 bfs g.mill --source=max-degree --threads=1
expect 0 bfs --source max-degree -- g.mill
expect 2 bfs g.mill --sorce 1; hints "did you mean --source?"
expect 2 bfs g.mill -x
expect 2 bfs g.mill --source; hints "--source ID"
expect 2 bfs g.mill --source --check; hints "needs a value"
expect 2 bfs g.mill --source 1 --source 2; hints "twice"
expect 2 bfs g.mill --check=yes; hints "takes no value"
expect 2 bfs g.mill --threads 0
expect 2 bfs g.mill --threads 2x
expect 2 bfs g.mill --threads -1
expect 2 bfs g.mill --seed 18446744073709551616
expect 2 bfs g.mill --repeat 0
expect 2 bfs g.mill --memory ""
expect 2 bfs g.mill --memory 12Q
expect 2 bfs g.mill --memory -5M
expect 2 bfs g.mill --io nonsense; hints "pread"
expect 2 bfs g.mill --policy nonsense; hints "list policies"
expect 2 bfs g.mill --device nonsense
expect 2 bfs g.mill --device-memory 64M; hints "--device"
expect 2 bfs g.mill --json=
expect 2 bfs g.mill --progress=sometimes
expect 2 bfs g.mill --damping 0.5; hints "unknown option"
expect 2 bfs; hints "usage: millrace bfs STORE"
expect 2 bfs g.mill h.mill; hints "too many"
expect 2 bfs g.mill --checkpoint d
expect 2 bfs g.mill --trace
expect 2 pagerank g.mill --source 1; hints "unknown option"
for value in 0 1 -0.5 2 nan inf 0x1p-1 "" "0.5 "; do
	expect 2 pagerank g.mill --damping "$value"
done
expect 2 pagerank g.mill --tolerance -1e-9
expect 2 pagerank g.mill --iterations 0
expect 2 pagerank g.mill --precision f16
expect 2 pagerank g.mill --exact --precision f64; hints "--exact and --precision: give one of them"
expect 2 pagerank g.mill --exact --precision f32
expect 2 pagerank g.mill --exact=yes; hints "takes no value"
expect 2 bc g.mill --source 1 --sources all; hints "--sources and --source: give one of them"
expect 2 cc g.mill --async; hints "--async is not possible with this method: use --method labels"
expect 2 cc g.mill --async --method afforest; expect 0 cc g.mill --async --method labels
expect 2 triangles g.mill --lcc=both; hints "takes undirected, directed"
expect 2 triangles g.mill --lcc=; expect 2 bfs g.mill --async=1; expect 2 kcore g.mill --async; hints "unknown option"
expect 2 sssp g.mill --delta 0
for n in 0 1 65 -2 2.5 many; do
	expect 2 sssp g.mill --buckets $n
	hints "--buckets $n"
done
expect 2 sssp g.mill --source max-degree; hints "weight"
expect 2 plan bfs g.mill --precision f64; hints "means nothing for bfs"
expect 2 plan nonsense g.mill; hints "unknown algorithm 'nonsense'; see"
expect 2 plan bsf g.mill; hints "did you mean 'bfs'?"
expect 2 lab nonsense g.mill --source 1; hints "unknown algorithm"
expect 2 plan bfs g.mill --source 1; hints "unknown option --source"
# Options before operands: those that take values are known before the algorithm is.
expect 0 plan --iterations 4 cdlp g.mill --json; json out "r['algorithm'] == 'cdlp' and r['options']['iterations'] == 4"
expect 0 plan --memory 1G --exact pagerank g.mill --json; json out "r['algorithm'] == 'pagerank' and r['options']['exact'] and r['options']['precision'] == 'f32'"
expect 0 plan --check --lcc triangles g.mill --json; json out "r['options']['lcc'] == 'undirected'"
expect 0 plan -- bfs g.mill
# What was given, and what the defaults come to.
expect 0 pagerank g.mill --tolerance 0 --iterations 3 --json; json out "r['options']['tolerance'] == 0 and r['iterations'] == 3 and r['options']['damping'] == 0.85"
expect 0 pagerank g.mill --json; json out "r['options']['tolerance'] == 1e-6 and r['options']['iterations'] == 100 and r['options']['personalize'] is None"
expect 0 cdlp g.mill --json; json out "r['options']['iterations'] == 10"
expect 0 bc g.mill --json; json out "r['options']['source'] == 'random' and r['options']['sources'] is None and r['options']['normalized'] is False"
expect 0 bc g.mill --sources random:2 --json; json out "r['options']['source'] == 'random' and r['options']['sources'] == 'random:2'"
expect 0 bc g.mill --source max-degree --json; json out "r['options']['source'] == 'max-degree' and r['options']['sources'] is None"
expect 0 sssp g.mill --unit-weights --json; json out "r['options']['delta'] == 'auto' and r['result']['delta'] > 0"
expect 0 triangles g.mill --json; json out "r['options']['lcc'] is None"
expect 2 pagerank g.mill --damping 7 --json; json out "r['options']['damping'] == 0.85"
expect 2 plan bfs
expect 2 import x.el; hints "-o STORE"
expect 2 import x.el -o x.mill --directed --undirected
expect 2 import x.el -o x.mill --weights 2
printf '0 1\n' >y.el
expect 3 import y.el -o x.mill --weights three; hints 'three'
expect 2 import y.el -o x.mill --weight-type u32; hints "--weights"
expect 2 import y.el -o x.mill --format nonsense; hints "bvgraph"
expect 2 import y.el -o x.mill --format raw; hints "--id-bits"
expect 2 import y.el -o x.mill --id-bits 48
expect 2 import x.el -o x.mill --dedup some; hints "first"
expect 2 import x.el -o x.mill --memory 25%
expect 2 generate kron --scale 6; hints "-o STORE"
expect 2 generate kron -o x.mill; hints "--scale"
expect 2 generate kron --scale 6 --vertices 64 -o x.mill
expect 2 generate krom --scale 6 -o x.mill; hints "did you mean 'kron'"
expect 2 generate path --vertices 6 --degree 3 -o x.mill; hints "means nothing for path"
expect 2 generate star --vertices 6 --a 0.3 -o x.mill
expect 2 generate kron --scale 6 --page-size 100K -o x.mill
expect 2 generate kron --scale 6 --page-size 32K -o x.mill
expect 2 generate kron --scale 6 --page-size 8G -o x.mill
expect 2 generate kron --scale 6 --codec zip -o x.mill
expect 2 export g.mill; hints "-o FILE"
must [ ! -e x.mill ]
must [ ! -e x.mill.new ]

# What only a device heeds is refused on the host, not ignored.
expect 0 generate path --vertices 9 -o device.mill --force
for option in "--device-memory 4M" "--queues 4" "--group-size 8" "--mapping group" "--filter exact" --no-skip --no-reuse --lanes --fallback; do
	expect 2 bfs device.mill $option; hints "is only for devices: use it with --device opencl"
done
for option in "--wire csr" "--partition-size 1K" --no-staging; do
	expect 2 bfs device.mill --policy graphie $option; hints "is only for devices: use it with --device opencl"
done

# So is what an algorithm would ignore: only steps along frontiers have mappings and filters, and a policy's own kernels its mappings.
for algorithm in triangles cdlp degrees; do
	expect 2 $algorithm device.mill --device opencl --mapping thread; hints "unknown option --mapping"
	expect 2 lab $algorithm device.mill --mapping thread; hints "--mapping means nothing for $algorithm"
	expect 2 lab $algorithm device.mill --mappings; hints "--mappings means nothing for $algorithm"
	expect 2 lab $algorithm device.mill --mappings --policies gts; hints "--mappings means nothing for $algorithm"
done
for algorithm in triangles cdlp degrees pagerank; do
	expect 2 $algorithm device.mill --device opencl --filter exact; hints "unknown option --filter"
	expect 2 plan $algorithm device.mill --device opencl --filter exact; hints "--filter means nothing for $algorithm"
	expect 2 lab $algorithm device.mill --filter exact; hints "--filter means nothing for $algorithm"
done
expect 2 pagerank device.mill --device opencl --mapping thread; hints "--mapping means nothing for pagerank: use it with --policy gts"
expect 2 pagerank device.mill --device opencl --policy lru --mapping thread; hints "--mapping means nothing for pagerank"
expect 2 lab pagerank device.mill --mappings; hints "--mappings means nothing for pagerank: use it with --policies gts"
expect 2 lab pagerank device.mill --policies reuse,graphie --mapping group; hints "--mapping means nothing for pagerank"
for method in "" "--method afforest" "--method hooking"; do
	expect 2 cc device.mill --device opencl $method --mapping thread; hints "use it with --method labels or --policy gts"
	expect 2 cc device.mill --device opencl $method --filter exact; hints "--filter means nothing for cc: use it with --method labels"
	expect 2 lab cc device.mill $method --mappings; hints "--mappings means nothing for cc"
done
for algorithm in bfs sssp cc bc kcore scc; do
	expect 0 help $algorithm; says "--mapping "; says "--filter "
done
for algorithm in triangles cdlp degrees; do
	expect 0 help $algorithm; must [ "$(grep -cE -- '--(mapping|filter) ' out)" = 0 ]
done

# Options of policies: helped, suggested and refused by their rows.
for command in bfs triangles plan lab; do
	expect 0 help $command; says "graphie: form in which partitions"; says "gts: order of pages"
done
expect 0 help lab; must [ "$(grep -c -- --strategy out)" = 0 ]
expect 2 bfs device.mill --chunk 3; hints "did you mean --chunks?"
expect 2 bfs device.mill --scan fast; hints "takes cached, pages"
expect 2 bfs device.mill --scan; hints "--scan needs a value: --scan cached|pages"
expect 2 bfs device.mill --no-staging=1; hints "takes no value"
expect 2 bfs device.mill --warp 4 --warp 4; hints "given twice"
expect 2 bfs device.mill --warp 12; hints "--warp 12: takes 4, 8, 16 or 32"
expect 0 list policies; says "gts          bfs, sssp"
expect 0 bfs device.mill --json
json out "[r['options'][k] for k in ('wire', 'partition_size', 'no_staging', 'strategy', 'chunks', 'device_cache', 'main_buffer', 'warp', 'scan')] == ['auto', None, False, 'auto', None, None, None, None, 'cached']"
done_testing
