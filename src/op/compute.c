/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute at vertices or edges: runs compute.inc or compute.cl. Sums of blocks are added in
 * order, so a sum has the same bits for any form of the frontier, any number of threads and
 * any page size.
 *
 * Sums at edges are in blocks of EDGE_BLOCK (256) positions of the lists. A page may begin
 * in the middle of a block. The values of such a block are stored side by side (256 places
 * of 8 bytes, 2 KiB per page) and added in order when all pages have passed. So a sum has
 * the same bits as with a resident topology. A cut block has the places of the first page
 * that begins inside of it.
 */
#include <assert.h>

#include "op/op.h"

struct compute_ctx {
	struct mill_run *run;
	const struct compute_program *program;
	const void *args;
	u64 begin, end;		/* vertices [begin, end), or edges [0, end) */
	u64 n_blocks;
	struct edge_frontier *edges;	/* NULL: at vertices */
	/* The active vertices or edges; NULL: all are, or the bitmap is on a device. */
	const u64 *bits;
	bool marked;		/* sum[i] is 1 for blocks with active elements, else 0 */
	struct vec *sums;	/* n_blocks, then EDGE_BLOCK places for each page */
	f64 *sum;		/* the elements of `sums` on the host */
};

/* ---- Room ---- */

/* All vertex programs of a run use the same room, one after the other: it is counted once. */
static void add_bytes(const struct declaration *d, const struct declared *x, struct need *n)
{
	for (const struct declared *before = d->item; before < x; before++)
		if (before->bytes == add_bytes)
			return;
	n->state += (div_up(d->run->store->n_linked, COMPUTE_BLOCK) + 1) * sizeof(f64);
}

static u64 sums_of_edges(u64 n_edges, u64 n_pages)
{
	return div_up(n_edges, EDGE_BLOCK) + n_pages * EDGE_BLOCK;
}

static void add_edge_bytes(const struct declaration *d, const struct declared *x, struct need *n)
{
	const struct compute_program *p = x->what;
	const struct store *st = d->run->store;

	n->weights |= p->weighted;
	n->state += (sums_of_edges(edge_frontier_edges(st, n->view), pages_most(st, n->view)) + 1) *
		    sizeof(f64);
}

void declare_compute(struct declaration *d, const struct compute_program *p, u32 flags)
{
	declare_program(d, &p->program, NULL, flags);
	declare_item(
		d, (struct declared){ .bytes = p->edges ? add_edge_bytes : add_bytes, .what = p });
}

/* ---- Vertices ---- */

static mill_err compute_blocks(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct compute_ctx *c = arg;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		u64 from = c->begin + i * COMPUTE_BLOCK, to = min_u64(c->end, from + COMPUTE_BLOCK);

		if (!c->bits)
			c->sum[i] = c->program->vertices(c->args, from, to);
		else if (!c->marked || c->sum[i] != 0)
			c->sum[i] = c->program->active(c->args, from, to, c->bits);
	}
	return MILL_OK;
}

static mill_err compute_device(struct compute_ctx *c, const struct frontier *f)
{
	u32 n_blocks = (u32)c->n_blocks;
	u32 n_words = f ? (u32)(f->bits->n * 2) : 0;	/* of 32 bits */
	struct kernel_call l;

	launch_begin(&l, &c->program->program, f ? "active" : "blocks", c->args);
	if (f) {
		launch_vec(&l, f->bits);
		launch_u32(&l, &n_words);
	} else {
		launch_u64(&l, &c->begin);
		launch_u64(&l, &c->end);
	}
	launch_vec(&l, c->sums);
	launch_u32(&l, &n_blocks);
	return launch_items(c->run->device, &l, c->n_blocks, 1);
}

/*
 * Gets the bitmap. If the frontier is a list, marks the blocks of its vertices: only those
 * are read.
 */
static mill_err find_active(struct compute_ctx *c, struct frontier *f)
{
	TRY(frontier_bits(f, &c->bits));
	c->marked = !f->dense;
	for (u64 i = 0; c->marked && i < f->n; i++)
		c->sum[f->list[i] / COMPUTE_BLOCK] = 1;
	return MILL_OK;
}

static mill_err compute_vertices(struct compute_ctx *c, struct frontier *f)
{
	bool native = c->run->device->native;

	if (!native)
		TRY(compute_device(c, f));
	TRY(vec_map(c->run, c->sums, &c->sum));
	if (native && f)
		TRY(find_active(c, f));
	return native ? pool_for(c->run->pool, c->n_blocks, 16, compute_blocks, c) : MILL_OK;
}

