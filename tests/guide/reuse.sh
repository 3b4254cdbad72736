#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# reuse.sh COMPILER ARG...: a compiler launcher for a copy of the tree that differs in algo/algorithms.h and new files. Copies the object
# from the build folder $REUSE, where the source was compiled with the same options, unless it includes that header or the list of kernel
# texts; then compiles.
object="" last=""
for arg; do
	[ "$last" != -o ] || object=$arg
	last=$arg
done
case ${REUSE:-}/$object in
*/CMakeFiles/*.c.o)
	if [ -f "$REUSE/$object" ] && [ -f "$REUSE/$object.d" ] && ! grep -qE 'algo/algorithms\.h|/generated/' "$REUSE/$object.d"; then
		cp "$REUSE/$object" "$object" && cp "$REUSE/$object.d" "$object.d" && exit
	fi
	;;
esac
exec "$@"
