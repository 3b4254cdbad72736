/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The out- or in-lists of a store by original id, whatever the order of its vertices: list after list
 * in ascending order of the vertex's id, each with its neighbours in that order. Ids come as ranks.
 */
#ifndef STORE_RANKED_H
#define STORE_RANKED_H

#include "base/clock.h"
#include "store/store.h"

struct ranked_list {
	u64 rank;		/* of the vertex whose list it is */
	u64 degree;		/* may be 0 */
	const vid *neighbour;	/* ranks, ascending; parallel edges in the order of the store */
	const void *weight;	/* of the store's type, or NULL */
};

/*
 * Calls take for every rank from 0 to vertices - 1. in: only of a store that has_in. Where the rows are stored in the order of
 * their ids the pages are read once; else as often as it takes to gather all lists in the memory that
 * the budget leaves (without a limit: that is available). Ticks "pages".
 */
mill_err ranked_lists(const struct store *st, bool in, struct budget *budget, struct ticker *ticker,
		      mill_err (*take)(void *arg, const struct ranked_list *list), void *arg);

/* The original ids of ranks: NULL if they are dense (then the id is min_id + rank). memory_free them. */
mill_err ranked_ids(const struct store *st, struct budget *budget, u64 **out);
static inline u64 ranked_id(const struct store *st, const u64 *ids, u64 rank)
{
	return ids ? ids[rank] : st->min_id + rank;
}

#endif
