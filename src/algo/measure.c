/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the constants of the cost model for `plan`. A sample of the store's own pages
 * goes through the stream, and the real operators work on it with state of the graph's own
 * size. Passes over pages that are already in frames read nothing, so reading and computing
 * are measured apart. Every measurement is repeated, and the shortest time counts, because
 * other processes disturbed the longer ones. For the same reason computing is measured in
 * CPU time. The shape of the graph is measured by the beginning of a search
 * (model/shape.c).
 */
#include <string.h>

#include "algo/algo.h"
#include "device/dialect.h"
#include "engine/devices.h"
#include "model/shape.h"

#include "algo/cc.op.h"

#define PROGRAM cc
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define COND 1
#define PREFETCH parent
#include "op/scan.inc"
#define PROGRAM cc
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define VERTEX cc_alone
#include "op/compute.inc"
#define PROGRAM cc_label
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define WRITES parent
#include "op/advance.inc"

#define SAMPLE_BYTES (24 * MIB)	/* fits the frames of the smallest budget */
#define GATHER_VERTICES (64 * MIB)	/* for more, two iterations of PageRank take too long */
#define COPY_BYTES (8 * MIB)
#define CALLS 32
#define MISSES 65536
#define TIMES 3

struct measure_ctx {
	struct mill_run *run;
	struct machine *machine;
	f64 threads;
	f64 read;		/* seconds to read the sample */
	u64 bytes, edges;	/* of the sample */
	struct cc_args args;
	struct frontier *front;
};

/* ---- Passes that only read or decode ---- */

static bool takes_page(void *arg, u32 page)
{
	return transfer_takes(&((struct mill_run *)arg)->transfer, page);
}

static bool wants_nothing(void *arg, u64 begin, u64 end)
{
	(void)arg;
	(void)begin;
	(void)end;
	return false;
}

static mill_err ignore_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	(void)arg;
	(void)page;
	(void)seg;
	(void)worker;
	return MILL_OK;
}

/* Keeps the shorter of two times; 0 is none yet. */
static void shortest(f64 *least, f64 seconds)
{
	if (!*least || seconds < *least)
		*least = seconds;
}

/*
 * Returns the share of the shorter of two activities that the longer one does not hide. a,
 * b: seconds of each alone. both: seconds of both at the same time.
 */
static f64 not_hidden(f64 both, f64 a, f64 b)
{
	f64 seen = (both - (a > b ? a : b)) / (a < b ? a : b);

	return seen > 0 ? (seen < 1 ? seen : 1) : 0;
}

static mill_err empty_frames(struct measure_ctx *m)
{
	run_pause_stream(m->run);
	return run_resume_stream(m->run);
}

/*
 * Measures a pass that does nothing with the pages. only: a filter that wants no row, so
 * that pages are only read, in seconds; NULL: pages are decoded, in CPU time.
 */
static mill_err time_pass(struct measure_ctx *m, const struct row_filter *only, f64 *seconds)
{
	struct stream_pass pass = {
		.pages = &m->run->store->out,
		.active = takes_page,
		.work = ignore_page,
		.want = { .only = only },
		.arg = m->run,
		.ticker = &m->run->ticker,
	};
	f64 (*now)(void) = only ? clock_now : clock_cpu;
	f64 began = now();

	TRY(stream_run(m->run->stream, &pass));
	shortest(seconds, now() - began);
	if (only)
		m->bytes = pass.bytes_read;
	return MILL_OK;
}

static mill_err measure_reading(struct measure_ctx *m)
{
	const struct row_filter nothing = { wants_nothing, NULL };
	const struct pages *out = &m->run->store->out;
	f64 seconds = 0;

	for (int i = 0; i < TIMES; i++) {
		if (i)
			TRY(empty_frames(m));
		TRY(time_pass(m, &nothing, &m->read));
	}
	for (int i = 0; i < TIMES; i++)
		TRY(time_pass(m, NULL, &seconds));
	for (u32 i = 0; i < out->n_pages; i++)
		m->edges += transfer_takes(&m->run->transfer, i) ? out->entry[i].n_edges : 0;
	m->machine->read = (f64)m->bytes / m->read;
	m->machine->decode = seconds / (f64)m->edges;
	return MILL_OK;
}

