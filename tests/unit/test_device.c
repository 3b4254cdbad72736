/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL through the interface of the engine: order between queues, limits, programs, failures,
 * traces. Skipped without an OpenCL device.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/trace.h"
#include "device/device.h"
#include "helpers.h"

#define N 4096u
#define QUEUES 8u

static const char *const text[] = {
	"device/dialect.h",
	"__kernel void add(GLOBAL u32 *to, GLOBAL const u32 *from, u32 n, u32 rounds)\n"
	"{ u32 i = get_global_id(0); if (i >= n) return;\n"
	"  for (u32 r = 0; r < rounds; r++) to[i] += from[i]; }\n"
	"__kernel void sum(GLOBAL u32 *total, GLOBAL u64 *wide, GLOBAL const u32 *from,\n"
	"                  LOCAL u32 *room, u32 n)\n"
	"{ SHARED u32 all; u32 i = get_global_id(0);\n"
	"  if (!get_local_id(0)) all = 0;\n"
	"  room[get_local_id(0)] = i < n ? from[i] : 0;\n"
	"  BARRIER();\n"
	"  local_add_u32(&all, room[get_local_id(0)]);\n"
	"  BARRIER();\n"
	"  if (!get_local_id(0) && all) {\n"
	"    raw_add_u32(total, all); raw_add_u64(wide, (u64)all); } }\n"
	"__kernel void types(GLOBAL u64 *a, GLOBAL f32 *b, GLOBAL f64 *c, u32 n, u8 byte,\n"
	"                    f64 real)\n"
	"{ if (get_global_id(0) >= n) return;\n"
	"  dev_prefetch(&a[0]); dev_store_u64(&a[0], dev_load_u64(&a[1]) + byte);\n"
	"  dev_store_f32(&b[0], dev_load_f32(&b[1]) * 2);\n"
	"  dev_store_f64(&c[0], dev_load_f64(&c[1]) + real); }\n",
};
static const struct kernel_source source = { "test", text, 2 };
static const char *const bad_text[] = { "__kernel void f(GLOBAL int *p) { no such thing; }\n" };
static const struct kernel_source bad_source = { "bad", bad_text, 1 };

static struct budget host;

static struct device *open_named(const char *name, const struct device_how *how)
{
	struct device *d = NULL;

	if (device_open(&d, name, &host, how))
		fail_msg("%s: %s", name, mill_error());
	return d;
}

static mill_err open_error(const char *name, const struct device_how *how)
{
	struct device *d = NULL;

	return device_open(&d, name, &host, how);
}

static struct device *open_with(const struct device_how *how) { return open_named("opencl", how); }

static struct device *open_device(void)
{
	return open_with(&(struct device_how){ .memory = 64 * MIB, .queues = QUEUES });
}

static void new_buffer(struct device *d, struct buffer *b, u64 size)
{
	u32 zero = 0;

	OK(device_buffer(d, b, size, "test"));
	OK(device_fill(b, &zero, sizeof(zero)));
}

/* Launches a kernel of the program `source` with an array of arguments. */
#define LAUNCH(d, entry_, arg_, n_groups_, queue_)                                       \
	device_launch(d, &(struct launch){ .source = &source, .entry = entry_,           \
					   .arg = arg_, .n_args = ARRAY_LEN(arg_),       \
					   .n_groups = n_groups_, .queue = queue_ })

/* Adds `from` to `to` element by element, `rounds` times. */
static mill_err add(struct device *d, struct buffer *to, const struct buffer *from, u32 rounds,
		    u32 queue)
{
	u32 n = (u32)(to->size / 4);
	struct launch_arg arg[] = {
		{ .buffer = to },
		{ .buffer = from },
		{ .value = &n, .size = 4 },
		{ .value = &rounds, .size = 4 },
	};

	return LAUNCH(d, "add", arg, div_up(n, d->group), queue);
}

/*
 * Each queue gets a page and computes with it: after the commands of queue 0 before the fork, and
 * before its commands after the join.
 */
