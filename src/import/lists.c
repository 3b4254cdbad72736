/* SPDX-License-Identifier: Apache-2.0 */
#include "import/lists.h"

#include <string.h>

#define TICK_EVERY ((u64)1 << 16) /* lists, or edges, between looks at the clock */

/* One vertex's list, contiguous as the writer wants it. */
struct list {
	struct budget *budget;
	size_t weight_size;
	vid *neighbour;
	void *weight;
	u64 room, n;
};

/* Makes the list empty, with room for n. */
static mill_err list_begin(struct list *l, u64 n)
{
	l->n = 0;
	if (n <= l->room)
		return MILL_OK;
	memory_free(l->neighbour);
	memory_free(l->weight);
	l->neighbour = l->weight = NULL;
	l->room = 0;
	n = max_u64(n + n / 4, 1024);
	TRY(memory_new(&l->neighbour, l->budget, n, sizeof(*l->neighbour),
		       "a neighbour list"));
	if (l->weight_size)
		TRY(memory_new(&l->weight, l->budget, n, l->weight_size,
			       "a neighbour list"));
	l->room = n;
	return MILL_OK;
}

/* Adds edges [begin, end), whose neighbour is the high or the low half of the key. */
static void list_add(struct list *l, const struct edges *e, u64 begin, u64 end, bool high)
{
	unsigned shift = high ? e->bits : 0;
	u64 mask = edge_mask(e);
	vid *to = l->neighbour + l->n;

	if (begin == end)
		return;
	for (u64 i = begin; i < end; i++)
		to[i - begin] = (vid)(e->key[i] >> shift & mask);
	if (l->weight_size == 4)
		for (u64 i = begin; i < end; i++)
			((u32 *)l->weight)[l->n + i - begin] = (u32)e->weight[i];
	else if (l->weight_size)
		memcpy((u64 *)l->weight + l->n, e->weight + begin,
		       (end - begin) * sizeof(u64));
	l->n += end - begin;
}

static u64 run_end(const struct edges *e, u64 at, u64 row, unsigned shift, u64 mask)
{
	while (at < e->n && (e->key[at] >> shift & mask) == row)
		at++;
	return at;
}

mill_err lists_write(struct store_writer *w, bool in, const struct edges *by_row,
		     const struct edges *by_column, u64 n)
{
	static const struct edges nothing = { .bits = 1 };
	const struct edges *low = by_column ? by_column : &nothing,
			   *high = by_row ? by_row : &nothing;
	const struct edges *e = by_row ? by_row : by_column;
	struct list l = { .budget = e->budget, .weight_size = weight_size(e->type) };
	u64 mask = edge_mask(e), i = 0, j = 0;
	mill_err err = MILL_OK;

	ticker_begin(e->ticker, in ? "write in-lists" : "write out-lists", "edges",
		     low->n + high->n);
	for (u64 v = 0; v < n && !err; v++) {
		u64 i_end = run_end(low, i, v, 0, mask),
		    j_end = run_end(high, j, v, e->bits, mask);
		u64 degree = (i_end - i) + (j_end - j);

		if (degree > UINT32_MAX) {
			err = fail(MILL_ELIMIT, "a vertex has %llu edges, at most 2^32 - 1 fit",
				   (unsigned long long)degree);
			break;
		}
		err = list_begin(&l, degree);
		if (err)
			break;
		list_add(&l, low, i, i_end, true);
		list_add(&l, high, j, j_end, false);
		i = i_end;
		j = j_end;
		err = writer_list(w, in, l.neighbour, l.weight, degree);
		if (!err && (v % TICK_EVERY == 0 || degree > TICK_EVERY))
			err = ticker_tick(e->ticker, i + j);
	}
	memory_free(l.neighbour);
	memory_free(l.weight);
	return err;
}
