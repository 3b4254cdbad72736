/* SPDX-License-Identifier: Apache-2.0 */
/* Names are numbered in the order of their bytes, also if few fit memory; hostile name files. */
#include "store_model.h"

#include "base/fault.h"
#include "import/namer.h"
#include "store/names.h"

#define EDGES 700u
#define NAME_ROOM 300u

struct expected {
	char (*name)[NAME_ROOM];	/* two of each edge */
	char **sorted;			/* distinct names */
	u64 n;
	u64 at;				/* edges compared so far */
};

/* Makes names of few letters and with long common prefixes, so that all sorting code runs. */
static void make_name(char *to, u64 seed, u64 i)
{
	u64 shared = random_below(seed, 3 * i, 4) * 61;
	u64 own = 1 + random_below(seed, 3 * i + 1, 5), n = 0;

	for (; n < shared; n++)
		to[n] = 'p';
	for (u64 k = 0; k < own; k++)
		to[n++] = "ab\xff!"[random_below(seed + k, 3 * i + 2, 4)];
	to[n] = '\0';
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);	/* compares as unsigned char */
}

static void expect_names(struct expected *x, u64 seed)
{
	u64 n = 0;

	x->name = calloc(2 * EDGES, NAME_ROOM);
	x->sorted = calloc(2 * EDGES, sizeof(char *));
	for (u64 i = 0; i < 2 * EDGES; i++) {
		make_name(x->name[i], seed, i);
		x->sorted[i] = x->name[i];
	}
	qsort(x->sorted, 2 * EDGES, sizeof(char *), by_bytes);
	for (u64 i = 0; i < 2 * EDGES; i++)
		if (!i || strcmp(x->sorted[i], x->sorted[n - 1]))
			x->sorted[n++] = x->sorted[i];
	x->n = n;
	x->at = 0;
}

static mill_err check_edges(void *arg, const struct raw_edge *edge, u64 n)
{
	struct expected *x = arg;

	for (u64 i = 0; i < n; i++, x->at++) {
		assert_true(edge[i].from < x->n && edge[i].to < x->n);
		assert_string_equal(x->sorted[edge[i].from], x->name[2 * x->at]);
		assert_string_equal(x->sorted[edge[i].to], x->name[2 * x->at + 1]);
		assert_int_equal(edge[i].weight, x->at * 7);
	}
	return MILL_OK;
}

static struct name as_name(const char *text) { return (struct name){ text, (u32)strlen(text) }; }

static void number_all(u64 seed, u64 hold, u64 memory, u64 *sum)
{
	struct expected x;
	struct budget budget;
	struct ticker ticker;
	struct pool *pool;
	struct namer *n;
	u64 vertices;

	expect_names(&x, seed);
	fault_set_hold(hold);
	budget_init(&budget, memory);
	ticker_init(&ticker, &(struct mill_watcher){ .watch = NULL });
	OK(pool_new(&pool, 2));
	OK(namer_new(&n, &budget, pool, &ticker, scratch));
	for (u64 i = 0; i < EDGES; i++)
		OK(namer_add(n, as_name(x.name[2 * i]), as_name(x.name[2 * i + 1]),
			     &(u64){ i * 7 }));
	if (x.n > MAX_VERTICES) {	/* in builds with 8-bit ids */
		assert_int_equal(namer_settle(n, &vertices), MILL_ELIMIT);
		*sum = 0;
	} else {
		OK(namer_settle(n, &vertices));
		assert_int_equal(vertices, x.n);
		OK(namer_fingerprint(n, sum));
		OK(namer_edges(n, check_edges, &x));
		assert_int_equal(x.at, EDGES);
	}
	namer_free(n);
	pool_free(pool);
	assert_int_equal(budget.used, 0);
	fault_set_hold(0);
	free(x.sorted);
	free(x.name);
}

static void ranks(void **state)
{
	static const u64 hold[] = { 1, 3, 40, 399 };

	(void)state;
	for (u64 seed = 1; seed < 6; seed++) {
		u64 sum, again;

		number_all(seed, 0, GIB, &sum);
		for (size_t i = 0; i < ARRAY_LEN(hold); i++) {
			number_all(seed, hold[i], i ? 0 : GIB, &again);
			assert_int_equal(sum, again);
		}
	}
}

/* More sorted runs than the budget can merge: the error names --memory. */
static void too_many_runs(void **state)
{
	struct budget budget;
	struct ticker ticker;
	struct pool *pool;
	struct namer *n;
	char name[2][NAME_ROOM];
	u64 vertices;

	(void)state;
	budget_init(&budget, 1 * MIB);
	ticker_init(&ticker, &(struct mill_watcher){ .watch = NULL });
	OK(pool_new(&pool, 1));
	OK(namer_new(&n, &budget, pool, &ticker, scratch));
	fault_set_hold(2);
	for (u64 i = 0; i < 100; i++) {
		snprintf(name[0], NAME_ROOM, "a%u", (unsigned)i);
		snprintf(name[1], NAME_ROOM, "b%u", (unsigned)i);
		OK(namer_add(n, as_name(name[0]), as_name(name[1]), NULL));
	}
	assert_int_equal(namer_settle(n, &vertices), MILL_ENOMEM);
	assert_non_null(strstr(mill_error(), "--memory"));
	fault_set_hold(0);
	namer_free(n);
	pool_free(pool);
	assert_int_equal(budget.used, 0);
}

