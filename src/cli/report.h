/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of commands: the text for people, the common sections of the JSON report, and its
 * delivery to stdout or a file. docs/reports.md explains every line and every key.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/command.h"

/* Prints text for people. Prints nothing with --quiet, with --json, or if stdout has the result. */
void say(const struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds "store". info NULL: the store could not be opened, so only the path is known. */
void report_store(struct json *j, const char *path, const struct mill_info *info);

/* Adds "predicted". p NULL: all values are null. */
void report_predicted(struct json *j, const struct mill_prediction *p);
/*
 * Add "cost" and print it as a table: the terms of GTS's equation for a run on a device, as
 * predicted and as measured. actual NULL: there was no run. Without a device "cost" is null and
 * nothing is printed.
 */
void report_cost(struct json *j, const struct mill_prediction *p, const struct mill_cost *actual);
void print_cost(const struct call *call, const struct mill_prediction *p,
		const struct mill_cost *actual);

void count_or_null(struct json *j, const char *key, bool known, uint64_t count);
void seconds_or_null(struct json *j, const char *key, bool known, double seconds);
/*
 * Returns the name of the policy that a run on a device falls back to if its own policy has no
 * kernels for the algorithm, or NULL if it has (`owns`) or needs none.
 */
const char *policy_otherwise(const char *policy, bool owns);
/* Adds "policy_owns": null without a run on a device, or if the policy has no kernels at all. */
void report_owns(struct json *j, bool known, const char *policy, bool owns);
/* Adds "partitions" (of the policy graphie); null if there are none. */
void report_partitions(struct json *j, const struct mill_partitions *p);
/* Adds "gts" (the layout of the policy gts); null if the run had none. */
void report_streaming(struct json *j, const struct mill_streaming *s);
/* Adds "largegraph" (paths and chunks of the policy largegraph); null if the run had none. */
void report_chunks(struct json *j, const struct mill_chunks *c);
const char *strategy_word(enum mill_strategy strategy);
const char *wire_word(enum mill_wire wire);
/* Adds one element of "supersteps". counted: lanes and atomics were counted. */
void report_step(struct json *j, const struct mill_step *s, bool counted);

/* Computes the median of n > 0 values. */
mill_err median(double *out, const double *value, size_t n);
/* Returns the peak resident set (VmHWM) of this process in bytes; 0 if it is unknown. */
uint64_t peak_rss(void);
/* Returns the number of processors that this process may use. */
uint32_t processors(void);

/*
 * Fails if a file of this name cannot be written. Called at the start, since the file is written
 * at the end, maybe hours later. The path "-" (stdout) is fine. option: for the message.
 */
mill_err output_possible(const char *option, const char *path);
/* Writes a file, which appears whole or not at all. */
mill_err output_write(const char *path, const char *text);

/* Adds "error" (null if code is 0), ends the report and writes it to stdout or its file. */
mill_err report_deliver(struct call *call, int code);
/* Flushes and closes stdout. Fails if any write to it failed. */
mill_err stdout_finish(void);

#endif
