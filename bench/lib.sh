# SPDX-License-Identifier: Apache-2.0
# value REPORT KEY: the first value of a key in a JSON report (which has one key per line).
value() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\).*/\1/p" "$1" | head -n 1; }
# mib BYTES
mib() { echo $((($1 + 524288) / 1048576)) MiB; }
# Leaves where there is no OpenCL device.
need_opencl() {
	"$millrace" list devices --quiet --json=devices.json
	grep -q '"opencl' devices.json || { echo "no OpenCL device"; exit 1; }
}
# make_store NAME COMMAND...: a store is made once.
make_store() {
	local store=$1.mill
	shift
	[ -e "$store" ] || "$millrace" "$@" -o "$store" --quiet
}
