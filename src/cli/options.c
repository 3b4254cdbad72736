/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/progress.h"

enum kind {
	FLAG,		/* bool */
	TEXT,		/* const char * */
	LIST,		/* const char *; given again it goes on, behind a comma */
	U32,
	U64,
	REAL,		/* double */
	AUTO_REAL,	/* double; "auto" is 0 */
	CHOICE,		/* int: which of the words */
	SWITCH,		/* int: --name is the first word, --name=WORD another; 0 without */
	SIZE,		/* struct size_option */
	SIZES,		/* struct sizes_option */
	BYTES,		/* uint64_t; a size that waits among what was given */
	REPORT,		/* --json[=FILE] */
	POLICIES	/* no option: here follow those of policies */
};

struct option {
	const char *name;
	enum kind kind;
	unsigned who;
	size_t at;			/* offset in struct options */
	const char *argument;		/* as help shows it */
	const char *help;
	const char *const *word;	/* CHOICE, SWITCH: NULL-terminated */
	double low, high;		/* of numbers; a whole number's high of 0 is any */
	bool open;			/* REAL: the bounds themselves are out */
	bool device;			/* the cpu would ignore it */
	unsigned of;			/* of no algorithm, but only for these; 0: for all */
	const struct mill_policy *policy;	/* NULL: it is a general one ... */
	const struct mill_option *setting;	/* ... else it is this one */
};

#define AT(field) offsetof(struct options, field)
#define SETTINGS (FOR_ALGO | FOR_PLAN | FOR_LAB)	/* commands with options of policies */
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define FOR_STORES (FOR_IMPORT | FOR_GENERATE)
#define FOR_EVERY \
	(FOR_STORES | FOR_EXPORT | FOR_INFO | FOR_VERIFY | FOR_PLAN | FOR_LAB | FOR_LIST | FOR_ALGO)
#define FOR_WORK (FOR_STORES | FOR_EXPORT | FOR_VERIFY | FOR_LAB | FOR_ALGO)

