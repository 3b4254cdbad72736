/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the data that crosses the boundary of a device and compares it with the record counts.txt:
 * pages, bytes of each kind, steps, updates and results. A change that is not meant to affect
 * transfers must leave every line as it is.
 *
 *	graphs		kron 13 and a grid of 128 x 128, undirected, and an rmat 12, directed;
 *			weights of 32 bits, pages of 64 KiB
 *	algorithms	bfs, sssp, cc (afforest and labels), pagerank (exact, 5 iterations) and
 *			bc (one source); the source is the vertex of the highest degree
 *	rooms		"few": the least that the plan needs plus a page, 4 frames on the host;
 *			"some": plus three pages, 64 frames; "all": the whole graph, 4 frames
 *
 *	packed		all algorithms under all policies, graphie with each wire: kron, grid
 *	raw		bfs, sssp, labels, pagerank under auto, lru, graphie (edges, csr), gts: kron
 *	directed	the same: rmat
 *	paged		bfs, labels, pagerank under auto, graphie (each wire), gts: kron
 *	switches	no_skip and no_reuse, each alone: bfs and labels under auto, graphie,
 *			gts: kron, grid
 *	gts		state in three chunks, and no cache of pages: all algorithms but afforest on
 *			kron, pagerank on the grid
 *	two devices	strategies P and S of gts: bfs and pagerank on kron and grid
 *
 * Combinations that would repeat others are left out. If the whole graph fits, policies that only
 * choose pages act as auto. Algorithms without partitions under graphie have no wire. afforest uses
 * pages under graphie and gts, as under fifo and lru.
 *
 * Each line is
 *	ALGORITHM GRAPH CODEC POLICY[/VARIANT] ROOM FRAMES: counts
 * The last count, by_step, is a digest of the counts of each step. On one compute unit, with one
 * queue and one thread, all counts repeat exactly. A line has no times, because these never repeat,
 * and no hash of bc, because processors may round sums of floats differently.
 *
 * MILL_RECORD=FILE writes the lines to FILE and compares nothing.
 */
#include "task.h"

#define PAGE (64 * KIB)
#define ROOM_ALL (64 * MIB)
#define DEVICES 128		/* bytes of a list of device names */
#define LINE 640		/* bytes */

/* ---- Graphs, algorithms, options ---- */

enum { KRON = 1, GRID = 2, RMAT = 4 };
static const struct {
	const char *name, *kind;
	u32 scale;
	u64 vertices;
	bool directed;
} graphs[] = {
	{ "kron13", "kron", .scale = 13 },
	{ "grid128", "grid", .vertices = 128 * 128 },
	{ "rmat12", "rmat", .scale = 12, .directed = true },
};

static char source[24];	/* the original id of the current store's source */
static const struct mill_bfs search = { source };
static const struct mill_sssp paths = { .source = source };
static const struct mill_cc afforest = { MILL_CC_AFFOREST }, labels = { MILL_CC_LABELS };
static const struct mill_pagerank scans = { .tolerance = -1,
					    .iterations = 5,
					    .precision = MILL_EXACT };
static const struct mill_bc between = { .sources = source };

enum { BFS = 1, SSSP = 2, AFFOREST = 4, LABELS = 8, PAGERANK = 16, BC = 32, EVERY = 63 };
/* Algorithms for which the wire makes no difference. */
#define WIRELESS (AFFOREST | PAGERANK | BC)

static const struct job {
	const char *name, *algorithm;
	const void *how;
	bool bits;		/* equal bits of the result are promised */
} jobs[] = {
	{ "bfs", "bfs", &search, true },
	{ "sssp", "sssp", &paths, true },
	{ "afforest", "cc", &afforest, true },
	{ "labels", "cc", &labels, true },
	{ "pagerank", "pagerank", &scans, true },
	{ "bc", "bc", &between, false },
};

