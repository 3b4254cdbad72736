/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advance: chooses direction, mapping and form of the frontier, and runs the templates of
 * advance.inc or the kernels of advance.cl over it. Also splits buckets (op_split).
 *
 * --mapping and --filter apply to pushes on a device only: a pull has one kernel, in which
 * each work-item takes rows, and native code has no mappings.
 */
#include "op/op.h"

/* With fewer edges than this, waking the other threads costs more than their work saves. */
#define SMALL_STEP 2048

struct advance_ctx {
	struct mill_run *run;
	const struct advance_program *program;
	const struct push_code *push;
	const void *args;
	struct frontier *front;
	const u64 *bits;	/* the bitmap of the frontier, on the host */
	struct emit *emit;	/* one per worker */
	bool pull;
	bool again;		/* asynchronous: process newly active rows before the page leaves */
	u32 far, words;		/* kernel arguments: the last bucket, 32-bit words of a bitmap */
};

/* ---- Native passes ---- */

static mill_err advance_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			     unsigned worker)
{
	struct advance_ctx *a = arg;

	(void)page;
	if (a->pull)
		a->program->pull_rows(a->args, seg, begin, end, a->bits, &a->emit[worker]);
	else
		a->push->rows(a->args, seg, begin, end, a->bits, &a->emit[worker]);
	if (a->again)
		a->push->again(a->args, seg, begin, end, &a->emit[worker]);
	return MILL_OK;
}

static mill_err advance_list(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct advance_ctx *a = arg;
	const struct topology *t = run_direction(a->run, a->front->in);

	for (u32 i = 0; i < t->n_segments; i++)
		a->push->list(a->args, &t->segment[i], a->front->list + begin, end - begin,
			      &a->emit[worker]);
	return MILL_OK;
}

/* The pieces of one hub's list, each a segment of one row. */
struct hub {
	struct advance_ctx *advance;
	const struct segment *piece;
};

static mill_err advance_pieces(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct hub *h = arg;
	struct advance_ctx *a = h->advance;

	for (u64 i = begin; i < end; i++)
		a->push->list(a->args, &h->piece[i], &h->piece[i].first, 1, &a->emit[worker]);
	return MILL_OK;
}

/*
 * Pushes along a list of active vertices: first the hubs, which stand at its end, one after the
 * other, each on all threads; then the other vertices, in chunks.
 */
static mill_err advance_lists(struct advance_ctx *a)
{
	struct frontier *f = a->front;
	u64 rest = f->n - f->hubs, grain = f->work < SMALL_STEP ? rest : max_u64(rest / 64, 16);

	for (u64 i = rest; i < f->n; i++) {
		struct hub h = { .advance = a };
		u32 n;

		h.piece = topology_pieces(run_direction(a->run, a->front->in), f->list[i], &n);
		TRY(pool_for(a->run->pool, n, 1, advance_pieces, &h));
	}
	return pool_for(a->run->pool, rest, grain, advance_list, a);
}

/* Returns true if a vertex of the range is active (push) or wants edges (pull). */
static bool has_work(void *arg, u64 begin, u64 end)
{
	struct advance_ctx *a = arg;

	if (!a->pull)
		return bitmap_any(a->bits, begin, end);
	return a->program->wanted(a->args, begin, end);
}

static void begin_emit(struct advance_ctx *a, bool to_list)
{
	const struct piles *b = &a->front->piles;

	for (unsigned i = 0; i < pool_size(a->run->pool); i++) {
		struct emit *e = &a->emit[i];

		e->tally = (struct tally){ .rest = UINT64_MAX };
		e->bits = a->front->next_bits->buffer.host;
		e->piles = b;
		e->far = b->far ? b->far->buffer.host : NULL;
		e->waiting = b->bits ? b->bits->buffer.host : NULL;
		e->limit = b->limit;
		e->end = b->n ? piles_end(b) : UINT64_MAX;
		e->list = to_list ? a->front->next_list : NULL;
		e->list_n = &a->front->next_n;
		/* Not if streamed: a page may hold only the rows that were asked for. */
		e->cascade = a->program->cascade && run_direction(a->run, false)->resident;
		e->n_buffer = e->head = 0;
	}
}

static struct tally end_emit(struct advance_ctx *a)
{
	struct tally sum = { .rest = UINT64_MAX };