/* Rows in the order in which help shows them; a name may come twice, for different commands. */
static const struct option table[] = {
	{ "output", TEXT, FOR_STORES, AT(output), "STORE",
	  .help = "the store to make (also -o)" },
	{ "output", TEXT, FOR_EXPORT, AT(output), "FILE",
	  .help = "the graph file to write, - for stdout (also -o)" },

	{ "source", TEXT, FOR_BFS | FOR_SSSP | FOR_BC | FOR_LAB, AT(source), "ID",
	  .help = "an original id or name, `random` (the default) or `max-degree`" },
	{ "sources", TEXT, FOR_BC | FOR_PLAN | FOR_LAB, AT(sources), "LIST",
	  .help = "ID,ID,... or @FILE, `random:K` or `all` (default random:1)" },
	{ "normalized", FLAG, FOR_BC | FOR_LAB, AT(normalized), NULL,
	  .help = "divide by the number of pairs: scores in 0 .. 1" },
	{ "method", CHOICE, FOR_CC | FOR_PLAN | FOR_LAB, AT(method), "NAME",
	  .help = "afforest (default), hooking or labels",
	  .word = WORDS("afforest", "hooking", "labels") },
	{ "lcc", SWITCH, FOR_TRIANGLES | FOR_PLAN | FOR_LAB, AT(lcc), "[=directed]",
	  .help = "also local clustering coefficients; directed: as LDBC counts arcs",
	  .word = WORDS("undirected", "directed") },
	{ "delta", AUTO_REAL, FOR_SSSP | FOR_LAB, AT(delta), "auto|N",
	  .help = "width of a distance step (default auto)", .high = DBL_MAX,
	  .open = true },
	{ "buckets", U32, FOR_SSSP | FOR_PLAN | FOR_LAB, AT(buckets), "N",
	  .help = "parts of what waits by distance, near and far among them: 2 to 64 (default 2)", .low = 2, .high = 64 },
	{ "async", FLAG, FOR_BFS | FOR_SSSP | FOR_CC | FOR_PAGERANK | FOR_PLAN, AT(async), NULL,
	  .help = "no steps: stay with a page until it is quiet, use scores at once" },
	{ "direction", CHOICE, FOR_BFS | FOR_BC | FOR_LAB, AT(direction), "auto|estimate|push|pull",
	  .help = "auto counts edges (Beamer), estimate only vertices (Gunrock)",
	  .word = WORDS("auto", "estimate", "push", "pull") },
	{ "do-a", REAL, FOR_BFS | FOR_BC | FOR_LAB, AT(do_a), "X",
	  .help = "pull when the frontier has more than 1/X of the edges left (default 15; estimate: more than X times, 0.001)",
	  .high = DBL_MAX, .open = true },
	{ "do-b", REAL, FOR_BFS | FOR_BC | FOR_LAB, AT(do_b), "X",
	  .help = "push again when it has fewer than 1/X of the vertices (default 18; estimate: X times the edges left, 0.2)",
	  .high = DBL_MAX, .open = true },
	{ "unit-weights", FLAG, FOR_SSSP | FOR_PLAN | FOR_LAB, AT(unit_weights), NULL,
	  .help = "every edge counts 1" },
	{ "damping", REAL, FOR_PAGERANK | FOR_PLAN | FOR_LAB, AT(damping), "D",
	  .help = "probability to follow an edge (default 0.85)", .high = 1, .open = true },
	{ "tolerance", REAL, FOR_PAGERANK | FOR_PLAN | FOR_LAB, AT(tolerance), "T",
	  .help = "stop when the L1 change falls below (default 1e-6; 0: never)",
	  .high = DBL_MAX },
	{ "iterations", U32, FOR_PAGERANK | FOR_CDLP | FOR_PLAN | FOR_LAB, AT(iterations), "N",
	  .help = "at most so many (default: pagerank 100, cdlp 10)", .low = 1 },
	{ "precision", CHOICE, FOR_PAGERANK | FOR_PLAN | FOR_LAB, AT(precision), "f32|f64",
	  .help = "of the scores (default f32)", .word = WORDS("f32", "f64") },
	{ "exact", FLAG, FOR_PAGERANK | FOR_PLAN | FOR_LAB, AT(exact), NULL,
	  .help = "64-bit fixed point: the same bits on every device" },
	{ "personalize", TEXT, FOR_PAGERANK | FOR_LAB, AT(personalize), "ID|@FILE",
	  .help = "start again at these vertices instead of at all" },

	{ "directed", FLAG, FOR_IMPORT, AT(directed), NULL,
	  .help = "edges are arcs (the default, unless the input says otherwise)" },
	{ "undirected", FLAG, FOR_IMPORT, AT(undirected), NULL,
	  .help = "edges go in both directions" },
	{ "dedup", CHOICE, FOR_IMPORT, AT(dedup), "HOW",
	  .help = "parallel edges: none (keep), first, min, max, sum, error",
	  .word = WORDS("none", "first", "min", "max", "sum", "error") },
	{ "loops", CHOICE, FOR_IMPORT, AT(loops), "keep|drop|error",
	  .help = "self-loops (default keep)", .word = WORDS("keep", "drop", "error") },
	{ "format", TEXT, FOR_IMPORT, AT(format), "F",
	  .help = "see `list formats` (default: by content and suffix)" },
	{ "format", TEXT, FOR_EXPORT, AT(format), "F",
	  .help = "edgelist, mtx, sg or wsg (default: by the suffix, else edgelist)" },
	{ "base", U32, FOR_IMPORT, AT(base), "0|1",
	  .help = "1: no id is 0, and one that is is an error", .high = 1 },
	{ "id-bits", U32, FOR_IMPORT, AT(id_bits), "32|64",
	  .help = "width of the ids of raw edges", .low = 32, .high = 64 },
	{ "names", FLAG, FOR_IMPORT, AT(names), NULL,
	  .help = "edge lists: vertices have names, any text without separators" },
	{ "weights", TEXT, FOR_IMPORT, AT(weights), "none|auto|COLUMN",
	  .help = "by number or name; auto: what there is (default: what a header says)" },
	{ "weight-type", CHOICE, FOR_IMPORT, AT(weight_type), "TYPE",
	  .help = "u32, i32, f32 or f64 (default: by the values)",
	  .word = WORDS("auto", "u32", "i32", "f32", "f64") },

	{ "scale", U32, FOR_GENERATE, AT(scale), "N", .help = "2^N vertices", .high = 63 },
	{ "vertices", U64, FOR_GENERATE, AT(vertices), "N", .help = "so many vertices",
	  .low = 1 },
	{ "degree", REAL, FOR_GENERATE, AT(degree), "D",
	  .help = "edges per vertex (default 16)", .high = DBL_MAX, .open = true },
	{ "weights", CHOICE, FOR_GENERATE, AT(weight_type), "none|u32|f32",
	  .help = "random weights: 1..255, or in (0, 1] (default none)",
	  .word = WORDS("none", "u32", "f32") },
	{ "directed", FLAG, FOR_GENERATE, AT(directed), NULL,
	  .help = "arcs instead of undirected edges" },
	{ "multigraph", FLAG, FOR_GENERATE, AT(multigraph), NULL,
	  .help = "kron, rmat: keep loops and parallel edges" },
	{ "a", REAL, FOR_GENERATE, AT(a), "P",
	  .help = "kron, rmat: of the upper left quarter (default 0.57)", .high = 1,
	  .open = true },
	{ "b", REAL, FOR_GENERATE, AT(b), "P",
	  .help = "kron, rmat: of the upper right quarter (default 0.19)", .high = 1,
	  .open = true },
	{ "c", REAL, FOR_GENERATE, AT(c), "P",
	  .help = "kron, rmat: of the lower left quarter (default 0.19)", .high = 1,
	  .open = true },

	{ "page-size", SIZE, FOR_STORES, AT(page_size), "SIZE",
	  .help = "64K .. 64M, a power of two (default 1M)" },
	{ "codec", CHOICE, FOR_STORES, AT(codec), "packed|raw",
	  .help = "how neighbours are stored (default packed)",
	  .word = WORDS("packed", "raw") },
	{ "addressing", CHOICE, FOR_STORES, AT(addressing), "dense|paged",
	  .help = "what lists hold: vertex numbers (default) or page addresses; paged: raw pages",
	  .word = WORDS("dense", "paged") },
	{ "record-id", TEXT, FOR_STORES, AT(record_id), "P,Q",
	  .help = "paged: bytes of page id and slot number, together 4 (default: slots by the fullest page)" },
	{ "order", CHOICE, FOR_STORES, AT(order), "none|degree|auto",
	  .help = "of the vertices: by id (default), by degree, or what packs better",
	  .word = WORDS("none", "degree", "auto") },
	{ "tmp", TEXT, FOR_STORES, AT(tmp), "DIR",
	  .help = "temporary files of what --memory cannot hold (default: beside the store)" },
	{ "out-only", FLAG, FOR_STORES, AT(out_only), NULL,
	  .help = "directed: leave the in-edges out" },
	{ "stripe", TEXT, FOR_STORES, AT(stripe), "DIR,...",
	  .help = "spread the pages over these directories, one on each disk" },
	{ "force", FLAG, FOR_STORES, AT(force), NULL,
	  .help = "replace a store that is there" },
	{ "memory", SIZE, FOR_STORES, AT(memory), "SIZE",
	  .help = "budget (default 80 % of what is available)" },
	{ "memory", SIZE, FOR_ALGO | FOR_PLAN | FOR_LAB, AT(memory), "SIZE",
	  .help = "budget, as 2G or 25% of the graph (default 80 % of what is available)" },
	{ "device", LIST, FOR_ALGO | FOR_PLAN, AT(device), "NAME",
	  .help = "cpu (default), opencl:N, opencl:all, opencl:N/K (N in K parts): see `list devices`; repeatable for several" },
	{ "device-memory", SIZES, FOR_ALGO | FOR_PLAN, AT(device_memory), "SIZE[,SIZE...]",
	  .help = "device budget (default 90 % of the device's); of several in order, the last for the rest",
	  .device = true },
	{ "device", LIST, FOR_LAB, AT(device), "NAME",
	  .help = "see `list devices` (default opencl); of several the rows gts-p and gts-s use all, the others the first" },
	{ "device-memory", SIZES, FOR_LAB, AT(device_memory), "SIZE[,SIZE...]",
	  .help = "device budget, as 32M or a share of the graph (default 25%); of several devices in order, the last for the rest",
	  .device = true },
	{ "budgets", TEXT, FOR_LAB, AT(budgets), "LIST",
	  .help = "several device budgets: 10%,25%,50%,100%" },
	{ "policies", TEXT, FOR_LAB, AT(policies), "LIST",
	  .help = "the rows: some of all,active,reuse,fifo,lru,frequency,pinned,graphie-naive,graphie-opt1,graphie-opt2,graphie,gts,gts-p,gts-s" },
	{ "wires", TEXT, FOR_LAB, AT(wires), "LIST",
	  .help = "graphie's rows once for each of these wires: edges,csr,packed" },
	{ "queue-counts", TEXT, FOR_LAB, AT(queue_counts), "LIST",
	  .help = "rows once for each of these numbers of queues: 1,2,4,8,16,32; --plot draws times over them" },
	{ "device-caches", TEXT, FOR_LAB, AT(device_caches), "LIST",
	  .help = "gts's rows once for each of these caches: 0,10%,25%,50%,100%; --plot draws hit rates over them" },
	{ "mappings", FLAG, FOR_LAB, AT(mappings), NULL,
	  .help = "rows are mappings of edges to work-items, with lanes and atomics counted; with --policies gts its own",
	  .of = FOR_FRONTIERS | FOR_PAGERANK },
	{ "plot", TEXT, FOR_LAB, AT(plot), "FILE.svg",
	  .help = "pages active and moved in each superstep, a panel for each row" },
	{ "fallback", FLAG, FOR_ALGO, AT(fallback), NULL,
	  .help = "if the device fails, run once more on the cpu", .device = true },
	{ "queues", U32, FOR_ALGO | FOR_LAB, AT(queues), "N",
	  .help = "pages on their way to the device at once (default 32)", .low = 1, .high = 256, .device = true },
	{ "group-size", U32, FOR_ALGO | FOR_LAB, AT(group_size), "N",
	  .help = "work-items of a work-group (default: by the device)", .low = 1, .high = 65536, .device = true },
	{ "mapping", CHOICE, FOR_FRONTIERS | FOR_PAGERANK | FOR_LAB, AT(mapping),
	  "auto|thread|group|input|output|warp|hybrid",
	  .help = "edges to work-items of a device: by vertex, by degree, balanced by frontier or by edges; gts: by virtual warps, or by the page's density",
	  .word = WORDS("auto", "thread", "group", "input", "output", "warp", "hybrid"), .device = true },
	{ "filter", CHOICE, FOR_FRONTIERS | FOR_PLAN | FOR_LAB, AT(filter), "fused|exact|inexact",
	  .help = "what a device does with vertices that it comes to twice (default fused)",
	  .word = WORDS("fused", "exact", "inexact"), .device = true },
	{ "no-skip", FLAG, FOR_ALGO, AT(no_skip), NULL,
	  .help = "send all pages to the device in each step, also those without work", .device = true },
	{ "no-reuse", FLAG, FOR_ALGO, AT(no_reuse), NULL,
	  .help = "send pages in each step, also those that the device has", .device = true },
	{ .kind = POLICIES },
	{ "lanes", FLAG, FOR_ALGO | FOR_LAB, AT(lanes), NULL,
	  .help = "count SIMD slots and atomics of a device (slower)", .device = true },
	{ "policy", TEXT, FOR_ALGO | FOR_PLAN, AT(policy), "NAME",
	  .help = "which page goes when another comes, or graphie, gts: see `list policies` (default auto)" },
	{ "io", CHOICE, FOR_ALGO | FOR_LAB, AT(io), "uring|pread",
	  .help = "how pages are read (default uring, where the system allows it)",
	  .word = WORDS("uring", "pread") },
	{ "threads", U32, FOR_STORES | FOR_ALGO | FOR_PLAN | FOR_LAB, AT(threads), "N",
	  .help = "default: all processors", .low = 1, .high = 4096 },
	{ "seed", U64, FOR_GENERATE | FOR_ALGO | FOR_LAB, AT(seed), "N",
	  .help = "of what is random (default 1)" },
	{ "repeat", U32, FOR_ALGO | FOR_LAB, AT(repeat), "N",
	  .help = "N timed runs after one load (default 1)", .low = 1, .high = 1000000 },
	{ "check", FLAG, FOR_ALGO | FOR_PLAN | FOR_LAB, AT(check), NULL,
	  .help = "certify the result; exit 11 if it is wrong" },
	{ "recalibrate", FLAG, FOR_PLAN, AT(recalibrate), NULL,
	  .help = "measure this machine again" },
	{ "output", TEXT, FOR_ALGO | FOR_PLAN, AT(output), "FILE",
	  .help = "the result by original id: .tsv .csv .npy, - for stdout (also -o)" },

	{ "json", REPORT, FOR_EVERY, AT(json), "[=FILE]",
	  .help = "the report as JSON, instead of text or in FILE" },
	{ "trace", TEXT, FOR_ALGO, AT(trace), "FILE",
	  .help = "the timeline: Chrome trace events, for Perfetto or chrome://tracing" },
	{ "progress", CHOICE, FOR_WORK, AT(progress), "WHEN",
	  .help = "the bar on stderr: auto, always, never",
	  .word = WORDS("auto", "always", "never") },
	{ "quiet", FLAG, FOR_EVERY, AT(quiet), NULL,
	  .help = "no text, no bar; errors only" },
	{ "help", FLAG, FOR_EVERY | FOR_HELP, AT(help), NULL,
	  .help = "this text (also -h)" },
};

