/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every OpenCL call of a run fails once, or from then on; with several devices, the calls of all are
 * counted together, so that each device meets faults.
 */
#include <millrace.h>

#include "fault/sweep.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "unit/unit.h"

#define KRON \
	"generate kron --scale 9 --degree 120 --multigraph --seed 4 --weights u32 --directed --page-size 64K"
/* Pages are divided among three devices; the state is divided between two, in two chunks. */
#define DIVIDE_PAGES " --policy gts --device opencl,opencl,opencl --strategy p"
#define DIVIDE_STATE " --policy gts --device opencl,opencl --strategy s --chunks 2"

static const char *const ops[] = { "open", "build",  "alloc", "write", "read",
				   "fill", "launch", "wait",  "finish" };

/* A command on the cpu, and what it needs in addition to run on devices. */
struct device_command {
	const char *line, *device;
	bool each_op; /* sweeps each kind of call; else only all together */
};

static const struct device_command on_one[] = {
	{ "bfs g.mill --source 0 --check", " --device opencl", true },
	{ "sssp g.mill --source 0", " --device opencl", false },
	{ "pagerank g.mill --iterations 2 --tolerance 0", " --device opencl", false },
	{ "sssp g.mill --source 0 --check", " --policy graphie --partition-size 24 --device opencl",
	  true },
	/* Sends lists of its own to the device. */
	{ "triangles g.mill --lcc=directed --check", " --device opencl", true },
};

static const struct device_command on_several[] = {
	{ "bfs kron.mill --source max-degree --check", DIVIDE_PAGES, true },
	{ "sssp kron.mill --source max-degree", DIVIDE_STATE, true },
	{ "pagerank paged.mill --exact --iterations 3 --tolerance 0 --check",
	  DIVIDE_PAGES " --device-cache 0", false },
};

static int make_inputs(void **state)
{
	static const char *const setup[] = {
		"import g.el --weights 3 --page-size 64K -o g.mill",
		KRON " -o kron.mill",
		KRON " --addressing paged -o paged.mill",
		KRON " --stripe a,b -o striped.mill",
	};

	if (commands_begin(state))
		return -1;
	if (mkdir("a", 0700) || mkdir("b", 0700))
		return -1;
	file_write("g.el", "0 1 1\n0 2 5\n1 3 1\n2 3 1\n4 0 1\n1 4 2\n");
	for (size_t i = 0; i < ARRAY_LEN(setup); i++)
		if (command_run(NULL, setup[i])) {
			print_error("millrace %s: %s", setup[i], printed.err);
			return -1;
		}
	return 0;
}

/* Returns the command with its options for devices; what it makes on the cpu is what it must make. */
static struct subject prepare(const struct device_command *c, const char *more)
{
	static char line[512];

	snprintf(line, sizeof(line), "%s -o want.tsv", c->line);
	tree_remove("want.tsv");
	command_must(line);
	snprintf(line, sizeof(line), "%s%s%s -o made.tsv", c->line, c->device, more);
	return (struct subject){ .line = line, .makes = "made.tsv", .want = "want.tsv" };
}

/* ---- OpenCL calls ---- */

static void sweep_calls(const struct device_command *c, unsigned every, unsigned per_cent)
{
	struct plague p = { .code = { 8 }, .every = every, .per_cent = per_cent };
	struct subject s = prepare(c, "");
	char fault[64];

	p.fault = fault;
	for (size_t i = 0; c->each_op && i < ARRAY_LEN(ops); i++) {
		snprintf(fault, sizeof(fault), "cl:op=%s,n=%%u", ops[i]);
		sweep(&s, &p);
	}
	snprintf(fault, sizeof(fault), "cl:op=any,n=%%u");
	sweep(&s, &p);
}

static void test_a_call_fails(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(on_one); i++)
		sweep_calls(&on_one[i], 4, 40);
}

static void test_a_call_of_several_devices_fails(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(on_several); i++)
		sweep_calls(&on_several[i], 1, 80);
}

static void test_a_call_of_a_part_fails(void **state)
{
	static const struct device_command part = { "bfs g.mill --source 0 --check",
						    " --device opencl:0/2:1", false };

	(void)state;
	command_must("list devices");
	if (!strstr(printed.out, "divisible"))
		skip();
	sweep_calls(&part, 4, 40);
}

static void test_devices_fail_for_good(void **state)
{
	static const char *const faults[] = {
		"cl:op=launch,n=1,sticky",
		"cl:op=launch,n=9,sticky",
		"cl:op=wait,n=1,sticky",
		"cl:op=wait,n=9,sticky",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(on_one); i++) {
		struct subject s = prepare(&on_one[i], "");

		for (size_t k = 0; k < ARRAY_LEN(faults); k++)
			if (!sweep_once(&s, &(struct plague){ .fault = faults[k], .code = { 8 } },
					0) &&
			    fault_struck())
				fail_msg("%s of millrace %s: exit 0", faults[k], s.line);
	}
	for (size_t i = 0; i < ARRAY_LEN(on_several); i++) {
		struct subject s = prepare(&on_several[i], "");

		sweep(&s, &(struct plague){ .fault = "cl:op=any,n=%u,sticky",
					    .code = { 8 },
					    .every = 1,
					    .per_cent = 150 });
	}
}

