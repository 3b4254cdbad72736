# SPDX-License-Identifier: Apache-2.0
# Stores that were damaged: exit 4 from verify always, and never a wrong result or a crash.
. "$(dirname "$0")/lib.sh"

expect 0 generate kron --scale 7 --seed 1 --page-size 64K -o good.mill
expect 0 verify good.mill

for file in good.mill/*; do
	name=$(basename "$file")
	size=$(stat -c %s "$file")
	for at in 0 $((size / 3)) $((size - 1)); do
		rm -rf bad.mill && cp -r good.mill bad.mill
		python3 - "bad.mill/$name" "$at" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); b = f.read(1)[0]
    f.seek(int(sys.argv[2])); f.write(bytes([b ^ 16]))
PY
		expect 4 verify bad.mill; hints "bad.mill"
		"$millrace" bfs bad.mill --source max-degree >out 2>err
		case $? in 0 | 4) ;; *) failed "bfs of a store with $name altered at $at: $(cat err)" ;; esac
	done
	for left in $((size - 1)) $((size / 2)) 0; do
		rm -rf bad.mill && cp -r good.mill bad.mill
		truncate -s $left "bad.mill/$name"
		expect 4 verify bad.mill
	done
	rm -rf bad.mill && cp -r good.mill bad.mill
	rm "bad.mill/$name"
	"$millrace" verify bad.mill >out 2>err
	case $? in 3 | 4 | 5) ;; *) failed "verify without $name: $(cat err)" ;; esac
	must one_line
done

# A page of the altered kind is found by the run that reads it.
rm -rf bad.mill && cp -r good.mill bad.mill
printf '\377' | dd of=bad.mill/out.pages bs=1 seek=100 conv=notrunc status=none
expect 4 bfs bad.mill --source max-degree; hints "out.pages"

# A later format, whole in itself, is not corrupt: it is newer (the checksum is believed first).
python3 - good.mill/manifest newer <<'PY'
import re, seal, sys
body = seal.manifest_body(open(sys.argv[1], "rb").read())
seal.put_manifest(sys.argv[2], re.sub(rb"^millrace-store \d+", b"millrace-store 99", body))
PY
rm -rf bad.mill && cp -r good.mill bad.mill && must cp newer bad.mill/manifest
expect 3 info bad.mill; hints "99"
sed -i 's/^vertices .*/vertices 5/' bad.mill/manifest
expect 4 info bad.mill
expect 0 verify good.mill
done_testing
