/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page addresses: the lists of a paged store (import --addressing paged) hold ids in place of
 * vertex numbers. This is GTS's record id and Graphie's second renaming in one:
 *
 *	id = page * slots + slot	a vertex that has a row: the page in which its list
 *					begins, and the row in that page
 *	id = n_pages * slots + k	the k-th vertex after those with rows (a sink)
 *
 * So a division gives the page of a neighbour, and its number is first[page] + slot. Ids ascend
 * as numbers do, so lists stay sorted. An id refers to pages of the direction in which its list
 * is stored.
 *
 * Most code sees vertex numbers only: ids are translated when a page is decoded, or on a device
 * when the page arrives (kernel pages_number). The exceptions are Graphie's wires `edges` and
 * `csr`, which use ids as stored, with tables and flags by page. Import first writes pages with
 * numbers and replaces these by ids when a direction is complete, because only then all pages in
 * which lists begin are known.
 */
#ifndef STORE_ADDRESS_H
#define STORE_ADDRESS_H

#include "base/memory.h"

/* The addresses of one direction. */
struct addresses {
	u32 slots;	/* ids per page, at least the rows of any page; 0: lists hold numbers */
	u32 n_pages;
	u64 reciprocal;	/* 2^64 / slots, rounded up; 0: slots is 1 */
	/*
	 * n_pages + 2 elements. For each page: the first vertex with a list that begins in this
	 * page or a later one. Then two more: n_rows, where the sinks begin, and the end of the
	 * sinks. So the sinks look like the rows of one more page.
	 */
	u32 *first;
	u32 *hint;	/* for encoding: the page of each 2^shift-th vertex */
	u32 shift;
};

/* Returns true if all ids are less than NO_VERTEX. */
bool addresses_fit(u64 n_pages, u64 slots, u64 sinks);
/* Returns a page's element of `first`. skip: edges of its first list that are in earlier pages. */
static inline u32 address_first(u32 first_vertex, u64 skip) { return first_vertex + (skip != 0); }

/*
 * Sets the other fields, when first[0 .. n_pages) is filled. Pages have at most `slots` rows,
 * and addresses_fit is true.
 */
void addresses_set(struct addresses *a, u32 slots, u32 n_pages, u32 n_rows, u32 sinks);
/* Makes `hint`, which addresses_encode needs. Call it after addresses_set. */
mill_err addresses_make_hints(struct addresses *a, struct budget *budget);
void addresses_release(struct addresses *a);	/* a zeroed struct is fine */

/* Turns n numbers into ids. Fast for ascending lists. vertex and id may be the same array. */
void addresses_encode(const struct addresses *a, const vid *vertex, u32 n, vid *id);
/*
 * Turns n ids into numbers. Returns false if an id belongs to no vertex; then the numbers are
 * undefined. id and vertex may be the same array.
 */
bool addresses_decode(const struct addresses *a, const vid *id, u32 n, vid *vertex);
/* Returns true if all ids belong to vertices. */
bool addresses_are_good(const struct addresses *a, const vid *id, u32 n);

#endif