/* Fails unless the last command says on stdout that it ran on the cpu, and in its report too. */
static void expect_fallback(const struct subject *s, const char *fault)
{
	static const char *const parts[] = { "\"device\": \"cpu\"", "\"gts\": null",
					     "\"error\": null" };
	char report[65536];

	if (!strstr(printed.out, "\n  device  opencl") || !strstr(printed.out, " failed (") ||
	    !strstr(printed.out, "), ran on the cpu\n"))
		fail_msg("%s of millrace %s: stdout does not say that it ran on the cpu: %s", fault,
			 s->line, printed.out);
	file_text(report, sizeof(report), "report.json");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!strstr(report, parts[i]))
			fail_msg("%s of millrace %s: its report lacks %s", fault, s->line,
				 parts[i]);
}

static void test_fallback_gives_the_result(void **state)
{
	static const struct {
		const struct device_command *command;
		size_t n;
		const char *fault[6];
	} rows[] = {
		{ on_one,
		  ARRAY_LEN(on_one),
		  { "cl:op=launch,n=1,sticky", "cl:op=wait,n=9,sticky" } },
		{ on_several,
		  ARRAY_LEN(on_several),
		  { "cl:op=launch,n=5", "cl:op=write,n=9,sticky", "cl:op=read,n=3",
		    "cl:op=wait,n=4,sticky", "cl:op=open,n=3", "cl:op=finish,n=2" } },
	};

	(void)state;
	file_write("report.json", "");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < rows[i].n; k++) {
			struct subject s =
				prepare(&rows[i].command[k], " --fallback --json=report.json");

			for (size_t f = 0; f < ARRAY_LEN(rows[i].fault) && rows[i].fault[f]; f++) {
				sweep_once(&s, &(struct plague){ .fault = rows[i].fault[f] }, 0);
				expect_fallback(&s, rows[i].fault[f]);
			}
		}
}

/* Some of the devices are open when another fails. */
static void test_opening_several_devices_fails(void **state)
{
	static const char line[] = "degrees g.mill --device opencl,opencl,opencl --fallback";
	unsigned struck = 0;

	(void)state;
	for (unsigned n = 1; n <= 24; n++) {
		char fault[64];
		int code;

		snprintf(fault, sizeof(fault), "cl:op=open,n=%u", n);
		code = command_run(fault, line);
		if (!code && strstr(printed.out, "\n  device  opencl,opencl,opencl failed (") &&
		    strstr(printed.out, "), ran on the cpu\n"))
			struck++;
		else if (code != 2 || !printed_one_error() ||
			 !strstr(printed.err, "runs on one device"))
			fail_msg("%s of millrace %s: exit %d: %s%s", fault, line, code, printed.out,
				 printed.err);
	}
	if (struck <= 6)
		fail_msg("of opening three devices only %u calls failed", struck);
}

static void test_errors_have_reasons(void **state)
{
	(void)state;
	if (command_run("cl:op=launch,n=1,err=-6", "bfs g.mill --source 0 --device opencl") != 8 ||
	    !strstr(printed.err, "no memory left"))
		fail_msg("OpenCL error -6: %s", printed.err);
	command_refuses(8, "bfs g.mill --source 0 --device opencl --group-size 65536",
			"the device allows");
	command_refuses(8, "bfs g.mill --source 0 --device opencl:77", "no OpenCL device 77");
}

/* ---- Memory and files ---- */

static const struct device_command with_files[] = {
	{ "bfs kron.mill --source max-degree", DIVIDE_PAGES, false },
	{ "cc paged.mill", DIVIDE_STATE, false },
};