/* ---- Operators on pages that are in frames already ---- */

static const struct mill_step *last_step(const struct measure_ctx *m)
{
	return &m->run->ledger.step[m->run->ledger.n_steps - 1];
}

/* Returns the CPU seconds of an edge in a superstep over the sample, without decoding. */
static f64 edge_seconds(const struct measure_ctx *m, f64 seconds)
{
	f64 all = seconds / (f64)m->edges;
	f64 decode = store_in_place(m->run->store) ? 0 : m->machine->decode;

	/* At least 1/4 stays: noise could make the difference 0 or negative. */
	return all - decode > all / 4 ? all - decode : all / 4;
}

static mill_err visit(struct measure_ctx *m, u64 n, f64 *seconds)
{
	f64 (*now)(void) = m->run->device->native ? clock_cpu : clock_now;
	f64 began = now(), sum;

	TRY(op_compute(m->run, &cc_alone_compute, &m->args, 0, n, &sum));
	shortest(seconds, now() - began);
	return MILL_OK;
}

/* Measures a scan. now: the clock to use. */
static mill_err scan(struct measure_ctx *m, f64 (*now)(void), f64 *seconds)
{
	f64 began = now();

	TRY(op_scan(m->run, &cc_scan, &m->args, &(struct scan){ 0 }, NULL));
	shortest(seconds, now() - began);
	return MILL_OK;
}

static mill_err advance(struct measure_ctx *m, f64 *seconds)
{
	f64 (*now)(void) = m->run->device->native ? clock_cpu : clock_now;
	f64 began;

	TRY(frontier_clear(m->front));
	frontier_restart(m->front, false);
	TRY(frontier_set_all(m->front, m->run->store->sources));
	began = now();
	TRY(op_advance(m->run, &cc_label_advance, &m->args, m->front));
	shortest(seconds, now() - began);
	return MILL_OK;
}

static mill_err measure_operators(struct measure_ctx *m)
{
	u64 n = m->run->store->n_linked;
	f64 vertex = 0, push = 0, warm = 0, cold = 0;

	for (int i = 0; i < TIMES; i++) {
		TRY(visit(m, n, &vertex));
		TRY(advance(m, &push));
		TRY(visit(m, n, &vertex));
		TRY(scan(m, clock_cpu, &warm));
	}
	/* The same with empty frames: this shows how much reading and computing overlap. */
	for (int i = 0; i < TIMES; i++) {
		TRY(empty_frames(m));
		TRY(visit(m, n, &vertex));
		TRY(scan(m, clock_now, &cold));
	}
	m->machine->vertex = vertex / (f64)n;
	m->machine->push = edge_seconds(m, push);
	m->machine->scan = edge_seconds(m, warm);
	m->machine->overlap = not_hidden(cold, warm / m->threads, m->read);
	return MILL_OK;
}

static mill_err time_pagerank(struct measure_ctx *m, u32 iterations, f64 *seconds)
{
	f64 (*now)(void) = run_is_native(m->run) ? clock_cpu : clock_now;
	f64 began = now();

	TRY(mill_pagerank(m->run, &(struct mill_pagerank){ .iterations = iterations }));
	shortest(seconds, now() - began);
	return MILL_OK;
}

/*
 * Measures PageRank's gather: the time that more iterations add. The first call reads the
 * pages, the others find them in frames.
 */