static const struct limits {
	const char *name;
	u64 pages;		/* beyond the least memory; AMPLE: the budget is ROOM_ALL */
	u32 frames;
} rooms[] = {
	{ "few", 1, 4 },
	{ "some", 3, 64 },
	{ "all", AMPLE, 4 },
};

/* Options of a run. but: the set of algorithms that are not run with them. */
struct way {
	const char *name;
	struct mill_options o;
	u32 but;
	u32 devices;		/* 0: one */
};

/* A part of the table. graphs, jobs: sets as bits. codec: of graphs.h. */
struct block {
	u32 graphs, codec, jobs;
	const struct way *way;
	size_t n_ways;
};

/*
 * Writes the name of one compute unit of the first OpenCL device n times. Returns false if
 * there is none.
 */
static bool one_unit(char out[DEVICES], u32 n)
{
	struct mill_device d[2] = { 0 };	/* the cpu comes first */
	size_t at = 0;

	if (MILL_VID_BITS != 32 || !have_opencl() || mill_devices(d, 2) < 2)
		return false;
	if (d[1].units < 2 || d[1].parts != d[1].units)
		return false;
	while (n--)
		at += (size_t)snprintf(out + at, DEVICES - at, "%s%s/%u:0", at ? "," : "",
				       d[1].name, d[1].parts);
	return true;
}

static mill_store *make_store(size_t g, u32 codec)
{
	struct mill_generate how = {
		.target = { .path = scratch_path(graphs[g].name),
			    .page_size = PAGE,
			    .force = true,
			    .threads = 1,
			    .codec = codec == CODEC_PACKED ? MILL_CODEC_PACKED : MILL_CODEC_RAW,
			    .addressing = codec == CODEC_PAGED ? MILL_ADDRESSING_PAGED
							       : MILL_ADDRESSING_DENSE },
		.kind = graphs[g].kind,
		.scale = graphs[g].scale,
		.vertices = graphs[g].vertices,
		.directed = graphs[g].directed,
		.weight = MILL_WEIGHT_U32,
		.seed = 5,
	};
	struct mill_report r;
	struct mill_built built;
	mill_store *store;
	mill_run *run;

	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	OK(mill_run_new(&run, store, &(struct mill_options){ .threads = 1, .memory = GIB }));
	OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
	mill_run_report(run, &r);
	assert_string_equal(r.fact[0].name, "source");
	snprintf(source, sizeof(source), "%llu", (unsigned long long)r.fact[0].u64);
	mill_run_free(run);
	return store;
}

/* ---- Lines ---- */

static struct {
	FILE *record;		/* NULL: lines are compared */
	char (*line)[LINE];	/* as recorded */
	bool *met;		/* the line was compared */
	size_t n, n_wrong;
} book;

static void read_book(FILE *f)
{
	char line[LINE];

	while (fgets(line, sizeof(line), f)) {
		if (*line == '#')
			continue;
		line[strcspn(line, "\n")] = 0;
		book.line = realloc(book.line, (book.n + 1) * sizeof(*book.line));
		strcpy(book.line[book.n++], line);
	}
	book.met = calloc(book.n + 1, sizeof(bool));
}

static int book_open(void **state)
{
	const char *record = getenv("MILL_RECORD");
	char path[512];
	FILE *f;

	if (record && *record) {
		book.record = fopen(record, "w");
		if (book.record)
			fprintf(book.record, "# SPDX-License-Identifier: Apache-2.0\n"
					     "# Recorded by test_counts.c.\n");
		return book.record ? scratch_make(state) : -1;
	}
	snprintf(path, sizeof(path), "%.*s/counts.txt", (int)(strrchr(__FILE__, '/') - __FILE__),
		 __FILE__);
	f = fopen(path, "r");
	if (!f)
		return -1;
	read_book(f);
	fclose(f);
	return scratch_make(state);
}

static int book_close(void **state)
{
	if (book.record && fclose(book.record))
		return -1;
	free(book.line);
	free(book.met);
	return scratch_remove(state);
}

