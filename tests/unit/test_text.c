/* SPDX-License-Identifier: Apache-2.0 */
/* Text edge lists: the edges of good files, the error messages for bad ones, gzip, large files. */
#include <sys/wait.h>
#include <zlib.h>

#include "base/number.h"
#include "import/text.h"
#include "readback.h"

static struct mill_built made;

static mill_err import_files(const char *const *path, size_t n, struct mill_import how)
{
	how.target.path = in_scratch("store");
	how.target.force = true;
	how.input = path;
	how.n_inputs = n;
	return mill_import(&made, &how);
}

static mill_err import_bytes(const void *data, size_t size, struct mill_import how)
{
	const char *path = in_scratch("in.txt");

	put_file(path, data, size);
	return import_files(&path, 1, how);
}

static int by_ends(const void *x, const void *y)
{
	const struct arc *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->weight > b->weight) - (a->weight < b->weight);
}

static size_t put_weight(char *to, enum mill_weight type, u64 bits)
{
	u32 low = (u32)bits;
	f32 f;
	f64 d;

	memcpy(&f, &low, 4);
	memcpy(&d, &bits, 8);
	switch (type) {
	case MILL_WEIGHT_U32:
		return number_put_u64(to, low);
	case MILL_WEIGHT_I32:
		return number_put_f64(to, (i32)low);
	case MILL_WEIGHT_F32:
		return number_put_f32(to, f);
	case MILL_WEIGHT_F64:
		return number_put_f64(to, d);
	default:
		return 0;
	}
}

/* Writes the arcs of the store, sorted, as "1>2:w 1>3:w ". */
static void show_store(char *to)
{
	struct store *st;
	struct arcs a;

	OK(store_open(&st, in_scratch("store"), NULL));
	a = read_arcs(st, false);
	qsort(a.arc, a.n, sizeof(*a.arc), by_ends);
	for (u64 i = 0; i < a.n; i++) {
		to += number_put_u64(to, a.arc[i].from);
		*to++ = '>';
		to += number_put_u64(to, a.arc[i].to);
		if (st->weight)
			*to++ = ':';
		to += put_weight(to, st->weight, a.arc[i].weight);
		*to++ = ' ';
	}
	*to = 0;
	free(a.arc);
	store_close(st);
}

#define TEXT(s) s, sizeof(s) - 1

