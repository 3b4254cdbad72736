/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk is an array of edges in the order in which they came. The builder collects chunks. */
#ifndef IMPORT_CHUNK_H
#define IMPORT_CHUNK_H

#include "import/edges.h"
#include "store/store.h"

struct chunk {
	u64 n, room;	/* edges */
	bool wide;	/* pairs of u64, else of u32 */
	void *pair;
	u64 bytes;	/* size of `pair` */
	void *weight;	/* of the type in which they were added, or NULL */
	u64 loops;	/* self-loops; counted when ids become ranks or keys */
	u64 first_loop; /* rank or id of the first loop's vertex; valid if loops is not 0 */
	u64 at;		/* index of its first key in the array of all keys */
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

/* Returns weight i as bits of `added`, the type in which it was added. */
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
