#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Both codecs hold the same graph: same exports, same results.
. "$(dirname "$0")/lib.sh"

for kind in "kron --scale 12" "grid --vertices 10000" "star --vertices 5000" "kron --scale 8 --multigraph --weights f32" \
	"uniform --scale 11 --directed --weights u32"; do
	for codec in raw packed; do
		expect 0 generate $kind --page-size 64K --codec $codec -o $codec.mill --force
		expect 0 verify $codec.mill
		expect 0 info $codec.mill; says "$codec"; says "bytes an edge"
		expect 0 export $codec.mill -o $codec.el
		expect 0 pagerank $codec.mill --iterations 5 --tolerance 0 -o $codec.tsv
		expect 0 bfs $codec.mill --source max-degree --check -o $codec.bfs.tsv
	done
	must cmp raw.el packed.el
	# The first line names the store.
	must cmp <(tail -n +2 raw.tsv) <(tail -n +2 packed.tsv)
	must cmp <(tail -n +2 raw.bfs.tsv) <(tail -n +2 packed.bfs.tsv)
done
# The default, and smaller.
expect 0 generate kron --scale 16 -o default.mill
expect 0 info default.mill; says "packed"
expect 0 generate kron --scale 16 --codec raw -o plain.mill
must [ "$(stat -c %s default.mill/out.pages)" -lt "$(($(stat -c %s plain.mill/out.pages) / 2))" ]

# A changed byte in the streams is found.
printf '\xff' | dd of=default.mill/out.pages bs=1 seek=300000 conv=notrunc status=none
expect 4 verify default.mill
expect 4 pagerank default.mill
done_testing
