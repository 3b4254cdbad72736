/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies a store: reads every byte once, in bounded memory. page_read, page_decode and
 * store_read check the checksums and the form of pages, as in any read. This file checks that the
 * files agree with each other.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "store/names.h"
#include "store/packed.h"
#include "store/page.h"
#include "store/stats.h"
#include "store/store.h"

/* Reads a file of numbers, one after the other. */
struct scan {
	const struct store *st;
	enum store_file file;
	u64 at;		/* byte of the next number */
	bool loaded;	/* its block is in memory */
	u8 *block;
};

/* Two independent 64-bit hashes, summed over edges, so the order of edges does not matter. */
struct hash {
	u64 a, b;
};

struct verify {
	const struct store *st;
	struct ticker *ticker;
	u64 done;	/* bytes */
	void *frame;
	struct packer *packer;	/* packed stores: packs a block again */
	u8 *again;		/* the bytes of that block */
};

/* One pass over the pages of a direction. */
struct pass {
	struct verify *verify;
	const struct pages *pages;
	struct scan degrees;
	struct stats stats;
	u64 max_degree;
	struct hash as_listed;	/* of (u, v, weight) */
	struct hash reversed;	/* of (v, u, weight) */
	/* The present list, which may lie in several pages. */
	u64 degree;		/* edges so far */
	vid last;		/* neighbour */
};

static mill_err scan_open(struct scan *s, const struct store *st, enum store_file file, u64 at)
{
	*s = (struct scan){ .st = st, .file = file, .at = at };
	return memory_new(&s->block, NULL, STORE_BLOCK, 1, "a block");
}

static void scan_close(struct scan *s) { memory_free(s->block); }

/* Reads the next number. size divides the block size, so no number lies in two blocks. */
static mill_err scan_next(struct scan *s, void *to, size_t size)
{
	u64 in_block = s->at % STORE_BLOCK;

	if (!in_block || !s->loaded) {
		u64 begin = s->at - in_block;
		u64 n = min_u64(STORE_BLOCK, s->st->size[s->file] - begin);

		TRY(store_read(s->st, s->file, s->block, n, begin));
		s->loaded = true;
	}
	memcpy(to, s->block + in_block, size);
	s->at += size;
	return MILL_OK;
}

static mill_err wrong(const struct store *st, enum store_file f, const char *what, u64 where)
{
	return fail(MILL_ECORRUPT, "%s: %s %" PRIu64, st->file[f].name, what, where);
}

static mill_err wrong_manifest(const struct store *st, const char *what)
{
	return fail(MILL_ECORRUPT, "%s/manifest: %s is not what the store holds", st->path, what);
}

static mill_err tick(struct verify *v, u64 bytes)
{
	v->done += bytes;
	return ticker_tick(v->ticker, v->done);
}

/* ---- Pages ---- */

static void hash_add(struct hash *h, u64 from, u64 to, u64 weight)
{
	u64 edge = from << 32 | to;

	h->a += random_mix(edge + weight * 0x9e3779b97f4a7c15u);
	h->b += random_mix((edge ^ 0x6a09e667f3bcc909u) * 0xd1342543de82ef95u + random_mix(weight));
}

static bool hash_equal(struct hash x, struct hash y) { return x.a == y.a && x.b == y.b; }

static u64 weight_bits(const void *weight, size_t size, u64 k)
{
	if (size == 8)
		return ((const u64 *)weight)[k];
	return size ? ((const u32 *)weight)[k] : 0;
}

static bool all_zero(const u8 *at, const u8 *end)
{
	u8 any = 0;

	for (; at < end; at++)
		any |= *at;
	return !any;
}

/* Returns the byte where the lists of a page end. page_decode accepted the page before. */
static u64 lists_end(const struct pages *p, u32 i, const u8 *frame, const struct segment *seg)
{
	struct packed_page packed = { .end = 0 };

	if (p->store->codec == PAGE_RAW)
		return page_bytes(seg->n_rows, seg->n_edges, 0);
	page_find_blocks(p, i, frame, &packed);
	return packed.end;
}

