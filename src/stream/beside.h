/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements by edge that lie beside the pages of a direction, in a file without a name: a page has those of [first[page], first[page + 1]). What
 * is read and written is the part of one page, or any range.
 */
#ifndef STREAM_BESIDE_H
#define STREAM_BESIDE_H

#include "base/file.h"

struct beside {
	struct file file;
	const u64 *first;	/* borrowed; one more than there are pages */
	u64 most;		/* elements of a page, at most */
	u32 size;		/* of an element */
};

/* Makes the file in a directory. */
mill_err beside_open(struct beside *b, const char *dir, const u64 *first, u32 n_pages, u32 size);
void beside_close(struct beside *b);	/* twice is fine, but not of a zeroed one */
static inline u64 beside_elements(const struct beside *b, u32 page) { return b->first[page + 1] - b->first[page]; }
/* Reads and writes n elements from number `at` on. */
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
