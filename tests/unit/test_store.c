/* SPDX-License-Identifier: Apache-2.0 */
/* Stores read back: every page, id and degree against the model; damage; hostile pages; lookups. */
#include "store_model.h"

/* Rebuilds all arcs of a direction from its pages and compares them with the model. */
static void compare_lists(struct graph *g, const struct store *st, const struct pages *p, bool in)
{
	size_t w = weight_size(g->weight);
	struct segment seg;
	void *frame;
	u64 i = 0, skip = 0, split = 0;

	qsort(g->arc, g->n_arcs, sizeof(*g->arc), in ? by_in : by_out);
	assert_ok(page_frame_new(&frame, st, NULL));
	for (u32 page = 0; page < p->n_pages; page++) {
		assert_ok(page_read(p, page, frame));
		assert_ok(page_decode(p, page, frame, &seg));
		assert_int_equal(seg.first_edge, i);
		assert_int_equal(seg.skip, skip);
		assert_int_equal(seg.skip % LIST_BLOCK, 0);
		split += seg.skip != 0;
		for (u32 r = 0; r < seg.n_rows; r++) {
			u32 v = (u32)seg.first + r;

			if (r || !seg.skip)
				assert_int_equal(pages_find(p, (vid)v), page);
			for (u32 k = seg.row[r]; k < seg.row[r + 1]; k++, i++) {
				const struct arc *a = &g->arc[i];
				u64 bits = 0;

				assert_int_equal(v, in ? a->to : a->from);
				assert_int_equal(seg.neighbour[k], in ? a->from : a->to);
				if (w)
					memcpy(&bits, (const u8 *)seg.weight + k * w, w);
				assert_int_equal(bits, a->weight);
			}
		}
		skip = 0;
		if (seg.continues)
			skip = seg.row[seg.n_rows] - seg.row[seg.n_rows - 1] +
			       (seg.n_rows == 1 ? seg.skip : 0);
	}
	assert_int_equal(i, g->n_arcs);
	assert_int_equal(split, p->n_split);
	memory_free(frame);
}

static void compare_vertices(const struct graph *g, const struct store *st)
{
	u32 *degree = calloc(g->n + 1, sizeof(*degree));

	for (u32 i = 0; i < g->n_arcs; i++)
		degree[g->arc[i].from]++;
	for (u32 v = 0; v < g->n; v += 1 + g->n / 300) {
		u32 found_degree;
		u64 id;
		vid found;

		assert_ok(store_id(st, (vid)v, &id));
		assert_int_equal(id, g->id[v]);
		assert_ok(store_vertex(st, id, &found));
		assert_int_equal(found, v);
		assert_ok(store_vertex(st, id - 1, &found));
		assert_int_equal(found, NO_VERTEX);
		assert_ok(store_degree(st, (vid)v, &found_degree));
		assert_int_equal(found_degree, degree[v]);
	}
	free(degree);
}

static void compare(struct graph *g, const char *path, u32 page_size)
{
	struct budget budget;
	struct store *st;
	struct mill_info info;
	mill_store *handle;

	budget_init(&budget, 0);
	assert_ok(open_and_verify(path));
	assert_ok(store_open(&st, path, &budget));
	assert_int_equal(st->vertices, g->n);
	assert_int_equal(st->sources, g->sources);
	assert_int_equal(st->edges, g->edges);
	assert_int_equal(st->stored_edges, g->n_arcs);
	assert_int_equal(st->page_size, page_size);
	assert_int_equal(st->has_in, !g->out_only || !g->directed);
	compare_lists(g, st, &st->out, false);
	if (st->has_in)
		compare_lists(g, st, &st->in, true);
	compare_vertices(g, st);
	store_close(st);
	assert_int_equal(budget.used, 0);

	assert_ok(mill_store_open(&handle, path));
	mill_store_info(handle, &info);
	assert_int_equal(info.edges, g->edges);
	assert_int_equal(info.directed, g->directed);
	assert_string_equal(info.origin, "test");
	assert_int_equal(strlen(info.uuid), 36);
	assert_ok(mill_store_verify(handle, NULL));
	mill_store_close(handle);
}

