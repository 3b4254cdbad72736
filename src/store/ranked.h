/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The out- or in-lists of a store in ascending order of original ids: the vertices in that
 * order, and the neighbours of each list too. Ids are given as ranks.
 *
 * Vertices of a store may be in any order. The file `ids` ascends and so defines the ranks;
 * `order` leads from a rank to the vertex number, `rank` back. A column of ids holds ranks, so
 * "the smallest id" is a plain minimum.
 */
#ifndef STORE_RANKED_H
#define STORE_RANKED_H

#include "base/clock.h"
#include "store/store.h"

struct ranked_list {
	u64 rank;		/* of the vertex that has the list */
	u64 degree;		/* may be 0 */
	const vid *neighbour;	/* ranks, ascending; parallel edges in the order of the store */
	const void *weight;	/* of the store's type, or NULL */
};

/*
 * Calls `take` for every rank from 0 to vertices - 1. in: the in-lists, only if the store
 * has_in. If rows are stored in the order of their ids, the pages are read once. Else lists are
 * gathered in the memory that the budget leaves (without a limit: that the system has), and the
 * pages are read once each time that this memory is full. The ticker counts pages.
 */
mill_err ranked_lists(const struct store *st, bool in, struct budget *budget, struct ticker *ticker,
		      mill_err (*take)(void *arg, const struct ranked_list *list), void *arg);

/*
 * Reads the original ids, by rank. *out is NULL if they are dense: then the id is min_id + rank.
 * Free them with memory_free.
 */
mill_err ranked_ids(const struct store *st, struct budget *budget, u64 **out);
/* Returns the original id of a rank. */
static inline u64 ranked_id(const struct store *st, const u64 *ids, u64 rank)
{
	return ids ? ids[rank] : st->min_id + rank;
}

#endif
