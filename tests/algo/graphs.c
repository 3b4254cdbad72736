/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs.h"

#include <unistd.h>

#include "base/file.h"
#include "base/random.h"
#include "import/builder.h"

/* ---- Graphs ---- */

void graph_init(struct graph *g, const char *name, u32 n)
{
	*g = (struct graph){ .name = name, .n = n, .stride = 1, .page_size = 64 * KIB };
}

void graph_release(struct graph *g)
{
	free(g->arc);
	free(g->row);
	free(g->stored);
	*g = (struct graph){ 0 };
}

void graph_add(struct graph *g, u32 from, u32 to)
{
	if (g->n_arcs == g->capacity) {
		g->capacity = g->capacity ? 2 * g->capacity : 64;
		g->arc = realloc(g->arc, g->capacity * sizeof(*g->arc));
		assert_non_null(g->arc);
	}
	/* An undirected edge is listed once, so that the import merges nothing. */
	if (g->undirected && from > to)
		g->arc[g->n_arcs++] = (struct arc){ to, from, 1 };
	else
		g->arc[g->n_arcs++] = (struct arc){ from, to, 1 };
}

void graph_index(struct graph *g)
{
	u64 *at;

	free(g->row);
	free(g->stored);
	g->row = calloc((u64)g->n + 2, sizeof(u64));
	g->stored = calloc(2 * g->n_arcs + 1, sizeof(*g->stored));
	assert_true(g->row && g->stored);
	at = g->row + 1;	/* shifted by one: after filling, row[v] is where v's list starts */
	for (u64 i = 0; i < g->n_arcs; i++) {
		at[g->arc[i].from + 1u]++;
		if (g->undirected && g->arc[i].from != g->arc[i].to)
			at[g->arc[i].to + 1u]++;
	}
	for (u32 v = 0; v < g->n; v++)
		at[v + 1u] += at[v];
	g->n_stored = at[g->n];
	for (u64 i = 0; i < g->n_arcs; i++) {
		struct arc a = g->arc[i];

		g->stored[at[a.from]++] = a;
		if (g->undirected && a.from != a.to)
			g->stored[at[a.to]++] = (struct arc){ a.to, a.from, a.weight };
	}
}

bool graph_fits(const struct graph *g)
{
	u64 edges = (g->undirected ? 2 : 1) * g->n_arcs;

	return min_u64(g->n, MAX_VERTICES) == g->n && min_u64(edges, MAX_EDGES) == edges;
}

static f64 largest(enum mill_weight type)
{
	return type == MILL_WEIGHT_U32 ? UINT32_MAX : INT32_MAX;
}

static f64 choose_weight(enum mill_weight type, enum weighing how, u64 seed, u64 i)
{
	static const f64 mostly_zero[] = { 1, 0, 0, 2, 0, 0 };
	bool real = type == MILL_WEIGHT_F32 || type == MILL_WEIGHT_F64;
	u64 x = random_at(seed, i);

	switch (how) {
	case WEIGH_SMALL:
		return real ? 1 - random_unit(seed, i) : (f64)(1 + x % 255);
	case WEIGH_ZEROS:
		return mostly_zero[x % ARRAY_LEN(mostly_zero)];
	case WEIGH_HUGE:
		return real ? 1e30 * (1 + random_unit(seed, i)) : largest(type) - (f64)(x % 1000);
	default:
		if (!real)
			return (f64)(((u32)x & (u32)largest(type)) >> (x >> 40) % 31);
		return __builtin_ldexp(1 + random_unit(seed, i), (int)(x % 120) - 60);
	}
}

void graph_weigh(struct graph *g, enum mill_weight type, enum weighing how, u64 seed)
{
	g->weight = type;
	for (u64 i = 0; i < g->n_arcs; i++) {
		f64 w = choose_weight(type, how, seed, i);

		g->arc[i].weight = type == MILL_WEIGHT_F32 ? (f64)(f32)w : w;
	}
	graph_index(g);
}

const char *weighing_name(enum weighing how)
{
	static const char *const names[] = { "small", "zeros", "huge", "mixed" };

	return names[how];
}