static const struct {
	const char *name;
	u32 n, sources, m;
	bool directed, out_only;
	enum mill_weight weight;
	u32 page_size;
} shapes[] = {
	{ "empty", 0, 0, 0, true, false, MILL_WEIGHT_NONE, 65536 },
	{ "one vertex", 1, 0, 0, false, false, MILL_WEIGHT_U32, 65536 },
	{ "only isolated", 50, 0, 0, true, false, MILL_WEIGHT_NONE, 65536 },
	{ "one loop", 1, 1, 0, false, false, MILL_WEIGHT_F32, 65536 },
	{ "directed", 200, 150, 1000, true, false, MILL_WEIGHT_NONE, 65536 },
	{ "directed u32", 200, 150, 1000, true, false, MILL_WEIGHT_U32, 65536 },
	{ "directed i32", 254, 3, 100, true, false, MILL_WEIGHT_I32, 131072 },
	{ "directed f32 out only", 200, 199, 3000, true, true, MILL_WEIGHT_F32, 1 << 20 },
	{ "directed f64", 200, 200, 3000, true, false, MILL_WEIGHT_F64, 65536 },
	{ "undirected", 200, 150, 2000, false, false, MILL_WEIGHT_NONE, 65536 },
	{ "undirected f64", 254, 250, 5000, false, false, MILL_WEIGHT_F64, 65536 },
	{ "long lists", 6, 5, 60000, true, false, MILL_WEIGHT_F64, 65536 },
	{ "long lists, larger pages", 6, 5, 60000, true, false, MILL_WEIGHT_U32, 131072 },
	{ "one long list", 2, 1, 65000, true, false, MILL_WEIGHT_U32, 65536 },
	{ "undirected long lists", 3, 3, 30000, false, false, MILL_WEIGHT_F64, 65536 },
#if MILL_VID_BITS == 32
	{ "many vertices", 100000, 60000, 300000, true, false, MILL_WEIGHT_NONE, 65536 },
	{ "many undirected", 40000, 39000, 300000, false, false, MILL_WEIGHT_F32, 65536 },
	{ "sparse in-rows", 200000, 3, 10, true, false, MILL_WEIGHT_NONE, 65536 },
#endif
};

/* Packed, raw, and raw with page addresses, of which a narrow build has too few. */
#define FORMS (MILL_VID_BITS == 32 ? 3u : 2u)

static void round_trip(void **state)
{
	(void)state;
	for (size_t k = 0; k < FORMS * ARRAY_LEN(shapes); k++) {
		size_t i = k / FORMS;
		struct graph g = {
			.directed = shapes[i].directed,
			.out_only = shapes[i].out_only,
			.weight = shapes[i].weight,
			.codec = k % FORMS == 1 ? PAGE_PACKED : PAGE_RAW,
			.paged = k % FORMS == 2,
		};

		graph_random(&g, shapes[i].n, shapes[i].sources, shapes[i].m, i);
		assert_ok(graph_write(&g, in_scratch("g"), shapes[i].page_size, k > 0));
		compare(&g, in_scratch("g"), shapes[i].page_size);
		graph_release(&g);
	}
}

/* The list of a hub fills its page to the last byte, or has one edge less, or one more. */
static void exact_fit(void **state)
{
	static const enum mill_weight type[] = { MILL_WEIGHT_NONE, MILL_WEIGHT_F64 };

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(type); t++) {
		u64 fit = 0;

		while (page_bytes(1, fit + 1, weight_size(type[t])) <= 65536)
			fit++;
		if (fit + 2 > MAX_EDGES)
			continue;
		for (int off = -1; off <= 1; off++) {
			struct graph g = { .directed = true, .out_only = true, .weight = type[t] };
			u32 degree = (u32)((i64)fit + off);

			graph_init(&g, 3, 2, degree + 1);
			for (u32 k = 0; k < degree; k++)
				graph_add(&g, 0, k < degree / 2 ? 0 : 2, type[t] ? k : 0);
			graph_add(&g, 1, 0, 0);
			assert_ok(graph_write(&g, in_scratch("fit"), 65536, true));
			compare(&g, in_scratch("fit"), 65536);
			graph_release(&g);
		}
	}
}

#if MILL_VID_BITS == 32
static void star(void **state)
{
	struct graph g = { .directed = false };
	struct store *st;

	(void)state;
	graph_init(&g, 200001, 200001, 400000);
	for (u32 v = 1; v <= 200000; v++)
		graph_add(&g, 0, v, 0);
	assert_ok(graph_write(&g, in_scratch("star"), 65536, false));
	compare(&g, in_scratch("star"), 65536);
	assert_ok(store_open(&st, in_scratch("star"), NULL));
	assert_int_equal(st->max_degree, 200000);
	/* Twelve pages of 15 whole blocks; the rest fits the thirteenth, with room for others. */
	assert_int_equal(st->out.n_split, 12);
	assert_int_equal(st->out.entry[12].skip, 12 * 15 * LIST_BLOCK);
	assert_int_equal(pages_find(&st->out, 0), 0);
	assert_int_equal(pages_find(&st->out, 1), 12);
	store_close(st);
	graph_release(&g);
}
#endif

