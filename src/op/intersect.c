/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented intersection: who drives the template of intersect.inc. On disk this is the way of Hu, Tao and Chung (SIGMOD
 * 2013): with room for a share of the oriented lists all of them stream past once for each share.
 */
#include "op/intersect.h"

#include <string.h>

#include "engine/cursor.h"
#include "store/page.h"
#include "store/writer.h"

#define FRAMES 6u	/* for what streams past a block */

struct intersecting {
	struct mill_run *run;
	const struct intersect_program *program;
	const void *args;
	const u32 *degree;
	u64 *bits;		/* a bitmap of all vertices for each worker */
	/* The lists in memory: all of them as one segment, or pages of a temporary store. */
	struct segment *block;
	u32 n_block;
	struct store *store;
	const struct pages *pages;
	struct stream *stream;
	u8 *frames;		/* of the block */
	u32 first_page;
	/* Building. */
	u32 *row;
	vid *list;
	u32 *weight;
	vid *buffer;
	u32 *buffer_weight;
};

u32 intersect_lanes(const struct mill_run *r) { return pool_size(r->pool); }

static u64 bits_words(const struct mill_run *r) { return round_up(bitmap_words(r->store->vertices), 8); }
static u64 *bits_of(const struct intersecting *x, unsigned worker) { return x->bits + worker * bits_words(x->run); }

/* An oriented list has at most so many: as many vertices have at least its degree. */
static u64 longest(u64 edges)
{
	u64 root = 1;

	while (root * root <= edges && root < UINT32_MAX)
		root += root < 1024 ? 1 : root / 64;
	return root;
}

static bool leads(const struct intersecting *x, vid u, vid v)
{
	return x->degree[u] != x->degree[v] ? x->degree[u] < x->degree[v] : u < v;
}

/* ---- In memory ---- */

u64 intersect_resident_bytes(const struct mill_run *r, bool weights)
{
	u64 edges = view_edges(r->store, VIEW_SIMPLE);

	return (r->store->vertices + 1) * sizeof(u32) + edges / 2 * (sizeof(vid) + (weights ? sizeof(u32) : 0)) + 64 * KIB;
}

static mill_err count_lists(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct intersecting *x = arg;
	const struct segment *s = run_direction(x->run, false)->segment;

	(void)worker;
	for (u64 u = begin; u < end; u++)
		for (u32 i = s->row[u]; i < s->row[u + 1]; i++)
			x->row[u + 1] += leads(x, (vid)u, s->neighbour[i]);
	return MILL_OK;
}

static mill_err fill_lists(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct intersecting *x = arg;
	const struct segment *s = run_direction(x->run, false)->segment;

	(void)worker;
	for (u64 u = begin; u < end; u++) {
		u32 at = x->row[u];

		for (u32 i = s->row[u]; i < s->row[u + 1]; i++) {
			if (!leads(x, (vid)u, s->neighbour[i]))
				continue;
			if (x->weight)
				x->weight[at] = ((const u32 *)s->weight)[i];
			x->list[at++] = s->neighbour[i];
		}
	}
	return MILL_OK;
}

static mill_err orient_in_memory(struct intersecting *x)
{
	struct mill_run *r = x->run;
	const struct topology *t = run_direction(r, false);
	u64 n = r->store->vertices, rows = t->n_segments ? t->segment->n_rows : 0;
	struct vec *v;

	TRY(run_vec_host(r, &v, "oriented lists", n + 1, sizeof(u32)));
	x->row = v->buffer.host;
	TRY(pool_for(r->pool, rows, 4096, count_lists, x));
	for (u64 u = 0; u < n; u++)
		x->row[u + 1] += x->row[u];
	TRY(run_vec_host(r, &v, "oriented lists", x->row[n], sizeof(vid)));
	x->list = v->buffer.host;
	if (t->weight) {
		TRY(run_vec_host(r, &v, "oriented lists", x->row[n], sizeof(u32)));
		x->weight = v->buffer.host;
	}
	TRY(pool_for(r->pool, rows, 4096, fill_lists, x));
	TRY(run_vec_host(r, &v, "oriented lists", 1, sizeof(struct segment)));
	x->block = v->buffer.host;
	x->n_block = 1;
	*x->block = (struct segment){
		.n_rows = (vid)n,
		.n_edges = x->row[n],
		.row = x->row,
		.neighbour = x->list,
		.weight = x->weight,
	};
	return MILL_OK;
}