static void test_good(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *arcs;
	} cases[] = {
		{ TEXT(""), "" },
		{ TEXT("\n\n\r\n \t\n"), "" },
		{ TEXT("# only\n% comments"), "" },
		{ TEXT("1 2\n"), "1>2 " },
		{ TEXT("1 2"), "1>2 " },
		{ TEXT("1\t2\n3\t4\n"), "1>2 3>4 " },
		{ TEXT("1,2\n3, 4\n5 ,6\n7 , 8"), "1>2 3>4 5>6 7>8 " },
		{ TEXT("1 2\r\n3 4\r\n"), "1>2 3>4 " },
		{ TEXT("1 2\r\n3 4\r"), "1>2 3>4 " },
		{ TEXT("\xef\xbb\xbf"
		       "1 2\n"),
		  "1>2 " },
		{ TEXT("\xef\xbb\xbf# c\n1 2\n"), "1>2 " },
		{ TEXT("  1   2  \n\t3\t \t4\t\n"), "1>2 3>4 " },
		{ TEXT("# c\n1 2\n  # c\n% c\n3 4\n#"), "1>2 3>4 " },
		{ TEXT("source,target\n1,2\n"), "1>2 " },
		{ TEXT("source,target,weight\r\n1,2,x\r\n"), "1>2 " },
		{ TEXT("# c\n\n from , to \n1,2\n"), "1>2 " },
		{ TEXT("1 2 3 4 junk -7 \xff\n"), "1>2 " },
		{ TEXT("1,2,,\n"), "1>2 " },
		{ TEXT("0 18446744073709551615\n"), "0>18446744073709551615 " },
		{ TEXT("0000000000000000000000001 002\n"), "1>2 " },
		{ TEXT("5 5\n1 2\n1 2\n"), "1>2 1>2 5>5 " },
		{ TEXT("4294967295 4294967296\n4294967296 1\n"),
		  "4294967295>4294967296 4294967296>1 " },
	};
	char shown[4096];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (import_bytes(cases[i].text, cases[i].size,
				 (struct mill_import){ .undirected = false }))
			fail_msg("case %zu: %s", i, mill_error());
		show_store(shown);
		assert_string_equal(shown, cases[i].arcs);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *says; /* after the file's name */
	} cases[] = {
		{ TEXT("1\n"), ":1: column 2 is missing" },
		{ TEXT("1 2\n3"), ":2: column 2 is missing" },
		{ TEXT("1,\n"), ":1: column 2 is missing" },
		{ TEXT("1,,2\n"), ":1: column 2 is missing" },
		{ TEXT(",1\n"), ":1: column 1 is missing" },
		{ TEXT("a b\n"), ":1: \"a\" is not a vertex id" },
		{ TEXT("1 2\na,b\n"), ":2: \"a\" is not a vertex id" },
		{ TEXT("x,y\nx,y\n"), ":2: \"x\" is not a vertex id" },
		{ TEXT("1,b\n"), ":1: \"b\" is not a vertex id" },
		{ TEXT("a,1\n"), ":1: \"a\" is not a vertex id" },
		{ TEXT("# c\n\n1 b\n"), ":3: \"b\" is not a vertex id" },
		{ TEXT("1 2x\n"), ":1: \"2x\" is not a vertex id" },
		{ TEXT("1.0 2\n"), ":1: \"1.0\" is not a vertex id" },
		{ TEXT("+1 2\n"), ":1: \"+1\" is not a vertex id" },
		{ TEXT("-1 2\n"), ":1: \"-1\" is negative" },
		{ TEXT("1 -2\n"), ":1: \"-2\" is negative" },
		{ TEXT("1 18446744073709551616\n"),
		  ":1: \"18446744073709551616\" is above" },
		{ TEXT("99999999999999999999999999999 1\n"),
		  ":1: \"999999999999999999999999...\" is above" },
		{ TEXT("1 2\r3 4\r"), ":1: \"2?3\" is not a vertex id" },
		{ TEXT("1 2\n3 \0004\n"), ":2: a NUL byte" },
		{ TEXT("# \0\n"), ":1: a NUL byte" },
		{ TEXT("1;2\n"), ":1: \"1;2\" is not a vertex id" },
	};
	char expected[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (import_bytes(cases[i].text, cases[i].size,
				 (struct mill_import){ .undirected = false }) !=
		    MILL_EINPUT)
			fail_msg("case %zu", i);
		snprintf(expected, sizeof(expected), "%s%s", in_scratch("in.txt"),
			 cases[i].says);
		if (strncmp(mill_error(), expected, strlen(expected)))
			fail_msg("case %zu: %s instead of %s", i, mill_error(), expected);
	}
}

