/* SPDX-License-Identifier: Apache-2.0 */
/* Which options a command has: the table of general ones, and the rows of policies and algorithms. */
#include <string.h>

#include "cli/command.h"

#define AT(field) offsetof(struct options, field)
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define EVERY "import generate export info verify plan lab list ALGO"

/* Rows in the order in which help shows them, after those of the algorithm; a name may come twice, for different commands. */
static const struct option table[] = {
	{ "output", TEXT, "import generate", AT(output), "STORE",
	  .help = "the store to make (also -o)" },
	{ "output", TEXT, "export", AT(output), "FILE",
	  .help = "the graph file to write, - for stdout (also -o)" },

	{ "async", FLAG, "ALGO plan", AT(async), NULL,
	  .help = "no steps, on the cpu: stay with a page until it is quiet, use scores at once; the same bits, but pagerank: within its tolerance",
	  .traits = MILL_ASYNC },
	{ "direction", CHOICE, "ALGO lab", AT(direction), "auto|estimate|push|pull",
	  .help = "auto counts edges (Beamer), estimate only vertices (Gunrock)",
	  .word = WORDS("auto", "estimate", "push", "pull"), .traits = MILL_PULLS },
	{ "do-a", REAL, "ALGO lab", AT(do_a), "X",
	  .help = "pull when the frontier has more than 1/X of the edges left (default 15; estimate: more than X times, 0.001)",
	  .open = true, .traits = MILL_PULLS },
	{ "do-b", REAL, "ALGO lab", AT(do_b), "X",
	  .help = "push again when it has fewer than 1/X of the vertices (default 18; estimate: X times the edges left, 0.2)",
	  .open = true, .traits = MILL_PULLS },

	{ "directed", FLAG, "import", AT(directed), NULL,
	  .help = "edges are arcs (the default, unless the input says otherwise)" },
	{ "undirected", FLAG, "import", AT(undirected), NULL,
	  .help = "edges go in both directions" },
	{ "dedup", CHOICE, "import", AT(dedup), "HOW",
	  .help = "parallel edges: none (keep), first, min, max, sum, error",
	  .word = WORDS("none", "first", "min", "max", "sum", "error") },
	{ "loops", CHOICE, "import", AT(loops), "keep|drop|error",
	  .help = "self-loops (default keep)", .word = WORDS("keep", "drop", "error") },
	{ "format", TEXT, "import", AT(format), "F",
	  .help = "see `list formats` (default: by content and suffix)" },
	{ "format", TEXT, "export", AT(format), "F",
	  .help = "edgelist, mtx, sg or wsg (default: by the suffix, else edgelist)",
	  .word = WORDS("edgelist", "mtx", "sg", "wsg") },
	{ "base", U32, "import", AT(base), "0|1",
	  .help = "1: no id is 0, and one that is is an error", .high = 1 },
	{ "id-bits", U32, "import", AT(id_bits), "32|64",
	  .help = "width of the ids of raw edges", .low = 32, .high = 64 },
	{ "names", FLAG, "import", AT(names), NULL,
	  .help = "edge lists: vertices have names, any text without separators" },
	{ "weights", TEXT, "import", AT(weights), "none|auto|COLUMN",
	  .help = "by number or name; auto: what there is (default: what a header says)",
	  .word = WORDS("none", "auto") },
	{ "weight-type", CHOICE, "import", AT(weight_type), "TYPE",
	  .help = "u32, i32, f32 or f64 (default: by the values)",
	  .word = WORDS("auto", "u32", "i32", "f32", "f64") },

	{ "scale", U32, "generate", AT(scale), "N", .help = "2^N vertices", .high = 63 },
	{ "vertices", U64, "generate", AT(vertices), "N", .help = "so many vertices",
	  .low = 1 },
	{ "degree", REAL, "generate", AT(degree), "D",
	  .help = "edges per vertex (default 16)", .open = true },
	{ "weights", CHOICE, "generate", AT(weight_type), "none|u32|f32",
	  .help = "random weights: 1..255, or in (0, 1] (default none)",
	  .word = WORDS("none", "u32", "f32") },
	{ "directed", FLAG, "generate", AT(directed), NULL,
	  .help = "arcs instead of undirected edges" },
	{ "multigraph", FLAG, "generate", AT(multigraph), NULL,
	  .help = "kron, rmat: keep loops and parallel edges" },
	{ "a", REAL, "generate", AT(a), "P",
	  .help = "kron, rmat: of the upper left quarter (default 0.57)", .high = 1,
	  .open = true },
	{ "b", REAL, "generate", AT(b), "P",
	  .help = "kron, rmat: of the upper right quarter (default 0.19)", .high = 1,
	  .open = true },
	{ "c", REAL, "generate", AT(c), "P",
	  .help = "kron, rmat: of the lower left quarter (default 0.19)", .high = 1,
	  .open = true },

	{ "page-size", SIZE, "import generate", AT(page_size), "SIZE",
	  .help = "64K .. 64M, a power of two (default 1M)" },
	{ "codec", CHOICE, "import generate", AT(codec), "packed|raw",
	  .help = "how neighbours are stored (default packed)",
	  .word = WORDS("packed", "raw") },
	{ "addressing", CHOICE, "import generate", AT(addressing), "dense|paged",
	  .help = "what lists hold: vertex numbers (default) or page addresses; paged: raw pages",
	  .word = WORDS("dense", "paged") },
	{ "record-id", TEXT, "import generate", AT(record_id), "P,Q",
	  .help = "paged: bytes of page id and slot number, together 4 (default: slots by the fullest page)" },
	{ "order", CHOICE, "import generate", AT(order), "none|degree|auto",
	  .help = "of the vertices: by id (default), by degree, or what packs better",
	  .word = WORDS("none", "degree", "auto") },
	{ "tmp", TEXT, "import generate", AT(tmp), "DIR",
	  .help = "temporary files of what --memory cannot hold (default: beside the store)" },
	{ "out-only", FLAG, "import generate", AT(out_only), NULL,
	  .help = "directed: leave the in-edges out" },
	{ "stripe", TEXT, "import generate", AT(stripe), "DIR,...",
	  .help = "spread the pages over these directories, one on each disk" },
	{ "force", FLAG, "import generate", AT(force), NULL,
	  .help = "replace a store that is there" },
	{ "memory", SIZE, "import generate", AT(memory), "SIZE",
	  .help = "budget (default 80 % of what is available)" },
	{ "memory", SIZE, "ALGO plan lab", AT(memory), "SIZE",
	  .help = "budget, as 2G or 25% of the graph (default 80 % of what is available)" },
	{ "device", LIST, "ALGO plan", AT(device), "NAME",
	  .help = "cpu (default), opencl:N, opencl:all, opencl:N/K (N in K parts): see `list devices`; repeatable for several",
	  .word = WORDS("cpu", "opencl", "opencl:all") },
	{ "device-memory", SIZES, "ALGO plan", AT(device_memory), "SIZE[,SIZE...]",
	  .help = "device budget (default 90 % of the device's); of several in order, the last for the rest",
	  .device = true },
	{ "device", LIST, "lab", AT(device), "NAME",
	  .help = "see `list devices` (default opencl); of several the rows gts-p and gts-s use all, the others the first",
	  .word = WORDS("opencl", "opencl:all") },
	{ "device-memory", SIZES, "lab", AT(device_memory), "SIZE[,SIZE...]",
	  .help = "device budget, as 32M or a share of the graph (default 25%); of several devices in order, the last for the rest",
	  .device = true },
	{ "budgets", TEXT, "lab", AT(budgets), "LIST",
	  .help = "several device budgets: 10%,25%,50%,100%" },
	{ "policies", TEXT, "lab", AT(policies), "LIST",
	  .help = "the rows: some of all,active,reuse,fifo,lru,frequency,pinned,graphie-naive,graphie-opt1,graphie-opt2,graphie,gts,gts-p,gts-s" },
	{ "wires", TEXT, "lab", AT(wires), "LIST",
	  .help = "graphie's rows once for each of these wires: edges,csr,packed" },
	{ "queue-counts", TEXT, "lab", AT(queue_counts), "LIST",
	  .help = "rows once for each of these numbers of queues: 1,2,4,8,16,32; --plot draws times over them" },
	{ "device-caches", TEXT, "lab", AT(device_caches), "LIST",
	  .help = "gts's rows once for each of these caches: 0,10%,25%,50%,100%; --plot draws hit rates over them" },
	{ "mappings", FLAG, "lab", AT(mappings), NULL,
	  .help = "rows are mappings of edges to work-items, with lanes and atomics counted; with --policies gts its own",
	  .traits = MILL_FRONTIERS | MILL_SUMS },
	{ "plot", TEXT, "lab", AT(plot), "FILE.svg",
	  .help = "pages active and moved in each superstep, a panel for each row" },
	{ "fallback", FLAG, "ALGO", AT(fallback), NULL,
	  .help = "if the device fails, run once more on the cpu", .device = true },
	{ "queues", U32, "ALGO lab", AT(queues), "N",
	  .help = "pages on their way to the device at once (default 32)", .low = 1, .high = 256, .device = true },
	{ "group-size", U32, "ALGO lab", AT(group_size), "N",
	  .help = "work-items of a work-group (default: by the device)", .low = 1, .high = 65536, .device = true },
	{ "mapping", CHOICE, "ALGO lab", AT(mapping),
	  "auto|thread|group|input|output|warp|hybrid",
	  .help = "edges to work-items of a device: by vertex, by degree, balanced by frontier or by edges; gts: by virtual warps, or by the page's density",
	  .word = WORDS("auto", "thread", "group", "input", "output", "warp", "hybrid"), .traits = MILL_FRONTIERS | MILL_SUMS, .device = true },
	{ "filter", CHOICE, "ALGO plan lab", AT(filter), "fused|exact|inexact",
	  .help = "what a device does with vertices that it comes to twice (default fused)",
	  .word = WORDS("fused", "exact", "inexact"), .traits = MILL_FRONTIERS, .device = true },
	{ "no-skip", FLAG, "ALGO", AT(no_skip), NULL,
	  .help = "send all pages to the device in each step, also those without work", .device = true },
	{ "no-reuse", FLAG, "ALGO", AT(no_reuse), NULL,
	  .help = "send pages in each step, also those that the device has", .device = true },
	{ .kind = POLICIES },
	{ "lanes", FLAG, "ALGO lab", AT(lanes), NULL,
	  .help = "count SIMD slots and atomics of a device (slower)", .device = true },
	{ "policy", TEXT, "ALGO plan", AT(policy), "NAME",
	  .help = "which page goes when another comes, or graphie, gts: see `list policies` (default auto)" },
	{ "io", CHOICE, "ALGO lab", AT(io), "uring|pread",
	  .help = "how pages are read (default uring, where the system allows it)",
	  .word = WORDS("uring", "pread") },
	{ "threads", U32, "import generate ALGO plan lab", AT(threads), "N",
	  .help = "default: all processors", .low = 1, .high = 4096 },
	{ "seed", U64, "generate ALGO lab", AT(seed), "N",
	  .help = "of what is random (default 1)" },
	{ "repeat", U32, "ALGO lab", AT(repeat), "N",
	  .help = "N timed runs after one load (default 1)", .low = 1, .high = 1000000 },
	{ "check", FLAG, "ALGO plan lab", AT(check), NULL,
	  .help = "certify the result; exit 11 if it is wrong" },
	{ "recalibrate", FLAG, "plan", AT(recalibrate), NULL,
	  .help = "measure this machine again" },
	{ "output", TEXT, "ALGO plan", AT(output), "FILE",
	  .help = "the result by original id: .tsv .csv .npy, - for stdout (also -o)" },

	{ "json", REPORT, EVERY, AT(json), "[=FILE]",
	  .help = "the report as JSON, instead of text or in FILE", .talk = true },
	{ "trace", TEXT, "ALGO", AT(trace), "FILE",
	  .help = "the timeline: Chrome trace events, for Perfetto or chrome://tracing" },
	{ "progress", CHOICE, "import generate export verify lab ALGO", AT(progress), "WHEN",
	  .help = "the bar on stderr: auto, always, never",
	  .word = WORDS("auto", "always", "never"), .talk = true },
	{ "quiet", FLAG, EVERY, AT(quiet), NULL,
	  .help = "no text, no bar; errors only", .talk = true },
	{ "help", FLAG, EVERY " help completion", AT(help), NULL,
	  .help = "this text (also -h)", .talk = true },
};


static const struct option *const table_end = table + sizeof(table) / sizeof(table[0]);

/* Is the word in a list of words? */
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

static bool takes_settings(const struct command *c) { return c->algorithm || c->of_algorithm; }

/* Does a command take a general option, with this algorithm (NULL: with any)? */
static bool takes(const struct command *c, const struct mill_algorithm *a, const struct option *general)
{
	return has_word(general->who, c->algorithm ? "ALGO" : c->name) && (!a || !general->traits || general->traits & a->traits);
}

static struct option setting_row(const struct mill_option *setting, size_t base)
{
	static const enum option_kind kind[] = {
		[MILL_OPTION_FLAG] = FLAG,   [MILL_OPTION_U32] = U32,	[MILL_OPTION_U64] = U64,       [MILL_OPTION_SIZE] = BYTES,
		[MILL_OPTION_REAL] = REAL,   [MILL_OPTION_TEXT] = TEXT, [MILL_OPTION_CHOICE] = CHOICE, [MILL_OPTION_SWITCH] = SWITCH,
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

/* Fills in option i of all policies; *n: how many there are, if there are not so many. A lab says itself what devices share out. */
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

bool option_at(struct option *out, const struct command *c, const struct mill_algorithm *a, size_t i)
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
