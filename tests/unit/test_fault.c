/* SPDX-License-Identifier: Apache-2.0 */
/* Injected faults. A process reads MILL_FAULT once, so every case runs in a child process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sort.h"
#include "helpers.h"

/* Returns 0 if MILL_FAULT is correct, 1 if not, 2 if fault_bad() names another text. */
static int is_bad(void)
{
	return fault_bad() ? 1 + !!strcmp(fault_bad(), getenv("MILL_FAULT")) : 0;
}

static void test_syntax(void **state)
{
	static const char *const good[] = {
		"",
		"alloc:n=1",
		"alloc:n=7,sticky",
		"alloc:sticky,n=7",
		"io:op=write,n=3,err=ENOSPC",
		"io:op=any,n=1,err=EIO,sticky",
		"io:op=read,n=1,short=100",
		"alloc:n=1;io:op=sync,n=2,err=EIO;io:op=mkdir,n=1,err=EACCES",
		"alloc:n=1;",
		"cl:op=launch,n=1",
		"cl:op=any,n=3,err=-5,sticky",
		"hold:n=3;cl:n=2,op=wait",
	};
	static const char *const bad[] = {
		"alloc",
		"alloc:",
		"alloc:n=0",
		"alloc:n=",
		"alloc:n=-1",
		"alloc:n=1x",
		"alloc:sticky",
		"alloc:n=1,",
		"alloc:n=1,err=EIO",
		"alloc:n=1;;alloc:n=2",
		"alloc:n=1,sticky=1",
		"alloc:n=99999999999999999999",
		"disk:n=1",
		"io:n=1",
		"io:op=write,n=1",
		"io:op=write,err=EIO",
		"io:op=fly,n=1,err=EIO",
		"io:op=write,n=1,err=EWHAT",
		"io:op=write,n=1,short=0",
		"io:op=write,n=1,err=EIO,short=3",
		"io:op=launch,n=1,err=EIO",
		"io:op=read,n=1,err=-5",
		"cl:n=1",
		"cl:op=launch",
		"cl:op=sync,n=1",
		"cl:op=launch,n=1,err=5",
		"cl:op=launch,n=1,err=EIO",
		"cl:op=launch,n=1,err=-",
		"cl:op=launch,n=1,err=-0",
		"cl:op=launch,n=1,short=3",
		"hold:n=1,sticky",
		"hold:n=1,op=any",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (under_fault(good[i], is_bad) != 0)
			fail_msg("'%s' is refused", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (under_fault(bad[i], is_bad) != 1)
			fail_msg("'%s' is accepted", bad[i]);
}

/* Returns a bit for each of six allocations: 1 if it fails. */
static int alloc_pattern(void)
{
	int pattern = 0;

	for (int i = 0; i < 6; i++) {
		void *p = NULL;

		if (memory_new(&p, NULL, 10, 1, "x") == MILL_ENOMEM)
			pattern |= 1 << i;
		memory_free(p);
	}
	return pattern;
}

/* Returns a bit for each of six reads: 1 if it fails or is short. 254, 255: other faults struck. */
static int read_pattern(void)
{
	int pattern = 0;

	for (int i = 0; i < 6; i++) {
		size_t size = 100;
		int err = fault_io(FAULT_READ, &size);

		if (err || size == 10)
			pattern |= 1 << i;
		if ((err && err != EIO) || (size != 100 && size != 10))
			return 255;
		if (fault_io(FAULT_WRITE, NULL))
			return 254;
	}
	return pattern;
}

/* Returns a bit for each of three operations of different kinds: 1 if it fails. */
static int any_pattern(void)
{
	static const enum fault_op op[] = { FAULT_OPEN, FAULT_SYNC, FAULT_UNLINK };
	int pattern = 0;

	for (int i = 0; i < 3; i++)
		if (fault_io(op[i], NULL))
			pattern |= 1 << i;
	return pattern;
}

/* Returns bits: 1, 2, 4, 8: that launch fails; 16: an error is not -5; 32: a fill fails. */
static int cl_pattern(void)
{
	int pattern = 0;

	for (int i = 0; i < 4; i++) {
		int err = fault_cl(FAULT_CL_LAUNCH);

		pattern |= (err != 0) << i | (err != 0 && err != -5) << 4;
		pattern |= (fault_cl(FAULT_CL_FILL) != 0) << 5;
	}
	return pattern;
}

static void test_counts(void **state)
{
	static const struct {
		const char *fault;
		int (*work)(void);
		int pattern;
	} cases[] = {
		{ "", alloc_pattern, 0 },
		{ "alloc:n=1", alloc_pattern, 1 },
		{ "alloc:n=3", alloc_pattern, 4 },
		{ "alloc:n=3,sticky", alloc_pattern, 4 | 8 | 16 | 32 },
		{ "alloc:n=2;alloc:n=5", alloc_pattern, 2 | 16 },
		{ "io:op=read,n=2,err=EIO", alloc_pattern, 0 },
		{ "io:op=read,n=2,err=EIO", read_pattern, 2 },
		{ "io:op=read,n=2,short=10", read_pattern, 2 },
		{ "io:op=read,n=5,short=10,sticky", read_pattern, 16 | 32 },
		{ "io:op=read,n=2,short=1000", read_pattern, 0 },
		{ "io:op=any,n=2,err=EIO", any_pattern, 2 },
		{ "io:op=any,n=2,err=EIO,sticky", any_pattern, 6 },
		{ "io:op=any,n=1,err=EIO", cl_pattern, 0 },
		{ "cl:op=any,n=1", read_pattern, 0 },
		{ "cl:op=launch,n=2", cl_pattern, 2 },
		{ "cl:op=launch,n=3,err=-36,sticky", cl_pattern, 4 | 8 | 16 },
		{ "cl:op=any,n=2", cl_pattern, 32 },
		{ "cl:op=any,n=3", cl_pattern, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(under_fault(cases[i].fault, cases[i].work), cases[i].pattern);
}

/* ---- A small job: whatever fails in it, its result is whole or absent ---- */

static const char *work_dir, *out_path;

#define N 5000u

static mill_err pages(u8 *data, u8 *back)
{
	const char *path = path_in(work_dir, "pages");
	struct file f = FILE_CLOSED;
	mill_err err;

	TRY(file_open(&f, AT_FDCWD, path, FILE_CREATE, NULL));
	err = file_reserve(&f, 2 * MIB);
	if (!err)
		err = file_write_at(&f, data, 2 * MIB, 0);
	if (!err)
		err = file_sync(&f);
	file_close(&f);
	TRY(err);
	TRY(file_open(&f, AT_FDCWD, path, FILE_READ_DIRECT, NULL));
	err = file_read_at(&f, back, 2 * MIB, 0);
	file_close(&f);
	TRY(err);
	return memcmp(data, back, 2 * MIB) ? fail(MILL_EBUG, "read something else") : MILL_OK;
}

static mill_err output(void)
{
	struct outfile *o;

	TRY(outfile_open(&o, out_path));
	for (unsigned i = 0; i < N; i++) {
		mill_err err = outfile_printf(o, "%u of %u, with a little more text to fill it\n",
					      i, N);

		if (err) {
			outfile_abandon(o);
			return err;
		}
	}
	return outfile_commit(o);
}

static mill_err job(struct budget *b)
{
	u8 *data = NULL, *back = NULL;
	mill_err err;

	TRY(dir_make(work_dir));
	err = memory_new(&data, b, 2 * MIB, 1, "data");
	if (!err)
		err = memory_new(&back, b, 2 * MIB, 1, "data");
	for (u64 i = 0; !err && i < 2 * MIB; i++)
		data[i] = (u8)(i * 17 + i / 4096);
	if (!err)
		err = pages(data, back);
	if (!err)
		err = sort_u64(NULL, b, (u64 *)(void *)data, NULL, MIB / 4, 64);
	if (!err)
		err = output();
	memory_free(data);
	memory_free(back);
	if (!err)
		err = dir_remove(work_dir);
	return err;
}

static int run_job(void)
{
	struct budget b;
	mill_err err;

	budget_init(&b, 0);
	err = job(&b);
	if (b.used)
		return 99;
	if (err && !*mill_error())
		return 98;
	return (int)err;
}

/* Checks that the result is whole or absent, and that no partial file stays (unless may_leave). */
static void check_after(const char *fault, int code, bool may_leave)
{
	struct stat st;
	char command[600];
	bool whole = !stat(out_path, &st) && st.st_size > 200000;

	if (code == 0 && !whole)
		fail_msg("%s: success without a result", fault);
	if (!whole && path_exists(out_path) && st.st_size != 0)
		fail_msg("%s: half a result", fault);
	snprintf(command, sizeof(command), "rm -rf '%s'", work_dir);
	assert_int_equal(system(command), 0);
	unlink(out_path);
	if (rmdir(scratch) && !may_leave)
		fail_msg("%s: a file is left in %s", fault, scratch);
	assert_int_equal(scratch_remove(NULL), 0);
}

static void begin(void)
{
	assert_int_equal(scratch_make(NULL), 0);
	work_dir = in_scratch("work");
	out_path = in_scratch("out");
}

/*
 * Runs the job with the fault at call n, for n = 1, 2, ... until the job makes fewer calls than n.
 * succeeds: the job must survive every fault; else it must fail with this code where it fails.
 */
static void sweep(const char *format, int code, bool succeeds, bool may_leave)
{
	int last = -1;

	for (int n = 1; n < 300; n++) {
		char fault[128];
		int got;

		snprintf(fault, sizeof(fault), format, n);
		begin();
		got = under_fault(fault, run_job);
		if (got != 0 && (succeeds || got != code))
			fail_msg("%s: exit %d", fault, got);
		check_after(fault, got, may_leave);
		/* The job survives some failures, so only 12 successes in a row are the end. */
		if (got != 0)
			last = n;
		else if (n > last + 12)
			break;
	}
	if (!succeeds && last < 1)
		fail_msg("%s never struck", format);
}

static void test_alloc_sweep(void **state)
{
	(void)state;
	sweep("alloc:n=%d", MILL_ENOMEM, false, false);
	sweep("alloc:n=%d,sticky", MILL_ENOMEM, false, false);
}

static void test_io_sweep(void **state)
{
	static const struct {
		const char *format;
		mill_err code;
		bool succeeds, may_leave;
	} cases[] = {
		{ "io:op=write,n=%d,err=ENOSPC", MILL_ENOSPACE, false, false },
		{ "io:op=write,n=%d,err=EFBIG,sticky", MILL_ENOSPACE, false, false },
		{ "io:op=read,n=%d,err=EIO", MILL_EIO, false, false },
		{ "io:op=open,n=%d,err=EACCES", MILL_EIO, false, false },
		{ "io:op=sync,n=%d,err=EIO", MILL_EIO, false, false },
		{ "io:op=rename,n=%d,err=EIO", MILL_EIO, false, false },
		{ "io:op=mkdir,n=%d,err=ENOSPC", MILL_ENOSPACE, false, false },
		{ "io:op=truncate,n=%d,err=ENOSPC", MILL_ENOSPACE, false, false },
		{ "io:op=unlink,n=%d,err=EIO", MILL_EIO, false, true },
		{ "io:op=any,n=%d,err=EIO,sticky", MILL_EIO, false, true },
		{ "io:op=any,n=%d,err=ENOMEM", MILL_ENOMEM, false, false },
		{ "io:op=any,n=%d,err=EINTR", 0, true, false },
		{ "io:op=any,n=%d,err=EAGAIN", 0, true, false },
		{ "io:op=any,n=%d,short=1", 0, true, false },
		{ "io:op=write,n=%d,short=1000,sticky", 0, true, false },
		{ "io:op=read,n=%d,short=5000,sticky", 0, true, false },
		/* A call that is interrupted every time is an error, not a hang. */
		{ "io:op=any,n=%d,err=EINTR,sticky", MILL_EIO, false, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		sweep(cases[i].format, (int)cases[i].code, cases[i].succeeds, cases[i].may_leave);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_syntax),
	cmocka_unit_test(test_counts),
	cmocka_unit_test(test_alloc_sweep),
	cmocka_unit_test(test_io_sweep),
};

SUITE(fault, tests);
