/* SPDX-License-Identifier: Apache-2.0 */
/* What the cost model says of a run. */
#include "engine/cache.h"
#include "engine/model.h"
#include "engine/run.h"

static u64 direction_pages(const struct store *st, const struct need *n, bool out)
{
	if (n->view)
		return out || st->directed ? (out ? st->out.n_pages : st->in.n_pages) : 0;
	if (out)
		return n->out || (n->in && !st->directed) ? st->out.n_pages : 0;
	return n->in && st->directed ? st->in.n_pages : 0;
}

/* Weights are copied too; bins and views are made of what was read, in several passes. */
static u64 loaded_edges(const struct store *st, const struct need *n, bool bins)
{
	u64 directions = (direction_pages(st, n, true) > 0) + (u64)(direction_pages(st, n, false) > 0);
	u64 edges = st->stored_edges * max_u64(directions, 1);

	if (n->weights)
		edges += edges * weight_size(st->weight) / sizeof(vid);
	return bins || n->view ? 3 * edges : edges;
}

static u64 device_slots(const struct mill_run *r, const struct need *n, u64 pages)
{
	u64 left = budget_left(r->device->memory);

	if (r->device->native || n->on_host)
		return 0;
	left = left > n->state ? (left - n->state) / cache_slot_size(r->store) : 0;
	return max_u64(min_u64(left, pages), 1);
}

const struct machine *run_machine(struct mill_run *r)
{
	struct machine_key key;

	if (!r->machine_known) {
		machine_key_init(&key, r->store, r->device_name, pool_size(r->pool));
		machine_find(&r->machine, &key, r->store);
		r->machine_known = true;
	}
	return &r->machine;
}

/* Weights that are not wanted stay on disk when a packed page comes again. */
static f64 share_again(const struct store *st, const struct need *n, u64 pages)
{
	f64 weights = (f64)st->stored_edges * (f64)weight_size(st->weight) / (f64)max_u64(pages, 1);

	if (n->weights || n->view || st->codec == PAGE_RAW || weights >= st->page_size)
		return 1;
	return 1 - weights / st->page_size;
}

void run_predict(struct mill_run *r, const char *algorithm, const struct need *n, struct mill_plan *plan)
{
	const struct store *st = r->store;
	u64 all = direction_pages(st, n, true) + direction_pages(st, n, false), most;
	struct setting s = {
		.store = st,
		.machine = run_machine(r),
		.algorithm = algorithm,
		.rounds = n->rounds,
		.tolerance = n->tolerance,
		.damping = n->damping,
		.searches = n->searches,
		.pulls = n->in,
		.resident = plan->fits,
		.bins = plan->fits && run_may_have_bins(r, n) && !(r->machine.local > 0),
		.async = r->options.async,
		.threads = pool_size(r->pool),
		.pages = plan->pass_bytes / st->page_size,
		.slots = device_slots(r, n, all),
		.state = n->state,
		.raw_page = cache_slot_size(st),
	};

	s.again = share_again(st, n, s.pages);
	most = s.slots && s.slots >= all ? 2 * LOAD_FRAMES : run_most_frames(r, st);
	s.frames = stream_fit(st, run_frame_bytes(r, n), most, s.threads);
	if (plan->fits || n->view) {
		s.load_pages = s.bins ? 2 * (u64)st->out.n_pages : all;
		s.load_edges = loaded_edges(st, n, s.bins);
	}
	model_predict(&s, &plan->predicted);
	plan->predicted.memory = plan->fits ? plan->resident :
				 r->budget.limit - run_frame_bytes(r, n) + stream_scratch(st, s.threads) +
					 (u64)s.frames * st->page_size;
	r->predicted = plan->predicted;
}