static mill_err measure_gather(struct measure_ctx *m)
{
	const struct store *st = m->run->store;
	f64 reading = 0, one = 0, more = 0, calls;

	if (m->run->device->native)
		m->machine->gather = m->machine->scan;
	if (!st->has_in || st->n_linked > GATHER_VERTICES)
		return MILL_OK;
	TRY(time_pagerank(m, 1, &reading));
	TRY(time_pagerank(m, 1, &one));
	TRY(time_pagerank(m, 1 + TIMES, &more));
	TRY(time_pagerank(m, 1, &one));
	m->edges = last_step(m)->edges;	/* in-edges of one iteration */
	/* On a device a page takes two launches: unpack and reduce. */
	calls = m->run->device->native ? 0 : 2 * (f64)last_step(m)->pages_active * m->machine->call;
	if (more - one > TIMES * calls)	/* noise may be larger than the time of few edges */
		m->machine->gather = edge_seconds(m, (more - one) / TIMES - calls);
	return MILL_OK;
}

/* ---- Constants that do not depend on the graph ---- */

static mill_err nothing_to_do(void *arg, unsigned worker)
{
	(void)arg;
	(void)worker;
	return MILL_OK;
}

/* Measures a superstep's own cost: it wakes the threads about four times. */
static mill_err measure_step(struct measure_ctx *m)
{
	f64 least = 0;

	for (int i = 0; i < TIMES; i++) {
		f64 began = clock_now();

		for (int call = 0; call < CALLS; call++)
			TRY(pool_run(m->run->pool, nothing_to_do, NULL));
		shortest(&least, clock_now() - began);
	}
	m->machine->step = 4 * least / CALLS;
	return MILL_OK;
}

/* Measures loading: most of its cost is the first access to new memory. */
static mill_err measure_copy(struct measure_ctx *m)
{
	f64 least = 0;
	char *to;

	for (int i = 0; i < TIMES; i++) {
		f64 began = clock_now();

		TRY(memory_new(&to, &m->run->budget, COPY_BYTES, 1, "a copy"));
		memset(to, 1, COPY_BYTES);
		/* So that memset is not optimized away. */
		__asm__ volatile("" : : "r"(to) : "memory");
		memory_free(to);
		shortest(&least, clock_now() - began);
	}
	m->machine->load = least / (COPY_BYTES / sizeof(vid));
	return MILL_OK;
}

/* Measures a cache miss: follows a chain of places through more memory than most caches hold. */
static mill_err measure_miss(struct measure_ctx *m)
{
	u64 n = 2 * COPY_BYTES / sizeof(u32), mask = n - 1;
	u32 *next, at = 0;
	f64 least = 0;

	TRY(memory_new(&next, &m->run->budget, n, sizeof(u32), "places"));
	/* One cycle through all places: see Hull and Dobell, 1962. */
	for (u64 i = 0; i < n; i++)
		next[i] = (u32)((i * 1664525 + 1013904223) & mask);
	for (int i = 0; i < TIMES; i++) {
		f64 began = clock_cpu();

		for (int hop = 0; hop < MISSES; hop++)
			at = next[at];
		__asm__ volatile("" : : "r"(at));
		shortest(&least, clock_cpu() - began);
	}
	m->machine->miss = least / MISSES;
	memory_free(next);
	return MILL_OK;
}

/* ---- The device ---- */

/* Returns the bytes that measure_chunk copies: at most 1/4 of the device's memory. */
static u64 chunk_bytes(const struct mill_run *r)
{
	return r->device->native ? 0 : min_u64(2 * COPY_BYTES, r->device->memory->limit / 4);
}

/*
 * Measures one transfer to the device and back, as state makes. The host memory is written
 * first: untouched memory would be one page of zeros.
 */