#define N_OPTIONS (sizeof(table) / sizeof(table[0]))

/* ---- Rows: those of the table, and in the place of POLICIES those of policies ---- */

static struct option setting_row(const struct mill_policy *policy, const struct mill_option *setting)
{
	static const enum kind kind[] = {
		[MILL_OPTION_FLAG] = FLAG, [MILL_OPTION_U32] = U32,
		[MILL_OPTION_SIZE] = BYTES, [MILL_OPTION_CHOICE] = CHOICE,
	};

	return (struct option){
		.name = setting->name,
		.kind = kind[setting->kind],
		.who = setting->several ? SETTINGS & ~(unsigned)FOR_LAB : SETTINGS,
		.at = AT(settings) + policy->settings + setting->at,
		.argument = setting->argument,
		.help = setting->help,
		.word = setting->word,
		.low = setting->low,
		.high = setting->high,
		.device = true,
		.policy = policy,
		.setting = setting,
	};
}

/* Fills in the i-th option of all policies; false: there are only *n. */
static bool get_setting(struct option *out, size_t i, size_t *n)
{
	const struct mill_policy *policy;
	const struct mill_option *setting;

	*n = 0;
	for (policy = mill_policies(); policy->name; policy++) {
		for (setting = policy->option; setting && setting->name; setting++) {
			if ((*n)++ == i) {
				*out = setting_row(policy, setting);
				return true;
			}
		}
	}
	return false;
}