static void test_queues(void **state)
{
	static u32 page[QUEUES][N], got[N];
	struct device *d = open_device();
	struct ticket t[QUEUES + 1] = { { 0 } };
	struct buffer slot[QUEUES + 1], sum[QUEUES + 1], one = { 0 }, total = { 0 };
	u32 fill = 1;

	(void)state;
	assert_int_equal(d->n_queues, QUEUES);
	OK(device_prepare(d, &source));
	assert_true(d->driver > 0 && d->local > 0 && d->largest > 0 && d->group > 0);
	assert_int_equal(d->memory->used, 0);
	new_buffer(d, &one, sizeof(got));
	new_buffer(d, &total, sizeof(got));
	OK(device_fill(&one, &fill, 4));
	for (u32 q = 1; q <= QUEUES; q++) {
		new_buffer(d, &slot[q], sizeof(got));
		new_buffer(d, &sum[q], sizeof(got));
	}
	for (u32 round = 0; round < 20; round++) {
		for (u32 q = 0; q < QUEUES; q++)
			for (u32 i = 0; i < N; i++)
				page[q][i] = q * i + round;
		OK(add(d, &one, &total, 0, 0));
		for (u32 q = 1; q <= QUEUES; q++)
			OK(add(d, &sum[q], &one, 1000, 0));
		OK(device_fork(d));
		for (u32 q = 1; q <= QUEUES; q++) {
			if (q == 3 && round % 2)
				continue;	/* a queue without commands in this round */
			slot[q].kind = TRAFFIC_TOPOLOGY;
			OK(device_send(&slot[q], 0, page[q - 1], sizeof(got), q, &t[q]));
			OK(add(d, &sum[q], &slot[q], 1, q));
		}
		for (u32 q = 1; q <= QUEUES; q++)
			OK(device_wait(&t[q]));
		OK(device_join(d));
		for (u32 q = 1; q <= QUEUES; q++)
			OK(add(d, &total, &sum[q], 1, 0));
	}
	OK(device_read(&sum[2], 0, got, sizeof(got)));
	for (u32 i = 0; i < N; i++)
		assert_int_equal(got[i], 20 * 1000 + 20 * i + 190);
	OK(device_read(&total, 0, got, sizeof(got)));
	for (u32 i = 0; i < N; i++) {
		u32 want = 0, s[QUEUES + 1] = { 0 };

		for (u32 round = 0; round < 20; round++)
			for (u32 q = 1; q <= QUEUES; q++) {
				s[q] += 1000 + (q == 3 && round % 2 ? 0 : (q - 1) * i + round);
				want += s[q];
			}
		assert_int_equal(got[i], want);
	}
	assert_int_equal(d->to_device[TRAFFIC_TOPOLOGY], (20 * QUEUES - 10) * sizeof(got));
	for (u32 q = 1; q <= QUEUES; q++) {
		device_buffer_free(&slot[q]);
		device_buffer_free(&sum[q]);
	}
	device_buffer_free(&one);
	device_buffer_free(&total);
	assert_int_equal(d->memory->used, 0);
	device_close(d);
}

/*
 * Queue 1 waits for transfers of queue 2, not the host: one transfer before each kernel,
 * or more before the first kernel than a queue keeps events (the oldest is waited for then).
 */
static void test_after(void **state)
{
	static u32 page[QUEUES][64 * N], got[64 * N];
	struct device *d = open_device();
	struct buffer slot[QUEUES] = { { 0 } }, sum = { 0 };
	struct ticket t[QUEUES] = { { 0 } };

	(void)state;
	new_buffer(d, &sum, sizeof(got));
	for (u32 i = 0; i < QUEUES; i++)
		new_buffer(d, &slot[i], sizeof(got));
	device_after(d, 1, &t[0]);	/* there is no transfer yet */
	for (u32 round = 0; round < 10; round++) {
		u32 together = round % 2 ? QUEUES : 1;

		for (u32 i = 0; i < QUEUES; i++)
			for (u32 k = 0; k < 64 * N; k++)
				page[i][k] = round + i * k;
		OK(device_fork(d));
		for (u32 i = 0; i < QUEUES; i += together) {
			for (u32 k = i; k < i + together; k++) {
				OK(device_send(&slot[k], 0, page[k], sizeof(got), 2, &t[k]));
				device_after(d, 1, &t[k]);
			}
			for (u32 k = i; k < i + together; k++)
				OK(add(d, &sum, &slot[k], 1, 1));
		}
		OK(device_join(d));
		for (u32 i = 0; i < QUEUES; i++)
			OK(device_wait(&t[i]));
	}
	OK(device_read(&sum, 0, got, sizeof(got)));
	for (u32 k = 0; k < 64 * N; k++)
		assert_int_equal(got[k], QUEUES * 45 + 10 * (QUEUES * (QUEUES - 1) / 2) * k);
	for (u32 i = 0; i < QUEUES; i++)
		device_buffer_free(&slot[i]);
	device_buffer_free(&sum);
	device_close(d);
}