static mill_err measure_chunk(struct measure_ctx *m)
{
	struct device *d = m->run->device;
	u64 size = chunk_bytes(m->run);
	struct buffer chunk = { 0 };
	f64 least = 0;
	mill_err err;
	char *from;

	TRY(memory_new(&from, &m->run->budget, size, 1, "a test transfer"));
	memset(from, 1, size);
	err = device_buffer(d, &chunk, size, "a test transfer");
	for (int i = 0; !err && i <= TIMES; i++) {
		f64 began = clock_now();

		err = device_write(&chunk, 0, from, size);
		if (!err)
			err = device_read(&chunk, 0, from, size);
		shortest(&least, clock_now() - began);
	}
	m->machine->chunk_rate = 2 * (f64)size / least;
	device_buffer_free(&chunk);
	memory_free(from);
	return err;
}

/* Measures merging the copies of two devices. */
static mill_err measure_merge(struct measure_ctx *m)
{
	f64 least = 0;
	mill_err err = MILL_OK;
	u64 n = COPY_BYTES / sizeof(u32);
	u32 *state;

	TRY(memory_new(&state, &m->run->budget, 2 * COPY_BYTES, 1, "a test merge"));
	memset(state, 1, 2 * COPY_BYTES);
	for (int i = 0; !err && i < TIMES; i++) {
		f64 began = clock_now();

		err = merge_copies(m->run->pool, state, state + n, n, MERGE_MIN_U32);
		shortest(&least, clock_now() - began);
	}
	m->machine->merge = least / COPY_BYTES;
	memory_free(state);
	return err;
}

/* Measures a launch: many of them, with one wait at the end. */
static mill_err measure_call(struct measure_ctx *m)
{
	const f64 *launch_time = &m->run->device->time.launch;
	f64 least = 0, own = 0;
	u64 counts[COUNTS_N];

	for (int i = 0; i < TIMES; i++) {
		f64 began, before;

		TRY(transfer_count_begin(&m->run->transfer));
		before = *launch_time;
		began = clock_now();
		for (int call = 0; call < CALLS; call++)
			TRY(transfer_census(&m->run->transfer, false, m->front->bits));
		shortest(&own, *launch_time - before);
		TRY(transfer_count_end(&m->run->transfer, counts, NULL));
		shortest(&least, clock_now() - began);
	}
	m->machine->call = least / CALLS;
	m->machine->enqueue = own / CALLS;
	return MILL_OK;
}

static mill_err ignore_segment(void *arg, const struct device_segment *seg)
{
	(void)arg;
	(void)seg;
	return MILL_OK;
}

/* Measures a pass that only unpacks the pages. */
static mill_err unpack(struct measure_ctx *m, f64 *seconds)
{
	struct device_pass pass = { .launch = ignore_segment };
	struct mill_step step = { 0 };
	u64 counts[COUNTS_N];
	f64 began = clock_now();

	for (u32 i = 0; i < m->run->transfer.station[0].n_areas; i++)
		/* So that no page is unpacked already. */
		m->run->transfer.station[0].area[i].holds = 0;
	TRY(transfer_pass(&m->run->transfer, &pass, &step));
	TRY(transfer_count_end(&m->run->transfer, counts, NULL));
	shortest(seconds, clock_now() - began);
	return MILL_OK;
}

/* Returns (seconds - without) / n; at least a quarter of the seconds stays, because of noise. */
static f64 share(f64 seconds, f64 without, u64 n)
{
	return (seconds - without > seconds / 4 ? seconds - without : seconds / 4) /
	       (f64)max_u64(n, 1);
}

/*
 * Measures pages that go from frames to the device while kernels of other pages run, by the
 * device's own clock if it has one. The transfers that kernels do not hide are the time
 * that a step takes longer than one with all pages on the device (warm).
 */
