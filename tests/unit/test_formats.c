/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of all formats: the graphs of good files, and the error messages for bad ones. */
#include <dirent.h>

#include "fuzz/fuzz.h"
#include "readback.h"

static struct mill_built made;

static mill_err import_file(const char *name, const void *data, size_t size, struct mill_import how)
{
	const char *path = in_scratch(name);

	put_file(path, data, size);
	how.target.path = in_scratch("store");
	how.target.force = true;
	how.target.memory = 64 * MIB;
	how.input = &path;
	how.n_inputs = 1;
	return mill_import(&made, &how);
}

/*
 * Returns the edges of the store as "1 2 w,1 3 w, |n": lines of its export with commas for line
 * ends, and the number of vertices; "u" follows if it is undirected.
 */
static const char *show_store(void)
{
	static char text[4096];
	mill_store *store;
	struct mill_info info;
	size_t size = 0, n;
	char *list;

	OK(mill_store_open(&store, in_scratch("store")));
	mill_store_info(store, &info);
	OK(mill_store_verify(store, NULL));
	OK(mill_store_export(store, in_scratch("list"), "edgelist", NULL));
	mill_store_close(store);
	list = (char *)slurp(in_scratch("list"), &size);
	for (n = 0; n < size; n++)
		if (list[n] == '\n')
			list[n] = ',';
	snprintf(text, sizeof(text), "%s |%llu%s", list, (unsigned long long)info.vertices,
		 info.directed ? "" : "u");
	free(list);
	return text;
}

#define TEXT(s) s, sizeof(s) - 1
#define MTX "%%MatrixMarket matrix coordinate "
#define ARRAY "%%MatrixMarket matrix array "

