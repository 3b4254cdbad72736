/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs every algorithm on every shape of graph, form of store and configuration, and
 * compares results with naive answers: on the CPU, on a device over pages, and under the
 * policies graphie and gts. Each of these four is a covering array: any two choices that are
 * compatible occur together in some run (cover.h). Each store is made once.
 *
 * LONG=1 runs every algorithm in each of these configurations, also where this adds no new
 * pair.
 */
#include "cover.h"
#include "job.h"
#include "task.h"

/* ---- Stores ---- */

/* The options of a graph's store. */
static const struct form {
	const char *name;
	enum mill_weight weight;
	enum weighing how;
	u32 codec, page_size;
	bool out_only;
	bool large;		/* also made of large graphs */
	bool device;		/* also used on devices */
} forms[] = {
	{ "packed", MILL_WEIGHT_NONE, 0, CODEC_PACKED, 64 * KIB, false, true, true },
	{ "raw", MILL_WEIGHT_NONE, 0, CODEC_RAW, 128 * KIB, false, false, false },
	{ "paged", MILL_WEIGHT_NONE, 0, CODEC_LAST, 256 * KIB, false, false, false },
	{ "out-edges", MILL_WEIGHT_NONE, 0, CODEC_RAW, 64 * KIB, true, true, true },
	{ "out-edges, u32", MILL_WEIGHT_U32, WEIGH_SMALL, CODEC_PACKED, 64 * KIB, true, false,
	  false },
	{ "u32", MILL_WEIGHT_U32, WEIGH_SMALL, CODEC_RAW, 64 * KIB, false, true, false },
	{ "u32, zeros", MILL_WEIGHT_U32, WEIGH_ZEROS, CODEC_RAW, 128 * KIB, false, true, true },
	{ "u32, huge", MILL_WEIGHT_U32, WEIGH_HUGE, CODEC_PACKED, 1 * MIB, false, true, false },
	{ "u32, mixed", MILL_WEIGHT_U32, WEIGH_MIXED, CODEC_LAST, 64 * KIB, false, false, false },
	{ "i32", MILL_WEIGHT_I32, WEIGH_SMALL, CODEC_LAST, 128 * KIB, false, false, false },
	{ "i32, huge", MILL_WEIGHT_I32, WEIGH_HUGE, CODEC_PACKED, 128 * KIB, false, false, true },
	{ "f32", MILL_WEIGHT_F32, WEIGH_SMALL, CODEC_LAST, 64 * KIB, false, true, true },
	{ "f32, zeros", MILL_WEIGHT_F32, WEIGH_ZEROS, CODEC_PACKED, 256 * KIB, false, false,
	  false },
	{ "f32, mixed", MILL_WEIGHT_F32, WEIGH_MIXED, CODEC_RAW, 64 * KIB, false, false, false },
	{ "f64", MILL_WEIGHT_F64, WEIGH_SMALL, CODEC_RAW, 1 * MIB, false, false, false },
	{ "f64, zeros", MILL_WEIGHT_F64, WEIGH_ZEROS, CODEC_LAST, 64 * KIB, false, false, false },
	{ "f64, huge", MILL_WEIGHT_F64, WEIGH_HUGE, CODEC_RAW, 128 * KIB, false, false, false },
	{ "f64, mixed", MILL_WEIGHT_F64, WEIGH_MIXED, CODEC_PACKED, 64 * KIB, false, true, true },
};

/* The shapes for devices, where original ids make no difference. LONG=1 takes all shapes. */
static const char *const device_shapes[] = {
	"no vertex", "one vertex", "self-loops, undirected", "parallel edges", "all dangling",
	"in-star", "star, undirected", "path against the ids", "grid", "random, sparse", "hubs",
	"hubs, undirected", "rmat",
};

static bool make_graph(struct graph *g, const struct shape *s, const struct form *f)
{
	if (!shape_make(g, s))
		return false;
	g->codec = f->codec;
	g->page_size = f->page_size;
	g->out_only = f->out_only;
	if (f->weight)
		graph_weigh(g, f->weight, f->how, 1);
	return true;
}

static bool shape_has_form(const struct shape *s, const struct form *f)
{
	return (f->large || !s->large) && !(f->out_only && s->undirected);
}