void graph_random(struct graph *g, u32 n, u64 n_arcs, u64 seed)
{
	g->n = n;
	for (u64 i = 0; i < n_arcs; i++)
		graph_add(g, (u32)random_below(seed, 2 * i, n),
			  (u32)random_below(seed, 2 * i + 1, n));
}

/* ---- Shapes ---- */

static void make_nothing(struct graph *g) { g->n = 0; }
static void make_vertex(struct graph *g) { g->n = 1; }
static void make_dangling(struct graph *g) { g->n = 70; }

static void make_loop(struct graph *g)
{
	g->n = 1;
	graph_add(g, 0, 0);
}

static void make_loops(struct graph *g)
{
	g->n = 7;	/* 0..4 are a path; 5 has only a self-loop, 6 has two */
	for (u32 v = 0; v < 7; v++)
		graph_add(g, v, v);
	for (u32 v = 0; v < 4; v++)
		graph_add(g, v, v + 1);
	graph_add(g, 6, 6);
}

static void make_parallels(struct graph *g)
{
	g->n = 4;
	for (int i = 0; i < 5; i++) {
		graph_add(g, 0, 1);
		graph_add(g, 1, 2);
	}
	graph_add(g, 2, 3);
	graph_add(g, 0, 3);
	graph_add(g, 0, 3);
}

#define LEAVES 100000u
#define HUB 4711u

static void make_out_star(struct graph *g)
{
	g->n = LEAVES + 1;
	for (u32 v = 0; v <= LEAVES; v++)
		if (v != HUB)
			graph_add(g, HUB, v);
}

static void make_in_star(struct graph *g)
{
	g->n = LEAVES + 1;
	for (u32 v = 0; v <= LEAVES; v++)
		if (v != HUB)
			graph_add(g, v, HUB);
}

static void make_small_star(struct graph *g)
{
	g->n = 200;
	for (u32 v = 1; v < g->n; v++)
		graph_add(g, 0, v);
}

static void make_path(struct graph *g)
{
	g->n = 1500;
	for (u32 v = 0; v + 1 < g->n; v++)
		graph_add(g, v, v + 1);
}

static void make_back_path(struct graph *g)
{
	g->n = 200;
	for (u32 v = 0; v + 1 < g->n; v++)
		graph_add(g, v + 1, v);
}

static void make_cycle(struct graph *g)
{
	g->n = 129;
	for (u32 v = 0; v < g->n; v++)
		graph_add(g, v, (v + 1) % g->n);
}

/* A cycle of 64, a clique of 9 and 3 isolated vertices. */
static void make_components(struct graph *g)
{
	g->n = 64 + 9 + 3;
	for (u32 v = 0; v < 64; v++)
		graph_add(g, v, (v + 1) % 64);
	for (u32 u = 64; u < 73; u++)
		for (u32 v = 64; v < 73; v++)
			if (u != v)
				graph_add(g, u, v);
}

static void make_grid(struct graph *g)
{
	u32 width = 50, height = 40;

	g->n = width * height;
	for (u32 y = 0; y < height; y++)
		for (u32 x = 0; x < width; x++) {
			if (x + 1 < width)
				graph_add(g, y * width + x, y * width + x + 1);
			if (y + 1 < height)
				graph_add(g, y * width + x, (y + 1) * width + x);
		}
}

static void make_tree(struct graph *g)
{
	g->n = 4095;
	for (u32 v = 1; v < g->n; v++)
		graph_add(g, (v - 1) / 2, v);
}

static void make_clique(struct graph *g)
{
	g->n = 250;
	for (u32 u = 0; u < g->n; u++)
		for (u32 v = 0; v < g->n; v++)
			graph_add(g, u, v);
}

static void make_tiny(struct graph *g) { graph_random(g, 12, 20, 3); }
static void make_sparse(struct graph *g) { graph_random(g, 3000, 6000, 11); }
static void make_dense(struct graph *g) { graph_random(g, 2000, 80000, 12); }

/*
 * Long lists that start and end in the middle of pages, between short ones, in both
 * directions.
 */
static void make_hubs(struct graph *g)
{
	graph_random(g, 20000, 10000, 13);
	for (u32 hub = 0; hub < 6; hub++)
		for (u32 i = 0; i < 16000 + 517 * hub; i++) {
			u32 other = (u32)random_below(hub, i, g->n);

			graph_add(g, 700 * hub, other);
			graph_add(g, other, 650 * hub + 3);
		}
}

