/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file without a name, beside the pages of a direction, with an element per edge. Page i
 * has the elements [first[i], first[i + 1]). Callers read and write the elements of one
 * page, or any range.
 */
#ifndef STREAM_BESIDE_H
#define STREAM_BESIDE_H

#include "base/file.h"

struct beside {
	struct file file;
	const u64 *first;	/* borrowed; number of pages + 1 entries */
	u64 most;		/* the most elements of a page */
	u32 size;		/* bytes of an element */
};

/* Creates the file in a directory. */
mill_err beside_open(struct beside *b, const char *dir, const u64 *first, u32 n_pages, u32 size);
void beside_close(struct beside *b);	/* may be called twice, but not with a zeroed struct */
static inline u64 beside_elements(const struct beside *b, u32 page)
{
	return b->first[page + 1] - b->first[page];
}
/* Reads or writes n elements, from element `at` on. */
mill_err beside_read(const struct beside *b, void *to, u64 at, u64 n);
mill_err beside_write(const struct beside *b, const void *from, u64 at, u64 n);
static inline mill_err beside_read_page(const struct beside *b, void *to, u32 page)
{
	return beside_read(b, to, b->first[page], beside_elements(b, page));
}
static inline mill_err beside_write_page(const struct beside *b, const void *from, u32 page)
{
	return beside_write(b, from, b->first[page], beside_elements(b, page));
}

#endif
