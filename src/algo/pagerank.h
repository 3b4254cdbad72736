/* SPDX-License-Identifier: Apache-2.0 */
/* PageRank as its certificate knows it. */
#ifndef ALGO_PAGERANK_H
#define ALGO_PAGERANK_H

#include "engine/precision.h"
#include "op/op.h"

/*
 * Vertices to which nothing leads have one of two scores, as they are named or not. For isolated ones, which have no state, that is all there
 * is; `dangling` counts those without out-edges, isolated or not. Numbers of the precision.
 */
struct still {
	u64 isolated, dangling;
	u64 teleport, score;
};

struct pagerank_run {
	const struct by_precision *programs;
	const char *personalize;	/* NULL: uniform */
	enum mill_precision precision;
	bool async;
	u32 most;
	f64 damping, tolerance;
	struct vec *score, *share, *next, *teleport, *self_loop, *degree;	/* teleport: NULL if uniform; self_loop: async, with self-loops */
	struct reducer *reducer;
	struct pagerank_loop {
		u32 iterations;
		f64 change;		/* of the last iteration, L1 */
		f64 dangling, mass;	/* of vertices without out-edges; of all: 1 unless scores are made in place */
		struct still still[2];	/* named: [1] */
	} loop;
};

u64 pagerank_check_bytes(const struct store *st);
mill_err pagerank_check(struct mill_run *r);

#endif
