# SPDX-License-Identifier: Apache-2.0
# The policy gts from the command line: stores of every kind on one to three devices, under both strategies, with the state in chunks and
# caches of no, some and all pages; the cpu's bits where they are promised, never more memory than was given, and what reports say.
. "$(dirname "$0")/lib.sh"
one_process
expect 0 list devices
grep -q opencl out || exit 77

mkdir a b c
kron="generate kron --scale 12 --degree 40 --seed 4 --page-size 64K"
# shellcheck disable=SC2086
{
	expect 0 $kron --weights u32 -o plain.mill
	expect 0 $kron --weights f32 --directed --codec raw -o directed.mill
	expect 0 $kron --weights u32 --directed --addressing paged -o paged.mill
	expect 0 $kron --weights u32 -o striped.mill --stripe a,b,c
}
names=(opencl opencl,opencl opencl,opencl,opencl)

# cpu BITS ALGORITHM STORE OPTION...: what the next runs are compared with, and how. BITS: same or near.
cpu() {
	bits=$1 run=("${@:2}")
	expect 0 "${run[@]}" --quiet --json=cpu.json -o cpu.tsv
}
# gts OPTION...: the same on devices
gts() {
	rm -f r.json
	expect 0 "${run[@]}" --policy gts --check --quiet --json=r.json -o r.tsv "$@"
	json r.json "r['error'] is None and r['check'] == 'passed' and all(0 < d['peak'] <= d['budget'] for d in r['devices'])"
	json r.json "r['memory']['counted'] <= r['memory']['budget']"
	json r.json "r['bytes']['to_device'] == sum(d['to_device'] for d in r['devices']) > 0"
	json r.json "r['bytes']['from_device'] == sum(d['from_device'] for d in r['devices']) > 0"
	json r.json "r['pages']['active'] == r['pages']['to_device'] + r['pages']['reused']"
	if [ "$bits" = near ]; then
		near cpu.tsv r.tsv
	else
		json r.json cpu.json "r['result']['hash'] == w['result']['hash']"
		must cmp cpu.tsv r.tsv
	fi
}

# ---- Every algorithm on every store; the rest in turn: all values of all options, not their product ----
k=0
for store in plain directed paged striped; do
	for algorithm in "same bfs --source max-degree" "same sssp --source max-degree" "same cc" \
		"same pagerank --exact --iterations 3 --tolerance 0" "near bc --sources max-degree"; do
		# shellcheck disable=SC2086
		set -- $algorithm
		cpu "$1" "$2" $store.mill "${@:3}"
		for _ in 1 2; do
			n=$((k % 3 + 1)) strategy=p chunks=$((k / 2 % 3)) cache=$((k / 5 % 3))
			[ $((k / 3 % 2)) = 0 ] || strategy=s
			chunks=$((chunks * chunks + 1))	# 1, 2 or 5
			options=(--device "${names[n - 1]}" --device-memory 64M --strategy $strategy --chunks $chunks)
			case $cache in
			0) options+=(--device-cache 0) ;;
			1) options+=(--device-cache 10%) ;;
			esac
			gts "${options[@]}"
			[ $n -gt 1 ] || strategy=p	# one has all
			json r.json "r['gts']['devices'] == $n and r['gts']['chunks'] == $chunks and r['gts']['strategy'] == '$strategy'"
			case $cache in
			0) json r.json "r['gts']['cached_pages'] == 0 and r['pages']['reused'] == 0" ;;
			1) json r.json "0 < r['gts']['cached_pages'] < r['gts']['small_pages'] + r['gts']['large_pages']" ;;
			2) json r.json "r['pages']['to_device'] <= r['store']['pages'] * ($n if '$strategy' == 's' else 1)" ;;
			esac
			k=$((k + 1))
		done
	done
done

# ---- What a report says ----
cpu same bfs directed.mill --source max-degree
gts --device opencl,opencl --device-memory 8M --trace t.json --repeat 3
json r.json "list(r['gts']) == ['devices', 'strategy', 'why', 'chunks', 'writable', 'small_pages', 'large_pages', 'cached_pages', 'frames']"
json r.json "all(list(d) == ['name', 'budget', 'peak', 'to_device', 'from_device'] for d in r['devices']) and len(r['devices']) == 2"
json r.json "len(r['runs']) == 3 and r['options']['policy'] == 'gts' and r['gts']['writable'] == 4 * r['store']['connected'] + 4 * (r['store']['connected'] % 2)"
json r.json "r['bytes']['to_device'] + r['bytes']['from_device'] == sum(r['bytes'][k] for k in ('topology', 'read_only', 'writable', 'flags'))"
json r.json "len(r['supersteps']) == r['iterations'] and sum(s['pages_to_device'] for s in r['supersteps']) == r['pages']['to_device']"
json t.json "len([e for e in (r['traceEvents'] if isinstance(r, dict) else r) if e.get('ph') == 'X']) > 10"
gts --device opencl --fallback
json r.json "r['device'] == 'opencl' and r['gts']['devices'] == 1"
expect 0 bfs directed.mill --source max-degree --policy gts --json=r.json
json r.json "r['gts'] is None and r['devices'] is None"

