#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# again.sh COMMAND...: runs a test of the AddressSanitizer build, up to three times if the leak
# checker itself crashes: while it looks for leaks, a thread of the OpenCL driver that ends at
# that moment can crash it. A test with a leak, or with any other failure, is not run again.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for try in 1 2 3; do
	"$@" >"$out" 2>&1
	code=$?
	cat "$out"
	grep -q 'LeakSanitizer has encountered a fatal error' "$out" || break
done
exit $code
