/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plans of policies and the memory that they ask for: functions of numbers, tested without a
 * device, a thread or a file. Tables give plans move by move: the examples of the papers, every
 * order, every end of a window. Many random plans are executed by a model: a unit must be in the
 * slot where its plan expects it. Budgets are met to the byte.
 */
#include "helpers.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "policy/partition.h"
#include "policy/policy.h"

#define UNITS 128u
#define DEVICES 3u
#define PAGE (64 * KIB)

/* ---- A device that only counts bytes ---- */

static mill_err count_buffer(struct device *d, struct buffer *b, u64 size, const char *what)
{
	u64 room = max_u64(size, 8);

	if (room > budget_left(d->memory))
		return fail(MILL_ENOMEM, "%s: no room", what);
	if (room > d->largest)
		return fail(MILL_EDEVICE, "%s: too large", what);
	d->memory->used += room;
	d->memory->peak = max_u64(d->memory->peak, d->memory->used);
	*b = (struct buffer){ .owner = d, .size = size };
	return MILL_OK;
}

static void count_free(struct device *d, struct buffer *b)
{
	d->memory->used -= max_u64(b->size, 8);
}

static mill_err write_nothing(struct device *d, struct buffer *b, u64 at, const void *from,
			      u64 size)
{
	(void)d, (void)b, (void)at, (void)from, (void)size;
	return MILL_OK;
}

static mill_err fill_nothing(struct device *d, struct buffer *b, const void *pattern, size_t size)
{
	(void)d, (void)b, (void)pattern, (void)size;
	return MILL_OK;
}

static const struct device_ops counting = {
	.buffer_new = count_buffer,
	.buffer_free = count_free,
	.write = write_nothing,
	.fill = fill_nothing,
};

/* ---- A store, devices and a transfer that consist of numbers only ---- */

struct world {
	struct mill_options options;
	struct store store;
	struct page_entry entry[2][UNITS];
	struct device device[DEVICES];
	struct budget memory[DEVICES];
	struct station station[DEVICES];
	struct move move[UNITS * DEVICES + 1];
	u32 list[UNITS + 1], active[UNITS];
	struct transfer t;
};

/* Makes a page of each letter: s holds two lists, L the begin of a long list, + more of it. */
static void make_pages(struct world *w, int in, const char *kinds, u32 edges)
{
	struct pages *p = in ? &w->store.in : &w->store.out;
	u32 vertex = 0, skip = 0;

	*p = (struct pages){ .store = &w->store,
			     .entry = w->entry[in],
			     .data = in ? STORE_IN_PAGES : STORE_OUT_PAGES };
	for (; kinds[p->n_pages]; p->n_pages++) {
		char kind = kinds[p->n_pages];

		assert_true(p->n_pages < UNITS);
		skip = kind == '+' ? skip + edges : 0;
		w->entry[in][p->n_pages] = (struct page_entry){
			.first_edge = (u64)p->n_pages * edges,
			.first_vertex = kind == '+' ? vertex - 1 : vertex,
			.skip = skip,
			.n_rows = kind == 's' ? 2 : 1,
			.n_edges = edges,
		};
		vertex += kind == 's' ? 2 : kind == 'L';
	}
	p->n_rows = (vid)vertex;
}

/* Makes a store and devices. in: NULL for an undirected store. */
static void world_make(struct world *w, const struct policy *policy, const char *out,
		       const char *in, u32 n_devices)
{
	memset(w, 0, sizeof(*w));
	w->store =
		(struct store){ .page_size = PAGE, .directed = in != NULL, .has_in = in != NULL };
	make_pages(w, 0, out, PAGE / 8);
	if (in)
		make_pages(w, 1, in, PAGE / 8);
	w->store.n_linked = w->store.vertices = w->store.out.n_rows;
	w->store.stored_edges = (u64)w->store.out.n_pages * (PAGE / 8);
	w->t = (struct transfer){
		.policy = policy,
		.options = &w->options,
		.store = &w->store,
		.graph = &w->store,
		.n_devices = n_devices,
		.chunks = 1,
		.need = { .out = true, .in = in != NULL },
		.own = policy->takes != NULL,
	};
	for (u32 i = 0; i < n_devices; i++) {
		budget_init(&w->memory[i], GIB);
		w->device[i] = (struct device){
			.ops = &counting,
			.memory = &w->memory[i],
			.n_queues = 4,
			.group = 64,
			.chunked = true,
			.largest = GIB,
			.local = 32 * KIB,
		};
		w->t.device[i] = &w->device[i];
	}
}

/* Sets up what plans need and transfer_open makes, for n stations. */
static void plans_begin(struct world *w, u32 n)
{
	units_of_pages(&w->t);
	w->t.station = w->station;
	w->t.n_stations = n;
	w->t.plan = (struct plan){ .move = w->move, .most = ARRAY_LEN(w->move) };
	w->t.list = w->list;
}

static void open_slots(struct world *w, u32 station, u32 n_slots, u32 most, u32 lately)
{
	struct residency_how how = {
		.n_units = { w->t.units[0].n, w->t.units[1].n },
		.entry = { w->t.units[0].entry, w->t.units[1].entry },
		.n_slots = n_slots,
		.most = most,
		.lately = lately,
		.key = w->t.policy->device,
	};

	OK(residency_open(&w->station[station].residency, NULL, &how));
}

static void close_slots(struct world *w)
{
	for (u32 i = 0; i < DEVICES; i++)
		residency_close(w->station[i].residency);
}

/* Plans as the driver does. */
static void make_plan(struct world *w, const struct activity *a)
{
	w->t.plan.n = 0;
	for (u32 i = 0; w->options.no_reuse && i < w->t.n_stations; i++)
		residency_clear(w->station[i].residency);
	OK((w->t.own ? w->t.policy->plan : plan_pages)(&w->t.plan, a, &w->t));
}

static u32 sends(const struct world *w)
{
	u32 n = 0;

	for (u32 k = 0; k < w->t.plan.n; k++)
		n += (w->move[k].flags & MOVE_SEND) != 0;
	return n;
}

/*
 * Writes the plan as text: for each move "unit/slot", or "unit@station/slot" with several
 * stations, and S, W, I for its flags send, work, idle; "| " begins a window.
 */
