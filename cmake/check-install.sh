#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-install.sh BUILD: checks that the public header compiles alone, in C and in C++; that
# programs find an installation of BUILD with pkg-config and with CMake; that the code of
# docs/api.md builds and runs; and that uninstalling removes every file.
set -euo pipefail
cd "$(dirname "$0")/.."
unset DESTDIR
build=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cc -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -xc include/millrace.h
g++ -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only -xc++ include/millrace.h

prefix=$scratch/usr
cmake --install "$build" --prefix "$prefix" >/dev/null
lib=$(dirname "$(find "$prefix" -name millrace.pc)")/..
export LD_LIBRARY_PATH=$lib PKG_CONFIG_PATH=$lib/pkgconfig
"$prefix/bin/millrace" generate kron --scale 10 --seed 1 -o "$scratch/g.mill" --quiet

# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror examples/depths.c -o "$scratch/by-pkg-config" \
	$(pkg-config --cflags --libs millrace)
cmake -S examples -B "$scratch/by-cmake" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$scratch/by-cmake" >/dev/null
"$scratch/by-pkg-config" "$scratch/g.mill" >"$scratch/one"
"$scratch/by-cmake/depths" "$scratch/g.mill" >"$scratch/two"
"$scratch/by-cmake/depths-static" "$scratch/g.mill" >"$scratch/three"
grep -q '^depth 0: 1$' "$scratch/one"
cmp "$scratch/one" "$scratch/two"
cmp "$scratch/one" "$scratch/three"

# The C blocks of docs/api.md: the first is a program, the others together are one file.
mkdir "$scratch/api"
awk -v dir="$scratch/api" '/^```c$/ { n++; on = 1; next } /^```/ { on = 0 } on { print > (dir "/" (n == 1 ? "program.c" : "tour.c")) }' docs/api.md
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror "$scratch/api/program.c" -o "$scratch/api/program" $(pkg-config --cflags --libs millrace)
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror "$scratch/api/tour.c" tests/guide/api_main.c -o "$scratch/api/tour" $(pkg-config --cflags --libs millrace)
(
	cd "$scratch/api"
	printf '0 1\n1 2\n2 0\n2 3\n' >edges.el
	./tour >tour.txt
	[ -s ranks.tsv ] && [ -s tour.txt ]
	./program web.mill | grep -q .
)

cmake -DMANIFEST="$build/install_manifest.txt" -P cmake/uninstall.cmake >/dev/null
left=$(find "$prefix" -type f -o -type l)
[ -z "$left" ] || { echo "uninstall left: $left"; exit 1; }

# Both install and uninstall put DESTDIR before the prefix.
export DESTDIR=$scratch/dest
cmake --install "$build" --prefix /usr >/dev/null
[ -x "$scratch/dest/usr/bin/millrace" ]
cmake -DMANIFEST="$build/install_manifest.txt" -P cmake/uninstall.cmake >/dev/null
[ ! -e "$scratch/dest/usr/bin/millrace" ]
echo "header, installation and examples: fine"