static void test_the_host_fails(void **state)
{
	static const struct {
		const char *more, *hold;
		struct plague plague;
	} rows[] = {
		{ "", NULL, { .fault = "alloc:n=%u", .code = { 7 }, .every = 1, .per_cent = 30 } },
		{ "",
		  NULL,
		  { .fault = "alloc:n=%u,sticky", .code = { 7 }, .every = 1, .per_cent = 80 } },
		{ " --device-cache 0 --main-buffer 1",
		  "hold:n=1",
		  { .fault = "io:op=read,n=%u,err=EIO",
		    .code = { 5 },
		    .every = 1,
		    .per_cent = 25 } },
		{ " --device-cache 0 --io pread",
		  "hold:n=1",
		  { .fault = "io:op=read,n=%u,err=EIO",
		    .code = { 5 },
		    .every = 1,
		    .per_cent = 60 } },
		{ " --device-cache 0",
		  "hold:n=1",
		  { .fault = "io:op=read,n=%u,short=512", .every = 1, .per_cent = 400 } },
		{ " --io pread",
		  "hold:n=1",
		  { .fault = "io:op=read,n=%u,err=EINTR", .every = 1, .per_cent = 400 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(with_files); i++)
		for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
			struct subject s = prepare(&with_files[i], rows[k].more);

			s.hold = rows[k].hold;
			sweep(&s, &rows[k].plague);
		}
}

/* Returns the least device memory of a command, as its refusal says. */
static unsigned long long least_memory(const char *line)
{
	char small[256];
	const char *at;

	snprintf(small, sizeof(small), "%s --device-memory 1K", line);
	command_refuses(7, small, "needs ");
	at = strstr(printed.err, "needs ") + strlen("needs ");
	return strtoull(at, NULL, 10);
}

static void test_the_host_fails_beside_one_device(void **state)
{
	static const struct plague plagues[] = {
		{ .fault = "alloc:n=%u", .code = { 7 }, .every = 2, .per_cent = 20 },
		{ .fault = "alloc:n=%u,sticky", .code = { 7 }, .every = 1, .per_cent = 60 },
		{ .fault = "io:op=read,n=%u,err=EIO", .code = { 5 }, .every = 2, .per_cent = 20 },
		{ .fault = "io:op=read,n=%u,short=512", .every = 1, .per_cent = 100 },
	};
	char least[64];

	(void)state;
	snprintf(least, sizeof(least), " --device opencl --device-memory %llu",
		 least_memory("bfs kron.mill --source max-degree --device opencl -o none.tsv"));
	for (size_t i = 0; i < ARRAY_LEN(plagues); i++) {
		/* A page at a time, or all pages. */
		struct device_command c = { "bfs kron.mill --source max-degree",
					    i % 2 ? " --device opencl" : least, false };
		struct subject s = prepare(&c, "");

		sweep(&s, &plagues[i]);
	}
}

/* A part of the pages is gone, cut off, or has another byte. */
static void test_pages_are_damaged(void **state)
{
	static const char *const devices[] = { DIVIDE_PAGES, DIVIDE_STATE,
					       " --policy gts --device opencl" };
	char file[PATH_MAX], folder[PATH_MAX];
	glob_t found;
	off_t size;
	int fd;

	(void)state;
	assert_int_equal(glob("b/striped.mill-*", 0, NULL, &found), 0);
	snprintf(folder, sizeof(folder), "%s", found.gl_pathv[0]);
	snprintf(file, sizeof(file), "%s/out.pages", found.gl_pathv[0]);
	globfree(&found);
	file_copy("whole", file);
	for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
		char bfs[256], pagerank[256], fallback[512];

		snprintf(bfs, sizeof(bfs), "bfs striped.mill --source max-degree --check%s",
			 devices[i]);
		snprintf(pagerank, sizeof(pagerank), "pagerank striped.mill --exact%s", devices[i]);
		snprintf(fallback, sizeof(fallback), "%s --fallback", pagerank);
		assert_int_equal(rename(folder, "gone"), 0);
		command_refuses(5, bfs, "stripe.1");
		assert_int_equal(rename("gone", folder), 0);

		fd = open(file, O_RDWR | O_CLOEXEC);
		size = lseek(fd, 0, SEEK_END);
		assert_int_equal(ftruncate(fd, size - 65536), 0);
		close(fd);
		command_refuses(4, bfs, "");
		file_copy(file, "whole");

		fd = open(file, O_RDWR | O_CLOEXEC);
		assert_int_equal(pwrite(fd, "\x5a", 1, 70000), 1);
		close(fd);
		command_refuses(4, pagerank, "page");
		command_refuses(4, fallback, "page"); /* the cpu reads the same page */
		file_copy(file, "whole");
		command_must(bfs);
	}
}

/* Returns false without an OpenCL device, and under ThreadSanitizer, which reports the driver. */
static bool usable(void)
{
#ifdef __SANITIZE_THREAD__
	return false;
#else
	return mill_devices(NULL, 0) > 1;
#endif
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_call_fails),
	cmocka_unit_test(test_a_call_of_a_part_fails),
	cmocka_unit_test(test_a_call_of_several_devices_fails),
	cmocka_unit_test(test_devices_fail_for_good),
	cmocka_unit_test(test_fallback_gives_the_result),
	cmocka_unit_test(test_opening_several_devices_fails),
	cmocka_unit_test(test_errors_have_reasons),
	cmocka_unit_test(test_the_host_fails),
	cmocka_unit_test(test_the_host_fails_beside_one_device),
	cmocka_unit_test(test_pages_are_damaged),
};

SUITE(device, tests, .usable = usable, .setup = make_inputs, .teardown = commands_end);
