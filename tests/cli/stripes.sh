# SPDX-License-Identifier: Apache-2.0
# Stores with pages that are spread over several directories.
. "$(dirname "$0")/lib.sh"

mkdir a b c home
kron="generate kron --scale 12 --seed 3 --weights u32 --codec raw --page-size 64K"
# shellcheck disable=SC2086
expect 0 $kron -o plain.mill
# shellcheck disable=SC2086
expect 0 $kron -o home/s.mill --stripe "$PWD/a,b,c"
must [ ! -e home/s.mill/out.pages ]
must [ "$(ls -d a/s.mill-* b/s.mill-* c/s.mill-* | wc -l)" = 3 ]
# Page j lies in stripe j mod 3; everything else is as it would be without.
must python3 - plain.mill/out.pages a/*/out.pages b/*/out.pages c/*/out.pages <<'PY'
import sys
whole, *parts = [open(f, "rb").read() for f in sys.argv[1:]]
pages = [whole[i:i + 65536] for i in range(0, len(whole), 65536)]
assert len(pages) > 6
sys.exit(any(b"".join(pages[k::3]) != parts[k] for k in range(3)))
PY
must cmp plain.mill/sums home/s.mill/sums

# One graph: the same results, the same export, in memory and streamed.
result() { python3 -c 'import json, sys; print(json.load(open("out"))["result"]["hash"])'; }
expect 0 export plain.mill -o plain.el
expect 0 export home/s.mill -o s.el; must cmp plain.el s.el
for command in "pagerank" "bfs --source max-degree" "sssp --source max-degree" "triangles"; do
	# shellcheck disable=SC2086
	expect 0 ${command%% *} plain.mill ${command#"${command%% *}"} --json; want=$(result)
	# shellcheck disable=SC2086
	expect 0 ${command%% *} home/s.mill ${command#"${command%% *}"} --check --json; must [ "$(result)" = "$want" ]
	# shellcheck disable=SC2086
	MILL_FAULT=hold:n=1 expect 0 ${command%% *} home/s.mill ${command#"${command%% *}"} --json; must [ "$(result)" = "$want" ]
done
expect 0 verify home/s.mill; says "sound"
expect 0 info home/s.mill; says "$PWD/a/s.mill-"; says "../../b/s.mill-"
expect 0 info home/s.mill --json; json out "len(r['store']['stripes']) == 3 and r['store']['format'] == 2"
expect 0 info plain.mill --json; json out "r['store']['stripes'] == []"

# A directed one has in-pages there too. More stripes than pages is fine, and so is no edge at all.
printf '0 1\n1 2\n2 0\n' >d.el
expect 0 import d.el -o d.mill --stripe a,b --json; json out "r['options']['stripe'] == 'a,b'"
expect 0 verify d.mill; must ls b/d.mill-*/in.pages >/dev/null
printf '' >e.el
expect 0 import e.el -o e.mill --stripe a,b
expect 0 verify e.mill

# Moved together, what was given relative is found; a link can be set anew.
mkdir moved moved/x && cp -a home/s.mill d.mill b c moved/x
rm -rf moved/x/s.mill
expect 5 verify moved/x/d.mill; hints "a/d.mill-"; hints "stripe.0"
cp -a a moved/x && expect 0 verify moved/x/d.mill
mv d.mill home/d.mill
expect 5 info home/d.mill; hints "is missing"
for link in home/d.mill/stripe.*; do ln -sfn "../$(readlink "$link")" "$link"; done
expect 0 verify home/d.mill
for link in home/d.mill/stripe.*; do ln -sfn "$(readlink -f "$link")" "$link"; done
mv home/d.mill d.mill

# Damage: one line and its code.
page=$(ls c/s.mill-*/out.pages)
cp "$page" kept
truncate -s -65536 "$page"; expect 4 bfs home/s.mill --source max-degree; hints "out.pages"
cp kept "$page"; printf '\377' | dd of="$page" bs=1 seek=65540 conv=notrunc status=none
expect 4 verify home/s.mill; hints "$(basename "$(dirname "$page")")/out.pages: the block at byte 65536"
rm "$page"; expect 4 info home/s.mill; hints "is missing"
cp kept "$page"; expect 0 verify home/s.mill
cp -a home/s.mill home/t.mill
first=$(readlink home/t.mill/stripe.1) second=$(readlink home/t.mill/stripe.2)
ln -sfn "$first" home/t.mill/stripe.2 && ln -sfn "$second" home/t.mill/stripe.1
expect 4 pagerank home/t.mill; hints "another stripe"
ln -sfn "$(readlink -f d.mill/stripe.1)" home/t.mill/stripe.1
expect 4 pagerank home/t.mill; hints "not stripe 1 of 3"
mkdir empty && ln -sfn ../../empty home/t.mill/stripe.1; expect 4 info home/t.mill
rm home/t.mill/stripe.1; expect 4 info home/t.mill
mv c gone; expect 5 verify home/s.mill; hints "c/s.mill-"; mv gone c
one=$(ls b/s.mill-*/out.pages) two=$(ls c/s.mill-*/out.pages)
if [ "$(stat -c %s "$one")" = "$(stat -c %s "$two")" ]; then
	mv "$one" x && mv "$two" "$one" && mv x "$two"
	expect 4 verify home/s.mill
	mv "$one" x && mv "$two" "$one" && mv x "$two"
fi
expect 0 verify home/s.mill

# --force removes the stripes of what it replaces, after it has; but not those to which a copy only has links.
folders() { find a b c -mindepth 1 -maxdepth 1 | sort; }
# shellcheck disable=SC2086
expect 0 $kron -o home/s.mill --stripe "$PWD/a,b,c" --force
must [ "$(folders | grep -c s.mill-)" = 3 ]
expect 0 verify home/s.mill
before=$(folders)
rm -rf home/t.mill && cp -a home/s.mill home/t.mill
expect 0 generate path --vertices 9 -o home/t.mill --force
must [ "$(folders)" = "$before" ]
expect 0 verify home/s.mill
mv home/s.mill home/r.mill
expect 0 generate path --vertices 9 -o home/r.mill --force
must [ -z "$(folders | grep s.mill-)" ]
# A copy that followed the links is whole in itself, and replaced as a whole.
cp -rL d.mill whole.mill && expect 0 verify whole.mill
touch whole.mill/stripe.0/mine; expect 2 generate path --vertices 4 -o whole.mill --force; hints "mine"
rm whole.mill/stripe.0/mine; expect 0 generate path --vertices 4 -o whole.mill --force
must [ ! -e whole.mill.new ]

# Refused.
before=$(folders)
expect 5 import d.el -o x.mill --stripe a,missing; hints "missing"
expect 2 import d.el -o x.mill --stripe a,./a; hints "the same directory"
expect 2 import d.el -o x.mill --stripe a,,b
expect 2 import d.el -o x.mill --stripe a,d.el
expect 2 import d.el -o x.mill --stripe "$(printf 'a,%.0s' {1..20})b"
must [ ! -e x.mill ]; must [ ! -e x.mill.new ]

# What fails leaves nothing: an early write, one in the middle, one of the last.
for n in 3 8 16; do
	# shellcheck disable=SC2086
	MILL_FAULT="io:op=write,n=$n,err=ENOSPC,sticky" expect 6 $kron -o x.mill --stripe a,b,c
	must [ "$(folders)" = "$before" ]; must [ ! -e x.mill ]; must [ ! -e x.mill.new ]
done
done_testing
