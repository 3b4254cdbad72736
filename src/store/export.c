/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The out-lists lie in ascending order of the source's original id, and a list is two runs of
 * ascending ids (sources, then the others): one pass over the pages and a merge per list give
 * the sorted edge list.
 */
#include "store/export.h"

#include <string.h>

#include "base/number.h"

struct exporter {
	const struct store *st;
	struct outfile *out;
	u64 *id;		/* of every vertex */
	/* The list that is being gathered, perhaps over several pages. */
	vid *neighbour;
	u8 *weight;
	u64 degree;
	u64 last;		/* id of the source before */
};

static size_t put_weight(char *to, enum mill_weight type, const u8 *weight, u64 k)
{
	size_t n = 0;
	i64 value;

	switch (type) {
	case MILL_WEIGHT_NONE:
		return 0;
	case MILL_WEIGHT_U32:
		return number_put_u64(to, ((const u32 *)(const void *)weight)[k]);
	case MILL_WEIGHT_I32:
		value = ((const i32 *)(const void *)weight)[k];
		if (value < 0)
			to[n++] = '-';
		return n + number_put_u64(to + n, (u64)(value < 0 ? -value : value));
	case MILL_WEIGHT_F32:
		return number_put_f32(to, ((const f32 *)(const void *)weight)[k]);
	case MILL_WEIGHT_F64:
		return number_put_f64(to, ((const f64 *)(const void *)weight)[k]);
	}
	return 0;
}

static mill_err put_edge(struct exporter *x, u64 from, u64 to, u64 k)
{
	char line[3 * NUMBER_TEXT + 3];
	size_t n;

	n = number_put_u64(line, from);
	line[n++] = ' ';
	n += number_put_u64(line + n, to);
	if (x->st->weight != MILL_WEIGHT_NONE) {
		line[n++] = ' ';
		n += put_weight(line + n, x->st->weight, x->weight, k);
	}
	line[n++] = '\n';
	return outfile_write(x->out, line, n);
}

static mill_err out_of_order(const struct exporter *x)
{
	return fail(MILL_ECORRUPT, "%s: the ids are not in order",
		    x->st->file[STORE_IDS].name);
}

/* Writes the gathered list: two ascending runs, merged; equal ids are parallel edges, in order. */
static mill_err put_list(struct exporter *x, vid v)
{
	u64 from = x->id[v], before = 0;
	u64 a = 0, b = 0, middle;

	if (v && from <= x->last)
		return out_of_order(x);
	x->last = from;
	while (b < x->degree && x->neighbour[b] < x->st->sources)
		b++;
	middle = b;
	while (a < middle || b < x->degree) {
		bool first = b == x->degree ||
			     (a < middle && x->id[x->neighbour[a]] < x->id[x->neighbour[b]]);
		u64 k = first ? a++ : b++;
		u64 to = x->id[x->neighbour[k]];

		if (to < before)
			return out_of_order(x);
		before = to;
		if (x->st->directed || from <= to)
			TRY(put_edge(x, from, to, k));
	}
	return MILL_OK;
}

static mill_err gather(struct exporter *x, const struct segment *seg, u64 r)
{
	size_t w = weight_size(x->st->weight);
	u64 begin = seg->row[r], n = seg->row[r + 1] - begin;

	if (n > x->st->max_degree - x->degree)
		return fail(MILL_ECORRUPT, "%s: a list is longer than the manifest says",
			    x->st->file[STORE_OUT_PAGES].name);
	if (!n)
		return MILL_OK;
	memcpy(x->neighbour + x->degree, seg->neighbour + begin, n * sizeof(vid));
	if (w)
		memcpy(x->weight + x->degree * w, (const u8 *)seg->weight + begin * w, n * w);
	x->degree += n;
	return MILL_OK;
}

static mill_err put_page(struct exporter *x, u32 i, void *frame)
{
	const struct pages *pages = &x->st->out;
	struct segment seg;

	TRY(page_read(pages, i, frame));
	TRY(page_decode(pages, i, frame, &seg));
	for (u64 r = 0; r < seg.n_rows; r++) {
		TRY(gather(x, &seg, r));
		if (r + 1 < seg.n_rows || !seg.continues) {
			TRY(put_list(x, (vid)(seg.first + r)));
			x->degree = 0;
		}
	}
	return MILL_OK;
}

static mill_err load(struct exporter *x, void **frame, struct budget *budget)
{
	const struct store *st = x->st;
	size_t w = weight_size(st->weight);

	TRY(memory_new(&x->id, budget, st->vertices, sizeof(u64), "the original ids"));
	TRY(store_read(st, STORE_IDS, x->id, st->size[STORE_IDS], 0));
	TRY(memory_new(&x->neighbour, budget, st->max_degree, sizeof(vid), "the longest list"));
	if (w)
		TRY(memory_new(&x->weight, budget, st->max_degree, w, "the longest list"));
	return page_frame_new(frame, st, budget);
}

mill_err store_export(const struct store *st, const char *path, struct budget *budget,
		      struct ticker *ticker)
{
	struct exporter x = { .st = st };
	void *frame = NULL;
	mill_err err;

	ticker_begin(ticker, "export", "pages", st->out.n_pages);
	err = load(&x, &frame, budget);
	if (!err)
		err = outfile_open(&x.out, path);
	for (u32 i = 0; !err && i < st->out.n_pages; i++) {
		err = put_page(&x, i, frame);
		if (!err)
			err = ticker_tick(ticker, i + 1);
	}
	if (err)
		outfile_abandon(x.out);
	else
		err = outfile_commit(x.out);
	memory_free(frame);
	memory_free(x.weight);
	memory_free(x.neighbour);
	memory_free(x.id);
	return err;
}
