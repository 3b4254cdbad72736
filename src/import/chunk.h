/* SPDX-License-Identifier: Apache-2.0 */
/* Edges as they came, some at a time: what the builder collects. */
#ifndef IMPORT_CHUNK_H
#define IMPORT_CHUNK_H

#include "import/edges.h"
#include "store/store.h"

struct chunk {
	u64 n, room;
	bool wide;	/* pairs of u64, else of u32 */
	void *pair;
	u64 bytes;	/* of it */
	void *weight;	/* of the type in which they are added, or NULL */
	u64 loops;	/* counted when ids become ranks or keys */
	u64 first_loop; /* rank or id; only with loops */
	u64 at;		/* where its keys begin */
};

static inline void chunk_pair(const struct chunk *c, u64 i, u64 *from, u64 *to)
{
	if (c->wide) {
		*from = ((const u64 *)c->pair)[2 * i];
		*to = ((const u64 *)c->pair)[2 * i + 1];
	} else {
		*from = ((const u32 *)c->pair)[2 * i];
		*to = ((const u32 *)c->pair)[2 * i + 1];
	}
}

/* Weight i as bits of the type in which it was added. */
static inline u64 chunk_weight(const struct chunk *c, u64 i, enum mill_weight added)
{
	return weight_size(added) == 8 ? ((const u64 *)c->weight)[i] : ((const u32 *)c->weight)[i];
}

static inline void chunk_free(struct chunk *c)
{
	memory_free(c->pair);
	memory_free(c->weight);
	c->pair = c->weight = NULL;
}

#endif