	for (unsigned i = 0; i < pool_size(a->run->pool); i++) {
		const struct tally *t = &a->emit[i].tally;

		emit_flush(&a->emit[i]);
		sum.edges += t->edges;
		sum.updates += t->updates;
		sum.emitted += t->emitted;
		sum.rest = min_u64(sum.rest, t->rest);
		a->front->piles.filled |= t->filled;
	}
	return sum;
}

static mill_err advance_native(struct advance_ctx *a, struct mill_step *step)
{
	struct frontier *f = a->front;
	bool by_list, to_list;
	struct pass pass = {
		.in = a->pull != f->in,
		.active = has_work,
		.work = advance_rows,
		.arg = a,
		.numbers = a->program->program.numbers,
	};
	struct tally t;

	if (!a->pull)
		frontier_list(f);
	by_list = !a->pull && !f->dense;
	/* At most one vertex becomes active for each edge, so f->work bounds the next list. */
	to_list = by_list && f->work <= f->capacity && !a->program->cascade;
	begin_emit(a, to_list);
	a->again = pass.whole = a->run->options.async && a->program->async.again && !a->pull;
	a->push = a->again ? &a->program->async : &a->program->steps;
	if (by_list) {
		TRY(advance_lists(a));
		TRY(ticker_tick(&a->run->ticker, 0));
	} else {
		TRY(frontier_bits(f, &a->bits));
		TRY(run_pass(a->run, &pass, step));
	}
	t = end_emit(a);
	step->edges = t.edges;
	step->updates = t.updates;
	return frontier_turn(f, !to_list, to_list && !a->program->unique, t.emitted);
}

/* ---- Device passes ---- */

/*
 * Gunrock's rule (section 5.1.3): balanced partitioning from a mean degree of 5 on. It
 * balances over the input (vertices) if the frontier has fewer than 4,096 vertices, else
 * over the output (edges).
 */
#define BALANCE_DEGREE 5
#define BALANCE_OUTPUT 4096u

enum mill_mapping advance_mapping(u64 n_rows, u64 n_edges, u64 n_f)
{
	if (n_edges < BALANCE_DEGREE * n_rows)
		return MILL_MAPPING_GROUP;
	return n_f < BALANCE_OUTPUT ? MILL_MAPPING_INPUT : MILL_MAPPING_OUTPUT;
}

static enum mill_mapping choose_mapping(const struct advance_ctx *a)
{
	const struct topology *t = run_direction(a->run, a->front->in);
	enum mill_mapping asked = a->run->options.mapping;

	/* WARP and HYBRID are mappings of GTS's own kernels: here they mean AUTO. */
	if (asked != MILL_MAPPING_AUTO && asked != MILL_MAPPING_WARP &&
	    asked != MILL_MAPPING_HYBRID)
		return asked;
	return advance_mapping(t->n_rows, t->n_edges, a->front->n);
}

/* Returns the number of work-groups of a kernel in which each loops until no work is left. */
static u64 persistent_groups(const struct mill_run *r, u64 n, u32 per_item)
{
	return min_u64(div_up(n, (u64)per_item * r->device->group), r->device->chunked ? 64 : 1024);
}

/* Adds the arguments BUCKET_PARAMS of advance.cl. */
static void launch_piles(struct kernel_call *l, struct advance_ctx *a)
{
	const struct piles *b = &a->front->piles;

	a->far = piles_far(b);
	a->words = (u32)(b->words * 2);		/* of 32 bits */
	launch_vec(l, b->far);
	launch_vec(l, b->bits);
	launch_vec(l, b->borders);
	launch_u64(l, &b->limit);
	launch_u32(l, &b->near);
	launch_u32(l, &a->far);
	launch_u32(l, &a->words);
}

