/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies, the values of --policy. Each has a file; policies that differ only in which page
 * they evict first share pages.c. The table of policies is in policy.c. A policy is a name,
 * rows of options, and the functions of struct policy (transfer/transfer.h). Only
 * policy_find compares names.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "transfer/transfer.h"

/* Returns the bytes of a size option that is set. */
static inline u64 size_bytes(u64 size) { return size == MILL_SIZE_NONE ? 0 : size; }

extern const struct policy policy_auto, policy_fifo, policy_lru, policy_frequency, policy_pinned,
	policy_graphie, policy_gts, policy_largegraph;

/* Returns the policy of this name, or NULL if there is none. name NULL: the default policy. */
const struct policy *policy_find(const char *name);
/* Returns the policy for several devices if the user names none. */
const struct policy *policy_several(void);

/*
 * Fails if a setting of another policy is set, or a value is not allowed by this policy's
 * rows.
 */
mill_err policy_check(const struct policy *chosen, const struct mill_options *o);
/* Fails if a general option has a value that the policy does not allow in its own runs. */
mill_err policy_suits(const struct policy *p, const struct mill_options *o, const char *algorithm);
/*
 * Sets to the default the settings of all other policies, and each general option with a
 * value that this policy does not allow. Wrong values of its own settings stay.
 */
void policy_leave_others(const struct policy *chosen, struct mill_options *o);
/* Copies the settings of the variant that are not 0 to the options. */
void policy_merge(struct mill_options *o, const struct mill_variant *v);
/* Sets settings that are 0 to their usual value. */
void policy_settle(struct mill_options *o);

/* Returns Graphie's units, or NULL if the transfer has other units. */
struct partitions;
const struct partitions *graphie_table(const struct transfer *t);
/* Returns the partition size by rule V-C for this number of queues, for an open transfer. */
u64 graphie_size(const struct transfer *t, u32 queues);

#endif
