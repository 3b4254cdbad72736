/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes bins from the out-pages: cuts the destinations into bins by their degrees, counts
 * the edges that each page has in each bin, and then places them.
 */
#include "engine/bins.h"

#include <string.h>

/* Bins begin at multiples of GRANULE vertices, so that a small table finds a vertex's bin. */
#define GRANULE 256u
/* A bin has about 1/64 of the edges at most, so that workers get equal work. */
#define SHARES 64u
#define DEGREES 8192	/* number of degrees read at a time */

_Static_assert(DEGREES % GRANULE == 0, "granules are read whole");

/* The edges of one page that go into one bin. */
struct page_bin {
	u64 entry, source;		/* the next places to write */
	u32 n_entries, n_sources;	/* first the counts, later the numbers still to place */
};

struct layout_ctx {
	const struct store *store;
	struct budget *budget;
	struct bins *bins;
	u32 *bin_of;		/* by granule */
	bool *has_hub;		/* by bin: it has a list longer than LIST_BLOCK */
	struct page_bin *page_bin;	/* by page and bin */
	u32 n_bins;
};

static u32 most_bins(u64 n_vertices) { return (u32)(n_vertices / BIN_VERTICES + SHARES + 2); }

u64 bins_bytes(const struct store *st, unsigned workers)
{
	u64 edges = st->stored_edges, bins = most_bins(st->n_linked);

	return (edges + BIN_AHEAD) * (sizeof(u16) + sizeof(vid)) +
	       edges / LIST_BLOCK * sizeof(u64) +
	       bins * (st->out.n_pages * sizeof(struct page_bin) + sizeof(struct bin) + 1) +
	       (st->n_linked / GRANULE + 1) * sizeof(u32) +
	       (u64)workers * (2 * BIN_VERTICES * sizeof(u64)) + 64 * KIB;
}

/* ---- Estimate of the benefit ---- */

#define SAMPLES 8u	/* pages read */

/* Counts the page's edges between vertices with numbers that differ by less than the distance. */
static u64 count_near(const struct segment *seg, u64 distance)
{
	u64 near = 0;

	for (vid row = 0; row < seg->n_rows; row++) {
		u64 u = (u64)seg->first + row;

		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			u64 v = seg->neighbour[i];

			near += (u > v ? u - v : v - u) < distance;
		}
	}
	return near;
}

mill_err bins_pay(const struct store *st, struct budget *budget, u32 size, bool *out)
{
	u64 distance = BINS_FROM / 2 / size, near = 0, edges = 0;
	mill_err err = MILL_OK;
	void *frame;

	*out = false;
	if (st->sources * size <= BINS_FROM || !st->out.n_pages)
		return MILL_OK;
	TRY(page_frame_new(&frame, st, budget));
	for (u32 i = 0; !err && i < SAMPLES; i++) {
		u32 page = (u32)((2 * (u64)i + 1) * st->out.n_pages / (2 * SAMPLES));
		struct segment seg;

		err = page_read(&st->out, page, frame);
		if (!err)
			err = page_decode(&st->out, page, frame, &seg);
		if (!err) {
			near += count_near(&seg, distance);
			edges += seg.n_edges;
		}
	}
	memory_free(frame);
	*out = near < edges / 2;
	return err;
}

/* ---- Beginnings of bins ---- */

static void end_bin(struct layout_ctx *l, u64 end)
{
	struct bin *b = &l->bins->bin[l->n_bins++];

	b->n_vertices = (u32)(end - b->first);
	if (end < l->store->n_linked)
		b[1].first = (vid)end;
}

/* Cuts vertices [at, at + some) into bins. at is a multiple of GRANULE. */
static void cut_some(struct layout_ctx *l, const u32 *degree, u64 at, u64 some, u64 *edges)
{
	u64 share = l->store->stored_edges / SHARES + 1;

	for (u64 i = 0; i < some; i++) {
		u64 v = at + i;
		struct bin *b = &l->bins->bin[l->n_bins];

		if (v % GRANULE == 0 && v > b->first &&
		    (v - b->first == BIN_VERTICES || *edges >= share) &&
		    l->n_bins + 2 < most_bins(l->store->n_linked)) {
			end_bin(l, v);
			*edges = 0;
		}
		if (v % GRANULE == 0)
			l->bin_of[v / GRANULE] = l->n_bins;
		*edges += degree[i];
		l->has_hub[l->n_bins] |= degree[i] > LIST_BLOCK;
	}
}

