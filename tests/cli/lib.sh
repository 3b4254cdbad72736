# SPDX-License-Identifier: Apache-2.0
# For the transcripts of this folder: `. lib.sh` gives a scratch folder to work in, removed at the
# end, and the following. A failed expectation prints its line and fails the test.
#
#	expect CODE ARG...     runs millrace; it must exit with the code, and unless that is 0, stderr is
#	                       one line that begins with "millrace: ". Leaves ./out and ./err.
#	says TEXT              the last stdout contains it;  hints TEXT: the last stderr does
#	silent                 the last stdout is empty
#	must COMMAND...        any other command must succeed
#	json FILE... EXPRESSION
#	                       a Python expression is true, in which r is the report in the file, and w
#	                       that in a second one. The files are kept as they are now; all expressions
#	                       are evaluated by one Python at the end.
#	near A.tsv B.tsv       the numbers of two results differ by at most 1e-6 of themselves; at the end too
#	value KEY FILE         prints the first value of this key in a report, at once
#
# `one_process` makes expect run its commands inside one process (in_process.c), which saves the start
# of the OpenCL driver. Not for what a process has once: peaks of memory, signals, the environment.
set -u
millrace=$(realpath "$1")
transcripts=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
export PYTHONPATH=$transcripts PYTHONDONTWRITEBYTECODE=1	# checks.py, kernels.py, seal.py
failures=0
n_checks=0
process=0
scratch=$(mktemp -d)
kept=$(mktemp -d)	# files for checks at the end
trap 'rm -rf "$scratch" "$kept"' EXIT
export XDG_CACHE_HOME=$scratch/.cache	# where plan keeps its measurements
cd "$scratch" || exit 1

failed() {
	echo "line ${BASH_LINENO[1]}: $*"
	failures=$((failures + 1))
}

# Starts the process that runs all further commands; without it they are processes of their own as before.
one_process() {
	local program
	program=$(dirname "$millrace")/in_process
	[ -x "$program" ] || return 0
	mkfifo "$kept/requests" "$kept/answers"
	"$program" "$kept/answers" <"$kept/requests" &
	process=$!
	exec {requests}>"$kept/requests" {answers}<"$kept/answers"
}

# run_millrace ARG...: runs millrace; sets got, leaves ./out and ./err
run_millrace() {
	got=0
	if [ $process = 0 ]; then
		"$millrace" "$@" >out 2>err </dev/null || got=$?
	else
		printf '%s\0' "${MILL_FAULT:-}" $# "$@" >&"$requests"
		read -r got <&"$answers" || got=crashed
	fi
}

# Waits for the process of one_process; it fails if a sanitizer found something.
process_end() {
	[ $process != 0 ] || return 0
	exec {requests}>&- {answers}<&-
	wait $process || failed "in_process: exit $?"
	process=0
}

expect() {
	local code=$1 got
	shift
	run_millrace "$@"
	if [ "$got" != "$code" ]; then
		failed "millrace $*: exit $got, expected $code: $(head -c 300 err)"
	elif [ "$code" != 0 ] && ! one_line; then
		failed "millrace $*: not one line on stderr: $(head -c 300 err)"
	fi
}

one_line() {
	local lines
	mapfile -t lines <err
	[ ${#lines[@]} = 1 ] && [[ ${lines[0]} == "millrace: "* ]]
}
says() { grep -qF -- "$1" out || failed "stdout lacks '$1': $(head -c 300 out)"; }
hints() { grep -qF -- "$1" err || failed "stderr lacks '$1': $(head -c 300 err)"; }
silent() { [ ! -s out ] || failed "stdout is not empty: $(head -c 300 out)"; }
must() { "$@" || failed "$*"; }
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2" | head -n 1; }

# keep KIND LINE TEXT FILE...: notes a check for the end
keep() {
	local kind=$1 line=$2 text=$3 file
	shift 3
	n_checks=$((n_checks + 1))
	printf '%s\0' "$kind" "$line" "$text" "$#" "$@" >>"$kept/checks"
	for file; do
		cat "$file" || failures=$((failures + 1))
		printf '\0'
	done >>"$kept/files"
}

json() { keep json "${BASH_LINENO[0]}" "${!#}" "${@:1:$#-1}"; }
near() { keep near "${BASH_LINENO[0]}" "" "$@"; }

# Evaluates what was kept; each failure prints its line.
evaluate() {
	[ $n_checks = 0 ] || python3 -m checks "$kept" || failures=$((failures + $?))
	n_checks=0
	: >"$kept/checks"
	: >"$kept/files"
}

# The last line of every transcript.
done_testing() {
	process_end
	evaluate
	[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
	exit "${1:-0}"
}

# The last line of a part of it: the rest cannot run here.
skip_rest() { done_testing 77; }
