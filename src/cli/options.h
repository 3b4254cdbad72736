/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of one call, as parsed from its arguments. A command knows only the options in its
 * rows; any other option is an error.
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
	struct option *row;	/* the options that the command takes */
	size_t n_rows;
	/* Of a run, plan or lab; NULL for other commands and for an unknown name. */
	const struct mill_algorithm *algorithm;
	void *how;		/* the options struct of that algorithm */

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
	struct mill_options settings;	/* only the settings of policies are used */
	int mapping;		/* enum mill_mapping */
	int filter;		/* enum mill_filter */
	int direction;		/* enum mill_direction */
	double do_a, do_b;

	/* labs */
	const char *policies, *budgets, *plot, *wires, *queue_counts, *device_caches;
	bool mappings;
};

/*
 * Fills o from the arguments after the command's name. Moves the operands to the front of argv;
 * o->operand points there. The caller calls options_release(), also after a failure.
 */
mill_err options_parse(struct options *o, const struct command *c, int argc, char **argv);
void options_release(struct options *o);

/* After a failed parse: looks for --json, so that the error still gets into the report. */
void options_scan_json(struct options *o, int argc, char **argv);

bool option_given(const struct options *o, const char *name);
/* Fails with MILL_EUSAGE if an option was given that only devices use. */
mill_err options_check_native(const struct options *o);
/*
 * Returns true if the algorithm runs in steps with these options. Some algorithms have steps only
 * with one of their methods.
 */
bool options_have_steps(const struct options *o);

/* Converts a size to bytes. Not given: 0, the default. "0" becomes 1, since 0 means the default. */
mill_err option_size(struct size_option *size, const char *name, uint64_t csr_bytes);
/* The same, but "0" stays 0. */
mill_err option_size_or_0(struct size_option *size, const char *name, uint64_t csr_bytes);
/* The same as option_size for a list of sizes. */
mill_err option_sizes(struct sizes_option *sizes, const char *name, uint64_t csr_bytes);

/* Converts all sizes in the settings of policies and algorithms to bytes. */
mill_err options_settle_sizes(struct options *o, uint64_t csr_bytes);
/* Fills in the fixed defaults of a policy's settings, for the report. */
void options_settle(struct options *o, const struct mill_policy *policy);
/* Returns the policy's option of this name, or NULL. */
const struct mill_option *policy_option(const struct mill_policy *policy, const char *name);

/* Adds the object "options" to a report. */
void options_report(const struct options *o, struct json *j);

#endif
