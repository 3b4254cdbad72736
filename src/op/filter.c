/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of vertices and edges (filter.inc, filter.cl), and the steps from one kind of
 * frontier to the other: op_expand and op_ends. Frontiers are sets: duplicates are dropped
 * where they arise, because a bitmap takes a vertex or an edge once.
 */
#include <assert.h>

#include "engine/edge_state.h"
#include "op/op.h"

#define BUFFER 256

struct filter_ctx {
	struct mill_run *run;
	const struct filter_program *program;
	const void *args;
	struct edge_frontier *edges;
	struct frontier *front;
	const u64 *bits;	/* the bitmap of front, on the host */
};

static void tallies_begin(struct filter_ctx *f)
{
	for (unsigned i = 0; i < pool_size(f->run->pool); i++)
		f->run->emit[i].tally = (struct tally){ 0 };
}

static struct tally tallies_end(struct filter_ctx *f)
{
	struct tally sum = { 0 };

	for (unsigned i = 0; i < pool_size(f->run->pool); i++) {
		sum.edges += f->run->emit[i].tally.edges;
		sum.emitted += f->run->emit[i].tally.emitted;
	}
	return sum;
}

/* ---- Filters of edges ---- */

static mill_err filter_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			    unsigned worker)
{
	struct filter_ctx *f = arg;
	struct page_args page_args;

	TRY(page_args_take(&page_args, f->run, &f->program->program, f->args, page, worker));
	f->program->rows(page_args.args, seg, begin, end, f->edges->bits->buffer.host,
			 &f->run->emit[worker].tally);
	return page_args_give(&page_args);
}

static bool any_edge(void *arg, u64 begin, u64 end)
{
	struct filter_ctx *f = arg;

	return bitmap_any(f->edges->bits->buffer.host, begin, end);
}

static mill_err filter_list(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct filter_ctx *f = arg;
	struct edge_frontier *ef = f->edges;
	const struct topology *t = run_direction(f->run, f->edges->in);
	struct active_edge kept[BUFFER];
	u32 n = 0;

	for (u64 k = begin; k < end; k++) {
		const struct active_edge *e = &ef->list[k];
		const struct segment *seg;
		u32 i;

		seg = edge_segment(t, e, &i);
		if (f->program->one(f->args, seg, e->source, i))
			kept[n++] = *e;
		if (n && (n == BUFFER || k + 1 == end)) {
			u64 at = __atomic_fetch_add(&ef->next_n, n, __ATOMIC_RELAXED);

			memcpy(ef->next_list + at, kept, n * sizeof(*kept));
			n = 0;
		}
	}
	f->run->emit[worker].tally.edges += end - begin;
	return MILL_OK;
}

static mill_err filter_native(struct filter_ctx *f, struct mill_step *step)
{
	struct pass pass = { .in = f->edges->in,
			     .active_edges = any_edge,
			     .work = filter_rows,
			     .arg = f,
			     .numbers = f->program->program.numbers };
	struct edge_frontier *ef = f->edges;
	struct active_edge *list;
	struct tally t;

	edge_frontier_list(ef);
	list = ef->list;
	tallies_begin(f);
	if (ef->dense) {
		TRY(run_pass(f->run, &pass, step));
		t = tallies_end(f);
		ef->n = t.emitted;
	} else {
		ef->next_n = 0;
		TRY(pool_for(f->run->pool, ef->n, 1024, filter_list, f));
		TRY(ticker_tick(&f->run->ticker, 0));
		t = tallies_end(f);
		ef->list = ef->next_list;
		ef->next_list = list;
		ef->n = ef->next_n;
	}
	step->edges = t.edges;
	return MILL_OK;
}

static mill_err filter_segment(void *arg, const struct device_segment *seg)
{
	struct filter_ctx *f = arg;
	struct kernel_call l;

	launch_begin(&l, &f->program->program, "rows", f->args);
	launch_segment(&l, seg);
	launch_vec(&l, f->edges->bits);
	launch_buffer(&l, transfer_counts(&f->run->transfer));
	launch_u64(&l, &seg->first_edge);
	return launch_items(f->run->device, &l, seg->n_rows, ITEM_ROWS);
}

/*
 * If all pages are one segment on the device (`whole`), one launch covers all rows, so all
 * pages must be there: they are sent once and stay. Else only pages with an active edge are
 * sent.
 */