/* A small store with all files, twice. */
static void make_small(struct graph *g, const char *path)
{
	*g = (struct graph){ .directed = true, .weight = MILL_WEIGHT_U32 };
	graph_random(g, 20, 12, 40, 7);
	assert_ok(graph_write(g, path, 65536, false));
}

static void flip_file(const char *store, const char *name)
{
	const char *path = part_path(store, name);
	int fd = open(path, O_RDWR);
	struct stat info;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &info), 0);
	for (off_t at = 0; at < info.st_size; at += at < 700 ? 1 : 397) {
		u8 was, now;

		assert_int_equal(pread(fd, &was, 1, at), 1);
		now = (u8)(was ^ (1u << (at % 8)));
		assert_int_equal(pwrite(fd, &now, 1, at), 1);
		if (open_and_verify(store) != MILL_ECORRUPT)
			fail_msg("%s: byte %lld flipped was not found", name, (long long)at);
		assert_non_null(strstr(mill_error(), store));
		assert_int_equal(pwrite(fd, &was, 1, at), 1);
	}
	close(fd);
	assert_ok(open_and_verify(store));
}

static void cut_file(const char *store, const char *name)
{
	const char *path = part_path(store, name);
	size_t size, cut[4];
	u8 *data = slurp(path, &size);

	cut[0] = 0;
	cut[1] = size / 2;
	cut[2] = size - 1;
	cut[3] = size + 1;
	for (size_t i = 0; i < 4; i++) {
		spill(path, data, cut[i]);	/* slurp gives one zero byte more */
		assert_int_equal(open_and_verify(store), MILL_ECORRUPT);
	}
	unlink(path);
	assert_int_equal(open_and_verify(store),
			 strcmp(name, "manifest") ? MILL_ECORRUPT : MILL_EINPUT);
	assert_int_equal(mkfifo(path, 0600), 0);	/* must not hang */
	assert_int_equal(open_and_verify(store),
			 strcmp(name, "manifest") ? MILL_ECORRUPT : MILL_EINPUT);
	unlink(path);
	spill(path, data, size);
	assert_ok(open_and_verify(store));
	free(data);
}

static void damage(void **state)
{
	const char *store = in_scratch("damage");
	struct graph g;

	(void)state;
	make_small(&g, store);
	for (enum store_file f = 0; f < STORE_NAMES; f++) {
		flip_file(store, store_file_name(f));
		cut_file(store, store_file_name(f));
	}
	flip_file(store, "manifest");
	flip_file(store, "sums");
	cut_file(store, "manifest");
	cut_file(store, "sums");
	graph_release(&g);
}

/* Pages in each other's place: out for in, of another store, and by number. */
static void foreign_pages(void **state)
{
	const char *store = in_scratch("mine"), *other = in_scratch("other");
	struct graph g = { .directed = true, .weight = MILL_WEIGHT_F64 };
	size_t size, size_in;
	u8 *data, *in, page[65536];

	(void)state;
	graph_random(&g, 6, 5, 30000, 1);
	assert_ok(graph_write(&g, store, 65536, false));
	graph_release(&g);
	g = (struct graph){ .directed = true, .weight = MILL_WEIGHT_F64 };
	graph_random(&g, 6, 5, 30000, 2);
	assert_ok(graph_write(&g, other, 65536, false));
	graph_release(&g);

	data = slurp(part_path(store, "out.pages"), &size);
	memcpy(page, data, sizeof(page));	/* swapped */
	memcpy(data, data + 65536, 65536);
	memcpy(data + 65536, page, sizeof(page));
	spill(part_path(store, "out.pages"), data, size);
	assert_int_equal(open_and_verify(store), MILL_ECORRUPT);
	reseal(store);
	assert_int_equal(open_and_verify(store), MILL_ECORRUPT);
	assert_non_null(strstr(mill_error(), "number of another page"));
	memcpy(data + 65536, data, 65536);
	memcpy(data, page, sizeof(page));

	in = slurp(part_path(store, "in.pages"), &size_in);
	memcpy(page, in, sizeof(page));
	memcpy(in, data, sizeof(page));	/* the other direction */
	spill(part_path(store, "in.pages"), in, size_in);
	spill(part_path(store, "out.pages"), data, size);
	reseal(store);
	assert_int_equal(open_and_verify(store), MILL_ECORRUPT);
	free(in);
	free(data);
}

