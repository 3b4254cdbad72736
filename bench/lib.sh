# SPDX-License-Identifier: Apache-2.0
# Functions that the benchmarks share.
# value REPORT KEY: prints the first value of a key in a JSON report (which has one key per line).
value() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\).*/\1/p" "$1" | head -n 1; }
# median: prints the median of the numbers on stdin.
median() { sort -g | awk '{ x[NR] = $1 } END { if (NR) print x[int((NR + 1) / 2)] }'; }
# find_peer NAME: prints the path of a peer's program below the folder $peers, or nothing.
find_peer() {
	[ -z "${peers:-}" ] ||
		find -L "$peers" -maxdepth 3 -type f -name "$1" -not -path '*/bin/*' -perm -u+x |
		head -n 1
}
# mib BYTES: prints them in MiB.
mib() { echo $((($1 + 524288) / 1048576)) MiB; }
# need_opencl: ends the script if there is no OpenCL device.
need_opencl() {
	"$millrace" list devices --quiet --json=devices.json
	grep -q '"opencl' devices.json || { echo "no OpenCL device"; exit 1; }
}
# make_store NAME COMMAND...: makes the store NAME.mill unless it exists.
make_store() {
	local store=$1.mill
	shift
	[ -e "$store" ] || "$millrace" "$@" -o "$store" --quiet
}
