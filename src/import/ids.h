/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The original ids of a graph in ascending order. The rank of an id is its position among them.
 * Ranks are the first of two numberings; in the second, vertices with out-edges come first.
 */
#ifndef IMPORT_IDS_H
#define IMPORT_IDS_H

#include "base/memory.h"
#include "base/thread.h"

/*
 * Three forms: dense (id == rank), close (a bitmap of the ids, with the number of bits set
 * before each word) and scattered (a sorted array; an id is found by binary search within a
 * bucket of its leading bits).
 */
struct ids {
	u64 n;
	u64 *id;	/* by rank; NULL: dense */
	u64 *bits;	/* close: bitmap by id */
	u32 *before;	/* close: number of ids before each word of bits */
	u32 *bucket;	/* scattered: the first rank of each bucket */
	u64 min;	/* scattered: the lowest id */
	unsigned shift;	/* scattered: (id - min) >> shift is its bucket */
};

/*
 * Each function below makes *m. They keep the array that they are given, even if they fail:
 * ids_release frees it. They fail with MILL_ELIMIT if there are more than MAX_VERTICES ids.
 */

/* The ids are 0 .. n - 1. */
void ids_dense(struct ids *m, u64 n);
/* The ids are the bits set in a bitmap of all ids below `limit`. */
mill_err ids_from_bits(struct ids *m, struct budget *budget, u64 *bits, u64 limit);
/* The ids are the distinct ones of n ids in any order. */
mill_err ids_from_list(struct ids *m, struct budget *budget, struct pool *pool, u64 *id, u64 n);
/* The ids are n distinct ids in ascending order. (No check of MAX_VERTICES.) */
mill_err ids_from_sorted(struct ids *m, struct budget *budget, u64 *id, u64 n);
/* Fails with MILL_ELIMIT: n vertices are more than a store holds. */
mill_err ids_too_many(u64 n);
/* Returns the number of bits that hold 0 .. n - 1; at least 1. */
unsigned bits_for(u64 n);
void ids_release(struct ids *m);

static inline u64 ids_at(const struct ids *m, u64 rank) { return m->id ? m->id[rank] : rank; }

/* Returns the rank of an id, which must be one of them. */
static inline u64 ids_rank(const struct ids *m, u64 id)
{
	if (m->bits) {
		u64 below = ((u64)1 << (id % 64)) - 1;

		return m->before[id / 64] + (u64)__builtin_popcountll(m->bits[id / 64] & below);
	}
	if (m->bucket) {
		u64 b = (id - m->min) >> m->shift;
		u64 low = m->bucket[b], high = m->bucket[b + 1];

		while (high - low > 1) {
			u64 middle = low + (high - low) / 2;

			if (m->id[middle] <= id)
				low = middle;
			else
				high = middle;
		}
		return low;
	}
	return id;
}

/* Returns whether the id is one of them. Only for scattered ids. */
static inline bool ids_has(const struct ids *m, u64 id)
{
	return m->n && id >= m->min && id <= m->id[m->n - 1] && m->id[ids_rank(m, id)] == id;
}

#endif