/* Compares a line with the recorded line that is equal up to the colon. */
static void compare_line(const char *line)
{
	size_t key = (size_t)(strchr(line, ':') - line) + 1;

	if (book.record) {
		fprintf(book.record, "%s\n", line);
		return;
	}
	for (size_t i = 0; i < book.n; i++) {
		if (book.met[i] || strncmp(book.line[i], line, key))
			continue;
		book.met[i] = true;
		if (!strcmp(book.line[i], line))
			return;
		print_error("recorded %s\nnow      %s\n", book.line[i], line);
		book.n_wrong++;
		return;
	}
	print_error("not recorded: %s\n", line);
	book.n_wrong++;
}

/* Adds the counts of a step to a hash (FNV-1a). */
static u64 digest_step(u64 hash, const struct mill_step *s)
{
	u64 value[] = {
		s->frontier, s->edges, s->updates, s->pages_active, s->pages_to_device,
		s->pages_reused, s->to_device,
		(u64)s->direction[2],	/* the third letter tells push, pull and scan apart */
	};

	for (u32 i = 0; i < 8 * ARRAY_LEN(value); i++)
		hash = (hash ^ (value[i / 8] >> i % 8 * 8 & 0xff)) * 0x100000001b3;
	return hash;
}

#define N(x) ((unsigned long long)(x))

/* Writes the counts of a run. */
static void write_counts(char *to, size_t size, const mill_run *run, bool bits)
{
	u64 edges = 0, by_step = 0xcbf29ce484222325;
	struct mill_report r;
	struct mill_step s;
	size_t at;

	mill_run_report(run, &r);
	for (u64 i = 0; i < r.n_steps; i++) {
		mill_run_step(run, i, &s);
		edges += s.edges;
		by_step = digest_step(by_step, &s);
	}
	at = (size_t)snprintf(
		to, size,
		"steps %llu active %llu moved %llu reused %llu to_device %llu from_device %llu "
		"topology %llu read_only %llu writable %llu flags %llu peak %llu disk %llu "
		"updates %llu edges %llu ",
		N(r.iterations), N(r.pages_active), N(r.pages_to_device), N(r.pages_reused),
		N(r.to_device), N(r.from_device), N(r.topology), N(r.read_only), N(r.writable),
		N(r.flags), N(r.device_peak), N(r.pages_read), N(r.updates), N(edges));
	if (bits)
		at += (size_t)snprintf(to + at, size - at, "hash %016llx ", N(r.hash));
	snprintf(to + at, size - at, "by_step %016llx", N(by_step));
}

/* ---- Runs ---- */

static mill_run *open_run(mill_store *store, const struct way *w)
{
	struct mill_options o = w->o;
	char device[DEVICES] = "";
	mill_run *run;

	assert_true(one_unit(device, w->devices ? w->devices : 1));
	o.device = device;
	o.threads = o.queues = 1;
	o.memory = GIB;
	o.device_memory = ROOM_ALL;
	OK(mill_run_new(&run, store, &o));
	return run;
}

/* Sets budgets and frames. Devices drop the data that they hold. */
static void set_room(mill_run *run, const struct job *job, const struct limits *room)
{
	run->hook.only_frames = room->frames;
	if (room->pages != AMPLE) {
		task_room(run, &(struct task){ .algorithm = job->algorithm, .how = job->how },
			  room->pages * PAGE);
		return;
	}
	for (u32 i = 0; i < run->n_opened; i++) {
		run->opened[i]->memory->limit = ROOM_ALL;
		run->opened[i]->memory->peak = 0;
	}
	run->loaded = false;
}

/*
 * The record dates from when rule V-C always divided by 32. Runs again with partitions of
 * that size.
 */
static void run_as_recorded(mill_run *run, const struct job *job)
{
	run->options.graphie.partition_size = graphie_size(&run->transfer, 32);
	run->opened[0]->memory->peak = 0;
	run->loaded = false;
	OK(mill_run_algorithm(run, job->algorithm, job->how));
	run->options.graphie.partition_size = 0;
}

