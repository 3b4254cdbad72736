/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: making and freeing them, the bytes that a need takes, loading the graph in the form
 * that fits, the clock, and vectors.
 */
#include "engine/run.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/number.h"
#include "engine/devices.h"
#include "engine/number.h"
#include "engine/result.h"

/* Bytes of a budget for the process itself, and for the buffers of the output. */
#define PROCESS_BYTES (8 * MIB)
#define BUFFER_BYTES (8 * MIB)
/* The least number of frames of a stream. */
#define STREAM_FRAMES 4u

struct topology *run_direction(struct mill_run *r, bool in)
{
	if (r->need.view)
		return &r->view;
	return in && r->store->directed ? &r->in : &r->out;
}

static mill_err check_options(const struct mill_options *o)
{
	if (!policy_find(o->policy))
		return fail(MILL_EUSAGE, "unknown policy '%s': see mill_policies()", o->policy);
	if (o->io && strcmp(o->io, "uring") && strcmp(o->io, "pread"))
		return fail(MILL_EUSAGE, "unknown way of I/O '%s': use uring or pread", o->io);
	if (o->async && o->device && strcmp(o->device, "cpu"))
		return fail(MILL_EUSAGE,
			    "asynchronous runs are on the cpu: leave --async or --device out");
	if (o->device && strlen(o->device) >= sizeof(((struct mill_run *)0)->device_name))
		return fail(MILL_EUSAGE, "the list of devices is too long: name at most %d",
			    MILL_DEVICES_MOST);
	return MILL_OK;
}

static mill_err lend_stream(void *run, struct stream **out)
{
	struct mill_run *r = run;

	return run_open_stream(r, out, r->graph, r->frame_bytes, LOAD_FRAMES);
}

/* Fills in the fields that the transfer borrows from the run. */
static void init_transfer(struct mill_run *r)
{
	r->transfer = (struct transfer){
		.policy = r->policy,
		.options = &r->options,
		.store = r->store,
		.graph = r->store,
		.n_devices = r->n_opened,
		.chunks = 1,
		.numbering = &r->numbers,
		.budget = &r->budget,
		.pool = r->pool,
		.ticker = &r->ticker,
		.lend_stream = lend_stream,
		.run = r,
	};
	memcpy(r->transfer.device, r->opened, sizeof(r->transfer.device));
}

MILL_API mill_err mill_run_new(mill_run **out, mill_store *store,
			       const struct mill_options *options)
{
	static const struct mill_options defaults;
	const struct mill_options *o = options ? options : &defaults;
	struct device_names names = { .n = 0 };
	struct mill_run *r;
	mill_err err, unnamed;

	TRY(check_options(o));
	unnamed = devices_name(&names, o);
	if (unnamed && !(unnamed == MILL_EDEVICE && o->fallback))
		return unnamed;
	TRY(memory_new(&r, NULL, 1, sizeof(*r), "the run"));
	r->store = store->st;
	r->store_budget = &store->budget;
	r->options = *o;
	snprintf(r->device_name, sizeof(r->device_name), "%s", o->device ? o->device : "cpu");
	r->options.device = r->device_name;
	budget_init(&r->budget, o->memory ? o->memory : memory_available() / 5 * 4);
	r->options.policy = policy_find(o->policy)->public.name;
	/* The caller's array is not kept; below, the trace's name is not kept either. */
	r->options.device_memories = NULL;
	r->policy = devices_policy(o, &names);
	policy_settle(&r->options);
	r->way = o->io && !strcmp(o->io, "pread") ? READER_PREAD : READER_URING;
	r->graph = r->store;
	topology_init(&r->out, &r->store->out);
	topology_init(&r->in, &r->store->in);
	ticker_init(&r->ticker, &o->watcher);
	r->options.trace = NULL;
	err = o->trace ? trace_open(&r->trace, o->trace, &r->budget) : MILL_OK;
	if (!err)
		err = pool_new(&r->pool, o->threads);
	if (!err)
		r->ledger.threads = pool_size(r->pool);
	if (!err)
		err = cpu_open(&r->host, &r->budget);
	if (!err)
		err = unnamed ? unnamed : devices_open(r, o, &names);
	if (err == MILL_EDEVICE && o->fallback)
		err = mill_run_fall_back(r);
	if (!err)
		err = memory_new(&r->emit, &r->budget, pool_size(r->pool), sizeof(*r->emit),
				 "the workers");
	if (!err)
		init_transfer(r);
	if (err) {
		mill_run_free(r);
		return err;
	}
	*out = r;
	return MILL_OK;
}

