#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A test that checks nothing passes always, and looks like the others in ctest's list: every test
# program must run a group of cmocka tests, every transcript must end in its count of failures.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
bad=0
for file in tests/unit/test_*.c tests/algo/test_*.c; do
	grep -q 'cmocka_run_group_tests' "$file" || { echo "$file runs no test"; bad=1; }
done
for file in tests/cli/*.sh; do
	[ "$(basename "$file")" = lib.sh ] && continue
	[ "$(tail -n 1 "$file")" = done_testing ] || { echo "$file does not end in done_testing"; bad=1; }
done
exit $bad
