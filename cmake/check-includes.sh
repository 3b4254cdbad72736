#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the #include lines of src/ against the order of folders in ARCHITECTURE.md:
#	base < {store, device} < {model, stream} < transfer < policy < engine < op < algo;
#	import sees base and store; cli sees millrace.h only;
#	OpenCL is called in src/device/opencl*.[ch] only.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0

allow() { # FOLDER SEEN...
	local folder=$1 seen lines
	[ -d "src/$folder" ] || return 0
	seen=$(IFS='|'; echo "${*:2}")
	lines=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "src/$folder" |
		grep -vE "include[[:space:]]*\"($seen)/" || true)
	if [ -n "$lines" ]; then
		echo "src/$folder may include only from: ${*:2}"
		echo "$lines"
		bad=1
	fi
}

allow base base
allow store base store
allow device base device
allow model base store device model
allow stream base store device stream
allow transfer base store device stream transfer
allow policy base store device stream transfer policy
allow engine base store device model stream transfer policy engine
allow op base store device model stream transfer policy engine op
allow algo base store device model stream transfer policy engine op algo
allow import base store import
allow cli cli

# Code compares pointers to policies; only the look-up compares their names.
names=$(grep -rnE 'strcmp\([^)]*(policy|"(graphie|gts)")' src --include='*.[ch]' |
	grep -v '^src/policy/policy.c:' || true)
if [ -n "$names" ]; then
	echo "the name of a policy is compared outside src/policy/policy.c:"
	echo "$names"
	bad=1
fi

# No algorithm knows a policy; only the lab's table of variants names them.
named=$(grep -rniE 'graphie|gts|fleet|partition' src/algo |
	grep -v '^src/algo/lab[a-z_]*\.[ch]:' || true)
if [ -n "$named" ]; then
	echo "an algorithm names a policy:"
	echo "$named"
	bad=1
fi

calls=$(grep -rnE '\bcl[A-Z][A-Za-z]*[[:space:]]*\(|<CL/' src --include='*.[ch]' --include='*.inc' |
	grep -v '^src/device/opencl[a-z_]*\.[ch]:' || true)
if [ -n "$calls" ]; then
	echo "OpenCL is called outside src/device/opencl*.[ch]:"
	echo "$calls"
	bad=1
fi
exit $bad
