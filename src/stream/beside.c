/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary file with an element per edge, beside the pages of a direction. */
#include "stream/beside.h"

mill_err beside_open(struct beside *b, const char *dir, const u64 *first, u32 n_pages, u32 size)
{
	*b = (struct beside){ .file = FILE_CLOSED, .first = first, .size = size };
	for (u32 i = 0; i < n_pages; i++)
		b->most = max_u64(b->most, beside_elements(b, i));
	return file_temp(&b->file, dir);
}

void beside_close(struct beside *b) { file_close(&b->file); }

/* The elements are read once per pass, so they need not stay in the page cache. */
mill_err beside_read(const struct beside *b, void *to, u64 at, u64 n)
{
	if (!n)
		return MILL_OK;
	TRY(file_read_at(&b->file, to, n * b->size, at * b->size));
	file_forget_read(&b->file, at * b->size, n * b->size);
	return MILL_OK;
}

mill_err beside_write(const struct beside *b, const void *from, u64 at, u64 n)
{
	return n ? file_write_at(&b->file, from, n * b->size, at * b->size) : MILL_OK;
}
