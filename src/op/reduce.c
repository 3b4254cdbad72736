/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbourhood reduction: runs the templates of reduce.inc or the kernels of reduce.cl,
 * over pages, resident lists, bins (engine/bins.h) or, where the state's home is the host,
 * by joins (op/sum.c).
 */
#include <assert.h>

#include "op/sum.h"
#include "op/op.h"

/*
 * The block sums of a list that spans segments go to slots, which `finish` combines in
 * order.
 */
struct reducer {
	const struct reduce_program *program;
	bool in;
	struct vec *partial;		/* the slots */
	struct vec *split;		/* struct split_list, by vertex; on the host */
	struct vec *split_device;	/* its copy for kernels */
	u64 n_splits;
	/*
	 * The vertices of a list as a bitmap, if the topology is not resident; made at
	 * first use.
	 */
	struct vec *bits, *bits_device;
	struct vec *sum;		/* by join only: the sum of each vertex */
};

/* A worker takes at most this number of edges, and of vertices, from a list at a time. */
#define LIST_CHUNK_EDGES 16384u
#define LIST_CHUNK 4096u
/*
 * With less work than this (vertices + edges), waking the other threads costs more than it
 * saves.
 */
#define SMALL_LIST 32768u
/* Vertices without a row that a worker takes at a time. */
#define REST_GRAIN 16384u

_Static_assert(sizeof(struct split_list) == 24, "kernels see three u64");

/*
 * The vertices that are reduced: those of `list`, or those of `front`, or all if both are
 * NULL.
 */
struct reduce_ctx {
	struct mill_run *run;
	struct reducer *reducer;
	const void *args;
	const vid *list;
	u64 n;			/* vertices of the list */
	u64 taken;		/* vertices of the list that workers have taken; atomic */
	const u64 *front;	/* on the host */
	const struct vec *front_device;
	u64 edges;		/* atomic */
	u64 count[COUNT_MOST];	/* atomic */
};

/* The rows of a page, or of a segment or piece of a resident topology. */
struct extent {
	u64 first, n_rows, n_edges, skip;
	bool continues;
};

static u32 n_extents(const struct topology *t)
{
	return t->resident ? t->n_pieces : t->pages->n_pages;
}

static struct extent extent_of(const struct topology *t, u32 i)
{
	const struct page_entry *e;

	if (t->resident) {
		const struct segment *s = &t->piece[i];

		return (struct extent){ s->first, s->n_rows, s->n_edges, s->skip, s->continues };
	}
	e = &t->pages->entry[i];
	return (struct extent){ e->first_vertex, e->n_rows, e->n_edges, e->skip,
			      i + 1 < t->pages->n_pages && e[1].skip };
}

/*
 * Finds the lists that span extents. The length of such a list is known only when its last
 * extent is read. Until then all edges of that extent count, so there are at least as many
 * slots as needed.
 */
static void find_splits(const struct topology *t, struct split_list *out, u64 *n_splits,
			u64 *n_slots)
{
	*n_splits = *n_slots = 0;
	for (u32 i = 0; i < n_extents(t); i++) {
		struct extent p = extent_of(t, i);
		u64 slots;

		if (!p.skip || (p.n_rows == 1 && p.continues))
			continue;
		slots = div_up(p.skip + p.n_edges, LIST_BLOCK);
		if (out)
			out[*n_splits] = (struct split_list){ (vid)p.first, *n_slots, slots };
		*n_slots += slots;
		++*n_splits;
	}
}

static u64 reducer_bytes(const struct store *st, bool in, u32 sum_size)
{
	struct topology streamed = { .pages = in ? &st->in : &st->out };
	u64 splits, slots;

	find_splits(&streamed, NULL, &splits, &slots);
	/* In a resident topology long lists are cut into pieces for the threads. */
	splits = max_u64(splits, st->stored_edges / HUB_EDGES + 1);
	slots = max_u64(slots, st->stored_edges / LIST_BLOCK + splits);
	return slots * sum_size + 2 * (splits + 1) * sizeof(struct split_list) + 1024;
}

/*
 * Returns true if the reduction is done by a join (op/sum.c): sources give the elements of
 * one array, so edges of the other direction can add them to the sums.
 */
static bool by_join(const struct mill_run *r, const struct reduce_program *p)
{
	return run_home_is_host(r) && r->policy->home == HOME_HOST && p->given_size;
}

