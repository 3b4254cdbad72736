/* SPDX-License-Identifier: Apache-2.0 */
/* How far a search came. */
#ifndef ENGINE_REACH_H
#define ENGINE_REACH_H

#include "engine/run.h"

struct reach {
	u64 reached;	/* vertices, an isolated source among them */
	u64 edges;	/* stored edges out of them */
	u64 most;	/* the largest value of one, as an integer */
};

/* Counts the vertices that have another value than `none`; values have 4 or 8 bytes. */
mill_err run_reach(struct mill_run *r, const struct vec *values, const void *none, struct reach *out);
/* Ends a search from r->search.root: the facts source and reached, and the edges traversed. */
mill_err run_search_facts(struct mill_run *r, const struct reach *reach);

#endif