/*
 * R-MAT: several pages and lists of all lengths. Each bit of both ends is a random quarter
 * of the matrix; the first quarter is the likeliest.
 */
static void make_rmat(struct graph *g)
{
	static const u32 quarter[] = { 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3 };
	u32 scale = 11;

	g->n = 1u << scale;
	for (u64 i = 0; i < 40 * (u64)g->n; i++) {
		u32 from = 0, to = 0;

		for (u32 bit = 0; bit < scale; bit++) {
			u32 q = quarter[random_below(17, scale * i + bit, ARRAY_LEN(quarter))];

			from |= (q >> 1) << bit;
			to |= (q & 1) << bit;
		}
		graph_add(g, from, to);
	}
}

/* Gunrock's sample graph. */
static void make_gunrock(struct graph *g)
{
	static const u32 row[] = { 0, 3, 6, 9, 11, 14, 15, 15 };
	static const u32 column[] = { 1, 2, 3, 0, 2, 4, 3, 4, 5, 5, 6, 2, 5, 6, 6 };

	g->n = 7;
	for (u32 v = 0; v < g->n; v++)
		for (u32 i = row[v]; i < row[v + 1]; i++)
			graph_add(g, v, column[i]);
}

/* Figure 2 of the Graphie paper, with its vertex numbers. */
static void make_graphie(struct graph *g)
{
	static const u32 arc[][2] = {
		{ 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 6 }, { 1, 0 }, { 1, 4 }, { 2, 3 }, { 5, 1 },
		{ 6, 0 }, { 6, 2 }, { 6, 3 }, { 6, 4 }, { 7, 2 }, { 7, 4 }, { 7, 5 }, { 7, 6 },
	};

	g->n = 8;
	for (size_t i = 0; i < ARRAY_LEN(arc); i++)
		graph_add(g, arc[i][0], arc[i][1]);
}

#define POWER(n) ((u64)1 << (n))

const struct shape shapes[] = {
	{ "no vertex", make_nothing, false, 0, 1, false },
	{ "one vertex", make_vertex, false, 5, 1, false },
	{ "one vertex, undirected", make_vertex, true, 5, 1, false },
	{ "one self-loop", make_loop, false, 0, 1, false },
	{ "one self-loop, undirected", make_loop, true, POWER(40), 1, false },
	{ "self-loops", make_loops, false, 1, 1, false },
	{ "self-loops, undirected", make_loops, true, 1, 1, false },
	{ "parallel edges", make_parallels, false, 0, 10, false },
	{ "parallel edges, undirected", make_parallels, true, 0, 10, false },
	{ "all dangling", make_dangling, false, 0, 1, false },
	{ "out-star", make_out_star, false, 0, 1, true },
	{ "in-star", make_in_star, false, 0, 1, true },
	{ "star, undirected", make_out_star, true, 0, 1, true },
	{ "small star", make_small_star, false, 0, 1, false },
	{ "path", make_path, false, 0, 1, false },
	{ "path, undirected", make_path, true, 0, 1, false },
	{ "path against the ids", make_back_path, false, 0, 1, false },
	{ "cycle", make_cycle, false, 0, 1, false },
	{ "components", make_components, false, 0, 1, false },
	{ "components, undirected", make_components, true, 0, 1, false },
	{ "grid", make_grid, true, 0, 1, false },
	{ "tree", make_tree, false, 0, 1, false },
	{ "clique", make_clique, false, 0, 1, false },
	{ "random, tiny", make_tiny, false, 0, 1, false },
	{ "random, tiny, undirected", make_tiny, true, 0, 1, false },
	{ "random, ids near 2^32", make_tiny, false, POWER(32) - 5, 1, false },
	{ "random, ids near 2^63", make_tiny, false, POWER(63) - 5, 1, false },
	{ "random, ids up to 2^64", make_tiny, true, POWER(56), POWER(60) + 12345, false },
	{ "random, sparse", make_sparse, false, 0, 1, false },
	{ "random, sparse, undirected", make_sparse, true, POWER(63), 3, false },
	{ "random, dense", make_dense, false, POWER(32) - 100, 1, true },
	{ "random, dense, undirected", make_dense, true, 0, 1, true },
	{ "hubs", make_hubs, false, 0, 1, true },
	{ "hubs, undirected", make_hubs, true, 17, 1000003, true },
	{ "rmat", make_rmat, false, 0, 1, true },
	{ "rmat, undirected", make_rmat, true, 0, 1, true },
	{ "Gunrock's sample", make_gunrock, false, 0, 1, false },
	{ "Graphie's figure 2", make_graphie, false, 0, 1, false },
};
const size_t n_shapes = ARRAY_LEN(shapes);

