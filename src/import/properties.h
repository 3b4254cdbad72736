/* SPDX-License-Identifier: Apache-2.0 */
/* A small file of "key = value" lines, as Java's programs and LDBC write them. */
#ifndef IMPORT_PROPERTIES_H
#define IMPORT_PROPERTIES_H

#include "base/memory.h"

#define PROPERTIES_MAX (1 * MIB)

struct properties {
	char *text;	/* key, NUL, value, NUL, ... */
	u64 size;
	char *name;	/* for messages */
};

/* A larger file, or a NUL in it, is MILL_EINPUT. properties_release is due also after a failure. */
mill_err properties_read(struct properties *p, const char *path, struct budget *budget);
void properties_release(struct properties *p);
/* The value of the key that is `key`, or ends with it if it begins with '.'; NULL if there is none. */
const char *properties_get(const struct properties *p, const char *key);
/* A number of at most `most`; `missing` if there is none. */
mill_err properties_u64(const struct properties *p, const char *key, u64 missing, u64 most, u64 *out);

#endif
