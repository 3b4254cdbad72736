/* SPDX-License-Identifier: Apache-2.0 */
/* The reach of a search: how many vertices it reached, and how far they are. */
#ifndef ENGINE_REACH_H
#define ENGINE_REACH_H

#include "engine/run.h"

struct reach {
	u64 reached;	/* vertices reached, an isolated source included */
	u64 edges;	/* stored out-edges of these vertices */
	u64 most;	/* the largest value of one of them, as an integer */
};

/* Counts the vertices with a value that is not `none`. Values have 4 or 8 bytes. */
mill_err run_reach(struct mill_run *r, const struct vec *values, const void *none,
		   struct reach *out);
/* Reports a search from r->search.root: the facts source and reached, and the edges traversed. */
mill_err run_search_facts(struct mill_run *r, const struct reach *reach);

#endif