/* Runs one algorithm and compares its line; where: "kron13 packed". */
static void count_run(mill_run *run, const char *where, const struct way *w, const struct job *job,
		      const struct limits *room)
{
	char line[LINE];
	size_t at;

	set_room(run, job, room);
	at = (size_t)snprintf(line, sizeof(line), "%s %s %s %s %u: ", job->name, where, w->name,
			      room->name, room->frames);
	if (mill_run_algorithm(run, job->algorithm, job->how))
		fail_msg("%s%s", line, mill_error());
	if (graphie_table(&run->transfer))
		run_as_recorded(run, job);
	write_counts(line + at, sizeof(line) - at, run, job->bits);
	compare_line(line);
}

/* Returns true if the policy only chooses the pages to evict. */
static bool chooses_pages(const struct way *w)
{
	return w->o.policy && strcmp(w->o.policy, "graphie") && strcmp(w->o.policy, "gts");
}

static void count_way(mill_store *store, const char *where, const struct way *w, u32 set)
{
	mill_run *run = open_run(store, w);

	for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
		for (size_t k = 0; k < ARRAY_LEN(rooms); k++)
			if (set >> i & 1 && !(rooms[k].pages == AMPLE && chooses_pages(w)))
				count_run(run, where, w, &jobs[i], &rooms[k]);
	mill_run_free(run);
}

/* Runs a block of the table. Fails the test if a line differs. */
static void count(const struct block *b)
{
	size_t wrong = book.n_wrong;
	char where[64];

	for (size_t g = 0; g < ARRAY_LEN(graphs); g++) {
		mill_store *store;

		if (!(b->graphs >> g & 1))
			continue;
		store = make_store(g, b->codec);
		snprintf(where, sizeof(where), "%s %s", graphs[g].name, codec_names[b->codec]);
		for (size_t i = 0; i < b->n_ways; i++)
			count_way(store, where, &b->way[i], b->jobs & ~b->way[i].but);
		graph_store_drop(store);
	}
	if (book.n_wrong > wrong)
		fail_msg("%zu lines differ", book.n_wrong - wrong);
}

#define COUNT(...)                                        \
	do {                                              \
		if (!one_unit((char[DEVICES]){ 0 }, 1))   \
			skip();                           \
		count(&(struct block){ __VA_ARGS__ });    \
	} while (0)

/* Options of a policy, with others. */
#define GRAPHIE(...) { .policy = "graphie", __VA_ARGS__ }
#define GTS(...) { .policy = "gts", .gts.scan = MILL_SCAN_PAGES, __VA_ARGS__ }

static void test_packed(void **state)
{
	static const struct way ways[] = {
		{ "auto", { 0 }, 0, 0 },
		{ "fifo", { .policy = "fifo" }, 0, 0 },
		{ "lru", { .policy = "lru" }, 0, 0 },
		{ "frequency", { .policy = "frequency" }, 0, 0 },
		{ "pinned", { .policy = "pinned" }, 0, 0 },
		{ "graphie/edges", GRAPHIE(.graphie.wire = MILL_WIRE_EDGES), AFFOREST, 0 },
		{ "graphie/csr", GRAPHIE(.graphie.wire = MILL_WIRE_CSR), WIRELESS, 0 },
		{ "graphie/packed", GRAPHIE(.graphie.wire = MILL_WIRE_PACKED), WIRELESS, 0 },
		{ "gts", { .policy = "gts", .gts.scan = MILL_SCAN_PAGES }, AFFOREST, 0 },
	};

	(void)state;
	COUNT(KRON | GRID, CODEC_PACKED, EVERY, ways, ARRAY_LEN(ways));
}

static const struct way some_ways[] = {
	{ "auto", { 0 }, 0, 0 },
	{ "lru", { .policy = "lru" }, 0, 0 },
	{ "graphie/edges", GRAPHIE(.graphie.wire = MILL_WIRE_EDGES), 0, 0 },
	{ "graphie/csr", GRAPHIE(.graphie.wire = MILL_WIRE_CSR), WIRELESS, 0 },
	{ "gts", { .policy = "gts", .gts.scan = MILL_SCAN_PAGES }, 0, 0 },
};