static mill_err intersect_rows(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct intersecting *x = arg;

	x->program->rows(x->args, worker, bits_of(x, worker), x->block, (vid)begin, (vid)end, x->block, 1,
			 &x->run->emit[worker].tally);
	return worker ? MILL_OK : ticker_tick(&x->run->ticker, end);
}

/* ---- On disk ---- */

/* Pages in which every list is whole. */
static mill_err choose_page(const struct mill_run *r, u64 edges, bool weights, u32 *out)
{
	u64 size = r->store->page_size, need = page_bytes(1, longest(edges), weights ? sizeof(u32) : 0);

	while (size < need)
		size *= 2;
	if (size > PAGE_SIZE_MAX)
		return fail(MILL_ELIMIT, "%s has more edges than can be intersected on disk", r->store->path);
	*out = (u32)size;
	return MILL_OK;
}

u64 intersect_bytes(const struct mill_run *r, bool weights)
{
	u64 edges = view_edges(r->store, VIEW_SIMPLE), making;
	u32 page = 0;

	if (choose_page(r, edges, weights, &page))
		return 0;	/* said again, and heard, when it is run */
	making = max_u64(view_making_bytes(r->store), (FRAMES + 2) * (u64)page) + 4 * (u64)page +
		 longest(edges) * (sizeof(vid) + sizeof(u32));
	/* The room beside the state has frames of a pool that is closed meanwhile. */
	making = making > RUN_ROOM / 2 ? making - RUN_ROOM / 2 : 0;
	return making + pool_size(r->pool) * bits_words(r) * sizeof(u64) +
	       temporary_bytes(r->store->vertices, edges, page, weights ? MILL_WEIGHT_U32 : MILL_WEIGHT_NONE);
}

static mill_err write_list(struct intersecting *x, struct store_writer *w, struct cursor *c, vid u, u64 most)
{
	u64 n = 0;

	TRY(cursor_seek(c, u));
	while (c->at < c->end) {
		const u32 *weight = c->weight;

		for (; c->at < c->end; c->at++, weight += weight != NULL) {
			if (!leads(x, u, *c->at))
				continue;
			if (n == most)
				return fail(MILL_ECORRUPT, "%s: degrees and lists contradict each other", x->run->store->path);
			x->buffer[n] = *c->at;
			x->buffer_weight[n++] = weight ? *weight : 1;
		}
		TRY(cursor_more(c));
	}
	return writer_list(w, true, x->buffer, x->buffer_weight, n);
}

static mill_err write_lists(struct intersecting *x, struct store_writer *w, u64 most)
{
	struct mill_run *r = x->run;
	struct cursor c;
	mill_err err;

	TRY(cursor_open(&c, run_direction(r, false)->pages, &r->budget));
	err = memory_new(&x->buffer, &r->budget, most, sizeof(vid), "an oriented list");
	if (!err)
		err = memory_new(&x->buffer_weight, &r->budget, most, sizeof(u32), "an oriented list");
	for (u64 u = 0; !err && u < r->store->vertices; u++) {
		err = write_list(x, w, &c, (vid)u, most);
		if (!err && u % 1024 == 0)
			err = ticker_tick(&r->ticker, c.n_read);
	}
	memory_free(x->buffer_weight);
	memory_free(x->buffer);
	cursor_close(&c);
	return err;
}

static mill_err orient_on_disk(struct intersecting *x)
{
	struct mill_run *r = x->run;
	const struct topology *t = run_direction(r, false);
	bool weights = r->graph->weight == MILL_WEIGHT_U32 && r->need.view == VIEW_ARCS;
	struct store_facts facts = {
		.vertices = r->store->vertices,
		.directed = true,
		.in_pages = true,
		.weight = weights ? MILL_WEIGHT_U32 : MILL_WEIGHT_NONE,
		.codec = PAGE_RAW,	/* looked at many times, decoded never */
		.whole_lists = true,
	};
	struct store_writer *w;
	mill_err err;
	char *dir;

	TRY(choose_page(r, t->n_edges, weights, &facts.page_size));
	TRY(view_dir(&dir, r->store, &r->budget));
	err = writer_open_temporary(&w, dir, &r->budget);
	memory_free(dir);
	if (err)
		return err;
	err = writer_begin(w, &facts);
	if (!err)
		err = write_lists(x, w, longest(t->n_edges));
	if (err) {
		writer_abandon(w);
		return err;
	}
	TRY(writer_keep(w, &x->store));
	x->pages = &x->store->in;
	return MILL_OK;
}