static void unload(struct mill_run *r)
{
	transfer_close(&r->transfer);
	r->transfer.stream = NULL;
	numbers_release(&r->numbers);
	bins_free(r->bins);
	r->bins = NULL;
	topology_release(&r->view);
	topology_release(&r->in);
	topology_release(&r->out);
	stream_close(r->stream);
	r->stream = NULL;
	store_close(r->view_store);
	r->view_store = NULL;
	r->graph = r->store;
	topology_init(&r->view, NULL);
	r->need = (struct need){ 0 };
	r->loaded = false;
}

static void clear_result(struct mill_run *r)
{
	while (r->n_vecs)
		run_vec_free(r, r->vec[r->n_vecs - 1]);
	memory_free(r->self);
	r->self = NULL;
	r->row = NULL;
	r->result = (struct run_result){ 0 };
}

MILL_API void mill_run_free(mill_run *r)
{
	if (!r)
		return;
	clear_result(r);
	unload(r);
	memory_free(r->search.source);
	memory_free(r->emit);
	devices_close(r);
	device_close(r->host);
	pool_free(r->pool);
	trace_close(r->trace);
	memory_free(r);
}

MILL_API mill_err mill_run_fall_back(mill_run *r)
{
	if (!strcmp(r->device_name, "cpu"))
		return fail(MILL_EUSAGE, "the run is on the cpu already");
	snprintf(r->device_failed, sizeof(r->device_failed), "%s", mill_error());
	clear_result(r);
	unload(r);
	devices_close(r);
	snprintf(r->device_name, sizeof(r->device_name), "cpu");
	r->policy = policy_find(r->options.policy);
	init_transfer(r);
	r->machine_known = false;	/* those constants were the device's */
	r->ledger.n_runs = 0;
	return MILL_OK;
}

/* ---- Room ---- */

/*
 * Returns the host bytes of a run without its topology and without state by edge that may
 * be streamed.
 */
static u64 fixed_bytes(const struct mill_run *r, const struct need *n)
{
	/* The state of a device counts too: the host has a copy when the result is read. */
	return n->state + n->host + r->store_budget->used +
	       sizeof(struct emit) * pool_size(r->pool);
}

/*
 * Returns the bytes for decoding pages. A temporary graph has pages of the same size and
 * codec, but they may take more to decode than the store's.
 */
static u64 scratch_bytes(const struct mill_run *r, const struct need *n)
{
	return n->view ? view_scratch(r->store, pool_size(r->pool))
		       : stream_scratch(r->store, pool_size(r->pool));
}

/*
 * Returns the least host bytes for streaming the graph. beyond: host bytes for sending it
 * to devices.
 */
static u64 streaming_bytes(const struct mill_run *r, const struct need *n, u64 beyond)
{
	u64 streamed = STREAM_FRAMES * (u64)r->store->page_size + scratch_bytes(r, n);

	if (n->view)
		streamed = max_u64(streamed, view_making_bytes(r->store)) +
			   view_kept_bytes(r->store, n->view);
	return max_u64(RUN_ROOM, streamed + beyond + PROCESS_BYTES + BUFFER_BYTES);
}

/*
 * Returns the host bytes of state by edge that is streamed: each worker has the elements of
 * a page.
 */
static u64 page_state_bytes(const struct mill_run *r, const struct need *n)
{
	return n->by_edge
		       ? pool_size(r->pool) * page_shape(r->store, n->view).edges * n->by_edge_size
		       : 0;
}

/*
 * Returns true if state by edge is streamed: there is no room for it beside the least bytes
 * for streaming the graph, and streaming it saves memory.
 */
static bool spills(const struct mill_run *r, const struct need *n)
{
	return n->by_edge > page_state_bytes(r, n) &&
	       fixed_bytes(r, n) + n->by_edge + streaming_bytes(r, n, 0) > r->budget.limit;
}

static u64 host_bytes(const struct mill_run *r, const struct need *n)
{
	return fixed_bytes(r, n) + (spills(r, n) ? page_state_bytes(r, n) : n->by_edge);
}

u64 run_flags_bytes(const struct store *st) { return 8 * pages_most(st, false) + 256; }

bool run_may_have_bins(const struct mill_run *r, const struct need *n)
{
	return n->spread && !n->numbers && r->hook.only_bins != BINS_NEVER &&
	       r->store->out.n_pages &&
	       (r->hook.only_bins == BINS_ALWAYS || r->store->sources * n->spread >= BINS_FROM);
}