static void test_weights(void **state)
{
	static const struct {
		const char *text;
		u32 column;
		enum mill_weight forced, type;
		const char *arcs; /* or what the error says */
	} cases[] = {
		{ "", 3, 0, MILL_WEIGHT_U32, "" },
		{ "1 2 0\n1 3 4294967295\n", 3, 0, MILL_WEIGHT_U32,
		  "1>2:0 1>3:4294967295 " },
		{ "1 2 -5\n1 3 7\n", 3, 0, MILL_WEIGHT_I32, "1>2:-5 1>3:7 " },
		{ "1 2 -5\n1 3 4294967295\n", 3, 0, MILL_WEIGHT_F64,
		  "1>2:-5 1>3:4294967295 " },
		{ "1 2 4294967296\n", 3, 0, MILL_WEIGHT_F64, "1>2:4294967296 " },
		{ "1 2 0.1\n1 3 2\n", 3, 0, MILL_WEIGHT_F64, "1>2:0.1 1>3:2 " },
		{ "1 2 1.0\n", 3, 0, MILL_WEIGHT_F64, "1>2:1 " },
		{ "1 2 1e-3\n1 3 .5\n1 4 -2.50\n", 3, 0, MILL_WEIGHT_F64,
		  "1>2:0.001 1>3:0.5 1>4:-2.5 " },
		{ "1 2 0.1234567890123456789\n", 3, 0, MILL_WEIGHT_F64,
		  "1>2:0.12345678901234568 " },
		{ "1 2 inf\n", 3, 0, MILL_WEIGHT_F64, "1>2:inf " },
		{ "1 2 99999999999999999999\n", 3, 0, MILL_WEIGHT_F64, NULL },
		{ "1,2,x,7\n", 4, 0, MILL_WEIGHT_U32, "1>2:7 " },
		{ "1 2 7 8 9\r\n", 5, 0, MILL_WEIGHT_U32, "1>2:9 " },
		{ "1 2 0.1\n", 3, MILL_WEIGHT_F32, MILL_WEIGHT_F32, "1>2:0.1 " },
		{ "1 2 5\n", 3, MILL_WEIGHT_F64, MILL_WEIGHT_F64, "1>2:5 " },
		{ "1 2 5\n", 3, MILL_WEIGHT_I32, MILL_WEIGHT_I32, "1>2:5 " },
		{ "1 2 -5\n", 3, MILL_WEIGHT_U32, 0,
		  ":1: \"-5\" is not a weight of type u32" },
		{ "1 2 4294967296\n", 3, MILL_WEIGHT_U32, 0,
		  ":1: \"4294967296\" is not a weight of type u32" },
		{ "1 2 2147483648\n", 3, MILL_WEIGHT_I32, 0,
		  ":1: \"2147483648\" is not a weight of type i32" },
		{ "1 2 0.5\n", 3, MILL_WEIGHT_I32, 0,
		  ":1: \"0.5\" is not a weight of type i32" },
		{ "1 2 1e39\n", 3, MILL_WEIGHT_F32, 0, ":1: \"1e39\" is beyond" },
		{ "1 2 3\n1 2\n", 3, 0, 0, ":2: column 3, the weight, is missing" },
		{ "1 2 3\n", 4, 0, 0, ":1: column 4, the weight, is missing" },
		{ "1,2,,3\n", 3, 0, 0, ":1: column 3, the weight, is missing" },
		{ "1 2 nan\n", 3, 0, 0, ":1: \"nan\" is not a weight" },
		{ "1 2 x\n", 3, 0, 0, ":1: \"x\" is not a weight" },
		{ "1 2 1.2.3\n", 3, 0, 0, ":1: \"1.2.3\" is not a weight" },
		{ "1 2 -\n", 3, 0, 0, ":1: \"-\" is not a weight" },
		{ "1 2 .\n", 3, 0, 0, ":1: \".\" is not a weight" },
	};
	char shown[4096];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		mill_err err = import_bytes(
			cases[i].text, strlen(cases[i].text),
			(struct mill_import){ .weight_column = cases[i].column,
					      .weight_type = cases[i].forced });

		if (!cases[i].type) {
			assert_int_equal(err, MILL_EINPUT);
			if (!strstr(mill_error(), cases[i].arcs))
				fail_msg("case %zu: %s", i, mill_error());
			continue;
		}
		if (err)
			fail_msg("case %zu: %s", i, mill_error());
		assert_int_equal(made.weight, cases[i].type);
		show_store(shown);
		if (cases[i].arcs)
			assert_string_equal(shown, cases[i].arcs);
	}
}

static void test_loops_and_duplicates(void **state)
{
	static const char text[] = "1 2\n3 3\n2 1\n1 2\n";
	char shown[256];

	(void)state;
	assert_int_equal(
		import_bytes(TEXT(text), (struct mill_import){ .loops = MILL_LOOPS_ERROR }),
		MILL_EINPUT);
	assert_non_null(strstr(mill_error(), ":2: an edge from a vertex to itself"));
	assert_int_equal(
		import_bytes(TEXT(text), (struct mill_import){ .dedup = MILL_DEDUP_ERROR }),
		MILL_EINPUT);
	assert_non_null(strstr(mill_error(), "from 1 to 2 is listed"));
	OK(import_bytes(TEXT(text), (struct mill_import){ .undirected = true,
							  .loops = MILL_LOOPS_DROP }));
	assert_int_equal(made.merged, 1);
	assert_int_equal(made.duplicates, 1);
	assert_int_equal(made.self_loops, 1);
	assert_int_equal(made.edges, 2);
	assert_int_equal(made.vertices, 3);
	assert_true(made.symmetric);
	show_store(shown);
	assert_string_equal(shown, "1>2 1>2 2>1 2>1 ");
}

/* ---- gzip ---- */

