/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scan: runs the templates of scan.inc or the kernels of scan.cl over the rows that a
 * program wants.
 */
#include <assert.h>

#include "engine/edge_state.h"
#include "op/op.h"

struct scan_ctx {
	struct mill_run *run;
	const struct scan_program *program;
	const void *args;
	const struct scan *how;
	struct scan_window window;
};

static mill_err scan_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			  unsigned worker)
{
	struct scan_ctx *s = arg;
	struct page_args page_args;

	TRY(page_args_take(&page_args, s->run, &s->program->program, s->args, page, worker));
	s->program->rows(page_args.args, seg, begin, end, &s->window, &s->run->emit[worker].tally);
	return page_args_give(&page_args);
}

static bool is_wanted(void *arg, u64 begin, u64 end)
{
	struct scan_ctx *s = arg;

	return s->program->wanted(s->args, begin, end);
}

static mill_err scan_segment(void *arg, const struct device_segment *seg)
{
	struct scan_ctx *s = arg;
	struct kernel_call l;

	launch_begin(&l, &s->program->program, "scan", s->args);
	launch_segment(&l, seg);
	launch_buffer(&l, transfer_counts(&s->run->transfer));
	launch_u64(&l, &seg->skip);
	launch_u64(&l, &s->window.from);
	launch_u64(&l, &s->window.to);
	return launch_items(s->run->device, &l, seg->n_rows, ITEM_ROWS);
}

static mill_err scan_native(struct scan_ctx *s, struct mill_step *step)
{
	struct pass pass = { .in = s->how->in,
			     .active = s->how->some ? is_wanted : NULL,
			     .work = scan_rows,
			     .arg = s,
			     .numbers = s->program->program.numbers };

	for (unsigned i = 0; i < pool_size(s->run->pool); i++)
		s->run->emit[i].tally = (struct tally){ 0 };
	TRY(run_pass(s->run, &pass, step));
	for (unsigned i = 0; i < pool_size(s->run->pool); i++) {
		step->edges += s->run->emit[i].tally.edges;
		step->updates += s->run->emit[i].tally.updates;
	}
	return MILL_OK;
}

/*
 * With `some`, the device first says which pages have wanted rows. If all pages stay on the
 * device, nothing moves, so the device is not asked.
 */
static mill_err scan_device(struct scan_ctx *s, struct mill_step *step)
{
	struct device_pass pass = { .activity.in = s->how->in, .launch = scan_segment, .arg = s };
	struct mill_run *r = s->run;
	u64 counts[COUNTS_N];
	struct vec *pages = NULL;

	if (s->how->some && !op_rescan_is_free(r)) {
		TRY(run_vec_host(r, &pages, "wanted pages",
				 max_u64(r->graph->out.n_pages, r->graph->in.n_pages) + 2,
				 sizeof(u32)));
		TRY(transfer_wanted(&r->transfer, &s->program->program, s->args, s->how->in,
				    pages->buffer.host));
		pass.activity.n = pages->buffer.host;
	}
	TRY(transfer_count_begin(&r->transfer));
	TRY(transfer_pass(&r->transfer, &pass, step));
	TRY(transfer_count_end(&r->transfer, counts, NULL));
	if (pages)
		run_vec_free(r, pages);
	step->edges = counts[COUNT_EDGES];
	step->updates = counts[COUNT_UPDATES];
	return MILL_OK;
}

void declare_scan(struct declaration *d, const struct scan_program *p)
{
	declare_program(d, &p->program, NULL, 0);
}

mill_err op_scan(struct mill_run *r, const struct scan_program *p, const void *args,
		 const struct scan *how, u64 *updates)
{
	struct scan_ctx s = {
		.run = r,
		.program = p,
		.args = args,
		.how = how,
		.window = { how->from, how->count ? how->from + how->count : UINT64_MAX },
	};
	struct mill_step step = { .frontier = run_direction(r, how->in)->n_rows,
				  .direction = "scan" };
	f64 began = clock_now();

	/* Edges are owned in out-lists only. */
	assert(p->program.numbers != NUMBERS_OWNED ||
	       run_direction(r, how->in) == run_direction(r, false));
	TRY(program_fetch(&p->program, args));
	run_announce(r, "pass %llu", r->ledger.total.step + 1);
	TRY(r->device->native ? scan_native(&s, &step) : scan_device(&s, &step));
	ledger_add(&r->ledger, &step, began);
	if (updates)
		*updates = step.updates;
	return MILL_OK;
}

bool op_rescan_is_free(const struct mill_run *r)
{
	const struct store *st = r->graph;
	u64 pages = (u64)st->out.n_pages + (r->need.in && st->directed ? st->in.n_pages : 0);

	if (r->device->native)
		return !r->stream;
	return transfer_stays(&r->transfer) >= pages && !r->options.no_reuse;
}