/* More commands than the device keeps, without a wait; and a fork without a join. */
static void test_many(void **state)
{
	struct device *d = open_device();
	struct buffer a = { 0 }, b = { 0 };
	struct ticket t = { 0 };
	u32 one = 1, got = 0, page[64] = { 0 };

	(void)state;
	new_buffer(d, &a, 256);
	new_buffer(d, &b, 256);
	OK(device_fill(&b, &one, 4));
	for (u32 i = 0; i < 2000; i++)
		OK(add(d, &a, &b, 1, 0));
	OK(device_fork(d));
	for (u32 i = 0; i < 2000; i++)
		OK(add(d, &a, &b, 1, 5));
	OK(device_fork(d));
	OK(add(d, &a, &b, 1, 6));
	OK(device_join(d));
	OK(device_read(&a, 8, &got, 4));
	assert_int_equal(got, 4001);
	OK(device_fork(d));
	OK(device_send(&a, 0, page, sizeof(page), 2, &t));
	device_drain(d);
	OK(device_wait(&t));
	OK(device_read(&a, 0, page, 4));
	OK(device_fork(d));
	OK(add(d, &a, &b, 1000, 1));
	device_buffer_free(&a);	/* the kernel still uses it */
	device_buffer_free(&b);
	device_close(d);
}

#define SLOW(name) \
	"__kernel void " name "(GLOBAL u32 *to, u32 n, u32 rounds)\n" \
	"{ u32 x = to[0]; if (!n) return;\n" \
	"  for (u32 r = 0; r < rounds; r++) x = x * 5 + 1;\n" \
	"  if (x == 7) to[1] = x; if (!get_global_id(0)) to[0]++; }\n"
static const char *const slow_text[] = {
	"device/dialect.h",
	SLOW("slow_0") SLOW("slow_1") SLOW("slow_2") SLOW("slow_3"),
};
static const struct kernel_source slow_source = { "slow", slow_text, 2 };

/*
 * Wider and wider grids of a kernel while others run, in a program that is first used after a
 * fork: PoCL 3.1 would compile the kernel again for each width and count its users wrongly.
 */
static void test_grids(void **state)
{
	static const char *const entry[] = { "slow_0", "slow_1", "slow_2", "slow_3" };
	struct device *d = open_device();
	struct buffer a[QUEUES + 1] = { { 0 } };
	u32 n = 1, rounds = 2000, want = 0;

	(void)state;
	for (u32 q = 1; q <= QUEUES; q++)
		new_buffer(d, &a[q], 64);
	OK(device_fork(d));
	for (size_t k = 0; k < ARRAY_LEN(entry); k++)
		for (u32 groups = 1; groups < 20000; groups += groups / 2 + 1, want++)
			for (u32 q = 1; q <= QUEUES; q++) {
				struct launch_arg arg[] = {
					{ .buffer = &a[q] },
					{ .value = &n, .size = 4 },
					{ .value = &rounds, .size = 4 },
				};
				struct launch launch = {
					.source = &slow_source,
					.entry = entry[k],
					.arg = arg,
					.n_args = 3,
					.n_groups = groups + q / 4,
					.queue = q,
				};

				OK(device_launch(d, &launch));
			}
	OK(device_join(d));
	for (u32 q = 1; q <= QUEUES; q++) {
		u32 got = 0;

		OK(device_read(&a[q], 0, &got, 4));
		assert_int_equal(got, want);
		device_buffer_free(&a[q]);
	}
	device_close(d);
}