# ---- Main memory keeps what --memory leaves: a graph that fits is read once. Half of it, and a small cache: more often ----
scan=(pagerank plain.mill --iterations 4 --tolerance 0 --policy gts --device opencl)
expect 0 "${scan[@]}" --device-cache 64K --check --json=r.json
json r.json "r['pages']['read'] == r['store']['pages'] == r['gts']['frames'] and r['pages']['to_device'] > 2 * r['store']['pages']"
json r.json "r['bytes']['disk_read'] == r['store']['page_bytes'] and r['options']['main_buffer'] is None"
pages=$(value pages r.json)
expect 0 "${scan[@]}" --device-cache 64K --main-buffer $((pages / 2 * 64))K --check --json=r.json
json r.json "r['gts']['frames'] == $pages // 2 and r['pages']['read'] > r['store']['pages']"
# A scan finds what stays only if it begins there.
for order in cached pages; do
	expect 0 "${scan[@]}" --device-cache $((pages / 2 * 64))K --scan $order --check --json=r.json
	json r.json "r['gts']['cached_pages'] == $pages // 2 and r['options']['scan'] == '$order' and r['pages']['active'] == 4 * $pages"
	json r.json "r['pages']['reused'] == (3 * ($pages // 2) if '$order' == 'cached' else 0)"
done

# ---- Less than the state: as many chunks as it takes ----
# needs OPTION...: the number that a refusal says
needs() {
	expect 7 "$@"
	sed -n 's/.*needs \([0-9]*\) bytes.*/\1/p' err
}
expect 0 generate kron --scale 15 --degree 3 --seed 4 --weights u32 --page-size 64K --codec raw -o long.mill
algorithms=("bfs long.mill --source max-degree" "sssp long.mill --source max-degree"
	"pagerank long.mill --exact --iterations 2 --tolerance 0")
i=0
for devices in "opencl" "opencl,opencl --strategy s" "opencl,opencl --strategy p"; do
	i=$((i + 1))
	for algorithm in "${algorithms[i % 3]}" "${algorithms[(i + 1) % 3]}"; do
		# shellcheck disable=SC2086
		{
			cpu same $algorithm
			least=$(needs "${run[@]}" --policy gts --device $devices --device-memory 1K)
			less=$(needs "${run[@]}" --policy gts --device $devices --device-memory 1K --chunks 7)
			must [ "$least" -lt "$less" ]
			expect 7 "${run[@]}" --policy gts --device $devices --device-memory $((least - 1)); hints "needs $least bytes"
			expect 7 "${run[@]}" --policy gts --device $devices --device-memory $((less - 1)) --chunks 7; hints "needs $less bytes"
			gts --device $devices --device-memory "$less" --chunks 7
			gts --device $devices --device-memory "$less"
			json r.json "1 < r['gts']['chunks'] <= 7 and r['gts']['writable'] * r['gts']['chunks'] * r['gts']['devices'] >= r['store']['connected'] * 4"
			gts --device $devices --device-memory 64M
			json r.json "r['gts']['chunks'] == 1"
		}
	done
done

# ---- Without --strategy: P while the state fits every device, S where it fits only all together, chunks after that ----
expect 0 list devices
if grep -q "opencl:0 .* 2 units, divisible" out; then
	cpu same bfs long.mill --source max-degree
	parts=(--device opencl:0/2)
	p=$(needs "${run[@]}" --policy gts "${parts[@]}" --device-memory 1K --strategy p --chunks 1)
	s=$(needs "${run[@]}" --policy gts "${parts[@]}" --device-memory 1K --strategy s --chunks 1)
	must [ "$s" -lt "$p" ]
	# strategy BUDGET STRATEGY CHUNKS WHY [OPTION...]: in the run's report and in the plan
	strategy() {
		local is="['strategy'] == '$2' and x['chunks'] $3 and x['why'] == '$4'"
		gts "${parts[@]}" --device-memory "$1" "${@:5}"
		json r.json "(x := r['gts'])$is"
		expect 0 "${run[@]}" --policy gts "${parts[@]}" --device-memory "$1" "${@:5}"; says "  gts     strategy $2: $4; "
		expect 0 plan bfs long.mill --policy gts "${parts[@]}" --device-memory "$1" "${@:5}" --json=plan.json; says "  gts           strategy $2: $4; "
		json plan.json "r['plan']['policy_owns'] and (x := r['plan']['gts'])$is"
	}
	strategy 64M p "== 1" "the state fits every device"
	strategy "$p" p "== 1" "the state fits every device"
	strategy $((p - 1)) s "== 1" "the state fits only all devices together"
	strategy "$s" s "== 1" "the state fits only all devices together"
	strategy $((s - 1)) s "== 2" "the state is larger than all devices together"
	strategy $((s - 1)) p "> 1" "as asked for" --strategy p
	strategy 64M s "== 1" "as asked for" --strategy s
	parts=(--device opencl:0/2:1)
	strategy 64M p "== 1" "there is one device"
	strategy $((p - 1)) p "== 2" "there is one device"
	# Too little for any: nothing is planned.
	expect 0 plan bfs long.mill --policy gts --device opencl:0/2 --device-memory 1K --json=plan.json
	json plan.json "r['plan']['gts'] is None and r['plan']['device_needed'] > 1024"; must [ "$(grep -c strategy out)" = 0 ]
