/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: those of the table, and between them one for each algorithm. */
#include "cli/command.h"

#include <string.h>

#include "cli/message.h"

static const struct command before[] = {
	{ "import", cmd_import, 1, -1, "INPUT... -o STORE [options]",
	  "make a store of graph files",
	  "Reads edge lists (two ids per line, `#` and `%` comments, blanks, tabs or commas), Matrix\n"
	  "Market, DIMACS .gr, METIS .graph, GAPBS .sg and .wsg, LDBC .properties with .v and .e,\n"
	  "BVGraph .graph with .properties, WebGraph's ASCII form and raw binary edges, plain or packed\n"
	  "by gzip, zstd or bzip2 (- is stdin), and makes one store of all of them, all or nothing. One\n"
	  "line says how the input was understood.\n",
	  .example = "  millrace import wiki-Vote.txt -o wiki.mill\n"
	  "  millrace import roads.el --undirected --weights 3 -o roads.mill\n"
	  "  millrace import cnr-2000.graph -o cnr.mill\n"
	  "  millrace import trust.csv --weights rating -o trust.mill\n"
	  "  millrace import genes.tsv --names -o genes.mill\n"
	  "  zcat part-*.gz | millrace import - --dedup first --loops drop -o web.mill\n" },
	{ "generate", cmd_generate, 1, 1, "KIND -o STORE [options]",
	  "make a store of a synthetic graph",
	  "The kinds are in `millrace list generators`. The same seed gives the same store on any\n"
	  "number of threads.\n",
	  .example = "  millrace generate kron --scale 20 -o kron20.mill\n"
	  "  millrace generate uniform --vertices 1000000 --degree 8 --weights u32 --seed 7 -o u.mill\n" },
	{ "export", cmd_export, 1, 1, "STORE -o FILE [options]",
	  "write a store as a graph file",
	  "By the suffix or --format: an edge list (one edge per line by original id, with the weight if\n"
	  "there is one), Matrix Market (.mtx) or GAPBS's .sg and .wsg.\n",
	  .example = "  millrace export wiki.mill -o wiki.el\n"
	  "  millrace export wiki.mill -o - | sort -n | head\n" },
	{ "info", cmd_info, 1, 1, "STORE [options]", "what is in a store", NULL,
	  .example = "  millrace info wiki.mill\n"
	  "  millrace info wiki.mill --json\n" },
	{ "verify", cmd_verify, 1, 1, "STORE [options]",
	  "check every checksum and invariant of a store",
	  "Exit 4 if the store is corrupt.\n", .example = "  millrace verify wiki.mill\n" },
	{ "plan", cmd_plan, 2, 2, "ALGO STORE [options]",
	  "what a run would need and how long it would take, before running",
	  "Takes those options of the algorithm that change what it needs. Times come from a cost model\n"
	  "(GTS's) and constants of this machine, which are measured once for each graph, in about a second,\n"
	  "and kept in $XDG_CACHE_HOME/millrace or ~/.cache/millrace; reports of runs compare with them.\n",
	  .example = "  millrace plan pagerank web.mill --memory 2G\n"
	  "  millrace plan bfs web.mill --memory 25% -o depths.tsv\n",
	  .of_algorithm = true, .predicts = true },
	{ "lab", cmd_lab, 2, 2, "ALGO STORE [options]",
	  "the same run on a device under several policies, as a table",
	  "Takes the options of the algorithm. The rows are policies of what crosses to the device: all pages\n"
	  "in each step (all), those with work in them (active), of these the ones that are not there yet\n"
	  "(reuse), and the ways to choose the page that gives way: fifo, lru, frequency, pinned; then whole\n"
	  "systems: graphie, and what its parts buy, and gts. Of several devices gts-p and gts-s use all, by\n"
	  "strategy P and S, all other rows the first. With --mappings rows are ways to give edges to\n"
	  "work-items. Options of graphie and gts say nothing to other rows. The hit rate is of pages that were\n"
	  "on the device already when they were used; B/(S+L) is the part of its pages that gts can keep there.\n"
	  "Results must be the same in all rows (exit 11 if not; sums of floats may differ in their last bits).\n"
	  "A budget that is too small for the vertices says what it needs; exit 7 only if that holds for all.\n"
	  "Counts are those of a first run, which also compiles kernels: times are worth more with --repeat.\n",
	  .example = "  millrace lab bfs web.mill --source max-degree\n"
	  "  millrace lab sssp web.mill --budgets 10%,25%,50%,100% --policies all,active,reuse --json=lab.json\n"
	  "  millrace lab pagerank web.mill --exact --device-memory 32M --check --plot pages.svg\n"
	  "  millrace lab bfs web.mill --mappings --device opencl:0\n"
	  "  millrace lab sssp web.mill --wires edges,csr,packed --queue-counts 1,8,32 --plot queues.svg\n"
	  "  millrace lab bfs web.mill --device-memory 200% --device-caches 0,10%,25%,50%,100% --plot hits.svg\n"
	  "  millrace lab pagerank web.mill --device opencl:0/2 --policies gts,gts-p,gts-s\n"
	  "  millrace lab bfs web.mill --mappings --policies gts\n",
	  .of_algorithm = true, .compares = true },
};

static const struct command after[] = {
	{ "list", cmd_list, 0, 1, "[WHAT] [options]",
	  "what there is: algorithms, devices, policies, formats, generators", NULL,
	  .example = "  millrace list\n"
	  "  millrace list devices\n" },
	{ "completion", cmd_completion, 1, -1, "SHELL",
	  "a script for bash, zsh or fish that completes commands, options and their words",
	  "`completion words -- WORD...` is what the script asks: what the last word may be, a line each.\n",
	  .example = "  source <(millrace completion bash)\n"
	  "  source <(millrace completion zsh)\n"
	  "  millrace completion fish | source\n" },
	{ "help", cmd_help, 0, 1, "[COMMAND]",
	  "this, or the options of a command", NULL, .example = "  millrace help bfs\n" },
};

#define N_BEFORE (sizeof(before) / sizeof(before[0]))
#define N_AFTER (sizeof(after) / sizeof(after[0]))

static struct command algorithm_command(const struct mill_algorithm *a)
{
	return (struct command){ a->name, cmd_run, 1, 1, "STORE [options]", a->summary, a->help, a->examples, .algorithm = a };
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
		return refuse(MILL_EUSAGE, "unknown command '%s'; did you mean '%s'?", name, nearest_found(&near));
	return refuse(MILL_EUSAGE, "unknown command '%s'; see `millrace help`", name);
}

mill_err algorithm_unknown(const char *name)
{
	struct nearest near = { .word = name };
	const struct mill_algorithm *a;

	for (a = mill_algorithms(); a->name; a++)
		nearest_try(&near, a->name);
	if (nearest_found(&near))
		return refuse(MILL_EUSAGE, "unknown algorithm '%s'; did you mean '%s'?", name, nearest_found(&near));
	return refuse(MILL_EUSAGE, "unknown algorithm '%s'; see `millrace list algorithms`", name);
}
