/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a device that fails in the middle of a plan. Calls of each kind fail, one in each run,
 * under every policy with its own kind of moves. After a failure the run returns the error, no
 * transfer still reads host memory, and no unit counts as resident on the device. A second call
 * of the same run then gives the right result. This file counts the calls itself, without
 * MILL_FAULT, so that one process can try them all.
 */
#include "task.h"

/* ---- Calls that fail ---- */

enum call { SEND, LAUNCH, WAIT, FORK, JOIN, WRITE, READ, FILL, CALLS };
static const char *const call_names[] = { "send", "launch", "wait", "fork",
					  "join", "write",  "read", "fill" };

#define TICKETS 4096u

static struct {
	const struct device_ops *real;
	struct device_ops ops;
	enum call call;
	u64 at, n;	     /* n counts calls; call number `at` fails; 0: no call fails */
	bool late;	     /* the launch succeeds and the kernel fails later */
	bool due;	     /* the next join returns the kernel's failure */
	void *failed;	     /* ticket of the kernel's queue: its wait returns the failure */
	void *sent[TICKETS]; /* transfers without a wait */
	u32 n_sent;
} fault;

/* Counts a call. Returns true if it must fail. */
static bool strikes(enum call c) { return fault.at && c == fault.call && ++fault.n == fault.at; }

static mill_err struck(enum call c)
{
	return fail(MILL_EDEVICE, "%s fails on purpose", call_names[c]);
}

static mill_err fault_send(struct device *d, struct buffer *b, u64 at, const void *from, u64 size,
			   u32 queue, struct ticket *out)
{
	if (strikes(SEND))
		return struck(SEND);
	TRY(fault.real->send(d, b, at, from, size, queue, out));
	assert_true(fault.n_sent < TICKETS);
	if (out->handle)
		fault.sent[fault.n_sent++] = out->handle;
	return MILL_OK;
}

static mill_err fault_wait(struct device *d, struct ticket *t)
{
	void *handle = t->handle;
	mill_err err;

	for (u32 i = 0; i < fault.n_sent; i++)
		if (fault.sent[i] == handle) {
			fault.sent[i] = fault.sent[--fault.n_sent];
			break;
		}
	err = fault.real->wait(d, t);
	if (!err && !strikes(WAIT) && handle != fault.failed)
		return MILL_OK;
	fault.failed = handle == fault.failed ? NULL : fault.failed;
	return err ? err : struck(WAIT);
}

static mill_err fault_launch(struct device *d, const struct launch *l)
{
	return strikes(LAUNCH) && !fault.late ? struck(LAUNCH) : fault.real->launch(d, l);
}

/* Makes the queue's ticket and the next join fail if the kernel failed late. */
static void fault_mark(struct device *d, u32 queue, struct ticket *out)
{
	fault.real->mark(d, queue, out);
	if (!fault.late || !fault.at || fault.n < fault.at)
		return;
	fault.late = false;
	fault.due = out->handle;
	fault.failed = out->handle;
}

static mill_err fault_fork(struct device *d)
{
	return strikes(FORK) ? struck(FORK) : fault.real->fork(d);
}

static mill_err fault_join(struct device *d)
{
	bool due = fault.due;

	fault.due = false;
	return strikes(JOIN) || due ? struck(JOIN) : fault.real->join(d);
}

/* Clears the failure of commands. Tickets keep theirs. */
static void fault_drain(struct device *d)
{
	fault.due = false;
	fault.real->drain(d);
}

static mill_err fault_write(struct device *d, struct buffer *b, u64 at, const void *from, u64 size)
{
	return strikes(WRITE) ? struck(WRITE) : fault.real->write(d, b, at, from, size);
}

static mill_err fault_read(struct device *d, const struct buffer *b, u64 at, void *to, u64 size)
{
	return strikes(READ) ? struck(READ) : fault.real->read(d, b, at, to, size);
}

static mill_err fault_fill(struct device *d, struct buffer *b, const void *pattern, size_t size)
{
	return strikes(FILL) ? struck(FILL) : fault.real->fill(d, b, pattern, size);
}

static void fault_begin(mill_run *run)
{
	fault.real = run->opened[0]->ops;
	fault.ops = *fault.real;
	fault.ops.send = fault_send;
	fault.ops.wait = fault_wait;
	fault.ops.launch = fault_launch;
	fault.ops.mark = fault_mark;
	fault.ops.fork = fault_fork;
	fault.ops.join = fault_join;
	fault.ops.drain = fault_drain;
	fault.ops.write = fault_write;
	fault.ops.read = fault_read;
	fault.ops.fill = fault_fill;
	fault.n_sent = 0;
	for (u32 i = 0; i < run->n_opened; i++)
		run->opened[i]->ops = &fault.ops;
}

static void fault_set(enum call c, u64 at, bool late)
{
	fault.call = c;
	fault.at = at;
	fault.late = late;
	fault.due = false;
	fault.failed = NULL;
	fault.n = 0;
}

/* ---- State after a failure ---- */