fi

# ---- Devices of different sizes ----
cpu same sssp directed.mill --source max-degree
for strategy in p s; do
	gts --device opencl,opencl,opencl --device-memory 2M,300K,1M --strategy $strategy
	json r.json "[d['budget'] for d in r['devices']] == [2 << 20, 300 << 10, 1 << 20] and r['memory']['device_budget'] == 300 << 10"
	gts --device opencl,opencl,opencl --device-memory 200K,8M --strategy $strategy
	json r.json "[d['budget'] for d in r['devices']] == [200 << 10, 8 << 20, 8 << 20]"
done

# ---- Little memory on the host, and pages that do not stay there ----
for options in "--device opencl" "--device opencl,opencl,opencl --strategy p" "--device opencl,opencl,opencl --strategy s --chunks 2"; do
	# shellcheck disable=SC2086
	for store in plain paged; do
		cpu same cc $store.mill
		least=$(needs cc $store.mill --policy gts $options --device-memory 4M --check --memory 1M -o x.tsv)
		MILL_FAULT=hold:n=2 gts $options --device-memory 4M --memory "$least"
		MILL_FAULT=hold:n=2 gts $options --device-memory 4M --memory "$least" --main-buffer 64K --device-cache 0 --io pread
	done
done

# ---- Warps, work-groups and queues that fit nothing well ----
cpu same sssp paged.mill --source max-degree
gts --device opencl,opencl --mapping warp --warp 32 --group-size 3 --queues 1
gts --device opencl --mapping hybrid --warp 4 --group-size 1
gts --device opencl --mapping warp --warp 16 --lanes --no-reuse
json r.json "r['pages']['reused'] == 0 and r['lanes'] > 0 and r['atomics'] == r['updates']"

# ---- Graphs of which there is next to nothing: more devices and chunks than vertices ----
printf '' >none.el
printf '7 7\n' >loop.el
printf '3 9\n' >edge.el
printf '0 1\n1 2\n0 1\n1 1\n' >few.el
for graph in none loop edge few; do
	for how in "" --undirected "--addressing paged"; do
		# shellcheck disable=SC2086
		{
			expect 0 import $graph.el $how --page-size 64K -o $graph.mill --force
			# Two of the algorithms in turn.
			i=$((i + 1))
			algorithms=("bfs $graph.mill --source random" "cc $graph.mill" "sssp $graph.mill --source random --unit-weights"
				"pagerank $graph.mill --exact")
			for algorithm in "${algorithms[i % 2]}" "${algorithms[i % 2 + 2]}"; do
				run_millrace $algorithm --quiet --json=cpu.json
				code=$got
				expect "$code" $algorithm --quiet --json=r.json --check --policy gts --device opencl,opencl,opencl --strategy s --chunks 5
				[ $code != 0 ] || json r.json cpu.json "r['result']['hash'] == w['result']['hash']"
			done
		}
	done
done

# ---- What knows one device computes on it with an ordinary cache ----
for algorithm in kcore triangles scc "cdlp --iterations 4" degrees; do
	# shellcheck disable=SC2086
	set -- $algorithm
	for store in plain directed; do
		expect 0 "$1" $store.mill "${@:2}" --quiet --json=cpu.json
		expect 0 "$1" $store.mill "${@:2}" --quiet --json=r.json --check --policy gts --device opencl --device-memory 4M
		json r.json "r['check'] == 'passed' and r['options']['policy'] == 'gts'"
		json r.json cpu.json "r['result']['hash'] == w['result']['hash']"
	done
	json r.json "r['gts'] is None"
	expect 2 "$1" directed.mill --device opencl,opencl; hints "$1 runs on one device: name one"
	expect 2 "$1" directed.mill --device opencl,opencl --fallback; hints "$1 runs on one device: name one"
done
# Strong components of an undirected graph are the weak ones.
cpu same scc plain.mill
gts --device opencl,opencl
json r.json "r['gts']['devices'] == 2"
done_testing
