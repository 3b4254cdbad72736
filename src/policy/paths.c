/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds paths: one pass counts in-degrees up to 2, in two bitmaps; one pass finds links. A page
 * is a range of the paper's algorithm 1, so the result does not depend on threads.
 */
#include "policy/paths.h"

#include <string.h>

#include "base/bitmap.h"

struct paths_ctx {
	struct paths *paths;
	u64 *once, *twice;	/* vertices with an in-edge; with several */
	u64 **seen;		/* by worker: links of the page that a path goes through */
	u64 n;			/* vertices with rows */
	bool branch;
};

u64 paths_bytes(u64 n) { return 3 * bitmap_words(n) * sizeof(u64) + 2 * n * sizeof(u32) + 4096; }

static mill_err count_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct paths_ctx *c = arg;

	(void)page;
	(void)worker;
	for (u32 i = 0; i < seg->n_edges; i++) {
		vid v = seg->neighbour[i];

		if (v < c->n && !bitmap_claim(c->once, v))
			bitmap_claim(c->twice, v);
	}
	return MILL_OK;
}

/* Returns whether v, which an edge of the page leads to, is a link. */
static bool is_link(const struct paths_ctx *c, const struct segment *seg, vid v)
{
	vid r = (vid)(v - seg->first);
	u32 degree;

	if (v < seg->first || r >= seg->n_rows || segment_row_is_partial(seg, r) ||
	    bitmap_get(c->twice, v))
		return false;
	degree = seg->row[r + 1] - seg->row[r];
	return c->branch ? degree >= 1 : degree == 1;
}

static bool in_page(const struct segment *seg, vid v)
{
	return v >= seg->first && (vid)(v - seg->first) < seg->n_rows;
}

/* Notes the paths that begin at u. */
static void note_paths(struct paths_ctx *c, const struct segment *seg, vid u, u64 *seen)
{
	struct paths *p = c->paths;
	u32 r = (u32)(u - seg->first), sum = 0;
	u64 single = 0;

	for (u32 i = seg->row[r] + bitmap_get(p->link, u); i < seg->row[r + 1]; i++) {
		vid v = seg->neighbour[i];
		u32 length = 1;

		for (; in_page(seg, v) && bitmap_get(p->link, v); length++) {
			p->head[v] = u;
			bitmap_put(seen, v - seg->first);
			v = seg->neighbour[seg->row[v - seg->first]];
		}
		sum += length;
		single += length == 1;
	}
	__atomic_fetch_add(&p->edges[u], sum, __ATOMIC_RELAXED);
	__atomic_fetch_add(&p->n_single, single, __ATOMIC_RELAXED);
}

/* Opens the cycle of links on which v lies at its smallest vertex. */
static void open_cycle(struct paths_ctx *c, const struct segment *seg, vid v, u64 *seen)
{
	struct paths *p = c->paths;
	vid least = v, x = v;
	u32 length = 1;

	do {
		x = seg->neighbour[seg->row[x - seg->first]];
		least = x < least ? x : least;
	} while (x != v);
	__atomic_fetch_and(&p->link[least / 64], ~((u64)1 << (least % 64)),
			   __ATOMIC_RELAXED);
	bitmap_put(seen, least - seg->first);
	x = seg->neighbour[seg->row[least - seg->first]];
	for (; in_page(seg, x) && bitmap_get(p->link, x); length++) {
		p->head[x] = least;
		bitmap_put(seen, x - seg->first);
		x = seg->neighbour[seg->row[x - seg->first]];
	}
	p->edges[least] += length;
	__atomic_fetch_add(&p->n_single, length == 1, __ATOMIC_RELAXED);
}

static mill_err link_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct paths_ctx *c = arg;
	struct paths *p = c->paths;
	u64 *seen = c->seen[worker], links = 0;

	(void)page;
	memset(seen, 0, bitmap_words(seg->n_rows) * sizeof(u64));
	for (u32 i = 0; i < seg->n_edges; i++)
		if (is_link(c, seg, seg->neighbour[i]))
			bitmap_claim(p->link, seg->neighbour[i]);
	for (vid r = 0; r < seg->n_rows; r++)
		note_paths(c, seg, (vid)(seg->first + r), seen);
	/* Links that no path goes through lie on cycles. */
	for (vid r = 0; r < seg->n_rows; r++)
		if (bitmap_get(p->link, (u64)seg->first + r) && !bitmap_get(seen, r))
			open_cycle(c, seg, (vid)(seg->first + r), seen);
	for (vid r = 0; r < seg->n_rows; r++)
		links += bitmap_get(p->link, (u64)seg->first + r);
	__atomic_fetch_add(&p->n_links, links, __ATOMIC_RELAXED);
	return MILL_OK;
}

static mill_err note_rows(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct paths_ctx *c = arg;

	(void)page;
	(void)worker;
	for (vid r = 0; r < seg->n_rows; r++)
		__atomic_fetch_add(&c->paths->edges[seg->first + r],
				   seg->row[r + 1] - seg->row[r], __ATOMIC_RELAXED);
	return MILL_OK;
}

static mill_err pass(struct transfer *t, struct stream *stream, const struct pages *p,
		     struct paths_ctx *c,
		     mill_err (*work)(void *, u32, const struct segment *, unsigned))
{
	struct stream_pass sp = { .pages = p, .work = work, .arg = c,
				  .want = { .lists_only = true }, .ticker = t->ticker };

	return stream_run(stream, &sp);
}

static mill_err find_links(struct paths_ctx *c, struct transfer *t, struct stream *stream,
			   const struct pages *p)
{
	unsigned workers = pool_size(t->pool);
	u64 rows, edges, words = max_u64(bitmap_words(c->n), 1);
	mill_err err;

	largest_page(p, t->graph, &rows, &edges);
	TRY(memory_new(&c->paths->link, t->budget, words, sizeof(u64), "links of paths"));
	err = memory_new(&c->once, t->budget, 2 * words, sizeof(u64), "links of paths");
	if (!err)
		err = memory_new(&c->seen, t->budget, workers,
				 sizeof(u64 *) + (bitmap_words(rows) + 1) * sizeof(u64),
				 "links of paths");
	if (!err) {
		c->twice = c->once + words;
		for (unsigned i = 0; i < workers; i++)
			c->seen[i] = (u64 *)(c->seen + workers) + i * (bitmap_words(rows) + 1);
		err = pass(t, stream, p, c, count_page);
	}
	if (!err)
		err = pass(t, stream, p, c, link_page);
	memory_free(c->once);
	memory_free(c->seen);
	return err;
}

mill_err paths_make(struct paths *out, struct transfer *t, struct stream *stream,
		    const struct pages *p, bool links, bool branch)
{
	struct paths_ctx c = { .paths = out, .n = p->n_rows, .branch = branch };
	f64 began = clock_now();
	u64 n = max_u64(p->n_rows, 1);

	*out = (struct paths){ 0 };
	TRY(memory_new(&out->edges, t->budget, n, sizeof(u32), "paths"));
	TRY(memory_new(&out->head, t->budget, n, sizeof(u32), "paths"));
	TRY(links ? find_links(&c, t, stream, p) : pass(t, stream, p, &c, note_rows));
	for (u32 i = 0; i < p->n_pages; i++)
		out->n_edges += p->entry[i].n_edges;
	if (!links)
		out->n_single = out->n_edges;
	out->seconds = clock_now() - began;
	return MILL_OK;
}

void paths_release(struct paths *p)
{
	memory_free(p->link);
	memory_free(p->head);
	memory_free(p->edges);
	*p = (struct paths){ 0 };
}