/* Filters the queue that a push wrote (--filter exact, inexact) into the next frontier. */
static mill_err filter_queue(struct advance_ctx *a, const struct device_segment *seg)
{
	const struct program *p = &a->program->program;
	const struct work_area *w = seg->area;
	bool exact = a->run->options.filter == MILL_FILTER_EXACT;
	u32 n_tiles = (u32)div_up(seg->n_edges, TILE_ROWS);
	struct kernel_call l;

	if (exact) {
		launch_begin(&l, p, "keep_count", NULL);
		launch_buffer(&l, &w->queue);
		launch_buffer(&l, &w->tile);
		launch_buffer(&l, &w->kept_tile);
		launch_u32(&l, &n_tiles);
		l.launch.queue = seg->queue;
		TRY(launch_items(a->run->device, &l, n_tiles, 1));
		TRY(transfer_scan(a->run->device, &w->kept_tile, n_tiles, seg->queue));
		launch_begin(&l, p, "keep_put", NULL);
		launch_buffer(&l, &w->queue);
		launch_buffer(&l, &w->tile);
		launch_buffer(&l, &w->kept_tile);
		launch_u32(&l, &n_tiles);
		launch_buffer(&l, &w->kept);
		l.launch.queue = seg->queue;
		TRY(launch_items(a->run->device, &l, n_tiles, 1));
	}
	launch_begin(&l, p, exact ? "mark" : "cull", a->args);
	launch_buffer(&l, exact ? &w->kept : &w->queue);
	launch_buffer(&l, exact ? &w->kept_tile : &w->tile);
	launch_vec(&l, a->front->next_bits);
	launch_buffer(&l, transfer_counts(&a->run->transfer));
	launch_piles(&l, a);
	l.launch.queue = seg->queue;
	return launch_groups(a->run->device, &l,
			     persistent_groups(a->run, seg->n_edges, ITEM_ENTRIES));
}

static mill_err push_segment(void *arg, const struct device_segment *seg)
{
	static const char *const suffix[] = {
		[MILL_MAPPING_THREAD] = "push_thread", [MILL_MAPPING_GROUP] = "push_group",
		[MILL_MAPPING_INPUT] = "push_input", [MILL_MAPPING_OUTPUT] = "push_output",
	};
	struct advance_ctx *a = arg;
	struct frontier *f = a->front;
	enum mill_mapping mapping = choose_mapping(a);
	bool fused = a->run->options.filter == MILL_FILTER_FUSED;
	const struct work_area *w = seg->area;
	struct kernel_call l;

	TRY(transfer_select(seg, f->bits));
	launch_begin(&l, &a->program->program, suffix[mapping], a->args);
	launch_segment(&l, seg);
	launch_buffer(&l, &w->list);
	launch_buffer(&l, &w->offset);
	launch_buffer(&l, &w->tile);
	launch_vec(&l, f->next_bits);
	launch_buffer(&l, fused ? NULL : &w->queue);
	launch_buffer(&l, transfer_counts(&a->run->transfer));
	launch_piles(&l, a);
	if (mapping == MILL_MAPPING_OUTPUT)
		TRY(launch_groups(a->run->device, &l,
				  persistent_groups(a->run, seg->n_edges, ITEM_EDGES)));
	else
		TRY(launch_items(a->run->device, &l, seg->n_active,
				 mapping == MILL_MAPPING_THREAD ? ITEM_ENTRIES : 1));
	return fused ? MILL_OK : filter_queue(a, seg);
}

static mill_err pull_segment(void *arg, const struct device_segment *seg)
{
	struct advance_ctx *a = arg;
	struct frontier *f = a->front;
	struct kernel_call l;

	launch_begin(&l, &a->program->program, "pull", a->args);
	launch_segment(&l, seg);
	launch_vec(&l, f->bits);
	launch_vec(&l, f->next_bits);
	launch_buffer(&l, transfer_counts(&a->run->transfer));
	return launch_items(a->run->device, &l, seg->n_rows, ITEM_ROWS);
}

/*
 * Before a pull the device says which pages have a row that wants edges. If all pages stay
 * on the device, nothing moves, so the device is not asked.
 */
static mill_err advance_device(struct advance_ctx *a, struct mill_step *step)
{
	struct frontier *f = a->front;
	struct device_pass pass = {
		.activity = { .in = a->pull != f->in, .n = a->pull ? NULL : f->page_n },
		.launch = a->pull ? pull_segment : push_segment,
		.arg = a,
	};
	u64 counts[COUNTS_N];

	if (a->pull && !op_rescan_is_free(a->run)) {
		TRY(transfer_wanted(&a->run->transfer, &a->program->program, a->args,
				    pass.activity.in, f->page_n));
		pass.activity.n = f->page_n;
	}
	TRY(transfer_count_begin(&a->run->transfer));
	TRY(transfer_pass(&a->run->transfer, &pass, step));
	TRY(frontier_turn_counted(f, counts));
	step->edges = counts[COUNT_EDGES];
	step->updates = counts[COUNT_UPDATES];
	step->lanes = counts[COUNT_SLOTS];
	step->atomics = counts[COUNT_ATOMICS];
	return MILL_OK;
}