/* Fills in row i of all; false: there are not so many. */
static bool get_row(struct option *out, size_t i)
{
	size_t before = 0, settings;

	while (table[before].kind != POLICIES)
		before++;
	if (i < before) {
		*out = table[i];
		return true;
	}
	if (get_setting(out, i - before, &settings))
		return true;
	i -= settings - 1;	/* the place itself is no row */
	if (i >= N_OPTIONS)
		return false;
	*out = table[i];
	return true;
}

static size_t count_rows(void)
{
	struct option spec;
	size_t n = 0;

	while (get_row(&spec, n))
		n++;
	return n;
}

static bool is_given(const struct options *o, size_t i) { return o->given && o->given[i]; }

/* ---- Parse ---- */

static void defaults(struct options *o)
{
	*o = (struct options){
		.seed = 1,
		.device = "cpu",
		.policy = "auto",
		.source = "random",
		.repeat = 1,
		.damping = 0.85,
		.buckets = 2,
		.tolerance = 1e-6,
		.iterations = 100,
	};
}

static bool parse_u64(uint64_t *out, const char *text)
{
	uint64_t value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
	}
	*out = value;
	return true;
}

/* Decimal only: strtod alone would take hexadecimal numbers, infinities and leading blanks. */
static bool parse_real(double *out, const char *text)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789.eE+-")])
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

