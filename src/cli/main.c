/* SPDX-License-Identifier: Apache-2.0 */
/* The millrace command: a table of commands and one way in and out of them. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/report.h"

const struct command commands[] = {
	{ "import", FOR_IMPORT, cmd_import, 1, -1, "INPUT... -o STORE [options]",
	  "make a store of graph files",
	  "Reads edge lists (two ids per line, `#` and `%` comments, blanks, tabs or commas), Matrix\n"
	  "Market, DIMACS .gr, METIS .graph, GAPBS .sg and .wsg, LDBC .properties with .v and .e,\n"
	  "BVGraph .graph with .properties, WebGraph's ASCII form and raw binary edges, plain or packed\n"
	  "by gzip, zstd or bzip2 (- is stdin), and makes one store of all of them, all or nothing. One\n"
	  "line says how the input was understood.\n",
	  "  millrace import wiki-Vote.txt -o wiki.mill\n"
	  "  millrace import roads.el --undirected --weights 3 -o roads.mill\n"
	  "  millrace import cnr-2000.graph -o cnr.mill\n"
	  "  millrace import trust.csv --weights rating -o trust.mill\n"
	  "  millrace import genes.tsv --names -o genes.mill\n"
	  "  zcat part-*.gz | millrace import - --dedup first --loops drop -o web.mill\n" },
	{ "generate", FOR_GENERATE, cmd_generate, 1, 1, "KIND -o STORE [options]",
	  "make a store of a synthetic graph",
	  "The kinds are in `millrace list generators`. The same seed gives the same store on any\n"
	  "number of threads.\n",
	  "  millrace generate kron --scale 20 -o kron20.mill\n"
	  "  millrace generate uniform --vertices 1000000 --degree 8 --weights u32 --seed 7 -o u.mill\n" },
	{ "export", FOR_EXPORT, cmd_export, 1, 1, "STORE -o FILE [options]",
	  "write a store as a graph file",
	  "By the suffix or --format: an edge list (one edge per line by original id, with the weight if\n"
	  "there is one), Matrix Market (.mtx) or GAPBS's .sg and .wsg.\n",
	  "  millrace export wiki.mill -o wiki.el\n"
	  "  millrace export wiki.mill -o - | sort -n | head\n" },
	{ "info", FOR_INFO, cmd_info, 1, 1, "STORE [options]", "what is in a store", NULL,
	  "  millrace info wiki.mill\n"
	  "  millrace info wiki.mill --json\n" },
	{ "verify", FOR_VERIFY, cmd_verify, 1, 1, "STORE [options]",
	  "check every checksum and invariant of a store",
	  "Exit 4 if the store is corrupt.\n", "  millrace verify wiki.mill\n" },
	{ "plan", FOR_PLAN, cmd_plan, 2, 2, "ALGO STORE [options]",
	  "what a run would need and how long it would take, before running",
	  "Takes those options of the algorithm that change what it needs. Times come from a cost model\n"
	  "(GTS's) and constants of this machine, which are measured once for each graph, in about a second,\n"
	  "and kept in $XDG_CACHE_HOME/millrace or ~/.cache/millrace; reports of runs compare with them.\n",
	  "  millrace plan pagerank web.mill --memory 2G\n"
	  "  millrace plan bfs web.mill --memory 25% -o depths.tsv\n" },
	{ "lab", FOR_LAB, cmd_lab, 2, 2, "ALGO STORE [options]",
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
	  "  millrace lab bfs web.mill --source max-degree\n"
	  "  millrace lab sssp web.mill --budgets 10%,25%,50%,100% --policies all,active,reuse --json=lab.json\n"
	  "  millrace lab pagerank web.mill --exact --device-memory 32M --check --plot pages.svg\n"
	  "  millrace lab bfs web.mill --mappings --device opencl:0\n"
	  "  millrace lab sssp web.mill --wires edges,csr,packed --queue-counts 1,8,32 --plot queues.svg\n"
	  "  millrace lab bfs web.mill --device-memory 200% --device-caches 0,10%,25%,50%,100% --plot hits.svg\n"
	  "  millrace lab pagerank web.mill --device opencl:0/2 --policies gts,gts-p,gts-s\n"
	  "  millrace lab bfs web.mill --mappings --policies gts\n" },
	{ "bfs", FOR_BFS, cmd_run, 1, 1, "STORE [options]",
	  "breadth-first search: depths and parents",
	  "How many edges away from the source is every vertex? -o writes `id depth parent`; of several\n"
	  "valid parents it is the one with the smallest id, unreached vertices have -1.\n",
	  "  millrace bfs web.mill --source 42 -o depths.tsv\n"
	  "  millrace bfs web.mill --source max-degree --memory 1G --check --json\n"
	  "  millrace bfs web.mill --repeat 5\n"
	  "  millrace bfs web.mill --device opencl:all --strategy s\n"
	  "  millrace bfs web.mill --device opencl:0/2 --device-cache 0 --mapping hybrid --warp 8\n" },
	{ "sssp", FOR_SSSP, cmd_run, 1, 1, "STORE [options]",
	  "shortest paths from one source over non-negative weights",
	  "-o writes `id distance parent`; unreached vertices have distance inf and parent -1.\n",
	  "  millrace sssp roads.mill --source 1 -o distances.csv\n"
	  "  millrace sssp web.mill --unit-weights --source max-degree --check\n" },
	{ "pagerank", FOR_PAGERANK, cmd_run, 1, 1, "STORE [options]",
	  "PageRank scores, which sum to 1",
	  "Stops when the L1 change falls below the tolerance or after the iterations; tolerance 0 runs\n"
	  "exactly that many. -o writes `id score`.\n",
	  "  millrace pagerank web.mill -o scores.tsv\n"
	  "  millrace pagerank web.mill --precision f64 --tolerance 1e-12 --iterations 1000\n"
	  "  millrace pagerank web.mill --personalize 42 --memory 50%\n"
	  "  millrace pagerank web.mill --device opencl:0 --device opencl:1 --device-memory 2G,1G --strategy p\n" },
	{ "cc", FOR_CC, cmd_run, 1, 1, "STORE [options]",
	  "weak components: which vertices hang together",
	  "Directions do not count. -o writes `id component`, the smallest id in the component. Of the\n"
	  "methods, which all give the same result, afforest links trees and looks at few edges; hooking\n"
	  "keeps an edge frontier and jumps pointers; labels spreads the smallest label, in as many steps\n"
	  "as the longest way through a component.\n",
	  "  millrace cc web.mill -o components.tsv\n"
	  "  millrace cc web.mill --memory 1G --check\n" },
	{ "bc", FOR_BC, cmd_run, 1, 1, "STORE [options]",
	  "betweenness centrality: how many shortest paths lead through a vertex",
	  "Brandes' algorithm, every edge counting 1 and parallel edges as different paths; self-loops do\n"
	  "not matter. --sources all is exact (undirected: each pair once); otherwise scores are what the\n"
	  "chosen sources add up to. --normalized divides by the pairs of other vertices, scaled from the\n"
	  "sources to all. -o writes `id score`, right within 1e-9 of itself; on the CPU with the same\n"
	  "bits for any number of threads and any --memory.\n",
	  "  millrace bc social.mill --sources all -o scores.tsv\n"
	  "  millrace bc web.mill --sources random:64 --normalized --check\n" },
	{ "kcore", FOR_KCORE, cmd_run, 1, 1, "STORE [options]",
	  "k-cores: the largest k such that a vertex stays when all of fewer than k neighbours go",
	  "Of the undirected simple graph: directions, loops and parallel edges do not count. -o writes\n"
	  "`id core`.\n",
	  "  millrace kcore web.mill -o cores.tsv\n"
	  "  millrace kcore web.mill --memory 25% --check --json\n" },
	{ "degrees", FOR_DEGREES, cmd_run, 1, 1, "STORE [options]",
	  "how many edges every vertex has, and how they are distributed",
	  "-o writes `id degree`, of a directed graph `id degree in_degree`. Self-loops and parallel edges\n"
	  "count as they are stored. The distribution is in the report: [[degree, vertices], ...].\n",
	  "  millrace degrees web.mill\n"
	  "  millrace degrees web.mill -o degrees.csv --json=report.json --check\n" },
	{ "scc", FOR_SCC, cmd_run, 1, 1, "STORE [options]",
	  "strong components: which vertices lead to each other",
	  "-o writes `id component`, the smallest id in the component. Reads in-edges too, so a store made\n"
	  "with --out-only is refused; of an undirected graph these are the weak components.\n",
	  "  millrace scc web.mill -o components.tsv\n"
	  "  millrace scc web.mill --memory 25% --check\n" },
	{ "triangles", FOR_TRIANGLES, cmd_run, 1, 1, "STORE [options]",
	  "triangles through each vertex, and clustering coefficients",
	  "Of the undirected simple graph: directions, loops and parallel edges do not count. -o writes\n"
	  "`id triangles`, with --lcc also the share of pairs of neighbours that are neighbours\n"
	  "themselves; --lcc=directed counts arcs between neighbours as LDBC Graphalytics does.\n",
	  "  millrace triangles web.mill -o triangles.tsv\n"
	  "  millrace triangles web.mill --lcc --check --json\n" },
	{ "cdlp", FOR_CDLP, cmd_run, 1, 1, "STORE [options]",
	  "communities by label propagation, as LDBC Graphalytics defines them",
	  "Every vertex begins with its own id as label and takes again and again the one that most of\n"
	  "its neighbours have, of several the smallest. Both ends of a directed edge are neighbours, an\n"
	  "edge in both directions counts twice. -o writes `id community`.\n",
	  "  millrace cdlp web.mill --iterations 20 -o communities.tsv\n"
	  "  millrace cdlp web.mill --memory 1G --check\n" },
	{ "list", FOR_LIST, cmd_list, 0, 1, "[WHAT] [options]",
	  "what there is: algorithms, devices, policies, formats, generators", NULL,
	  "  millrace list\n"
	  "  millrace list devices\n" },
	{ "help", FOR_HELP, cmd_help, 0, 1, "[COMMAND]",
	  "this, or the options of a command", NULL, "  millrace help bfs\n" },
	{ NULL }
};

const struct command *command_find(const char *name)
{
	const struct command *c;

	for (c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

mill_err command_unknown(const char *name)
{
	struct nearest near = { .word = name };
	const struct command *c;

	for (c = commands; c->name; c++)
		nearest_try(&near, c->name);
	if (nearest_found(&near))
		return refuse(MILL_EUSAGE, "unknown command '%s'; did you mean '%s'?", name,
			      nearest_found(&near));
	return refuse(MILL_EUSAGE, "unknown command '%s'; see `millrace help`", name);
}

/*
 * A closed stdin, stdout or stderr would let the next file that is opened take its number, and
 * text would end in a store. The stand-in can be read but not written: output is an error still.
 */
