# SPDX-License-Identifier: Apache-2.0
# Every algorithm on a device, with device memory from the least that the plan says up and as little memory as it says: the cpu's
# bits where they are promised, its scores nearly elsewhere, and never more memory than was given.
. "$(dirname "$0")/lib.sh"
one_process
expect 0 list devices
grep -q opencl out || exit 77

# needs OPTION...: the number that a refusal of such a run says.
needs() {
	expect 7 "$@"
	sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p' err
}

# try STORE BITS ALGORITHM OPTION...: on the cpu, then in all budgets. BITS: same or near.
try() {
	local store=$1 bits=$2 least memory size
	local run=("$3" "$store" "${@:4}" --check --quiet)
	expect 0 "${run[@]}" --json=cpu.json -o cpu.tsv
	run+=(--device opencl -o cl.tsv)
	least=$(needs "${run[@]}" --device-memory 1K)
	memory=$(needs "${run[@]}" --memory 1M)
	expect 7 "${run[@]}" --device-memory $((least - 1)); hints "--device-memory"; hints "needs $least bytes"
	for size in "$least" $((least + 3 * 65536)) 64M; do
		MILL_FAULT=hold:n=2 expect 0 "${run[@]}" --device-memory "$size" --memory "$memory" --json=cl.json
		json cl.json "r['check'] == 'passed' and r['pages']['to_device'] > 0"
		json cl.json "r['memory']['device_peak'] <= r['memory']['device_budget'] and r['memory']['counted'] <= $memory"
		if [ "$bits" = near ]; then
			near cpu.tsv cl.tsv
		else
			must cmp cpu.tsv cl.tsv
			json cl.json cpu.json "r['result']['hash'] == w['result']['hash']"
		fi
	done
}

# Each algorithm on two of the three stores.
kron="generate kron --scale 10 --degree 40 --seed 4 --page-size 64K"
# shellcheck disable=SC2086
{
	expect 0 $kron --weights u32 -o u.mill
	expect 0 $kron --weights f32 --directed -o d.mill
	expect 0 $kron --weights f32 --directed --codec raw -o raw.mill
}
stores=(u d raw)
k=0
while read -r bits algorithm; do
	for store in "${stores[k % 3]}" "${stores[(k + 1) % 3]}"; do
		# shellcheck disable=SC2086
		try $store.mill "$bits" $algorithm
	done
	k=$((k + 1))
done <<'END'
same bfs --source max-degree
same sssp --source max-degree
same sssp --source max-degree --unit-weights
same cc
same cc --method hooking
same cc --method labels
same scc
same kcore
same pagerank --iterations 3 --tolerance 0 --exact
near pagerank --iterations 3 --tolerance 0
near bc --sources max-degree
END
# Counted where the lists are.
for store in "${stores[@]}"; do
	expect 0 degrees "$store.mill" --json=cpu.json
	expect 0 degrees "$store.mill" --device opencl --device-memory 1K --check --json=cl.json
	json cl.json cpu.json "r['result']['hash'] == w['result']['hash']"
done

# What computes on the host does so whatever the device.
for algorithm in triangles cdlp; do
	expect 0 $algorithm u.mill --json=cpu.json --quiet
	expect 0 $algorithm u.mill --device opencl --check --json=cl.json --quiet
	json cl.json cpu.json "r['result']['hash'] == w['result']['hash']"
done

# Unknown words.
for word in "--mapping warp" "--filter none" "--direction up" "--queues 0" "--group-size 0"; do
	expect 2 bfs u.mill --source max-degree --device opencl $word
done
expect 2 bfs u.mill --device opencl --async

expect 0 generate kron --scale 10 --degree 40 --seed 4 --page-size 64K -o f.mill
# A page that was altered, with all checksums made right again: the device finds that it cannot be unpacked.
python3 - f.mill <<'PY'
import seal, struct, sys
pages = bytearray(open(sys.argv[1] + "/out.pages", "rb").read())
pages[struct.unpack_from("<I", pages, 48)[0]] ^= 0xff	# the first byte of the streams: neighbour_at of the header
seal.put_first_block(sys.argv[1], pages)
PY
expect 4 pagerank f.mill --memory 1G; hints "page 0"
for size in "$(needs pagerank f.mill --device opencl --device-memory 1K)" 64M; do
	expect 4 pagerank f.mill --device opencl --device-memory "$size"; hints "out.pages: page 0"
done

# The width of a step is a fact only where there are such steps: not under policies with kernels of their own.
expect 0 generate kron --scale 8 --weights u32 --seed 3 -o steps.mill
for policy in auto lru graphie gts; do
	expect 0 sssp steps.mill --source max-degree --device opencl --policy $policy --json=steps.json
	json steps.json "('delta' in r['result']) == $(grep -c '  result .* delta ' out)"
	json steps.json "('delta' in r['result']) == (r['policy_owns'] is None)"
done

# Larger than memory and than the device: from disk through RAM to the device in one flow.
expect 0 generate kron --scale 19 --degree 10 --seed 3 --codec raw -o large.mill
large() {
	local memory least
	expect 0 "$@" --json=cpu.json --quiet
	expect 0 plan "$1" large.mill "${plan[@]}" --device opencl --json=plan.json --quiet
	memory=$(value needed plan.json) least=$(value device_needed plan.json)
	expect 0 "$@" --device opencl --memory "$memory" --device-memory $((least + (10 << 20))) --json=cl.json --quiet
	json cl.json cpu.json "r['result']['hash'] == w['result']['hash']"
	json cl.json "r['memory']['device_peak'] <= r['memory']['device_budget'] and r['bytes']['disk_read'] >= r['store']['page_bytes'] / 2"
	json cl.json "r['memory']['counted'] <= r['memory']['budget']"
}
plan=()
large bfs large.mill --source max-degree
large cc large.mill
plan=(--iterations 2 --tolerance 0 --exact)
large pagerank large.mill "${plan[@]}"
done_testing
