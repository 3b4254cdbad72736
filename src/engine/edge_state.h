/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State by edge: a vector with an element for each edge number. It is an ordinary vector,
 * except where the host's budget has no room for it and its declaration allows streaming
 * (BESIDE). Then it is in a file. Before a worker processes a page, it reads the elements of
 * the edges that the page owns; afterwards it writes them back. Programs that are OWNED use
 * no other elements.
 */
#ifndef ENGINE_EDGE_STATE_H
#define ENGINE_EDGE_STATE_H

#include "engine/run.h"

/*
 * Makes a vector by edge. Each element is set to `fill` (NULL: zero). beside: it may be
 * streamed.
 */
mill_err run_edge_state(struct mill_run *r, struct vec **out, const char *name, u32 size,
			const void *fill, bool beside);

/*
 * A program's arguments for one page: the arguments given, but with the page's elements in
 * place of each vector that is streamed.
 */
#define PAGE_ARGS_VECS 8u
#define PAGE_ARGS_BYTES 512u
struct page_args {
	const void *args;
	struct mill_run *run;
	u32 page, n;
	struct vec vec[PAGE_ARGS_VECS];
	void *element[PAGE_ARGS_VECS];	/* the page's elements of each vector */
	u64 copy[PAGE_ARGS_BYTES / sizeof(u64)];
};
/*
 * Reads the page's elements. If it returns MILL_OK, the caller must call page_args_give,
 * which writes them back.
 */
mill_err page_args_take(struct page_args *s, struct mill_run *r, const struct program *p,
			const void *args, u32 page, unsigned worker);
mill_err page_args_give(struct page_args *s);

#endif
