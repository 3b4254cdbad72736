/* SPDX-License-Identifier: Apache-2.0 */
/* Strong components: the part of the graph that is worked on by one thread in memory. */
#ifndef ALGO_SCC_H
#define ALGO_SCC_H

#include "algo/component.h"

/* Lists in memory, of every vertex of the graph or of none: a resident topology, or what was extracted of a streamed one. */
struct lists {
	const struct segment *segment;	/* as in struct topology */
	u32 n_segments;
	/* What was extracted: freed by lists_release. */
	struct segment own;
	u32 *row;
	vid *neighbour;
};

/* The edges that a subgraph has at most which can be extracted, and host bytes of that. */
u64 lists_most(const struct store *st);
u64 lists_bytes(const struct store *st);
/*
 * The lists of a direction. A streamed one is read in two passes, and of it only edges between vertices are
 * kept for which inner(arg, u, v) holds: there must be at most lists_most of them. Where active (NULL: everywhere) is false
 * for a range that has u, inner must be too, without a look at v.
 */
mill_err lists_get(struct mill_run *r, struct lists *out, bool in, bool (*active)(void *arg, u64 begin, u64 end),
		   bool (*inner)(void *arg, vid u, vid v), void *arg);
void lists_release(struct lists *l);
/* v's i-th neighbour; NO_VERTEX after the last. */
vid lists_at(const struct lists *l, vid v, u64 i);

/*
 * Closes all open vertices by one depth-first search (Tarjan's, with Pearce's stack). root: UINT32_MAX where open; edges between
 * vertices of different colours do not count.
 */
mill_err scc_finish(struct mill_run *r, const struct lists *l, u32 *root, const u32 *colour);
u64 scc_finish_bytes(const struct store *st);

mill_err scc_check(struct mill_run *r);
u64 scc_check_bytes(const struct store *st);

#endif
