/* SPDX-License-Identifier: Apache-2.0 */
/* Stores with correct checksums and wrong content: each invariant is broken in turn. */
#include "store_model.h"

/*
 * Directed, 4 vertices, 2 sources, ids 10 30 | 20 40: 0 -> 1 2 3, 1 -> 0 0. One page each way:
 * rows u32 at 64, neighbours behind them, weights u32 behind those.
 */
#define OUT_LIST page_neighbour_at(2)
#define OUT_WEIGHT page_weight_at(2, 5)
#define IN_LIST page_neighbour_at(4)
#define IN_WEIGHT page_weight_at(4, 5)

static void make(const char *path, bool directed)
{
	static const u64 id[4] = { 10, 30, 20, 40 };
	struct graph g = { .directed = directed, .weight = MILL_WEIGHT_U32 };

	graph_init(&g, 4, directed ? 2 : 3, 20);
	memcpy(g.id, id, sizeof(id));
	if (!directed)	/* 10 20 30 | 40 */
		g.id[1] = 20, g.id[2] = 30;
	graph_add(&g, 0, 1, 5);
	graph_add(&g, 0, 2, 6);
	graph_add(&g, 0, directed ? 3 : 0, 7);
	graph_add(&g, 1, 0, 8);
	graph_add(&g, 1, 0, 9);
	assert_ok(graph_write(&g, path, 65536, false));
	assert_ok(open_and_verify(path));
	graph_release(&g);
}

static void poke(const char *store, const char *name, u64 at, u64 value, size_t size)
{
	int fd = open(part_path(store, name), O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &value, size, (off_t)at), size);
	close(fd);
}

/* Alters the manifest's line of this key. */
static void say(const char *store, const char *key, const char *value)
{
	char changed[8192], line[64];
	const char *at, *end;
	size_t size;
	char *text = (char *)slurp(part_path(store, "manifest"), &size);

	text[size - 26] = '\0';
	snprintf(line, sizeof(line), "\n%s ", key);
	at = strstr(text, line);
	assert_non_null(at);
	end = strchr(at + 1, '\n');
	snprintf(changed, sizeof(changed), "%.*s%s%s%s", (int)(at - text), text, line, value, end);
	seal_manifest(store, changed, strlen(changed));
	free(text);
}

#define V sizeof(vid)

static const struct {
	const char *name;
	const char *file;	/* or a key of the manifest, with `says` */
	const char *says;
	u64 at, value;
	size_t size;
	const char *message;
} broken[] = {
	{ "list not ascending", "out.pages", NULL, 0 /* neighbours */, 3, V, "not ascending" },
	{ "neighbour that is none", "out.pages", NULL, 2 * V, 4, V, "does not exist" },
	{ "other neighbour", "in.pages", NULL, 2 * V, 1, V, "reversed" },
	{ "neighbour twice", "out.pages", NULL, 1 * V, 1, V, "parallel_edges" },
	{ "a loop more", "out.pages", NULL, 0, 0, V, "self_loops" },
	{ "another weight", "out.pages", "weight", 4, 7, 4, "sum_weight" },
	{ "smallest weight", "out.pages", "weight", 0, 1, 4, "min_weight" },
	{ "largest weight", "out.pages", "weight", 16, 99, 4, "max_weight" },
	{ "padding", "out.pages", NULL, 60000, 1, 1, "padding" },
	{ "weight of an in-edge", "in.pages", "weight", 0, 5, 4, "reversed" },
	{ "degree", "out.degrees", NULL, 0, 2, 4, "degree" },
	{ "in-degree", "in.degrees", NULL, 12, 0, 4, "degree" },
	{ "id twice", "ids", NULL, 16, 20, 8, "ascending" },
	{ "ids not ascending", "ids", NULL, 8, 9, 8, "ascending" },
	{ "other id", "ids", NULL, 24, 41, 8, "max_id" },
	{ "order wrong", "order", NULL, 0, 1, V, "inverse" },
	{ "order beyond", "order", NULL, V, NO_VERTEX, V, "order" },
	{ "rank wrong", "rank", NULL, V, 1, V, "inverse" },
	{ "rank beyond", "rank", NULL, V, 4, V, "rank" },
	{ "self_loops", "self_loops", "1", 0, 0, 0, "self_loops" },
	{ "parallel_edges", "parallel_edges", "2", 0, 0, 0, "parallel_edges" },
	{ "max_degree", "max_degree", "4", 0, 0, 0, "max_degree" },
	{ "min_id", "min_id", "9", 0, 0, 0, "min_id" },
	{ "max_id", "max_id", "50", 0, 0, 0, "max_id" },
	{ "min_weight", "min_weight", "4", 0, 0, 0, "min_weight" },
	{ "max_weight", "max_weight", "1e+100", 0, 0, 0, "max_weight" },
	{ "sum_weight", "sum_weight", "34", 0, 0, 0, "sum_weight" },
	{ "in_rows", "in_rows", "3", 0, 0, 0, "cover all rows" },
	{ "edges", "edges", "4", 0, 0, 0, "edges" },
};

