/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strong components: the lists that one thread works on in memory, the depth-first search
 * over them, and the certificate. `scc` is two searches from a pivot, trimming, colouring,
 * and Tarjan's algorithm in memory on the rest. A streamed rest is extracted as soon as it
 * has no more edges than the graph has vertices (lists_most).
 */
#ifndef ALGO_SCC_H
#define ALGO_SCC_H

#include "algo/component.h"

/* Lists of all vertices in memory: a resident topology, or edges extracted from a streamed one. */
struct lists {
	const struct segment *segment;	/* as in struct topology */
	u32 n_segments;
	/* The extracted edges, freed by lists_release. */
	struct segment own;
	u32 *row;
	vid *neighbour;
};

/* Returns the largest number of edges that can be extracted. */
u64 lists_most(const struct store *st);
/* Returns the host bytes of lists_most extracted edges. */
u64 lists_bytes(const struct store *st);
/*
 * Gets the lists of a direction. A streamed direction is read in two passes, and only edges
 * with inner(arg, u, v) are kept, at most lists_most of them. If active (NULL: always true)
 * is false for a range of vertices that contains u, inner must be false for all edges of u.
 */
mill_err lists_get(struct mill_run *r, struct lists *out, bool in,
		   bool (*active)(void *arg, u64 begin, u64 end),
		   bool (*inner)(void *arg, vid u, vid v), void *arg);
void lists_release(struct lists *l);
/* Returns v's i-th neighbour, or NO_VERTEX after the last. */
vid lists_at(const struct lists *l, vid v, u64 i);

/*
 * Finds the components of all open vertices by one depth-first search (Tarjan's, with
 * Pearce's stack). A vertex is open while its root is UINT32_MAX. Edges between vertices of
 * different colours do not count.
 */
mill_err scc_finish(struct mill_run *r, const struct lists *l, u32 *root, const u32 *colour);
u64 scc_finish_bytes(const struct store *st);

mill_err scc_check(struct mill_run *r);
u64 scc_check_bytes(const struct store *st);

#endif