/* Is it one of the few numbers that a setting may be? */
static mill_err check_only(const struct option *spec, uint64_t number, const char *value)
{
	const uint32_t *only = spec->setting->only;
	char words[128];
	size_t length = 0, i;

	for (i = 0; only[i]; i++) {
		if (only[i] == number)
			return MILL_OK;
		if (length < sizeof(words))
			length += (size_t)snprintf(words + length, sizeof(words) - length, "%s%" PRIu32,
						   !i ? "" : only[i + 1] ? ", " : " or ", only[i]);
	}
	return refuse(MILL_EUSAGE, "--%s %s: takes %s", spec->name, value, words);
}

static mill_err take_number(const struct option *spec, void *field, const char *value)
{
	uint64_t high = spec->high > 0 ? (uint64_t)spec->high : UINT64_MAX;
	uint64_t number;

	if (spec->kind == U32 && high > UINT32_MAX)
		high = UINT32_MAX;
	if (!parse_u64(&number, value))
		return refuse(MILL_EUSAGE, "--%s %s: not a whole number below 2^64",
			      spec->name, value);
	if (number < (uint64_t)spec->low || number > high)
		return refuse(MILL_EUSAGE, "--%s %s: must be from %.0f to %.0f", spec->name,
			      value, spec->low, (double)high);
	if (spec->setting && spec->setting->only) {
		mill_err err = check_only(spec, number, value);

		if (err)
			return err;
	}
	if (spec->kind == U32)
		*(uint32_t *)field = (uint32_t)number;
	else
		*(uint64_t *)field = number;
	return MILL_OK;
}

static mill_err take_real(const struct option *spec, double *field, const char *value)
{
	double number;

	if (spec->kind == AUTO_REAL && !strcmp(value, "auto")) {
		*field = 0;
		return MILL_OK;
	}
	if (!parse_real(&number, value))
		return refuse(MILL_EUSAGE, "--%s %s: not a number", spec->name, value);
	if (number < spec->low || number > spec->high ||
	    (spec->open && (number == spec->low || number == spec->high)))
		return refuse(MILL_EUSAGE, "--%s %s: must be %s %g%s%s", spec->name, value,
			      spec->open ? "above" : "at least", spec->low,
			      spec->high == 1 ? " and below " : "",
			      spec->high == 1 ? "1" : "");
	*field = number;
	return MILL_OK;
}

