#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD SECONDS: runs each fuzz program of BUILD for SECONDS, with the seeds of corpus/.
# New inputs stay in BUILD/corpus for the next time, an input that crashes in BUILD/crash-FORMAT-*.
# Exit 1: a program failed.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1") seconds=$2 bad=0
for program in "$build"/fuzz_*; do
	[ -x "$program" ] || continue
	format=${program##*/fuzz_}
	mkdir -p "$build/corpus/$format"
	if "$program" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 \
		-print_final_stats=1 -artifact_prefix="$build/crash-$format-" \
		"$build/corpus/$format" "$here/corpus/$format" >"$build/$format.log" 2>&1; then
		n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$format.log")
		echo "$format: $n inputs, no crash"
	else
		echo "$format: FAILED, see $build/$format.log"
		bad=1
	fi
done
exit $bad
