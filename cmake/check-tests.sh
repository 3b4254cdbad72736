#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A test that checks nothing always passes. Every transcript must end with its count of failures. C files need no check here: one without a
# suite does not link, and a suite without tests fails.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
bad=0
for file in tests/cli/*.sh; do
	[ "$(basename "$file")" = lib.sh ] && continue
	[ "$(tail -n 1 "$file")" = done_testing ] || { echo "$file does not end in done_testing"; bad=1; }
done
exit $bad