static mill_err take_choice(const struct option *spec, int *field, const char *value)
{
	char words[128];
	size_t length = 0;
	int i;

	for (i = 0; spec->word[i]; i++) {
		if (!strcmp(value, spec->word[i])) {
			*field = i;
			return MILL_OK;
		}
	}
	for (i = 0; spec->word[i] && length < sizeof(words); i++)
		length += (size_t)snprintf(words + length, sizeof(words) - length, "%s%s",
					   i ? ", " : "", spec->word[i]);
	return refuse(MILL_EUSAGE, "--%s %s: takes %s", spec->name, value, words);
}

/* Only one option is a list: --device. */
static mill_err take_list(struct options *o, const struct option *spec, const char **field, const char *value, bool again)
{
	size_t length = again ? strlen(o->devices) : 0;

	if (!*value)
		return refuse(MILL_EUSAGE, "--%s: the value is empty", spec->name);
	if (length + strlen(value) + 2 > sizeof(o->devices))
		return refuse(MILL_EUSAGE, "--%s: too many", spec->name);
	snprintf(o->devices + length, sizeof(o->devices) - length, "%s%s", again ? "," : "", value);
	*field = o->devices;
	return MILL_OK;
}

/* Takes the value of row i. */
static mill_err take(struct options *o, size_t i, const struct option *spec, const char *value)
{
	void *field = (char *)o + spec->at;
	bool again = o->given[i];

	if (again && spec->kind != LIST)
		return refuse(MILL_EUSAGE, "--%s is given twice", spec->name);
	o->given[i] = value ? value : "";
	switch (spec->kind) {
	case FLAG:
		*(bool *)field = true;
		return MILL_OK;
	case REPORT:
		o->json = true;
		o->json_file = value;
		if (value && !*value)
			return refuse(MILL_EUSAGE,
				      "--json=: the name of the file is missing");
		return MILL_OK;
	case TEXT:
		if (!*value)
			return refuse(MILL_EUSAGE, "--%s: the value is empty", spec->name);
		*(const char **)field = value;
		return MILL_OK;
	case LIST:
		return take_list(o, spec, field, value, again);
	case SIZE:
		((struct size_option *)field)->text = value;
		return MILL_OK;
	case SIZES:
		((struct sizes_option *)field)->text = value;
		return MILL_OK;
	case BYTES:
	case POLICIES:
		return MILL_OK;
	case U32:
	case U64:
		return take_number(spec, field, value);
	case REAL:
	case AUTO_REAL:
		return take_real(spec, field, value);
	case CHOICE:
		return take_choice(spec, field, value);
	case SWITCH:
		if (value) {
			mill_err err = take_choice(spec, field, value);

			if (err)
				return err;
		}
		++*(int *)field;
		return MILL_OK;
	}
	return MILL_EBUG;
}

/* Finds the option of a name, which may go on behind a =; *at is its row. */
static bool find(struct option *out, size_t *at, unsigned who, const char *name)
{
	size_t length = strcspn(name, "=");

	for (*at = 0; get_row(out, *at); ++*at)
		if ((out->who & who) == who && !strncmp(out->name, name, length) && !out->name[length])
			return true;
	return false;
}

static mill_err unknown(unsigned who, const char *command, const char *argument)
{
	char word[64];
	struct nearest near = { .word = word };
	struct option spec;
	size_t i;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(argument, "="), argument);
	if (word[0] == '-' && word[1] == '-') {
		near.word = word + 2;
		for (i = 0; get_row(&spec, i); i++)
			if ((spec.who & who) == who)
				nearest_try(&near, spec.name);
	}
	if (near.best && nearest_found(&near))
		return refuse(MILL_EUSAGE, "%s: unknown option %s; did you mean --%s?",
			      command, word, nearest_found(&near));
	return refuse(MILL_EUSAGE, "%s: unknown option %s; see `millrace help %s`", command,
		      word, command);
}

/* One option and, where it is an argument of its own, its value: *n arguments. */
static mill_err parse_one(struct options *o, unsigned who, const char *command, int argc,
			  char **argv, int *n)
{
	const char *argument = argv[0], *value = NULL;
	struct option spec;
	bool found = false;
	size_t i = 0;

	*n = 1;
	if (!strcmp(argument, "-h")) {
		found = find(&spec, &i, who, "help");
	} else if (argument[1] == 'o') {
		found = find(&spec, &i, who, "output");
		if (argument[2])
			value = argument + 2;
	} else if (argument[1] == '-') {
		found = find(&spec, &i, who, argument + 2);
		value = strchr(argument, '=');
		if (value)
			value++;
	}
	if (!found)
		return unknown(who, command, argument);
	if (spec.kind == FLAG && value)
		return refuse(MILL_EUSAGE, "--%s takes no value", spec.name);
	if (spec.kind != FLAG && spec.kind != REPORT && spec.kind != SWITCH && !value) {
		/* "--source --check" is a forgotten value, not a source. */
		if (argc < 2 || !strncmp(argv[1], "--", 2))
			return refuse(MILL_EUSAGE, "--%s needs a value: --%s %s",
				      spec.name, spec.name, spec.argument);
		value = argv[1];
		*n = 2;
	}
	return take(o, i, &spec, value);
}

