# SPDX-License-Identifier: Apache-2.0
# value REPORT KEY: the first value of a key in a JSON report (which has one key per line).
value() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\).*/\1/p" "$1" | head -n 1; }
# mib BYTES
mib() { echo $((($1 + 524288) / 1048576)) MiB; }
