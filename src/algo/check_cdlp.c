/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of label propagation: labels follow from those before the last iteration.
 * The label of every vertex is one that a neighbour had (or its old one, if it has no
 * neighbours). For a sample of vertices (in a small graph all), the labels of the
 * neighbours are sorted, and the longest run must be the vertex's label. The sample is as
 * large as a buffer of PAIRS allows.
 */
#include "algo/algo.h"
#include "algo/cdlp.h"
#include "base/bitmap.h"
#include "base/random.h"
#include "base/sort.h"

#define PAIRS ((u64)1 << 20)

struct check_ctx {
	struct mill_run *run;
	u32 *label, *before;
	u64 *seen;		/* by vertex: a neighbour had its label */
	u64 *chosen;		/* by vertex: it is in the sample */
	u64 *pair;		/* vertex << 32 | label of a neighbour */
	u64 n_pairs, room;	/* n_pairs is atomic */
};

u64 cdlp_check_bytes(const struct store *st)
{
	u64 pairs = min_u64(PAIRS, view_edges(st));

	return 2 * (bitmap_words(st->n_linked) + 1) * sizeof(u64) + st->n_linked * sizeof(u32) +
	       3 * pairs * sizeof(u64) + MIB;
}

static mill_err check_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			   unsigned worker)
{
	struct check_ctx *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		u64 v = (u64)seg->first + row, at;
		u32 n = seg->row[row + 1] - seg->row[row];
		const vid *neighbour = seg->neighbour + seg->row[row];

		for (u32 i = 0; i < n; i++)
			if (c->before[neighbour[i]] == c->label[v]) {
				bitmap_claim(c->seen, v);
				break;
			}
		if (!n || !bitmap_get(c->chosen, v))
			continue;
		at = __atomic_fetch_add(&c->n_pairs, n, __ATOMIC_RELAXED);
		/* A corrupt store may have lists that are longer than the degrees. */
		for (u32 i = 0; i < n && at + i < c->room; i++)
			c->pair[at + i] = v << 32 | c->before[neighbour[i]];
	}
	return MILL_OK;
}

/* Returns the most frequent label of one vertex's sorted pairs; of several, the smallest. */
static u32 longest_run(const u64 *pair, u64 n)
{
	u64 best = 0, run = 0;
	u32 label = 0;

	for (u64 i = 0; i < n; i++) {
		run = i && pair[i] == pair[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			label = (u32)pair[i];
		}
	}
	return label;
}

static mill_err check_pairs(struct check_ctx *c)
{
	u64 end;

	TRY(sort_u64(c->run->pool, &c->run->budget, c->pair, NULL, c->n_pairs, 64));
	for (u64 at = 0; at < c->n_pairs; at = end) {
		u64 v = c->pair[at] >> 32;

		for (end = at; end < c->n_pairs && c->pair[end] >> 32 == v; end++)
			;
		if (longest_run(c->pair + at, end - at) != c->label[v])
			return check_wrong(c->run, v,
					   "more of its neighbours had another label, or as many "
					   "had a smaller one");
	}
	return MILL_OK;
}

/* Chooses vertices until their lists fill the buffer: all of a small graph, else random ones. */
static void choose(struct check_ctx *c, const u32 *degree, u64 edges)
{
	u64 n = c->run->store->n_linked, left = c->room;

	for (u64 i = 0; i < n && i < c->room; i++) {
		u64 v = edges <= c->room ? i : random_below(c->run->options.seed, i, n);

		if (degree[v] > left || bitmap_get(c->chosen, v))
			continue;
		bitmap_put(c->chosen, v);
		left -= degree[v];
	}
}

static mill_err check_labels(struct check_ctx *c, struct vec *degrees)
{
	struct pass pass = { .work = check_rows, .arg = c };
	u64 n = c->run->store->n_linked;
	struct mill_step step = { 0 };
	const u32 *degree = degrees->buffer.host;

	TRY(run_degrees(c->run, degrees));
	choose(c, degree, run_direction(c->run, false)->n_edges);
	TRY(run_pass(c->run, &pass, &step));
	c->n_pairs = min_u64(c->n_pairs, c->room);
	for (u64 v = 0; v < n; v++)
		if (degree[v] ? !bitmap_get(c->seen, v) : c->label[v] != c->before[v])
			return check_wrong(c->run, v, "no neighbour had its label");
	return check_pairs(c);
}

mill_err cdlp_check(struct mill_run *r, const struct vec *before)
{
	const struct vec *label = r->result.column[0].vec;
	struct check_ctx c = { .run = r };
	u64 words = bitmap_words(r->store->n_linked) + 1;
	struct vec *seen, *chosen, *pair, *degree;
	u32 start = r->n_vecs;
	mill_err err;

	c.room = min_u64(PAIRS, view_edges(r->store));
	err = run_vec_host(r, &seen, "the certificate", words, sizeof(u64));
	if (!err)
		err = run_vec_host(r, &chosen, "the certificate", words, sizeof(u64));
	if (!err)
		err = run_vec_host(r, &pair, "the certificate", c.room, sizeof(u64));
	if (!err)
		err = run_vec_host(r, &degree, "the certificate", r->store->n_linked, sizeof(u32));
	if (!err)
		err = vec_map(r, label, &c.label);
	if (!err)
		err = vec_map(r, before, &c.before);
	if (!err) {
		c.seen = seen->buffer.host;
		c.chosen = chosen->buffer.host;
		c.pair = pair->buffer.host;
		run_announce(r, "check", 0);
		err = check_labels(&c, degree);
	}
	if (c.before)
		vec_unmap(before, c.before);
	if (c.label)
		vec_unmap(label, c.label);
	while (r->n_vecs > start)
		run_vec_free(r, r->vec[r->n_vecs - 1]);
	return err;
}
