/* SPDX-License-Identifier: Apache-2.0 */
/* Reads that are asked for and taken: both ways give the same bytes and the same errors. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stream/reader.h"

#define SIZE (2u * MIB)
#define PIECE (16u * KIB)

static char path[64];
static u8 *memory;	/* aligned */
static struct file file;

static u8 byte_at(u64 i) { return (u8)(i * 31 + i / 4096); }

static int setup(void **state)
{
	u8 *data;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/millrace-reader-XXXXXX");
	fd = mkstemp(path);
	data = malloc(SIZE);
	for (u64 i = 0; i < SIZE; i++)
		data[i] = byte_at(i);
	if (fd < 0 || write(fd, data, SIZE) != SIZE || close(fd))
		return -1;
	free(data);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static mill_err ask(struct reader *r, u64 offset, u32 n_parts, u32 number)
{
	struct request *q = reader_get(r);
	mill_err err;

	assert_non_null(q);
	q->file = &file;
	q->offset = offset;
	q->first = number;
	/* Backwards, so that a part in the wrong place shows. */
	for (u32 i = 0; i < n_parts; i++)
		request_add(q, memory + offset + (u64)(n_parts - 1 - i) * PIECE, PIECE);
	err = reader_submit(r, q);
	if (err)
		reader_give_back(r, q);
	return err;
}

static bool came(u64 offset, u32 n_parts)
{
	for (u32 i = 0; i < n_parts; i++)
		for (u64 k = 0; k < PIECE; k++)
			if (memory[offset + (u64)(n_parts - 1 - i) * PIECE + k] != byte_at(offset + (u64)i * PIECE + k))
				return false;
	return true;
}

/* All of the file in requests of 1, 2, 3 and 4 parts; 0: the bytes are right. */
static int read_by(enum reader_way way)
{
	struct { u64 offset; u32 n; bool here; } asked[SIZE / PIECE];
	u64 offset = 0;
	u32 n = 0, left;
	struct reader *r;
	int code = 0;

	memset(memory, 0, SIZE);
	if (reader_open(&r, NULL, way))
		return 100;
	for (left = 0; offset < SIZE || left;) {
		struct request *q;
		mill_err err;

		while (!code && offset < SIZE && reader_busy(r) < READER_DEPTH) {
			u32 parts = (u32)min_u64(1 + n % 4, (SIZE - offset) / PIECE);

			asked[n].offset = offset;
			asked[n].n = parts;
			asked[n].here = false;
			err = ask(r, offset, parts, n);
			if (err) {
				code = (int)err;
				break;
			}
			offset += (u64)parts * PIECE;
			n++;
		}
		left = reader_busy(r);
		if (!left)
			break;
		err = reader_take(r, &q);
		if (err)
			code = (int)err;
		else if (asked[q->first].here || !came(asked[q->first].offset, asked[q->first].n))
			code = 101;
		else
			asked[q->first].here = true;
		reader_give_back(r, q);
		left = reader_busy(r);
	}
	if (!code && offset != SIZE)
		code = 102;
	reader_close(r);
	return code;
}

static int read_all(enum reader_way way)
{
	int code;

	if (memory_new(&memory, NULL, SIZE, 1, "test") || file_open(&file, AT_FDCWD, path, FILE_READ_DIRECT, NULL))
		return 103;
	code = read_by(way);
	file_close(&file);
	memory_free(memory);
	return code;
}

static int way_of(enum reader_way way)
{
	struct reader *r;

	if (reader_open(&r, NULL, way))
		return 100;
	way = reader_way(r);
	reader_close(r);
	return way == READER_URING ? 1 : 2;
}

static void test_bytes(void **state)
{
	(void)state;
	assert_int_equal(read_all(READER_URING), 0);
	assert_int_equal(read_all(READER_PREAD), 0);
	assert_int_equal(way_of(READER_PREAD), 2);
}

/* In a child, before anything else has asked the fault layer: it reads the environment once. */
static int under(const char *fault, enum reader_way way, int (*work)(enum reader_way way))
{
	pid_t child = fork();
	int status;

	if (!child) {
		setenv("MILL_FAULT", fault, 1);
		alarm(60);	/* never a hang */
		_exit(work(way));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

static void test_faults(void **state)
{
	static const struct {
		const char *fault;
		int code;
	} cases[] = {
		{ "io:op=read,n=1,err=EIO", MILL_EIO },
		{ "io:op=read,n=20,err=EIO", MILL_EIO },
		{ "io:op=read,n=20,err=EIO,sticky", MILL_EIO },
		{ "io:op=read,n=3,err=EINTR", 0 },
		{ "io:op=read,n=3,err=EAGAIN", 0 },
		{ "io:op=read,n=1,short=1,sticky", 0 },
		{ "io:op=read,n=2,short=5000", 0 },
		{ "io:op=read,n=7,short=20000;io:op=read,n=9,short=40000", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int way = READER_URING; way <= READER_PREAD; way++) {
			int code = under(cases[i].fault, (enum reader_way)way, read_all);

			if (code != cases[i].code)
				fail_msg("%s, way %d: %d instead of %d", cases[i].fault, way, code, cases[i].code);
		}
	assert_int_equal(under("io:op=ring,n=1,err=EPERM", READER_URING, way_of), 2);
	assert_int_equal(under("io:op=ring,n=1,err=ENOMEM", READER_URING, read_all), 0);
}

/* The file ends early: never a wait, never zeros. */
static void test_truncation(void **state)
{
	(void)state;
	for (u32 cut = 0; cut < 3; cut++) {
		assert_int_equal(truncate(path, (off_t)(SIZE - (cut == 0 ? 1 : cut == 1 ? PIECE : SIZE / 2 + 4096))), 0);
		assert_int_equal(read_all(READER_URING), MILL_ECORRUPT);
		assert_non_null(strstr(mill_error(), "ends at byte"));
		assert_int_equal(read_all(READER_PREAD), MILL_ECORRUPT);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_faults),	/* first, see there */
	cmocka_unit_test(test_bytes),
	cmocka_unit_test(test_truncation),	/* last: the file is gone after it */
};

SUITE(reader, tests, .setup = setup, .teardown = teardown);
