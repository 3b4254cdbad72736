/* SPDX-License-Identifier: Apache-2.0 */
/* What commands share in talking: the human text, parts of the report, its delivery. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/command.h"

/* Text for people: nothing with --quiet, --json, or when stdout carries a result. */
void say(const struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "store": info may be NULL, then only the path is known. */
void report_store(struct json *j, const char *path, const struct mill_info *info);

/* "predicted": p may be NULL, then nothing is known. */
void report_predicted(struct json *j, const struct mill_prediction *p);
/* The terms of GTS's equation for a run on a device, and what it took where it was made (else NULL); null where there is no device. */
void report_cost(struct json *j, const struct mill_prediction *p, const struct mill_cost *actual);
void print_cost(const struct call *call, const struct mill_prediction *p, const struct mill_cost *actual);

void count_or_null(struct json *j, const char *key, bool known, uint64_t count);
void seconds_or_null(struct json *j, const char *key, bool known, double seconds);
/* Returns the policy as under which a run on a device goes over pages, where its own has no kernels for the algorithm; else NULL. */
const char *policy_otherwise(const char *policy, bool owns);
/* "policy_owns": null where there was no run on a device, or the policy has no kernels. */
void report_owns(struct json *j, bool known, const char *policy, bool owns);
/* Partitions of the policy graphie, or null. */
void report_partitions(struct json *j, const struct mill_partitions *p);
void report_streaming(struct json *j, const struct mill_streaming *s);
const char *strategy_word(enum mill_strategy strategy);
const char *wire_word(enum mill_wire wire);
/* An element of "supersteps"; counted: lanes and atomics were. */
void report_step(struct json *j, const struct mill_step *s, bool counted);

/* Of n > 0 values. */
mill_err median(double *out, const double *value, size_t n);
/* Peak resident set (VmHWM) of this process in bytes. */
uint64_t peak_rss(void);
/* How many processors this process may use. */
uint32_t processors(void);

/*
 * Would FILE be writable at the end? Said at the start, since hours may lie between. "-" is.
 * `option` names it for the message.
 */
mill_err output_possible(const char *option, const char *path);
/* The file appears whole or not at all. */
mill_err output_write(const char *path, const char *text);

/* Closes the report with "error" (code 0: null) and writes it where it was asked for. */
mill_err report_deliver(struct call *call, int code);
/* Everything written to stdout has arrived. */
mill_err stdout_finish(void);

#endif
