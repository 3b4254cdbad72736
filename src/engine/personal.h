/* SPDX-License-Identifier: Apache-2.0 */
/* The vertices that a user names for an algorithm to favour. */
#ifndef ENGINE_PERSONAL_H
#define ENGINE_PERSONAL_H

#include "engine/run.h"

struct personal {
	u64 *bits;		/* by vertex with edges: is it named? */
	u64 n_linked;		/* so many of these are */
	u64 n_isolated;		/* and of those without an edge: r->result.chosen lists them */
	u64 n_dangling;		/* of both, those without out-edges */
};

/* Finds the vertices of "ID" or "@FILE", each once; error if it names none. option: what asks for them. personal_release frees what it has. */
mill_err run_personal(struct mill_run *r, struct personal *out, const char *text, const char *option);
void personal_release(struct personal *p);

#endif
