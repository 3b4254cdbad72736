#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# again.sh COMMAND...: runs a test of the AddressSanitizer build, and once more if the leak checker itself has crashed: looking for leaks,
# it now and then trips over a thread of the OpenCL driver that is just ending. What it found in our code is never tried again.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for try in 1 2 3; do
	"$@" >"$out" 2>&1
	code=$?
	cat "$out"
	grep -q 'LeakSanitizer has encountered a fatal error' "$out" || break
done
exit $code
