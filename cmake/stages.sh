#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stages.sh STAGE...: runs `make test-STAGE` for each in turn, stops at the first that fails, and prints the seconds of each at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A about=(
	[tree]="the order of the folders; no test is empty"
	[dev]="unit, algorithm, command line and fault tests, the code of the guides"
	[narrow]="unit tests with 8-bit vertices and 16-bit edge counts"
	[install]="the header alone, installation, examples"
	[asan]="under AddressSanitizer and UBSan"
	[tsan]="under ThreadSanitizer"
)
declare -A minutes=([tree]=0 [dev]=8 [narrow]=1 [install]=1 [asan]=8 [tsan]=8)

sum=0
for stage in "$@"; do
	printf '  %-10s%s\n' "$stage" "${about[$stage]}"
	sum=$((sum + minutes[$stage]))
done
echo "These $# stages take up to $sum minutes on two idle cores."

times=
begin=$SECONDS
for stage in "$@"; do
	echo "== $stage: ${about[$stage]}"
	start=$SECONDS
	make "test-$stage" || { echo "== $stage failed after $((SECONDS - start)) s; \`make test-$stage\` runs it alone"; exit 1; }
	times+=$(printf '  %-10s%5d s' "$stage" $((SECONDS - start)))$'\n'
done
printf '%s' "$times"
echo "== all $# stages passed in $((SECONDS - begin)) s"
