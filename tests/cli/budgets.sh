# SPDX-License-Identifier: Apache-2.0
# Budgets are promises: a graph larger than its budget, one result, and a peak within 1.05 M + 16 MiB.
. "$(dirname "$0")/lib.sh"
[ -z "${MILL_SANITIZE:-}" ] || exit 77	# sanitizers take memory of their own

expect 0 generate kron --scale 19 --seed 3 --weights u32 -o g.mill
for run in "bfs --source max-degree" "sssp --source max-degree" "pagerank --iterations 3 --tolerance 0" \
	"pagerank --iterations 3 --tolerance 0 --exact"; do
	set -- $run
	algorithm=$1
	shift
	expect 0 "$algorithm" g.mill "$@" --json=all.json
	json all.json "r['memory']['resident'] and r['bytes']['disk_read'] == 0"
	expect 0 "$algorithm" g.mill "$@" --memory 80M --json=some.json
	json some.json all.json "not r['memory']['resident'] and r['result']['hash'] == w['result']['hash']"
	json some.json "r['memory']['peak_rss'] <= 1.05 * r['memory']['budget'] + 16 * 2**20"
	expect 0 "$algorithm" g.mill "$@" --memory 84M --check --json=some.json -o out.tsv
	json some.json all.json "r['result']['hash'] == w['result']['hash'] and r['check'] == 'passed'"
	json some.json "not r['memory']['resident'] and r['pages']['reused'] > 0"
	json some.json "r['memory']['peak_rss'] <= 1.05 * r['memory']['budget'] + 16 * 2**20"
	expect 7 "$algorithm" g.mill "$@" --memory 40M
	hints "too small"; hints "bytes"
done

# Two runs on one store at once.
"$millrace" bfs g.mill --source max-degree --memory 84M --json=one.json >/dev/null &
"$millrace" pagerank g.mill --iterations 3 --memory 84M --json=two.json >/dev/null
wait $!
json one.json "r['error'] is None"
json two.json "r['error'] is None"

# A device with less memory than the graph: every page crosses again, the result is the same.
if "$millrace" list devices | grep -q opencl; then
	expect 0 bfs g.mill --source max-degree --json=cpu.json
	expect 0 bfs g.mill --source max-degree --device opencl --device-memory 14M --check --json=cl.json
	json cl.json "r['memory']['device_peak'] <= r['memory']['device_budget'] == 14 * 2**20"
	json cl.json "r['result']['hash'] == '$(sed -n 's/.*"hash": "\(.*\)".*/\1/p' cpu.json)'"
	json cl.json "r['pages']['to_device'] > r['store']['pages']"
	# The process holds the budget, the device's and what the driver takes, most of it while kernels are built; the report tells them apart.
	for _ in built kept; do
		POCL_CACHE_DIR=$PWD/kernels expect 0 bfs g.mill --source max-degree --device opencl --memory 84M --device-memory 14M --json=cl.json
		says "the driver took"
		json cl.json "r['memory']['driver'] > 0"
		json cl.json "r['memory']['peak_rss'] <= 1.05 * (84 << 20) + (16 << 20) + (14 << 20) + r['memory']['driver']"
	done
	expect 7 bfs g.mill --source max-degree --device opencl --device-memory 1M; hints "--device-memory"
	expect 8 bfs g.mill --source max-degree --device opencl:99
fi
done_testing