/* Returns true if no page of the graph goes to a device. */
static bool graph_stays(const struct mill_run *r, const struct need *n)
{
	return !n->own && (run_is_native(r) || n->on_host || n->own_lists);
}

/* Returns the host bytes of a resident topology, and of the frames through which it is read. */
static u64 resident_bytes(const struct mill_run *r, const struct need *n, u64 pages)
{
	const struct store *st = r->store;
	u64 bytes = n->resident;

	if (n->view)
		return n->resident + view_bytes(st, n->view) + view_making_bytes(st);
	if (n->out || (n->in && !st->directed))
		bytes += topology_bytes(&st->out, n->weights);
	if (n->in && st->directed)
		bytes += topology_bytes(&st->in, n->weights);
	return bytes + stream_scratch(st, pool_size(r->pool)) +
	       min_u64(pages, LOAD_FRAMES) * st->page_size;
}

static u64 device_least(const struct mill_run *r, const struct need *n, const struct room *room)
{
	if (n->on_host)
		return 0;
	if (run_is_native(r) || n->own_lists)
		return n->state + n->own_lists;
	return room->device + (n->own && r->policy->home != HOME_DEVICE ? 0 : n->state);
}

void run_plan(const struct mill_run *r, const struct need *n, struct mill_plan *out)
{
	const struct store *st = r->store;
	bool out_pages = n->out || n->view || (n->in && !st->directed),
	     in_pages = (n->in || n->view) && st->directed;
	u64 pages = (out_pages ? st->out.n_pages : 0) + (in_pages ? (u64)st->in.n_pages : 0);
	struct room room = { 0 };
	u64 with_bins;

	if (!graph_stays(r, n))
		transfer_room(&room, &r->transfer, n);
	*out = (struct mill_plan){
		.state = run_is_native(r) ? host_bytes(r, n) : n->state,
		.resident = host_bytes(r, n) + resident_bytes(r, n, pages) + PROCESS_BYTES +
			    BUFFER_BYTES,
		.device_needed = device_least(r, n, &room),
		.pass_bytes = (u64)(n->out     ? st->out.n_pages
				    : in_pages ? st->in.n_pages
					       : st->out.n_pages) *
			      st->page_size,
	};
	if (n->view)
		out->pass_bytes = pages * st->page_size;
	out->needed = host_bytes(r, n) + streaming_bytes(r, n, room.host);
	out->fits = graph_stays(r, n) && !r->hook.only_frames && !fault_hold() && !spills(r, n) &&
		    out->resident <= r->budget.limit &&
		    !(n->one_segment && view_edges(st) > UINT32_MAX);
	with_bins = host_bytes(r, n) + bins_bytes(st, pool_size(r->pool)) + scratch_bytes(r, n) +
		    PROCESS_BYTES + BUFFER_BYTES + LOAD_FRAMES * (u64)st->page_size;
	if (out->fits && run_may_have_bins(r, n) && with_bins <= r->budget.limit)
		out->resident = max_u64(out->resident, with_bins);
}

static mill_err refuse_small(const struct mill_run *r, const struct mill_plan *plan)
{
	char have[NUMBER_TEXT], needed[NUMBER_TEXT];

	if (r->budget.limit < plan->needed)
		return fail(MILL_ENOMEM,
			    "--memory of %s is too small: this run needs %llu bytes (%s)",
			    size_show(have, r->budget.limit), (unsigned long long)plan->needed,
			    size_show(needed, plan->needed));
	if (r->n_opened && devices_budget(r) < plan->device_needed)
		return fail(MILL_ENOMEM,
			    "--device-memory of %s is too small: this run needs %llu bytes (%s)",
			    size_show(have, devices_budget(r)),
			    (unsigned long long)plan->device_needed,
			    size_show(needed, plan->device_needed));
	return MILL_OK;
}

static mill_err choose_bins(struct mill_run *r, const struct need *n, bool *out)
{
	u64 room = r->budget.limit - host_bytes(r, n) - PROCESS_BYTES - BUFFER_BYTES;
	u64 stream = stream_scratch(r->store, pool_size(r->pool)) +
		     (u64)LOAD_FRAMES * r->store->page_size;

	*out = run_may_have_bins(r, n) && bins_bytes(r->store, pool_size(r->pool)) + stream <= room;
	if (!*out || r->hook.only_bins == BINS_ALWAYS)
		return MILL_OK;
	return bins_pay(r->store, &r->budget, n->spread, out);
}