/* Returns true if all bytes are zero that are not part of the header, the lists or the weights. */
static bool padding_is_zero(const struct pages *p, u32 i, const u8 *frame,
			    const struct segment *seg)
{
	const struct store *st = p->store;
	size_t w = weight_size(st->weight);
	u64 lists = lists_end(p, i, frame, seg);
	u64 weights = w ? round_up(lists, 8) : lists;

	return all_zero(frame + lists, frame + weights) &&
	       all_zero(frame + weights + w * seg->n_edges, frame + st->page_size);
}

/* Packs a block again. Returns true if the bytes are the same: a block has only one valid form. */
static bool block_is_canonical(const struct packed_page *page, const struct packed_block *b,
			       const struct packed_block *next, const struct segment *seg,
			       struct packer *packer, u8 *again)
{
	u32 at = b->first_edge;

	packer_clear(packer);
	for (u32 r = 0; r < b->n_rows; r++) {
		u32 row = b->first_row + r;
		u64 end = min_u64(seg->row[row + 1], (u64)b->first_edge + b->n_edges);

		packer_add(packer, (vid)(seg->first + row), seg->neighbour + at, (u32)end - at);
		at = (u32)end;
	}
	return packer_put(packer, again) == next->at - b->at &&
	       !memcmp(again, page->page + b->at, next->at - b->at);
}

static bool is_canonical(const struct verify *v, const struct pages *p, u32 i,
			 const struct segment *seg)
{
	struct packed_page page;

	if (p->store->codec == PAGE_RAW)
		return true;
	page_find_blocks(p, i, v->frame, &page);
	for (u32 b = 0; b < page.n_blocks; b++) {
		struct packed_block block[2];

		memcpy(block, page.page + page.index_at + b * sizeof(*block), sizeof(block));
		if (!block_is_canonical(&page, &block[0], &block[1], seg, v->packer, v->again))
			return false;
	}
	return true;
}

static mill_err check_piece(struct pass *p, vid v, const vid *neighbour, const void *weight, u64 n)
{
	const struct store *st = p->verify->st;
	size_t w = weight_size(st->weight);

	for (u64 k = 0; k < n; k++) {
		u64 bits = weight_bits(weight, w, k);

		if ((k || p->degree) && neighbour[k] < p->last)
			return wrong(st, p->pages->data, "a list is not ascending: vertex", v);
		p->last = neighbour[k];
		hash_add(&p->as_listed, v, neighbour[k], bits);
		hash_add(&p->reversed, neighbour[k], v, bits);
	}
	stats_add(&p->stats, v, neighbour, weight, n);
	p->degree += n;
	return MILL_OK;
}

/* Checks the degree of v, when its list is complete. */
static mill_err check_degree(struct pass *p, vid v)
{
	const struct store *st = p->verify->st;
	u32 degree;

	TRY(scan_next(&p->degrees, &degree, sizeof(degree)));
	if (degree != p->degree)
		return wrong(st, p->pages->degrees, "wrong degree: vertex", v);
	if (!degree && (p->pages->data == STORE_OUT_PAGES || (u64)v + 1 == p->pages->n_rows))
		return wrong(st, p->pages->data, "a row without edges: vertex", v);
	p->max_degree = max_u64(p->max_degree, degree);
	p->degree = 0;
	return MILL_OK;
}

static mill_err check_page(struct pass *p, u32 i)
{
	const struct store *st = p->verify->st;
	size_t w = weight_size(st->weight);
	struct segment seg;

	TRY(page_read(p->pages, i, p->verify->frame));
	TRY(page_decode(p->pages, i, p->verify->frame, &seg));
	if (!padding_is_zero(p->pages, i, p->verify->frame, &seg))
		return wrong(st, p->pages->data, "the padding is not zero: page", i);
	if (!is_canonical(p->verify, p->pages, i, &seg))
		return wrong(st, p->pages->data, "packed in an unusual way: page", i);
	for (u64 r = 0; r < seg.n_rows; r++) {
		u32 begin = seg.row[r];
		vid v = (vid)(seg.first + r);

		TRY(check_piece(p, v, seg.neighbour + begin,
				w ? (const u8 *)seg.weight + begin * w : NULL,
				seg.row[r + 1] - begin));
		if (r + 1 < seg.n_rows || !seg.continues)
			TRY(check_degree(p, v));
	}
	return tick(p->verify, st->page_size);
}