mill_err op_reducer(struct mill_run *r, struct reducer **out, const struct reduce_program *p,
		    bool in)
{
	struct topology *t = run_direction(r, in);
	struct reducer *red;
	struct vec *self;
	u64 n_slots;

	TRY(run_vec_host(r, &self, "reducer", 1, sizeof(*red)));
	red = self->buffer.host;
	red->program = p;
	red->in = in;
	if (!r->device->native && r->transfer.whole)
		red->n_splits = n_slots = 0;	/* all pages are one segment: no list is cut */
	else
		find_splits(t, NULL, &red->n_splits, &n_slots);
	TRY(run_vec_host(r, &red->split, "split lists", red->n_splits, sizeof(struct split_list)));
	TRY(run_vec(r, &red->partial, "partial sums", n_slots, p->sum_size, NULL));
	if (red->n_splits)
		find_splits(t, red->split->buffer.host, &red->n_splits, &n_slots);
	if (!r->device->native) {
		TRY(run_vec(r, &red->split_device, "split lists", red->n_splits,
			    sizeof(struct split_list), NULL));
		TRY(device_write(&red->split_device->buffer, 0, red->split->buffer.host,
				 red->n_splits * sizeof(struct split_list)));
	}
	if (by_join(r, p)) {
		TRY(sum_prepare(r, p->given_size, p->real));
		TRY(run_vec_host(r, &red->sum, "sums", r->store->n_linked, p->sum_size));
	}
	*out = red;
	return MILL_OK;
}

static void add_bytes(const struct declaration *d, const struct declared *x, struct need *n)
{
	const struct reduce_program *p = x->what;
	const struct store *st = d->run->store;
	bool in = x->flags & OVER_IN,
	     joined = n->own && d->run->policy->home == HOME_HOST && p->given_size;

	n->state += reducer_bytes(st, in, p->sum_size);
	if (x->flags & LISTS) {	/* on the host and, if that is another, on the device */
		n->state += bitmap_words(st->n_linked) * sizeof(u64) + 64;
		n->host += bitmap_words(st->n_linked) * sizeof(u64) + 64;
	}
	n->spread = (u32)max_u64(n->spread, p->spread_size);
	if (!n->view)
		*(in != joined ? &n->in : &n->out) = true;
	if (!joined)
		return;
	n->state += st->n_linked * sizeof(u64);
	n->host += run_flags_bytes(st);
	n->writable = (u32)max_u64(n->writable, sizeof(u64));
	n->given = (u32)max_u64(n->given, p->given_size);
}

static mill_err make(struct mill_run *r, const struct declared *x)
{
	TRY(device_prepare(r->device, &x->program->source));
	return op_reducer(r, x->out, x->what, x->flags & OVER_IN);
}

mill_err declare_reducer(struct declaration *d, struct reducer **out,
			 const struct reduce_program *p, u32 flags)
{
	declare_item(d,
		     (struct declared){ add_bytes, make, out, .program = &p->program,
					.forms = sum_forms(p), .what = p, .flags = flags | EARLY });
	return flags & OVER_IN && !d->run->store->has_in ?
		       fail(MILL_EUSAGE,
			    "%s reads in-edges, which %s lacks: import it without --out-only",
			    d->need.algorithm, d->run->store->path) :
		       MILL_OK;
}

static struct split_list *find_split(const struct reducer *red, vid v)
{
	struct split_list *list = red->split->buffer.host;
	u64 low = 0, high = red->n_splits;

	while (high - low > 1) {
		u64 middle = (low + high) / 2;

		if (list[middle].vertex <= v)
			low = middle;
		else
			high = middle;
	}
	return &list[low];
}

/*
 * Finds the first slots for the blocks of the first and the last row. head_edges: the
 * number of edges of the first row in this extent.
 */
static void find_slots(const struct reducer *red, const struct extent *p, u64 head_edges, u64 *head,
		       u64 *tail)
{
	bool through = p->n_rows == 1 && p->continues;

	*head = *tail = NO_SLOT;
	if (p->skip) {
		struct split_list *s = find_split(red, (vid)p->first);

		*head = s->first_slot + p->skip / LIST_BLOCK;
		if (!through)	/* the list ends in this extent: now its length is known */
			s->n_slots = div_up(p->skip + head_edges, LIST_BLOCK);
	}
	if (p->continues && !(through && p->skip))
		*tail = find_split(red, (vid)(p->first + p->n_rows - 1))->first_slot;
}

/* Adds the counts of a worker. */
static void add_counts(struct reduce_ctx *a, const u64 *count)
{
	for (u32 k = 0; k < a->reducer->program->n_counts; k++)
		if (count[k])
			__atomic_fetch_add(&a->count[k], count[k], __ATOMIC_RELAXED);
}