bool shape_make(struct graph *g, const struct shape *s)
{
	graph_init(g, s->name, 0);
	g->undirected = s->undirected;
	g->base = s->base;
	g->stride = s->stride;
	s->make(g);
	if (!graph_fits(g)) {
		graph_release(g);
		return false;
	}
	graph_index(g);
	return true;
}

bool shape_make_some(struct graph *g, const struct shape *s)
{
	if (!shape_make(g, s))
		return false;
	if (!g->n)
		graph_release(g);
	return g->n;
}

const struct shape *shape_named(const char *name)
{
	for (size_t i = 0; i < n_shapes; i++)
		if (!strcmp(shapes[i].name, name))
			return &shapes[i];
	fail_msg("there is no shape '%s'", name);
	return NULL;
}

/* ---- Scratch and stores ---- */

static char scratch[512];

int scratch_make(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(scratch, sizeof(scratch), "%s/mill-algo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(scratch) ? 0 : -1;
}

int scratch_remove(void **state)
{
	char command[sizeof(scratch) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	return system(command);
}

const char *scratch_path(const char *name)
{
	static char path[8][sizeof(scratch) + 64];
	static unsigned i;
	char *to = path[i++ % ARRAY_LEN(path)];

	snprintf(to, sizeof(path[0]), "%s/%s", scratch, name);
	return to;
}

static u64 weight_bits(enum mill_weight type, f64 w)
{
	f32 narrow = (f32)w;
	u32 low;
	u64 bits;

	memcpy(&low, &narrow, sizeof(low));
	memcpy(&bits, &w, sizeof(bits));
	switch (type) {
	case MILL_WEIGHT_NONE:
		return 0;
	case MILL_WEIGHT_U32:
		return (u32)w;
	case MILL_WEIGHT_I32:
		return (u32)(i32)w;
	case MILL_WEIGHT_F32:
		return low;
	default:
		return bits;
	}
}

const char *const codec_names[] = { "in turn", "packed", "raw", "paged" };

mill_store *graph_store(const struct graph *g)
{
	static unsigned number;
	char name[32];
	unsigned codec = g->codec ? g->codec : CODEC_PACKED + number % CODEC_LAST;
	struct mill_target target = {
		.page_size = g->page_size, .threads = 1, .memory = GIB, .out_only = g->out_only,
		.codec = codec == CODEC_PACKED ? MILL_CODEC_PACKED : MILL_CODEC_RAW,
		.addressing = codec == CODEC_PAGED ? MILL_ADDRESSING_PAGED : MILL_ADDRESSING_DENSE,
	};
	struct builder_options o = {
		.target = &target, .undirected = g->undirected, .weight = g->weight,
		.origin = "test",
	};
	struct mill_built built;
	struct builder *b;
	mill_store *store;

	snprintf(name, sizeof(name), "store-%u", number++);
	target.path = scratch_path(name);
	OK(builder_new(&b, &o));
	for (u32 v = 0; v < g->n; v++)
		OK(builder_add_vertices(b, &(u64){ graph_id(g, v) }, 1));
	for (u64 i = 0; i < g->n_arcs; i++) {
		const struct arc *a = &g->arc[i];
		struct raw_edge e = { graph_id(g, a->from), graph_id(g, a->to),
				      weight_bits(g->weight, a->weight) };

		OK(builder_add(b, &e, 1));
	}
	OK(builder_finish(b, &built));
	if (built.vertices != g->n || built.edges != g->n_arcs)
		fail_msg("%s: the store has %llu vertices and %llu edges, not %u and %llu", g->name,
			 (unsigned long long)built.vertices, (unsigned long long)built.edges, g->n,
			 (unsigned long long)g->n_arcs);
	OK(mill_store_open(&store, target.path));
	return store;
}

void graph_store_drop(mill_store *store)
{
	struct mill_info info;
	char path[sizeof(scratch) + 64];

	mill_store_info(store, &info);
	snprintf(path, sizeof(path), "%s", info.path);
	mill_store_close(store);
	OK(dir_remove(path));
}

void shapes_each(void (*each)(mill_store *store, const char *name, const struct shape *s,
			      void *arg),
		 void *arg)
{
	static const enum mill_weight weights[] = {
		MILL_WEIGHT_U32, MILL_WEIGHT_F32, MILL_WEIGHT_NONE, MILL_WEIGHT_F64,
	};
	static const enum weighing weighings[] = { WEIGH_HUGE, WEIGH_SMALL, WEIGH_SMALL };

	for (size_t i = 0; i < n_shapes; i++) {
		mill_store *store;
		struct graph g;

		if (!shape_make(&g, &shapes[i]))
			continue;
		g.codec = CODEC_PACKED + i % CODEC_LAST;
		if (weights[i % ARRAY_LEN(weights)])
			graph_weigh(&g, weights[i % ARRAY_LEN(weights)],
				    weighings[i % ARRAY_LEN(weighings)], i);
		store = graph_store(&g);
		each(store, g.name, &shapes[i], arg);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* ---- Configurations ---- */

#ifdef __SANITIZE_ADDRESS__
/* PoCL and the libraries below it keep compiled kernels until the process ends. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl\nleak:libLLVM\nleak:libclang\n";
}
#endif

const struct config configs[] = {
	{ "1 thread", 1, 0, false, 0, true },
	{ "2 threads", 2, 0, false, 0, false },
	{ "4 threads", 4, 0, false, 0, true },
	{ "1 thread, 1 frame", 1, 1, false, 0, false },
	{ "2 threads, 1 frame", 2, 1, false, 0, false },
	{ "2 threads, 2 frames", 2, 2, false, 0, true },
	{ "4 threads, 5 frames", 4, 5, false, 0, false },
	{ "opencl", 2, 0, true, AMPLE, false },
	{ "opencl, 2 pages", 2, 0, true, 2, false },
	{ "opencl, 3 pages, 1 frame", 1, 1, true, 3, false },
	{ "opencl, 4 pages", 2, 0, true, 4, false },
};
const size_t n_configs = ARRAY_LEN(configs);

bool have_opencl(void)
{
#ifdef __SANITIZE_THREAD__
	return false;
#else
	static int have = -1;

	if (have < 0)
		have = mill_devices(NULL, 0) > 1;
	return have;
#endif
}

bool config_usable(const struct config *c) { return !c->device || have_opencl(); }

const struct config *config_named(const char *name)
{
	for (size_t i = 0; i < n_configs; i++)
		if (!strcmp(configs[i].name, name))
			return &configs[i];
	fail_msg("there is no configuration '%s'", name);
	return NULL;
}

mill_run *run_open(mill_store *store, const struct config *c, struct mill_options o,
		   const char *algorithm, const void *how)
{
	struct mill_plan plan;
	struct mill_info info;
	mill_run *run;

	o.threads = c->threads;
	o.memory = o.memory ? o.memory : GIB;
	o.device = c->device ? "opencl" : "cpu";
	o.device_memory = c->device ? 512 * MIB : 0;
	if (c->device && c->pages != AMPLE) {
		mill_store_info(store, &info);
		OK(mill_run_new(&run, store, &o));
		OK(mill_run_plan(run, algorithm, how, &plan));
		mill_run_free(run);
		o.device_memory = plan.device_needed + (c->pages - 2) * (u64)info.page_size;
	}
	OK(mill_run_new(&run, store, &o));
	run_force_frames(run, c->frames);
	return run;
}

void run_force_frames(mill_run *run, u32 frames) { run->hook.only_frames = frames; }
void run_force_bins(mill_run *run, int bins) { run->hook.only_bins = bins; }
