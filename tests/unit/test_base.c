/* SPDX-License-Identifier: Apache-2.0 */
/* The small modules of base: errors, bitmaps, checksums, the ticker. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "helpers.h"

static void test_fail(void **state)
{
	char longer[4000];

	(void)state;
	assert_int_equal(fail(MILL_EINPUT, "line %d of %s", 7, "x"), MILL_EINPUT);
	assert_string_equal(mill_error(), "line 7 of x");
	fail(MILL_EINPUT, "%s, again: %s", mill_error(), mill_error());
	assert_string_equal(mill_error(), "line 7 of x, again: line 7 of x");

	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	fail(MILL_EINPUT, "%s", longer);
	assert_int_equal(strlen(mill_error()), 1023);
	errno = ENOENT;
	fail_errno("%s", longer);
	assert_non_null(strstr(mill_error(), ": No such file or directory"));
}

static void test_fail_errno(void **state)
{
	static const struct {
		int err;
		mill_err code;
	} cases[] = {
		{ ENOSPC, MILL_ENOSPACE }, { EDQUOT, MILL_ENOSPACE }, { EFBIG, MILL_ENOSPACE },
		{ ENOMEM, MILL_ENOMEM },   { EIO, MILL_EIO },	      { ENOENT, MILL_EIO },
		{ EPIPE, MILL_EIO },	   { EACCES, MILL_EIO },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		errno = cases[i].err;
		assert_int_equal(fail_errno("open %s", "f"), cases[i].code);
		assert_int_equal(strncmp(mill_error(), "open f: ", 8), 0);
	}
}

static void test_save_and_restore(void **state)
{
	struct error e;

	(void)state;
	fail(MILL_EIO, "first");
	error_save(&e, MILL_ECORRUPT);
	fail(MILL_EIO, "second");
	assert_int_equal(error_restore(&e), MILL_ECORRUPT);
	assert_string_equal(mill_error(), "first");
}

static void test_bitmap(void **state)
{
	u64 bits[4] = { 0 };

	(void)state;
	assert_int_equal(bitmap_words(0), 0);
	assert_int_equal(bitmap_words(64), 1);
	assert_int_equal(bitmap_words(65), 2);
	for (u64 i = 0; i < 200; i += 7)
		assert_true(bitmap_claim(bits, i));
	assert_false(bitmap_claim(bits, 63));
	bitmap_put(bits, 199);
	/* Every range, against bits counted one by one. */
	for (u64 begin = 0; begin <= 256; begin++) {
		u64 n = 0;

		for (u64 end = begin; end <= 256; end++) {
			assert_int_equal(bitmap_count(bits, begin, end), n);
			assert_int_equal(bitmap_any(bits, begin, end), n > 0);
			n += end < 256 && bitmap_get(bits, end);
		}
	}
	assert_int_equal(bitmap_count(bits, 9, 3), 0);
	bitmap_merge(bits, 3, 0xff);
	assert_int_equal(bitmap_count(bits, 192, 256), 8);	/* 196 and 199 were set */
}

static void test_checksum(void **state)
{
	u8 data[3000];
	struct checksum_stream *s;

	(void)state;
	/* Known answers of XXH3_64bits: the format depends on them. */
	assert_true(checksum("", 0) == 0x2d06800538d394c2u);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (u8)(i * 31 + i / 251);
	for (size_t cut = 0; cut <= sizeof(data); cut += 299) {
		s = checksum_begin();
		assert_non_null(s);
		checksum_add(s, data, cut);
		checksum_add(s, data + cut, sizeof(data) - cut);
		assert_true(checksum_end(s) == checksum(data, sizeof(data)));
	}
	for (size_t i = 0; i < sizeof(data); i += 97) {
		u64 before = checksum(data, sizeof(data));

		data[i] ^= 1;
		assert_true(checksum(data, sizeof(data)) != before);
	}
}

struct watch {
	int n_calls, stop_at;
	u64 done;
};

static int watch(void *arg, const struct mill_progress *progress)
{
	struct watch *w = arg;

	w->done = progress->done;
	return ++w->n_calls == w->stop_at;
}

static void test_ticker(void **state)
{
	struct watch w = { .stop_at = 2 };
	struct ticker t;
	f64 begin = clock_now();
	mill_err err = MILL_OK;

	(void)state;
	ticker_init(&t, &(struct mill_watcher){ watch, &w });
	ticker_begin(&t, "read", "bytes", 1000);
	OK(ticker_tick(&t, 5));
	assert_int_equal(w.n_calls, 1);
	assert_int_equal(w.done, 5);
	assert_string_equal(t.progress.what, "read");
	while (!err && clock_now() - begin < 5)
		err = ticker_tick(&t, 6);
	assert_int_equal(err, MILL_ECANCELLED);
	assert_true(clock_now() - begin >= 0.09);
	assert_int_equal(w.n_calls, 2);
	assert_true(ticker_cancelled(&t));
	assert_int_equal(ticker_tick(&t, 7), MILL_ECANCELLED);
	assert_int_equal(w.n_calls, 2);

	ticker_init(&t, NULL);
	ticker_begin(&t, "sort", "edges", 0);
	OK(ticker_tick(&t, 1));
	assert_false(ticker_cancelled(&t));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_fail),	    cmocka_unit_test(test_fail_errno),
	cmocka_unit_test(test_save_and_restore), cmocka_unit_test(test_bitmap),
	cmocka_unit_test(test_checksum),    cmocka_unit_test(test_ticker),
};

SUITE(base, tests);