static void not_a_store(void **state)
{
	struct store *st;

	(void)state;
	assert_int_equal(store_open(&st, in_scratch("nothing"), NULL), MILL_EIO);
	assert_int_equal(store_open(&st, "", NULL), MILL_EIO);
	spill(in_scratch("plain"), "x", 1);
	assert_int_equal(store_open(&st, in_scratch("plain"), NULL), MILL_EINPUT);
	assert_int_equal(mkdir(in_scratch("dir"), 0700), 0);
	assert_int_equal(store_open(&st, in_scratch("dir"), NULL), MILL_EINPUT);
	assert_int_equal(mkfifo(in_scratch("fifo"), 0600), 0);
	assert_int_equal(store_open(&st, in_scratch("fifo"), NULL), MILL_EINPUT);
	spill(part_path(in_scratch("dir"), "manifest"), "", 0);
	assert_int_equal(store_open(&st, in_scratch("dir"), NULL), MILL_ECORRUPT);
}

/* Texts that are put in place of others, with the checksum made right. */
static const struct {
	const char *from, *to;
	mill_err err;
} edits[] = {
	{ "millrace-store 2\n", "millrace-store 3\n", MILL_ECORRUPT },	/* it says nothing of addresses */
	{ "millrace-store 2\n", "millrace-store 4\n", MILL_EINPUT },
	{ "millrace-store 2\n", "millrace-store 99999999999\n", MILL_EINPUT },
	{ "millrace-store 2\n", "millrace-store 0\n", MILL_ECORRUPT },
	{ "millrace-store 2\n", "millrace-store 1\n", MILL_ECORRUPT },
	{ "millrace-store 2\n", "millrace-store 02\n", MILL_ECORRUPT },
	{ "millrace-store 2\n", "", MILL_ECORRUPT },
	{ "millrace-store 2\n", "\nmillrace-store 2\n", MILL_ECORRUPT },
	{ "stripes 0\n", "stripes 1\n", MILL_ECORRUPT },
	{ "stripes 0\n", "stripes 17\n", MILL_ECORRUPT },
	{ "stripes 0\n", "", MILL_ECORRUPT },
	{ "vid_bits ", "vid_bits 1", MILL_EINPUT },
	{ "codec raw", "codec packed", MILL_ECORRUPT },
	{ "codec raw", "codec zip", MILL_ECORRUPT },
	{ "page_size 65536", "page_size 65537", MILL_ECORRUPT },
	{ "page_size 65536", "page_size 0", MILL_ECORRUPT },
	{ "page_size 65536", "page_size 4294967296", MILL_ECORRUPT },
	{ "page_size 65536", "page_size 131072", MILL_ECORRUPT },
	{ "directed yes", "directed no", MILL_ECORRUPT },
	{ "directed yes", "directed Yes", MILL_ECORRUPT },
	{ "weight u32", "weight f64", MILL_ECORRUPT },
	{ "weight u32", "weight i32", MILL_ECORRUPT },
	{ "weight u32", "weight u64", MILL_ECORRUPT },
	{ "vertices 20\n", "vertices 21\n", MILL_ECORRUPT },
	{ "vertices 20\n", "vertices 020\n", MILL_ECORRUPT },
	{ "vertices 20\n", "vertices 18446744073709551615\n", MILL_ECORRUPT },
	{ "vertices 20\n", "vertices 18446744073709551636\n", MILL_ECORRUPT },
	{ "vertices 20\n", "vertices 20\nvertices 20\n", MILL_ECORRUPT },
	{ "vertices 20\n", "vertices  20\n", MILL_ECORRUPT },
	{ "vertices 20\n", "vertices 20 \n", MILL_ECORRUPT },
	{ "vertices 20\n", "", MILL_ECORRUPT },
	{ "sources 12\n", "sources 13\n", MILL_ECORRUPT },
	{ "connected 20\n", "connected 21\n", MILL_ECORRUPT },
	{ "connected 20\n", "connected 11\n", MILL_ECORRUPT },
	{ "connected 20\n", "", MILL_ECORRUPT },
	{ "edges 52\n", "edges 53\n", MILL_ECORRUPT },
	{ "stored_edges 52\n", "stored_edges 51\n", MILL_ECORRUPT },
	{ "self_loops ", "self_loops 1", MILL_ECORRUPT },
	{ "parallel_edges ", "parallel_edges 99999", MILL_ECORRUPT },
	{ "max_degree ", "max_degree 1", MILL_ECORRUPT },
	{ "min_id 5\n", "min_id 6\n", MILL_ECORRUPT },
	{ "max_id 18446744073709551615\n", "max_id 18446744073709551614\n", MILL_ECORRUPT },
	{ "sum_weight ", "sum_weight 1", MILL_ECORRUPT },
	{ "min_weight ", "min_weight 0", MILL_ECORRUPT },
	{ "max_weight ", "max_weight -", MILL_ECORRUPT },
	{ "file ids 160\n", "file ids 168\n", MILL_ECORRUPT },
	{ "file ids 160\n", "file ids 160\nfile ids 160\n", MILL_ECORRUPT },
	{ "file out.index 32\n", "file out.index 64\n", MILL_ECORRUPT },
	{ "file out.pages 65536\n", "file out.pages 18446744073709486080\n", MILL_ECORRUPT },
	{ "in_rows ", "in_rows 9", MILL_ECORRUPT },
	{ "\nsums ", "\nmore x\nsums ", MILL_ECORRUPT },
	{ "\nsums ", "\nsums 0", MILL_ECORRUPT },
	{ "origin test\n", "origin test", MILL_ECORRUPT },
	{ "origin test\n", "origin other\n", MILL_OK },
};