static void reserve_streams(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

static mill_err check_call(const struct call *call)
{
	const struct command *c = call->command;
	const struct options *o = &call->options;

	if (o->n_operands < c->min_operands)
		return refuse(MILL_EUSAGE, "%s: too few arguments; usage: millrace %s %s",
			      c->name, c->name, c->usage);
	if (c->max_operands >= 0 && o->n_operands > c->max_operands)
		return refuse(MILL_EUSAGE,
			      "%s: '%s' is one argument too many; usage: millrace %s %s",
			      c->name, o->operand[c->max_operands], c->name, c->usage);
	if (o->json && !o->json_file && o->output && !strcmp(o->output, "-"))
		return refuse(MILL_EUSAGE,
			      "-o - and --json both want stdout: use --json=FILE");
	if (o->json_file)
		return output_possible("--json", o->json_file);
	return MILL_OK;
}

static mill_err dispatch(struct call *call, int argc, char **argv)
{
	const struct command *c = call->command;

	call->refused = options_parse(&call->options, c->who, c->name, argc, argv);
	if (!call->refused && call->options.help) {
		call->options.json = false;
		help_command(c);
		return MILL_OK;
	}
	if (call->refused)
		options_scan_json(&call->options, argc, argv);
	else
		call->refused = check_call(call);
	/* A run's report has all of its keys, whatever went wrong. */
	if (call->refused && !(call->options.json && (c->who & FOR_ALGO)))
		return call->refused;
	progress_init(&call->progress, (enum progress_when)call->options.progress,
		      call->options.quiet);
	return c->run(call);
}

/* The one place where the program ends: the report, one line for an error, the code. */
static int finish(struct call *call, mill_err err)
{
	mill_err late = MILL_OK;
	int code = (int)err;

	progress_end(&call->progress);
	if (err == MILL_ECANCELLED) {
		int number = signals_caught();

		refuse(err, "%s: stopped by %s", call->command->name,
		       number == SIGTERM ? "SIGTERM" : "SIGINT");
		code = 128 + (number ? number : SIGINT);
	}
	if (err)
		fprintf(stderr, "millrace: %s\n", message());
	if (call->options.json)
		late = report_deliver(call, code);
	if (!late)
		late = stdout_finish();
	if (late && !err) {
		fprintf(stderr, "millrace: %s\n", message());
		code = (int)late;
	}
	json_release(&call->report);
	options_release(&call->options);
	return code;
}

int main(int argc, char **argv)
{
	struct call call = { .report = JSON_EMPTY };
	mill_err err;

	call.began = now();
	reserve_streams();
	signals_init();
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		call.command = command_find("help");
		printf("millrace %s (%s)\n", mill_version(), mill_features());
		return finish(&call, MILL_OK);
	}
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		argv[1] = "help";
	call.command = argc > 1 ? command_find(argv[1]) : NULL;
	if (call.command) {
		json_object(&call.report, NULL);
		json_string(&call.report, "millrace", mill_version());
		json_string(&call.report, "command", call.command->name);
		err = dispatch(&call, argc - 2, argv + 2);
	} else if (argc > 1) {
		err = command_unknown(argv[1]);
	} else {
		err = refuse(MILL_EUSAGE, "which command? `millrace help` shows them");
	}
	return finish(&call, err);
}