static void test_good(void **state)
{
	static const struct {
		const char *name, *text;
		size_t size;
		const char *edges;
	} cases[] = {
		{ "a.mtx", TEXT(MTX "pattern general\n3 3 2\n1 2\n3 3\n"), "1 2,3 3, |3" },
		{ "a", TEXT(MTX "pattern general\n3 3 2\n1 2\n3 3\n"), "1 2,3 3, |3" },
		{ "a.mtx",
		  TEXT("%%MATRIXMARKET Matrix Coordinate REAL General\n%c\n\n2 2 2\n%c\n"
		       "1 2 1e1\n\n2 1 0\n%"),
		  "1 2 10,2 1 0, |2" },
		{ "a.mtx", TEXT(MTX "integer symmetric\n4 4 2\n2 1 -3\n3 3 7\n"),
		  "1 2 -3,3 3 7, |4u" },
		{ "a.mtx", TEXT(MTX "real hermitian\n2 2 1\n2 1 .5\n"), "1 2 0.5, |2u" },
		{ "a.mtx", TEXT(MTX "real skew-symmetric\n3 3 1\n2 1 inf\n"),
		  "1 2 -inf,2 1 inf, |3" },
		{ "a.mtx", TEXT(MTX "integer general\r\n2 3 2\r\n1 3 4\r\n2 1 5"),
		  "1 5 4,2 3 5, |5" },
		{ "a.mtx", TEXT(MTX "pattern general\n0 0 0\n"), " |0" },
		{ "a.mtx", TEXT(ARRAY "integer general\n2 2\n1\n2\n3\n4\n"),
		  "1 1 1,1 2 3,2 1 2,2 2 4, |2" },
		{ "a.mtx", TEXT(ARRAY "integer symmetric\n2 2\n1\n2\n3\n"),
		  "1 1 1,1 2 2,2 2 3, |2u" },
		{ "a.mtx",
		  TEXT(ARRAY "integer skew-symmetric\n3 3\n1\n2\n3\n"),
		  "1 2 -1,1 3 -2,2 1 1,2 3 -3,3 1 2,3 2 3, |3" },
		{ "a.gr", TEXT("c x\np sp 4 3\na 1 2 5\nc\na 1 2 -5\n\na 3 3 0\n"),
		  "1 2 5,1 2 -5,3 3 0, |4" },
		{ "a", TEXT("c x\nc\np sp 1 0\n"), " |1" },
		{ "a.graph", TEXT("% c\n4 2\n2\n1 3\n% c\n2\n\n"), "1 2,2 3, |4u" },
		{ "a.graph", TEXT("3 1 1\n\n3 9\n2 9"), "2 3 9, |3u" },
		{ "a.graph", TEXT("3 2 011 2\n7 8 2 5\n1 1 1 5 3 9\n0 0 2 9\n"),
		  "1 2 5,2 3 9, |3u" },
		{ "a.graph", TEXT("2 1 100\n4 2\n5 1\n\n"), "1 2, |2u" },
		{ "a.graph", TEXT("2 2\n2 2\n1 1\n"), "1 2,1 2, |2u" },
		{ "a.graph-txt", TEXT("3\n1 2\n\n0 2\n"), "0 1,0 2,2 0,2 2, |3" },
		{ "a.graph-txt", TEXT("0\n"), " |0" },
		{ "a.csv", TEXT("a,b,c,weight\n1,2,3,4\n"), "1 2 4, |2" },
		{ "a.csv", TEXT("a,b,c,d\n1,2,3,4\n"), "1 2 3, |2" },
		{ "a.el", TEXT("1 2\n"), "1 2, |2" },
		{ "a.bin", TEXT("\1\0\0\0\2\0\0\0\3\0\0\0\1\0\0\0"), "1 2,3 1, |3" },
		{ "a.sg", TEXT("\0\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
			       "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
			       "\1\0\0\0\0\0\0\0"),
		  "0 1, |2u" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool raw = strstr(cases[i].name, ".bin");
		struct mill_import how = { .id_bits = 32 };

		how.weights = raw ? MILL_WEIGHTS_DEFAULT : MILL_WEIGHTS_AUTO;
		if (import_file(cases[i].name, cases[i].text, cases[i].size, how))
			fail_msg("case %zu: %s", i, mill_error());
		if (strcmp(show_store(), cases[i].edges))
			fail_msg("case %zu, %s: %s", i, cases[i].name, show_store());
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *name, *text;
		size_t size;
		mill_err err;
		const char *says; /* after the file's name */
	} cases[] = {
		{ "a.mtx", TEXT("1 1 1\n"), MILL_EINPUT, ":1: there is no" },
		{ "a.mtx", TEXT(MTX "complex general\n1 1 0\n"), MILL_EINPUT,
		  ":1: the matrix is complex" },
		{ "a.mtx", TEXT(MTX "pattern skew-symmetric\n1 1 0\n"), MILL_EINPUT,
		  ":1: a pattern" },
		{ "a.mtx", TEXT(MTX "real general\n"), MILL_EINPUT,
		  ":2: the number of rows is missing" },
		{ "a.mtx", TEXT(MTX "real general\n2 2\n"), MILL_EINPUT,
		  ":2: the number of entries" },
		{ "a.mtx", TEXT(MTX "real general\n2 2 1 1\n"), MILL_EINPUT,
		  ":2: \"1\" is unexpected" },
		{ "a.mtx", TEXT(MTX "real symmetric\n2 3 0\n"), MILL_EINPUT,
		  ":2: a symmetric matrix is square" },
		{ "a.mtx", TEXT(MTX "real general\n2 2 1\n0 1 1\n"), MILL_EINPUT,
		  ":3: row 0 is not one" },
		{ "a.mtx", TEXT(MTX "real general\n2 2 1\n1 3 1\n"), MILL_EINPUT, ":3: column 3" },
		{ "a.mtx", TEXT(MTX "real general\n2 2 1\n1 -1 1\n"), MILL_EINPUT,
		  ":3: \"-1\" is negative" },
		{ "a.mtx", TEXT(MTX "real general\n2 2 1\n1 1 nan\n"), MILL_EINPUT,
		  ":3: \"nan\" is not" },
		{ "a.mtx", TEXT(MTX "integer general\n2 2 1\n1 1 1.5\n"), MILL_EINPUT,
		  ":3: 1.5 is not" },
		{ "a.mtx", TEXT(MTX "real general\n2 2 1\n1 1 1\n1 2 1\n"), MILL_EINPUT,
		  ":4: there are more" },
		{ "a.mtx", TEXT(MTX "pattern general\n9 9 18446744073709551615\n1 1\n"),
		  MILL_EINPUT,
		  ":4: the file ends after 1" },
		{ "a.mtx", TEXT(MTX "pattern general\n9 9 18446744073709551616\n"), MILL_EINPUT,
		  ":2: " },
		{ "a.mtx", TEXT(MTX "pattern general\n2147483647 2147483647 1\n1 1\n"), MILL_ELIMIT,
		  ": the header claims 2147483647" },
		{ "a.mtx", TEXT(MTX "real skew-symmetric\n2 2 1\n1 1 1\n"), MILL_EINPUT,
		  ":3: a skew" },
		{ "a.mtx", TEXT(ARRAY "real general\n1 1\n1 2\n"), MILL_EINPUT, ":3: \"2\"" },
		{ "a.mtx", TEXT(ARRAY "real general\n1 1\n1\n2\n"), MILL_EINPUT, ":4: " },
		{ "a.mtx", TEXT(ARRAY "real general\n4294967296 4294967296\n1\n"),
		  MILL_ELIMIT, ":2: " },
		{ "a.mtx", TEXT(MTX "real general\n2 2 1\n1 1 \0\n"), MILL_EINPUT, ":3: " },
		{ "a.gr", TEXT("p max 1 1\n"), MILL_EINPUT, ":1: \"p max\" is another" },
		{ "a.gr", TEXT("c\n"), MILL_EINPUT, ":2: there is no line" },
		{ "a.gr", TEXT("a 1 1 1\n"), MILL_EINPUT, ":1: \"a\" stands" },
		{ "a.gr", TEXT("p sp 1 1\na 1 2 1\n"), MILL_EINPUT, ":2: vertex 2" },
		{ "a.gr", TEXT("p sp 1 1\na 0 1 1\n"), MILL_EINPUT, ":2: vertex 0" },
		{ "a.gr", TEXT("p sp 1 1\na 1 1\n"), MILL_EINPUT, ":2: a weight is missing" },
		{ "a.gr", TEXT("p sp 1 1\nx 1 1\n"), MILL_EINPUT, ":2: \"x\" cannot begin" },
		{ "a.gr", TEXT("p sp 1 0\na 1 1 1\n"), MILL_EINPUT, ":2: there are more" },
		{ "a.gr", TEXT("p sp 1 2\na 1 1 1\n"), MILL_EINPUT, ":3: the file ends after 1" },
		{ "a.graph", TEXT(""), MILL_EINPUT, ":1: the number of vertices" },
		{ "a.graph", TEXT("2 1 2\n"), MILL_EINPUT, ":1: the format \"2\"" },
		{ "a.graph", TEXT("2 1\n2\n"), MILL_EINPUT, ":3: the file ends after 1" },
		{ "a.graph", TEXT("2 1\n2\n\n"), MILL_EINPUT, ":2: the lists are not symmetric" },
		{ "a.graph", TEXT("3 1\n\n3\n\n"), MILL_EINPUT, ":3: the lists are not symmetric" },
		{ "a.graph", TEXT("2 1 1\n2 5\n1 6\n"), MILL_EINPUT,
		  ":2: the lists are not symmetric" },
		{ "a.graph", TEXT("2 2\n2\n1\n"), MILL_EINPUT, ":4: the lists have 1 edges" },
		{ "a.graph", TEXT("2 1\n1\n2\n"), MILL_EINPUT, ":2: vertex 1 is its own" },
		{ "a.graph", TEXT("2 1\n2\n1\n1\n"), MILL_EINPUT, ":4: there are more lines" },
		{ "a.graph", TEXT("2 1\n3\n1\n"), MILL_EINPUT, ":2: neighbour 3" },
		{ "a.graph", TEXT("18446744073709551615 1\n3\n1\n"), MILL_EINPUT,
		  ":4: the file ends" },
		{ "a.graph-txt", TEXT("2\n1\n"), MILL_EINPUT, ":3: the file ends after 1" },
		{ "a.graph-txt", TEXT("2\n2\n\n"), MILL_EINPUT, ":2: successor 2" },
		{ "a.graph-txt", TEXT("2\n1 0\n\n"), MILL_EINPUT, ":2: successor 0 does not" },
		{ "a.graph-txt", TEXT("1\n\n0\n"), MILL_EINPUT, ":3: there are more lines" },
		{ "a.bin", TEXT("\1\0\0\0\2\0\0"), MILL_EINPUT, ": byte 7: " },
		{ "a.sg", TEXT("\2"), MILL_EINPUT, ": byte 1: this is no" },
		{ "a.sg", TEXT("\0\2\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377"), MILL_EINPUT,
		  ": byte 17: " },
		{ "a.sg", TEXT("\0\2\0\0\0\0\0\0\0\377\377\377\177\0\0\0\0\0\0\0\0"), MILL_EINPUT,
		  ": byte 21: " },
		{ "a.sg",
		  TEXT("\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
		       "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0"),
		  MILL_EINPUT, ": byte 45: the lists of the undirected" },
		{ "a.csv", TEXT("\x1f\x8b\x08"), MILL_EINPUT,
		  ": byte 3: the gzip data is truncated" },
		{ "a.csv", TEXT("BZh9\x31\x41"), MILL_EINPUT,
		  ": byte 6: the bzip2 data is truncated" },
		{ "a.csv", TEXT("\x28\xb5\x2f\xfd\x24"), MILL_EINPUT,
		  ": byte 5: the zstd data is truncated" },
		{ "a.csv", TEXT("\x28\xb5\x2f\xfd\x08\x40"), MILL_EINPUT, ": byte " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *path = in_scratch(cases[i].name), *said;
		struct mill_import how = { .id_bits = 32 };
		mill_err err = import_file(cases[i].name, cases[i].text, cases[i].size, how);

		said = mill_error();
		if (err != cases[i].err || strncmp(said, path, strlen(path)) ||
		    strncmp(said + strlen(path), cases[i].says, strlen(cases[i].says)))
			fail_msg("case %zu: %d, %s", i, (int)err, err ? said : "no error");
		assert_false(path_exists(in_scratch("store.new")));
	}
}

static void test_options(void **state)
{
	static const char sym[] = MTX "integer symmetric\n2 2 2\n2 1 5\n1 1 6\n";
	static const char sums[] = "from,to,time,trust\n1,2,9,5\n";

	(void)state;
	OK(import_file("a.mtx", TEXT(sym), (struct mill_import){ .directed = true }));
	assert_string_equal(show_store(), "1 1 6,1 2 5,2 1 5, |2");
	OK(import_file("a.mtx", TEXT(sym), (struct mill_import){ .weights = MILL_WEIGHTS_NONE }));
	assert_string_equal(show_store(), "1 1,1 2, |2u");
	OK(import_file("a.mtx", TEXT(sym), (struct mill_import){ .weight_type = MILL_WEIGHT_F32 }));
	assert_int_equal(made.weight, MILL_WEIGHT_F32);
	assert_string_equal(made.format, "mtx");
	assert_true(made.undirected && made.symmetric);
	OK(import_file("a.csv", TEXT(sums), (struct mill_import){ .weight_name = "trust" }));
	assert_string_equal(show_store(), "1 2 5, |2");
	OK(import_file("a.csv", TEXT(sums), (struct mill_import){ .weight_column = 3 }));
	assert_string_equal(show_store(), "1 2 9, |2");
	assert_int_equal(import_file("a.csv", TEXT(sums),
				     (struct mill_import){ .weight_name = "other" }),
			 MILL_EINPUT);
	assert_int_equal(import_file("a.mtx", TEXT(sym),
				     (struct mill_import){ .weight_name = "w" }),
			 MILL_EUSAGE);
	assert_int_equal(import_file("a.mtx", TEXT(sym),
				     (struct mill_import){ .base_given = true, .base = 0 }),
			 MILL_EUSAGE);
	assert_int_equal(import_file("a.el", TEXT("1 2\n0 1\n"),
				     (struct mill_import){ .base_given = true, .base = 1 }),
			 MILL_EINPUT);
	assert_non_null(strstr(mill_error(), "a.el:2: "));
	assert_int_equal(import_file("a.mtx", TEXT(sym),
				     (struct mill_import){ .loops = MILL_LOOPS_ERROR }),
			 MILL_EINPUT);
	assert_non_null(strstr(mill_error(), "a.mtx:4: "));
	assert_int_equal(import_file("a.bin", TEXT(""),
				     (struct mill_import){ .loops = MILL_LOOPS_KEEP }),
			 MILL_EUSAGE);
}

/* Several inputs make one graph: all must be weighted or none, all directed or none. */
static void test_several(void **state)
{
	const char *input[] = { in_scratch("x.mtx"), in_scratch("y.gr"), in_scratch("z.el") };
	struct mill_import how = { .target = { .path = in_scratch("store"), .force = true },
				   .input = input, .n_inputs = 2 };

	(void)state;
	put_file(input[0], TEXT(MTX "integer general\n2 2 1\n1 2 5\n"));
	put_file(input[1], TEXT("p sp 3 1\na 3 1 7\n"));
	put_file(input[2], TEXT("8 9 1\n"));
	OK(mill_import(&made, &how));
	assert_string_equal(show_store(), "1 2 5,3 1 7, |3");
	how.n_inputs = 3;
	assert_int_equal(mill_import(&made, &how), MILL_EINPUT);
	how.weights = MILL_WEIGHTS_AUTO;
	OK(mill_import(&made, &how));
	assert_string_equal(show_store(), "1 2 5,3 1 7,8 9 1, |5");
	put_file(input[2], TEXT(MTX "integer symmetric\n2 2 0\n"));
	assert_int_equal(mill_import(&made, &how), MILL_EINPUT);
	how.directed = true;
	OK(mill_import(&made, &how));
}

/*
 * Gives all seeds of one fuzz program to its reader, which must accept them; then with one byte
 * changed and cut there, which must not crash. Returns the number of seeds.
 */
static size_t try_seeds(const char *corpus, const char *format, const char *work)
{
	char folder[250];
	size_t n = 0;
	DIR *d;

	snprintf(folder, sizeof(folder), "%s/%s", corpus, format);
	d = opendir(folder);
	if (!d)
		fail_msg("%s has no seeds", format);
	for (struct dirent *e; (e = readdir(d));) {
		size_t size = 0;
		u8 *data;

		if (e->d_name[0] == '.')
			continue;
		data = slurp(path_in(folder, e->d_name), &size);
		if (fuzz_reader(work, format, data, size))
			fail_msg("%s/%s: %s", format, e->d_name, mill_error());
		for (size_t i = 0; i < size; i += 1 + size / 16) {
			data[i] ^= (u8)(1 + i % 255);
			fuzz_reader(work, format, data, size);
			fuzz_reader(work, format, data, i);
			data[i] ^= (u8)(1 + i % 255);
		}
		free(data);
		n++;
	}
	closedir(d);
	return n;
}

static void test_fuzz_seeds(void **state)
{
	const char *const *format, *work = in_scratch("fuzz");
	char corpus[200];
	size_t n;

	(void)state;
	snprintf(corpus, sizeof(corpus), "%.*s/../fuzz/corpus",
		 (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__);
	OK(dir_make(work));
	n = try_seeds(corpus, "names", work);
	for (format = mill_formats(); *format; format++)
		n += try_seeds(corpus, *format, work);
	assert_true(n >= 22);
}

/* A graph that is exported and imported again is the same. */
static void test_export(void **state)
{
	static const struct {
		const char *text, *format;
		bool undirected, same_ids;
	} cases[] = {
		{ "1 2 5\n2 1 6\n3 3 7\n1 2 8\n", "mtx", false, true },
		{ "1 2 5\n3 2 6\n3 3 7\n", "mtx", true, true },
		{ "1 2 0.5\n3 1 inf\n", "mtx", false, true },
		{ "0 2 5\n", "mtx", false, false },
		{ "0 2 5\n2 0 6\n3 3 7\n0 2 8\n7 1 9\n", "wsg", false, true },
		{ "0 2 5\n3 2 6\n3 3 7\n", "wsg", true, true },
	};
	mill_store *store;
	char before[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *path;
		char name[16];
		struct mill_import how = {
			.undirected = cases[i].undirected,
			.weights = MILL_WEIGHTS_AUTO,
			.target = { .path = in_scratch("store"), .force = true },
		};

		OK(import_file("a.el", cases[i].text, strlen(cases[i].text), how));
		strcpy(before, show_store());
		*strrchr(before, '|') = 0;
		OK(mill_store_open(&store, in_scratch("store")));
		snprintf(name, sizeof(name), "b.%s", cases[i].format);
		path = in_scratch(name);
		OK(mill_store_export(store, path, NULL, NULL));
		mill_store_close(store);
		how.undirected = false; /* the file says it */
		how.input = &path;
		how.n_inputs = 1;
		OK(mill_import(&made, &how));
		assert_int_equal(made.undirected, cases[i].undirected);
		if (cases[i].same_ids && strncmp(before, show_store(), strlen(before)))
			fail_msg("case %zu: %s became %s", i, before, show_store());
	}
	OK(import_file("a.el", TEXT("0 99999999999\n"),
		       (struct mill_import){ .undirected = false }));
	OK(mill_store_open(&store, in_scratch("store")));
	assert_int_equal(mill_store_export(store, in_scratch("c.mtx"), NULL, NULL), MILL_ELIMIT);
	assert_int_equal(mill_store_export(store, in_scratch("c.sg"), NULL, NULL), MILL_ELIMIT);
	assert_int_equal(mill_store_export(store, in_scratch("c"), "dot", NULL), MILL_EUSAGE);
	OK(mill_store_export(store, in_scratch("c.mtx"), "edgelist", NULL));
	mill_store_close(store);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_good),	cmocka_unit_test(test_bad),
	cmocka_unit_test(test_options), cmocka_unit_test(test_several),
	cmocka_unit_test(test_fuzz_seeds), cmocka_unit_test(test_export),
};

SUITE(formats, tests, .setup = scratch_make, .teardown = scratch_remove);