static mill_err sum(struct device *d, struct buffer *total, struct buffer *wide,
		    const struct buffer *from, size_t room)
{
	u32 n = (u32)(from->size / 4);
	struct launch_arg arg[] = {
		{ .buffer = total },
		{ .buffer = wide },
		{ .buffer = from },
		{ .size = room },
		{ .value = &n, .size = 4 },
	};

	return LAUNCH(d, "sum", arg, div_up(n, d->group), 0);
}

static void test_local(void **state)
{
	struct device *d = open_device();
	struct buffer total = { 0 }, wide = { 0 }, from = { 0 };
	u32 three = 3, got = 0;
	u64 got_wide = 0;

	(void)state;
	new_buffer(d, &total, 4);
	new_buffer(d, &wide, 8);
	new_buffer(d, &from, 4 * N);
	OK(device_fill(&from, &three, 4));
	OK(sum(d, &total, &wide, &from, 4 * d->group));
	OK(device_read(&total, 0, &got, 4));
	OK(device_read(&wide, 0, &got_wide, 8));
	assert_int_equal(got, 3 * N);
	assert_int_equal(got_wide, 3 * N);
	/* Too much local memory, together with what the kernel declares itself. */
	assert_int_equal(sum(d, &total, &wide, &from, d->local), MILL_EDEVICE);
	assert_non_null(strstr(mill_error(), "local memory"));
	device_buffer_free(&total);
	device_buffer_free(&wide);
	device_buffer_free(&from);
	device_close(d);
}

static void test_types(void **state)
{
	struct device *d = open_device();
	struct buffer a = { 0 }, b = { 0 }, c = { 0 };
	u64 ints[2] = { 0, (u64)1 << 40 };
	f32 reals[2] = { 0, 1.5f };
	f64 doubles[2] = { 0, 0.1 }, more = 0.25;
	u32 n = 1;
	u8 byte = 7;
	struct launch_arg arg[] = {
		{ .buffer = &a },
		{ .buffer = &b },
		{ .buffer = &c },
		{ .value = &n, .size = 4 },
		{ .value = &byte, .size = 1 },
		{ .value = &more, .size = 8 },
	};

	(void)state;
	new_buffer(d, &a, sizeof(ints));
	new_buffer(d, &b, sizeof(reals));
	new_buffer(d, &c, sizeof(doubles));
	OK(device_write(&a, 0, ints, sizeof(ints)));
	OK(device_write(&b, 0, reals, sizeof(reals)));
	OK(device_write(&c, 0, doubles, sizeof(doubles)));
	OK(LAUNCH(d, "types", arg, 1, 0));
	OK(device_read(&a, 0, ints, 8));
	OK(device_read(&b, 0, reals, 4));
	OK(device_read(&c, 0, doubles, 8));
	assert_int_equal(ints[0], ((u64)1 << 40) + 7);
	assert_true(reals[0] == 3.0f && doubles[0] == 0.1 + 0.25);
	device_buffer_free(&a);
	device_buffer_free(&b);
	device_buffer_free(&c);
	device_close(d);
}

/* A request beyond the limits of the device gives one line of error, not an abort. */
static void test_limits(void **state)
{
	static const u32 group[] = { 1, 4, 64, 256 };
	const struct launch missing = { .source = &source, .entry = "nothing", .n_groups = 1 };
	struct device *d = NULL;
	struct buffer b = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(group); i++) {
		d = open_with(&(struct device_how){ .memory = MIB, .group = group[i] });
		assert_int_equal(d->group, group[i]);
		OK(device_prepare(d, &source));
		device_close(d);
	}
	assert_int_equal(open_error("opencl", &(struct device_how){ .group = 1u << 30 }),
			 MILL_EDEVICE);
	assert_non_null(strstr(mill_error(), "the device allows"));
	assert_int_equal(open_error("opencl:99", &(struct device_how){ .memory = MIB }),
			 MILL_EDEVICE);
	d = open_with(&(struct device_how){ .memory = MIB });
	assert_int_equal(d->n_queues, 32);
	assert_int_equal(device_buffer(d, &b, 2 * MIB, "too much"), MILL_ENOMEM);
	assert_int_equal(device_prepare(d, &bad_source), MILL_EDEVICE);
	assert_non_null(strstr(mill_error(), "'bad'"));
	assert_null(strchr(mill_error(), '\n'));
	OK(device_prepare(d, &source));	/* the device is still usable */
	assert_int_equal(device_launch(d, &missing), MILL_EDEVICE);
	device_close(d);
	/* No memory for the launch that warms a program up. */
	d = open_with(&(struct device_how){ .memory = 16 });
	OK(device_prepare(d, &source));
	device_close(d);
}