/* ---- Edges ---- */

/*
 * Returns the index in `sums` of the places for the cut block of edge e, which lies in
 * `page`: those of the first page that begins inside of the block.
 */
static u64 cut_place(const struct compute_ctx *c, u32 page, u64 e)
{
	const struct pages *p = run_direction(c->run, c->edges->in)->pages;
	u64 block = e / EDGE_BLOCK * EDGE_BLOCK;

	while (page < p->n_pages && p->entry[page].first_edge <= block)
		page++;
	while (page > 0 && p->entry[page - 1].first_edge > block)
		page--;
	return c->n_blocks + (u64)page * EDGE_BLOCK;
}

/* Computes at the active edges of a page. */
static mill_err compute_page(void *arg, const struct segment *seg, vid row, vid row_end, u32 page,
			     unsigned worker)
{
	struct compute_ctx *c = arg;
	u64 first = seg->first_edge, last = first + seg->n_edges;

	(void)row;
	(void)row_end;
	(void)worker;
	for (u64 from = first, to; from < last; from = to) {
		u64 block = from / EDGE_BLOCK, end = min_u64((block + 1) * EDGE_BLOCK, c->end);

		to = min_u64(last, end);
		if (!bitmap_any(c->bits, from, to))
			continue;
		if (from == block * EDGE_BLOCK && to == end) {
			c->sum[block] = c->program->edges(c->args, seg, from, to, c->bits, 0);
			continue;
		}
		for (u64 e = from; e < to; e++)
			if (bitmap_get(c->bits, e))
				c->sum[cut_place(c, page, e) + e % EDGE_BLOCK] =
					c->program->edges(c->args, seg, e, e + 1, c->bits, 0);
	}
	return MILL_OK;
}

/* Computes blocks of a resident topology. A block may span segments. */
static mill_err compute_edge_blocks(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct compute_ctx *c = arg;
	const struct topology *t = run_direction(c->run, c->edges->in);
	u32 k = 0;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		u64 from = i * EDGE_BLOCK, to = min_u64(c->end, from + EDGE_BLOCK);
		f64 sum = 0;

		if (c->marked ? c->sum[i] == 0 : !bitmap_any(c->bits, from, to))
			continue;
		while (from < to) {
			const struct segment *s = &t->segment[k];
			u64 stop = min_u64(to, s->first_edge + (u64)s->n_edges);

			if (from < stop)
				sum = c->program->edges(c->args, s, from, stop, c->bits, sum);
			if (stop < to)
				k++;
			from = max_u64(from, stop);
		}
		c->sum[i] = sum;
	}
	return MILL_OK;
}

static bool any_edge(void *arg, u64 begin, u64 end)
{
	return bitmap_any(((const struct compute_ctx *)arg)->bits, begin, end);
}

/* If the frontier is a list, its bits are set for the time of the pass. */
static mill_err compute_edges_native(struct compute_ctx *c, struct mill_step *step)
{
	struct pass pass = {
		.in = c->edges->in, .active_edges = any_edge, .work = compute_page, .arg = c
	};
	struct edge_frontier *ef = c->edges;
	u64 *bits = ef->bits->buffer.host;
	mill_err err;

	c->bits = bits;
	c->marked = !ef->dense;
	c->sum = c->sums->buffer.host;
	if (!run_direction(c->run, ef->in)->resident)
		return run_pass(c->run, &pass, step);
	for (u64 i = 0; c->marked && i < ef->n; i++) {
		bitmap_put(bits, ef->list[i].edge);
		c->sum[ef->list[i].edge / EDGE_BLOCK] = 1;
	}
	err = pool_for(c->run->pool, c->n_blocks, 64, compute_edge_blocks, c);
	for (u64 i = 0; c->marked && i < ef->n; i++)
		bits[ef->list[i].edge / 64] = 0;
	return err;
}

static mill_err compute_segment(void *arg, const struct device_segment *seg)
{
	struct compute_ctx *c = arg;
	u64 last = seg->first_edge + max_u64(seg->n_edges, 1) - 1, head = 0, tail = 0;
	struct kernel_call l;

	if (seg->unit != NO_UNIT) {
		head = cut_place(c, seg->unit, seg->first_edge);
		tail = cut_place(c, seg->unit, last);
	}
	launch_begin(&l, &c->program->program, "edges", c->args);
	launch_segment(&l, seg);
	launch_vec(&l, c->edges->bits);
	launch_u64(&l, &seg->first_edge);
	launch_u64(&l, &c->end);
	launch_vec(&l, c->sums);
	launch_u64(&l, &head);
	launch_u64(&l, &tail);
	return launch_items(c->run->device, &l,
			    last / EDGE_BLOCK - seg->first_edge / EDGE_BLOCK + 1, 1);
}

