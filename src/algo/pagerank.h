/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PageRank: the struct of a run, which the certificate reads too.
 *
 * An iteration is one pass. `apply` makes the score and the next share, and counts the
 * change and the dangling mass (the scores of vertices without out-edges) in fixed point, so
 * these sums have the same bits in any order. Sums are made for a block of rows and then
 * applied, as vectors if the processor has AVX2.
 */
#ifndef ALGO_PAGERANK_H
#define ALGO_PAGERANK_H

#include "engine/precision.h"
#include "op/op.h"

/*
 * A group of vertices: those that the user named for personalization, or all others.
 * Isolated vertices have no state, and all of a group have the same score, which is kept
 * here.
 */
struct isolated_group {
	u64 isolated;		/* number of isolated vertices */
	u64 dangling;		/* number of vertices without out-edges, isolated ones included */
	u64 teleport, score;	/* of an isolated vertex, in the run's precision */
};

struct pagerank_run {
	const struct by_precision *programs;
	const char *personalize;	/* the vertices to jump to; NULL: all */
	enum mill_precision precision;
	bool async;
	u32 most;			/* the most iterations */
	f64 damping, tolerance;
	struct vec *score, *share, *next;	/* next: NULL if scores are made in place */
	struct vec *teleport;		/* NULL: jumps go to all vertices */
	struct vec *self_loop;		/* NULL unless in place and the graph has self-loops */
	struct vec *degree;
	struct reducer *reducer;
	struct pagerank_loop {
		u32 iterations;
		f64 change;		/* of the last iteration, L1 */
		f64 dangling;		/* sum of the scores of vertices without out-edges */
		f64 mass;		/* sum of all scores: 1 unless scores are made in place */
		struct isolated_group group[2];	/* [1]: of named vertices */
	} loop;
};

u64 pagerank_check_bytes(const struct store *st);
mill_err pagerank_check(struct mill_run *r);

#endif