/* Fails if a transfer is under way, or if a unit counts as resident after a failed pass. */
static void expect_nothing(const char *where, const mill_run *run)
{
	const struct transfer *t = &run->transfer;

	if (fault.n_sent)
		fail_msg("%s: %u transfers are still under way", where, fault.n_sent);
	assert_null(t->held);
	for (u32 i = 0; t->failed && i < t->n_stations; i++) {
		const struct station *s = &t->station[i];

		for (int in = 0; in < 2; in++)
			for (u32 unit = 0; unit < t->units[in].n; unit++)
				if (residency_find(s->residency, in, unit) != RESIDENCY_NONE)
					fail_msg("%s: unit %u counts as resident", where, unit);
		for (u32 k = 0; k < s->n_areas; k++) {
			assert_int_equal(s->area[k].holds, 0);
			assert_null(s->area[k].sent.handle);
		}
	}
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(t->stage[i].n_sent, 0);
}

struct fail_ctx {
	const char *name;
	const struct task *task;
	struct mill_options options;
	u64 room;   /* device bytes above the least that the task needs */
	u32 frames; /* not 0: stream through this number of frames */
};

/* Makes one call fail. Returns false if the run makes fewer calls. */
static bool try_call(mill_run *run, const struct fail_ctx *f, const struct answer *want,
		     enum call c, u64 at, bool late)
{
	char where[128];
	mill_err err;

	snprintf(where, sizeof(where), "%s, %s, %s %llu%s", f->name, f->task->name, call_names[c],
		 (unsigned long long)at, late ? ", late" : "");
	fault_set(c, at, late);
	err = f->task->call(run, f->task->how);
	fault.at = 0;
	if (err != MILL_OK && err != MILL_EDEVICE)
		fail_msg("%s: error %d, %s", where, (int)err, mill_error());
	if (err && !strstr(mill_error(), "on purpose"))
		fail_msg("%s: unexpected message: %s", where, mill_error());
	if (err)
		expect_nothing(where, run);
	else if (hash_of(run) != want->hash)
		fail_msg("%s: result differs from the cpu", where);
	/* The failed call does not affect the next one. */
	expect_answer(where, run, f->task, want);
	return err != MILL_OK;
}

static void try_all(mill_store *store, const struct fail_ctx *f, const struct answer *want)
{
	struct mill_options o = f->options;
	mill_run *run;

	o.threads = 2;
	o.memory = GIB;
	o.device_memory = 512 * MIB;
	o.seed = 1;
	o.check = true;
	OK(mill_run_new(&run, store, &o));
	run->hook.only_frames = f->frames;
	task_room(run, f->task, f->room);
	fault_begin(run);
	expect_answer(f->name, run, f->task, want);
	for (enum call c = SEND; c < CALLS; c++) {
		u64 n = 1;

		for (; try_call(run, f, want, c, n, false) && n < 4000;
		     n += 1 + n / (getenv("LONG") ? 16 : 3))
			;
		assert_true(n < 4000);
	}
	for (u64 n = 1; n < 400 && try_call(run, f, want, LAUNCH, n, true); n += 1 + n / 3)
		;
	mill_run_free(run);
}

static mill_store *make_rmat(enum mill_codec codec)
{
	struct mill_generate how = {
		.target = { .path = scratch_path("rmat"),
			    .page_size = 64 * KIB,
			    .force = true,
			    .codec = codec },
		.kind = "rmat",
		.scale = 11,
		.degree = 40,
		.weight = MILL_WEIGHT_U32,
		.seed = 3,
	};
	struct mill_built built;
	mill_store *store;

	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	return store;
}

static void test_calls(void **state)
{
	static const struct fail_ctx cases[] = {
		{ "pages", &tasks[0], { .device = "opencl", .policy = "lru" }, 200 * KIB, 4 },
		{ "whole", &tasks[0], { .device = "opencl", .policy = "auto" }, 100 * MIB, 0 },
		{ "graphie", &tasks[0],
		  { .device = "opencl", .policy = "graphie", .graphie.partition_size = 20000 },
		  200 * KIB, 0 },
		{ "graphie, packed", &tasks[1],
		  { .device = "opencl", .policy = "graphie", .graphie.wire = MILL_WIRE_PACKED },
		  300 * KIB, 0 },
		{ "gts", &tasks[0], { .device = "opencl", .policy = "gts" }, 300 * KIB, 4 },
		{ "gts, S", &tasks[1],
		  { .device = "opencl,opencl", .policy = "gts",
		    .gts = { .strategy = MILL_STRATEGY_S, .chunks = 2 } },
		  0, 0 },
		{ "gts, P", &tasks[10],
		  { .device = "opencl,opencl", .policy = "gts", .gts.strategy = MILL_STRATEGY_P },
		  100 * MIB, 0 },
	};
	static const enum mill_codec codecs[] = { MILL_CODEC_PACKED, MILL_CODEC_RAW };

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < ARRAY_LEN(codecs); i++) {
		mill_store *store = make_rmat(codecs[i]);
		struct answer want[N_TASKS];

		answers_begin(want, store);
		for (size_t k = 0; k < ARRAY_LEN(cases); k++)
			if (getenv("LONG") || k % 2 == i)
				try_all(store, &cases[k], &want[cases[k].task - tasks]);
		answers_end(want);
		graph_store_drop(store);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_calls),
};

SUITE(failure, tests, .setup = scratch_make, .teardown = scratch_remove);