static mill_err filter_device(struct filter_ctx *f, struct mill_step *step)
{
	struct device_pass pass = {
		.activity = { .in = f->edges->in,
			      .n = f->run->transfer.whole ? NULL : f->edges->page_n },
		.launch = filter_segment,
		.arg = f,
	};
	u64 counts[COUNTS_N];

	TRY(transfer_count_begin(&f->run->transfer));
	TRY(transfer_pass(&f->run->transfer, &pass, step));
	TRY(edge_frontier_counted(f->edges, counts));
	step->edges = counts[COUNT_EDGES];
	return MILL_OK;
}

void declare_filter(struct declaration *d, const struct filter_program *p)
{
	declare_program(d, &p->program, NULL, 0);
}

mill_err op_filter_edges(struct mill_run *r, const struct filter_program *p, const void *args,
			 struct edge_frontier *ef)
{
	struct filter_ctx f = { .run = r, .program = p, .args = args, .edges = ef };
	struct mill_step step = { .frontier = ef->n, .direction = "filter" };
	f64 began = clock_now();

	if (!ef->n)
		return MILL_OK;
	TRY(program_fetch(&p->program, args));
	run_announce(r, "step %llu", r->ledger.total.step + 1);
	TRY(r->device->native ? filter_native(&f, &step) : filter_device(&f, &step));
	step.updates = step.frontier - ef->n;
	ledger_add(&r->ledger, &step, began);
	return MILL_OK;
}

/* ---- Filters of vertices ---- */

static mill_err filter_words(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct filter_ctx *f = arg;

	f->program->words(f->args, begin, end, f->front->bits->buffer.host,
			  &f->run->emit[worker].tally);
	return MILL_OK;
}

static mill_err filter_vertices_device(struct filter_ctx *f)
{
	struct frontier *front = f->front;
	u32 n_words = (u32)(front->bits->n * 2);	/* of 32 bits */
	u64 counts[COUNTS_N];
	struct kernel_call l;

	TRY(transfer_count_begin(&f->run->transfer));
	launch_begin(&l, &f->program->program, "words", f->args);
	launch_vec(&l, front->bits);
	launch_buffer(&l, transfer_counts(&f->run->transfer));
	launch_u32(&l, &n_words);
	TRY(launch_items(f->run->device, &l, n_words, ITEM_WORDS));
	TRY(transfer_count_end(&f->run->transfer, counts, NULL));
	front->n = counts[COUNT_EMITTED];
	return MILL_OK;
}

mill_err op_filter(struct mill_run *r, const struct filter_program *p, const void *args,
		   struct frontier *front)
{
	struct filter_ctx f = { .run = r, .program = p, .args = args, .front = front };

	if (!front->n)
		return MILL_OK;
	TRY(program_fetch(&p->program, args));
	if (!r->device->native) {
		TRY(filter_vertices_device(&f));
		return frontier_measure(front);
	}
	TRY(frontier_dense(front));
	tallies_begin(&f);
	TRY(pool_for(r->pool, front->bits->n, 1024, filter_words, &f));
	front->n = tallies_end(&f).emitted;
	return frontier_measure(front);
}

/* ---- Steps from vertices to edges, and back ---- */

static mill_err expand_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			    unsigned worker)
{
	struct filter_ctx *f = arg;
	struct page_args page_args;

	TRY(page_args_take(&page_args, f->run, &f->program->program, f->args, page, worker));
	f->program->expand(page_args.args, seg, begin, end, f->bits, f->edges->bits->buffer.host,
			   &f->run->emit[worker].tally);
	return page_args_give(&page_args);
}

static bool any_vertex(void *arg, u64 begin, u64 end)
{
	struct filter_ctx *f = arg;

	return bitmap_any(f->bits, begin, end);
}

static mill_err expand_native(struct filter_ctx *f, struct mill_step *step)
{
	struct pass pass = { .in = f->edges->in,
			     .active = any_vertex,
			     .work = expand_rows,
			     .arg = f,
			     .numbers = f->program->program.numbers };
	struct tally t;

	TRY(frontier_bits(f->front, &f->bits));
	tallies_begin(f);
	TRY(run_pass(f->run, &pass, step));
	t = tallies_end(f);
	f->edges->n = t.emitted;
	step->edges = t.edges;
	return MILL_OK;
}

static mill_err expand_segment(void *arg, const struct device_segment *seg)
{
	struct filter_ctx *f = arg;
	struct kernel_call l;

	launch_begin(&l, &f->program->program, "expand", f->args);
	launch_segment(&l, seg);
	launch_vec(&l, f->front->bits);
	launch_vec(&l, f->edges->bits);
	launch_buffer(&l, transfer_counts(&f->run->transfer));
	launch_u64(&l, &seg->first_edge);
	return launch_items(f->run->device, &l, seg->n_rows, ITEM_ROWS);
}