/* Chooses the graph that is streamed: the store, or a view that is made now. */
static mill_err choose_graph(struct mill_run *r, const struct need *n)
{
	if (!n->view)
		return MILL_OK;
	TRY(view_spill(&r->view_store, r->store, n->view, &r->budget, &r->ticker));
	r->graph = r->view_store;
	topology_init(&r->view, &r->view_store->in);
	return MILL_OK;
}

u64 run_frame_bytes(const struct mill_run *r, const struct need *n)
{
	u64 used = PROCESS_BYTES + BUFFER_BYTES + host_bytes(r, n);

	return r->budget.limit > used ? r->budget.limit - used : 0;
}

u64 run_most_frames(const struct mill_run *r, const struct store *graph)
{
	if (r->hook.only_frames)
		return r->hook.only_frames;
	return max_u64((u64)graph->out.n_pages +
			       (graph->directed && graph->has_in ? graph->in.n_pages : 0),
		       1);
}

u64 run_buffer_frames(const struct mill_run *r, const struct store *graph)
{
	u64 asked = r->options.gts.main_buffer / graph->page_size, all = run_most_frames(r, graph);

	return r->options.gts.main_buffer ? min_u64(max_u64(asked, STREAM_FRAMES), all) : all;
}

/*
 * Opens the transfer to devices. If the devices cannot keep all pages, the host keeps as
 * many as its budget allows.
 */
static mill_err open_devices(struct mill_run *r, const struct need *n)
{
	u64 all = run_buffer_frames(r, r->graph), used = r->budget.used;
	bool home_is_host = n->own && r->policy->home != HOME_DEVICE;
	struct transfer *t = &r->transfer;

	t->need = *n;
	t->graph = r->graph;
	TRY(transfer_open(t, n->own, home_is_host ? 0 : n->state));
	r->frame_bytes -= min_u64(r->frame_bytes, r->budget.used - used);
	if (home_is_host && r->hook.only_frames)
		r->most_frames = r->hook.only_frames;
	else
		r->most_frames = transfer_stays(t) < all ? all : 2 * LOAD_FRAMES;
	return MILL_OK;
}

static mill_err load_streamed(struct mill_run *r, const struct need *n)
{
	u64 used = r->budget.used, room = run_frame_bytes(r, n);

	TRY(choose_graph(r, n));
	used = r->budget.used - used;	/* bytes of the graph that was chosen */
	TRY(numbers_make(r));
	r->frame_bytes = room > used ? room - used : 0;
	r->most_frames = run_most_frames(r, r->graph);
	if (!graph_stays(r, n))
		TRY(open_devices(r, n));
	TRY(numbers_place(r));
	return run_resume_stream(r);
}

/*
 * Vectors that the run has already made are subtracted from the state: the budget has
 * counted them.
 */
mill_err run_turn(struct mill_run *r, bool own)
{
	u64 state = r->need.state;
	mill_err err;

	if (!r->transfer.station || r->transfer.own == own || run_home_is_host(r))
		return MILL_OK;
	for (u32 i = 0; i < r->n_vecs; i++)
		if (r->vec[i]->buffer.owner == r->device)
			state -= min_u64(state, r->vec[i]->buffer.size);
	if (r->transfer.own)
		/* For a report that is made after the units are gone. */
		r->policy->report(&r->transfer, &r->layout);
	err = transfer_turn(&r->transfer, own, state);
	if (err)
		r->loaded = false;
	return err;
}

mill_err run_open_stream(struct mill_run *r, struct stream **out, const struct store *st, u64 bytes,
			 u64 most)
{
	struct stream_how how = {
		.bytes = bytes, .most = most, .workers = pool_size(r->pool), .way = r->way,
		.key = r->need.own ? r->policy->before : r->policy->cpu,
	};

	TRY(stream_open(out, &r->budget, st, &how));
	r->way = stream_way(*out);
	return MILL_OK;
}

void run_pause_stream(struct mill_run *r)
{
	stream_close(r->stream);
	r->stream = r->transfer.stream = NULL;
	/* After a failure before run_resume_stream the next run loads the graph again. */
	r->loaded = false;
}

mill_err run_resume_stream(struct mill_run *r)
{
	TRY(run_open_stream(r, &r->stream, r->graph, r->frame_bytes, r->most_frames));
	r->transfer.stream = r->stream;
	r->loaded = true;
	return MILL_OK;
}

