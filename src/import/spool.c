/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer of 256 KiB in front of a temporary file, which is made when the buffer is full. */
#include "import/spool.h"

#include <string.h>

#include "base/fault.h"

#define SPOOL_BUFFER (256 * KIB)

void spool_init(struct spool *s, const char *dir, struct budget *budget)
{
	*s = (struct spool){ .budget = budget, .dir = dir, .file = FILE_CLOSED };
}

void spool_release(struct spool *s)
{
	if (s->dir)
		file_close(&s->file);
	memory_free(s->buffer);
	*s = (struct spool){ .file = FILE_CLOSED };
}

static mill_err flush(struct spool *s)
{
	if (s->file.fd < 0)
		TRY(file_temp(&s->file, s->dir));
	TRY(file_write_at(&s->file, s->buffer, s->fill, s->size - s->fill));
	s->fill = 0;
	return MILL_OK;
}

mill_err spool_add(struct spool *s, const void *data, u64 size)
{
	u64 room = fault_hold() ? 256 : SPOOL_BUFFER;
	const u8 *from = data;

	if (!s->buffer)
		TRY(memory_new(&s->buffer, s->budget, room, 1, "a temporary file"));
	while (size) {
		u64 n = min_u64(size, room - s->fill);

		memcpy(s->buffer + s->fill, from, n);
		s->fill += n;
		s->size += n;
		from += n;
		size -= n;
		if (s->fill == room)
			TRY(flush(s));
	}
	return MILL_OK;
}

void spool_discard(const struct spool *s, u64 size, u64 at)
{
	u64 on_disk = s->size - s->fill;

	if (at < on_disk)
		file_discard(&s->file, at, min_u64(size, on_disk - at));
}

mill_err spool_read(const struct spool *s, void *to, u64 size, u64 at)
{
	u64 on_disk = s->size - s->fill, n = at < on_disk ? min_u64(size, on_disk - at) : 0;

	if (n)
		TRY(file_read_at(&s->file, to, n, at));
	if (size > n)
		memcpy((u8 *)to + n, s->buffer + (at + n - on_disk), size - n);
	return MILL_OK;
}
