/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the levels of a search; levels.h has the contract. */
#include "engine/levels.h"

#include <assert.h>
#include <string.h>

/* levels_find counts the vertices of each level, and a path has as many levels as vertices. */
static void add_bytes(const struct declaration *d, const struct declared *x, struct need *n)
{
	u64 vertices = d->run->store->n_linked;

	(void)x;
	n->host += vertices * sizeof(vid) + d->run->store->sources * sizeof(u32) +
		   (bitmap_words(vertices) + 1) * sizeof(u64) +
		   (n->own ? (vertices + 3) * sizeof(u64) : 0);
}

static mill_err make(struct mill_run *r, const struct declared *x)
{
	struct levels *l = x->out;
	u64 n = r->store->n_linked;

	l->run = r;
	TRY(run_vec_host(r, &l->order_vec, "vertices by level", n, sizeof(vid)));
	l->order = l->order_vec->buffer.host;
	TRY(run_vec_host(r, &l->begins_vec, "levels", bitmap_words(n) + 1, sizeof(u64)));
	l->begins = l->begins_vec->buffer.host;
	TRY(run_vec_host(r, &l->degree_vec, "degrees", r->store->sources, sizeof(u32)));
	l->degree = l->degree_vec->buffer.host;
	return store_read(r->store, STORE_OUT_DEGREES, l->degree_vec->buffer.host,
			  r->store->sources * sizeof(u32), 0);
}

void declare_levels(struct declaration *d, struct levels *l)
{
	declare_item(d, (struct declared){ .bytes = add_bytes, .make = make, .out = l,
					   .flags = EARLY });
}

void levels_clear(struct levels *l)
{
	for (u64 at = 0; at < l->n_reached; at = levels_end(l, at))
		l->begins[at / 64] &= ~((u64)1 << (at % 64));
	l->n_reached = l->n_levels = l->n_edges = 0;
}

/* Adds the edges of the vertices that were reached after the first `from`. */
static void count_edges(struct levels *l, u64 from)
{
	u64 n_sources = l->run->store->sources;

	for (u64 i = from; i < l->n_reached; i++)
		l->n_edges += l->order[i] < n_sources ? l->degree[l->order[i]] : 0;
}

mill_err levels_keep(struct levels *l, struct frontier *f)
{
	u64 from = l->n_reached, at = from;
	const u64 *bits;

	bitmap_put(l->begins, at);
	l->n_levels++;
	l->n_reached += f->n;
	assert(l->n_reached <= l->run->store->n_linked);
	if (!f->dense) {
		memcpy(l->order + at, f->list, f->n * sizeof(vid));
		count_edges(l, from);
		return MILL_OK;
	}
	TRY(frontier_bits(f, &bits));
	for (u64 w = 0; at < l->n_reached; w++)
		for (u64 word = bits[w]; word; word &= word - 1)
			l->order[at++] = (vid)(w * 64 + (u64)__builtin_ctzll(word));
	count_edges(l, from);
	return MILL_OK;
}

/*
 * Turns sizes into beginnings. Before, begin[k + 1] is the number of vertices of depth k;
 * after, begin[k] is where they begin.
 */
static void count_levels(struct levels *l, u64 *begin)
{
	for (; begin[l->n_levels + 1]; l->n_levels++) {
		bitmap_put(l->begins, begin[l->n_levels]);
		begin[l->n_levels + 1] += begin[l->n_levels];
	}
	l->n_reached = begin[l->n_levels];
}

mill_err levels_find(struct levels *l, const struct vec *depths)
{
	const u32 *depth;
	struct vec *counts;
	u64 *begin, most = 0;

	TRY(vec_map(l->run, depths, &depth));	/* no copy: the state is on the host */
	for (u64 v = 0; v < depths->n; v++)
		if (depth[v] != UINT32_MAX)
			most = max_u64(most, depth[v]);
	TRY(run_vec_host(l->run, &counts, "sizes of levels", most + 3, sizeof(u64)));
	begin = counts->buffer.host;
	for (u64 v = 0; v < depths->n; v++)
		if (depth[v] != UINT32_MAX)
			begin[depth[v] + 1]++;
	count_levels(l, begin);
	for (u64 v = 0; v < depths->n; v++)
		if (depth[v] != UINT32_MAX)
			l->order[begin[depth[v]]++] = (vid)v;
	count_edges(l, 0);
	run_vec_free(l->run, counts);
	vec_unmap(depths, (void *)depth);
	return MILL_OK;
}

u64 levels_end(const struct levels *l, u64 i)
{
	for (i++; i < l->n_reached && !bitmap_get(l->begins, i); i++)
		if (i % 64 == 0 && !l->begins[i / 64])
			i += 63;
	return min_u64(i, l->n_reached);
}

u64 levels_begin(const struct levels *l, u64 i)
{
	for (i--; !bitmap_get(l->begins, i); i--)
		if (i % 64 == 63 && !l->begins[i / 64])
			i -= 63;
	return i;
}
