/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spool: an array of bytes that grows at its end and is read from any position. Its last bytes
 * are in a buffer. When the buffer is full, its bytes go to a temporary file.
 */
#ifndef IMPORT_SPOOL_H
#define IMPORT_SPOOL_H

#include "base/file.h"
#include "base/memory.h"

struct spool {
	struct budget *budget;
	const char *dir;	/* directory of the file; borrowed */
	struct file file;
	u8 *buffer;
	u64 fill;		/* bytes in the buffer: the last ones of all */
	u64 size;		/* bytes added */
};

/* Allocates nothing: the first spool_add does. */
void spool_init(struct spool *s, const char *dir, struct budget *budget);
void spool_release(struct spool *s);	/* a zeroed struct is fine, and a second call */
mill_err spool_add(struct spool *s, const void *data, u64 size);
/* Frees the disk space of bytes [at, at + size), which will not be read again. */
void spool_discard(const struct spool *s, u64 size, u64 at);
/* Reads bytes [at, at + size), all of which have been added. */
mill_err spool_read(const struct spool *s, void *to, u64 size, u64 at);

#endif
