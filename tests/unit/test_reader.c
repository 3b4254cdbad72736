/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous reads: io_uring and pread give the same bytes and the same errors. */
#include "helpers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/reader.h"

#define SIZE (2u * MIB)
#define PIECE (16u * KIB)

static const char *path;
static u8 *memory;	/* aligned */
static struct file file;

static u8 byte_at(u64 i) { return (u8)(i * 31 + i / 4096); }

static int setup(void **state)
{
	u8 *data = malloc(SIZE);

	if (!data || scratch_make(state))
		return -1;
	for (u64 i = 0; i < SIZE; i++)
		data[i] = byte_at(i);
	path = in_scratch("data");
	put_file(path, data, SIZE);
	free(data);
	return 0;
}

/* Returns where piece i of a request goes: the pieces lie in reverse order. */
static u8 *piece_place(u64 offset, u32 n_pieces, u32 i)
{
	return memory + offset + (u64)(n_pieces - 1 - i) * PIECE;
}

static mill_err submit(struct reader *r, u64 offset, u32 n_pieces, u32 number)
{
	struct request *q = reader_get(r);
	mill_err err;

	assert_non_null(q);
	q->file = &file;
	q->offset = offset;
	q->first = number;
	/* Backwards, so that a piece in the wrong place is found. */
	for (u32 i = 0; i < n_pieces; i++)
		request_add(q, piece_place(offset, n_pieces, i), PIECE);
	err = reader_submit(r, q);
	if (err)
		reader_give_back(r, q);
	return err;
}

static bool is_correct(u64 offset, u32 n_pieces)
{
	for (u32 i = 0; i < n_pieces; i++)
		for (u64 k = 0; k < PIECE; k++)
			if (piece_place(offset, n_pieces, i)[k] !=
			    byte_at(offset + (u64)i * PIECE + k))
				return false;
	return true;
}

/* Reads the file in requests of 1, 2, 3 and 4 pieces. Returns 0 if the bytes are correct. */
static int read_by(enum reader_way way)
{
	struct { u64 offset; u32 n; bool done; } request[SIZE / PIECE];
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
			u32 pieces = (u32)min_u64(1 + n % 4, (SIZE - offset) / PIECE);

			request[n].offset = offset;
			request[n].n = pieces;
			request[n].done = false;
			err = submit(r, offset, pieces, n);
			if (err) {
				code = (int)err;
				break;
			}
			offset += (u64)pieces * PIECE;
			n++;
		}
		left = reader_busy(r);
		if (!left)
			break;
		err = reader_take(r, &q);
		if (err)
			code = (int)err;
		else if (request[q->first].done ||
			 !is_correct(request[q->first].offset, request[q->first].n))
			code = 101;
		else
			request[q->first].done = true;
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

	if (memory_new(&memory, NULL, SIZE, 1, "test") ||
	    file_open(&file, AT_FDCWD, path, FILE_READ_DIRECT, NULL))
		return 103;
	code = read_by(way);
	file_close(&file);
	memory_free(memory);
	return code;
}

/* Returns the way that a reader takes when it is asked for one: 1 io_uring, 2 pread. */
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

static int read_all_uring(void) { return read_all(READER_URING); }
static int read_all_pread(void) { return read_all(READER_PREAD); }
static int way_of_uring(void) { return way_of(READER_URING); }

static void test_faults(void **state)
{
	static int (*const work[])(void) = { read_all_uring, read_all_pread };
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
		for (size_t k = 0; k < ARRAY_LEN(work); k++) {
			int code = under_fault(cases[i].fault, work[k]);

			if (code != cases[i].code)
				fail_msg("%s, way %zu: %d instead of %d", cases[i].fault, k, code,
					 cases[i].code);
		}
	/* Without io_uring the reader falls back to pread. */
	assert_int_equal(under_fault("io:op=ring,n=1,err=EPERM", way_of_uring), 2);
	assert_int_equal(under_fault("io:op=ring,n=1,err=ENOMEM", read_all_uring), 0);
}

/* The file ends early: an error, not a hang and not zeros. */
static void test_truncation(void **state)
{
	static const u32 cut[] = { 1, PIECE, SIZE / 2 + 4096 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cut); i++) {
		assert_int_equal(truncate(path, (off_t)(SIZE - cut[i])), 0);
		assert_int_equal(read_all(READER_URING), MILL_ECORRUPT);
		assert_non_null(strstr(mill_error(), "ends at byte"));
		assert_int_equal(read_all(READER_PREAD), MILL_ECORRUPT);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_faults),	/* first: this process must not have read MILL_FAULT */
	cmocka_unit_test(test_bytes),
	cmocka_unit_test(test_truncation),	/* last: it cuts the file */
};

SUITE(reader, tests, .setup = setup, .teardown = scratch_remove);