static void invariants(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		const char *path = in_scratch("broken");
		const char *file = broken[i].file;
		bool in = !strcmp(file, "in.pages"), paged = in || !strcmp(file, "out.pages");
		bool weight = paged && broken[i].says;
		u64 at = broken[i].at;

		make(path, true);
		if (paged && at < 60000)
			at += weight ? (in ? IN_WEIGHT : OUT_WEIGHT) : in ? IN_LIST : OUT_LIST;
		if (broken[i].size) {
			poke(path, file, at, broken[i].value, broken[i].size);
			assert_int_equal(open_and_verify(path), MILL_ECORRUPT);
			assert_non_null(strstr(mill_error(), "checksum"));
			reseal(path);
		} else {
			say(path, file, broken[i].says);
		}
		if (open_and_verify(path) != MILL_ECORRUPT)
			fail_msg("%s: not found", broken[i].name);
		if (!strstr(mill_error(), broken[i].message))
			fail_msg("%s: %s", broken[i].name, mill_error());
		assert_non_null(strstr(mill_error(), path));
		assert_ok(dir_remove(path));
	}
}

/* Both directions have the same weight: the sum stays when two weights are swapped. */
static void asymmetric(void **state)
{
	const char *path = in_scratch("asymmetric");
	u64 weights;

	(void)state;
	make(path, false);
	/* 0: 0(7) 1(5) 1(8) 1(9) 2(6), 1: 0(5) 0(8) 0(9), 2: 0(6) */
	weights = page_weight_at(3, 9);
	poke(path, "out.pages", weights + 5 * 4, 8, 4);
	poke(path, "out.pages", weights + 6 * 4, 5, 4);
	reseal(path);
	assert_ok(open_and_verify(path));	/* parallel edges in another order: the same graph */
	poke(path, "out.pages", weights + 7 * 4, 6, 4);
	poke(path, "out.pages", weights + 8 * 4, 9, 4);
	reseal(path);
	assert_int_equal(open_and_verify(path), MILL_ECORRUPT);
	assert_non_null(strstr(mill_error(), "both directions"));
}

static void not_a_number(void **state)
{
	const char *path = in_scratch("nan");
	struct graph g = { .directed = true, .weight = MILL_WEIGHT_F32, .out_only = true };

	(void)state;
	graph_init(&g, 2, 1, 1);
	graph_add(&g, 0, 1, 0x3f800000);
	assert_ok(graph_write(&g, path, 65536, false));
	poke(path, "out.pages", page_weight_at(1, 1), 0x7fc00000, 4);
	reseal(path);
	assert_int_equal(open_and_verify(path), MILL_ECORRUPT);
	g.arc[0].weight = 0x7fc00000;
	assert_int_equal(graph_write(&g, path, 65536, true), MILL_EBUG);
	g.arc[0].weight = 0x7f800000;	/* infinity is a weight */
	assert_ok(graph_write(&g, path, 65536, true));
	assert_ok(open_and_verify(path));
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(invariants),
	cmocka_unit_test(asymmetric),
	cmocka_unit_test(not_a_number),
};

SUITE(verify, tests, .setup = scratch_make, .teardown = scratch_remove);
