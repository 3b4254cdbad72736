/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cursor reads the lists of one direction in vertex order, once from beginning to end, by one
 * thread with a page buffer of its own. A list that spans pages comes in several runs, one for
 * each page that holds some of it.
 */
#ifndef ENGINE_CURSOR_H
#define ENGINE_CURSOR_H

#include "store/store.h"

struct cursor {
	const struct pages *pages;	/* NULL: every list is empty */
	void *frame;
	struct segment seg;
	u32 page;			/* the next page to read */
	u32 n_read;			/* pages read */
	vid row;			/* the segment's next row; n_rows: no row is left */
	const vid *at, *end;		/* the rest of the present run */
	const void *weight;		/* weights of the present run; NULL: the store has none */
};

/* Returns the memory that an open cursor takes, in bytes. */
u64 cursor_bytes(const struct store *st);
mill_err cursor_open(struct cursor *c, const struct pages *pages, struct budget *budget);
void cursor_close(struct cursor *c);
/*
 * Makes [at, end) the first run of v's list, empty if v has none. Calls are in ascending
 * order of v.
 */
mill_err cursor_seek(struct cursor *c, u64 v);
/*
 * Makes [at, end) the next run of the same list, empty if there is none. The caller has used
 * the last run.
 */
mill_err cursor_more(struct cursor *c);

#endif
