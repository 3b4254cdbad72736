# SPDX-License-Identifier: Apache-2.0
# For the transcripts of this folder: `. lib.sh` gives a scratch folder to work in, removed at the
# end, and the following. A failed expectation is told with its line and fails the test.
#
#	expect CODE ARG...     runs millrace; the code must be this, and with any other than 0 stderr is
#	                       one line that begins with "millrace: ". Leaves ./out and ./err.
#	says TEXT              the last stdout holds it;  hints TEXT: the last stderr does
#	silent                 the last stdout is empty
#	must COMMAND...        any other command must succeed
#	json FILE EXPRESSION   a Python expression over r, the report in the file, is true
set -u
millrace=$(realpath "$1")
PYTHONPATH=$(realpath "$(dirname "${BASH_SOURCE[0]}")")	# seal.py
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/.cache	# where plan keeps what it measured
cd "$scratch" || exit 1

failed() {
	echo "line ${BASH_LINENO[1]}: $*"
	failures=$((failures + 1))
}

expect() {
	local code=$1 got=0
	shift
	"$millrace" "$@" >out 2>err </dev/null || got=$?
	if [ "$got" != "$code" ]; then
		failed "millrace $*: exit $got, expected $code: $(head -c 300 err)"
	elif [ "$code" != 0 ] && ! one_line; then
		failed "millrace $*: not one line on stderr: $(head -c 300 err)"
	fi
}

one_line() { [ "$(wc -l <err)" = 1 ] && [ "$(head -c 10 err)" = "millrace: " ]; }
says() { grep -qF -- "$1" out || failed "stdout lacks '$1': $(head -c 300 out)"; }
hints() { grep -qF -- "$1" err || failed "stderr lacks '$1': $(head -c 300 err)"; }
silent() { [ ! -s out ] || failed "stdout is not empty: $(head -c 300 out)"; }
must() { "$@" || failed "$*"; }

json() {
	python3 - "$1" "$2" <<'PY' || failed "$1: not so: $2"
import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))
PY
}

# The last line of every transcript.
done_testing() {
	[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
	exit 0
}
