/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes answers the slow and obvious way, on one thread, and compares the results of runs
 * with them. All arrays are indexed by vertex of the graph, in ascending order of the
 * original ids.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include "graphs.h"

#define NONE32 UINT32_MAX

/* ---- Answers ---- */

/* Sets depth[v] to NONE32 for vertices that are not reached. */
void naive_bfs(const struct graph *g, u32 root, u32 *depth);
/*
 * Computes distances as keys with the same order: integers (UINT64_MAX: not reached), or the
 * bits of doubles (infinity: not reached). Sums of reals are rounded at each edge; rounding
 * is monotone, so there is one answer. unit: every weight is 1.
 */
void naive_sssp(const struct graph *g, u32 root, bool unit, u64 *key);
/* Returns true if keys are the bits of doubles. */
bool keys_are_real(const struct graph *g, bool unit);
/*
 * The parent of v is the smallest u with a tight edge to v and a smaller distance. Vertices
 * without such a u get parents at the same distance, over edges that add nothing to it: in
 * rounds that start at vertices with parents.
 */
void naive_parents(const struct graph *g, u32 root, bool unit, const u64 *key, u32 *parent);
/* Makes exactly this number of iterations. teleport: sums to 1; NULL: uniform. */
void naive_pagerank(const struct graph *g, f64 damping, u32 iterations, const f64 *teleport,
		    f64 *score);

/*
 * Cores and triangles of the undirected simple graph. lcc, arc_lcc: clustering coefficients
 * by the undirected and the directed definition.
 */
void naive_kcore(const struct graph *g, u32 *core);
void naive_triangles(const struct graph *g, u64 *count, f64 *lcc, f64 *arc_lcc);
/* Makes at most `most` iterations and returns their number. */
u32 naive_cdlp(const struct graph *g, u32 most, u32 *label);

/*
 * Returns scores from n roots, or from all vertices if root is NULL; the caller frees them.
 * score[g->n] is the number of edges that the searches traverse.
 */
f64 *naive_bc(const struct graph *g, const u32 *root, u32 n);
/* Writes the roots' ids in the format of mill_bc's `sources`. */
void write_sources(const struct graph *g, const u32 *root, u32 n, char *to, size_t size);

/* ---- Runs ---- */

/*
 * Each calls the algorithm, compares values and facts with the naive answer, verifies the
 * certificate and returns the hash of the result. where: the configuration, for messages.
 * Parents are compared if the run computes them.
 */
u64 expect_bfs(const struct graph *g, const char *where, mill_run *run, u32 root);
u64 expect_sssp(const struct graph *g, const char *where, mill_run *run, u32 root, f64 delta,
		bool unit);
/* The same with all options; how.source is replaced by the root. */
u64 expect_sssp_with(const struct graph *g, const char *where, mill_run *run, u32 root,
		     struct mill_sssp how);
/* want: from naive_pagerank. relative: the largest relative error of a score. */
u64 expect_pagerank(const struct graph *g, const char *where, mill_run *run,
		    const struct mill_pagerank *how, const f64 *want, f64 relative);
u64 expect_kcore(const struct graph *g, const char *where, mill_run *run);
u64 expect_triangles(const struct graph *g, const char *where, mill_run *run, enum mill_lcc kind);
u64 expect_cdlp(const struct graph *g, const char *where, mill_run *run, u32 iterations);
/* want: from naive_bc. */
u64 expect_bc(const struct graph *g, const char *where, mill_run *run, const struct mill_bc *how,
	      const f64 *want);
u64 expect_degrees(const struct graph *g, const char *where, mill_run *run);

/* Returns a fact of the last result. Fails the test if there is none of this name. */
const struct mill_fact *fact_of(const mill_run *run, const char *name);
u64 hash_of(const mill_run *run);
/* Returns the scores of the last result as doubles; the caller frees them. */
f64 *scores_of(const struct graph *g, mill_run *run, enum mill_precision precision);

#endif
