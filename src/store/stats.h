/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics over all lists, for the manifest. The writer computes them, and verify again. */
#ifndef STORE_STATS_H
#define STORE_STATS_H

#include <millrace.h>

#include "base/types.h"

struct stats {
	enum mill_weight weight;
	u64 edges, self_loops;
	u64 parallel_edges;	/* edges with the same neighbour as the edge before in the list */
	f64 min_weight, max_weight;
	/* Integers are summed exactly, floats in binary64 and in storage order. */
	__int128 integer_sum;
	f64 float_sum;
	bool not_a_number;	/* a weight is NaN */
	bool begun;
	vid vertex, last;	/* of the last piece: its vertex and its last neighbour */
};

/* Adds a list of v, or the next piece of it. Lists come in storage order; neighbours ascend. */
void stats_add(struct stats *s, vid v, const vid *neighbour, const void *weight, u64 n);
f64 stats_sum_weight(const struct stats *s);

#endif