static mill_err reduce_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			    unsigned worker)
{
	struct reduce_ctx *a = arg;
	const struct reducer *red = a->reducer;
	struct extent p = { seg->first, seg->n_rows, seg->n_edges, seg->skip, seg->continues };
	u64 head, tail, edges, count[COUNT_MOST] = { 0 };

	(void)page;
	(void)worker;
	/*
	 * Row 0 belongs to the worker with begin 0: only it may set the number of the
	 * list's slots.
	 */
	if (begin)
		p.skip = 0;
	find_slots(red, &p, seg->row[1], &head, &tail);
	edges = red->program->rows(a->args, seg, begin, end, a->front, red->partial->buffer.host,
				   head, tail, count);
	add_counts(a, count);
	__atomic_fetch_add(&a->edges, edges, __ATOMIC_RELAXED);
	return MILL_OK;
}

/*
 * The kernel itself stores the number of slots of a list that ends in this segment
 * (`split`).
 */
static mill_err reduce_segment(void *arg, const struct device_segment *seg)
{
	struct reduce_ctx *a = arg;
	const struct reducer *red = a->reducer;
	u64 head = NO_SLOT, tail = NO_SLOT, head_first = 0;
	u32 head_split = UINT32_MAX;
	struct kernel_call l;

	a->edges += seg->n_edges;
	if (seg->unit != NO_UNIT) {
		struct extent p = { seg->first, seg->n_rows, seg->n_edges, seg->skip,
				    seg->continues };

		find_slots(red, &p, p.n_edges, &head, &tail);
		head_first = p.skip / LIST_BLOCK;
		if (p.skip && !(p.n_rows == 1 && p.continues))
			head_split = (u32)(find_split(red, (vid)p.first) -
					   (struct split_list *)red->split->buffer.host);
	}
	launch_begin(&l, &red->program->program, "rows", a->args);
	launch_segment(&l, seg);
	launch_vec(&l, a->front_device);
	launch_vec(&l, red->partial);
	launch_u64(&l, &head);
	launch_u64(&l, &tail);
	launch_vec(&l, red->split_device);
	launch_u32(&l, &head_split);
	launch_u64(&l, &head_first);
	launch_buffer(&l, transfer_counts(&a->run->transfer));
	return launch_items(a->run->device, &l, seg->n_rows, ITEM_ROWS);
}

static mill_err finish_device(struct reduce_ctx *a)
{
	struct reducer *red = a->reducer;
	u32 n = (u32)red->n_splits;
	struct kernel_call l;

	if (!n)
		return MILL_OK;
	launch_begin(&l, &red->program->program, "finish", a->args);
	launch_vec(&l, a->front_device);
	launch_vec(&l, red->partial);
	launch_vec(&l, red->split_device);
	launch_u32(&l, &n);
	launch_buffer(&l, transfer_counts(&a->run->transfer));
	return launch_items(a->run->device, &l, n, 1);
}

/* ---- Vertices without a row ---- */

static mill_err rest_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct reduce_ctx *a = arg;
	u64 first = run_direction(a->run, a->reducer->in)->n_rows, count[COUNT_MOST] = { 0 };

	(void)worker;
	a->reducer->program->rest(a->args, first + begin, first + end, a->front, count);
	add_counts(a, count);
	return MILL_OK;
}

static mill_err rest_device(struct reduce_ctx *a)
{
	u32 begin = (u32)run_direction(a->run, a->reducer->in)->n_rows,
	    end = (u32)a->run->store->n_linked;
	struct kernel_call l;

	if (begin == end)
		return MILL_OK;
	launch_begin(&l, &a->reducer->program->program, "rest", a->args);
	launch_u32(&l, &begin);
	launch_u32(&l, &end);
	launch_vec(&l, a->front_device);
	launch_buffer(&l, transfer_counts(&a->run->transfer));
	return launch_items(a->run->device, &l, end - begin, ITEM_ROWS);
}

/* ---- Lists of vertices in a resident topology ---- */

/*
 * Takes the next vertices of the list until they have LIST_CHUNK_EDGES edges, at least one.
 * Returns their number.
 */