static void fields(void **state)
{
	static const struct {
		const char *line;
		enum name_fault fault;
		const char *name, *rest;
	} cases[] = {
		{ "a b\n", NAME_FINE, "a", " b\n" },
		{ "a\"b,c\n", NAME_FINE, "a\"b", ",c\n" },
		{ "\xc3\xa9\r\n", NAME_FINE, "\xc3\xa9", "\r\n" },
		{ "\"a, b\",c\n", NAME_FINE, "a, b", ",c\n" },
		{ "\"a\"\"b\"\n", NAME_FINE, "a\"b", "\n" },
		{ "\"\"\"\"\n", NAME_FINE, "\"", "\n" },
		{ "\n", NAME_MISSING, NULL, NULL },
		{ ",a\n", NAME_MISSING, NULL, NULL },
		{ "\r\n", NAME_MISSING, NULL, NULL },
		{ "\"a\n", NAME_UNQUOTED, NULL, NULL },
		{ "\"a\"b\n", NAME_UNQUOTED, NULL, NULL },
		{ "\"a\"\"\n", NAME_UNQUOTED, NULL, NULL },
		{ "\"\"\n", NAME_EMPTY, NULL, NULL },
		{ "a\x7f\n", NAME_CONTROL, NULL, NULL },
		{ "\"a\tb\"\n", NAME_CONTROL, NULL, NULL },
		{ "a\rb\n", NAME_CONTROL, NULL, NULL },
	};
	char to[STORE_NAME_MAX], back[NAME_FIELD_MAX + 2];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *p = cases[i].line;
		struct name name;

		if (name_parse(&p, to, &name) != cases[i].fault)
			fail_msg("%s: wrong result of name_parse", cases[i].line);
		if (!cases[i].name)
			continue;
		assert_int_equal(name.length, strlen(cases[i].name));
		assert_memory_equal(name.text, cases[i].name, name.length);
		assert_string_equal(p, cases[i].rest);
		/* The name is written, then read again. */
		strcpy(back + name_put(back, name.text, name.length, " ,"), "\n");
		p = back;
		assert_int_equal(name_parse(&p, to, &name), NAME_FINE);
		assert_int_equal(name.length, strlen(cases[i].name));
		assert_memory_equal(name.text, cases[i].name, name.length);
	}
	assert_true(name_is_header("Source,Target\n", 0));
	assert_true(name_is_header("\"from\" , \"to\"\n", 0));
	assert_true(name_is_header("a,b,weight\n", 3));
	assert_false(name_is_header("a,b,1e3\n", 3));
	assert_false(name_is_header("a,b\n", 0));
	assert_false(name_is_header("source target\n", 0));
}

/* ---- Hostile files with correct checksums ---- */

static void make_store(const char *store)
{
	char text[] = "ab b\nb ccc\nccc ab\n";
	const char *input[] = { in_scratch("names.el") };
	struct mill_import how = { .target = { .path = store, .force = true, .page_size = 65536 },
				   .input = input, .n_inputs = 1, .names = true };
	struct mill_built built;

	put_file(input[0], text, strlen(text));
	OK(mill_import(&built, &how));
	assert_true(built.named);
}

static void hostile_names(void **state)
{
	/* The correct file is "ab\nb\nccc\n", with the ends 3, 5, 9. */
	static const struct {
		const char *names;
		u64 end[3];
	} cases[] = {
		{ "ab\nb\nccc\n", { 3, 5, 8 } },
		{ "ab\nb\nccc\n", { 3, 5, UINT64_MAX } },
		{ "ab\nb\nccc\n", { 3, 2, 9 } },
		{ "ab\nb\nccc\n", { 0, 5, 9 } },
		{ "ab\nb\nccc\n", { 1, 5, 9 } },
		{ "ab\nb\nccc\n", { 4, 5, 9 } },
		{ "b\nab\nccc\n", { 2, 5, 9 } },
		{ "b\nb\nccccc", { 2, 4, 9 } },
		{ "a\nb\nccccc", { 2, 4, 9 } },
		{ "a\x1b\nb\nccc\n", { 3, 5, 9 } },
		{ "ab\nb\nc\tc\n", { 3, 5, 9 } },
		{ "a\n\n\nccc\n\n", { 2, 4, 9 } },
	};
	const char *store = strdup(in_scratch("hostile"));

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct store *st;
		vid v;
		mill_err err;

		make_store(store);
		put_file(path_in(store, "names"), cases[i].names, 9);
		put_file(path_in(store, "names.index"), cases[i].end, sizeof(cases[i].end));
		reseal(store);
		if (open_and_verify(store) != MILL_ECORRUPT)
			fail_msg("case %zu is accepted", i);
		OK(store_open(&st, store, NULL));
		for (const char *name = "abc"; *name; name++) {	/* it must not crash */
			err = names_find(st, name, 1, &v);
			assert_true(err == MILL_OK || err == MILL_ECORRUPT);
		}
		store_close(st);
	}
	make_store(store);
	OK(open_and_verify(store));
	free((void *)store);
}

static void lookups(void **state)
{
	const char *store = in_scratch("lookups");
	char name[MILL_NAME_MAX + 1];
	struct mill_info info;
	mill_store *s;

	(void)state;
	make_store(store);
	OK(mill_store_open(&s, store));
	mill_store_info(s, &info);
	assert_true(info.named);
	assert_string_equal(info.min_name, "ab");
	assert_string_equal(info.max_name, "ccc");
	OK(mill_store_name(s, 1, name));
	assert_string_equal(name, "b");
	assert_int_equal(mill_store_name(s, 3, name), MILL_EUSAGE);
	mill_store_close(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ranks),	cmocka_unit_test(too_many_runs),
	cmocka_unit_test(fields),	cmocka_unit_test(hostile_names),
	cmocka_unit_test(lookups),
};

SUITE(names, tests, .setup = scratch_make, .teardown = scratch_remove);
