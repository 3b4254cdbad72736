/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of general options, and the list of all options of a command: the rows of its
 * algorithm first, then the table, with the rows of all policies in the middle.
 *
 * Options are rows: name, kind, field, help, default. One row serves parsing, help, completion and
 * the report. Algorithms and policies have rows of the same kind (struct mill_option), so the
 * command line knows none of them, and the library checks the structs of C programs by the same
 * rows (base/option.c). The traits of an algorithm say which general options it takes.
 */
#include <string.h>

#include "cli/command.h"

#define AT(field) offsetof(struct options, field)
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define EVERY "import generate export info verify plan lab list ALGO"

/*
 * In the order of help, after the options of the algorithm. A name may come twice, for different
 * commands.
 */
static const struct option table[] = {
	{ "output", TEXT, "import generate", AT(output), "STORE",
	  .help = "path of the store to make (also -o)" },
	{ "output", TEXT, "export", AT(output), "FILE",
	  .help = "the graph file to write, - for stdout (also -o)" },

	{ "async", FLAG, "ALGO plan", AT(async), NULL,
	  .help = "cpu only: run without steps, in fewer passes; same bits (pagerank: within its "
		  "tolerance)",
	  .traits = MILL_ASYNC },
	{ "direction", CHOICE, "ALGO lab", AT(direction), "auto|estimate|push|pull",
	  .help = "push or pull; auto (default) counts edges (Beamer), estimate counts vertices "
		  "(Gunrock)",
	  .word = WORDS("auto", "estimate", "push", "pull"), .traits = MILL_PULLS },
	{ "do-a", REAL, "ALGO lab", AT(do_a), "X",
	  .help = "pull if the frontier has over 1/X of the edges left (default 15; estimate: "
		  "over X times, 0.001)",
	  .open = true, .traits = MILL_PULLS },
	{ "do-b", REAL, "ALGO lab", AT(do_b), "X",
	  .help = "push again if it has under 1/X of the vertices (default 18; estimate: X times "
		  "the edges left, 0.2)",
	  .open = true, .traits = MILL_PULLS },

	{ "directed", FLAG, "import", AT(directed), NULL,
	  .help = "edges have a direction (default, unless the input says otherwise)" },
	{ "undirected", FLAG, "import", AT(undirected), NULL, .help = "edges have no direction" },
	{ "dedup", CHOICE, "import", AT(dedup), "HOW",
	  .help = "parallel edges: none (keep all, default), first, min, max, sum or error",
	  .word = WORDS("none", "first", "min", "max", "sum", "error") },
	{ "loops", CHOICE, "import", AT(loops), "keep|drop|error",
	  .help = "self-loops: keep (default), drop, or fail",
	  .word = WORDS("keep", "drop", "error") },
	{ "format", TEXT, "import", AT(format), "F",
	  .help = "format, see `millrace list formats` (default: by content and suffix)" },
	{ "format", TEXT, "export", AT(format), "F",
	  .help = "edgelist, mtx, sg or wsg (default: by the suffix, else edgelist)",
	  .word = WORDS("edgelist", "mtx", "sg", "wsg") },
	{ "base", U32, "import", AT(base), "0|1",
	  .help = "smallest id, if the format leaves it open (default 0); with 1 an id 0 is an "
		  "error",
	  .high = 1 },
	{ "id-bits", U32, "import", AT(id_bits), "32|64", .help = "raw edges: bits of an id",
	  .low = 32, .high = 64 },
	{ "names", FLAG, "import", AT(names), NULL,
	  .help = "edge lists: ids are names (text without separators, or quoted text)" },
	{ "weights", TEXT, "import", AT(weights), "none|auto|COLUMN",
	  .help = "weights: column by number or name; auto: if there are any (default: as a "
		  "header says)",
	  .word = WORDS("none", "auto") },
	{ "weight-type", CHOICE, "import", AT(weight_type), "TYPE",
	  .help = "type of the weights: u32, i32, f32 or f64 (default: by the values)",
	  .word = WORDS("auto", "u32", "i32", "f32", "f64") },

	{ "scale", U32, "generate", AT(scale), "N", .help = "2^N vertices", .high = 63 },
	{ "vertices", U64, "generate", AT(vertices), "N", .help = "N vertices", .low = 1 },
	{ "degree", REAL, "generate", AT(degree), "D", .help = "edges per vertex (default 16)",
	  .open = true },
	{ "weights", CHOICE, "generate", AT(weight_type), "none|u32|f32",
	  .help = "random weights: u32 from 1 to 255, f32 above 0 up to 1 (default none)",
	  .word = WORDS("none", "u32", "f32") },
	{ "directed", FLAG, "generate", AT(directed), NULL,
	  .help = "edges have a direction (default: undirected)" },
	{ "multigraph", FLAG, "generate", AT(multigraph), NULL,
	  .help = "kron, rmat: keep self-loops and parallel edges" },
	{ "a", REAL, "generate", AT(a), "P",
	  .help = "kron, rmat: probability of the upper left quarter (default 0.57)", .high = 1,
	  .open = true },
	{ "b", REAL, "generate", AT(b), "P",
	  .help = "kron, rmat: probability of the upper right quarter (default 0.19)", .high = 1,
	  .open = true },
	{ "c", REAL, "generate", AT(c), "P",
	  .help = "kron, rmat: probability of the lower left quarter (default 0.19)", .high = 1,
	  .open = true },

	{ "page-size", SIZE, "import generate", AT(page_size), "SIZE",
	  .help = "size of a page: 64K to 64M, a power of two (default 1M)" },
	{ "codec", CHOICE, "import generate", AT(codec), "packed|raw",
	  .help = "how pages store neighbours (default packed)", .word = WORDS("packed", "raw") },
	{ "addressing", CHOICE, "import generate", AT(addressing), "dense|paged",
	  .help = "neighbours as vertex numbers (default) or as page addresses (needs raw pages)",
	  .word = WORDS("dense", "paged") },
	{ "record-id", TEXT, "import generate", AT(record_id), "P,Q",
	  .help = "paged: bytes of the page id and of the slot number, together 4 (default: by "
		  "the fullest page)" },
	{ "order", CHOICE, "import generate", AT(order), "none|degree|auto",
	  .help = "order of the vertices: by id (default), by degree, or the one that packs "
		  "better",
	  .word = WORDS("none", "degree", "auto") },
	{ "tmp", TEXT, "import generate", AT(tmp), "DIR",
	  .help = "directory for temporary files (default: beside the store)" },
	{ "out-only", FLAG, "import generate", AT(out_only), NULL,
	  .help = "directed graphs: do not store in-edges" },
	{ "stripe", TEXT, "import generate", AT(stripe), "DIR,...",
	  .help = "spread the pages over these directories, one on each disk" },
	{ "force", FLAG, "import generate", AT(force), NULL,
	  .help = "replace an existing store" },
	{ "memory", SIZE, "import generate", AT(memory), "SIZE",
	  .help = "memory budget (default 80 % of the available memory)" },
	{ "memory", SIZE, "ALGO plan lab", AT(memory), "SIZE",
	  .help = "memory budget, as 2G or 25% of the graph (default 80 % of the available "
		  "memory)" },
	{ "device", LIST, "ALGO plan", AT(device), "NAME",
	  .help = "cpu (default), opencl:N, opencl:all, opencl:N/K (N divided by K), see "
		  "`millrace list devices`; repeatable",
	  .word = WORDS("cpu", "opencl", "opencl:all") },
	{ "device-memory", SIZES, "ALGO plan", AT(device_memory), "SIZE[,SIZE...]",
	  .help = "memory budget of each device in order, the last for all others (default 90 % "
		  "of its memory)",
	  .device = true },
	{ "device", LIST, "lab", AT(device), "NAME",
	  .help = "see `millrace list devices` (default opencl); gts-p and gts-s use all "
		  "devices, other rows the first",
	  .word = WORDS("opencl", "opencl:all") },
	{ "device-memory", SIZES, "lab", AT(device_memory), "SIZE[,SIZE...]",
	  .help = "memory budget of each device in order, the last for all others, as 32M or 25% "
		  "of the graph (default 25%)",
	  .device = true },
	{ "budgets", TEXT, "lab", AT(budgets), "LIST",
	  .help = "run every row with each of these device budgets: 10%,25%,50%,100%" },
	{ "policies", TEXT, "lab", AT(policies), "LIST",
	  .help = "rows to run, from: all, active, reuse, fifo, lru, frequency, pinned, "
		  "graphie-naive, graphie-opt1, graphie-opt2, graphie, gts, gts-p, gts-s, "
		  "largegraph, largegraph-w, largegraph-cpu, largegraph-device, subway, "
		  "subway-async; the last six run only if named" },
	{ "wires", TEXT, "lab", AT(wires), "LIST",
	  .help = "run graphie rows with each of these wires: edges,csr,packed" },
	{ "queue-counts", TEXT, "lab", AT(queue_counts), "LIST",
	  .help = "run rows with each of these numbers of queues: 1,2,4,8,16,32; --plot draws "
		  "the times" },
	{ "device-caches", TEXT, "lab", AT(device_caches), "LIST",
	  .help = "run gts rows with each of these cache sizes: 0,10%,25%,50%,100%; --plot draws "
		  "the hit rates" },
	{ "mappings", FLAG, "lab", AT(mappings), NULL,
	  .help = "rows are mappings of edges to work-items, with lanes and atomics counted "
		  "(--policies gts: those of gts)",
	  .traits = MILL_FRONTIERS | MILL_SUMS },
	{ "plot", TEXT, "lab", AT(plot), "FILE.svg",
	  .help = "draw pages active and moved in each superstep, one panel per row" },
	{ "fallback", FLAG, "ALGO", AT(fallback), NULL,
	  .help = "if the device fails, run again on the cpu", .device = true },
	{ "queues", U32, "ALGO lab", AT(queues), "N",
	  .help = "pages in flight to the device (default 32)", .low = 1, .high = 256,
	  .device = true },
	{ "group-size", U32, "ALGO lab", AT(group_size), "N",
	  .help = "work-items per work-group (default: by the device)", .low = 1, .high = 65536,
	  .device = true },
	{ "mapping", CHOICE, "ALGO lab", AT(mapping),
	  "auto|thread|group|input|output|warp|hybrid",
	  .help = "how edges go to work-items: by vertex, by degree, balanced by frontier or by "
		  "edges; gts: by virtual warp or page density",
	  .word = WORDS("auto", "thread", "group", "input", "output", "warp", "hybrid"),
	  .traits = MILL_FRONTIERS | MILL_SUMS, .device = true },
	{ "filter", CHOICE, "ALGO plan lab", AT(filter), "fused|exact|inexact",
	  .help = "how a device removes vertices that it reaches twice (default fused)",
	  .word = WORDS("fused", "exact", "inexact"), .traits = MILL_FRONTIERS, .device = true },
	{ "no-skip", FLAG, "ALGO", AT(no_skip), NULL,
	  .help = "send all pages to the device in each step, also pages without work",
	  .device = true },
	{ "no-reuse", FLAG, "ALGO", AT(no_reuse), NULL,
	  .help = "send pages again in each step, also pages that are on the device",
	  .device = true },
	{ .kind = POLICIES },
	{ "lanes", FLAG, "ALGO lab", AT(lanes), NULL,
	  .help = "count SIMD slots and atomics of a device (slower)", .device = true },
	{ "policy", TEXT, "ALGO plan", AT(policy), "NAME",
	  .help = "which page to evict, or graphie or gts, see `millrace list policies` (default "
		  "auto)" },
	{ "io", CHOICE, "ALGO lab", AT(io), "uring|pread",
	  .help = "how to read pages (default uring, if the system allows it)",
	  .word = WORDS("uring", "pread") },
	{ "threads", U32, "import generate ALGO plan lab", AT(threads), "N",
	  .help = "number of threads (default: one per processor)", .low = 1, .high = 4096 },
	{ "seed", U64, "generate ALGO lab", AT(seed), "N",
	  .help = "seed of random choices (default 1)" },
	{ "repeat", U32, "ALGO lab", AT(repeat), "N",
	  .help = "N timed runs after one load (default 1)", .low = 1, .high = 1000000 },
	{ "check", FLAG, "ALGO plan lab", AT(check), NULL,
	  .help = "check the result by its properties; exit 11 if it is wrong" },
	{ "recalibrate", FLAG, "plan", AT(recalibrate), NULL,
	  .help = "measure this machine again" },
	{ "output", TEXT, "ALGO plan", AT(output), "FILE",
	  .help = "write the result by original id: .tsv, .csv or .npy, - for stdout (also -o)" },

	{ "json", REPORT, EVERY, AT(json), "[=FILE]",
	  .help = "report as JSON, to stdout instead of text or to FILE", .not_reported = true },
	{ "trace", TEXT, "ALGO", AT(trace), "FILE",
	  .help = "write a timeline of Chrome trace events, for Perfetto or chrome://tracing" },
	{ "progress", CHOICE, "import generate export verify lab ALGO", AT(progress), "WHEN",
	  .help = "progress bar on stderr: auto (on a terminal, default), always or never",
	  .word = WORDS("auto", "always", "never"), .not_reported = true },
	{ "quiet", FLAG, EVERY, AT(quiet), NULL, .help = "no text and no bar, only errors",
	  .not_reported = true },
	{ "help", FLAG, EVERY " help completion", AT(help), NULL,
	  .help = "show this text (also -h)", .not_reported = true },
};