static void manifest_edits(void **state)
{
	const char *store = in_scratch("edited");
	struct graph g;
	size_t size;
	char *text;

	(void)state;
	make_small(&g, store);
	text = (char *)slurp(part_path(store, "manifest"), &size);
	text[size - 26] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
		char changed[8192];
		const char *at = strstr(text, edits[i].from);
		mill_err err;

		assert_non_null(at);
		snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, edits[i].to,
			 at + strlen(edits[i].from));
		seal_manifest(store, changed, strlen(changed));
		err = open_and_verify(store);
		if (err != edits[i].err)
			fail_msg("%s -> %s: %d %s", edits[i].from, edits[i].to, err, mill_error());
	}
	/* Bytes after the last line, and a text that is no manifest at all. */
	seal_manifest(store, text, strlen(text));
	assert_ok(open_and_verify(store));
	free(text);
	text = (char *)slurp(part_path(store, "manifest"), &size);
	spill(part_path(store, "manifest"), text, size + 1);
	assert_int_equal(open_and_verify(store), MILL_ECORRUPT);
	seal_manifest(store, "hello\n", 6);
	assert_int_equal(open_and_verify(store), MILL_ECORRUPT);
	seal_manifest(store, "", 0);
	assert_int_equal(open_and_verify(store), MILL_ECORRUPT);
	free(text);
	graph_release(&g);
}

/* Removes a line of the text. */
static void without(char *text, const char *line)
{
	char *at = strstr(text, line);

	assert_non_null(at);
	memmove(at, at + strlen(line), strlen(at + strlen(line)) + 1);
}

/* A store of the first format is read, and says which it is. */
static void first_format(void **state)
{
	const char *store = in_scratch("first");
	struct store *st;
	struct graph g;
	size_t size;
	char *text;

	(void)state;
	make_small(&g, store);
	text = (char *)slurp(part_path(store, "manifest"), &size);
	text[size - 26] = '\0';
	text[strlen("millrace-store ")] = '1';
	without(text, "stripes 0\n");
	without(text, "connected 20\n");
	seal_manifest(store, text, strlen(text));
	assert_ok(open_and_verify(store));
	assert_ok(store_open(&st, store, NULL));
	assert_int_equal(st->format, 1);
	store_close(st);
	compare(&g, store, 65536);
	free(text);
	graph_release(&g);
}

/* page_decode gets unverified bytes: any byte may be anything, nothing may be read outside. */
static void hostile_pages(void **state)
{
	const char *store = in_scratch("hostile");
	struct graph g = { .directed = true, .weight = MILL_WEIGHT_F64 };
	struct store *st;
	struct segment seg;
	u64 accepted = 0;
	void *good, *frame;

	(void)state;
	graph_random(&g, 40, 30, 20000, 3);
	assert_ok(graph_write(&g, store, 65536, false));
	assert_ok(store_open(&st, store, NULL));
	assert_ok(page_frame_new(&good, st, NULL));
	frame = malloc(st->page_size);	/* exactly: the sanitizer sees every step beyond */
	assert_non_null(frame);
	assert_true(st->out.n_pages > 2);
	for (u64 i = 0; i < 60000; i++) {
		u32 page = (u32)random_below(1, i, st->out.n_pages);
		u32 used = 64 + 4 * (st->out.entry[page].n_rows + 1) + st->out.entry[page].n_edges;
		u32 n = (u32)random_below(2, i, 4) + 1;
		static u32 loaded = UINT32_MAX;

		if (page != loaded)
			assert_ok(page_read(&st->out, page, good));
		loaded = page;
		memcpy(frame, good, st->page_size);
		for (u32 k = 0; k < n; k++) {
			u64 at = random_below(3, 8 * i + k, k % 2 ? 64 + 200 : used);

			((u8 *)frame)[at] = (u8)random_at(4, 8 * i + k);
		}
		if (page_decode(&st->out, page, frame, &seg))
			continue;
		accepted++;
		assert_true(seg.row[seg.n_rows] == seg.n_edges);
		for (u32 r = 0; r < seg.n_rows; r++)
			assert_true(seg.row[r] <= seg.row[r + 1]);
		for (u32 e = 0; e < seg.n_edges; e++)
			assert_true(seg.neighbour[e] < st->vertices);
	}
	assert_true(accepted < 60000);
	free(frame);
	memory_free(good);
	store_close(st);
	graph_release(&g);
}

