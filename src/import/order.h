/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders the vertices by degree. Vertices that many lists name then get small numbers, and
 * packed lists become shorter; or longer, if neighbours had close numbers in the original order.
 * To decide, a sample of the lists is packed both ways. The degree of a vertex counts the entries
 * of its out-list and the entries of out-lists that name it.
 *
 * A store may have its vertices in any order: its file `ids` ascends, `order` leads from ranks
 * of ids to vertex numbers and `rank` back. A column of ids in a result holds ranks, so that
 * "the smallest id" is a plain minimum.
 */
#ifndef IMPORT_ORDER_H
#define IMPORT_ORDER_H

#include "import/edges.h"

/*
 * Returns the most bytes that the functions below take for a graph of n vertices, the array of
 * degrees and the new numbers included.
 */
u64 order_bytes(u64 n);

/* Adds the edges to degree[v] of every vertex v. A degree stays at UINT32_MAX once it is there. */
void order_count(u32 *degree, const struct edges *e);
/*
 * Sets to[v] to the new number of v: by descending degree, equal degrees by v, with the sources
 * (0 .. sources - 1) before all others.
 */
mill_err order_by_degree(vid *to, const u32 *degree, u64 n, u64 sources, struct budget *budget,
			 struct pool *pool);

/* The complete out-lists of some vertices. */
struct order_sample {
	u64 *picked;	/* bitmap of these vertices */
	u64 *pair;	/* vertex << 32 | neighbour */
	u64 n, room;
};

/*
 * Picks the vertices of the sample. stored: number of edges that the store will have. The caller
 * must call order_sample_release even if this fails.
 */
mill_err order_sample_init(struct order_sample *s, const u32 *degree, u64 n, u64 sources,
			   u64 stored, struct budget *budget);
void order_sample_release(struct order_sample *s);
/* Adds those of the edges that belong to the sample. The caller passes every edge once. */
void order_sample_add(struct order_sample *s, const struct edges *e);
/* Sets *out to whether the lists would be shorter with the new numbers. Overwrites the sample. */
mill_err order_sample_pays(struct order_sample *s, const vid *to, struct budget *budget,
			   struct pool *pool, bool *out);

#endif