static bool job_suits_shape(const struct job *j, const struct shape *s)
{
	return !(j->flags & JOB_SMALL && s->large);
}

static bool job_suits_form(const struct job *j, const struct form *f)
{
	return !(j->flags & JOB_WEIGHTS && !f->weight) && !(j->flags & JOB_IN && f->out_only);
}

/* ---- Factors ---- */

/* The first factors of all arrays. The last factor is the job. */
enum { SHAPE, FORM, ROOT, PARENTS, COMMON };

/* A run, as a row of the array describes it. */
struct site {
	struct mill_options o;
	u32 frames;		/* 0: resident if it fits */
	int bins;
	u64 room;		/* device memory beyond the least that the job needs */
};

/* A covering array, and how its rows become runs. */
struct realm {
	const char *name;
	u32 n_factors;		/* the job included */
	struct {
		const char *name;
		u32 n;
	} factor[COVER_FACTORS];
	/* Sets the other members of the site. */
	void (*describe)(struct site *site, const u8 *value, const struct mill_info *graph);
	bool (*may_meet)(u32 a, u32 i, u32 b, u32 j);
};

/* The shapes and forms of the current realm: values of SHAPE and FORM are indices of these. */
static const struct shape *shape_list[COVER_VALUES];
static const struct form *form_list[COVER_VALUES];
static u32 n_shape_list, n_form_list;

static void list_all(void)
{
	n_shape_list = n_form_list = 0;
	for (size_t i = 0; i < n_shapes; i++)
		shape_list[n_shape_list++] = &shapes[i];
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		form_list[n_form_list++] = &forms[i];
}

static void list_for_devices(void)
{
	n_shape_list = n_form_list = 0;
	for (size_t i = 0; getenv("LONG") && i < n_shapes; i++)
		shape_list[n_shape_list++] = &shapes[i];
	for (size_t i = 0; !getenv("LONG") && i < ARRAY_LEN(device_shapes); i++)
		shape_list[n_shape_list++] = shape_named(device_shapes[i]);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (forms[i].device)
			form_list[n_form_list++] = &forms[i];
}

/* Returns false if two values can meet in no realm. job: the number of the job factor. */
static bool common_may_meet(u32 job, u32 a, u32 i, u32 b, u32 j)
{
	if (a == SHAPE && b == FORM)
		return shape_has_form(shape_list[i], form_list[j]);
	if (a == SHAPE && b == job)
		return job_suits_shape(&jobs[j], shape_list[i]);
	if (a == FORM && b == job)
		return job_suits_form(&jobs[j], form_list[i]);
	return true;
}

/* ---- Runs ---- */

/* Hashes of results on one shape. They must not depend on the configuration. */
static struct same {
	u32 job, root;
	const struct form *form;	/* gives the weights; NULL: the job uses none */
	bool out_only;
	u64 hash;
} same[4096];
static u32 n_same;

static void compare_bits(const char *where, u32 job, u32 root, const struct form *f, u64 hash)
{
	struct same s = {
		.job = job,
		.root = root,
		.form = jobs[job].flags & JOB_WEIGHTS ? f : NULL,
		.out_only = f->out_only,
		.hash = hash,
	};

	for (u32 i = 0; i < n_same; i++)
		if (same[i].job == job && same[i].root == root && same[i].form == s.form &&
		    same[i].out_only == s.out_only) {
			if (same[i].hash != hash)
				fail_msg("%s: the hash differs from that of an earlier run", where);
			return;
		}
	assert_true(n_same < ARRAY_LEN(same));
	same[n_same++] = s;
}

/* Runs one job at a site. */
static void try_job(const struct graph *g, const struct form *f, const char *where, mill_run *run,
		    const struct site *site, u32 job, u32 which)
{
	const u32 roots[] = { 0, g->n / 2, g->n - 1 };
	const struct job *j = &jobs[job];
	struct task task = { .algorithm = j->algorithm, .how = j->how };
	struct mill_report report;
	u64 hash;

	if (!g->n && j->flags & JOB_SOURCE) {
		REFUSED(MILL_EUSAGE, mill_run_algorithm(run, j->algorithm, NULL), where);
		return;
	}
	if (site->o.device)
		task_room(run, &task, site->room);
	hash = j->expect(g, where, run, roots[which]);
	mill_run_report(run, &report);
	for (size_t i = 0; i < report.n_devices; i++)
		if (report.devices[i].peak > report.devices[i].budget)
			fail_msg("%s: the peak of device %zu is above its budget", where, i);
	if (!(j->flags & JOB_FLOATS && (site->o.device || site->o.async)))
		compare_bits(where, job, which, f, hash);
}