#define FIELD(f) offsetof(struct page_header, f), sizeof(((struct page_header *)0)->f)

static const struct {
	const char *name;
	size_t at, size;
	u64 value;
} headers[] = {
	{ "magic", FIELD(magic), 1 },
	{ "number", FIELD(number), 1 },
	{ "codec", FIELD(codec), 1 },
	{ "direction", FIELD(direction), 1 },
	{ "first vertex", FIELD(first_vertex), 1 },
	{ "no rows", FIELD(n_rows), 0 },
	{ "many rows", FIELD(n_rows), UINT32_MAX },
	{ "many edges", FIELD(n_edges), UINT32_MAX },
	{ "rows elsewhere", FIELD(row_at), UINT32_MAX - 3 },
	{ "neighbours elsewhere", FIELD(neighbour_at), 65536 },
	{ "weights elsewhere", FIELD(weight_at), 65528 },
	{ "no weights", FIELD(weight_at), 0 },
	{ "first edge", FIELD(first_edge), 1 },
	{ "row 0", 64, 4, 1 },
	{ "row 1", 68, 4, UINT32_MAX },
};

static void hostile_headers(void **state)
{
	const char *store = in_scratch("headers");
	struct segment seg;
	struct graph g;
	struct store *st;
	void *frame;

	(void)state;
	make_small(&g, store);
	assert_ok(store_open(&st, store, NULL));
	assert_ok(page_frame_new(&frame, st, NULL));
	for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
		assert_ok(page_read(&st->out, 0, frame));
		assert_ok(page_decode(&st->out, 0, frame, &seg));
		memcpy((u8 *)frame + headers[i].at, &headers[i].value, headers[i].size);
		if (page_decode(&st->out, 0, frame, &seg) != MILL_ECORRUPT)
			fail_msg("accepted: %s", headers[i].name);
	}
	assert_ok(page_read(&st->out, 0, frame));
	((u8 *)frame)[8] ^= 1;	/* the uuid */
	assert_int_equal(page_decode(&st->out, 0, frame, &seg), MILL_ECORRUPT);
	memory_free(frame);
	store_close(st);
	graph_release(&g);
}

/* Index entries that contradict each other, sealed again. */
static void hostile_index(void **state)
{
	const char *store = in_scratch("index");
	struct graph g = { .directed = true, .weight = MILL_WEIGHT_F64 };
	size_t size;
	u8 *good;

	(void)state;
	graph_random(&g, 6, 5, 30000, 1);
	assert_ok(graph_write(&g, store, 65536, false));
	good = slurp(part_path(store, "out.index"), &size);
	assert_true(size > 3 * 32);
	for (u64 i = 0; i < 400; i++) {
		u8 *bad = malloc(size);
		u64 at = random_below(1, i, size);

		memcpy(bad, good, size);
		bad[at] ^= (u8)(1 + random_below(2, i, 255));
		spill(part_path(store, "out.index"), bad, size);
		reseal(store);
		assert_int_equal(open_and_verify(store), MILL_ECORRUPT);
		free(bad);
	}
	spill(part_path(store, "out.index"), good, size);
	reseal(store);
	assert_ok(open_and_verify(store));
	free(good);
	graph_release(&g);
}

