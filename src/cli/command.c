/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands. Between its two halves comes one command for each algorithm of the
 * library, so a new algorithm is a command without any change here.
 */
#include "cli/command.h"

#include <string.h>

#include "cli/message.h"

static const struct command before[] = {
	{ "import", cmd_import, 1, -1, "INPUT... -o STORE [options]",
	  "convert graph files to a store",
	  "Reads edge lists (two ids per line; blanks, tabs or commas between them; `#` and `%`\n"
	  "begin comments), Matrix Market, DIMACS .gr, METIS .graph, GAPBS .sg and .wsg, LDBC\n"
	  ".properties with .v and .e, BVGraph .graph with .properties, WebGraph's ASCII form\n"
	  "and raw binary edges; plain or compressed with gzip, zstd or bzip2. `-` is stdin. All\n"
	  "inputs become one store, which appears whole or not at all. One line says how the\n"
	  "input was understood.\n",
	  .example =
	  "  millrace import wiki-Vote.txt -o wiki.mill\n"
	  "  millrace import roads.el --undirected --weights 3 -o roads.mill\n"
	  "  millrace import cnr-2000.graph -o cnr.mill\n"
	  "  millrace import trust.csv --weights rating -o trust.mill\n"
	  "  millrace import genes.tsv --names -o genes.mill\n"
	  "  zcat part-*.gz | millrace import - --dedup first --loops drop -o web.mill\n" },
	{ "generate", cmd_generate, 1, 1, "KIND -o STORE [options]",
	  "make a store with a synthetic graph",
	  "`millrace list generators` shows the kinds. The same seed gives the same store on\n"
	  "any number of threads.\n",
	  .example =
	  "  millrace generate kron --scale 20 -o kron20.mill\n"
	  "  millrace generate uniform --vertices 1000000 --degree 8 --weights u32 -o u.mill\n" },
	{ "export", cmd_export, 1, 1, "STORE -o FILE [options]",
	  "write a store as a graph file",
	  "The suffix of FILE or --format chooses the format: an edge list (one edge per line,\n"
	  "with original ids and the weight if there is one), Matrix Market (.mtx), or GAPBS\n"
	  ".sg or .wsg.\n",
	  .example =
	  "  millrace export wiki.mill -o wiki.el\n"
	  "  millrace export wiki.mill -o - | sort -n | head\n" },
	{ "info", cmd_info, 1, 1, "STORE [options]",
	  "show what is in a store", NULL,
	  .example =
	  "  millrace info wiki.mill\n"
	  "  millrace info wiki.mill --json\n" },
	{ "verify", cmd_verify, 1, 1, "STORE [options]",
	  "check every checksum and invariant of a store",
	  "The exit code is 4 if the store is corrupt.\n",
	  .example =
	  "  millrace verify wiki.mill\n" },
	{ "plan", cmd_plan, 2, 2, "ALGO STORE [options]",
	  "predict memory, bytes, passes and time of a run, without running",
	  "Takes the options of the algorithm that change what it needs. Times come from the\n"
	  "cost models of GTS and constants of this machine. The constants are measured once\n"
	  "for each graph, in about a second, and kept in $XDG_CACHE_HOME/millrace or\n"
	  "~/.cache/millrace. Later runs show the prediction beside the real numbers.\n",
	  .example =
	  "  millrace plan pagerank web.mill --memory 2G\n"
	  "  millrace plan bfs web.mill --memory 25% -o depths.tsv\n",
	  .of_algorithm = true, .predicts = true },
	{ "lab", cmd_lab, 2, 2, "ALGO STORE [options]",
	  "run on a device under several policies and compare them in a table",
	  "Takes the options of the algorithm. A row is a policy: which pages go to the device.\n"
	  "  all                            all pages in each step\n"
	  "  active                         pages with work\n"
	  "  reuse                          pages with work that are not on the device yet\n"
	  "  fifo, lru, frequency, pinned   as reuse, with this rule for the page to evict\n"
	  "  graphie, graphie-*             Graphie; Graphie without some of its ideas\n"
	  "  gts, gts-p, gts-s              GTS; GTS on several devices, by strategy P or S\n"
	  "  largegraph, largegraph-*       LargeGraph; it without kept chunks, or on one side\n"
	  "  subway, subway-async           Subway: only active rows cross, and nothing stays\n"
	  "The rows of the last two lines run only if --policies names them.\n"
	  "Only gts-p and gts-s use all devices; other rows use the first. With --mappings the\n"
	  "rows are ways to give edges to work-items. A row ignores options of other policies.\n"
	  "\n"
	  "The column `hit rate` is the share of used pages that were on the device already;\n"
	  "B/(S+L) is the share of its pages that gts can keep there. Counts are those of the\n"
	  "first run, which also compiles kernels: use --repeat to compare times. All rows must\n"
	  "have the same result: exit 11 if not (sums of floats may differ in their last bits).\n"
	  "A row with a budget that is too small says what it needs; exit 7 only if all are.\n",
	  .example =
	  "  millrace lab bfs web.mill --source max-degree\n"
	  "  millrace lab sssp web.mill --budgets 10%,25%,50%,100% --policies all,active,reuse\n"
	  "  millrace lab pagerank web.mill --exact --device-memory 32M --check --plot pages.svg\n"
	  "  millrace lab bfs web.mill --mappings --device opencl:0\n"
	  "  millrace lab sssp web.mill --wires edges,csr --queue-counts 1,8,32 --plot queues.svg\n"
	  "  millrace lab bfs web.mill --device-memory 200% --device-caches 0,10%,25%,50%,100%\n"
	  "  millrace lab pagerank web.mill --device opencl:0/2 --policies gts,gts-p,gts-s\n"
	  "  millrace lab bfs web.mill --mappings --policies gts --json=lab.json\n",
	  .of_algorithm = true, .compares = true },
};