/* ---- Choice of push or pull ---- */

/*
 * Returns true if Beamer's rule says pull: when the frontier has many of the edges that are
 * not yet seen, until the frontier is small and shrinks. A pull looks at every vertex, so a
 * frontier with few edges is pushed even if few edges are left.
 */
static bool beamer_pulls(const struct advance_ctx *a, f64 do_a, f64 do_b)
{
	const struct frontier *f = a->front;
	f64 few = (f64)a->run->store->vertices / do_b;

	if (!f->pulling)
		return (f64)f->work > (f64)f->edges_left / do_a && (f64)f->work > few;
	return f->n >= f->last_n || (f64)f->n > few;
}

struct estimate advance_estimate(u64 n_f, u64 n_u, u64 n, u64 m)
{
	f64 all = (f64)max_u64(n, 1);

	return (struct estimate){
		.m_f = (f64)n_f * (f64)m / all,
		.m_u = n > n_u ? (f64)n_u * all / (f64)(n - n_u) : (f64)m,
	};
}

/* Gunrock's equations 5 and 6: estimates from numbers of vertices alone. */
static bool estimates_pull(const struct advance_ctx *a, f64 do_a, f64 do_b)
{
	const struct frontier *f = a->front;
	struct estimate e = advance_estimate(f->n, f->vertices_left, a->run->store->vertices,
					     run_direction(a->run, f->in)->n_edges);

	return f->pulling ? e.m_f >= e.m_u * do_b : e.m_f > e.m_u * do_a;
}

static f64 or_default(f64 given, f64 usual) { return given > 0 ? given : usual; }

static bool choose_pull(struct advance_ctx *a)
{
	const struct mill_options *o = &a->run->options;
	struct frontier *f = a->front;

	f->edges_left -= min_u64(f->edges_left, f->work);
	f->vertices_left -= min_u64(f->vertices_left, f->n);
	if (!a->program->pull || !a->run->need.in)
		return false;
	switch (o->direction) {
	case MILL_DIRECTION_PUSH:
	case MILL_DIRECTION_PULL:
		return o->direction == MILL_DIRECTION_PULL;
	case MILL_DIRECTION_ESTIMATE:
		return estimates_pull(a, or_default(o->do_a, ESTIMATE_DO_A),
				      or_default(o->do_b, ESTIMATE_DO_B));
	default:
		return beamer_pulls(a, or_default(o->do_a, ADVANCE_DO_A),
				    or_default(o->do_b, ADVANCE_DO_B));
	}
}

/*
 * Adds the directions that the advance reads. A program that may pull also reads in-edges,
 * except where the policy owns the run, the graph is a view, or the run is asynchronous.
 */
static void add_direction(const struct declaration *d, const struct declared *x, struct need *n)
{
	const struct advance_program *p = x->what;

	n->out |= !n->view;
	n->in |= p->pull && d->run->store->has_in && !n->own && !n->view && !d->run->options.async;
	n->weights |= p->weighted;
	if (n->own && x->flags & MAIN) {
		n->writable = (u32)max_u64(n->writable, p->own.join->writable_size);
		n->given = (u32)max_u64(n->given, p->own.join->given_size);
	}
}

void declare_advance(struct declaration *d, const struct advance_program *p, u32 flags)
{
	declare_program(d, &p->program, &p->own, flags);
	d->item[d->n - 1].bytes = add_direction;
	d->item[d->n - 1].what = p;
}

/* ---- Units, with the policy's kernels ---- */

/*
 * Returns the SIMD lanes that in-place kernels issue: one per edge, rounded up to whole
 * groups.
 */
static u64 edge_lanes(const struct mill_run *r, u64 edges)
{
	u32 group = r->opened[0]->group;

	return r->options.count_lanes && r->policy->in_place ? div_up(edges, group) * group : 0;
}