/*
 * If all pages are one segment on the device (`whole`), one launch covers all rows, so all
 * pages must be there (as in filter_device).
 */
static mill_err compute_edges_device(struct compute_ctx *c, struct mill_step *step)
{
	struct transfer *t = &c->run->transfer;
	struct device_pass pass = {
		.activity = { .in = c->edges->in, .n = t->whole ? NULL : c->edges->page_n },
		.launch = compute_segment,
		.arg = c,
	};
	u64 counts[COUNTS_N];

	TRY(transfer_count_begin(t));
	TRY(transfer_pass(t, &pass, step));
	TRY(transfer_count_end(t, counts, NULL));
	return vec_map(c->run, c->sums, &c->sum);
}

/* Adds up the values of the blocks that are cut by page borders. */
static void add_cuts(struct compute_ctx *c, u32 n_pages)
{
	const struct pages *p = run_direction(c->run, c->edges->in)->pages;

	for (u32 i = 0; i < n_pages; i++) {
		u64 first = p->entry[i].first_edge;
		const f64 *value = c->sum + c->n_blocks + (u64)i * EDGE_BLOCK;
		f64 sum = 0;

		if (first % EDGE_BLOCK == 0 ||
		    cut_place(c, i, first) != c->n_blocks + (u64)i * EDGE_BLOCK)
			continue;
		for (u32 k = 0; k < EDGE_BLOCK; k++)
			sum += value[k];
		c->sum[first / EDGE_BLOCK] = sum;
	}
}

/* ---- The operators ---- */

/* Adds the sums of the blocks and frees their vector. */
static void compute_end(struct compute_ctx *c, f64 *sum)
{
	for (u64 i = 0; i < c->n_blocks; i++)
		*sum += c->sum[i];
	vec_unmap(c->sums, c->sum);
	run_vec_free(c->run, c->sums);
}

static mill_err compute_at(struct mill_run *r, const struct compute_program *p, const void *args,
			   u64 begin, u64 end, struct frontier *f, f64 *sum)
{
	struct compute_ctx c = { .run = r,
				 .program = p,
				 .args = args,
				 .begin = begin,
				 .end = end,
				 .n_blocks = div_up(end - begin, COMPUTE_BLOCK) };

	*sum = 0;
	if (!c.n_blocks)
		return MILL_OK;
	TRY(program_fetch(&p->program, args));
	TRY(run_vec(r, &c.sums, "block sums", c.n_blocks, sizeof(f64), NULL));
	TRY(compute_vertices(&c, f));
	compute_end(&c, sum);
	return MILL_OK;
}

mill_err op_compute(struct mill_run *r, const struct compute_program *p, const void *args,
		    u64 begin, u64 end, f64 *sum)
{
	return compute_at(r, p, args, begin, end, NULL, sum);
}

mill_err op_compute_front(struct mill_run *r, const struct compute_program *p, const void *args,
			  struct frontier *f, f64 *sum)
{
	assert(p->active && !f->unit);
	return compute_at(r, p, args, 0, f->n ? r->store->n_linked : 0, f, sum);
}

mill_err op_compute_edges(struct mill_run *r, const struct compute_program *p, const void *args,
			  struct edge_frontier *ef, f64 *sum)
{
	const struct topology *t = run_direction(r, ef->in);
	struct compute_ctx c = { .run = r,
				 .program = p,
				 .args = args,
				 .end = t->n_edges,
				 .edges = ef,
				 .n_blocks = div_up(t->n_edges, EDGE_BLOCK) };
	u32 n_pages =
		(r->device->native ? !t->resident : !r->transfer.whole) ? t->pages->n_pages : 0;
	struct mill_step step = { .frontier = ef->n, .direction = "compute", .edges = ef->n };
	f64 began = clock_now();

	*sum = 0;
	if (!ef->n)
		return MILL_OK;
	TRY(program_fetch(&p->program, args));
	run_announce(r, "step %llu", r->ledger.total.step + 1);
	TRY(run_vec(r, &c.sums, "block sums", sums_of_edges(t->n_edges, n_pages), sizeof(f64),
		    NULL));
	TRY(r->device->native ? compute_edges_native(&c, &step) : compute_edges_device(&c, &step));
	add_cuts(&c, n_pages);
	compute_end(&c, sum);
	ledger_add(&r->ledger, &step, began);
	return MILL_OK;
}