static const struct command after[] = {
	{ "list", cmd_list, 0, 1, "[TOPIC] [options]",
	  "list algorithms, devices, policies, formats or generators", NULL,
	  .example =
	  "  millrace list\n"
	  "  millrace list devices\n" },
	{ "completion", cmd_completion, 1, -1, "SHELL",
	  "print a script that completes commands and options in bash, zsh or fish",
	  "The script calls `completion words -- WORD...`, which prints the words that the last\n"
	  "word can become, one per line.\n",
	  .example =
	  "  source <(millrace completion bash)\n"
	  "  source <(millrace completion zsh)\n"
	  "  millrace completion fish | source\n" },
	{ "help", cmd_help, 0, 1, "[COMMAND]",
	  "show this page, or the options of a command", NULL,
	  .example =
	  "  millrace help bfs\n" },
};

#define N_BEFORE (sizeof(before) / sizeof(before[0]))
#define N_AFTER (sizeof(after) / sizeof(after[0]))

static struct command algorithm_command(const struct mill_algorithm *a)
{
	return (struct command){ a->name, cmd_run, 1, 1, "STORE [options]", a->summary, a->help,
				 a->examples, .algorithm = a };
}

bool command_at(struct command *out, size_t i)
{
	const struct mill_algorithm *a = mill_algorithms();

	if (i < N_BEFORE) {
		*out = before[i];
		return true;
	}
	for (i -= N_BEFORE; a->name; a++)
		if (!i--) {
			*out = algorithm_command(a);
			return true;
		}
	if (i >= N_AFTER)
		return false;
	*out = after[i];
	return true;
}

bool command_find(struct command *out, const char *name)
{
	size_t i;

	for (i = 0; command_at(out, i); i++)
		if (!strcmp(out->name, name))
			return true;
	return false;
}

mill_err command_unknown(const char *name)
{
	struct nearest near = { .word = name };
	struct command c;
	size_t i;

	for (i = 0; command_at(&c, i); i++)
		nearest_try(&near, c.name);
	if (nearest_found(&near))
		return refuse(MILL_EUSAGE, "unknown command '%s'; did you mean '%s'?", name,
			      nearest_found(&near));
	return refuse(MILL_EUSAGE, "unknown command '%s'; see `millrace help`", name);
}

mill_err algorithm_unknown(const char *name)
{
	struct nearest near = { .word = name };
	const struct mill_algorithm *a;

	for (a = mill_algorithms(); a->name; a++)
		nearest_try(&near, a->name);
	if (nearest_found(&near))
		return refuse(MILL_EUSAGE, "unknown algorithm '%s'; did you mean '%s'?", name,
			      nearest_found(&near));
	return refuse(MILL_EUSAGE, "unknown algorithm '%s'; see `millrace list algorithms`", name);
}
