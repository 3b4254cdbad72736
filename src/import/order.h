/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertices in the order of their degrees: neighbours that are everyone's get small numbers, and lists
 * shrink; or grow, where the given order had something to say. Which of it is found by packing a
 * sample of the lists both ways. The degree of a vertex counts the entries of out-lists that it
 * has and those that name it.
 */
#ifndef IMPORT_ORDER_H
#define IMPORT_ORDER_H

#include "import/edges.h"

/* What the functions below take of a graph of n vertices, at most, besides the degrees. */
u64 order_bytes(u64 n);

/* Adds the edges, by vid, to degree, which has one for every vertex. It stays at its largest value. */
void order_count(u32 *degree, const struct edges *e);
/*
 * to[v] becomes the number of v by falling degree, ties by v, sources (0 .. sources - 1) before the
 * others.
 */
mill_err order_by_degree(vid *to, const u32 *degree, u64 n, u64 sources, struct budget *budget,
			 struct pool *pool);

/* The whole out-lists of some vertices. */
struct order_sample {
	u64 *picked;	/* bitmap */
	u64 *pair;	/* vertex << 32 | neighbour */
	u64 n, room;
};

/* Of a graph with so many stored edges. Release it also when it fails. */
mill_err order_sample_init(struct order_sample *s, const u32 *degree, u64 n, u64 sources, u64 stored,
			   struct budget *budget);
void order_sample_release(struct order_sample *s);
/* Adds what edges, by vid, have of it. All edges come once. */
void order_sample_add(struct order_sample *s, const struct edges *e);
/* Would the lists be shorter with these numbers? Uses up the sample. */
mill_err order_sample_pays(struct order_sample *s, const vid *to, struct budget *budget, struct pool *pool,
			   bool *out);

#endif