static mill_err load_resident(struct mill_run *r, const struct need *n)
{
	const struct store *st = r->store;
	u64 frames = r->budget.limit - host_bytes(r, n) - PROCESS_BYTES - BUFFER_BYTES;
	mill_err err = MILL_OK;
	bool bins;

	if (n->view)
		return view_load(&r->view, st, n->view, &r->budget, &r->ticker);
	TRY(run_open_stream(r, &r->stream, st, frames, LOAD_FRAMES));
	TRY(choose_bins(r, n, &bins));
	if (bins)	/* the stream stays open: certificates read rows */
		return bins_load(&r->bins, &r->budget, r->stream, r->pool, st, &r->ticker);
	if (n->out || (n->in && !st->directed))
		err = topology_load(&r->out, &r->budget, r->stream, n->weights, UINT32_MAX,
				    &r->ticker);
	if (!err && n->in && st->directed)
		err = topology_load(&r->in, &r->budget, r->stream, n->weights, UINT32_MAX,
				    &r->ticker);
	stream_close(r->stream);
	r->stream = NULL;
	return err;
}

static mill_err load(struct mill_run *r, const struct need *n, const struct mill_plan *plan)
{
	r->need = *n;
	r->spills = spills(r, n);
	r->layout = (struct mill_report){ 0 };
	if (!plan->fits)
		return load_streamed(r, n);
	TRY(load_resident(r, n));
	TRY(numbers_make(r));
	return numbers_place(r);
}

/*
 * Returns true if the loaded graph serves the need too. Bins serve only needs that allow
 * them, rows serve all.
 */
static bool suits(const struct mill_run *r, const struct need *n)
{
	const struct need *have = &r->need;

	return (!r->bins || n->spread) && have->state >= n->state && have->host >= n->host &&
	       have->out >= n->out && have->own == n->own && have->writable >= n->writable &&
	       have->given >= n->given && have->in >= n->in && have->advances >= n->advances &&
	       have->weights >= n->weights && have->view == n->view &&
	       have->resident >= n->resident && have->edge_scratch >= n->edge_scratch &&
	       (have->numbers & n->numbers) == n->numbers && have->by_edge >= n->by_edge &&
	       have->by_edge_size >= n->by_edge_size && have->one_segment >= n->one_segment &&
	       have->on_host == n->on_host && !have->own_lists == !n->own_lists;
}

mill_err run_begin(struct mill_run *r, const struct need *need)
{
	const char *algorithm = need->algorithm;
	f64 began = clock_now(), traced;
	struct mill_plan plan;
	mill_err err;

	TRY(devices_suit(r, need));
	r->device = run_is_native(r) || (need->own && r->policy->home != HOME_DEVICE) ? r->host
										    : r->opened[0];
	trace_use(r->trace);
	trace_name("caller");
	traced = trace_begin();
	clear_result(r);
	ticker_init(&r->ticker, &r->options.watcher);	/* so a cancelled run can be used again */
	if (r->algorithm != algorithm)
		r->ledger.n_runs = 0;
	ledger_clear(&r->ledger);
	r->transfer.time.staging = r->transfer.time.merging = 0;
	devices_begin(r);
	r->algorithm = algorithm;
	run_plan(r, need, &plan);
	TRY(refuse_small(r, &plan));
	run_predict(r, need, &plan);
	if (r->loaded && suits(r, need))
		return MILL_OK;
	unload(r);
	err = load(r, need, &plan);
	trace_end(traced, "load", NULL, 0);
	if (err) {
		unload(r);
		return err;
	}
	r->loaded = true;
	r->ledger.load = clock_now() - began;
	return MILL_OK;
}

void run_start(struct mill_run *r)
{
	for (u32 i = 0; i < r->n_opened; i++)
		r->opened[i]->time = (struct device_time){ 0 };
	r->began = clock_now();
}

mill_err run_end(struct mill_run *r)
{
	f64 seconds;

	/* The clock includes fetching the result from the devices. */
	for (u32 i = 0; i < r->result.n_columns; i++)
		TRY(vec_fetch(r->result.column[i].vec));
	seconds = clock_now() - r->began;
	if (r->ledger.n_runs < LEDGER_RUNS)
		r->ledger.run[r->ledger.n_runs++] = seconds;
	for (u32 i = 0; i < r->n_opened; i++)
		ledger_add_device(&r->ledger, r->opened[i]);
	if (!run_is_native(r))
		ledger_end(&r->ledger, r->transfer.time.merging);
	return result_hash(r);
}

