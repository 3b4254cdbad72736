/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes put aside, to be read later from any place: in a buffer, and in a temporary file once that is full. */
#ifndef IMPORT_SPOOL_H
#define IMPORT_SPOOL_H

#include "base/file.h"
#include "base/memory.h"

struct spool {
	struct budget *budget;
	const char *dir;	/* of the file; borrowed */
	struct file file;
	u8 *buffer;
	u64 fill;		/* bytes of the buffer ... */
	u64 size;		/* ... which are the last of so many */
};

/* Takes nothing until something is added. */
void spool_init(struct spool *s, const char *dir, struct budget *budget);
void spool_release(struct spool *s);	/* zero is fine, twice too */
mill_err spool_add(struct spool *s, const void *data, u64 size);
/* Bytes [at, at + size) will not be read any more. */
void spool_discard(const struct spool *s, u64 size, u64 at);
/* Bytes [at, at + size), all of which have been added. */
mill_err spool_read(const struct spool *s, void *to, u64 size, u64 at);

#endif
