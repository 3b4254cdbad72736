#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that every transcript of tests/cli and tests/fault ends with done_testing, its count of failures: a
# test that checks nothing always passes. C files need no check: one without a suite does not
# link, and a suite without tests fails.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
bad=0
for file in tests/cli/*.sh tests/fault/*.sh; do
	[ "$(basename "$file")" = lib.sh ] && continue
	[ "$(tail -n 1 "$file")" = done_testing ] && continue
	echo "$file does not end in done_testing"
	bad=1
done
exit $bad
