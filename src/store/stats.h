/* SPDX-License-Identifier: Apache-2.0 */
/* What the manifest says about all lists together: counted once by the writer, again by verify. */
#ifndef STORE_STATS_H
#define STORE_STATS_H

#include <millrace.h>

#include "base/types.h"

struct stats {
	enum mill_weight weight;
	u64 edges, self_loops;
	u64 parallel_edges;	/* equal to the one before it in its list */
	f64 min_weight, max_weight;
	/* Integers are summed exactly, floats in binary64 and in storage order. */
	__int128 integer_sum;
	f64 float_sum;
	bool not_a_number;	/* a weight that is none */
	bool begun;
	vid vertex, last;	/* of the part that came last: a list may come in several */
};

/* Part of the list of v, in storage order; neighbour ascends. */
void stats_add(struct stats *s, vid v, const vid *neighbour, const void *weight, u64 n);
f64 stats_sum_weight(const struct stats *s);

#endif
