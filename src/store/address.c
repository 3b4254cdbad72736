/* SPDX-License-Identifier: Apache-2.0 */
/* Page addresses: encoding, decoding and checking. */
#include "store/address.h"

#define HINTS 4096u	/* about the largest number of hints */

bool addresses_fit(u64 n_pages, u64 slots, u64 sinks)
{
	u64 ids;

	return !__builtin_mul_overflow(n_pages, slots, &ids) &&
	       !__builtin_add_overflow(ids, sinks, &ids) && ids <= MAX_VERTICES;
}

void addresses_release(struct addresses *a)
{
	memory_free(a->first);
	memory_free(a->hint);
	*a = (struct addresses){ 0 };
}

void addresses_set(struct addresses *a, u32 slots, u32 n_pages, u32 n_rows, u32 sinks)
{
	a->slots = slots;
	a->n_pages = n_pages;
	a->reciprocal = slots > 1 ? UINT64_MAX / slots + 1 : 0;
	a->first[n_pages] = n_rows;
	a->first[n_pages + 1] = n_rows + sinks;
}

static u32 n_rows(const struct addresses *a) { return a->first[a->n_pages]; }

mill_err addresses_make_hints(struct addresses *a, struct budget *budget)
{
	u64 rows = n_rows(a);
	u32 page = 0;

	while (rows >> a->shift > HINTS)
		a->shift++;
	TRY(memory_new(&a->hint, budget, (rows >> a->shift) + 2, sizeof(u32), "the addresses"));
	for (u64 i = 0; i <= rows >> a->shift; i++) {
		while (page + 1 < a->n_pages && a->first[page + 1] <= i << a->shift)
			page++;
		a->hint[i] = page;
	}
	a->hint[(rows >> a->shift) + 1] = a->n_pages ? a->n_pages - 1 : 0;
	return MILL_OK;
}

/*
 * Returns the page in which the list of v < n_rows begins: the last page with first <= v. A page
 * in the middle of v's list has a larger first, because v's list does not begin there.
 */
static u32 find(const struct addresses *a, u32 v)
{
	u32 low = a->hint[v >> a->shift], high = a->hint[(v >> a->shift) + 1] + 1;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (a->first[middle] <= v)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static u32 page_of_vertex(const struct addresses *a, u32 v)
{
	return v < n_rows(a) ? find(a, v) : a->n_pages;
}

/*
 * Divides by a multiplication, which is exact for 32 bits (Lemire, Kaser, Kurz: Faster remainder
 * by direct computation).
 */
static u32 page_of_id(const struct addresses *a, u32 id)
{
	u32 page = a->reciprocal ? (u32)((unsigned __int128)id * a->reciprocal >> 64) : id;

	return page < a->n_pages ? page : a->n_pages;
}

void addresses_encode(const struct addresses *a, const vid *vertex, u32 n, vid *id)
{
	u32 page = 0;

	for (u32 k = 0; k < n; k++) {
		u32 v = vertex[k];

		/* Looks up the page unless it is that of the neighbour before. */
		if (v < a->first[page] || v >= a->first[page + 1])
			page = page_of_vertex(a, v);
		id[k] = (vid)(v - a->first[page] + page * a->slots);
	}
}

/*
 * Does not test whether the page is that of the neighbour before: if neighbours are far apart,
 * this branch would be mispredicted. No sum wraps: first[page] is at most page * slots, so a
 * number is at most its id.
 */
bool addresses_decode(const struct addresses *a, const vid *id, u32 n, vid *vertex)
{
	u32 bad = 0;

	for (u32 k = 0; k < n; k++) {
		u32 page = page_of_id(a, id[k]), v = id[k] - page * a->slots + a->first[page];

		bad |= v >= a->first[page + 1];
		vertex[k] = (vid)v;
	}
	return !bad;
}

bool addresses_are_good(const struct addresses *a, const vid *id, u32 n)
{
	u32 bad = 0;

	for (u32 k = 0; k < n; k++) {
		u32 page = page_of_id(a, id[k]);

		bad |= id[k] - page * a->slots + a->first[page] >= a->first[page + 1];
	}
	return !bad;
}
