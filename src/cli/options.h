/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a call: what was given, by the rows that the command has. An option that a command does not take is unknown to it.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <millrace.h>

#include "cli/json.h"
#include "cli/option.h"

enum io_word { IO_URING, IO_PREAD };

struct options {
	const char **operand;
	int n_operands;
	struct option *row;	/* what the command takes */
	size_t n_rows;
	const struct mill_algorithm *algorithm;	/* of a run, plan or lab; NULL: it has none, or none of that name */
	void *how;		/* its options */

	/* all commands */
	bool help, quiet;
	struct report_option json;
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
	const char *policy, *trace;
	struct list_option device;
	int io;			/* enum io_word */
	bool check, async, recalibrate;
	bool fallback, no_skip, no_reuse, lanes;
	uint32_t queues, group_size;
	struct mill_options settings;	/* of policies: all else in it is 0 */
	int mapping;		/* enum mill_mapping */
	int filter;		/* enum mill_filter */
	int direction;		/* enum mill_direction */
	double do_a, do_b;

	/* labs */
	const char *policies, *budgets, *plot, *wires, *queue_counts, *device_caches;
	bool mappings;
};

/*
 * Fills o from the arguments after the command's name. o->operand points into argv, whose order changes: operands come
 * first. What it holds is left to options_release() also after a failure.
 */
mill_err options_parse(struct options *o, const struct command *c, int argc, char **argv);
void options_release(struct options *o);

/* For a parse that failed: was a report asked for? */
void options_scan_json(struct options *o, int argc, char **argv);

bool option_given(const struct options *o, const char *name);
/* Refuses one that was given although only devices heed it. */
mill_err options_check_native(const struct options *o);
/* Does the algorithm have steps with these options? Some have them only by one of their methods. */
bool options_have_steps(const struct options *o);

/* Resolves a size: not given stays 0; "0" becomes 1, since 0 means the default further down. */
mill_err option_size(struct size_option *size, const char *name, uint64_t csr_bytes);
/* The same where 0 is 0. */
mill_err option_size_or_0(struct size_option *size, const char *name, uint64_t csr_bytes);
/* And of a list. */
mill_err option_sizes(struct sizes_option *sizes, const char *name, uint64_t csr_bytes);

/* Resolves the sizes among the settings of policies and algorithms. */
mill_err options_settle_sizes(struct options *o, uint64_t csr_bytes);
/* Fills in what defaults of a policy's settings come to, where that does not depend. */
void options_settle(struct options *o, const struct mill_policy *policy);
/* The policy's option of this name; NULL if it has none. */
const struct mill_option *policy_option(const struct mill_policy *policy, const char *name);

/* Adds them to a report as its "options". */
void options_report(const struct options *o, struct json *j);

#endif