mill_err options_parse(struct options *o, unsigned who, const char *command, int argc,
		       char **argv)
{
	mill_err err;
	int i, n;

	defaults(o);
	if (who & FOR_CDLP)
		o->iterations = 10;
	if (who & FOR_LAB) {
		o->device = "opencl";
		o->device_memory.text = "25%";
	}
	o->operand = (const char **)argv;
	o->given = calloc(count_rows(), sizeof(*o->given));
	if (!o->given)
		return refuse(MILL_ENOMEM, "no memory for the options");
	for (i = 0; i < argc; i += n) {
		n = 1;
		if (!strcmp(argv[i], "--")) {
			for (i++; i < argc; i++)
				argv[o->n_operands++] = argv[i];
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			argv[o->n_operands++] = argv[i];
			continue;
		}
		err = parse_one(o, who, command, argc - i, argv + i, &n);
		if (err)
			return err;
	}
	return MILL_OK;
}

void options_release(struct options *o)
{
	free(o->given);
	o->given = NULL;
}

void options_scan_json(struct options *o, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--json")) {
			o->json = true;
		} else if (!strncmp(argv[i], "--json=", 7) && argv[i][7]) {
			o->json = true;
			o->json_file = argv[i] + 7;
		}
	}
}

bool option_given(const struct options *o, const char *name)
{
	struct option spec;
	size_t i;

	for (i = 0; get_row(&spec, i); i++)
		if (is_given(o, i) && !strcmp(spec.name, name))
			return true;
	return false;
}

mill_err options_restrict(const struct options *o, unsigned who, const char *for_what)
{
	struct option spec;
	size_t i;

	for (i = 0; get_row(&spec, i); i++) {
		/* What no algorithm has is the plan's or the lab's, for all algorithms or those that it names. */
		unsigned of = spec.who & FOR_ALGO ? spec.who : spec.of ? spec.of : who;

		if (is_given(o, i) && (of & who) != who)
			return refuse(MILL_EUSAGE, "--%s means nothing for %s", spec.name, for_what);
	}
	return MILL_OK;
}

mill_err options_check_native(const struct options *o)
{
	struct option spec;
	size_t i;

	for (i = 0; get_row(&spec, i); i++)
		if (is_given(o, i) && spec.device)
			return refuse(MILL_EUSAGE, "--%s needs another --device than cpu", spec.name);
	return MILL_OK;
}

/* ---- Sizes and settings ---- */

mill_err option_size_or_0(struct size_option *size, const char *name, uint64_t csr_bytes)
{
	mill_err err;

	if (!size->text)
		return MILL_OK;
	err = mill_size_parse(&size->bytes, size->text, csr_bytes);
	return err ? refuse(err, "--%s %s: %s", name, size->text, mill_error()) : MILL_OK;
}

mill_err option_size(struct size_option *size, const char *name, uint64_t csr_bytes)
{
	mill_err err = option_size_or_0(size, name, csr_bytes);

	if (!err && size->text && !size->bytes)
		size->bytes = 1;
	return err;
}

mill_err option_sizes(struct sizes_option *sizes, const char *name, uint64_t csr_bytes)
{
	const char *at = sizes->text;
	uint32_t n;

	for (n = 0; at; n++) {
		size_t length = strcspn(at, ",");
		char text[64];
		mill_err err;

		if (n == MILL_DEVICES_MOST)
			return refuse(MILL_EUSAGE, "--%s %s: more than %d sizes", name, sizes->text, MILL_DEVICES_MOST);
		snprintf(text, sizeof(text), "%.*s", (int)length, at);
		err = mill_size_parse(&sizes->bytes[n], text, csr_bytes);
		if (err)
			return refuse(err, "--%s %s: %s", name, sizes->text, mill_error());
		if (!sizes->bytes[n])
			sizes->bytes[n] = 1;
		at = at[length] ? at + length + 1 : NULL;
	}
	sizes->n = n;
	return MILL_OK;
}