/* A page beyond 4 GiB of a file that is mostly a hole. */
static void far_page(void **state)
{
	enum { PAGE = 1 << 20, NUMBER = 4100 };
	struct store st = { .page_size = PAGE, .vertices = 3, .n_linked = 3, .sources = 2, .stored_edges = 2 };
	struct page_entry *entry = calloc(NUMBER + 1, sizeof(*entry));
	struct pages pages = {
		.store = &st, .data = STORE_OUT_PAGES, .n_pages = NUMBER + 1, .n_rows = 2, .entry = entry,
	};
	u64 *sum = calloc((u64)(NUMBER + 1) * PAGE / STORE_BLOCK, sizeof(*sum));
	u8 *page = calloc(PAGE, 1);
	struct page_header *h = (struct page_header *)(void *)page;
	const u32 row[3] = { 0, 1, 2 };
	const vid neighbour[2] = { 2, 1 };
	const char *path = in_scratch("sparse");
	struct segment seg;
	struct file f;
	void *frame;

	(void)state;
	*h = (struct page_header){
		.magic = PAGE_MAGIC, .number = NUMBER, .n_rows = 2, .n_edges = 2,
		.row_at = 64, .neighbour_at = 76,
	};
	entry[NUMBER].n_rows = entry[NUMBER].n_edges = 2;
	memcpy(page + 64, row, sizeof(row));
	memcpy(page + 76, neighbour, sizeof(neighbour));
	for (u64 b = 0; b < PAGE / STORE_BLOCK; b++)
		sum[(u64)NUMBER * (PAGE / STORE_BLOCK) + b] =
			checksum(page + b * STORE_BLOCK, STORE_BLOCK);

	assert_ok(file_open(&f, AT_FDCWD, path, FILE_CREATE, NULL));
	assert_int_equal(ftruncate(f.fd, (off_t)(NUMBER + 1) * PAGE), 0);
	assert_ok(file_write_at(&f, page, PAGE, (u64)NUMBER * PAGE));
	file_close(&f);
	assert_ok(file_open(&st.file[STORE_OUT_PAGES], AT_FDCWD, path, FILE_READ_DIRECT, NULL));
	st.sum[STORE_OUT_PAGES] = sum;

	assert_ok(page_frame_new(&frame, &st, NULL));
	assert_ok(page_read(&pages, NUMBER, frame));
	assert_ok(page_decode(&pages, NUMBER, frame, &seg));
	assert_int_equal(seg.n_edges, 2);
	assert_int_equal(seg.neighbour[0], 2);
	assert_int_equal(page_read(&pages, NUMBER - 1, frame), MILL_ECORRUPT);
	memory_free(frame);
	file_close(&st.file[STORE_OUT_PAGES]);
	unlink(path);
	free(page);
	free(sum);
	free(entry);
}

/* Any range of a vector file, across blocks. */
static void ranges(void **state)
{
#if MILL_VID_BITS == 32
	struct graph g = { .directed = true };
	const char *path = in_scratch("ranges");
	u8 *all, *part;
	struct store *st;

	(void)state;
	graph_random(&g, 30000, 10, 5, 3);
	assert_ok(graph_write(&g, path, 65536, false));
	assert_ok(store_open(&st, path, NULL));
	all = malloc(240000);
	part = malloc(240000);
	assert_ok(store_read(st, STORE_IDS, all, 240000, 0));
	for (u64 r = 1; r < 30000; r++)
		assert_true(((u64 *)(void *)all)[r - 1] < ((u64 *)(void *)all)[r]);
	for (u64 i = 0; i < 300; i++) {
		u64 from = random_below(1, i, 240001);
		u64 n = random_below(2, i, 240001 - from);

		if (i % 3 == 0)
			from -= from % STORE_BLOCK;
		assert_ok(store_read(st, STORE_IDS, part, n, from));
		assert_memory_equal(part, all + from, n);
	}
	store_close(st);
	free(all);
	free(part);
	graph_release(&g);
#else
	(void)state;
#endif
}

static const struct {
	const char *name;
	bool directed;
	enum mill_weight weight;
	u32 n, sources, n_edges;
	u32 edge[5][2];
	const char *text;
} exports[] = {
	/* Ids by vid: 10 30 | 20 40 with two sources, 10 | 30 31 40 with one. */
	{ "directed", true, MILL_WEIGHT_NONE, 4, 2, 4, { { 0, 3 }, { 0, 2 }, { 0, 1 }, { 1, 0 } },
	  "10 20\n10 30\n10 40\n30 10\n" },
	{ "parallel edges and loops", true, MILL_WEIGHT_NONE, 4, 2, 4,
	  { { 0, 0 }, { 0, 0 }, { 1, 2 }, { 1, 2 } }, "10 10\n10 10\n30 20\n30 20\n" },
	{ "undirected", false, MILL_WEIGHT_NONE, 4, 2, 3, { { 1, 0 }, { 0, 1 }, { 1, 1 } },
	  "10 30\n10 30\n30 30\n" },
	{ "u32", true, MILL_WEIGHT_U32, 4, 1, 2, { { 0, 1 }, { 0, 1 } }, "10 30 7\n10 30 8\n" },
	{ "i32", true, MILL_WEIGHT_I32, 4, 1, 1, { { 0, 1 } }, "10 30 7\n" },
	{ "nothing", true, MILL_WEIGHT_NONE, 0, 0, 0, { { 0 } }, "" },
	{ "isolated", true, MILL_WEIGHT_NONE, 4, 0, 0, { { 0 } }, "" },
};

