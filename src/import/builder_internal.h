/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a builder, for the files that make it up: builder.c and builder_number.c. */
#ifndef IMPORT_BUILDER_INTERNAL_H
#define IMPORT_BUILDER_INTERNAL_H

#include "base/bitmap.h"
#include "import/buckets.h"
#include "import/builder.h"
#include "import/chunk.h"
#include "import/external.h"
#include "import/ids.h"
#include "import/namer.h"
#include "store/writer.h"

struct builder {
	struct builder_options o;
	struct budget budget;
	struct ticker ticker;
	struct pool *pool;
	struct store_writer *writer;
	f64 started;
	enum mill_weight added_type; /* the type of the weights in the chunks */

	struct chunk *chunk;
	u64 n_chunks, chunk_room;
	u64 *vertex; /* of builder_add_vertices */
	u64 n_vertices, vertex_room;
	bool any_vertex;
	u64 n_edges, n_held; /* all, and those in chunks ... */
	u64 held_bytes;	     /* ... which take so much */
	u64 min_id, max_id;
	bool wide; /* an id of more than 32 bits has been seen */

	struct ids ids;
	u64 *exists; /* bitmap by id, while ids are collected that are close */
	u64 limit;   /* what the chunks hold, ids or ranks, is below it */
	u64 *source; /* bitmap by it: has out-edges */
	u64 *target; /* has in-edges; NULL: undirected, as source */
	u64 *source_rank, *other_rank; /* count_bits of it; NULL: numbers are what the chunks hold, all are sources */
	vid *new_number;/* another number, by number; or NULL */
	u64 n_sources, n_connected;
	struct edges e;
	struct buckets *buckets;   /* edges without weights are here, once they are keys */
	struct external *external; /* what did not fit; NULL: all did */
	struct namer *names;
	struct {	/* of builder_project: this input's edges so far, and when to look again */
		u64 done, next, so_far, before;
	} projection;
	struct mill_built built;
};

/* ---- builder_number.c ---- */

/* No larger than a list of all ids would be. */
static inline bool builder_ids_are_close(const struct builder *b, u64 mentions)
{
	return b->max_id / 64 <= mentions || b->max_id < 64 * KIB;
}

/* What there is of vertices: ids become ranks where they are scattered, and bitmaps say who has edges. */
mill_err builder_collect_ids(struct builder *b);
/* Graphie's first renaming: sources first; isolated vertices last; each part in ascending order of the ids. */
mill_err builder_number_vertices(struct builder *b);

/* Vertices are numbered in the order of their ranks: sources, other ends of edges, and isolated ones apart. */
struct numbers {
	u64 source, other, isolated;	/* the next of each kind */
};

struct numbers builder_first_numbers(const struct builder *b);
/* Of the vertex of this rank; all of them in turn. */
u64 builder_next_number(const struct builder *b, struct numbers *n, u64 rank);
u64 builder_id_of(const struct builder *b, u64 v);

static inline u64 count_before(u64 word, u64 id)
{
	return (word >> 32) + bits_in((u32)word & (((u32)1 << id % 32) - 1));
}

/* The number of a vertex with edges, by what the chunks hold. */
static inline u64 builder_number_of(const struct builder *b, u64 id)
{
	u64 word;

	if (!b->source_rank)
		return id;
	word = b->source_rank[id / 32];
	if (!b->other_rank || word >> id % 32 & 1)
		return count_before(word, id);
	return b->n_sources + count_before(b->other_rank[id / 32], id);
}

#endif
