/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies: a file for each, or for some that differ in one thing; the table of them is in policy.c. A policy is a name, rows of options, and what the
 * engine must know of it. Nothing else compares names: policy_find is the one look-up.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "transfer/transfer.h"

/* Of a size that is set. */
static inline u64 size_bytes(u64 size) { return size == MILL_SIZE_NONE ? 0 : size; }

extern const struct policy policy_auto, policy_fifo, policy_lru, policy_frequency, policy_pinned, policy_graphie, policy_gts;

/* NULL if there is none of this name; the default of NULL. */
const struct policy *policy_find(const char *name);
/* The one that several devices choose where none is named. */
const struct policy *policy_several(void);

/* Refuses settings of other policies, and values that the rows of this one do not allow. */
mill_err policy_check(const struct policy *chosen, const struct mill_options *o);
/* Refuses values of general options that it does not have, for an algorithm that it owns. */
mill_err policy_suits(const struct policy *p, const struct mill_options *o, const char *algorithm);
/* Makes the default of all that the two refuse, but for values that no policy allows. */
void policy_leave_others(const struct policy *chosen, struct mill_options *o);
/* Gives the options the settings of the variant that are not 0. */
void policy_merge(struct mill_options *o, const struct mill_variant *v);
/* Gives what is 0 the value that it usually comes to. */
void policy_settle(struct mill_options *o);

/* Graphie's units, or NULL if the transfer has others. */
struct partitions;
const struct partitions *graphie_table(const struct transfer *t);
/* The size of a partition by rule V-C with so many queues, for what the transfer was opened with. */
u64 graphie_size(const struct transfer *t, u32 queues);

#endif
