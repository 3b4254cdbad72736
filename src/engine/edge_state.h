/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State by edge: a vector with an element for each edge number. It is a vector like any other, but where the host's budget has no room for
 * it and its declaration allows (BESIDE): then it lies in a file, and the worker that has a page has the elements of the edges that the page
 * owns, read before and written after. Programs that are OWNED meet no others.
 */
#ifndef ENGINE_EDGE_STATE_H
#define ENGINE_EDGE_STATE_H

#include "engine/run.h"

/* Makes one, with each element set to `fill` (NULL: zero); beside: it may be streamed. */
mill_err run_edge_state(struct mill_run *r, struct vec **out, const char *name, u32 size, const void *fill, bool beside);

/* A program's arguments for one page: those given, but with the page's elements in place of vectors that are streamed. */
#define SLICES 8u
#define SLICE_ARGS 512u
struct slices {
	const void *args;
	struct mill_run *run;
	u32 page, n;
	struct vec vec[SLICES];
	void *part[SLICES];	/* the page's elements */
	u64 copy[SLICE_ARGS / sizeof(u64)];
};
/* Reads them. MILL_OK leaves them to slices_give, which writes what they became. */
mill_err slices_take(struct slices *s, struct mill_run *r, const struct program *p, const void *args, u32 page, unsigned worker);
mill_err slices_give(struct slices *s);

#endif