static void show(const struct world *w, char *to, size_t size)
{
	size_t n = 0;

	*to = 0;
	for (u32 k = 0; k < w->t.plan.n; k++) {
		const struct move *m = &w->move[k];
		char station[16] = "";

		assert_int_equal(m->wire, w->t.wire);
		if (w->t.n_stations > 1)
			snprintf(station, sizeof(station), "@%u", m->where - 1u);
		n += (size_t)snprintf(to + n, size - n, "%s%s%u%s/%u%s%s%s", k ? " " : "",
				      m->flags & MOVE_BREAK ? "| " : "", m->unit, station, m->slot,
				      m->flags & MOVE_SEND ? "S" : "",
				      m->flags & MOVE_WORK ? "W" : "",
				      m->flags & MOVE_IDLE ? "I" : "");
		assert_true(n < size);
	}
}

/*
 * One pass. active: digits are the units with work, "*" stands for all; "i" before them means the
 * in-direction, "-" that this is one of several passes over a graph.
 */
struct pass_case {
	const char *active, *plan;
};

static void expect_pass(struct world *w, const char *name, const struct pass_case *p)
{
	struct activity a = { .n = w->active };
	const char *c = p->active;
	char got[1024];

	for (; *c == 'i' || *c == '-'; c++)
		*(*c == 'i' ? &a.in : &a.subset) = true;
	memset(w->active, 0, sizeof(w->active));
	if (*c == '*')
		a.n = NULL;
	for (; a.n && *c; c++)
		w->active[*c - '0'] = 1;
	make_plan(w, &a);
	show(w, got, sizeof(got));
	if (strcmp(got, p->plan))
		fail_msg("%s, pass %s: the plan is\n%s\ninstead of\n%s", name, p->active, got,
			 p->plan);
}

/* ---- Pages ---- */

static void test_pages(void **state)
{
	static const struct {
		const struct policy *policy;
		u32 slots, lately;
		bool no_skip, no_reuse;
		const char *out, *in;
		struct pass_case pass[5];
	} cases[] = {
		/*
		 * Pages on the device come first, in page order, then the missing ones. The key
		 * decides which page is evicted; it may be one that this pass uses.
		 */
		{ &policy_fifo, 3, 0, false, false, "ssssss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" },
		    { "135", "1/1W 3/0SW 5/1SW" },
		    { "35", "3/0W 5/1W" } } },
		{ &policy_auto, 3, 0, false, false, "ssssss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" },
		    { "135", "1/1W 3/0SW 5/2SW" },
		    { "*", "1/1W 3/0W 5/2W 0/1SW 2/0SW 4/2SW" } } },
		{ &policy_lru, 3, 0, false, false, "ssssss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" },
		    { "0", "0/0W" },
		    { "34", "3/1SW 4/2SW" },
		    { "5", "5/0SW" } } },
		{ &policy_frequency, 3, 0, false, false, "ssssss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" },
		    { "02", "0/0W 2/2W" },
		    { "3", "3/1SW" },
		    { "4", "4/1SW" },
		    { "02", "0/0W 2/2W" } } },
		/* Pages 1 and 2 hold one long list: they stay. */
		{ &policy_pinned, 3, 0, false, false, "sL+sss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" },
		    { "345", "3/0SW 4/0SW 5/0SW" },
		    { "12", "1/1W 2/2W" } } },
		/* The last two slots assigned are not reassigned. */
		{ &policy_pinned, 5, 2, false, false, "sL+sss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" }, { "345", "3/3SW 4/4SW 5/0SW" } } },
		{ &policy_fifo, 1, 1, false, false, "sss", NULL,
		  { { "*", "0/0SW 1/0SW 2/0SW" }, { "*", "2/0W 0/0SW 1/0SW" } } },
		/*
		 * --no-skip: all pages are sent, those without work are not processed. In one of
		 * several passes over the graph pages without work are skipped.
		 */
		{ &policy_fifo, 2, 0, true, false, "sss", NULL,
		  { { "1", "0/0S 1/1SW 2/0S" },
		    { "2", "1/1 2/0W 0/1S" },
		    { "-1", "1/0SW" },
		    { "-", "" },
		    { "*", "0/1W 1/0W 2/1SW" } } },
		/* --no-reuse: every pass begins with empty slots. */
		{ &policy_fifo, 3, 0, false, true, "sss", NULL,
		  { { "01", "0/0SW 1/1SW" }, { "12", "1/0SW 2/1SW" } } },
		{ &policy_fifo, 2, 0, true, true, "ss", NULL,
		  { { "1", "0/0S 1/1SW" }, { "", "0/0S 1/1S" } } },
		/* Both directions share the slots. */
		{ &policy_lru, 3, 0, false, false, "sss", "ss",
		  { { "01", "0/0SW 1/1SW" },
		    { "i*", "0/2SW 1/0SW" },
		    { "01", "1/1W 0/2SW" },
		    { "i1", "1/0W" } } },
		{ &policy_fifo, 2, 0, false, false, "sss", NULL, { { "", "" } } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char name[64];
		struct world w;

		snprintf(name, sizeof(name), "case %zu, %s", i, cases[i].policy->public.name);
		world_make(&w, cases[i].policy, cases[i].out, cases[i].in, 1);
		w.options.no_skip = cases[i].no_skip;
		w.options.no_reuse = cases[i].no_reuse;
		plans_begin(&w, 1);
		open_slots(&w, 0, cases[i].slots, cases[i].slots, cases[i].lately);
		for (u32 k = 0; k < 5 && cases[i].pass[k].active; k++)
			expect_pass(&w, name, &cases[i].pass[k]);
		close_slots(&w);
	}
}

/* A sample of 1/3: of three runs of 8 pages one is planned, also with --no-skip. */
static void test_sample(void **state)
{
	struct activity a = { 0 };
	struct world w;

	(void)state;
	world_make(&w, &policy_fifo, "ssssssssssssssssssssssssssssssssssssssss", NULL, 1);
	w.t.sample = 3;
	w.options.no_skip = true;
	plans_begin(&w, 1);
	open_slots(&w, 0, 40, 40, 0);
	make_plan(&w, &a);
	assert_int_equal(w.t.plan.n, 16);
	for (u32 k = 0; k < 16; k++)
		assert_int_equal(w.move[k].unit, k < 8 ? k : 24 + k - 8);
	close_slots(&w);
}

