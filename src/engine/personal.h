/* SPDX-License-Identifier: Apache-2.0 */
/* The vertices that a user names for an algorithm to favour (personalized PageRank). */
#ifndef ENGINE_PERSONAL_H
#define ENGINE_PERSONAL_H

#include "engine/run.h"

struct personal {
	u64 *bits;		/* by vertex that has edges: 1 if it is named */
	u64 n_linked;		/* named vertices that have edges */
	u64 n_isolated;		/* named vertices without an edge: r->result.chosen lists them */
	u64 n_dangling;		/* named vertices without out-edges, isolated ones included */
};

/*
 * Finds the vertices that "ID" or "@FILE" names, each once. Fails with MILL_EUSAGE if there
 * is none. option: the option that names them, for errors. The caller calls
 * personal_release, after a failure too.
 */
mill_err run_personal(struct mill_run *r, struct personal *out, const char *text,
		      const char *option);
void personal_release(struct personal *p);

#endif
