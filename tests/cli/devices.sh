# SPDX-License-Identifier: Apache-2.0
# Several devices and parts of devices: how they are named, what goes with them, and what a report says of them.
. "$(dirname "$0")/lib.sh"
expect 0 generate kron --scale 8 --page-size 64K -o g.mill

# What needs no device to be refused.
refused() { expect 2 bfs g.mill --source max-degree "$@"; }
refused --device opencl --device cpu; hints "the cpu computes alone"
refused --device cpu,cpu; hints "the cpu computes alone"
for name in nonsense opencl: opencl:x opencl:0/0 opencl:0/2:2 opencl:0/ opencl:0/2: opencl:1:2 opencl, ,opencl opencl:1024; do
	refused --device "$name"; hints "unknown device"
done
refused --device ""; hints "empty"
many=()
for _ in {1..16}; do many+=(--device opencl:0); done
refused "${many[@]}" --device opencl:0; hints "more than 16 devices"
refused "${many[@]}" --policy fifo; hints "several devices are for --policy gts"
refused --device opencl --device opencl --policy graphie; hints "several devices are for --policy gts"
refused --device "$(printf 'opencl,%.0s' {1..400})opencl"
for option in "--strategy p" "--strategy s" "--chunks 2" "--device-cache 0" "--device-cache 4M" "--main-buffer 10%" "--warp 8" "--scan pages" \
	"--mapping warp" "--mapping hybrid"; do
	for policy in auto lru graphie; do
		refused --device opencl --policy $policy $option; hints "for --policy gts"
	done
	refused $option; hints "is only for devices: use it with --device opencl"
	refused --policy gts $option; hints "is only for devices: use it with --device opencl"
done
for option in "--wire csr" "--partition-size 1" --no-staging; do
	for policy in auto lru gts; do
		refused --device opencl --policy $policy $option; hints "${option%% *} is for --policy graphie: leave it out"
	done
	refused --device opencl,opencl $option; hints "${option%% *} is for --policy graphie: leave it out"
done
for option in "--strategy x" "--strategy" "--chunks 0" "--chunks two" "--device-cache junk" "--main-buffer -1" "--warp 0" "--warp 5" "--warp 64" \
	"--mapping warps" "--strategy p --strategy s"; do
	refused --device opencl --policy gts $option
done
for sizes in junk 4M,junk 4M, ,4M 4M,,4M "4M, 4M" 4M,5Q; do
	refused --device opencl --device opencl --device-memory "$sizes"; hints "--device-memory $sizes: "
done
refused --device opencl --device-memory 4M,4M; hints "2 sizes"
refused --device opencl,opencl --device-memory 4M,4M,8M; hints "3 sizes"
refused --device opencl --device-memory "$(printf '4M,%.0s' {1..16})4M"; hints "more than 16 sizes"
expect 2 lab bfs g.mill --device-memory 10%,20%; hints "2 sizes"
expect 0 list policies; says "  gts"
for command in bfs plan; do
	expect 0 help $command
	for option in device-memory strategy chunks device-cache main-buffer warp scan; do says "--$option "; done
done

# On the host the policy is an order of pages like others.
expect 0 bfs g.mill --source max-degree --policy gts --check --json=r.json
json r.json "r['options']['policy'] == 'gts' and r['devices'] is None and r['options']['warp'] is None"

# Without a driver.
OCL_ICD_VENDORS=$scratch/none OCL_ICD_FILENAMES='' "$millrace" list devices >none
if ! grep -q opencl: none; then
	for name in opencl:all opencl:0/2 opencl:0/2:1 opencl:0,opencl:1; do
		export OCL_ICD_VENDORS=$scratch/none OCL_ICD_FILENAMES=
		expect 8 bfs g.mill --source max-degree --device $name; hints "OpenCL is not there"
		expect 0 bfs g.mill --source max-degree --device $name --strategy s --policy gts --fallback --check --json=r.json
		json r.json "r['device'] == 'cpu' and r['options']['device'] == '$name' and r['devices'] is None"
		unset OCL_ICD_VENDORS OCL_ICD_FILENAMES
	done
fi
if ! "$millrace" list devices | grep -q opencl; then
	skip_rest
fi

expect 0 list devices --json
json out "all(d['units'] > 0 and d['parts'] >= 0 for d in r['devices']) and r['devices'][0]['parts'] == 0"
expect 8 bfs g.mill --source max-degree --device opencl:9; hints "no OpenCL device 9"
expect 8 bfs g.mill --source max-degree --device opencl --device opencl:9; hints "no OpenCL device 9"
expect 8 bfs g.mill --source max-degree --device opencl:9/2; hints "no OpenCL device 9"
expect 8 bfs g.mill --source max-degree --device opencl:0/99:0; hints "cannot be divided"
expect 8 bfs g.mill --source max-degree --device opencl:0/99; hints "cannot be divided"
# The second cannot be opened: what the first took is given back, and the cpu goes on.
expect 0 bfs g.mill --source max-degree --device opencl --device opencl:9 --fallback --check --json=r.json; says "opencl,opencl:9 failed"
json r.json "r['device'] == 'cpu' and r['options']['device'] == 'opencl,opencl:9' and r['options']['policy'] == 'auto' and r['check'] == 'passed'"

