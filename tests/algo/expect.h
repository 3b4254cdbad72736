/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the right answer is, computed the slow and obvious way by one thread, and whether a run gives it. All
 * arrays are by vertex of the graph, that is in ascending order of the original ids.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include "graphs.h"

#define NONE32 UINT32_MAX

/* ---- Answers ---- */

void naive_bfs(const struct graph *g, u32 root, u32 *depth);
/*
 * Distances as keys in the order of the values: integers (UINT64_MAX: none), or the bits of doubles
 * (infinity: none). Sums of reals are rounded at each edge; rounding is monotone, so there is one answer.
 */
void naive_sssp(const struct graph *g, u32 root, bool unit, u64 *key);
bool keys_are_real(const struct graph *g, bool unit);
/* The smallest tight neighbour at a smaller distance; else, over edges that add nothing, by rounds from those. */
void naive_parents(const struct graph *g, u32 root, bool unit, const u64 *key, u32 *parent);
/* So many iterations; teleport: NULL for uniform, else it sums to 1. */
void naive_pagerank(const struct graph *g, f64 damping, u32 iterations, const f64 *teleport, f64 *score);

/* Of the undirected simple graph; lcc and arc_lcc: in both definitions. */
void naive_kcore(const struct graph *g, u32 *core);
void naive_triangles(const struct graph *g, u64 *count, f64 *lcc, f64 *arc_lcc);
/* Returns the iterations that were made. */
u32 naive_cdlp(const struct graph *g, u32 most, u32 *label);

/* Scores from n roots, or with NULL from all vertices; score [g->n] is the number of edges that the searches go over. Free it. */
f64 *naive_bc(const struct graph *g, const u32 *root, u32 n);
/* Writes the ids of the roots as `sources` takes them. */
void write_sources(const struct graph *g, const u32 *root, u32 n, char *to, size_t size);

/* ---- Runs: the algorithm is called, and everything it says compared; the hash is returned ---- */

/* where: the configuration, for messages. Parents are looked at if the run settles them. */
u64 expect_bfs(const struct graph *g, const char *where, mill_run *run, u32 root);
u64 expect_sssp(const struct graph *g, const char *where, mill_run *run, u32 root, f64 delta, bool unit);
/* The same with all options; the source is the root. */
u64 expect_sssp_with(const struct graph *g, const char *where, mill_run *run, u32 root, struct mill_sssp how);
/* want: of naive_pagerank. relative: how far a score may be off. */
u64 expect_pagerank(const struct graph *g, const char *where, mill_run *run, const struct mill_pagerank *how,
		    const f64 *want, f64 relative);
u64 expect_kcore(const struct graph *g, const char *where, mill_run *run);
u64 expect_triangles(const struct graph *g, const char *where, mill_run *run, enum mill_lcc kind);
u64 expect_cdlp(const struct graph *g, const char *where, mill_run *run, u32 iterations);
/* want: of naive_bc. */
u64 expect_bc(const struct graph *g, const char *where, mill_run *run, const struct mill_bc *how, const f64 *want);
u64 expect_degrees(const struct graph *g, const char *where, mill_run *run);

/* A named fact of the last result; fails if there is none. */
const struct mill_fact *fact_of(const mill_run *run, const char *name);
u64 hash_of(const mill_run *run);
/* The scores of the last result as doubles; free it. */
f64 *scores_of(const struct graph *g, mill_run *run, enum mill_precision precision);

#endif
