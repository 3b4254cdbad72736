/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a small file of "key = value" lines, as Java programs and LDBC write them. */
#ifndef IMPORT_PROPERTIES_H
#define IMPORT_PROPERTIES_H

#include "base/memory.h"

#define PROPERTIES_MAX (1 * MIB)

struct properties {
	char *text;	/* key, NUL, value, NUL, ... */
	u64 size;
	char *name;	/* for messages */
};

/*
 * Reads the file. Fails with MILL_EINPUT if it has more than PROPERTIES_MAX bytes or a NUL. The
 * caller must call properties_release even if this fails.
 */
mill_err properties_read(struct properties *p, const char *path, struct budget *budget);
void properties_release(struct properties *p);
/*
 * Returns the value of `key`, or NULL if there is none. If `key` begins with '.', any key that
 * ends with it matches.
 */
const char *properties_get(const struct properties *p, const char *key);
/* Reads the value as a number of at most `most`. *out is `missing` if there is no such key. */
mill_err properties_u64(const struct properties *p, const char *key, u64 missing, u64 most,
			u64 *out);

#endif
