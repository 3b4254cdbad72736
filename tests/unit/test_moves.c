/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies decide by numbers alone: what they plan for a pass, and what they ask for, without a
 * device, a thread or a file. Plans are written down move by move where they can be made by hand:
 * the examples of the papers, every order and every end of a window. Many more are executed on
 * paper: no unit is taken from a slot that holds another. Budgets are met to the byte.
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

static void count_free(struct device *d, struct buffer *b) { d->memory->used -= max_u64(b->size, 8); }

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
	.buffer_new = count_buffer, .buffer_free = count_free, .write = write_nothing, .fill = fill_nothing,
};

/* ---- A world of numbers ---- */

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

/* Makes pages by their letters: s has two lists, L is the first of a long one, + goes on with it. */
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

/* Makes what plans need of transfer_open, for n stations. */
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
 * Writes the plan down: "unit/slot" and S, W, I by its flags, of several stations
 * "unit@station/slot"; "| " begins a window.
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
 * A pass: digits are the units with work, "*" all of them; "i" before them: of the in-direction,
 * "-": of a subset.
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
		/* What is there comes first, in page order, then what is missing; the key says what goes, also of what this pass uses. */
		{ &policy_fifo, 3, 0, false, false, "ssssss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" }, { "135", "1/1W 3/0SW 5/1SW" }, { "35", "3/0W 5/1W" } } },
		{ &policy_auto, 3, 0, false, false, "ssssss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" }, { "135", "1/1W 3/0SW 5/2SW" }, { "*", "1/1W 3/0W 5/2W 0/1SW 2/0SW 4/2SW" } } },
		{ &policy_lru, 3, 0, false, false, "ssssss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" }, { "0", "0/0W" }, { "34", "3/1SW 4/2SW" }, { "5", "5/0SW" } } },
		{ &policy_frequency, 3, 0, false, false, "ssssss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" }, { "02", "0/0W 2/2W" }, { "3", "3/1SW" }, { "4", "4/1SW" }, { "02", "0/0W 2/2W" } } },
		/* Pages 1 and 2 hold one long list: they stay. */
		{ &policy_pinned, 3, 0, false, false, "sL+sss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" }, { "345", "3/0SW 4/0SW 5/0SW" }, { "12", "1/1W 2/2W" } } },
		/* Two slots assigned lately are not assigned again. */
		{ &policy_pinned, 5, 2, false, false, "sL+sss", NULL,
		  { { "012", "0/0SW 1/1SW 2/2SW" }, { "345", "3/3SW 4/4SW 5/0SW" } } },
		{ &policy_fifo, 1, 1, false, false, "sss", NULL, { { "*", "0/0SW 1/0SW 2/0SW" }, { "*", "2/0W 0/0SW 1/0SW" } } },
		/* All cross, those without work are not processed; in one of several passes over the graph only what has work counts. */
		{ &policy_fifo, 2, 0, true, false, "sss", NULL,
		  { { "1", "0/0S 1/1SW 2/0S" }, { "2", "1/1 2/0W 0/1S" }, { "-1", "1/0SW" }, { "-", "" }, { "*", "0/1W 1/0W 2/1SW" } } },
		{ &policy_fifo, 3, 0, false, true, "sss", NULL, { { "01", "0/0SW 1/1SW" }, { "12", "1/0SW 2/1SW" } } },
		{ &policy_fifo, 2, 0, true, true, "ss", NULL, { { "1", "0/0S 1/1SW" }, { "", "0/0S 1/1S" } } },
		/* Two directions, one table. */
		{ &policy_lru, 3, 0, false, false, "sss", "ss",
		  { { "01", "0/0SW 1/1SW" }, { "i*", "0/2SW 1/0SW" }, { "01", "1/1W 0/2SW" }, { "i1", "1/0W" } } },
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

/* Of so many runs of pages one takes part; --no-skip does not change that. */
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

/* Figure 3 after the first renaming: 6 sources, 2 sinks, 4 edges a partition, each of which is a page here. */
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
 * Does what the kernels of a plan do, in its order: where a depth falls, the partition of the
 * vertex is flagged. Returns the updates.
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

/* Searches in supersteps and compares the plan of each (NULL: none); returns the transfers. */
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