/* ---- Graphie ---- */

/*
 * Figure 3 of the paper after the first renaming: 6 sources, 2 sinks, 4 edges in a partition. Each
 * partition is a page here.
 */
static const u32 figure_row[] = { 0, 4, 6, 7, 8, 12, 16 };
static const u32 figure_far[] = { 1, 2, 4, 6, 0, 7, 6, 1, 0, 2, 6, 7, 2, 3, 4, 7 };
#define FIGURE_VERTICES 8u

static void figure_make(struct world *w, u32 slots, u32 lately)
{
	static const u32 rows[] = { 1, 3, 1, 1 };
	u32 vertex = 0;

	world_make(w, &policy_graphie, "ssss", NULL, 1);
	for (u32 i = 0; i < 4; i++) {
		w->entry[0][i] = (struct page_entry){
			.first_edge = 4 * i, .first_vertex = vertex, .n_rows = rows[i], .n_edges = 4
		};
		vertex += rows[i];
	}
	w->store.out.n_rows = (vid)vertex;
	w->store.n_linked = w->store.vertices = FIGURE_VERTICES;
	w->store.stored_edges = 16;
	w->options.graphie.partition_size = 32;
	plans_begin(w, 1);
	OK(policy_graphie.layout(&w->t, MIB));
	assert_int_equal(w->t.units[0].n, 4);
	assert_int_equal(w->t.n_flags, 4);
	open_slots(w, 0, slots, slots, lately);
}

static void figure_end(struct world *w)
{
	policy_graphie.unlayout(&w->t);
	close_slots(w);
}

/*
 * Does the work of the kernels, in the order of the plan: where a depth falls, the partition of
 * the vertex is flagged. Returns the number of updates.
 */
static u32 figure_kernels(const struct world *w, u32 *depth, u32 *flag)
{
	const struct partitions *p = graphie_table(&w->t);
	u32 updates = 0;

	memset(flag, 0, 4 * sizeof(*flag));
	for (u32 k = 0; k < w->t.plan.n; k++) {
		const struct page_entry *e = &w->t.units[0].entry[w->move[k].unit];

		if ((w->move[k].flags & (MOVE_WORK | MOVE_IDLE)) != MOVE_WORK)
			continue;
		for (u32 v = e->first_vertex; v < e->first_vertex + e->n_rows; v++)
			for (u32 i = figure_row[v]; i < figure_row[v + 1] && depth[v] != UINT32_MAX;
			     i++) {
				u32 far = figure_far[i];

				if (depth[v] + 1 >= depth[far])
					continue;
				depth[far] = depth[v] + 1;
				updates++;
				if (far < p->first[4])
					flag[partitions_find(p, (vid)far)] = 1;
			}
	}
	return updates;
}

/*
 * Searches in supersteps and compares the active partitions and the plan of each (plan NULL: not
 * compared). Returns the number of transfers.
 */
static u32 figure_search(struct world *w, vid root, const char *const *active,
			 const char *const *plan, u32 *updates)
{
	u32 depth[FIGURE_VERTICES], flag[4], moved = 0, step = 0;
	struct activity a = { .n = w->active };

	memset(depth, 0xff, sizeof(depth));
	depth[root] = 0;
	*updates = 0;
	for (u64 n = policy_graphie.begin(&w->t, w->active, &root); n;
	     n = policy_graphie.spread(&w->t, flag, w->active), step++) {
		char got[256], units[8] = "", *to = units;

		for (u32 i = 0; i < 4; i++)
			if (w->active[i])
				*to++ = (char)('0' + i);
		assert_non_null(active[step]);
		assert_string_equal(units, active[step]);
		assert_int_equal(n, strlen(units));
		make_plan(w, &a);
		show(w, got, sizeof(got));
		if (plan)
			assert_string_equal(got, plan[step]);
		moved += sends(w);
		*updates += figure_kernels(w, depth, flag);
	}
	assert_null(active[step]);
	return moved;
}

/* The search from vertex 5 of the figure with two slots: the same plans for any `lately`. */
static void test_figure(void **state)
{
	static const char *const active[] = { "1", "1", "0", "12", NULL };
	static const char *const plan[] = { "1/0SW", "1/0W", "0/1SW", "1/0W 2/0SW" };
	/* With --no-skip the kernels of all partitions run; those without work are marked idle. */
	static const char *const all[] = {
		"0/0SWI 1/1SW 2/0SWI 3/1SWI",
		"2/0WI 3/1WI 0/0SWI 1/1SW",
		"0/0W 1/1WI 2/0SWI 3/1SWI",
		"2/0W 3/1WI 0/0SWI 1/1SW",
	};
	u32 updates;

	(void)state;
	for (u32 lately = 0; lately < 3; lately++) {
		struct world w;

		figure_make(&w, 2, lately);
		assert_int_equal(figure_search(&w, 3, active, plan, &updates), 3);
		assert_int_equal(updates, 6);
		figure_end(&w);
		figure_make(&w, 2, lately);
		w.options.no_skip = true;
		assert_int_equal(figure_search(&w, 3, active, all, &updates), 10);
		assert_int_equal(updates, 6);
		figure_end(&w);
	}
}