/* Packs a text as one gzip member. Returns its size. */
static size_t pack(u8 *to, size_t room, const char *text)
{
	z_stream z = { .next_in = (u8 *)(uintptr_t)text,
		       .avail_in = (unsigned)strlen(text),
		       .next_out = to,
		       .avail_out = (unsigned)room };

	assert_int_equal(
		deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
		Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static void test_gzip(void **state)
{
	struct mill_import how = { .undirected = false };
	u8 packed[512];
	char shown[256];
	size_t first, n;

	(void)state;
	first = n = pack(packed, sizeof(packed), "1 2\n3 ");
	n += pack(packed + n, sizeof(packed) - n, "");
	n += pack(packed + n, sizeof(packed) - n, "4\n5 6");
	OK(import_bytes(packed, n, how));
	show_store(shown);
	assert_string_equal(shown, "1>2 3>4 5>6 ");

	memset(packed + n, 0, 40); /* padding */
	OK(import_bytes(packed, n + 40, how));
	packed[n] = 'x';
	assert_int_equal(import_bytes(packed, n + 1, how), MILL_EINPUT);

	for (size_t cut = 2; cut < n; cut++) {
		mill_err err = import_bytes(packed, cut, how);

		/* A file may end between members, but then vertex 3 has no second end. */
		if (err != MILL_EINPUT)
			fail_msg("cut at %zu of %zu: %d", cut, n, (int)err);
	}
	packed[first - 6] ^= 1; /* the checksum of the first member */
	assert_int_equal(import_bytes(packed, n, how), MILL_EINPUT);
	assert_non_null(strstr(mill_error(), "damaged"));
}

/* ---- Files, streams, sizes ---- */

static void test_several_inputs(void **state)
{
	const char *path[] = { in_scratch("a.txt"), in_scratch("b.txt"),
			       in_scratch("c.txt") };
	char shown[256];

	(void)state;
	put_file(path[0], TEXT("source,target\n1,2"));
	put_file(path[1], TEXT(""));
	put_file(path[2], TEXT("from,to\n2 3\n1 2\n"));
	OK(import_files(path, 3, (struct mill_import){ .dedup = MILL_DEDUP_FIRST }));
	show_store(shown);
	assert_string_equal(shown, "1>2 2>3 ");
	put_file(path[2], TEXT("2 3\nx\n"));
	assert_int_equal(
		import_files(path, 3, (struct mill_import){ .dedup = MILL_DEDUP_NONE }),
		MILL_EINPUT);
	assert_non_null(strstr(mill_error(), "c.txt:2:"));
	unlink(path[1]);
	assert_int_equal(
		import_files(path, 3, (struct mill_import){ .dedup = MILL_DEDUP_NONE }),
		MILL_EIO);
}

/* The same edges give the same store, in one file or two, packed or not, with any separators. */
static void test_same_store(void **state)
{
	const char *path[] = { in_scratch("a.txt"), in_scratch("b.txt") };
	struct mill_import how = { .undirected = true, .weight_column = 3 };
	const char *kept = in_scratch("kept");
	u8 packed[512];

	(void)state;
	put_file(path[0], TEXT("1 2 5\n3 1 4\n"));
	OK(import_files(path, 1, how));
	assert_int_equal(rename(in_scratch("store"), kept), 0);

	put_file(path[0], TEXT("# comment\r\n1,2,5\r\n"));
	put_file(path[1], packed, pack(packed, sizeof(packed), "3\t1\t4"));
	OK(import_files(path, 2, how));
	assert_same_store(kept, in_scratch("store"));
}

static void test_stdin(void **state)
{
	struct mill_import how = { .undirected = false };
	const char *path[] = { "-", "-" };
	char shown[256];
	int to[2], saved = dup(0);
	pid_t child;

	(void)state;
	assert_int_equal(pipe(to), 0);
	child = fork();
	if (!child) {
		/* A byte at a time, so that every read is short. */
		static const char text[] = "\xef\xbb\xbf"
					   "10 20\n30 40\n# end";

		for (size_t i = 0; i < sizeof(text) - 1; i++)
			if (write(to[1], text + i, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(to[1]);
	dup2(to[0], 0);
	close(to[0]);
	OK(import_files(path, 1, how));
	dup2(saved, 0);
	close(saved);
	waitpid(child, NULL, 0);
	show_store(shown);
	assert_string_equal(shown, "10>20 30>40 ");
	assert_int_equal(import_files(path, 2, how), MILL_EUSAGE);
}

static void test_long_lines(void **state)
{
	static const struct {
		u64 length; /* without the end of the line */
		const char *end;
		mill_err err;
	} cases[] = {
		{ TEXT_LINE_MAX, "\n", MILL_OK },
		{ TEXT_LINE_MAX, "\r\n", MILL_OK },
		{ TEXT_LINE_MAX, "", MILL_OK },
		{ TEXT_LINE_MAX + 1, "\n", MILL_EINPUT },
		{ TEXT_LINE_MAX + 1, "", MILL_EINPUT },
		{ TEXT_LINE_MAX + 1, "\r\n", MILL_EINPUT },
		{ 5 * MIB, "\n", MILL_EINPUT },
	};
	const struct mill_import how = { .dedup = MILL_DEDUP_FIRST };
	const char *path = in_scratch("in.txt");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (u64 before = 0; before < 3; before++) { /* shifts the line in the buffer */
			FILE *f = fopen(path, "wb");

			for (u64 k = 0; k < before * 100000; k++)
				fputs("7 8\n", f);
			fputs("1 2", f);
			for (u64 k = 3; k < cases[i].length; k++)
				fputc(k % 2 ? ' ' : 'x', f);
			fputs(cases[i].end, f);
			fclose(f);
			assert_int_equal(import_files(&path, 1, how), cases[i].err);
			if (!cases[i].err)
				assert_int_equal(made.edges, before ? 2 : 1);
		}
}

#if MILL_VID_BITS == 32
/* A file much longer than the buffer: lines lie across all its borders. */
static void test_many_lines(void **state)
{
	const char *path = in_scratch("in.txt");
	u64 n = 400000, sum = 0, got = 0;
	struct store *st;
	struct arcs a;
	FILE *f = fopen(path, "wb");

	(void)state;
	for (u64 i = 0; i < n; i++) {
		u64 to = i * i % 1000003;

		fprintf(f, "%llu %llu\n", (unsigned long long)i, (unsigned long long)to);
		sum += i * 31 + to;
	}
	fclose(f);
	OK(import_files(&path, 1, (struct mill_import){ .undirected = false }));
	assert_int_equal(made.edges, n);
	OK(store_open(&st, in_scratch("store"), NULL));
	a = read_arcs(st, false);
	for (u64 i = 0; i < a.n; i++)
		got += a.arc[i].from * 31 + a.arc[i].to;
	assert_int_equal(got, sum);
	free(a.arc);
	store_close(st);
}

/* Errors anywhere in a large file name the right line, with any number of threads. */
static void test_line_numbers(void **state)
{
	static const u64 bad[] = { 1, 2, 20000, 43210, 99999, 100000 };
	const char *path = in_scratch("late.txt");

	(void)state;
	for (size_t k = 0; k <= ARRAY_LEN(bad); k++) {
		struct mill_import how = { .weight_column = 3, .target.threads = 1 };
		FILE *f = fopen(path, "wb");
		char where[32];

		for (u64 i = 1; i <= 100000; i++) {
			if (i % 5000 == 7)
				fprintf(f, "# a comment\n");
			else if (k < ARRAY_LEN(bad) && i == bad[k])
				fprintf(f, "12 x3 1\n");
			else if (i == 60000)	/* longer than the piece that a thread takes */
				fprintf(f, "1 2 3 %*s\n", 500000, "x");
			else
				fprintf(f, "%llu %llu %s\r\n", (unsigned long long)i,
					(unsigned long long)(i * i % 1000),
					i == 77777 ? "-1.5" : "4");
		}
		fclose(f);
		if (k == ARRAY_LEN(bad)) {
			OK(import_files(&path, 1, how));
			assert_int_equal(made.edges, 100000 - 20);
			assert_int_equal(made.weight, MILL_WEIGHT_F64);
			assert_int_equal(rename(in_scratch("store"), in_scratch("one")), 0);
			how.target.threads = 4;
			OK(import_files(&path, 1, how));
			assert_same_store(in_scratch("one"), in_scratch("store"));
			break;
		}
		for (u32 threads = 1; threads < 5; threads += 2) {
			how.target.threads = threads;
			assert_int_equal(import_files(&path, 1, how), MILL_EINPUT);
			snprintf(where, sizeof(where), "late.txt:%llu:",
				 (unsigned long long)bad[k]);
			assert_non_null(strstr(mill_error(), where));
		}
	}
}
#endif

static void test_refused(void **state)
{
	const char *path = in_scratch("in.txt");

	(void)state;
	put_file(path, TEXT("1 2 3\n"));
	assert_int_equal(
		import_files(&path, 0, (struct mill_import){ .undirected = false }),
		MILL_EUSAGE);
	assert_int_equal(import_files(&path, 1, (struct mill_import){ .weight_column = 2 }),
			 MILL_EUSAGE);
	assert_int_equal(
		import_files(&path, 1,
			     (struct mill_import){ .weight_type = MILL_WEIGHT_U32 }),
		MILL_EUSAGE);
	assert_non_null(mill_formats()[0]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_good),
	cmocka_unit_test(test_bad),
	cmocka_unit_test(test_weights),
	cmocka_unit_test(test_loops_and_duplicates),
	cmocka_unit_test(test_gzip),
	cmocka_unit_test(test_several_inputs),
	cmocka_unit_test(test_same_store),
	cmocka_unit_test(test_stdin),
	cmocka_unit_test(test_long_lines),
#if MILL_VID_BITS == 32
	cmocka_unit_test(test_many_lines),
	cmocka_unit_test(test_line_numbers),
#endif
	cmocka_unit_test(test_refused),
};

SUITE(text, tests, .setup = scratch_make, .teardown = scratch_remove);