static mill_err read_block(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct intersecting *x = arg;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		void *frame = x->frames + i * x->store->page_size;

		TRY(page_read(x->pages, x->first_page + (u32)i, frame));
		TRY(page_decode_into(x->pages, x->first_page + (u32)i, frame, NULL, NULL, &x->block[i]));
	}
	return MILL_OK;
}

static mill_err intersect_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct intersecting *x = arg;

	(void)page;
	x->program->rows(x->args, worker, bits_of(x, worker), seg, 0, seg->n_rows, x->block, x->n_block,
			 &x->run->emit[worker].tally);
	return MILL_OK;
}

/* A block of pages at a time, as large as the budget allows. */
static mill_err intersect_blocks(struct intersecting *x, struct mill_step *step)
{
	struct mill_run *r = x->run;
	u64 page = x->store->page_size, left = r->frame_bytes;
	u64 room = left > (FRAMES + 1) * page ? left / page - FRAMES - 1 : 1;
	u32 most = (u32)min_u64(r->only_frames ? r->only_frames : room, max_u64(x->pages->n_pages, 1));
	struct vec *v;

	TRY(run_vec_host(r, &v, "a block of pages", most * page + 4096, 1));
	x->frames = (u8 *)round_up((uintptr_t)v->buffer.host, 4096);
	TRY(run_vec_host(r, &v, "a block of pages", most, sizeof(struct segment)));
	x->block = v->buffer.host;
	TRY(run_open_stream(r, &x->stream, x->store, FRAMES * page, FRAMES));
	for (x->first_page = 0; x->first_page < x->pages->n_pages; x->first_page += most) {
		struct stream_pass pass = { .pages = x->pages, .work = intersect_page, .arg = x, .ticker = &r->ticker };

		x->n_block = (u32)min_u64(most, x->pages->n_pages - x->first_page);
		TRY(pool_for(r->pool, x->n_block, 1, read_block, x));
		TRY(stream_run(x->stream, &pass));
		step_add_pass(step, &pass);
		step->pages_read += x->n_block;
		step->disk_read += x->n_block * page;
	}
	return MILL_OK;
}

static mill_err intersect_on_disk(struct intersecting *x, struct mill_step *step)
{
	mill_err err;

	run_pause_stream(x->run);
	err = orient_on_disk(x);
	if (!err)
		err = intersect_blocks(x, step);
	stream_close(x->stream);
	store_close(x->store);
	return err;
}

mill_err op_intersect(struct mill_run *r, const struct intersect_program *p, const void *args, struct vec *degree)
{
	struct intersecting x = { .run = r, .program = p, .args = args, .degree = degree->buffer.host };
	struct mill_step step = { .frontier = r->store->vertices, .direction = "scan" };
	u32 before = r->n_vecs;
	struct vec *bits;
	f64 began = clock_now();
	mill_err err;

	run_tell(r, "intersect", 0);
	for (unsigned i = 0; i < pool_size(r->pool); i++)
		r->emit[i].tally = (struct tally){ 0 };
	TRY(run_vec_host(r, &bits, "the workers' bitmaps", pool_size(r->pool) * bits_words(r), sizeof(u64)));
	x.bits = bits->buffer.host;
	if (op_can_count(r)) {
		TRY(orient_in_memory(&x));
		TRY(pool_for(r->pool, r->store->vertices, 256, intersect_rows, &x));
	} else {
		TRY(intersect_on_disk(&x, &step));
	}
	while (r->n_vecs > before)
		run_vec_free(r, r->vec[r->n_vecs - 1]);
	for (unsigned i = 0; i < pool_size(r->pool); i++) {
		step.edges += r->emit[i].tally.edges;
		step.updates += r->emit[i].tally.updates;
	}
	err = run_direction(r, false)->resident ? MILL_OK : run_resume_stream(r);
	ledger_add(&r->ledger, &step, began);
	return err;
}