/*
 * Processes all rows of the active units. The units of the vertices that changed are active
 * next.
 */
static mill_err advance_units(struct advance_ctx *a, struct mill_step *step)
{
	struct device_pass pass = { .activity.n = a->front->unit,
				    .forms = &a->program->own,
				    .args = a->args,
				    .next = a->front->flag };
	struct mill_run *r = a->run;

	if (r->hook.see_step)
		r->hook.see_step(r, a->front->unit, r->transfer.units[0].n);
	TRY(transfer_pass(&r->transfer, &pass, step));
	step->lanes += edge_lanes(r, step->edges);
	frontier_turn_units(a->front, step->updates);
	return MILL_OK;
}

mill_err op_advance(struct mill_run *r, const struct advance_program *p, const void *args,
		    struct frontier *f)
{
	struct advance_ctx a = {
		.run = r, .program = p, .args = args, .front = f, .emit = r->emit
	};
	struct mill_step step = { .frontier = f->n };
	f64 began = clock_now();

	if (!f->n)
		return MILL_OK;
	if (!f->unit) {		/* a pass over units leaves the state on the device that has it */
		TRY(program_fetch(&p->program, args));
		a.pull = f->pulling = choose_pull(&a);
	}
	step.direction = a.pull ? "pull" : "push";
	run_announce(r, "step %llu", r->ledger.total.step + 1);
	TRY(f->unit ? advance_units(&a, &step) :
	    r->device->native ? advance_native(&a, &step) :
				advance_device(&a, &step));
	ledger_add(&r->ledger, &step, began);
	return MILL_OK;
}

/* ---- Buckets ---- */

struct split_ctx {
	struct advance_ctx *advance;
	u32 from;		/* the bucket that is opened */
	u64 settled;		/* vertices with keys below are dropped */
	u64 rest;		/* the smallest key that stays far; UINT64_MAX: none */
};

static mill_err split_words(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct split_ctx *s = arg;

	s->advance->program->split(s->advance->args, begin, end, s->from, s->settled,
				   &s->advance->emit[worker]);
	return MILL_OK;
}

static mill_err split_native(struct split_ctx *s)
{
	struct advance_ctx *a = s->advance;
	struct tally t;

	begin_emit(a, false);
	TRY(pool_for(a->run->pool, a->front->piles.words, 1024, split_words, s));
	t = end_emit(a);
	s->rest = t.rest;
	return frontier_turn(a->front, true, false, t.emitted);
}

static mill_err split_device(struct split_ctx *s)
{
	struct advance_ctx *a = s->advance;
	u64 counts[COUNTS_N], end = piles_end(&a->front->piles);
	struct kernel_call l;

	TRY(transfer_count_begin(&a->run->transfer));
	launch_begin(&l, &a->program->program, "split", a->args);
	launch_vec(&l, a->front->next_bits);
	launch_buffer(&l, transfer_counts(&a->run->transfer));
	launch_u32(&l, &s->from);
	launch_u64(&l, &s->settled);
	launch_u64(&l, &end);
	launch_piles(&l, a);
	TRY(launch_items(a->run->device, &l, a->words, ITEM_WORDS));
	TRY(frontier_turn_counted(a->front, counts));
	s->rest = ~counts[COUNT_REST];
	return MILL_OK;
}

/*
 * Loops, because a bucket may hold only vertices that were settled meanwhile, and because
 * the new buckets may hold none of the far vertices: then the buckets begin at the smallest
 * far key.
 */
mill_err op_split(struct mill_run *r, const struct advance_program *p, const void *args,
		  struct frontier *f)
{
	struct advance_ctx a = {
		.run = r, .program = p, .args = args, .front = f, .emit = r->emit
	};
	struct split_ctx s = { .advance = &a, .rest = UINT64_MAX };
	struct piles *b = &f->piles;

	if (f->unit)		/* a frontier of units has no buckets */
		return MILL_OK;
	TRY(program_fetch(&p->program, args));
	do {
		TRY(piles_open(b, s.rest, &s.from, &s.settled));
		TRY(r->device->native ? split_native(&s) : split_device(&s));
	} while (!f->n && (s.from != piles_far(b) || b->filled || s.rest != UINT64_MAX));
	return MILL_OK;
}
