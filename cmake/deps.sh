#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh build|test|fuzz: installs the Debian packages that are needed and missing. If none is
# missing, it prints nothing and uses no network. It looks for the content of a package (a
# program, a header, a library), not for its name, so that a compiler from another source is
# found too.
set -euo pipefail

program() { command -v "$1" >/dev/null 2>&1; }
header() { echo "#include <$1>" | cc -E -xc - >/dev/null 2>&1; }
library() {
	ldconfig -p 2>/dev/null | grep -q "$1" ||
		PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -q "$1"
}
vendor() { compgen -G "/etc/OpenCL/vendors/$1*.icd" >/dev/null; }
fuzzer() {
	program clang || return
	compgen -G "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-*.a" >/dev/null
}
module() { program pkg-config && pkg-config --exists "$1"; }

missing=()
need() { # PACKAGE PROBE...
	local package=$1
	shift
	"$@" || missing+=("$package")
}

need gcc program cc
need make program make
need cmake program cmake
need libc6-dev header stdlib.h
need zlib1g-dev header zlib.h
need libzstd-dev header zstd.h
need libbz2-dev header bzlib.h
need libxxhash-dev header xxhash.h
need liburing-dev header liburing.h
need opencl-c-headers header CL/cl.h
if [ "${1:-}" = test ]; then
	need g++ program g++
	need pkg-config program pkg-config
	need libcmocka-dev header cmocka.h
	need libigraph-dev module igraph
	need ocl-icd-libopencl1 library libOpenCL.so.1
	need pocl-opencl-icd vendor pocl
	need oclgrind program oclgrind
	need clang program clang
	need python3 program python3
fi
if [ "${1:-}" = fuzz ]; then
	need clang program clang
	need libclang-rt-dev fuzzer
fi
[ ${#missing[@]} -gt 0 ] || exit 0

if ! program apt-get; then
	echo "no apt-get: please install the content of these Debian packages: ${missing[*]}" >&2
	exit 1
fi
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
install=("${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}")
"${install[@]}" >/dev/null 2>&1 && exit
"${as_root[@]}" apt-get update -q >/dev/null
"${install[@]}"