/*
 * Cuts all vertices into bins. The number of bins is bounded even if the degrees of a corrupt
 * store are false. Then the last bin may have more than BIN_VERTICES, which is an error.
 */
static mill_err cut_bins(struct layout_ctx *l)
{
	const struct store *st = l->store;
	u64 n = st->n_linked, have = st->directed ? n : st->sources, edges = 0;
	mill_err err = MILL_OK;
	u32 *degree;

	TRY(memory_new(&degree, l->budget, DEGREES, sizeof(*degree), "degrees"));
	for (u64 at = 0; !err && at < n; at += DEGREES) {
		u64 some = min_u64(DEGREES, n - at),
		    with = at < have ? min_u64(some, have - at) : 0;

		memset(degree, 0, DEGREES * sizeof(*degree));
		if (with)
			err = store_read(st, st->directed ? STORE_IN_DEGREES : STORE_OUT_DEGREES,
					 degree, with * sizeof(u32), at * sizeof(u32));
		if (!err)
			cut_some(l, degree, at, some, &edges);
	}
	memory_free(degree);
	if (!err && n)
		end_bin(l, n);
	for (u32 i = 0; !err && i < l->n_bins; i++)
		if (l->bins->bin[i].n_vertices > BIN_VERTICES)
			err = fail(MILL_ECORRUPT, "%s: the degrees sum to more than the edges",
				   st->path);
	return err;
}

/* ---- Edges ---- */

/* Counts a page's entries. Neighbours ascend, so a row's neighbours in one bin are adjacent. */
static mill_err count_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct layout_ctx *l = arg;
	struct page_bin *page_bin = l->page_bin + (u64)page * l->n_bins;

	(void)worker;
	for (vid row = 0; row < seg->n_rows; row++) {
		u32 last = UINT32_MAX;

		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			u32 bin = l->bin_of[seg->neighbour[i] / GRANULE];

			page_bin[bin].n_entries++;
			page_bin[bin].n_sources += bin != last;
			last = bin;
		}
	}
	return MILL_OK;
}

/*
 * Places the edges that count_page counted. Another page with a valid checksum may have
 * replaced the page since, so nothing is written where the count left no room.
 */
static mill_err place_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct layout_ctx *l = arg;
	struct bins *b = l->bins;
	struct page_bin *page_bin = l->page_bin + (u64)page * l->n_bins;

	(void)worker;
	for (vid row = 0; row < seg->n_rows; row++) {
		u32 last = UINT32_MAX;

		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			u32 bin = l->bin_of[seg->neighbour[i] / GRANULE], ahead = bin != last;
			struct page_bin *p = &page_bin[bin];

			if (!p->n_entries || p->n_sources < ahead)
				return fail(MILL_ECORRUPT, "%s: page %u changed while it was read",
					    l->store->path, page);
			if (ahead) {
				b->source[p->source++] = (vid)(seg->first + row);
				p->n_sources--;
			}
			b->entry[p->entry++] = (u16)(ahead << BIN_BITS |
						     (u32)(seg->neighbour[i] - b->bin[bin].first));
			p->n_entries--;
			last = bin;
		}
	}
	return MILL_OK;
}

/* Turns counts into places: by bin, then by page. Pages are in the order of their sources. */
static mill_err make_room(struct layout_ctx *l)
{
	const struct store *st = l->store;
	struct bins *b = l->bins;
	u64 entries = 0, sources = 0, cuts = 0;

	for (u32 i = 0; i < l->n_bins; i++) {
		b->bin[i].n_entries = entries;
		for (u32 page = 0; page < st->out.n_pages; page++) {
			struct page_bin *p = &l->page_bin[(u64)page * l->n_bins + i];

			p->entry = entries;
			p->source = sources;
			entries += p->n_entries;
			sources += p->n_sources;
		}
		b->bin[i].n_entries = entries - b->bin[i].n_entries;
		if (l->has_hub[i])
			cuts += b->bin[i].n_entries / LIST_BLOCK;
	}
	TRY(memory_new(&b->entry, l->budget, entries + BIN_AHEAD, sizeof(u16), "the bins"));
	TRY(memory_new(&b->source, l->budget, sources + BIN_AHEAD, sizeof(vid),
		       "the bins' sources"));
	TRY(memory_new(&b->cut, l->budget, cuts, sizeof(u64), "the bins' cuts"));
	cuts = 0;
	for (u32 i = 0; i < l->n_bins; i++) {
		b->bin[i].entry = b->entry + l->page_bin[i].entry;
		b->bin[i].source = b->source + l->page_bin[i].source;
		b->bin[i].cut = b->cut + cuts;
		if (l->has_hub[i])
			cuts += b->bin[i].n_entries / LIST_BLOCK;
	}
	return MILL_OK;
}

