/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertex numbers from three bitmaps: which ids exist, which have out-edges, which have any. The vertices with
 * out-edges come first (Graphie's first renaming), those without an edge last, each part in ascending order of the ids;
 * or in an order that is given.
 */
#ifndef IMPORT_NUMBERING_H
#define IMPORT_NUMBERING_H

#include "base/bitmap.h"
#include "base/memory.h"
#include "import/ids.h"
#include "store/writer.h"

struct numbering {
	struct budget *budget;
	u64 limit;		/* ids are below it */
	u64 *exists;		/* NULL: all of them exist */
	u64 *source;
	u64 *linked;		/* directed: has in-edges; any edge after numbering_close. NULL: undirected, as source */
	/* After numbering_close: how many bits are set before each word. */
	u32 *exists_before, *source_before, *linked_before;
	u64 n, sources, n_linked;
	vid *place;		/* vid by rank; NULL: by id */
};

/* all: not 0 if the ids are 0 .. all - 1 and exist; else there are none yet. Release also if it fails. */
mill_err numbering_init(struct numbering *num, struct budget *budget, u64 all, bool undirected);
void numbering_release(struct numbering *num);
mill_err numbering_grow(struct numbering *num, u64 limit);

/* From any thread. */
static inline void numbering_exists(struct numbering *num, u64 id)
{
	if (num->exists)
		bitmap_claim(num->exists, id);
}

static inline void numbering_edge(struct numbering *num, u64 from, u64 to)
{
	bitmap_claim(num->source, from);
	bitmap_claim(num->linked ? num->linked : num->source, to);
}

/* No more ids come. MILL_ELIMIT if there are too many. */
mill_err numbering_close(struct numbering *num);

static inline u64 numbering_rank(const struct numbering *num, u64 id)
{
	u64 below = ((u64)1 << (id % 64)) - 1;

	if (!num->exists)
		return id;
	return num->exists_before[id / 64] + (u64)__builtin_popcountll(num->exists[id / 64] & below);
}

/* The id exists. */
static inline u64 numbering_vid(const struct numbering *num, u64 id)
{
	u64 below = ((u64)1 << (id % 64)) - 1, word = num->source[id / 64], sources, linked;

	if (num->place)
		return num->place[numbering_rank(num, id)];
	sources = num->source_before[id / 64] + (u64)__builtin_popcountll(word & below);
	if (word >> (id % 64) & 1)
		return sources;
	linked = sources;
	if (num->linked) {
		word = num->linked[id / 64];
		linked = num->linked_before[id / 64] + (u64)__builtin_popcountll(word & below);
		if (word >> (id % 64) & 1)
			return num->sources + linked - sources;
	}
	return num->n_linked + numbering_rank(num, id) - linked;
}

/* The id of a rank. */
u64 numbering_id(const struct numbering *num, u64 rank);
/* Writes ids, order and rank; sparse: what the numbering's ids are the ranks of, or NULL. */
struct sparse;
mill_err numbering_write(const struct numbering *num, struct store_writer *w, struct sparse *sparse);

#endif