static const struct option *const table_end = table + sizeof(table) / sizeof(table[0]);

/* Returns true if the word is in a list of words with spaces between them. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);
	const char *at = list;

	while ((at = strstr(at, word))) {
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
		at += length;
	}
	return false;
}

/* Returns true if the command takes the options of policies. */
static bool takes_settings(const struct command *c) { return c->algorithm || c->of_algorithm; }

/* Returns true if the command takes a general option with this algorithm (NULL: any). */
static bool takes(const struct command *c, const struct mill_algorithm *a,
		  const struct option *general)
{
	return has_word(general->commands, c->algorithm ? "ALGO" : c->name) &&
	       (!a || !general->traits || general->traits & a->traits);
}

static struct option setting_row(const struct mill_option *setting, size_t base)
{
	static const enum option_kind kind[] = {
		[MILL_OPTION_FLAG] = FLAG,     [MILL_OPTION_U32] = U32,
		[MILL_OPTION_U64] = U64,       [MILL_OPTION_SIZE] = BYTES,
		[MILL_OPTION_REAL] = REAL,     [MILL_OPTION_TEXT] = TEXT,
		[MILL_OPTION_CHOICE] = CHOICE, [MILL_OPTION_SWITCH] = SWITCH,
	};

	return (struct option){
		.name = setting->name,
		.kind = kind[setting->kind],
		.at = base + setting->at,
		.argument = setting->argument,
		.help = setting->help,
		.word = setting->word,
		.low = setting->low,
		.high = setting->high,
		.open = setting->open,
		.setting = setting,
	};
}

