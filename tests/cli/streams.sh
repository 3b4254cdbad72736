# SPDX-License-Identifier: Apache-2.0
# Standard output that is full, closed or gone; signals; the progress bar.
. "$(dirname "$0")/lib.sh"

expect 0 generate kron --scale 10 --seed 1 -o g.mill

code() { # EXPECTED COMMAND...: in bash, with stderr in err
	local want=$1 got=0
	shift
	bash -c "$@" 2>err || got=$?
	[[ " $want " == *" $got "* ]] || failed "$*: exit $got, expected $want: $(head -c 300 err)"
	[ "$got" = 0 ] || must one_line
}
m=$(printf %q "$millrace")
for command in "info g.mill" "info g.mill --json" "help" "list" "--version" "bfs g.mill" "bfs g.mill --json" \
	"bfs g.mill -o -" "export g.mill -o -" "verify g.mill"; do
	code "5 6" "$m $command >/dev/full"
	code "5" "$m $command >&-"
	code "5" "{ sleep 0.2; $m $command; } | true; exit \${PIPESTATUS[0]}"	# true is gone by then
done
code "0" "$m bfs g.mill --quiet >&-"
code "0" "$m info g.mill <&- >out"

# Signals: the code, one line, the partial report, nothing left behind. -m: a shell without job control
# starts jobs with SIGINT ignored.
stopped() { # SIGNAL CODE ARG...
	local signal=$1 want=$2 got=0 pid
	shift 2
	"$millrace" "$@" >out 2>err &
	pid=$!
	sleep 0.7
	kill -"$signal" $pid || failed "millrace $* ended before the signal: $(head -c 300 err)"
	wait $pid || got=$?
	[ "$got" = "$want" ] || failed "millrace $*: exit $got after SIG$signal, expected $want: $(head -c 300 err)"
	must one_line
}
set -m
stopped INT 130 bfs g.mill --repeat 1000000 --json=partial.json
json partial.json "r['error']['code'] == 130 and r['store']['vertices'] == 1024 and len(r['runs']) > 0"
stopped TERM 143 pagerank g.mill --repeat 1000000 --json
json out "r['error']['code'] == 143"
stopped INT 130 generate kron --scale 23 -o big.mill
must [ ! -e big.mill ]; must [ ! -e big.mill.new ]

# In the middle of an algorithm, as the bar says: the supersteps so far are in the report, and the trace.
mkfifo bar
within() { # SIGNAL CODE PHASE ARG...: PHASE is a pattern
	local signal=$1 want=$2 phase=$3 got=0 pid line
	shift 3
	"$millrace" "$@" --progress=always >out 2>bar &
	pid=$!
	exec 3<bar
	while read -r line <&3 && ! [[ "$line" =~ ^$phase\  ]]; do :; done
	kill -"$signal" $pid || failed "millrace $* ended before it was in $phase"
	grep "^millrace: " <&3 >err	# the bar may have gone on
	exec 3<&-
	wait $pid || got=$?
	[ "$got" = "$want" ] || failed "millrace $*: exit $got after SIG$signal, expected $want: $(head -c 300 err)"
	must one_line
}
within INT 130 "pagerank pass ([2-9]|[0-9]{2,})" pagerank g.mill --tolerance 0 --iterations 1000000000 --check -o x.tsv --json=partial.json --trace t.json
json partial.json "r['error']['code'] == 130 and 'SIGINT' in r['error']['message'] and r['check'] is None and r['runs'] == []"
json partial.json "len(r['supersteps']) > 0 and r['iterations'] >= len(r['supersteps']) and r['result']['hash'] is None"
json partial.json "r['seconds']['run'] is None and r['seconds']['load'] is not None and r['updates'] is not None"
json t.json "sum(e['name'] == 'scan' for e in r['traceEvents']) > 0"
must [ ! -e x.tsv ]; must [ -z "$(find . -name '*.partial*')" ]
within TERM 143 "bfs step [0-9]+" bfs g.mill --repeat 1000000 --check --json
json out "r['error']['code'] == 143 and r['check'] is None and r['iterations'] is not None"
set +m

# Progress: only where it is wanted, never on stdout.
expect 0 verify g.mill; must [ ! -s err ]
expect 0 generate kron --scale 18 -o p.mill --progress=always; must [ -s err ]
must bash -c '! grep -q "$(printf "\033")" err'
done_testing