/* Checks that the index on disk is still the one in memory, which was checked at opening. */
static mill_err check_index(struct verify *v, const struct pages *pages)
{
	struct scan s;
	mill_err err;

	err = scan_open(&s, v->st, pages->index, 0);
	for (u32 i = 0; !err && i < pages->n_pages; i++) {
		struct page_entry e;

		err = scan_next(&s, &e, sizeof(e));
		if (!err && memcmp(&e, &pages->entry[i], sizeof(e)))
			err = wrong(v->st, pages->index, "changed since opening: entry", i);
	}
	scan_close(&s);
	return err ? err : tick(v, v->st->size[pages->index]);
}

static mill_err check_pages(struct pass *p)
{
	const struct pages *pages = p->pages;
	const struct store *st = p->verify->st;
	mill_err err;

	TRY(check_index(p->verify, pages));
	err = scan_open(&p->degrees, st, pages->degrees, 0);
	for (u32 i = 0; !err && i < pages->n_pages; i++)
		err = check_page(p, i);
	/* The file of in-degrees has vertices without a row too. */
	for (u64 v = pages->n_rows; !err && v < st->size[pages->degrees] / 4; v++)
		err = check_degree(p, (vid)v);
	scan_close(&p->degrees);
	return err ? err : tick(p->verify, st->size[pages->degrees]);
}

static bool same_number(f64 a, f64 b) { return a == b || (isnan(a) && isnan(b)); }

static mill_err check_stats(const struct pass *p)
{
	const struct store *st = p->verify->st;

	if (p->stats.edges != st->stored_edges)
		return wrong_manifest(st, "stored_edges");
	if (p->stats.self_loops != st->self_loops)
		return wrong_manifest(st, "self_loops");
	if (p->stats.parallel_edges != st->parallel_edges)
		return wrong_manifest(st, "parallel_edges");
	if (p->max_degree != st->max_degree)
		return wrong_manifest(st, "max_degree");
	if (p->stats.not_a_number)
		return fail(MILL_ECORRUPT, "%s: a weight is not a number",
			    st->file[STORE_OUT_PAGES].name);
	if (!same_number(p->stats.min_weight, st->min_weight))
		return wrong_manifest(st, "min_weight");
	if (!same_number(p->stats.max_weight, st->max_weight))
		return wrong_manifest(st, "max_weight");
	if (!same_number(stats_sum_weight(&p->stats), st->sum_weight))
		return wrong_manifest(st, "sum_weight");
	return MILL_OK;
}

static mill_err check_lists(struct verify *v)
{
	const struct store *st = v->st;
	struct pass out = { .verify = v, .pages = &st->out, .stats.weight = st->weight };
	struct pass in = { .verify = v, .pages = &st->in, .stats.weight = st->weight };

	TRY(check_pages(&out));
	TRY(check_stats(&out));
	if (!st->directed && !hash_equal(out.as_listed, out.reversed))
		return fail(MILL_ECORRUPT, "%s: an edge is not there in both directions",
			    st->file[STORE_OUT_PAGES].name);
	if (!st->directed || !st->has_in)
		return MILL_OK;
	TRY(check_pages(&in));
	if (in.stats.edges != st->stored_edges || !hash_equal(out.as_listed, in.reversed))
		return fail(MILL_ECORRUPT, "%s: the in-edges are not the out-edges reversed",
			    st->file[STORE_IN_PAGES].name);
	return MILL_OK;
}

/* ---- Ids ---- */

/* Checks the next id. Ids must strictly ascend, so they are distinct. */
static mill_err check_id(const struct store *st, struct scan *ids, u64 rank, u64 *before)
{
	u64 id;

	TRY(scan_next(ids, &id, sizeof(id)));
	if (rank && id <= *before)
		return wrong(st, STORE_IDS, "not ascending: entry", rank);
	if ((rank == 0 && id != st->min_id) || (rank + 1 == st->vertices && id != st->max_id))
		return wrong_manifest(st, "min_id or max_id");
	*before = id;
	return MILL_OK;
}