static mill_err measure_stream(struct measure_ctx *m, f64 warm)
{
	const struct device *d = m->run->device;
	f64 cold = 0, moving = 0, read = 0, visiting = 0;
	u64 bytes = 0;

	m->run->options.no_reuse = true;
	for (int i = 0; i <= TIMES; i++) {
		f64 before = d->time.transfer[TRAFFIC_TOPOLOGY], seconds;

		TRY(visit(m, m->run->store->n_linked, &visiting));
		bytes = d->to_device[TRAFFIC_TOPOLOGY];
		TRY(advance(m, &cold));
		seconds = d->time.transfer[TRAFFIC_TOPOLOGY] - before;
		bytes = d->to_device[TRAFFIC_TOPOLOGY] - bytes;
		if (seconds > 0)
			shortest(&moving, seconds);
	}
	m->run->options.no_reuse = false;
	if (!moving)
		moving = cold > warm ? cold - warm : (f64)bytes / m->machine->chunk_rate;
	m->machine->page_rate = (f64)bytes / moving;
	m->machine->beside = not_hidden(cold, warm, moving);
	m->run->options.no_reuse = true;
	for (int i = 0; i < TIMES; i++) {	/* the same with pages from disk */
		TRY(empty_frames(m));
		TRY(visit(m, m->run->store->n_linked, &visiting));
		TRY(advance(m, &read));
	}
	m->run->options.no_reuse = false;
	m->machine->overlap = not_hidden(read, cold, m->read);
	return MILL_OK;
}

/* Measures kernels: steps after the first find the pages in the device's slots. */
static mill_err measure_kernels(struct measure_ctx *m)
{
	bool raw = m->run->store->codec == PAGE_RAW;
	u64 n = m->run->store->n_linked, launches;
	f64 visiting = 0, idle = 0, step = 0, decode, call;

	TRY(measure_call(m));
	call = m->machine->call;
	/* `visit` resets the labels, so that edges have work to do. */
	for (int i = 0; i <= TIMES; i++) {
		TRY(visit(m, n, &visiting));
		launches = m->run->device->time.launches;
		TRY(advance(m, &step));
		launches = m->run->device->time.launches - launches;
	}
	m->edges = last_step(m)->edges;
	for (int i = 0; i < TIMES && !raw; i++)
		TRY(unpack(m, &idle));
	decode = raw ? 0 : share(idle, (f64)last_step(m)->pages_active * call, m->edges);
	m->machine->vertex = share(visiting, call, n);
	m->machine->push = share(step, (f64)launches * call + decode * (f64)m->edges, m->edges);
	m->machine->gather = m->machine->scan = m->machine->push;
	if (!raw)
		m->machine->decode = decode;
	return measure_stream(m, step);
}

/*
 * Measures the join of pages with sums, by a run of its own: the time that more iterations
 * add, without unpacking and launches.
 */
static mill_err measure_join(struct measure_ctx *m)
{
	f64 one = 0, more = 0, calls;

	m->machine->join = m->machine->gather;
	if (m->run->store->n_linked > GATHER_VERTICES)
		return MILL_OK;
	TRY(time_pagerank(m, 1, &one));
	TRY(time_pagerank(m, 1, &one));
	TRY(time_pagerank(m, 1 + TIMES, &more));
	m->edges = last_step(m)->edges;
	calls = 2 * (f64)last_step(m)->pages_active * m->machine->call;
	if (more - one > TIMES * calls)
		m->machine->join = edge_seconds(m, (more - one) / TIMES - calls);
	return MILL_OK;
}

/* ---- The whole measurement ---- */

/*
 * Chooses the sample: one of every `sample` runs of pages. On a device it takes at most
 * half of the memory beside the state, so that it stays there.
 */
static void choose_sample(struct mill_run *r, u64 state)
{
	const struct store *st = r->store;
	u64 limit = r->device->native ? 0 : r->device->memory->limit;
	u64 size = r->device->native
			   ? SAMPLE_BYTES
			   : min_u64(SAMPLE_BYTES, limit > state ? (limit - state) / 2 : 0);
	u64 wanted = max_u64(size / st->page_size, 2), n = 0, n_in = 0;

	if (st->page_size * SAMPLE_RUN <= size)
		r->transfer.sample = (u32)max_u64(div_up(st->out.n_pages, wanted), 1);
	else	/* one run of pages fills the sample */
		r->transfer.sample = UINT32_MAX;
	for (u32 i = 0; i < st->out.n_pages; i++)
		n += transfer_takes(&r->transfer, i);
	for (u32 i = 0; st->directed && st->has_in && i < st->in.n_pages; i++)
		n_in += transfer_takes(&r->transfer, i);
	r->hook.only_frames = (u32)max_u64(n > n_in ? n : n_in, 1);
}

