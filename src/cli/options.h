/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of all commands: one table says what each is called, which commands take it, what it
 * may hold and what help says of it. An option that a command does not take is unknown to it. Options of
 * policies are rows of mill_policies(), and follow that table.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <millrace.h>

#include "cli/json.h"

/* Commands as bits. */
enum {
	FOR_IMPORT = 1 << 0,
	FOR_GENERATE = 1 << 1,
	FOR_EXPORT = 1 << 2,
	FOR_INFO = 1 << 3,
	FOR_VERIFY = 1 << 4,
	FOR_PLAN = 1 << 5,
	FOR_LIST = 1 << 6,
	FOR_HELP = 1 << 7,
	FOR_BFS = 1 << 8,
	FOR_SSSP = 1 << 9,
	FOR_PAGERANK = 1 << 10,
	FOR_CC = 1 << 11,
	FOR_BC = 1 << 12,
	FOR_TRIANGLES = 1 << 13,
	FOR_KCORE = 1 << 14,
	FOR_DEGREES = 1 << 15,
	FOR_CDLP = 1 << 16,
	FOR_SCC = 1 << 17,
	FOR_LAB = 1 << 18,
};
#define FOR_ALGO \
	(FOR_BFS | FOR_SSSP | FOR_PAGERANK | FOR_CC | FOR_BC | FOR_TRIANGLES | FOR_KCORE | \
	 FOR_DEGREES | FOR_CDLP | FOR_SCC)

/* They go along frontiers on a device, in steps that --mapping and --filter change; cc does by labels. */
#define FOR_FRONTIERS (FOR_BFS | FOR_SSSP | FOR_CC | FOR_BC | FOR_KCORE | FOR_SCC)

/* A size waits as text until it is known what 100 % is. */
struct size_option {
	const char *text;	/* NULL: not given */
	uint64_t bytes;
};

/* One for each device, the last for the rest. */
struct sizes_option {
	const char *text;	/* "4M,25%"; NULL: not given */
	uint64_t bytes[MILL_DEVICES_MOST];
	uint32_t n;
};

enum io_word { IO_URING, IO_PREAD };
enum precision_word { PRECISION_F32, PRECISION_F64 };

struct options {
	const char **operand;
	int n_operands;
	const char **given;	/* the value of each row as it was given, "" of flags; NULL: it was not */

	/* all commands */
	bool help, quiet;
	bool json;		/* the report is wanted ... */
	const char *json_file;	/* ... in this file; NULL: on stdout, instead of text */
	int progress;		/* enum progress_when */
	const char *output;

	/* making stores */
	bool force, directed, undirected, out_only, multigraph;
	int dedup, loops;
	const char *weights;	/* import: none, auto or a column */
	const char *format;
	uint32_t base, id_bits;
	bool names;
	int weight_type;	/* import; generate --weights */
	struct size_option page_size;
	const char *tmp;
	const char *stripe;
	int order;
	int codec;		/* enum mill_codec */
	int addressing;		/* enum mill_addressing */
	const char *record_id;
	uint32_t scale;
	uint64_t vertices;
	double degree, a, b, c;

	/* runs */
	struct size_option memory;
	struct sizes_option device_memory;
	uint32_t threads, repeat;
	uint64_t seed;
	const char *policy, *source, *trace;
	const char *device;	/* names separated by commas */
	char devices[1024];	/* room for several */
	int io;			/* enum io_word */
	bool check, async, recalibrate;
	bool fallback, no_skip, no_reuse, lanes;
	uint32_t queues, group_size, buckets;
	struct mill_options settings;	/* of policies: all else in it is 0 */
	int mapping;		/* enum mill_mapping */
	int filter;		/* enum mill_filter */
	int direction;		/* enum mill_direction */
	double delta, do_a, do_b;
	bool unit_weights;
	double damping, tolerance;
	uint32_t iterations;
	int precision;		/* enum precision_word */
	bool exact;
	const char *personalize;
	const char *sources;
	bool normalized;
	int method;		/* enum mill_cc_method */
	int lcc;		/* enum mill_lcc */

	/* labs */
	const char *policies, *budgets, *plot, *wires, *queue_counts, *device_caches;
	bool mappings;
};

/*
 * Fills o from the arguments after the command's name. `who` is the command's bit; wherever there are two
 * bits (the plan or lab of an algorithm) an option must belong to both, or to no algorithm at all. o->operand
 * points into argv, whose order changes: operands come first. What it holds is left to options_release() also
 * after a failure.
 */
mill_err options_parse(struct options *o, unsigned who, const char *command, int argc, char **argv);
void options_release(struct options *o);

/* For a parse that failed: was a report asked for? */
void options_scan_json(struct options *o, int argc, char **argv);

bool option_given(const struct options *o, const char *name);
/* Refuses an option that was given although it does not belong to `who`. */
mill_err options_restrict(const struct options *o, unsigned who, const char *for_what);
/* Refuses one that was given although only devices heed it. */
mill_err options_check_native(const struct options *o);

/* Resolves a size: not given stays 0; "0" becomes 1, since 0 means the default further down. */
mill_err option_size(struct size_option *size, const char *name, uint64_t csr_bytes);
/* The same where 0 is 0. */
mill_err option_size_or_0(struct size_option *size, const char *name, uint64_t csr_bytes);
/* And of a list. */
mill_err option_sizes(struct sizes_option *sizes, const char *name, uint64_t csr_bytes);

/* Resolves the sizes among the settings of policies. */
mill_err options_settle_sizes(struct options *o, uint64_t csr_bytes);
/* Fills in what defaults of a policy's settings come to, where that does not depend. */
void options_settle(struct options *o, const struct mill_policy *policy);
/* The policy's option of this name; NULL if it has none. */
const struct mill_option *policy_option(const struct mill_policy *policy, const char *name);

/* The options of a command for its help, and as the report's "options". */
void options_help(unsigned who);
void options_report(const struct options *o, unsigned who, struct json *j);

#endif
