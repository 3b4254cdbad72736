# SPDX-License-Identifier: Apache-2.0
# Every kernel program is OpenCL C 1.2 for clang too, as is and as oclgrind gets it, and CUDA for nvcc, where it is
# installed. Compiles the programs that are not in the record (kernels.txt); `make check-kernels` gives
# RECORD=write and LONG=1: all programs, those that count lanes too, and a new record.
. "$(dirname "$0")/lib.sh"
. "$transcripts/texts.bash" || exit 1
[ -z "${MILL_SANITIZE:-}" ] || exit 77	# nothing new there
expect 0 list devices
grep -q opencl:0 out || exit 77	# no programs to compile

cl() { clang -x cl -cl-std=CL1.2 -fsyntax-only -Xclang -finclude-default-header -Wall -Wno-unused-function -Werror "$@"; }
check_clang() { cl "$1" && cl -DRACE_CHECK=1 "$1"; }
check_nvcc() { nvcc -x cu -arch=sm_75 -fmad=false -diag-suppress 177 -Werror all-warnings -c -o /dev/null "$1"; }

dump_texts "$scratch/texts"
[ -z "${LONG:-}" ] || dump_texts "$scratch/lanes" --lanes
[ "$failures" = 0 ] || done_testing
compiled=
for compiler in clang nvcc; do
	command -v $compiler >/dev/null || { echo "no $compiler: not checked with it"; continue; }
	programs=$(unknown_texts "$scratch/texts" $compiler)
	for program in $programs; do
		check_$compiler "texts/$program.cl" || failed "$compiler: $program"
		[ ! -f "lanes/$program.cl" ] || [ $compiler = nvcc ] || check_clang "lanes/$program.cl" || failed "$compiler: $program, lanes"
	done
	compiled="$compiled$compiler: $(wc -w <<<"$programs") of $(find texts -name '*.cl' | wc -l) programs are new. "
	if [ "${RECORD:-}" = write ] && [ "$failures" = 0 ]; then
		python3 -m kernels record "$record" "$scratch/texts" $compiler
	fi
done
[ -n "$compiled" ] || exit 77
echo "$compiled"
done_testing
