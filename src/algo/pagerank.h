/* SPDX-License-Identifier: Apache-2.0 */
/* What PageRank's certificate knows of a run. */
#ifndef ALGO_PAGERANK_H
#define ALGO_PAGERANK_H

#include "op/op.h"

struct pagerank_settings {
	f64 damping;
	f64 change;		/* of the last iteration, L1 */
	f64 unit;		/* what 1 is in a score: 1, or fixed point's 2^62 */
	const struct vec *score, *teleport;	/* teleport: NULL if uniform */
	u64 isolated[2];	/* vertices without edges: those to whom nobody jumps if there is a teleport, and chosen ones */
	f64 isolated_score[2], isolated_teleport[2];	/* of each of them */
	enum mill_precision precision;
	u32 iterations;
};

u64 pagerank_check_bytes(const struct store *st);
mill_err pagerank_check(struct mill_run *r);

#endif