/* ---- Several devices ---- */

/* Returns the names that a list stands for, with blanks between them; "N": the error code N. */
static const char *expanded(const char *list)
{
	static char all[MILL_DEVICES_MOST * (DEVICE_NAME + 1)];
	char name[MILL_DEVICES_MOST][DEVICE_NAME];
	u32 n = 0;
	mill_err err = device_names_expand(name, &n, list);

	snprintf(all, sizeof(all), "%d", err);
	for (u32 i = 0; i < n && !err; i++) {
		size_t used = i ? strlen(all) : 0;

		snprintf(all + used, sizeof(all) - used, "%s%.*s", i ? " " : "", DEVICE_NAME - 1,
			 name[i]);
	}
	return all;
}

/* Compute units of the first device, and the number of divisions that it supports. */
static u32 units, parts;

static void test_names(void **state)
{
	static const struct {
		const char *list, *want;
	} cases[] = {
		{ "cpu", "cpu" },
		{ "opencl", "opencl:0" },
		{ "opencl:0", "opencl:0" },
		{ "opencl:7,opencl", "opencl:7 opencl:0" },
		{ "opencl:0,opencl:0,opencl:0", "opencl:0 opencl:0 opencl:0" },
		{ "opencl:007", "opencl:7" },
		{ "opencl:1/4:3", "opencl:1/4:3" },
		{ "opencl:0/1023:1022", "opencl:0/1023:1022" },
		/* The name of one device is not looked up; */
		{ "opencl:1023", "opencl:1023" },
		/* a list that stands for several is. */
		{ "opencl:999/2", "8" },
		{ "opencl:0/1023", "8" },
	};
	static const char *const no_names[] = {
		"opencl:1024", "opencl:99999999999999999999", "", ",", "opencl,", ",opencl",
		"opencl,,opencl", "opencl:", "opencl:-1", "opencl:0 ", "opencl:0x1", "opencl:al",
		"opencl:all:0", "opencl/2", "opencl:0/", "opencl:0/0", "opencl:0/0:0",
		"opencl:0/2:", "opencl:0/2:2", "opencl:0/2:1:0", "opencl:0/2/2", "opencl:0:1",
		"gpu", "cpu,cpu", "cpu,opencl", "opencl,cpu", "cpu,opencl:all",
	};
	char list[64 * 8] = "opencl", want[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (strcmp(expanded(cases[i].list), cases[i].want))
			fail_msg("'%s' is '%s', not '%s'", cases[i].list, expanded(cases[i].list),
				 cases[i].want);
	for (size_t i = 0; i < ARRAY_LEN(no_names); i++)
		if (strcmp(expanded(no_names[i]), "2"))
			fail_msg("'%s' is '%s', not an error", no_names[i], expanded(no_names[i]));
	for (u32 i = 1; i < MILL_DEVICES_MOST; i++)
		strcat(list, ",opencl");
	assert_memory_equal(expanded(list), "opencl:0 ", 9);
	strcat(list, ",opencl");
	assert_string_equal(expanded(list), "2");
	assert_non_null(strstr(mill_error(), "16"));
	assert_memory_equal(expanded("opencl:all"), "opencl:0", 8);
	if (parts >= 2 && units % 2 == 0) {
		assert_string_equal(expanded("opencl:0/2"), "opencl:0/2:0 opencl:0/2:1");
		assert_string_equal(expanded("opencl:0/2:1,opencl:0/2"),
				    "opencl:0/2:1 opencl:0/2:0 opencl:0/2:1");
	}
	snprintf(want, sizeof(want), "opencl:0/%u", units + 1);
	assert_string_equal(expanded(want), "8");
}

#ifndef NDEBUG
/* A launch with the buffer of another device fails an assertion. Runs in a child process. */
static void expect_abort(struct device *d, struct buffer *a, const struct buffer *b)
{
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		signal(SIGABRT, SIG_DFL);
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		close(STDERR_FILENO);
		add(d, a, b, 1, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
#endif

/* Two devices at once: each has its own queues, programs, memory and counters. */
static void use_two(const char *first, const char *second)
{
	static u32 page[2][N], got[N];
	static const u64 memory[2] = { MIB, 2 * MIB };
	const char *const name[2] = { first, second };
	struct device *d[2];
	struct buffer from[2], to[2], more = { 0 };
	struct ticket t[2] = { { 0 } };

	for (u32 k = 0; k < 2; k++) {
		d[k] = open_named(name[k],
				  &(struct device_how){ .memory = memory[k], .queues = 2 });
		assert_string_equal(d[k]->name, name[k]);
		new_buffer(d[k], &from[k], sizeof(got));
		new_buffer(d[k], &to[k], sizeof(got));
		for (u32 i = 0; i < N; i++)
			page[k][i] = (k + 1) * i;
	}
	for (u32 k = 0; k < 2; k++) {
		OK(device_fork(d[k]));
		OK(device_send(&from[k], 0, page[k], sizeof(got), 1, &t[k]));
		OK(add(d[k], &to[k], &from[k], 1000, 1));
	}
	for (u32 k = 0; k < 2; k++) {
		OK(device_wait(&t[k]));
		OK(device_join(d[k]));
	}
	for (u32 k = 0; k < 2; k++) {
		OK(device_read(&to[k], 0, got, sizeof(got)));
		for (u32 i = 0; i < N; i++)
			assert_int_equal(got[i], 1000 * (k + 1) * i);
		assert_int_equal(d[k]->memory->limit, memory[k]);
		assert_int_equal(d[k]->memory->used, 2 * sizeof(got));
		assert_int_equal(d[k]->to_device[TRAFFIC_WRITABLE], sizeof(got));
	}
	/* Budgets are separate, and a buffer of one device is no argument for the other. */
	assert_int_equal(device_buffer(d[0], &more, MIB, "more"), MILL_ENOMEM);
	OK(device_buffer(d[1], &more, MIB, "more"));
	assert_int_equal(d[0]->memory->used, 2 * sizeof(got));
	device_buffer_free(&more);
#ifndef NDEBUG
	expect_abort(d[0], &to[0], &from[1]);
	expect_abort(d[1], &to[0], &from[1]);
#endif
	for (u32 k = 0; k < 2; k++) {
		device_buffer_free(&from[k]);
		device_buffer_free(&to[k]);
	}
	device_close(d[0]);
	/* The second one is still usable. */
	new_buffer(d[1], &more, 64);
	OK(add(d[1], &more, &more, 3, 0));
	OK(device_read(&more, 0, got, 4));
	device_buffer_free(&more);
	device_close(d[1]);
}

static void test_two(void **state)
{
	(void)state;
	use_two("opencl:0", "opencl:0");
}

static void test_parts(void **state)
{
	const struct device_how how = { 0 };
	struct device *whole, *half;

	(void)state;
	assert_int_equal(open_error("opencl:0/1023:0", &how), MILL_EDEVICE);
	assert_int_equal(open_error("opencl:0/2", &how), MILL_EUSAGE);
	assert_int_equal(open_error("opencl:all", &how), MILL_EUSAGE);
	assert_int_equal(open_error("opencl,opencl", &how), MILL_EUSAGE);
	if (parts < 2 || units % 2)
		skip();
	use_two("opencl:0/2:0", "opencl:0/2:1");
	use_two("opencl:0/2:1", "opencl:0");
	whole = open_with(&how);
	half = open_named("opencl:0/2:1", &how);
	assert_true(half->memory->limit <= whole->memory->limit / 2 + 1);
	device_close(half);
	device_close(whole);
}

/* ---- Traces ---- */

#define ROUNDS 3u

struct spans {
	u32 n;
	f64 begin[ROUNDS * QUEUES], end[ROUNDS * QUEUES];
};

/*
 * Runs transfers and kernels on all queues but 0. Returns the seconds from opening the device to
 * closing it.
 */
static f64 work(u32 *page, size_t size)
{
	struct buffer slot[QUEUES + 1], total[QUEUES + 1];
	struct ticket t[QUEUES + 1] = { { 0 } };
	f64 began = clock_now();
	struct device *d = open_device();

	OK(device_prepare(d, &source));
	for (u32 q = 1; q <= QUEUES; q++) {
		new_buffer(d, &slot[q], size);
		new_buffer(d, &total[q], size);
	}
	OK(device_fork(d));
	for (u32 i = 0; i < ROUNDS * QUEUES; i++) {
		u32 q = i % QUEUES + 1;

		OK(device_wait(&t[q]));
		OK(device_send(&slot[q], 0, page, size, q, &t[q]));
		OK(add(d, &total[q], &slot[q], 3, q));
	}
	for (u32 q = 1; q <= QUEUES; q++)
		OK(device_wait(&t[q]));
	OK(device_join(d));
	OK(device_read(&total[1], 0, page, size));
	for (u32 q = 1; q <= QUEUES; q++) {
		device_buffer_free(&slot[q]);
		device_buffer_free(&total[q]);
	}
	device_close(d);
	return clock_now() - began;
}

/* Reads the spans of all queues but 0 from a trace: out[0] transfers, out[1] kernels. */
static void read_spans(const char *path, struct spans *out)
{
	f64 last_end[2 * QUEUES + 2] = { 0 };
	FILE *f = fopen(path, "r");
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "\"tid\": 1000");
		struct spans *s;
		u32 track;
		f64 ts, dur;

		if (!at || !strstr(line, "\"X\""))
			continue;
		if (sscanf(at, "\"tid\": %u, \"ts\": %lf, \"dur\": %lf", &track, &ts, &dur) != 3)
			continue;
		if (track < 1000000 + TRACE_QUEUE + 2)
			continue;
		track -= 1000000 + TRACE_QUEUE;
		assert_true(track < ARRAY_LEN(last_end));
		assert_true(ts >= last_end[track] - 0.002);	/* spans of a track are in order */
		last_end[track] = ts + dur;
		s = &out[track % 2];
		assert_true(s->n < ARRAY_LEN(s->begin));
		s->begin[s->n] = ts;
		s->end[s->n++] = ts + dur;
	}
	fclose(f);
}

/* Times of the device are converted to the host's clock; transfers overlap kernels. */
static void test_trace(void **state)
{
	static u32 page[MIB / 2];
	char path[] = "/tmp/mill-device-XXXXXX";
	struct spans spans[2] = { { 0 } };
	struct mill_device device[2];
	f64 length, shared = 0;
	struct trace *trace;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	OK(trace_open(&trace, path, NULL));
	trace_use(trace);
	length = work(page, sizeof(page)) * 1e6;
	OK(trace_close(trace));
	read_spans(path, spans);
	unlink(path);
	assert_int_equal(spans[0].n, ROUNDS * QUEUES);
	assert_int_equal(spans[1].n, ROUNDS * QUEUES);
	for (u32 i = 0; i < spans[0].n; i++)
		for (u32 j = 0; j < spans[1].n; j++) {
			f64 from = fmax(spans[0].begin[i], spans[1].begin[j]);
			f64 to = fmin(spans[0].end[i], spans[1].end[j]);

			assert_true(spans[0].begin[i] > 0 && spans[0].end[i] < length + 1000);
			shared += fmax(to - from, 0);
		}
	if (mill_devices(device, 2) > 1 && device[1].units > 1)
		assert_true(shared > 0);
}

/* Sets units and parts. Returns false if there is no OpenCL device. */
static bool find_device(void)
{
	struct mill_device device[2];

	budget_init(&host, 0);
	if (mill_devices(device, ARRAY_LEN(device)) < 2)
		return false;
	units = device[1].units;
	parts = device[1].parts;
	return true;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_queues),
	cmocka_unit_test(test_grids),
	cmocka_unit_test(test_after),
	cmocka_unit_test(test_many),
	cmocka_unit_test(test_local),
	cmocka_unit_test(test_types),
	cmocka_unit_test(test_limits),
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_two),
	cmocka_unit_test(test_parts),
	cmocka_unit_test(test_trace),
};

SUITE(device, tests, .usable = find_device);