/* ---- Cuts ---- */

/* Finds the cuts of the bins that have hubs. */
static mill_err cut_lists(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct layout_ctx *l = arg;
	u32 *seen = (u32 *)(l->bins->sum + worker * (2 * BIN_VERTICES * sizeof(u64)));

	for (u64 i = begin; i < end; i++) {
		struct bin *b = &l->bins->bin[i];
		u64 *cut = (u64 *)b->cut;

		if (!l->has_hub[i])
			continue;
		memset(seen, 0, BIN_VERTICES * sizeof(*seen));
		for (u64 e = 0; e < b->n_entries; e++) {
			u32 before = seen[b->entry[e] & BIN_PLACE]++;

			/*
			 * Each cut has LIST_BLOCK entries of its own before it, so there is
			 * room.
			 */
			if (before && before % LIST_BLOCK == 0)
				cut[b->n_cuts++] = e;
		}
	}
	return MILL_OK;
}

/* Sorts by size, largest first. */
static void sort_bins(struct bins *b)
{
	for (u32 i = 1; i < b->n_bins; i++) {
		struct bin x = b->bin[i];
		u32 at = i;

		for (; at && b->bin[at - 1].n_entries < x.n_entries; at--)
			b->bin[at] = b->bin[at - 1];
		b->bin[at] = x;
	}
}

static mill_err build(struct layout_ctx *l, struct stream *stream, struct pool *pool,
		      struct ticker *ticker)
{
	const struct store *st = l->store;
	struct stream_pass count = {
		.pages = &st->out, .work = count_page, .arg = l, .ticker = ticker
	};
	struct stream_pass place = {
		.pages = &st->out, .work = place_page, .arg = l, .ticker = ticker
	};
	u64 most = most_bins(st->n_linked);

	TRY(memory_new(&l->bins->bin, l->budget, most, sizeof(struct bin), "the bins"));
	TRY(memory_new(&l->bins->sum, l->budget, pool_size(pool), 2 * BIN_VERTICES * sizeof(u64),
		       "the bins' sums"));
	TRY(memory_new(&l->bin_of, l->budget, st->n_linked / GRANULE + 1, sizeof(u32),
		       "the table of bins"));
	TRY(memory_new(&l->has_hub, l->budget, most, sizeof(bool), "the table of bins"));
	TRY(cut_bins(l));
	TRY(memory_new(&l->page_bin, l->budget, (u64)l->n_bins * st->out.n_pages,
		       sizeof(struct page_bin), "the bins of pages"));
	ticker_begin(ticker, "count", "pages", st->out.n_pages);
	TRY(stream_run(stream, &count));
	TRY(make_room(l));
	ticker_begin(ticker, "load", "pages", st->out.n_pages);
	TRY(stream_run(stream, &place));
	TRY(pool_for(pool, l->n_bins, 1, cut_lists, l));
	l->bins->n_bins = l->n_bins;
	sort_bins(l->bins);
	return MILL_OK;
}

mill_err bins_load(struct bins **out, struct budget *budget, struct stream *stream,
		   struct pool *pool, const struct store *st, struct ticker *ticker)
{
	struct layout_ctx l = { .store = st, .budget = budget };
	mill_err err;

	TRY(memory_new(&l.bins, budget, 1, sizeof(*l.bins), "the bins"));
	err = build(&l, stream, pool, ticker);
	memory_free(l.page_bin);
	memory_free(l.has_hub);
	memory_free(l.bin_of);
	if (err)
		bins_free(l.bins);
	else
		*out = l.bins;
	return err;
}

void bins_free(struct bins *b)
{
	if (!b)
		return;
	memory_free(b->sum);
	memory_free(b->cut);
	memory_free(b->source);
	memory_free(b->entry);
	memory_free(b->bin);
	memory_free(b);
}
