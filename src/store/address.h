/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page addresses: what the lists of a paged store hold in place of vertex numbers. GTS's record id and Graphie's second renaming are
 * this one idea:
 *
 *	id = page * slots + slot	of a vertex that has a row: the page in which its list begins, and the row there
 *	id = n_pages * slots + k	of the k-th vertex behind those with rows (a sink)
 *
 * so the page of a neighbour costs a division, and its number is first[page] + slot. Ids ascend as numbers do: lists stay sorted. An id
 * says a page of the direction in whose lists it stands.
 */
#ifndef STORE_ADDRESS_H
#define STORE_ADDRESS_H

#include "base/memory.h"

/* Of one direction. */
struct addresses {
	u32 slots;	/* ids of a page, a stride: at least the rows of any; 0: the lists hold dense numbers */
	u32 n_pages;
	u64 reciprocal;	/* 2^64 / slots, rounded up; 0: 1 slot */
	/*
	 * n_pages + 2: the first vertex whose list begins in each page or behind it; then n_rows, where the sinks begin, and where they
	 * end. So sinks are as the rows of a page more.
	 */
	u32 *first;
	u32 *hint;	/* for who makes ids: the page of each 2^shift-th vertex */
	u32 shift;
};

/* Do all ids exist? They stay below the number that is no vertex. */
bool addresses_fit(u64 n_pages, u64 slots, u64 sinks);
/* What a page adds to the table: the first vertex of its first row, but that of a list that began before. */
static inline u32 address_first(u32 first_vertex, u64 skip) { return first_vertex + (skip != 0); }

/* The rest, where first[0 .. n_pages) is there. Pages have at most `slots` rows, and all ids exist. */
void addresses_set(struct addresses *a, u32 slots, u32 n_pages, u32 n_rows, u32 sinks);
/* After it. */
mill_err addresses_make_hints(struct addresses *a, struct budget *budget);
void addresses_release(struct addresses *a);	/* a zeroed struct is fine */

/* Numbers become ids, and back; in place is fine. Fast for lists that ascend. False: an id that no vertex has, and nothing of `to` counts. */
void addresses_encode(const struct addresses *a, const vid *vertex, u32 n, vid *id);
bool addresses_decode(const struct addresses *a, const vid *id, u32 n, vid *vertex);
/* Only looks. */
bool addresses_are_good(const struct addresses *a, const vid *id, u32 n);

#endif
