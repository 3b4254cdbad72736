/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts the cost of a run. It describes the run to the cost model (model/model.h, one
 * row an algorithm): pages, frames, slots, threads, and the constants of the machine. Pages
 * are counted exactly where passes are full. Terms of the prediction are seconds that add
 * up, so the times that a run took can be compared with them: the device's own clock for
 * transfers, the host's for launches and waiting. `plan` measures the constants
 * (algo/measure.c); a run only looks them up in the cache (model/machine.c), or takes
 * defaults.
 */
#include "engine/devices.h"
#include "model/model.h"
#include "engine/run.h"

/* Returns the pages of the out- or in-direction that the need reads. */
static u64 direction_pages(const struct store *st, const struct need *n, bool out)
{
	if (n->view)
		return out || st->directed ? (out ? st->out.n_pages : st->in.n_pages) : 0;
	if (out)
		return n->out || (n->in && !st->directed) ? st->out.n_pages : 0;
	return n->in && st->directed ? st->in.n_pages : 0;
}

/*
 * Returns the edges that loading copies. Weights count as edges by their bytes. Bins and
 * views take several passes over the edges.
 */
static u64 loaded_edges(const struct store *st, const struct need *n, bool bins)
{
	u64 directions =
		(direction_pages(st, n, true) > 0) + (u64)(direction_pages(st, n, false) > 0);
	u64 edges = st->stored_edges * max_u64(directions, 1);

	if (n->weights)
		edges += edges * weight_size(st->weight) / sizeof(vid);
	return bins || n->view ? 3 * edges : edges;
}

static bool on_device(const struct mill_run *r, const struct need *n)
{
	return !run_is_native(r) && !n->on_host;
}

/*
 * Returns the device bytes beside the state. Pages of an earlier run do not count: they are
 * evicted.
 */
static u64 device_room(const struct mill_run *r, const struct need *n)
{
	u64 limit = devices_budget(r);

	return limit > n->state ? limit - n->state : 0;
}

static u64 device_slots(const struct mill_run *r, const struct need *n, u64 pages)
{
	if (!on_device(r, n))
		return 0;
	return max_u64(min_u64(device_room(r, n) / r->store->page_size, pages), 1);
}

/*
 * Estimates whether all lists fit the device. The run decides in transfer/station.c, where
 * scratch counts too.
 */
static bool device_holds(const struct mill_run *r, const struct need *n)
{
	const struct store *st = r->store;
	u64 directions =
		(direction_pages(st, n, true) > 0) + (u64)(direction_pages(st, n, false) > 0);
	u64 lists = 4 * (st->n_linked + st->stored_edges) +
		    (n->weights ? st->stored_edges * weight_size(st->weight) : 0);
	u64 select = n->advances ? 8 * st->n_linked : 0;

	return on_device(r, n) && !n->own &&
	       directions * lists + select + 4 * (u64)st->page_size <= device_room(r, n);
}

/*
 * Estimates the bytes of a page that cross to the device. A packed page is full. Weights
 * cross only if they are wanted. again: see share_again.
 */
static u64 wire_bytes(const struct mill_run *r, const struct need *n, u64 pages, f64 again)
{
	const struct store *st = r->store;
	u64 weights = n->weights ? weight_size(st->weight) : 0;

	if (n->own && r->policy->home == HOME_DEVICE)
		return st->stored_edges * (2 * sizeof(vid) + weights) / max_u64(pages, 1);
	if (st->codec == PAGE_RAW)
		return (st->stored_edges * (sizeof(vid) + weights) + st->sources * sizeof(u32)) /
		       max_u64(pages, 1);
	return (u64)(again * st->page_size);
}

const struct machine *run_machine(struct mill_run *r)
{
	struct machine_key key;

	if (!r->machine_known) {
		machine_key_init(&key, r->store, run_first_device(r)->name, pool_size(r->pool));
		machine_find(&r->machine, &key, r->store);
		r->machine_known = true;
	}
	return &r->machine;
}

/*
 * Returns the share of a packed page that is read when it is read again: without the
 * weights, if they are not wanted.
 */
static f64 share_again(const struct store *st, const struct need *n, u64 pages)
{
	f64 weights = (f64)st->stored_edges * (f64)weight_size(st->weight) / (f64)max_u64(pages, 1);

	if (n->weights || n->view || st->codec == PAGE_RAW || weights >= st->page_size)
		return 1;
	return 1 - weights / st->page_size;
}

/*
 * Describes GTS, which streams pages past the state. With strategy P each device has slots
 * for its own pages, with S for all pages. The values that sources give cross beside the
 * pages for reductions. For other programs they do only if the array that edges write is
 * not whole on the device.
 */
static void set_streaming(struct setting *s, struct mill_plan *plan, const struct mill_run *r,
			  const struct need *n)
{
	struct room room;
	u64 n_devices;

	s->gts = true;
	s->pulls = false;
	s->devices = r->n_opened;
	transfer_room(&room, &r->transfer, n);
	s->strategy = room.divided ? GTS_S : GTS_P;
	s->chunks = room.chunks;
	n_devices = s->strategy == GTS_P ? r->n_opened : 1;	/* devices that share the pages */
	s->slots = max_u64(room.slots * n_devices, 1);
	s->unpacked = min_u64(room.slots, room.areas) * n_devices >= s->pages;
	s->state = r->store->n_linked * n->writable;
	if (devices_budget(r) >= plan->device_needed) {
		plan->strategy = room.divided ? MILL_STRATEGY_S : MILL_STRATEGY_P;
		plan->why = room.why;
		plan->chunks = room.chunks;
	}
	s->read_only = s->strategy == GTS_S || s->chunks > 1 || n->spread
			       ? r->store->sources * n->given
			       : 0;
}

void run_predict(struct mill_run *r, const struct need *n, struct mill_plan *plan)
{
	const struct store *st = r->store;
	u64 all = direction_pages(st, n, true) + direction_pages(st, n, false), most;
	struct setting s = {
		.store = st,
		.machine = run_machine(r),
		.cost = n->cost,
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
		.whole = device_holds(r, n),
		.state = n->state,
		.shared = run_first_device(r)->chunked,
	};

	plan->policy_owns = n->own;
	if (n->own && r->policy->home == HOME_HOST && s.slots)
		set_streaming(&s, plan, r, n);
	s.again = share_again(st, n, s.pages);
	s.large = s.slots ? min_u64(pages_large(n->in && !n->out && st->directed ? &st->in
										 : &st->out),
				    s.pages)
			  : 0;
	s.page_bytes = wire_bytes(r, n, s.pages, s.again);
	most = s.slots && s.slots >= all ? 2 * LOAD_FRAMES : run_buffer_frames(r, st);
	s.frames = stream_fit(st, run_frame_bytes(r, n), most, s.threads);
	if (plan->fits || n->view) {
		s.load_pages = s.bins ? 2 * (u64)st->out.n_pages : all;
		s.load_edges = loaded_edges(st, n, s.bins);
	}
	model_predict(&s, &plan->predicted);
	plan->predicted.memory = plan->fits ? plan->resident
					    : r->budget.limit - run_frame_bytes(r, n) +
						      stream_scratch(st, s.threads) +
						      (u64)s.frames * st->page_size;
	r->predicted = plan->predicted;
}