static u64 take_list(struct reduce_ctx *a, const struct topology *t, u64 *begin)
{
	u64 from = __atomic_load_n(&a->taken, __ATOMIC_RELAXED), to;

	do {
		u64 edges = 0;

		for (to = from; to < a->n && to - from < LIST_CHUNK && edges < LIST_CHUNK_EDGES;
		     to++)
			edges += topology_degree(t, a->list[to]);
	} while (!__atomic_compare_exchange_n(&a->taken, &from, to, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	*begin = from;
	return to - from;
}

static mill_err reduce_list(void *arg, unsigned worker)
{
	struct reduce_ctx *a = arg;
	struct ticker *ticker = &a->run->ticker;
	const struct topology *t = run_direction(a->run, a->reducer->in);
	u64 begin, n, edges = 0, count[COUNT_MOST] = { 0 };

	while ((n = take_list(a, t, &begin))) {
		edges += a->reducer->program->list(a->args, t->segment, t->n_segments,
						   a->list + begin, n, count);
		if (!worker)
			TRY(ticker_tick(ticker, begin + n));
		else if (ticker_cancelled(ticker))
			return fail(MILL_ECANCELLED, "cancelled");
	}
	add_counts(a, count);
	__atomic_fetch_add(&a->edges, edges, __ATOMIC_RELAXED);
	return MILL_OK;
}

static mill_err reduce_resident(struct reduce_ctx *a)
{
	const struct topology *t = run_direction(a->run, a->reducer->in);
	u64 work = 0;

	if (!t->n_segments)
		return MILL_OK;
	for (u64 i = 0; i < a->n && work < SMALL_LIST; i++)
		work += 1 + topology_degree(t, a->list[i]);
	return work < SMALL_LIST ? reduce_list(a, 0) : pool_run(a->run->pool, reduce_list, a);
}

/* ---- Bins (engine/bins.h) ---- */

static mill_err reduce_bins(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct reduce_ctx *a = arg;
	struct bins *b = a->run->bins;
	u64 edges = 0, count[COUNT_MOST] = { 0 };

	for (u64 i = begin; i < end; i++) {
		a->reducer->program->bin(a->args, &b->bin[i],
					 b->sum + worker * (2 * BIN_VERTICES * sizeof(u64)), count);
		edges += b->bin[i].n_entries;
	}
	add_counts(a, count);
	__atomic_fetch_add(&a->edges, edges, __ATOMIC_RELAXED);
	if (!worker)
		return ticker_tick(&a->run->ticker, end);
	return ticker_cancelled(&a->run->ticker) ? fail(MILL_ECANCELLED, "cancelled") : MILL_OK;
}

/* ---- The operators ---- */

static mill_err make_bits(struct mill_run *r, struct reducer *red)
{
	u64 words = bitmap_words(r->store->n_linked);

	if (!red->bits)
		TRY(run_vec_host(r, &red->bits, "vertices of a list", words, sizeof(u64)));
	if (!r->device->native && !red->bits_device)
		TRY(run_vec(r, &red->bits_device, "vertices of a list", words, sizeof(u64), NULL));
	return MILL_OK;
}

static bool has_work(void *arg, u64 begin, u64 end)
{
	struct reduce_ctx *a = arg;

	return bitmap_any(a->front, begin, end);
}

/*
 * Finds the pages that have a chosen vertex, from the bitmap on the host. Only those are
 * sent.
 */
static mill_err choose_pages(struct reduce_ctx *a, struct vec **out)
{
	const struct pages *p = run_direction(a->run, a->reducer->in)->pages;
	u32 *page_n;

	TRY(run_vec_host(a->run, out, "chosen pages", p->n_pages, sizeof(u32)));
	page_n = (*out)->buffer.host;
	for (u32 i = 0; i < p->n_pages; i++)
		page_n[i] = has_work(a, p->entry[i].first_vertex,
				     (u64)p->entry[i].first_vertex + p->entry[i].n_rows);
	return MILL_OK;
}

static mill_err reduce_device(struct reduce_ctx *a, struct mill_step *step)
{
	const struct reducer *red = a->reducer;
	struct device_pass pass = { .activity.in = red->in, .launch = reduce_segment, .arg = a };
	u64 counts[COUNTS_N];
	struct vec *chosen = NULL;

	if (a->front) {
		TRY(choose_pages(a, &chosen));
		pass.activity.n = chosen->buffer.host;
	}
	TRY(transfer_count_begin(&a->run->transfer));
	TRY(transfer_pass(&a->run->transfer, &pass, step));
	TRY(finish_device(a));
	TRY(rest_device(a));
	if (red->program->n_counts)
		TRY(transfer_count_end(&a->run->transfer, counts, NULL));
	for (u32 k = 0; k < red->program->n_counts; k++)
		a->count[k] = counts[k];
	if (chosen)
		run_vec_free(a->run, chosen);
	return MILL_OK;
}

/* Reduces all vertices or those of `front` on the host, over bins, resident lists or pages. */
static mill_err reduce_all(struct reduce_ctx *a, struct mill_step *step)
{
	const struct reducer *red = a->reducer;
	const struct reduce_program *p = red->program;
	struct pass pass = {
		.in = red->in, .active = a->front ? has_work : NULL, .work = reduce_rows, .arg = a
	};
	u64 rest = a->run->store->n_linked - run_direction(a->run, red->in)->n_rows;

	if (a->run->bins && !a->front && red->in && p->bin)
		return pool_for(a->run->pool, a->run->bins->n_bins, 1, reduce_bins, a);
	TRY(run_pass(a->run, &pass, step));
	p->finish(a->args, red->partial->buffer.host, red->split->buffer.host, red->n_splits,
		  a->front, a->count);
	return pool_for(a->run->pool, rest, REST_GRAIN, rest_some, a);
}

static mill_err apply_sums(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct reduce_ctx *a = arg;
	const struct vec *sum = a->reducer->sum;
	u64 count[COUNT_MOST] = { 0 };

	(void)worker;
	a->reducer->program->sums(a->args, begin, end,
				  (const char *)sum->buffer.host + begin * sum->size, a->front,
				  count);
	add_counts(a, count);
	return MILL_OK;
}

/* Reduces by a join: sources add their values along the edges of the other direction. */
static mill_err reduce_joined(struct reduce_ctx *a, struct mill_step *step)
{
	const struct reducer *red = a->reducer;
	struct vec *given = *(struct vec *const *)((const char *)a->args + red->program->given);
	u64 updates = step->updates;

	TRY(sum_given(a->run, given, red->sum, red->program->real, !red->in, step));
	a->edges = step->edges;
	step->updates = updates;	/* an update is a sum that is applied, not an edge */
	return pool_for(a->run->pool, red->sum->n, REST_GRAIN, apply_sums, a);
}

static mill_err reduce(struct reduce_ctx *a, struct mill_step *step)
{
	if (by_join(a->run, a->reducer->program))
		return reduce_joined(a, step);
	if (!a->run->device->native)
		return reduce_device(a, step);
	return a->list && !a->front ? reduce_resident(a) : reduce_all(a, step);
}

static mill_err reduce_counted(struct reduce_ctx *a, struct mill_step *step, u64 *count)
{
	f64 began = clock_now();

	assert(a->reducer->program->n_counts <= COUNT_MOST);
	TRY(program_fetch(&a->reducer->program->program, a->args));
	run_announce(a->run, "pass %llu", a->run->ledger.total.step + 1);
	TRY(reduce(a, step));
	step->edges = a->edges;
	ledger_add(&a->run->ledger, step, began);
	for (u32 k = 0; k < a->reducer->program->n_counts; k++)
		count[k] = a->count[k];
	return MILL_OK;
}

mill_err op_reduce(struct mill_run *r, struct reducer *red, const void *args, u64 *count)
{
	struct reduce_ctx a = { .run = r, .reducer = red, .args = args };
	struct mill_step step = {
		.frontier = r->store->vertices,
		.direction = "scan",
		.updates = run_direction(r, red->in)->n_rows,
	};

	return reduce_counted(&a, &step, count);
}

mill_err op_reduce_front(struct mill_run *r, struct reducer *red, const void *args,
			 struct frontier *f, u64 *count)
{
	struct reduce_ctx a = { .run = r, .reducer = red, .args = args };
	struct mill_step step = { .frontier = f->n, .direction = "pull", .updates = f->n };

	if (!f->dense)
		return op_reduce_list(r, red, args, f->list, f->n, count);
	TRY(frontier_bits(f, &a.front));
	a.front_device = f->bits;
	return reduce_counted(&a, &step, count);
}

mill_err op_reduce_list(struct mill_run *r, struct reducer *red, const void *args, const vid *list,
			u64 n, u64 *count)
{
	struct reduce_ctx a = { .run = r, .reducer = red, .args = args, .list = list, .n = n };
	struct mill_step step = { .frontier = n, .direction = "pull", .updates = n };
	u64 *bits = NULL;
	mill_err err;

	for (u32 k = 0; k < red->program->n_counts; k++)
		count[k] = 0;
	if (!n)
		return MILL_OK;
	if (!run_direction(r, red->in)->resident) {
		TRY(make_bits(r, red));
		a.front = bits = red->bits->buffer.host;
		a.front_device = red->bits_device;
		for (u64 i = 0; i < n; i++)
			bitmap_put(bits, list[i]);
	}
	err = a.front_device ?
		      device_write(&red->bits_device->buffer, 0, a.front, red->bits->buffer.size) :
		      MILL_OK;
	if (!err)
		err = reduce_counted(&a, &step, count);
	for (u64 i = 0; bits && i < n; i++)
		bits[list[i] / 64] = 0;
	return err;
}