static void name_site(char *to, size_t size, const struct realm *r, const u8 *value)
{
	size_t at = (size_t)snprintf(to, size, "%s, %s", r->name, form_list[value[FORM]]->name);

	for (u32 a = ROOT; a + 1 < r->n_factors && at < size; a++)
		at += (size_t)snprintf(to + at, size - at, ", %s %u", r->factor[a].name, value[a]);
	if (at < size)
		snprintf(to + at, size - at, ": %s", jobs[value[r->n_factors - 1]].name);
}

/*
 * Runs the jobs of n rows that differ in the job only, all in one run. Runs the first job
 * again at the end: its result must not depend on the jobs before it.
 */
static void try_site(const struct realm *r, const struct graph *g, mill_store *store,
		     const struct cover_row *row, u32 n)
{
	const u8 *value = row->value;
	struct site site = {
		.o = { .threads = 2, .memory = GIB, .seed = 1, .check = true,
		       .parents = value[PARENTS] },
	};
	struct mill_info info;
	mill_run *run;

	mill_store_info(store, &info);
	r->describe(&site, value, &info);
	OK(mill_run_new(&run, store, &site.o));
	run_force_frames(run, site.frames);
	run_force_bins(run, site.bins);
	for (u32 i = 0; i < n + (n > 1); i++) {
		const u8 *v = row[i % n].value;
		char where[400];

		name_site(where, sizeof(where), r, v);
		try_job(g, form_list[v[FORM]], where, run, &site, v[r->n_factors - 1], v[ROOT]);
	}
	mill_run_free(run);
}

static struct cover cover_of(const struct realm *r)
{
	struct cover c = { .n_factors = r->n_factors, .may_meet = r->may_meet };

	for (u32 a = 0; a < r->n_factors; a++)
		c.n_values[a] = r->factor[a].n;
	c.n_values[SHAPE] = n_shape_list;
	c.n_values[FORM] = n_form_list;
	c.n_values[r->n_factors - 1] = n_jobs;
	return c;
}

/* Returns the number of rows, from row i on, that are equal in the first n factors. */
static u32 count_same(const struct cover_row *row, u32 i, u32 n_rows, u32 n)
{
	u32 to = i + 1;

	while (to < n_rows && !memcmp(row[i].value, row[to].value, n))
		to++;
	return to - i;
}

/* A sanitizer build tries one site in SANITIZED_STEP. */
#define SANITIZED_STEP 4u

