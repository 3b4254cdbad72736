/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of a direction in vertex order, read once from beginning to end by one thread with a page of its own. A list
 * comes in the runs in which its pages hold it.
 */
#ifndef ENGINE_CURSOR_H
#define ENGINE_CURSOR_H

#include "store/store.h"

struct cursor {
	const struct pages *pages;	/* NULL: every list is empty */
	void *frame;
	struct segment seg;
	u32 page;			/* the next to be read */
	u32 n_read;
	vid row;			/* of the segment; its n_rows: none is left */
	const vid *at, *end;		/* what is left of the present run */
	const void *weight;		/* of *at, where the store has weights */
};

/* Memory that an open cursor takes. */
u64 cursor_bytes(const struct store *st);
mill_err cursor_open(struct cursor *c, const struct pages *pages, struct budget *budget);
void cursor_close(struct cursor *c);
/* Makes [at, end) the first run of v's list; vertices come in ascending order. Empty: v has no list. */
mill_err cursor_seek(struct cursor *c, u64 v);
/* The run has been used up: makes [at, end) the next one, empty if there is none. */
mill_err cursor_more(struct cursor *c);

#endif