# one_by_one OPTION...: an algorithm that knows one device only says so, after all were opened.
one_by_one() { expect 2 kcore g.mill "$@" --json=r.json; hints "kcore runs on one device: name one"; }
one_by_one --device opencl --device opencl:0 --device-memory 3M,2M
json r.json "[d['name'] for d in r['devices']] == ['opencl:0'] * 2 and [d['budget'] for d in r['devices']] == [3 << 20, 2 << 20]"
json r.json "r['options']['device_memory'] == [3 << 20, 2 << 20] and r['memory']['device_budget'] == 2 << 20 and r['device'] == 'opencl,opencl:0'"
json r.json "r['options']['policy'] == 'gts' and r['options']['warp'] == 32"
one_by_one --device opencl,opencl,opencl --device-memory 3M,2M --strategy s --chunks 4 --device-cache 0 --main-buffer 1M --warp 16 --mapping hybrid
json r.json "r['options']['device_memory'] == [3 << 20, 2 << 20, 2 << 20] and r['options']['strategy'] == 's' and r['options']['chunks'] == 4"
json r.json "r['options']['device_cache'] == 0 and r['options']['main_buffer'] == 1 << 20 and r['options']['warp'] == 16"
json r.json "r['options']['mapping'] == 'hybrid'"
one_by_one "${many[@]}" --device-memory 1M
json r.json "len(r['devices']) == 16"
expect 2 plan degrees g.mill --device opencl --device opencl; hints "runs on one device"

# What the policy's own kernels do not have.
for option in "--mapping group" "--filter exact" "--direction pull"; do
	refused --device opencl --policy gts $option; hints "--policy gts has no $option for bfs"
done

# Where its kernels have mappings others do not.
for how in "--device opencl --policy gts" "--device opencl,opencl"; do
	expect 0 pagerank g.mill --iterations 2 $how --mapping warp --check
	expect 0 cc g.mill $how --mapping thread --check
done
expect 0 cc g.mill --device opencl --method labels --mapping thread --filter exact --check
expect 0 lab pagerank g.mill --iterations 2 --device-memory 4M --policies reuse,gts --mapping hybrid --scan pages --quiet --json=r.json
json r.json "[x['error'] for x in r['rows']] == [None, None] and r['options']['scan'] == 'pages'"

# One device is one, however it is named; GTS's mappings say nothing to others' kernels.
expect 0 bfs g.mill --source max-degree --json=want.json
same() { json r.json "r['result']['hash'] == '$(sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p' want.json)' and r['check'] == 'passed'"; }
expect 0 bfs g.mill --source max-degree --device opencl:0/1 --check --json=r.json; same
json r.json "[d['name'] for d in r['devices']] == ['opencl:0/1:0'] and r['devices'][0]['to_device'] == r['bytes']['to_device'] > 0"
json r.json "r['devices'][0]['from_device'] == r['bytes']['from_device'] and r['devices'][0]['peak'] == r['memory']['device_peak'] > 0"
expect 0 kcore g.mill --device opencl --policy gts --mapping warp --check
if "$millrace" list devices | grep -q "opencl:0 .* 2 units, divisible"; then
	one_by_one --device opencl:0/2 --device-memory 3M
	json r.json "[d['name'] for d in r['devices']] == ['opencl:0/2:0', 'opencl:0/2:1']"
	for part in 0 1; do
		expect 0 bfs g.mill --source max-degree --device opencl:0/2:$part --device-memory 8M --check --json=r.json; same
	done
	expect 0 plan bfs g.mill --device opencl:0/2:1 --json=r.json
	expect 0 bfs g.mill --source max-degree --device opencl:0/2:1 --check --trace t.json
	must python3 -m json.tool t.json /dev/null
	one_by_one --device opencl:0/2 --trace t.json
	must python3 -m json.tool t.json /dev/null
fi

# Two devices of one driver.
if [ "$(POCL_DEVICES="pthread pthread" "$millrace" list devices | grep -c opencl:)" = 2 ]; then
	export POCL_DEVICES="pthread pthread"
	for names in opencl:all opencl:0,opencl:1; do
		one_by_one --device $names
		json r.json "[d['name'] for d in r['devices']] == ['opencl:0', 'opencl:1']"
	done
	expect 0 bfs g.mill --source max-degree --device opencl:1 --check --json=r.json; same
	expect 8 bfs g.mill --source max-degree --device opencl:2; hints "only 2"
fi
done_testing