static void try_realm(const struct realm *r)
{
	struct cover c = cover_of(r);
	struct cover_row *row;
	u32 n = cover_make(&c, getenv("LONG"), &row), n_sites = 0, n_stores = 0;
	u32 step = is_sanitized() ? SANITIZED_STEP : 1;
	u64 missing = cover_missing(&c, row, n);

	for (u32 i = 0, n_store; i < n; i += n_store) {
		const struct shape *s = shape_list[row[i].value[SHAPE]];
		mill_store *store;
		struct graph g;

		n_store = count_same(row, i, n, FORM + 1);
		if (!i || row[i].value[SHAPE] != row[i - 1].value[SHAPE])
			n_same = 0;
		if (!make_graph(&g, s, form_list[row[i].value[FORM]]))
			continue;
		store = graph_store(&g);
		n_stores++;
		for (u32 k = i, n_site; k < i + n_store; k += n_site) {
			n_site = count_same(row, k, i + n_store, r->n_factors - 1);
			if (n_sites++ % step == 0)
				try_site(r, &g, store, &row[k], n_site);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
	print_message("%s: %u stores, %u runs, %u results\n", r->name, n_stores, n_sites, n);
	if (missing)
		fail_msg("%s: %llu pairs are in no row", r->name, (unsigned long long)missing);
	free(row);
}

/* ---- The CPU ---- */

enum { CPU_PLACE = COMMON, CPU_POLICY, CPU_IO, CPU_JOB };

static const struct cpu_place {
	u32 threads, frames;
	bool async;
	int bins;
} places[] = {
	{ 1, 0, false, BINS_NEVER },
	{ 2, 0, false, BINS_ALWAYS },
	{ 3, 0, false, BINS_ALWAYS },
	{ 4, 0, false, BINS_NEVER },
	{ 1, 1, false, BINS_AUTO },
	{ 2, 1, false, BINS_AUTO },
	{ 2, 2, false, BINS_ALWAYS },
	{ 4, 5, false, BINS_AUTO },
	{ 4, 0, true, BINS_AUTO },
	{ 1, 1, true, BINS_AUTO },
	{ 2, 2, true, BINS_AUTO },
};
static const char *const cpu_policies[] = {
	NULL, "fifo", "lru", "frequency", "pinned", "graphie", "gts",
};
static const char *const readers[] = { "uring", "pread" };

static void describe_cpu(struct site *site, const u8 *value, const struct mill_info *graph)
{
	const struct cpu_place *p = &places[value[CPU_PLACE]];

	(void)graph;
	site->o.threads = p->threads;
	site->o.async = p->async;
	site->o.policy = cpu_policies[value[CPU_POLICY]];
	site->o.io = readers[value[CPU_IO]];
	site->frames = p->frames;
	site->bins = p->bins;
}

static bool cpu_may_meet(u32 a, u32 i, u32 b, u32 j)
{
	if (a == CPU_PLACE && b == CPU_JOB)
		return places[i].async ? jobs[j].flags & JOB_ASYNC
				       : !(jobs[j].flags & JOB_ONLY_ASYNC);
	return common_may_meet(CPU_JOB, a, i, b, j);
}

static void test_cpu(void **state)
{
	static const struct realm cpu = {
		.name = "cpu",
		.n_factors = CPU_JOB + 1,
		.factor = {
			[ROOT] = { "root", 3 },
			[PARENTS] = { "parents", 2 },
			[CPU_PLACE] = { "place", ARRAY_LEN(places) },
			[CPU_POLICY] = { "policy", ARRAY_LEN(cpu_policies) },
			[CPU_IO] = { "reader", ARRAY_LEN(readers) },
		},
		.describe = describe_cpu,
		.may_meet = cpu_may_meet,
	};

	(void)state;
	list_all();
	try_realm(&cpu);
}

/* ---- A device, over pages ---- */

enum {
	CL_ROOM = COMMON, CL_MAPPING, CL_DIRECTION, CL_FILTER, CL_GROUP, CL_QUEUES, CL_POLICY,
	CL_FRAMES, CL_JOB,
};

static const u32 page_rooms[] = { AMPLE, 0, 1, 2, 5 };
static const u32 group_sizes[] = { 0, 1, 4, 64 };
static const u32 queue_counts[] = { 0, 1, 3 };
static const u32 frame_counts[] = { 0, 1, 3 };

static void describe_pages(struct site *site, const u8 *value, const struct mill_info *graph)
{
	u32 pages = page_rooms[value[CL_ROOM]];

	site->o.device = "opencl";
	site->o.device_memory = 512 * MIB;
	site->o.mapping = (enum mill_mapping)value[CL_MAPPING];
	site->o.direction = (enum mill_direction)value[CL_DIRECTION];
	site->o.filter = (enum mill_filter)value[CL_FILTER];
	site->o.group_size = group_sizes[value[CL_GROUP]];
	site->o.queues = queue_counts[value[CL_QUEUES]];
	site->o.policy = cpu_policies[value[CL_POLICY]];
	site->frames = frame_counts[value[CL_FRAMES]];
	site->room = pages == AMPLE ? 400 * MIB : pages * (u64)graph->page_size;
}

static bool pages_may_meet(u32 a, u32 i, u32 b, u32 j)
{
	if (a == CL_GROUP && b == CL_JOB && i && !(jobs[j].flags & JOB_GROUPS))
		return false;
	if (b == CL_JOB && jobs[j].flags & JOB_HOST)
		return false;
	if (a == SHAPE && b == CL_JOB && jobs[j].flags & JOB_MANY_STEPS && shape_list[i]->large)
		return false;
	return common_may_meet(CL_JOB, a, i, b, j);
}

static void test_pages(void **state)
{
	static const struct realm pages = {
		.name = "opencl",
		.n_factors = CL_JOB + 1,
		.factor = {
			[ROOT] = { "root", 3 },
			[PARENTS] = { "parents", 2 },
			[CL_ROOM] = { "room", ARRAY_LEN(page_rooms) },
			[CL_MAPPING] = { "mapping", 5 },
			[CL_DIRECTION] = { "direction", 4 },
			[CL_FILTER] = { "filter", 3 },
			[CL_GROUP] = { "group", ARRAY_LEN(group_sizes) },
			[CL_QUEUES] = { "queues", ARRAY_LEN(queue_counts) },
			[CL_POLICY] = { "policy", 5 },
			[CL_FRAMES] = { "frames", ARRAY_LEN(frame_counts) },
		},
		.describe = describe_pages,
		.may_meet = pages_may_meet,
	};

	(void)state;
	if (!have_opencl())
		skip();
	list_for_devices();
	try_realm(&pages);
}

/* ---- The policy graphie ---- */

enum { GR_ROOM = COMMON, GR_WIRE, GR_SIZE, GR_SWITCH, GR_STAGING, GR_QUEUES, GR_FRAMES, GR_JOB };

static const u64 graphie_rooms[] = { 0, 1, 3000, 200 * KIB, 400 * MIB };
static const u64 partition_sizes[] = { 0, 40, 1000, 64 * KIB };
/* None of the two, or one. */
static const struct {
	bool no_skip, no_reuse;
} switches[] = { { false, false }, { true, false }, { false, true } };

static void describe_graphie(struct site *site, const u8 *value, const struct mill_info *graph)
{
	(void)graph;
	site->o.device = "opencl";
	site->o.device_memory = 512 * MIB;
	site->o.policy = "graphie";
	site->o.graphie.wire = (enum mill_wire)(MILL_WIRE_EDGES + value[GR_WIRE]);
	site->o.graphie.partition_size = partition_sizes[value[GR_SIZE]];
	site->o.graphie.no_staging = value[GR_STAGING];
	site->o.no_skip = switches[value[GR_SWITCH]].no_skip;
	site->o.no_reuse = switches[value[GR_SWITCH]].no_reuse;
	site->o.queues = queue_counts[value[GR_QUEUES]];
	site->frames = frame_counts[value[GR_FRAMES]];
	site->room = graphie_rooms[value[GR_ROOM]];
}

/*
 * Returns true for jobs with kernels of that policy, and for two of the others: these use
 * pages.
 */
static bool graphie_takes(const struct job *j)
{
	return j->flags & JOB_GRAPHIE || !strcmp(j->name, "kcore") ||
	       !strcmp(j->name, "pagerank, exact");
}

static bool graphie_may_meet(u32 a, u32 i, u32 b, u32 j)
{
	if (b == GR_JOB && !graphie_takes(&jobs[j]))
		return false;
	return common_may_meet(GR_JOB, a, i, b, j);
}

static void test_graphie(void **state)
{
	static const struct realm graphie = {
		.name = "graphie",
		.n_factors = GR_JOB + 1,
		.factor = {
			[ROOT] = { "root", 3 },
			[PARENTS] = { "parents", 2 },
			[GR_ROOM] = { "room", ARRAY_LEN(graphie_rooms) },
			[GR_WIRE] = { "wire", 3 },
			[GR_SIZE] = { "size", ARRAY_LEN(partition_sizes) },
			[GR_SWITCH] = { "switch", ARRAY_LEN(switches) },
			[GR_STAGING] = { "no staging", 2 },
			[GR_QUEUES] = { "queues", ARRAY_LEN(queue_counts) },
			[GR_FRAMES] = { "frames", ARRAY_LEN(frame_counts) },
		},
		.describe = describe_graphie,
		.may_meet = graphie_may_meet,
	};

	(void)state;
	if (!have_opencl())
		skip();
	list_for_devices();
	try_realm(&graphie);
}

/* ---- The policy gts ---- */

enum {
	GTS_ROOM = COMMON, GTS_DEVICES, GTS_STRATEGY, GTS_CHUNKS, GTS_CACHE, GTS_MAPPING, GTS_WARP,
	GTS_BUFFER, GTS_SWITCH, GTS_QUEUES, GTS_JOB,
};

static const char *const device_lists[] = { "opencl", "opencl,opencl", "opencl,opencl,opencl" };
static const u32 chunk_counts[] = { 0, 1, 2, 5 };
static const u32 warps[] = { 0, 4, 8, 16, 32 };
static const enum mill_mapping gts_mappings[] = {
	MILL_MAPPING_AUTO, MILL_MAPPING_WARP, MILL_MAPPING_HYBRID, MILL_MAPPING_THREAD,
};
static const u64 main_buffers[] = { 0, 1, GIB };

static void describe_gts(struct site *site, const u8 *value, const struct mill_info *graph)
{
	/* In bytes: the small ones hold half of a small state, or less. */
	const u64 room[] = { 400 * MIB, 2 * graph->vertices, 200 * KIB, 5 * graph->vertices };
	const u64 cache[] = { 0, MILL_SIZE_NONE, graph->csr_bytes / 10, GIB };

	site->o.device = device_lists[value[GTS_DEVICES]];
	site->o.device_memory = 512 * MIB;
	site->o.policy = "gts";
	site->o.gts.strategy = (enum mill_strategy)(MILL_STRATEGY_P + value[GTS_STRATEGY]);
	site->o.gts.chunks = chunk_counts[value[GTS_CHUNKS]];
	site->o.gts.device_cache = cache[value[GTS_CACHE]];
	site->o.gts.warp = warps[value[GTS_WARP]];
	site->o.gts.main_buffer = main_buffers[value[GTS_BUFFER]];
	site->o.mapping = gts_mappings[value[GTS_MAPPING]];
	site->o.no_skip = switches[value[GTS_SWITCH]].no_skip;
	site->o.no_reuse = switches[value[GTS_SWITCH]].no_reuse;
	site->o.queues = queue_counts[value[GTS_QUEUES]];
	site->room = room[value[GTS_ROOM]];
}

/* Algorithms without kernels of gts use pages, on one device; two of them are tried. */
static bool gts_may_meet(u32 a, u32 i, u32 b, u32 j)
{
	if (b == GTS_JOB && !(jobs[j].flags & JOB_GTS)) {
		if (strcmp(jobs[j].name, "kcore") && strcmp(jobs[j].name, "cc, afforest"))
			return false;
		if (a == GTS_DEVICES && i)
			return false;
	}
	return common_may_meet(GTS_JOB, a, i, b, j);
}

static void test_gts(void **state)
{
	static const struct realm gts = {
		.name = "gts",
		.n_factors = GTS_JOB + 1,
		.factor = {
			[ROOT] = { "root", 3 },
			[PARENTS] = { "parents", 2 },
			[GTS_ROOM] = { "room", 4 },
			[GTS_DEVICES] = { "devices", 3 },
			[GTS_STRATEGY] = { "strategy", 2 },
			[GTS_CHUNKS] = { "chunks", ARRAY_LEN(chunk_counts) },
			[GTS_CACHE] = { "cache", 4 },
			[GTS_MAPPING] = { "mapping", ARRAY_LEN(gts_mappings) },
			[GTS_WARP] = { "warp", ARRAY_LEN(warps) },
			[GTS_BUFFER] = { "buffer", ARRAY_LEN(main_buffers) },
			[GTS_SWITCH] = { "switch", ARRAY_LEN(switches) },
			[GTS_QUEUES] = { "queues", ARRAY_LEN(queue_counts) },
		},
		.describe = describe_gts,
		.may_meet = gts_may_meet,
	};

	(void)state;
	if (!have_opencl())
		skip();
	list_for_devices();
	try_realm(&gts);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_cpu),
	cmocka_unit_test(test_pages),
	cmocka_unit_test(test_graphie),
	cmocka_unit_test(test_gts),
};

SUITE(matrix, tests, .setup = scratch_make, .teardown = scratch_remove);