static mill_err expand_device(struct filter_ctx *f, struct mill_step *step)
{
	struct device_pass pass = { .activity = { .in = f->edges->in, .n = f->front->page_n },
				    .launch = expand_segment,
				    .arg = f };
	u64 counts[COUNTS_N];

	if (!f->front->n)
		return MILL_OK;
	TRY(transfer_count_begin(&f->run->transfer));
	TRY(transfer_pass(&f->run->transfer, &pass, step));
	TRY(edge_frontier_counted(f->edges, counts));
	step->edges = counts[COUNT_EDGES];
	return MILL_OK;
}

mill_err op_expand(struct mill_run *r, const struct filter_program *p, const void *args,
		   struct frontier *front, struct edge_frontier *ef)
{
	struct filter_ctx f = { .run = r, .program = p, .args = args, .front = front, .edges = ef };
	struct mill_step step = { .frontier = front->n, .direction = "expand" };
	f64 began = clock_now();

	assert(run_direction(r, front->in) == run_direction(r, ef->in));
	TRY(program_fetch(&p->program, args));
	TRY(edge_frontier_clear(ef));
	run_announce(r, "step %llu", r->ledger.total.step + 1);
	TRY(r->device->native ? expand_native(&f, &step) : expand_device(&f, &step));
	step.updates = ef->n;
	ledger_add(&r->ledger, &step, began);
	return MILL_OK;
}

static mill_err end_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			 unsigned worker)
{
	struct filter_ctx *f = arg;
	const u64 *bits = f->edges->bits->buffer.host;
	u64 *next = f->front->bits->buffer.host, emitted = 0;
	u64 first = seg->first_edge + seg->row[begin], last = seg->first_edge + seg->row[end];

	(void)page;
	for (u64 w = first / 64; first < last && w <= (last - 1) / 64; w++)
		for (u64 word = bitmap_window(bits, w, first, last); word; word &= word - 1) {
			u64 e = w * 64 + (u64)__builtin_ctzll(word);

			emitted += bitmap_claim(next, seg->neighbour[e - seg->first_edge]);
		}
	f->run->emit[worker].tally.emitted += emitted;
	return MILL_OK;
}

static void end_list(struct filter_ctx *f)
{
	const struct topology *t = run_direction(f->run, f->edges->in);
	u64 *next = f->front->bits->buffer.host;

	for (u64 k = 0; k < f->edges->n; k++) {
		const struct segment *seg;
		u32 i;

		seg = edge_segment(t, &f->edges->list[k], &i);
		f->run->emit[0].tally.emitted += bitmap_claim(next, seg->neighbour[i]);
	}
}

static mill_err ends_native(struct filter_ctx *f, struct mill_step *step)
{
	struct pass pass = {
		.in = f->edges->in, .active_edges = any_edge, .work = end_rows, .arg = f
	};

	TRY(frontier_clear(f->front));
	tallies_begin(f);
	if (f->edges->dense)
		TRY(run_pass(f->run, &pass, step));
	else
		end_list(f);
	f->front->n = tallies_end(f).emitted;
	return frontier_measure(f->front);
}

static mill_err end_segment(void *arg, const struct device_segment *seg)
{
	struct filter_ctx *f = arg;

	return transfer_ends(seg, f->edges->bits, f->front->next_bits);
}

static mill_err ends_device(struct filter_ctx *f, struct mill_step *step)
{
	struct device_pass pass = { .activity = { .in = f->edges->in, .n = f->edges->page_n },
				    .launch = end_segment,
				    .arg = f };
	u64 counts[COUNTS_N];

	TRY(transfer_count_begin(&f->run->transfer));
	TRY(transfer_pass(&f->run->transfer, &pass, step));
	return frontier_turn_counted(f->front, counts);
}

mill_err op_ends(struct mill_run *r, struct edge_frontier *ef, struct frontier *front)
{
	struct filter_ctx f = { .run = r, .front = front, .edges = ef };
	struct mill_step step = { .frontier = ef->n, .direction = "ends", .edges = ef->n };
	f64 began = clock_now();

	TRY(r->device->native ? ends_native(&f, &step) : ends_device(&f, &step));
	step.updates = front->n;
	ledger_add(&r->ledger, &step, began);
	return MILL_OK;
}