static void export_table(void **state)
{
	static const u64 id[4] = { 10, 30, 20, 40 }, one[4] = { 10, 30, 31, 40 },
			 none[4] = { 10, 20, 30, 40 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(exports); i++) {
		struct graph g = { .directed = exports[i].directed, .weight = exports[i].weight };
		const char *path = in_scratch("exported");
		mill_store *store;
		size_t size;
		char *text;

		graph_init(&g, exports[i].n, exports[i].sources, 20);
		memcpy(g.id, exports[i].sources == 2 ? id : exports[i].sources ? one : none,
		       exports[i].n * sizeof(u64));
		for (u32 e = 0; e < exports[i].n_edges; e++)
			graph_add(&g, exports[i].edge[e][0], exports[i].edge[e][1],
				  exports[i].weight ? 7 + e : 0);
		assert_ok(graph_write(&g, path, 65536, true));
		assert_ok(mill_store_open(&store, path));
		assert_ok(mill_store_export(store, in_scratch("edges.txt"), NULL, NULL));
		text = (char *)slurp(in_scratch("edges.txt"), &size);
		if (strcmp(text, exports[i].text))
			fail_msg("%s: %s", exports[i].name, text);
		free(text);
		assert_int_equal(mill_store_export(store, in_scratch("no/such/dir"), NULL, NULL), MILL_EIO);
		mill_store_close(store);
		graph_release(&g);
	}
}

/* The same graph exports the same bytes from pages of any size. */
static void export_any_page_size(void **state)
{
	static const enum mill_weight type[] = { MILL_WEIGHT_F32, MILL_WEIGHT_F64, MILL_WEIGHT_I32 };

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(type); t++) {
		char *text[2];

		for (unsigned i = 0; i < 2; i++) {
			struct graph g = { .directed = t != 1, .weight = type[t] };
			mill_store *store;
			size_t size;

			graph_random(&g, 30, 20, 30000, 9);
			assert_ok(graph_write(&g, in_scratch("any"), i ? 1 << 20 : 65536, true));
			assert_ok(mill_store_open(&store, in_scratch("any")));
			assert_ok(mill_store_export(store, in_scratch("any.txt"), NULL, NULL));
			mill_store_close(store);
			text[i] = (char *)slurp(in_scratch("any.txt"), &size);
			assert_true(size > 100000);
			graph_release(&g);
		}
		assert_string_equal(text[0], text[1]);
		free(text[0]);
		free(text[1]);
	}
}

static int stop(void *arg, const struct mill_progress *progress)
{
	(void)progress;
	++*(int *)arg;
	return 1;
}

static void cancelled(void **state)
{
	int calls = 0;
	const struct mill_watcher watcher = { .watch = stop, .arg = &calls };
	const char *path = in_scratch("cancelled");
	mill_store *store;
	struct graph g;

	(void)state;
	make_small(&g, path);
	assert_ok(mill_store_open(&store, path));
	assert_int_equal(mill_store_verify(store, &watcher), MILL_ECANCELLED);
	assert_int_equal(mill_store_export(store, in_scratch("c.txt"), NULL, &watcher), MILL_ECANCELLED);
	assert_false(path_exists(in_scratch("c.txt")));
	assert_int_equal(calls, 2);
	mill_store_close(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(round_trip),
	cmocka_unit_test(exact_fit),
#if MILL_VID_BITS == 32
	cmocka_unit_test(star),
#endif
	cmocka_unit_test(damage),
	cmocka_unit_test(foreign_pages),
	cmocka_unit_test(not_a_store),
	cmocka_unit_test(manifest_edits),
	cmocka_unit_test(first_format),
	cmocka_unit_test(hostile_pages),
	cmocka_unit_test(hostile_headers),
	cmocka_unit_test(hostile_index),
	cmocka_unit_test(far_page),
	cmocka_unit_test(ranges),
	cmocka_unit_test(export_table),
	cmocka_unit_test(export_any_page_size),
	cmocka_unit_test(cancelled),
};

SUITE(store, tests, .setup = scratch_make, .teardown = scratch_remove);