static struct option policy_row(const struct mill_policy *policy, const struct mill_option *setting)
{
	struct option row = setting_row(setting, AT(settings) + policy->settings);

	row.device = true;
	row.policy = policy;
	return row;
}

/*
 * Fills in option i of all policies. If there are not that many, sets *n to their number and
 * returns false. Leaves out options that divide work between devices in a lab: its rows set them.
 */
static bool policy_option_at(struct option *out, const struct command *c, size_t i, size_t *n)
{
	const struct mill_policy *policy;
	const struct mill_option *setting;

	*n = 0;
	for (policy = mill_policies(); policy->name; policy++)
		for (setting = policy->option; setting && setting->name; setting++) {
			if (setting->several && c->compares)
				continue;
			if ((*n)++ == i) {
				*out = policy_row(policy, setting);
				return true;
			}
		}
	return false;
}

bool option_at(struct option *out, const struct command *c, const struct mill_algorithm *a,
	       size_t i)
{
	const struct mill_option *setting;
	const struct option *row;
	size_t n;

	for (setting = a ? a->option : NULL; setting && setting->name; setting++)
		if (!(setting->only_run && c->predicts) && !i--) {
			*out = setting_row(setting, 0);
			out->algorithm = a;
			return true;
		}
	for (row = table; row < table_end; row++) {
		if (row->kind == POLICIES) {
			if (!takes_settings(c))
				continue;
			if (policy_option_at(out, c, i, &n))
				return true;
			i -= n;
		} else if (takes(c, a, row) && !i--) {
			*out = *row;
			return true;
		}
	}
	return false;
}
