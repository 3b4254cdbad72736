# SPDX-License-Identifier: Apache-2.0
# For kernels.sh and compile.sh, after lib.sh: `dump_texts FOLDER [OPTION...]` leaves the text of every kernel program,
# as OpenCL gets it, in FOLDER/NAME.cl.
record=$transcripts/kernels.txt

# device ARG...: runs millrace on the device and dumps its programs
device() { expect 0 "$@" "${options[@]}" --device opencl; }

dump_texts() {
	local folder=$1 options=("${@:2}") method precision policy
	mkdir -p "$folder"
	export MILL_KERNEL_DUMP=$folder
	one_process
	for weights in u32 f32; do
		expect 0 generate kron --scale 6 --seed 1 --weights $weights --directed --page-size 64K -o t-$weights.mill --force
	done
	# More paths than a double can count: a chain of 1,100 diamonds.
	awk 'BEGIN { for (i = 0; i < 3300; i += 3) print i, i + 1 "\n" i, i + 2 "\n" i + 1, i + 3 "\n" i + 2, i + 3 }' >t-chain.el
	expect 0 import t-chain.el --page-size 64K -o t-chain.mill --force
	# Distances beyond 32 bits.
	printf '0 1 4000000000\n1 2 4000000000\n' >t-far.el
	expect 0 import t-far.el --weights 3 --page-size 64K -o t-far.mill --force
	# Parents are settled for what is checked.
	device bfs t-u32.mill --check
	device sssp t-u32.mill --check
	device sssp t-f32.mill --check
	device sssp t-far.mill --source 0 --check
	device sssp t-u32.mill --unit-weights
	device kcore t-u32.mill
	device bc t-chain.mill --source 0
	for method in afforest hooking labels; do
		device cc t-u32.mill --method $method
	done
	for policy in graphie gts; do
		device bfs t-u32.mill --policy $policy
		device sssp t-u32.mill --policy $policy
		device sssp t-u32.mill --policy $policy --unit-weights
		device sssp t-f32.mill --policy $policy
		device cc t-u32.mill --policy $policy
	done
	device sssp t-far.mill --source 0 --policy gts
	for precision in "--precision f32" "--precision f64" --exact; do
		# shellcheck disable=SC2086
		device pagerank t-u32.mill --iterations 1 --tolerance 0 $precision --policy gts
	done
	if [ ${#options[@]} = 0 ]; then	# these count no lanes
		for precision in "--precision f32" "--precision f64" --exact; do
			# shellcheck disable=SC2086
			device pagerank t-u32.mill --iterations 1 --tolerance 0 $precision
		done
		device scc t-u32.mill
		device cdlp t-u32.mill --iterations 1
		device triangles t-u32.mill
	fi
	process_end
	unset MILL_KERNEL_DUMP
	must [ "$(find "$folder" -name '*.cl' | wc -l)" -ge 40 ]
	for join in bfs sssp_unit sssp_short sssp_long sssp_f32 cc_label add_f32 add_f64 add_u64; do
		must [ -f "$folder/${join}_join.cl" ]
	done
}

# unknown_texts FOLDER TOOL: prints the programs that the record does not have for the tool; all if RECORD=write asks
# for a new record.
unknown_texts() {
	if [ "${RECORD:-}" = write ]; then
		basename -s .cl "$1"/*.cl
	else
		python3 -m kernels unknown "$record" "$1" "$2"
	fi
}