/* Searches from the vertex called 5 with two slots: every plan, whatever is protected. */
static void test_figure(void **state)
{
	static const char *const active[] = { "1", "1", "0", "12", NULL };
	static const char *const plan[] = { "1/0SW", "1/0W", "0/1SW", "1/0W 2/0SW" };
	/* With --no-skip the kernels of all partitions run, those of idle ones are told. */
	static const char *const all[] = {
		"0/0SWI 1/1SW 2/0SWI 3/1SWI", "2/0WI 3/1WI 0/0SWI 1/1SW", "0/0W 1/1WI 2/0SWI 3/1SWI", "2/0W 3/1WI 0/0SWI 1/1SW",
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

/* Counts transfers of the four variants of both searches, by the number of buffers. */
static void test_variants(void **state)
{
	static const char *const from5[] = { "1", "1", "0", "12", NULL }, *const from7[] = {
		"3", "12", "01", NULL
	};
	static const struct {
		vid root;
		const char *const *active;
		bool no_skip, no_reuse;
		u32 moved[4];	/* with 1 .. 4 buffers */
	} cases[] = {
		{ 3, from5, true, true, { 16, 16, 16, 16 } }, { 3, from5, false, true, { 5, 5, 5, 5 } },
		{ 3, from5, false, false, { 4, 3, 3, 3 } }, { 3, from5, true, false, { 13, 10, 7, 4 } },
		{ 5, from7, true, true, { 12, 12, 12, 12 } }, { 5, from7, false, true, { 5, 5, 5, 5 } },
		{ 5, from7, false, false, { 5, 4, 4, 4 } }, { 5, from7, true, false, { 10, 8, 6, 4 } },
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
		bool pages, divided, no_skip;
		u32 n, slots, most;
		const char *out, *in;
		struct pass_case pass[4];
	} cases[] = {
		/* Room for two that stay and one that passes: a slot is assigned once in a window. */
		{ "pages", true, false, false, 1, 3, 2, "ssss", NULL,
		  { { "*", "0/0SW 1/1SW 2/2SW | 3/0SW" }, { "*", "0/1SW 1/2SW 2/0SW | 3/1SW" }, { "3", "3/1W" }, { "02", "0/2SW 2/0SW" } } },
		{ "cached", false, false, false, 1, 3, 2, "ssss", NULL,
		  { { "*", "0/0SW 1/1SW 2/2SW | 3/0SW" }, { "*", "2/2W 3/0W 0/1SW | 1/2SW" }, { "3", "3/0SW" } } },
		{ "nothing stays", false, false, false, 1, 2, 0, "sss", NULL,
		  { { "*", "0/0SW 1/1SW | 2/0SW" }, { "12", "1/1SW 2/0SW" } } },
		{ "one slot", true, false, false, 1, 1, 0, "sss", NULL, { { "*", "0/0SW | 1/0SW | 2/0SW" } } },
		{ "all stay", true, false, false, 1, 4, 4, "ssss", NULL,
		  { { "*", "0/0SW 1/1SW 2/2SW 3/3SW" }, { "*", "0/0W 1/1W 2/2W 3/3W" }, { "31", "1/1W 3/3W" } } },
		/* Small pages before large ones, which begin a window. */
		{ "large", true, false, false, 1, 8, 8, "sL+sL++s", NULL,
		  { { "*", "0/0SW 3/1SW 7/2SW | 1/3SW 2/4SW 4/5SW 5/6SW 6/7SW" }, { "1237", "3/1W 7/2W | 1/3W 2/4W" }, { "12", "1/3W 2/4W" } } },
		{ "large, cached", false, false, false, 1, 6, 5, "sL+sL+s", NULL,
		  { { "012", "0/0SW | 1/1SW 2/2SW" },
		    { "*", "0/0W | 1/1W 2/2W | 3/3SW 6/4SW | 4/5SW 5/0SW" },
		    { "*", "3/3W 6/4W | 2/2W 4/5W 5/0W | 0/1SW | 1/3SW" } } },
		/* --no-skip processes all of them. */
		{ "no skip", true, false, true, 1, 3, 3, "sss", NULL, { { "1", "0/0SW 1/1SW 2/2SW" }, { "-1", "1/1W" }, { "", "0/0W 1/1W 2/2W" } } },
		/* P: page mod n. */
		{ "P, 2", true, false, false, 2, 4, 4, "sssssL+", NULL,
		  { { "*", "0@0/0SW 1@1/0SW 2@0/1SW 3@1/1SW 4@0/2SW | 5@1/2SW 6@0/3SW" }, { "146", "1@1/0W 4@0/2W | 6@0/3W" } } },
		{ "P, 3", true, false, false, 3, 2, 1, "sssssss", NULL,
		  { { "*", "0@0/0SW 1@1/0SW 2@2/0SW 3@0/1SW 4@1/1SW 5@2/1SW | 6@0/0SW" }, { "36", "3@0/1SW 6@0/0SW" } } },
		/* S: each page to all, side by side, so that it is read once. */
		{ "S, 2", true, true, false, 2, 3, 3, "sss", NULL,
		  { { "02", "0@0/0SW 0@1/0SW 2@0/1SW 2@1/1SW" }, { "*", "0@0/0W 0@1/0W 1@0/2SW 1@1/2SW 2@0/1W 2@1/1W" } } },
		{ "S, 2, cached", false, true, false, 2, 2, 1, "sss", NULL,
		  { { "*", "0@0/0SW 0@1/0SW 1@0/1SW 1@1/1SW | 2@0/0SW 2@1/0SW" }, { "*", "2@0/0W 2@1/0W 0@0/1SW 0@1/1SW | 1@0/0SW 1@1/0SW" } } },
		/* Two directions in one table. */
		{ "in", true, false, false, 1, 3, 3, "ss", "ss", { { "*", "0/0SW 1/1SW" }, { "i*", "0/2SW 1/0SW" }, { "*", "0/1SW 1/2SW" } } },
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
	u32 n, most, more; /* stations; slots for pages that stay and that pass */
	bool divided, cached;
};

/* Counts what crosses in full scans. */
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
 * Of P pages with room for B a scan in page order finds nothing if B < P; one that begins with
 * what is there finds B pages, but for the first.
 */
static u32 closed_form(const struct scans *s)
{
	u32 pages = (u32)strlen(s->kinds), sum = 0;

	for (u32 i = 0; i < s->n; i++) {
		u32 own = s->divided ? pages : (pages + s->n - 1 - i) / s->n;
		u32 found = s->most >= own ? own : s->cached ? s->most : 0;

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
			fail_msg("%s, %u stations, %s, %s, %u + %u slots: %u crossed, not %u",
				 s.kinds, s.n, s.divided ? "S" : "P", s.cached ? "cached" : "pages",
				 s.most, s.more, moved, closed_form(&s));
	}
}

/* ---- Any plan, executed on paper ---- */

struct paper {
	u64 holds[DEVICES][UNITS + 8];	/* by slot: in-direction at bit 32, unit + 1 */
	u64 window[DEVICES][UNITS + 8]; /* the last in which it was used */
	u64 now;
};

static u64 name_of(bool in, u32 unit) { return (u64)in << 32 | (unit + 1u); }

static bool takes_part(const struct world *w, const struct activity *a, u32 unit)
{
	return !a->n || a->n[unit] || (w->options.no_skip && !a->subset);
}

/*
 * Checks that every unit that takes part is worked on once by each station that must, and that
 * what does not cross is in its slot.
 */
static void check_moves(const struct world *w, const struct activity *a, struct paper *p,
			const char *name)
{
	u8 seen[DEVICES][UNITS] = { 0 };

	for (u32 k = 0; k < w->t.plan.n; k++) {
		const struct move *m = &w->move[k];
		u32 s = m->where - 1u;

		if (s >= w->t.n_stations || m->slot >= residency_slots(w->station[s].residency) ||
		    m->unit >= w->t.units[a->in].n)
			fail_msg("%s: move %u leads nowhere", name, k);
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
					fail_msg(
						"%s: unit %u is believed to be in slot %u of station %u",
						name, i, slot, s);
			}
}

/*
 * Checks that in a window no slot is used twice, that transfers of a unit stand together, and that
 * it ends only where it must.
 */
static void check_windows(const struct world *w, const struct activity *a, struct paper *p,
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
			fail_msg("%s: move %u, of page %u: a window %s", name, k, m->unit,
				 m->flags & MOVE_BREAK ? "begins" : "goes on");
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

static void random_pages(char *to, u64 seed, u64 *i)
{
	u32 n = 1 + (u32)below(seed, i, below(seed, i, 4) ? 12 : 60), long_list = 0;

	for (u32 k = 0; k < n; k++) {
		long_list = long_list			      ? long_list - 1
			    : !below(seed, i, 4) && k + 1 < n ? 1 + (u32)below(seed, i, 4)
							      : 0;
		to[k] = long_list ? (k && (to[k - 1] == 'L' ||
					   (to[k - 1] == '+' && below(seed, i, 2)))
					     ? '+'
					     : 'L')
				  : 's';
	}
	for (u32 k = 0; k < n; k++) /* L is followed by + */
		if (to[k] == 'L' && (k + 1 == n || to[k + 1] != '+'))
			to[k] = 's';
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
		&policy_gts, &policy_gts, &policy_gts, &policy_gts, &policy_graphie, &policy_auto, &policy_fifo, &policy_lru,
		&policy_frequency, &policy_pinned,
	};

	(void)state;
	for (u64 seed = 0; seed < repeats(9000); seed++) {
		u64 i = 0;
		const struct policy *policy = policies[below(seed, &i, ARRAY_LEN(policies))];
		bool gts = policy == &policy_gts,
		     directed = policy != &policy_graphie && !below(seed, &i, 3);
		u32 n = gts ? 1 + (u32)below(seed, &i, DEVICES) : 1;
		char out[UNITS], in[UNITS], name[64];
		struct paper paper = { 0 };
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
			u32 slots = 1 + (u32)below(seed, &i, strlen(out) + 6),
			    most = gts ? (u32)below(seed, &i, slots + 1ull) : slots;

			open_slots(&w, s, slots, most, gts ? 0 : (u32)below(seed, &i, 4));
		}
		for (u32 pass = 0; pass < 6; pass++) {
			random_pass(&w, &a, seed, &i);
			make_plan(&w, &a);
			if (gts)
				check_windows(&w, &a, &paper, name);
			check_moves(&w, &a, &paper, name);
		}
		close_slots(&w);
	}
}

/* ---- Room ---- */

#define VERTICES 100000u
#define STATE_BYTES (4ull * VERTICES)

/* Makes 60 pages; edges write 4 bytes a vertex, sources give as many. */
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

/* Opens all as a run does; nothing is left on the devices where that fails. */
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

/* A device needs as much whatever the state is, but for what gts has of it there. */
static void test_state(void **state)
{
	static const struct policy *const policies[] = { &policy_auto, &policy_graphie,
							 &policy_gts };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		struct world w;
		u64 device;

		room_make(&w, policies[i], 1);
		w.options.gts.chunks = 1;
		device = room_of(&w).device;
		w.t.need.state *= 10;
		assert_int_equal(room_of(&w).device, device);
		w.t.need.writable = 8;
		assert_int_equal(room_of(&w).device,
				 device + (policies[i] == &policy_gts ? STATE_BYTES : 0));
		w.t.need.writable = 4;
		w.store.n_linked *= 3;
		if (policies[i] != &policy_graphie)
			assert_int_equal(
				room_of(&w).device,
				device + (policies[i] == &policy_gts ? 2 * STATE_BYTES : 0));
	}
}

/* Strategy and chunks by what the devices leave for the state. */
static void test_chunks(void **state)
{
	static const struct {
		enum mill_strategy strategy;
		u32 asked, n;
		u64 left[DEVICES];	/* of each device, besides what gts needs in any case; the last also of the rest */
		u32 chunks;
		bool divided;
		const char *why;	/* NULL: it does not fit */
	} cases[] = {
		{ MILL_STRATEGY_AUTO, 0, 1, { STATE_BYTES }, 1, false, "there is one device" },
		{ MILL_STRATEGY_AUTO, 0, 1, { STATE_BYTES - 1 }, 2, false, "there is one device" },
		{ MILL_STRATEGY_AUTO, 0, 1, { STATE_BYTES / 2 }, 2, false, "there is one device" },
		{ MILL_STRATEGY_AUTO, 0, 1, { STATE_BYTES / 2 - 1 }, 3, false, "there is one device" },
		{ MILL_STRATEGY_AUTO, 0, 2, { STATE_BYTES }, 1, false, "the state fits every device" },
		{ MILL_STRATEGY_AUTO, 0, 2, { STATE_BYTES, STATE_BYTES - 1 }, 1, true, "the state fits only all devices together" },
		{ MILL_STRATEGY_AUTO, 0, 2, { STATE_BYTES - 1 }, 1, true, "the state fits only all devices together" },
		{ MILL_STRATEGY_AUTO, 0, 2, { STATE_BYTES / 2 }, 1, true, "the state fits only all devices together" },
		{ MILL_STRATEGY_AUTO, 0, 2, { STATE_BYTES / 2 - 1 }, 2, true, "the state is larger than all devices together" },
		{ MILL_STRATEGY_AUTO, 0, 2, { STATE_BYTES / 4 }, 2, true, "the state is larger than all devices together" },
		{ MILL_STRATEGY_AUTO, 0, 2, { STATE_BYTES / 4 - 1 }, 3, true, "the state is larger than all devices together" },
		{ MILL_STRATEGY_AUTO, 0, 3, { 8 * 16667 }, 1, true, "the state fits only all devices together" },
		{ MILL_STRATEGY_AUTO, 0, 3, { 8 * 16667 - 1 }, 2, true, "the state is larger than all devices together" },
		{ MILL_STRATEGY_AUTO, 4, 2, { STATE_BYTES / 4 }, 4, false, "the state fits every device" },
		{ MILL_STRATEGY_AUTO, 4, 2, { STATE_BYTES / 8 }, 4, true, "the state fits only all devices together" },
		{ MILL_STRATEGY_AUTO, 4, 2, { STATE_BYTES / 8 - 1 }, 4, true, NULL },
		{ MILL_STRATEGY_P, 0, 2, { STATE_BYTES }, 1, false, "as asked for" },
		{ MILL_STRATEGY_P, 0, 2, { GIB, STATE_BYTES / 2 - 1 }, 3, false, "as asked for" },
		{ MILL_STRATEGY_P, 1, 2, { STATE_BYTES }, 1, false, "as asked for" },
		{ MILL_STRATEGY_P, 1, 2, { STATE_BYTES - 1 }, 1, false, NULL },
		{ MILL_STRATEGY_P, 5, 2, { STATE_BYTES }, 5, false, "as asked for" },
		{ MILL_STRATEGY_S, 0, 2, { STATE_BYTES }, 1, true, "as asked for" },
		{ MILL_STRATEGY_S, 0, 1, { STATE_BYTES }, 1, false, "as asked for" },
		{ MILL_STRATEGY_S, 5, 2, { STATE_BYTES / 10 }, 5, true, "as asked for" },
		{ MILL_STRATEGY_S, 5, 2, { STATE_BYTES / 10 - 1 }, 5, true, NULL },
		/* Bytes are multiples of 8: 97 vertices take as many as 98, and 96 more chunks than there can be. */
		{ MILL_STRATEGY_P, 0, 1, { 4 * 98 }, 1021, false, "as asked for" },
		{ MILL_STRATEGY_P, 0, 1, { 4 * 98 - 1 }, CHUNKS_MOST, false, NULL },
		{ MILL_STRATEGY_AUTO, 0, 2, { 8 }, CHUNKS_MOST, true, NULL },
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
		w.options.gts = (struct mill_gts){ .strategy = cases[i].strategy,
						   .chunks = cases[i].asked };
		for (u32 k = 0, last = 0; k < cases[i].n; k++) {
			last = k < DEVICES && cases[i].left[k] ? k : last;
			budget_init(&w.memory[k], beside + cases[i].left[last]);
		}
		room = room_of(&w);
		err = open_all(&w);
		if (room.chunks != cases[i].chunks || room.divided != cases[i].divided)
			fail_msg("case %zu: %u chunks, %s, are foreseen", i, room.chunks,
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

/*
 * What gts asks for suffices, and a byte less is refused: on one of the devices where each has all,
 * else on all of them, as parts follow budgets.
 */
static void test_least(void **state)
{
	(void)state;
	for (u32 k = 0; k < 216; k++) {
		u32 n = 1 + k % 3, vertices = (u32[]){ 1, 97, VERTICES, 1000003 }[k / 54];
		struct world w;
		u64 least;

		room_make(&w, &policy_gts, n);
		w.store.n_linked = vertices;
		w.store.codec = k % 2 ? PAGE_PACKED : PAGE_RAW;
		w.t.need.writable = k / 2 % 2 ? 8 : 4;
		w.options.gts.strategy =
			(enum mill_strategy[]){ MILL_STRATEGY_AUTO, MILL_STRATEGY_P,
						MILL_STRATEGY_S }[k / 3 % 3];
		w.options.gts.chunks = (u32[]){ 0, 1, 7 }[k / 9 % 3];
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

/* Devices of any sizes: where none has less than what is asked for, it suffices. */
static void test_unequal(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < repeats(600); seed++) {
		struct room room;
		struct world w;
		u64 i = 0;

		room_make(&w, &policy_gts, 2 + (u32)below(seed, &i, 2));
		w.store.n_linked = 1 + below(seed, &i, 3 * VERTICES);
		w.options.gts.strategy =
			(enum mill_strategy[]){ MILL_STRATEGY_AUTO, MILL_STRATEGY_P,
						MILL_STRATEGY_S }[below(seed, &i, 3)];
		w.options.gts.chunks = (u32[]){ 0, 1, 2, 9 }[below(seed, &i, 4)];
		set_limits(&w, room_of(&w).device);
		for (u32 k = 0; k < w.t.n_devices; k++)
			w.memory[k].limit +=
				below(seed, &i, 4) * below(seed, &i, 4) * below(seed, &i, 200000);
		room = room_of(&w);
		for (u32 k = 0; k < w.t.n_devices; k++)
			w.memory[k].limit = max_u64(w.memory[k].limit, room.device);
		room = room_of(&w);
		for (u32 k = 0; k < w.t.n_devices; k++)
			if (w.memory[k].limit < room.device)
				goto next; /* the smallest grew and with it what it would get */
		if (open_all(&w))
			fail_msg("seed %llu: %s", (unsigned long long)seed, mill_error());
		assert_int_equal(w.t.chunks, room.chunks);
		assert_int_equal(w.t.divided, room.divided);
		close_all(&w);
next:;
	}
}

/*
 * As many slots are foreseen as there are, but where so few fit that queues are given up for them.
 */
static void test_slots(void **state)
{
	(void)state;
	for (u32 k = 0; k < 160; k++) {
		struct room room;
		struct world w;

		room_make(&w, &policy_gts, 1);
		w.store.codec = k % 2 ? PAGE_PACKED : PAGE_RAW;
		w.options.gts.chunks = 1;
		w.options.gts.device_cache = (u64[]){ 0, MILL_SIZE_NONE, 5 * PAGE, GIB }[k / 2 % 4];
		set_limits(&w, room_of(&w).device + (u64)(4 + k / 8) * 3 * PAGE + 4096);
		room = room_of(&w);
		OK(open_all(&w));
		if (min_u64(room.slots, 60) != residency_most(w.t.station[0].residency) ||
		    room.areas != w.t.station[0].n_areas)
			fail_msg("%u: %llu slots and %llu areas are foreseen, there are %u and %u",
				 k, (unsigned long long)room.slots, (unsigned long long)room.areas,
				 residency_most(w.t.station[0].residency), w.t.station[0].n_areas);
		close_all(&w);
	}
}

/* Partitions of so many whole pages: the tables, and slots to the byte. */
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

/* What graphie and pages ask for suffices. */
static void test_enough(void **state)
{
	(void)state;
	for (u32 k = 0; k < 144; k++) {
		struct world w;

		room_make(&w, k % 2 ? &policy_graphie : &policy_lru, 1);
		w.store.codec = k / 2 % 2 ? PAGE_PACKED : PAGE_RAW;
		w.store.weight = k / 4 % 2 ? MILL_WEIGHT_U32 : MILL_WEIGHT_NONE;
		w.t.need.weights = k / 4 % 2;
		w.t.need.advances = k / 8 % 2;
		w.t.need.edge_scratch = k % 2 ? 0 : 4 * (k / 4 % 2);
		w.options.graphie.wire = (enum mill_wire[]){ MILL_WIRE_AUTO, MILL_WIRE_CSR,
							     MILL_WIRE_PACKED }[k / 16 % 3];
		w.options.graphie.partition_size =
			(1 + k / 48) * 2 *
			PAGE; /* no page is cut: that would take a look into it */
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
