/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented intersection: runs the template of intersect.inc over oriented lists.
 *
 * Triangles of a streamed graph are found as in Hu, Tao and Chung (SIGMOD 2013): a block of
 * oriented pages, as large as the budget allows, stays in memory while all pages stream
 * past it; then comes the next block. intersect_device.c does the same on a device. If only
 * counts are wanted and the graph is resident, intersect_count.c is faster.
 */
#include "op/intersect.h"

#include "op/orient.h"

struct intersect_ctx {
	struct mill_run *run;
	const struct intersect_program *program;
	const void *args;
	struct oriented *lists;
	u64 *bits;		/* a bitmap of all vertices for each worker */
	struct segment *block;	/* one segment of all lists, or the pages of the block */
	u32 n_block;
	u8 *frames;		/* the frames of the block's pages */
	u32 first_page;		/* the first page of the block */
};

u32 intersect_copies(const struct mill_run *r) { return run_is_native(r) ? pool_size(r->pool) : 1; }

static u64 bits_words(const struct mill_run *r)
{
	return round_up(bitmap_words(r->store->n_linked), 8);
}
static u64 *bits_of(const struct intersect_ctx *x, unsigned worker)
{
	return x->bits + worker * bits_words(x->run);
}

u64 intersect_bytes(const struct mill_run *r, bool weights)
{
	return oriented_disk_bytes(r, weights) +
	       (run_is_native(r) ? pool_size(r->pool) * bits_words(r) * sizeof(u64) : 0);
}

mill_err declare_intersect(struct declaration *d, const struct intersect_program *p,
			   struct vec **degree, bool arcs, const char *what)
{
	const struct mill_run *r = d->run;
	bool weights = arcs || p->numbers;

	declare_program(d, &p->program, NULL, 0);
	declare_host(d, degree, "degrees", r->store->n_linked, sizeof(u32));
	declare_bytes(d, 0, intersect_bytes(r, weights));
	if (p->numbers)
		d->need.numbers |= 1 << NUMBERS_OWNED;
	d->need.resident = intersect_resident_bytes(r, weights);
	d->need.one_segment = true;
	d->need.own_lists = intersect_device_bytes(r, weights);
	return declare_view(d, arcs ? VIEW_ARCS : VIEW_SIMPLE, what);
}

/* ---- Lists in memory ---- */

static mill_err intersect_rows(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct intersect_ctx *x = arg;

	x->program->rows(x->args, worker, bits_of(x, worker), x->block, (vid)begin, (vid)end,
			 x->block, 1, &x->run->emit[worker].tally);
	return worker ? MILL_OK : ticker_tick(&x->run->ticker, end);
}

static mill_err intersect_in_memory(struct intersect_ctx *x)
{
	x->block = &x->lists->all;
	x->n_block = 1;
	return pool_for(x->run->pool, x->run->store->n_linked, 256, intersect_rows, x);
}

/* ---- Lists on disk ---- */

static mill_err read_block(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct intersect_ctx *x = arg;
	const struct pages *p = x->lists->pages;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		void *frame = x->frames + i * p->store->page_size;

		TRY(page_read(p, x->first_page + (u32)i, frame));
		TRY(page_decode_into(p, x->first_page + (u32)i, frame, NULL, NULL, &x->block[i]));
	}
	return MILL_OK;
}

static mill_err intersect_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct intersect_ctx *x = arg;

	(void)page;
	x->program->rows(x->args, worker, bits_of(x, worker), seg, 0, seg->n_rows, x->block,
			 x->n_block, &x->run->emit[worker].tally);
	return MILL_OK;
}

/* Intersects with one block of pages after the other, each as large as the budget allows. */
static mill_err intersect_blocks(struct intersect_ctx *x, struct mill_step *step)
{
	struct mill_run *r = x->run;
	const struct pages *p = x->lists->pages;
	u64 page = p->store->page_size, left = r->frame_bytes;
	u64 room = left > (ORIENTED_FRAMES + 1) * page ? left / page - ORIENTED_FRAMES - 1 : 1;
	u32 most = (u32)min_u64(r->hook.only_frames ? r->hook.only_frames : room,
				max_u64(p->n_pages, 1));
	struct vec *v;

	TRY(run_vec_host(r, &v, "a block of pages", most * page + 4096, 1));
	x->frames = (u8 *)round_up((uintptr_t)v->buffer.host, 4096);
	TRY(run_vec_host(r, &v, "a block of pages", most, sizeof(struct segment)));
	x->block = v->buffer.host;
	TRY(run_open_stream(r, &x->lists->stream, x->lists->store, ORIENTED_FRAMES * page,
			    ORIENTED_FRAMES));
	for (x->first_page = 0; x->first_page < p->n_pages; x->first_page += most) {
		struct stream_pass pass = {
			.pages = p, .work = intersect_page, .arg = x, .ticker = &r->ticker
		};

		x->n_block = (u32)min_u64(most, p->n_pages - x->first_page);
		TRY(pool_for(r->pool, x->n_block, 1, read_block, x));
		TRY(stream_run(x->lists->stream, &pass));
		step_add_pass(step, &pass);
		step->pages_read += x->n_block;
		step->disk_read += x->n_block * page;
	}
	return MILL_OK;
}

static mill_err intersect_native(struct intersect_ctx *x, struct mill_step *step)
{
	struct mill_run *r = x->run;
	struct vec *bits;

	TRY(run_vec_host(r, &bits, "the workers' bitmaps", pool_size(r->pool) * bits_words(r),
			 sizeof(u64)));
	x->bits = bits->buffer.host;
	for (unsigned i = 0; i < pool_size(r->pool); i++)
		r->emit[i].tally = (struct tally){ 0 };
	TRY(x->lists->store ? intersect_blocks(x, step) : intersect_in_memory(x));
	for (unsigned i = 0; i < pool_size(r->pool); i++) {
		step->edges += r->emit[i].tally.edges;
		step->updates += r->emit[i].tally.updates;
	}
	return MILL_OK;
}

/* ---- The operator ---- */

mill_err op_intersect(struct mill_run *r, const struct intersect_program *p, const void *args,
		      struct vec *degree)
{
	struct mill_step step = { .frontier = r->store->vertices, .direction = "scan" };
	struct oriented lists = { 0 };
	struct intersect_ctx x = { .run = r, .program = p, .args = args, .lists = &lists };
	u32 before = r->n_vecs;
	f64 began = clock_now();
	mill_err err;

	run_announce(r, "intersect", 0);
	err = program_fetch(&p->program, args);
	if (!err)
		err = oriented_open(&lists, r, degree->buffer.host, p->numbers);
	if (!err)
		err = r->device->native ? intersect_native(&x, &step) :
					  intersect_device(r, p, args, &lists, &step);
	oriented_close(&lists);
	while (r->n_vecs > before)
		run_vec_free(r, r->vec[r->n_vecs - 1]);
	if (!err && !r->loaded)
		err = run_resume_stream(r);
	ledger_add(&r->ledger, &step, began);
	return err;
}