mill_err options_settle_sizes(struct options *o, uint64_t csr_bytes)
{
	struct option spec;
	size_t i;

	for (i = 0; get_row(&spec, i); i++) {
		struct size_option size = { .text = o->given[i] };
		mill_err err;

		if (spec.kind != BYTES || !size.text)
			continue;
		err = option_size_or_0(&size, spec.name, csr_bytes);
		if (err)
			return err;
		if (!size.bytes)
			size.bytes = spec.setting->zero ? MILL_SIZE_NONE : 1;
		*(uint64_t *)((char *)o + spec.at) = size.bytes;
	}
	return MILL_OK;
}

void options_settle(struct options *o, const struct mill_policy *policy)
{
	const struct mill_option *setting;

	for (setting = policy->option; setting && setting->name; setting++) {
		uint32_t *field = (uint32_t *)((char *)&o->settings + policy->settings + setting->at);

		if (setting->usual && !*field)
			*field = setting->usual;
	}
}

const struct mill_option *policy_option(const struct mill_policy *policy, const char *name)
{
	const struct mill_option *setting;

	for (setting = policy->option; setting && setting->name; setting++)
		if (!strcmp(setting->name, name))
			return setting;
	return NULL;
}

/* ---- Help and report ---- */

void options_help(unsigned who)
{
	struct option spec;
	char left[64];
	size_t i;

	for (i = 0; get_row(&spec, i); i++) {
		if ((spec.who & who) != who)
			continue;
		snprintf(left, sizeof(left), "--%s%s%s", spec.name,
			 spec.argument && spec.argument[0] != '[' ? " " : "",
			 spec.argument ? spec.argument : "");
		printf("  %-26s %s%s%s\n", left, spec.policy ? spec.policy->name : "", spec.policy ? ": " : "",
		       spec.help);
	}
}

/* "page-size" is the report's "page_size". */
static const char *report_key(const char *name)
{
	static char key[32];
	char *c;

	snprintf(key, sizeof(key), "%s", name);
	for (c = key; *c; c++)
		if (*c == '-')
			*c = '_';
	return key;
}

/* A number, of several devices an array; null: there is none. */
static void report_sizes(const struct sizes_option *sizes, const char *key, struct json *j)
{
	uint32_t i;

	if (!sizes->n) {
		json_null(j, key);
		return;
	}
	if (sizes->n == 1) {
		json_u64(j, key, sizes->bytes[0]);
		return;
	}
	json_array(j, key);
	for (i = 0; i < sizes->n; i++)
		json_u64(j, NULL, sizes->bytes[i]);
	json_array_end(j);
}

/* A number that was neither given nor has a default is 0 inside and null in the report. */
static void report_value(const struct options *o, const struct option *spec, bool given, struct json *j)
{
	const void *field = (const char *)o + spec->at;
	const char *key = report_key(spec->name);
	uint64_t number = 0;

	switch (spec->kind) {
	case FLAG:
		json_bool(j, key, *(const bool *)field);
		return;
	case TEXT:
	case LIST:
		json_string(j, key, *(const char *const *)field);
		return;
	case SIZES:
		report_sizes(field, key, j);
		return;
	case CHOICE:
		json_string(j, key, spec->word[*(const int *)field]);
		return;
	case SWITCH:
		json_string(j, key, *(const int *)field ? spec->word[*(const int *)field - 1] : NULL);
		return;
	case AUTO_REAL:
		if (*(const double *)field == 0) {
			json_string(j, key, "auto");
			return;
		}
		/* fall through */
	case REAL:
		if (*(const double *)field == 0 && !given)
			json_null(j, key);
		else
			json_f64(j, key, *(const double *)field);
		return;
	case U32:
		number = *(const uint32_t *)field;
		break;
	case U64:
		number = *(const uint64_t *)field;
		break;
	case SIZE:
		number = ((const struct size_option *)field)->bytes;
		break;
	case BYTES:
		number = *(const uint64_t *)field == MILL_SIZE_NONE ? 0 : *(const uint64_t *)field;
		break;
	case REPORT:
	case POLICIES:
		return;
	}
	if (!number && !given)
		json_null(j, key);
	else
		json_u64(j, key, number);
}

static bool belongs(const struct option *spec, unsigned who)
{
	return (spec->who & who) == who || (!(spec->who & FOR_ALGO) && (spec->who & who));
}

void options_report(const struct options *o, unsigned who, struct json *j)
{
	struct option spec;
	size_t i;

	json_object(j, "options");
	for (i = 0; get_row(&spec, i); i++) {
		/* What concerns only the talking is no option of the work. */
		if (belongs(&spec, who) && spec.kind != REPORT && spec.at != AT(help) &&
		    spec.at != AT(quiet) && spec.at != AT(progress))
			report_value(o, &spec, is_given(o, i), j);
	}
	json_object_end(j);
}
