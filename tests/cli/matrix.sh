# SPDX-License-Identifier: Apache-2.0
# One hash for each algorithm, whatever the budget, the way of reading, the threads and the page size. By hand on a graph that
# is larger than its budgets: SCALE=22 tests/cli/matrix.sh build/release/millrace
. "$(dirname "$0")/lib.sh"

scale=${SCALE:-11}
# Small graphs stream only if they are told to: then the least budget and twice that differ in nothing but frames.
hold=hold:n=1
[ "$scale" -lt 20 ] || hold=
for size in 64K 1M; do
	expect 0 generate kron --scale "$scale" --weights u32 --seed 3 --page-size $size -o $size.mill
done

# run ALGORITHM STORE OPTION...: its hash is added to those seen
run() {
	expect 0 "$@" --json=r.json --quiet
	json_value hash <r.json >>hashes
}
json_value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" | head -n 1; }
for algorithm in bfs sssp pagerank cc scc bc triangles kcore cdlp degrees; do
	options=()
	case $algorithm in
	bfs | sssp) options=(--source max-degree) ;;
	bc) options=(--sources max-degree) ;;
	pagerank) options=(--iterations 7 --tolerance 0) ;;
	esac
	: >hashes
	for size in 64K 1M; do
		expect 0 plan $algorithm $size.mill --threads 2 --json=p.json --quiet
		least=$(json_value needed <p.json)
		for threads in 1 2; do
			for io in uring pread; do
				for budget in "$least" $((2 * least)); do
					MILL_FAULT=$hold run $algorithm $size.mill "${options[@]}" --threads $threads --io $io --memory "$budget"
					must grep -q '"resident": false' r.json
					[ "$scale" -lt 20 ] || json r.json "r['memory']['peak_rss'] <= 1.05 * $budget + (16 << 20)"
				done
			done
			run $algorithm $size.mill "${options[@]}" --threads $threads
		done
	done
	must [ "$(wc -l <hashes)" = 20 ]
	must [ "$(sort -u hashes | wc -l)" = 1 ]
	must grep -qE '^[0-9a-f]{16}$' hashes
done
done_testing