void run_announce(struct mill_run *r, const char *format, u64 number)
{
	int n = snprintf(r->progress, sizeof(r->progress), "%s ", r->algorithm);

	snprintf(r->progress + n, sizeof(r->progress) - (size_t)n, format,
		 (unsigned long long)number);
	ticker_begin(&r->ticker, r->progress, "pages", 0);
}

/* ---- Vectors ---- */

static mill_err new_vec(struct mill_run *r, struct device *d, struct vec **out, const char *name,
			u64 n, size_t size)
{
	struct vec *v;
	mill_err err;
	u64 bytes;

	assert(r->n_vecs < RUN_VECS);
	if (__builtin_mul_overflow(n, (u64)size, &bytes))
		return fail(MILL_ELIMIT, "%s of %llu elements is too large", name,
			    (unsigned long long)n);
	TRY(memory_new(&v, &r->budget, 1, sizeof(*v), name));
	err = device_buffer(d, &v->buffer, bytes, name);
	if (err) {
		memory_free(v);
		return err;
	}
	v->n = n;
	v->size = (u32)size;
	v->name = name;
	r->vec[r->n_vecs++] = v;
	*out = v;
	return MILL_OK;
}

#define FILL_BYTES (1 * MIB)

struct fill_ctx {
	struct vec *vec;
	const void *fill;	/* the value of each element; NULL: zero */
};

/*
 * Fills a range. The first access to memory is slow. Here all threads make it, in order;
 * otherwise some thread would make it while it computes.
 */
static mill_err fill_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct fill_ctx *f = arg;
	size_t size = f->vec->size;
	char *p = (char *)f->vec->buffer.host + begin * size;
	u64 bytes = (end - begin) * size;

	(void)worker;
	if (f->fill)
		memory_fill(p, bytes, f->fill, size);
	else
		memset(p, 0, bytes);
	return MILL_OK;
}

mill_err run_vec(struct mill_run *r, struct vec **out, const char *name, u64 n, size_t size,
		 const void *fill)
{
	u64 zero = 0;

	TRY(new_vec(r, r->device, out, name, n, size));
	if (!r->device->native)
		return fill ? device_fill(&(*out)->buffer, fill, size)
			    : device_fill(&(*out)->buffer, &zero, size % 8 ? 4 : 8);
	return pool_for(r->pool, n, max_u64(FILL_BYTES / size, 1), fill_some,
			&(struct fill_ctx){ *out, fill });
}

mill_err run_vec_host(struct mill_run *r, struct vec **out, const char *name, u64 n, size_t size)
{
	return new_vec(r, r->host, out, name, n, size);
}

void run_vec_free(struct mill_run *r, struct vec *v)
{
	u32 i = r->n_vecs;

	while (i && r->vec[i - 1] != v)
		i--;
	assert(i);
	memmove(&r->vec[i - 1], &r->vec[i], (r->n_vecs - i) * sizeof(struct vec *));
	r->n_vecs--;
	if (v->newest)
		state_forget(v->newest);
	device_buffer_free(&v->buffer);
	if (v->beside)
		beside_close(v->beside);
	memory_free(v->beside);
	memory_free(v);
}

mill_err vec_set(struct vec *v, u64 i, const void *element)
{
	assert(i < v->n);
	if (v->beside)
		return beside_write(v->beside, element, i, 1);
	TRY(vec_fetch(v));
	return device_write(&v->buffer, i * v->size, element, v->size);
}

mill_err vec_get(const struct vec *v, u64 i, void *element)
{
	assert(i < v->n);
	if (v->beside)
		return beside_read(v->beside, element, i, 1);
	TRY(vec_fetch(v));
	return device_read(&v->buffer, i * v->size, element, v->size);
}

mill_err vec_map(struct mill_run *r, const struct vec *v, void *out_pointer)
{
	void **out = out_pointer;
	mill_err err;
	void *p;

	TRY(vec_fetch(v));
	if (v->buffer.host && !v->beside) {
		*out = v->buffer.host;
		return MILL_OK;
	}
	TRY(memory_new(&p, &r->budget, v->n, v->size, v->name));
	err = v->beside ? beside_read(v->beside, p, 0, v->n)
			: device_read(&v->buffer, 0, p, v->buffer.size);
	if (err) {
		memory_free(p);
		return err;
	}
	*out = p;
	return MILL_OK;
}

void vec_unmap(const struct vec *v, void *p)
{
	if (!v->buffer.host || v->beside)
		memory_free(p);
}