/* The number of transfers of the four variants of both searches, for 1 to 4 buffers. */
static void test_variants(void **state)
{
	static const char *const from5[] = { "1", "1", "0", "12", NULL };
	static const char *const from7[] = { "3", "12", "01", NULL };
	static const struct {
		vid root;
		const char *const *active;
		bool no_skip, no_reuse;
		u32 moved[4];	/* with 1 .. 4 buffers */
	} cases[] = {
		{ 3, from5, true, true, { 16, 16, 16, 16 } },
		{ 3, from5, false, true, { 5, 5, 5, 5 } },
		{ 3, from5, false, false, { 4, 3, 3, 3 } },
		{ 3, from5, true, false, { 13, 10, 7, 4 } },
		{ 5, from7, true, true, { 12, 12, 12, 12 } },
		{ 5, from7, false, true, { 5, 5, 5, 5 } },
		{ 5, from7, false, false, { 5, 4, 4, 4 } },
		{ 5, from7, true, false, { 10, 8, 6, 4 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (u32 slots = 1; slots <= 4; slots++) {
			struct world w;
			u32 updates, moved;

			figure_make(&w, slots, 1);
			w.options.no_skip = cases[i].no_skip;
			w.options.no_reuse = cases[i].no_reuse;
			moved = figure_search(&w, cases[i].root, cases[i].active, NULL, &updates);
			if (moved != cases[i].moved[slots - 1])
				fail_msg("case %zu, %u buffers: %u transfers", i, slots, moved);
			figure_end(&w);
		}
}

/* ---- GTS ---- */

static void test_gts(void **state)
{
	static const struct {
		const char *name;
		bool pages, divided, no_skip;	/* pages: scan in page order; divided: strategy S */
		u32 n, slots, most;		/* stations; slots of each; units that stay */
		const char *out, *in;
		struct pass_case pass[4];
	} cases[] = {
		/* Two pages stay, one slot is for transit. A slot is assigned once in a window. */
		{ "pages", true, false, false, 1, 3, 2, "ssss", NULL,
		  { { "*", "0/0SW 1/1SW 2/2SW | 3/0SW" },
		    { "*", "0/1SW 1/2SW 2/0SW | 3/1SW" },
		    { "3", "3/1W" },
		    { "02", "0/2SW 2/0SW" } } },
		{ "cached", false, false, false, 1, 3, 2, "ssss", NULL,
		  { { "*", "0/0SW 1/1SW 2/2SW | 3/0SW" },
		    { "*", "2/2W 3/0W 0/1SW | 1/2SW" },
		    { "3", "3/0SW" } } },
		{ "no page stays", false, false, false, 1, 2, 0, "sss", NULL,
		  { { "*", "0/0SW 1/1SW | 2/0SW" }, { "12", "1/1SW 2/0SW" } } },
		{ "one slot", true, false, false, 1, 1, 0, "sss", NULL,
		  { { "*", "0/0SW | 1/0SW | 2/0SW" } } },
		{ "all stay", true, false, false, 1, 4, 4, "ssss", NULL,
		  { { "*", "0/0SW 1/1SW 2/2SW 3/3SW" },
		    { "*", "0/0W 1/1W 2/2W 3/3W" },
		    { "31", "1/1W 3/3W" } } },
		/* Small pages come before large ones, which begin a window. */
		{ "large", true, false, false, 1, 8, 8, "sL+sL++s", NULL,
		  { { "*", "0/0SW 3/1SW 7/2SW | 1/3SW 2/4SW 4/5SW 5/6SW 6/7SW" },
		    { "1237", "3/1W 7/2W | 1/3W 2/4W" },
		    { "12", "1/3W 2/4W" } } },
		{ "large, cached", false, false, false, 1, 6, 5, "sL+sL+s", NULL,
		  { { "012", "0/0SW | 1/1SW 2/2SW" },
		    { "*", "0/0W | 1/1W 2/2W | 3/3SW 6/4SW | 4/5SW 5/0SW" },
		    { "*", "3/3W 6/4W | 2/2W 4/5W 5/0W | 0/1SW | 1/3SW" } } },
		/* --no-skip processes all pages. */
		{ "no skip", true, false, true, 1, 3, 3, "sss", NULL,
		  { { "1", "0/0SW 1/1SW 2/2SW" }, { "-1", "1/1W" }, { "", "0/0W 1/1W 2/2W" } } },
		/* P: page i goes to station i mod n. */
		{ "P, 2", true, false, false, 2, 4, 4, "sssssL+", NULL,
		  { { "*", "0@0/0SW 1@1/0SW 2@0/1SW 3@1/1SW 4@0/2SW | 5@1/2SW 6@0/3SW" },
		    { "146", "1@1/0W 4@0/2W | 6@0/3W" } } },
		{ "P, 3", true, false, false, 3, 2, 1, "sssssss", NULL,
		  { { "*", "0@0/0SW 1@1/0SW 2@2/0SW 3@0/1SW 4@1/1SW 5@2/1SW | 6@0/0SW" },
		    { "36", "3@0/1SW 6@0/0SW" } } },
		/* S: each page goes to all stations in a row, so that it is read once. */
		{ "S, 2", true, true, false, 2, 3, 3, "sss", NULL,
		  { { "02", "0@0/0SW 0@1/0SW 2@0/1SW 2@1/1SW" },
		    { "*", "0@0/0W 0@1/0W 1@0/2SW 1@1/2SW 2@0/1W 2@1/1W" } } },
		{ "S, 2, cached", false, true, false, 2, 2, 1, "sss", NULL,
		  { { "*", "0@0/0SW 0@1/0SW 1@0/1SW 1@1/1SW | 2@0/0SW 2@1/0SW" },
		    { "*", "2@0/0W 2@1/0W 0@0/1SW 0@1/1SW | 1@0/0SW 1@1/0SW" } } },
		/* Both directions share the slots. */
		{ "in", true, false, false, 1, 3, 3, "ss", "ss",
		  { { "*", "0/0SW 1/1SW" }, { "i*", "0/2SW 1/0SW" }, { "*", "0/1SW 1/2SW" } } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		world_make(&w, &policy_gts, cases[i].out, cases[i].in, cases[i].n);
		w.options.gts.scan = cases[i].pages ? MILL_SCAN_PAGES : MILL_SCAN_CACHED;
		w.options.no_skip = cases[i].no_skip;
		w.t.divided = cases[i].divided;
		plans_begin(&w, cases[i].n);
		for (u32 k = 0; k < cases[i].n; k++)
			open_slots(&w, k, cases[i].slots, cases[i].most, 0);
		for (u32 k = 0; k < 4 && cases[i].pass[k].active; k++)
			expect_pass(&w, cases[i].name, &cases[i].pass[k]);
		close_slots(&w);
	}
}

#define PASSES 4u

struct scans {
	const char *kinds;
	u32 n, most, more; /* stations; slots for pages that stay, and for transit */
	bool divided, cached;
};

/* Returns the number of transfers of PASSES full scans. */
static u32 scan_all(const struct scans *s)
{
	u32 pages = (u32)strlen(s->kinds), moved = 0;
	struct world w;

	world_make(&w, &policy_gts, s->kinds, NULL, s->n);
	w.options.gts.scan = s->cached ? MILL_SCAN_CACHED : MILL_SCAN_PAGES;
	w.t.divided = s->divided;
	plans_begin(&w, s->n);
	for (u32 i = 0; i < s->n; i++)
		open_slots(&w, i, s->most + s->more, s->most, 0);
	for (u32 pass = 0; pass < PASSES; pass++) {
		make_plan(&w, &(struct activity){ 0 });
		moved += sends(&w);
		assert_int_equal(w.t.plan.n, s->divided ? s->n * pages : pages);
	}
	close_slots(&w);
	return moved;
}

/*
 * Returns the expected number of transfers. With P pages and room for B < P, a scan in page order
 * finds no page on the device; a cached scan, which begins with the pages there, finds B of them.
 * The first scan finds none.
 */
static u32 closed_form(const struct scans *s)
{
	u32 pages = (u32)strlen(s->kinds), sum = 0;

	for (u32 i = 0; i < s->n; i++) {
		u32 own = s->divided ? pages : (pages + s->n - 1 - i) / s->n, found = 0;

		if (s->most >= own)
			found = own;
		else if (s->cached)
			found = s->most;
		sum += own + (PASSES - 1) * (own - found);
	}
	return sum;
}

static void test_scans(void **state)
{
	static const char *const kinds[] = { "ssssssssssss", "sL+ssL++ss", "L++++++", "s" };

	(void)state;
	for (u32 k = 0; k < ARRAY_LEN(kinds) * DEVICES * 4 * 14 * 3; k++) {
		struct scans s = {
			.kinds = kinds[k % 4],
			.n = 1 + k / 4 % DEVICES,
			.divided = k / 12 % 2,
			.cached = k / 24 % 2,
			.most = k / 48 % 14,
			.more = 1 + k / 48 / 14,
		};
		u32 moved = scan_all(&s);

		if (moved != closed_form(&s))
			fail_msg("%s, %u stations, %s, %s, %u + %u slots: %u transfers, not %u",
				 s.kinds, s.n, s.divided ? "S" : "P", s.cached ? "cached" : "pages",
				 s.most, s.more, moved, closed_form(&s));
	}
}

/* ---- Random plans, executed by a model ---- */

struct slots_model {
	u64 holds[DEVICES][UNITS + 8];	/* by slot: name_of the unit in it */
	u64 window[DEVICES][UNITS + 8]; /* by slot: the last window that used it */
	u64 now;			/* the window */
};

/* Returns a number for a unit of a direction; 0 is none. */
static u64 name_of(bool in, u32 unit) { return (u64)in << 32 | (unit + 1u); }

static bool takes_part(const struct world *w, const struct activity *a, u32 unit)
{
	return !a->n || a->n[unit] || (w->options.no_skip && !a->subset);
}

/*
 * Checks that every unit that takes part is once in the plan of each station that must have it,
 * that a unit which is not sent is in its slot, and that residency is correct afterwards.
 */
static void check_moves(const struct world *w, const struct activity *a, struct slots_model *p,
			const char *name)
{
	u8 seen[DEVICES][UNITS] = { 0 };

	for (u32 k = 0; k < w->t.plan.n; k++) {
		const struct move *m = &w->move[k];
		u32 s = m->where - 1u;

		if (s >= w->t.n_stations || m->slot >= residency_slots(w->station[s].residency) ||
		    m->unit >= w->t.units[a->in].n)
			fail_msg("%s: move %u has a wrong station, slot or unit", name, k);
		if (seen[s][m->unit]++)
			fail_msg("%s: unit %u is twice in a plan of station %u", name, m->unit, s);
		if (!(m->flags & MOVE_SEND) && p->holds[s][m->slot] != name_of(a->in, m->unit))
			fail_msg("%s: unit %u is not in slot %u of station %u", name, m->unit,
				 m->slot, s);
		p->holds[s][m->slot] = name_of(a->in, m->unit);
	}
	for (u32 s = 0; s < w->t.n_stations; s++)
		for (u32 i = 0; i < w->t.units[a->in].n; i++) {
			bool own = !w->t.own || !w->t.policy->public.several || w->t.divided ||
				   i % w->t.n_stations == s;

			if (seen[s][i] != (own && takes_part(w, a, i)))
				fail_msg("%s: unit %u is %u times in a plan of station %u", name, i,
					 seen[s][i], s);
		}
	for (u32 s = 0; s < w->t.n_stations; s++)
		for (int in = 0; in < 2; in++)
			for (u32 i = 0; i < w->t.units[in].n; i++) {
				u32 slot = residency_find(w->station[s].residency, in, i);

				if (slot != RESIDENCY_NONE && p->holds[s][slot] != name_of(in, i))
					fail_msg("%s: unit %u is not in its slot %u of station %u",
						 name, i, slot, s);
			}
}

/*
 * Checks that a window uses no slot twice, that the transfers of a unit in it are neighbours, and
 * that it ends only where it must.
 */
static void check_windows(const struct world *w, const struct activity *a, struct slots_model *p,
			  const char *name)
{
	const struct pages *pages = w->t.units[a->in].pages;
	u8 sent[UNITS] = { 0 };

	p->now++;
	for (u32 k = 0; k < w->t.plan.n; k++) {
		const struct move *m = &w->move[k];
		u32 s = m->where - 1u;
		bool border =
			k && page_is_large(pages, m->unit) != page_is_large(pages, m[-1].unit);
		bool repeats_slot = p->window[s][m->slot] == p->now;

		if ((border || repeats_slot) != ((m->flags & MOVE_BREAK) != 0))
			fail_msg("%s: move %u, of page %u: the window %s", name, k, m->unit,
				 m->flags & MOVE_BREAK ? "ends too early" : "must end here");
		if (m->flags & MOVE_BREAK) {
			p->now++;
			memset(sent, 0, sizeof(sent));
		}
		p->window[s][m->slot] = p->now;
		if (!(m->flags & MOVE_SEND))
			continue;
		if (sent[m->unit] && m[-1].unit != m->unit)
			fail_msg("%s: page %u is sent in two places of a window", name, m->unit);
		sent[m->unit] = 1;
		assert_int_equal(m->flags & MOVE_IDLE, 0);
	}
}

static u64 below(u64 seed, u64 *i, u64 n) { return random_below(seed, ++*i, n); }

/* Writes letters for make_pages: small pages, and long lists of 2 to 5 pages. */
static void random_pages(char *to, u64 seed, u64 *i)
{
	u32 n = 1 + (u32)below(seed, i, below(seed, i, 4) ? 12 : 60), k = 0;

	while (k < n) {
		u32 more = below(seed, i, 4) ? 0 : 1 + (u32)below(seed, i, 4);

		if (k + more >= n)
			more = 0;
		to[k++] = more ? 'L' : 's';
		while (more--)
			to[k++] = '+';
	}
	to[n] = 0;
}

static void random_pass(struct world *w, struct activity *a, u64 seed, u64 *i)
{
	u64 of = below(seed, i, 4);

	*a = (struct activity){
		.in = w->t.units[1].pages && below(seed, i, 2),
		.subset = !below(seed, i, 4),
		.n = below(seed, i, 5) ? w->active : NULL,
	};
	for (u32 k = 0; k < UNITS; k++)
		w->active[k] = below(seed, i, 4) <= of;
	if (!below(seed, i, 6))
		w->options.no_reuse = !w->options.no_reuse;
}

static void test_random(void **state)
{
	static const struct policy *const policies[] = {
		&policy_gts,  &policy_gts,  &policy_gts, &policy_gts,	    &policy_graphie,
		&policy_auto, &policy_fifo, &policy_lru, &policy_frequency, &policy_pinned,
	};

	(void)state;
	for (u64 seed = 0; seed < repeats(9000); seed++) {
		u64 i = 0;
		const struct policy *policy = policies[below(seed, &i, ARRAY_LEN(policies))];
		bool gts = policy == &policy_gts;
		bool directed = policy != &policy_graphie && !below(seed, &i, 3);
		u32 n = gts ? 1 + (u32)below(seed, &i, DEVICES) : 1;
		char out[UNITS], in[UNITS], name[64];
		struct slots_model model = { 0 };
		struct activity a;
		struct world w;

		random_pages(out, seed, &i);
		random_pages(in, seed, &i);
		world_make(&w, policy, out, directed ? in : NULL, n);
		snprintf(name, sizeof(name), "seed %llu, %s", (unsigned long long)seed,
			 policy->public.name);
		w.options.gts.scan = below(seed, &i, 2) ? MILL_SCAN_PAGES : MILL_SCAN_CACHED;
		w.options.no_skip = !below(seed, &i, 4);
		w.t.divided = n > 1 && below(seed, &i, 2);
		plans_begin(&w, n);
		for (u32 s = 0; s < n; s++) {
			u32 slots = 1 + (u32)below(seed, &i, strlen(out) + 6);
			u32 most = gts ? (u32)below(seed, &i, slots + 1ull) : slots;

			open_slots(&w, s, slots, most, gts ? 0 : (u32)below(seed, &i, 4));
		}
		for (u32 pass = 0; pass < 6; pass++) {
			random_pass(&w, &a, seed, &i);
			make_plan(&w, &a);
			if (gts)
				check_windows(&w, &a, &model, name);
			check_moves(&w, &a, &model, name);
		}
		close_slots(&w);
	}
}

/* ---- Room ---- */

#define VERTICES 100000u
#define STATE_BYTES (4ull * VERTICES)

/* Makes 60 pages; an edge reads 4 bytes of its source and writes 4 bytes of its target. */
static void room_make(struct world *w, const struct policy *policy, u32 n_devices)
{
	world_make(w, policy, "ssssssssssssssssssssL+++++++++++ssssssssssssssssssssssssssss", NULL,
		   n_devices);
	w->store.n_linked = w->store.vertices = VERTICES;
	w->t.need = (struct need){ .out = true,
				   .own = policy->takes != NULL,
				   .state = STATE_BYTES,
				   .writable = 4,
				   .given = 4 };
	w->t.own = false;
}

static struct room room_of(const struct world *w)
{
	struct room room;

	transfer_room(&room, &w->t, &w->t.need);
	return room;
}

static void set_limits(struct world *w, u64 limit)
{
	for (u32 i = 0; i < w->t.n_devices; i++)
		budget_init(&w->memory[i], limit);
}

/* Opens the transfer as a run does. If that fails, no memory of the devices stays in use. */
static mill_err open_all(struct world *w)
{
	bool own = w->t.need.own;
	mill_err err = transfer_open(&w->t, own,
				     own && w->t.policy->home == HOME_HOST ? 0 : w->t.need.state);

	for (u32 i = 0; i < w->t.n_devices; i++) {
		assert_true(w->memory[i].peak <= w->memory[i].limit);
		assert_true(!err || !w->memory[i].used);
	}
	return err;
}

static void close_all(struct world *w)
{
	transfer_close(&w->t);
	for (u32 i = 0; i < w->t.n_devices; i++)
		assert_int_equal(w->memory[i].used, 0);
}

/* The least memory of a device does not depend on the state; only gts keeps a part of it there. */
static void test_state(void **state)
{
	static const struct {
		const struct policy *policy;
		u64 more;	/* device bytes for 4 more bytes of state a vertex */
		bool tables;	/* the device also has tables of vertices */
	} cases[] = {
		{ &policy_auto, 0, false },
		{ &policy_graphie, 0, true },
		{ &policy_gts, STATE_BYTES, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;
		u64 device;

		room_make(&w, cases[i].policy, 1);
		w.options.gts.chunks = 1;
		device = room_of(&w).device;
		w.t.need.state *= 10;
		assert_int_equal(room_of(&w).device, device);
		w.t.need.writable = 8;
		assert_int_equal(room_of(&w).device, device + cases[i].more);
		w.t.need.writable = 4;
		w.store.n_linked *= 3;
		if (!cases[i].tables)
			assert_int_equal(room_of(&w).device, device + 2 * cases[i].more);
	}
}

/* Strategy and chunks, by the memory that is left for the state. */
static void test_chunks(void **state)
{
	enum { AUTO = MILL_STRATEGY_AUTO, P = MILL_STRATEGY_P, S = MILL_STRATEGY_S };
	static const char one[] = "there is one device";
	static const char fits[] = "the state fits every device";
	static const char together[] = "the state fits only all devices together";
	static const char larger[] = "the state is larger than all devices together";
	static const char asked_for[] = "as asked for";
	static const struct {
		int strategy;
		u32 asked, n;		/* chunks asked for; devices */
		/*
		 * Memory of each device, beside what gts needs in any case. A 0 stands for the
		 * number before it.
		 */
		u64 left[DEVICES];
		u32 chunks;
		bool divided;
		const char *why;	/* NULL: it does not fit */
	} cases[] = {
		{ AUTO, 0, 1, { STATE_BYTES }, 1, false, one },
		{ AUTO, 0, 1, { STATE_BYTES - 1 }, 2, false, one },
		{ AUTO, 0, 1, { STATE_BYTES / 2 }, 2, false, one },
		{ AUTO, 0, 1, { STATE_BYTES / 2 - 1 }, 3, false, one },
		{ AUTO, 0, 2, { STATE_BYTES }, 1, false, fits },
		{ AUTO, 0, 2, { STATE_BYTES, STATE_BYTES - 1 }, 1, true, together },
		{ AUTO, 0, 2, { STATE_BYTES - 1 }, 1, true, together },
		{ AUTO, 0, 2, { STATE_BYTES / 2 }, 1, true, together },
		{ AUTO, 0, 2, { STATE_BYTES / 2 - 1 }, 2, true, larger },
		{ AUTO, 0, 2, { STATE_BYTES / 4 }, 2, true, larger },
		{ AUTO, 0, 2, { STATE_BYTES / 4 - 1 }, 3, true, larger },
		{ AUTO, 0, 3, { 8 * 16667 }, 1, true, together },
		{ AUTO, 0, 3, { 8 * 16667 - 1 }, 2, true, larger },
		{ AUTO, 4, 2, { STATE_BYTES / 4 }, 4, false, fits },
		{ AUTO, 4, 2, { STATE_BYTES / 8 }, 4, true, together },
		{ AUTO, 4, 2, { STATE_BYTES / 8 - 1 }, 4, true, NULL },
		{ P, 0, 2, { STATE_BYTES }, 1, false, asked_for },
		{ P, 0, 2, { GIB, STATE_BYTES / 2 - 1 }, 3, false, asked_for },
		{ P, 1, 2, { STATE_BYTES }, 1, false, asked_for },
		{ P, 1, 2, { STATE_BYTES - 1 }, 1, false, NULL },
		{ P, 5, 2, { STATE_BYTES }, 5, false, asked_for },
		{ S, 0, 2, { STATE_BYTES }, 1, true, asked_for },
		{ S, 0, 1, { STATE_BYTES }, 1, false, asked_for },
		{ S, 5, 2, { STATE_BYTES / 10 }, 5, true, asked_for },
		{ S, 5, 2, { STATE_BYTES / 10 - 1 }, 5, true, NULL },
		/*
		 * Sizes are multiples of 8 bytes: a chunk of 97 vertices takes the memory of 98.
		 * Chunks of 96 vertices would be more than CHUNKS_MOST.
		 */
		{ P, 0, 1, { 4 * 98 }, 1021, false, asked_for },
		{ P, 0, 1, { 4 * 98 - 1 }, CHUNKS_MOST, false, NULL },
		{ AUTO, 0, 2, { 8 }, CHUNKS_MOST, true, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct room room;
		struct world w;
		u64 beside;
		mill_err err;

		room_make(&w, &policy_gts, cases[i].n);
		w.options.gts = (struct mill_gts){ .strategy = MILL_STRATEGY_P, .chunks = 1 };
		beside = room_of(&w).device - STATE_BYTES;
		w.options.gts = (struct mill_gts){
			.strategy = (enum mill_strategy)cases[i].strategy,
			.chunks = cases[i].asked,
		};
		for (u32 k = 0, last = 0; k < cases[i].n; k++) {
			last = k < DEVICES && cases[i].left[k] ? k : last;
			budget_init(&w.memory[k], beside + cases[i].left[last]);
		}
		room = room_of(&w);
		err = open_all(&w);
		if (room.chunks != cases[i].chunks || room.divided != cases[i].divided)
			fail_msg("case %zu: the estimate is %u chunks, %s", i, room.chunks,
				 room.divided ? "divided" : "whole");
		if (err != (cases[i].why ? MILL_OK : MILL_ENOMEM))
			fail_msg("case %zu: opening gives %d: %s", i, (int)err, mill_error());
		if (err) {
			assert_true(room.device > w.memory[cases[i].n - 1].limit);
			continue;
		}
		for (u32 k = 0; k < cases[i].n; k++)
			assert_true(room.device <= w.memory[k].limit);
		assert_int_equal(w.t.chunks, cases[i].chunks);
		assert_int_equal(w.t.divided, cases[i].divided);
		assert_string_equal(w.t.why, cases[i].why);
		close_all(&w);
	}
}

static const enum page_codec codecs[] = { PAGE_RAW, PAGE_PACKED };
static const enum mill_strategy strategies[] = { MILL_STRATEGY_AUTO, MILL_STRATEGY_P,
						 MILL_STRATEGY_S };

/*
 * The memory that gts asks for is enough; a byte less is refused: on one device with strategy P,
 * which gives each the whole state; else on all, as each one's division follows its budget.
 */
static void test_least(void **state)
{
	static const u32 vertices[] = { 1, 97, VERTICES, 1000003 }, chunks[] = { 0, 1, 7 };
	static const u32 writable[] = { 4, 8 };

	(void)state;
	for (u32 k = 0; k < 216; k++) {
		u32 n = 1 + k % 3;
		struct world w;
		u64 least;

		room_make(&w, &policy_gts, n);
		w.store.n_linked = vertices[k / 54];
		w.store.codec = codecs[k % 2];
		w.t.need.writable = writable[k / 2 % 2];
		w.options.gts.strategy = strategies[k / 3 % 3];
		w.options.gts.chunks = chunks[k / 9 % 3];
		least = room_of(&w).device;
		set_limits(&w, least);
		assert_int_equal(room_of(&w).device, least);
		OK(open_all(&w));
		for (u32 i = 0; i < n; i++)
			assert_int_equal(w.t.station[i].n_areas, 1);
		close_all(&w);
		if (w.options.gts.strategy == MILL_STRATEGY_P)
			budget_init(&w.memory[k % n], least - 1);
		else
			set_limits(&w, least - 1);
		assert_true(room_of(&w).device > w.memory[k % n].limit);
		assert_int_equal(open_all(&w), MILL_ENOMEM);
	}
}

/* Devices with different budgets: if each has the memory that gts asks for, it is enough. */
static void test_unequal(void **state)
{
	static const u32 chunks[] = { 0, 1, 2, 9 };

	(void)state;
	for (u64 seed = 0; seed < repeats(600); seed++) {
		struct room room;
		struct world w;
		u64 i = 0;

		room_make(&w, &policy_gts, 2 + (u32)below(seed, &i, 2));
		w.store.n_linked = 1 + below(seed, &i, 3 * VERTICES);
		w.options.gts.strategy = strategies[below(seed, &i, 3)];
		w.options.gts.chunks = chunks[below(seed, &i, 4)];
		set_limits(&w, room_of(&w).device);
		for (u32 k = 0; k < w.t.n_devices; k++)
			w.memory[k].limit += below(seed, &i, 4) * below(seed, &i, 4) *
					     below(seed, &i, 200000);
		room = room_of(&w);
		for (u32 k = 0; k < w.t.n_devices; k++)
			w.memory[k].limit = max_u64(w.memory[k].limit, room.device);
		room = room_of(&w);
		for (u32 k = 0; k < w.t.n_devices; k++)
			if (w.memory[k].limit < room.device)
				goto next; /* the smallest budget grew, and its division with it */
		if (open_all(&w))
			fail_msg("seed %llu: %s", (unsigned long long)seed, mill_error());
		assert_int_equal(w.t.chunks, room.chunks);
		assert_int_equal(w.t.divided, room.divided);
		close_all(&w);
next:;
	}
}

/*
 * transfer_room estimates the numbers of slots and work areas that transfer_open makes. They may
 * differ if so few slots fit that queues are given up for them; the budgets here are larger.
 */
static void test_slots(void **state)
{
	static const u64 cache[] = { 0, MILL_SIZE_NONE, 5 * PAGE, GIB };

	(void)state;
	for (u32 k = 0; k < 160; k++) {
		struct room room;
		struct world w;

		room_make(&w, &policy_gts, 1);
		w.store.codec = codecs[k % 2];
		w.options.gts.chunks = 1;
		w.options.gts.device_cache = cache[k / 2 % 4];
		set_limits(&w, room_of(&w).device + (u64)(4 + k / 8) * 3 * PAGE + 4096);
		room = room_of(&w);
		OK(open_all(&w));
		if (min_u64(room.slots, 60) != residency_most(w.t.station[0].residency) ||
		    room.areas != w.t.station[0].n_areas)
			fail_msg("%u: the estimate is %llu slots and %llu areas, not %u and %u", k,
				 (unsigned long long)room.slots, (unsigned long long)room.areas,
				 residency_most(w.t.station[0].residency), w.t.station[0].n_areas);
		close_all(&w);
	}
}

/* Graphie, partitions of 1 to 7 whole pages: the number of slots follows the budget to the byte. */
static void test_partitions(void **state)
{
	(void)state;
	for (u64 pages = 1; pages <= 7; pages++)
		for (u64 slots = 1; slots <= 5; slots++) {
			struct world w;
			u64 least;

			room_make(&w, &policy_graphie, 1);
			w.options.graphie.partition_size = pages * PAGE; /* 8 bytes an edge */
			least = room_of(&w).device;
			set_limits(&w, least + STATE_BYTES + (slots - 1) * pages * PAGE);
			OK(open_all(&w));
			assert_int_equal(w.t.units[0].n, (60 + pages - 1) / pages);
			assert_int_equal(w.t.station[0].n_slots, slots);
			assert_int_equal(w.t.station[0].slot[0].buffer.size, pages * PAGE);
			close_all(&w);
			w.memory[0].limit--;
			if (slots == 1) {
				assert_int_equal(open_all(&w), MILL_ENOMEM);
				continue;
			}
			OK(open_all(&w));
			assert_int_equal(w.t.station[0].n_slots, slots - 1);
			close_all(&w);
		}
}

/* The memory that graphie and page policies ask for is enough. */
static void test_enough(void **state)
{
	static const struct policy *const policies[] = { &policy_lru, &policy_graphie };
	static const enum mill_weight weights[] = { MILL_WEIGHT_NONE, MILL_WEIGHT_U32 };
	static const enum mill_wire wires[] = { MILL_WIRE_AUTO, MILL_WIRE_CSR, MILL_WIRE_PACKED };

	(void)state;
	for (u32 k = 0; k < 144; k++) {
		bool weighted = k / 4 % 2;
		struct world w;

		room_make(&w, policies[k % 2], 1);
		w.store.codec = codecs[k / 2 % 2];
		w.store.weight = weights[weighted];
		w.t.need.weights = weighted;
		w.t.need.advances = k / 8 % 2;
		w.t.need.edge_scratch = policies[k % 2] == &policy_lru && weighted ? 4 : 0;
		w.options.graphie.wire = wires[k / 16 % 3];
		/* Whole pages: to cut one, its content would be read. */
		w.options.graphie.partition_size = (1 + k / 48) * 2 * PAGE;
		set_limits(&w, room_of(&w).device + STATE_BYTES);
		if (open_all(&w))
			fail_msg("%u: %s", k, mill_error());
		close_all(&w);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pages),	   cmocka_unit_test(test_sample),
	cmocka_unit_test(test_figure),	   cmocka_unit_test(test_variants),
	cmocka_unit_test(test_gts),	   cmocka_unit_test(test_scans),
	cmocka_unit_test(test_random),	   cmocka_unit_test(test_state),
	cmocka_unit_test(test_chunks),	   cmocka_unit_test(test_least),
	cmocka_unit_test(test_unequal),	   cmocka_unit_test(test_slots),
	cmocka_unit_test(test_partitions), cmocka_unit_test(test_enough),
};

SUITE(moves, tests);
