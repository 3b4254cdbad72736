/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes vertex numbers from three bitmaps: which ids exist, which have out-edges, and which
 * have any edge. Vertices with out-edges come first (Graphie's first renaming), vertices without
 * an edge last. Within each kind, numbers ascend as ids do, unless another order is given
 * (`place`).
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
	u64 *source;		/* has out-edges */
	/*
	 * Directed: has in-edges; after numbering_close, has any edge.
	 * NULL: undirected, the same as `source`.
	 */
	u64 *linked;
	/* After numbering_close: how many bits are set before each word. */
	u32 *exists_before, *source_before, *linked_before;
	u64 n, sources, n_linked;
	vid *place;		/* vid by rank; NULL: the order described above */
};

/*
 * all: not 0 if the ids are 0 .. all - 1 and all exist; 0 if there are no ids yet. The caller
 * must call numbering_release even if this fails.
 */
mill_err numbering_init(struct numbering *num, struct budget *budget, u64 all, bool undirected);
void numbering_release(struct numbering *num);
/* Makes room for ids below `limit`. */
mill_err numbering_grow(struct numbering *num, u64 limit);

/* Mark an id, and an edge. Any thread may call these. */
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

/*
 * Counts, after the last id has been marked. Fails with MILL_ELIMIT if there are more vertices
 * than a store holds.
 */
mill_err numbering_close(struct numbering *num);

static inline u64 numbering_rank(const struct numbering *num, u64 id)
{
	u64 below = ((u64)1 << (id % 64)) - 1;

	if (!num->exists)
		return id;
	return num->exists_before[id / 64] +
	       (u64)__builtin_popcountll(num->exists[id / 64] & below);
}

/* Returns the vertex number of an id that exists. */
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

/* Returns the id of a rank. */
u64 numbering_id(const struct numbering *num, u64 rank);
/*
 * Writes the files of ids, order and rank. sparse: not NULL if the numbering's ids are only the
 * ranks of the original ids, which `sparse` has.
 */
struct sparse;
mill_err numbering_write(const struct numbering *num, struct store_writer *w,
			 struct sparse *sparse);

#endif