/*
 * Checks that `order` and `rank` hold the same pairs of vertex and rank. Every rank occurs once in
 * `order` and every vertex once in `rank`. So both are permutations, and each is the inverse of the
 * other.
 */
static mill_err check_places(struct verify *v, struct scan *ids, struct scan *order,
			     struct scan *rank)
{
	const struct store *st = v->st;
	struct hash by_rank = { 0 }, by_vertex = { 0 };
	u64 before = 0;

	for (u64 i = 0; i < st->vertices; i++) {
		vid at_rank, of_vertex;

		TRY(check_id(st, ids, i, &before));
		TRY(scan_next(order, &at_rank, sizeof(at_rank)));
		TRY(scan_next(rank, &of_vertex, sizeof(of_vertex)));
		if (at_rank >= st->vertices)
			return wrong(st, STORE_ORDER, "not a vertex: entry", i);
		if (of_vertex >= st->vertices)
			return wrong(st, STORE_RANK, "not a rank: entry", i);
		hash_add(&by_rank, at_rank, i, 0);
		hash_add(&by_vertex, i, of_vertex, 0);
		if (i % STORE_BLOCK == STORE_BLOCK - 1)
			TRY(tick(v, STORE_BLOCK * (sizeof(u64) + 2 * sizeof(vid))));
	}
	if (!hash_equal(by_rank, by_vertex))
		return fail(MILL_ECORRUPT, "%s is not the inverse of %s",
			    st->file[STORE_RANK].name, st->file[STORE_ORDER].name);
	return MILL_OK;
}

static mill_err check_ids(struct verify *v)
{
	const struct store *st = v->st;
	struct scan ids = { .block = NULL }, order = { .block = NULL }, rank = { .block = NULL };
	mill_err err;

	err = scan_open(&ids, st, STORE_IDS, 0);
	if (!err)
		err = scan_open(&order, st, STORE_ORDER, 0);
	if (!err)
		err = scan_open(&rank, st, STORE_RANK, 0);
	if (!err)
		err = check_places(v, &ids, &order, &rank);
	scan_close(&ids);
	scan_close(&order);
	scan_close(&rank);
	return err;
}

/* Checks that names strictly ascend, so they are distinct. names_get checks each name. */
static mill_err check_names(struct verify *v)
{
	const struct store *st = v->st;
	char before[STORE_NAME_MAX];
	u32 length = 0;
	struct names *names;
	mill_err err;

	TRY(names_open(&names, st, NULL, 0));
	err = MILL_OK;
	for (u64 rank = 0; !err && rank < st->vertices; rank++) {
		const char *text;
		u32 n;

		err = names_get(names, rank, &text, &n);
		if (err)
			break;
		if (rank && name_compare(before, length, text, n) >= 0)
			err = wrong(st, STORE_NAMES, "the names are not ascending: rank", rank);
		memcpy(before, text, n);
		length = n;
		if (!err && rank % STORE_BLOCK == STORE_BLOCK - 1)
			err = ticker_tick(v->ticker, v->done);
	}
	names_close(names);
	return err;
}

mill_err store_verify(const struct store *st, struct ticker *ticker)
{
	struct verify v = { .st = st, .ticker = ticker };
	mill_err err;

	ticker_begin(ticker, "verify", "bytes", st->bytes);
	err = page_frame_new(&v.frame, st, NULL);
	if (!err && st->codec == PAGE_PACKED)
		err = memory_new(&v.packer, NULL, 1, sizeof(*v.packer), "a block");
	if (!err && st->codec == PAGE_PACKED)
		err = memory_new(&v.again, NULL, PACKED_BLOCK_MAX + PACKED_SLACK, 1,
				 "a packed block");
	if (!err)
		err = check_lists(&v);
	if (!err)
		err = check_ids(&v);
	if (!err && st->named)
		err = check_names(&v);
	memory_free(v.again);
	memory_free(v.packer);
	memory_free(v.frame);
	return err ? err : ticker_tick(ticker, st->bytes);
}
