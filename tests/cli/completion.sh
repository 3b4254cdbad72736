# SPDX-License-Identifier: Apache-2.0
# Completion: in a bash that sources the script, and what it asks the program for.
. "$(dirname "$0")/lib.sh"

# completes WORD... : what bash offers for the last word, one a line, in ./out. bash itself splits words at = .
completes() {
	bash --norc --noprofile -c '
		shopt -u progcomp_alias; set -u
		source <("$1" completion bash)
		millrace=$1; shift
		COMP_WORDS=("$millrace" "$@"); COMP_CWORD=$#
		compopt() { :; }
		_millrace
		printf "%s\n" "${COMPREPLY[@]}"' - "$millrace" "$@" >out 2>err
	must [ ! -s err ]
}
offers() {
	local word
	for word; do
		grep -qxF -- "$word" out || failed "'$word' is not offered: $(tr '\n' ' ' <out)"
	done
}
only() { [ "$(tr '\n' ' ' <out)" = "$* " ] || failed "not $*: $(tr '\n' ' ' <out)"; }

# Commands, of algorithms too; everything that list shows is one.
completes ""; offers import generate plan lab bfs cdlp help completion
expect 0 list algorithms --json; cp out listed
completes ""
for name in $(python3 -c "import json; print(*[a['name'] for a in json.load(open('listed'))['algorithms']])"); do
	offers "$name"
done
completes pa; only pagerank
completes nonsense --so; only ""

# Options: those of the command and of its algorithm, which plan and lab know by their operand.
completes bfs g.mill --so; only --source
completes bfs g.mill --wa; only --warp
completes pagerank g.mill --pre; only --precision
completes bfs g.mill --pre; only ""
completes plan pagerank g.mill --pre; only --precision
completes lab --memory 1G cc g.mill --me; offers --method --memory
completes plan bfs g.mill --sou; only ""
completes generate kron --sca; only --scale
# Help and completion say the same, for every command.
completes ""
for command in $(cat out); do
	"$millrace" help "$command" | sed -n '/^options:/,/^$/s/^  \(--[a-z-]*\).*/\1/p' | sort >want
	completes "$command" --; sort out | grep . >got
	must cmp want got
done

# Words of choices, of texts that have some, of what the library lists; as a word of its own or behind an = .
completes cc g.mill --method ""; only auto afforest hooking labels
completes cc g.mill --method l; only labels
completes cc g.mill --method = h; only hooking
completes cc g.mill --method =; only auto afforest hooking labels
completes cc g.mill --method=h; only --method=hooking
completes triangles g.mill --lcc = d; only directed
completes triangles g.mill --lcc --che; only --check
completes bfs g.mill --source ma; only max-degree
completes bfs g.mill --policy g; only graphie gts
completes lab bfs g.mill --policies gts-; only gts-p gts-s
completes import x --format bv; offers bvgraph
completes export g.mill --format m; only mtx
completes bfs g.mill --wire c; only csr
# Operands; where there are no words the shell offers files.
completes plan p; only pagerank
completes lab ss; only sssp
completes list pol; only policies
completes help ver; only verify
completes generate gr; only grid
completes completion z; only zsh
completes bfs ""; only ""
completes bfs g.mill -o ""; only ""
completes bfs g.mill --json = ""; only ""
must [ "$(bash --norc -c 'source <("$1" completion bash); complete -p millrace' - "$millrace")" = "complete -o bashdefault -o default -F _millrace millrace" ]

# The other shells' scripts, read by those that are installed.
for shell in zsh fish; do
	expect 0 completion $shell; says "completion words --"
	if command -v $shell >/dev/null; then
		must $shell -n out
	fi
done
expect 2 completion; expect 2 completion tcsh; hints "bash, zsh or fish"; expect 2 completion bash zsh; expect 2 completion words
expect 0 completion --help; says "source <(millrace completion bash)"
done_testing