static void test_raw(void **state)
{
	(void)state;
	COUNT(KRON, CODEC_RAW, BFS | SSSP | LABELS | PAGERANK, some_ways, ARRAY_LEN(some_ways));
}

static void test_directed(void **state)
{
	(void)state;
	COUNT(RMAT, CODEC_PACKED, BFS | SSSP | LABELS | PAGERANK, some_ways, ARRAY_LEN(some_ways));
}

static void test_paged(void **state)
{
	static const struct way ways[] = {
		{ "auto", { 0 }, 0, 0 },
		{ "graphie/edges", GRAPHIE(.graphie.wire = MILL_WIRE_EDGES), 0, 0 },
		{ "graphie/csr", GRAPHIE(.graphie.wire = MILL_WIRE_CSR), WIRELESS, 0 },
		{ "graphie/packed", GRAPHIE(.graphie.wire = MILL_WIRE_PACKED), WIRELESS, 0 },
		{ "gts", { .policy = "gts", .gts.scan = MILL_SCAN_PAGES }, 0, 0 },
	};

	(void)state;
	COUNT(KRON, CODEC_PAGED, BFS | LABELS | PAGERANK, ways, ARRAY_LEN(ways));
}

static void test_switches(void **state)
{
	static const struct way ways[] = {
		{ "auto/no_skip", { .no_skip = true }, 0, 0 },
		{ "auto/no_reuse", { .no_reuse = true }, 0, 0 },
		{ "graphie/no_skip", GRAPHIE(.no_skip = true), 0, 0 },
		{ "graphie/no_reuse", GRAPHIE(.no_reuse = true), 0, 0 },
		{ "gts/no_skip", GTS(.no_skip = true), 0, 0 },
		{ "gts/no_reuse", GTS(.no_reuse = true), 0, 0 },
	};

	(void)state;
	COUNT(KRON | GRID, CODEC_PACKED, BFS | LABELS, ways, ARRAY_LEN(ways));
}

static void test_gts(void **state)
{
	static const struct way ways[] = {
		{ "gts/chunks", GTS(.gts.chunks = 3), 0, 0 },
		{ "gts/no_cache", GTS(.gts.device_cache = MILL_SIZE_NONE), 0, 0 },
	};

	(void)state;
	COUNT(KRON, CODEC_PACKED, EVERY & ~AFFOREST, ways, ARRAY_LEN(ways));
	COUNT(GRID, CODEC_PACKED, PAGERANK, ways, ARRAY_LEN(ways));
}

static void test_two_devices(void **state)
{
	static const struct way ways[] = {
		{ "gts/2P", GTS(.gts.strategy = MILL_STRATEGY_P), 0, 2 },
		{ "gts/2S", GTS(.gts.strategy = MILL_STRATEGY_S), 0, 2 },
	};

	(void)state;
	COUNT(KRON | GRID, CODEC_PACKED, BFS | PAGERANK, ways, ARRAY_LEN(ways));
}

/* Fails if the tests before have not compared all recorded lines. */
static void test_none_missing(void **state)
{
	size_t missing = 0;

	(void)state;
	if (!one_unit((char[DEVICES]){ 0 }, 1))
		skip();
	for (size_t i = 0; i < book.n; i++)
		if (!book.met[i]) {
			print_error("recorded, but not compared: %s\n", book.line[i]);
			missing++;
		}
	if (missing)
		fail_msg("%zu recorded lines were not compared", missing);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_packed),
	cmocka_unit_test(test_raw),
	cmocka_unit_test(test_directed),
	cmocka_unit_test(test_paged),
	cmocka_unit_test(test_switches),
	cmocka_unit_test(test_gts),
	cmocka_unit_test(test_two_devices),
	cmocka_unit_test(test_none_missing),
};

SUITE(counts, tests, .setup = book_open, .teardown = book_close);