static mill_err measure_on(struct measure_ctx *m)
{
	struct mill_run *r = m->run;
	const struct store *st = r->store;
	const struct need need = {
		.algorithm = "measure",
		.state = st->n_linked * sizeof(u32) + frontier_bytes(st->n_linked, 0) +
			 (div_up(st->n_linked, COMPUTE_BLOCK) + 1) * sizeof(f64) + chunk_bytes(r),
		.host = frontier_host_bytes(st->n_linked) + 2 * COPY_BYTES,
		.out = true,
		.advances = true,
	};

	choose_sample(r, need.state);
	TRY(run_begin(r, &need));
	TRY(run_vec(r, &m->args.parent, "label", st->n_linked, sizeof(u32), NULL));
	TRY(run_frontier(r, &m->front, 0));
	TRY(measure_reading(m));
	TRY(measure_step(m));
	TRY(measure_copy(m));
	TRY(measure_miss(m));
	if (r->device->native) {
		TRY(measure_operators(m));
		return measure_gather(m);
	}
	TRY(measure_chunk(m));
	TRY(measure_merge(m));
	TRY(measure_kernels(m));
	return measure_gather(m);
}

static mill_err measure(struct mill_run *r, struct machine *machine)
{
	struct mill_store handle = { .st = r->store, .budget = *r->store_budget };
	const struct store *st = r->store;
	/* Device memory for the sample only: a slot takes memory even if it is not used. */
	u64 room = 16 * st->n_linked + 2 * COPY_BYTES +
		   (2 * SAMPLE_RUN + SAMPLE_BYTES / st->page_size) * st->page_size;
	struct mill_options options = {
		.memory = r->budget.limit,
		.device_memory = run_is_native(r) ? 0 : min_u64(devices_budget(r), room + 64 * MIB),
		.device = run_first_device(r)->name,
		.threads = pool_size(r->pool),
		.watcher = r->options.watcher,
	};
	struct measure_ctx m = { .machine = machine,
				 .threads = pool_size(r->pool),
				 .args = { .largest = UINT32_MAX } };
	mill_err err;

	TRY(mill_run_new(&m.run, &handle, &options));
	err = shape_measure(machine, st, &m.run->budget);
	if (!err && st->stored_edges)
		err = measure_on(&m);
	if (!err && st->stored_edges && !run_is_native(r)) {
		u32 sample = m.run->transfer.sample, frames = m.run->hook.only_frames;

		mill_run_free(m.run);
		m.run = NULL;
		options.policy = policy_several()->public.name;
		err = mill_run_new(&m.run, &handle, &options);
		if (!err) {
			m.run->transfer.sample = sample;
			m.run->hook.only_frames = frames;
			err = measure_join(&m);
		}
	}
	machine->measured = !err && st->stored_edges && machine_is_sane(machine);
	mill_run_free(m.run);
	return err;
}

MILL_API mill_err mill_run_measure(mill_run *r, bool again)
{
	struct machine machine = *run_machine(r);
	struct machine_key key;
	mill_err err;

	if (machine.measured && machine.shape_known && !again)
		return MILL_OK;
	err = measure(r, &machine);
	if (err == MILL_ECANCELLED)
		return err;
	if (!machine.measured)
		return MILL_OK;
	r->machine = machine;
	machine_key_init(&key, r->store, run_first_device(r)->name, pool_size(r->pool));
	machine_keep(&machine, &key);
	return MILL_OK;
}
