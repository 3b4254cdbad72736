/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of core numbers. They are not too large if every vertex of core c has c
 * neighbours of core c or more: then the vertices of core c or more form a graph in which
 * each vertex has at least c neighbours. They are not too small if each core can be peeled.
 * Peeling core c removes vertices of core c that have at most c neighbours left in their own
 * or a larger core, again and again; vertices of larger cores stay meanwhile. In the end all
 * vertices of core c must be removed.
 */
#include "algo/algo.h"
#include "algo/kcore.h"
#include "base/bitmap.h"

#define STACK 512

struct check_ctx {
	struct mill_run *run;
	const u32 *core;
	u32 *left;		/* neighbours of the same or a larger core that are not removed */
	u64 *active, *next;	/* vertices that are removed, but not yet subtracted from `left` */
	bool local;		/* any row of the segment may be read: the graph is resident */
	u64 taken;		/* vertices removed; atomic */
};

u64 kcore_check_bytes(const struct store *st)
{
	return st->n_linked * sizeof(u32) + 2 * (bitmap_words(st->n_linked) + 1) * sizeof(u64) +
	       4096;
}

static mill_err count_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			   unsigned worker)
{
	struct check_ctx *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		u64 v = (u64)seg->first + row;
		u32 n = 0;

		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++)
			n += c->core[seg->neighbour[i]] >= c->core[v];
		/* A list may come in pieces, so this adds. */
		__atomic_fetch_add(&c->left[v], n, __ATOMIC_RELAXED);
	}
	return MILL_OK;
}

static bool is_active(void *arg, u64 begin, u64 end)
{
	return bitmap_any(((const struct check_ctx *)arg)->active, begin, end);
}

/* Subtracts a removed neighbour of v's core. Returns true if v is removed too. */
static bool loses_neighbour(struct check_ctx *c, vid v)
{
	return __atomic_fetch_sub(&c->left[v], 1, __ATOMIC_RELAXED) == c->core[v] + 1;
}

static void peel_row(struct check_ctx *c, const struct segment *seg, vid row, vid *stack, u32 *n,
		     u64 *taken)
{
	u32 core = c->core[seg->first + row];

	for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
		vid v = seg->neighbour[i];

		if (c->core[v] != core || !loses_neighbour(c, v))
			continue;
		++*taken;
		if (c->local && *n < STACK && v >= seg->first &&
		    (vid)(v - seg->first) < seg->n_rows &&
		    !segment_row_is_partial(seg, (vid)(v - seg->first)))
			stack[(*n)++] = v;
		else
			bitmap_claim(c->next, v);
	}
}

static mill_err peel_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			  unsigned worker)
{
	struct check_ctx *c = arg;
	u64 first = (u64)seg->first + begin, last = (u64)seg->first + end, taken = 0;
	vid stack[STACK];
	u32 n = 0;

	(void)page;
	(void)worker;
	for (u64 w = first / 64; w < div_up(last, 64); w++)
		for (u64 word = bitmap_window(c->active, w, first, last); word; word &= word - 1) {
			u64 v = w * 64 + (u64)__builtin_ctzll(word);

			peel_row(c, seg, (vid)(v - seg->first), stack, &n, &taken);
			while (n)
				peel_row(c, seg, (vid)(stack[--n] - seg->first), stack, &n, &taken);
		}
	__atomic_fetch_add(&c->taken, taken, __ATOMIC_RELAXED);
	return MILL_OK;
}

static mill_err check_cores(struct check_ctx *c)
{
	struct pass count = { .work = count_rows, .arg = c };
	struct pass peel = { .active = is_active, .work = peel_rows, .arg = c };
	u64 n = c->run->store->n_linked, words = bitmap_words(n), before;
	struct mill_step step = { 0 };

	TRY(run_pass(c->run, &count, &step));
	for (u64 v = 0; v < n; v++) {
		if (c->left[v] < c->core[v])
			return check_wrong(c->run, v, "too few of its neighbours are in its core");
		if (c->left[v] > c->core[v])
			continue;
		bitmap_put(c->active, v);
		c->taken++;
	}
	do {
		u64 *swap = c->active;

		before = c->taken;
		TRY(run_pass(c->run, &peel, &step));
		for (u64 w = 0; w < words; w++)
			swap[w] = 0;
		c->active = c->next;
		c->next = swap;
	} while (c->taken > before);
	for (u64 v = 0; c->taken < n && v < n; v++)
		if (c->left[v] > c->core[v])
			return check_wrong(c->run, v, "it belongs to a larger core");
	return MILL_OK;
}

mill_err kcore_check(struct mill_run *r)
{
	struct check_ctx c = { .run = r, .local = run_direction(r, false)->resident };
	u64 n = r->store->n_linked;
	mill_err err;

	TRY(memory_new(&c.left, &r->budget, n, sizeof(u32), "the certificate"));
	err = memory_new(&c.active, &r->budget, bitmap_words(n), sizeof(u64), "the certificate");
	if (!err)
		err = memory_new(&c.next, &r->budget, bitmap_words(n), sizeof(u64),
				 "the certificate");
	if (!err)
		err = vec_map(r, r->result.column[0].vec, &c.core);
	if (!err) {
		run_announce(r, "check", 0);
		err = check_cores(&c);
		vec_unmap(r->result.column[0].vec, (void *)c.core);
	}
	memory_free(c.next);
	memory_free(c.active);
	memory_free(c.left);
	return err;
}
