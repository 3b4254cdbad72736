/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans and room without a device: both are functions of numbers. A model of the driver, which
 * knows the unit in every slot, executes random plans. It checks that a unit which a plan does not
 * send is in its slot, that each unit with work is processed once on each station it goes to, and
 * that residency is correct afterwards. Inside a window the model delivers units in any order, or
 * in the order of the plan.
 */
#include "helpers.h"

#include <string.h>

#include "base/random.h"
#include "policy/policy.h"

#define UNITS 24u
#define STATIONS 3u

/* ---- The model ---- */

struct model {
	struct mill_options options;
	struct store store;
	struct page_entry entry[UNITS];
	struct pages pages;
	struct station station[STATIONS];
	struct move move[UNITS * (STATIONS + 1) + 1];
	u32 list[UNITS + 1];
	struct transfer t;
	u32 content[STATIONS][UNITS];	/* by slot: unit + 1 */
	u64 seed, n_drawn;
};

static u32 draw(struct model *m, u64 n) { return (u32)random_below(m->seed, m->n_drawn++, n); }

static void model_open(struct model *m, const struct policy *policy, u64 seed)
{
	struct residency_how how = { .n_units = { UNITS },
				     .entry = { m->entry },
				     .key = policy->device };

	*m = (struct model){ .seed = seed };
	m->pages = (struct pages){ .store = &m->store, .n_pages = UNITS, .entry = m->entry };
	for (u32 i = 0; i < UNITS; i++)
		m->entry[i] = (struct page_entry){ .n_rows = 1 + i % 3,
						   .n_edges = 9,
						   .first_vertex = 2 * i };
	m->t = (struct transfer){
		.policy = policy,
		.options = &m->options,
		.own = policy->takes,
		.wire = WIRE_STORED,
		.list = m->list,
		.station = m->station,
		.n_stations = 1,
		.units = { { .pages = &m->pages, .entry = m->entry, .n = UNITS } },
		.plan = { m->move, 0, ARRAY_LEN(m->move) },
	};
	if (policy->public.several) {
		m->t.n_stations += draw(m, STATIONS);
		m->t.divided = draw(m, 2);
	}
	for (u32 i = 0; i < m->t.n_stations; i++) {
		how.n_slots = 1 + draw(m, UNITS);
		/* Page policies have no slots for transit: every page stays. */
		how.most = policy->takes ? draw(m, how.n_slots + 1ull) : how.n_slots;
		how.lately = draw(m, how.n_slots);
		OK(residency_open(&m->station[i].residency, NULL, &how));
	}
}

static void model_close(struct model *m)
{
	for (u32 i = 0; i < m->t.n_stations; i++)
		residency_close(m->station[i].residency);
}

static u32 *slot_of(struct model *m, const struct move *v)
{
	assert_true(v->where && v->where <= m->t.n_stations);
	assert_true(v->slot < residency_slots(m->station[v->where - 1].residency));
	return &m->content[v->where - 1][v->slot];
}

/*
 * Executes the moves begin .. end - 1. Units in their slots are processed first. The others arrive
 * in the order of the plan, or in that order from a random move on, and then the moves before it.
 */
static void run_window(struct model *m, u32 begin, u32 end, bool in_order,
		       u32 done[STATIONS][UNITS])
{
	u32 n = end - begin, first = in_order ? 0 : draw(m, n);
	bool taken[STATIONS][UNITS] = { 0 };

	for (u32 k = begin; k < end; k++) {
		const struct move *v = &m->move[k];

		if ((v->flags & (MOVE_WORK | MOVE_IDLE)) == MOVE_WORK)
			done[v->where - 1][v->unit]++;
		if (v->flags & MOVE_SEND)
			continue;
		assert_int_equal(*slot_of(m, v), v->unit + 1);
		taken[v->where - 1][v->slot] = true;
	}
	for (u32 k = 0; k < n; k++) {
		const struct move *v = &m->move[begin + (first + k) % n];

		if (!(v->flags & MOVE_SEND))
			continue;
		if (!in_order && taken[v->where - 1][v->slot])
			fail_msg("seed %llu: slot %u is used twice in a window",
				 (unsigned long long)m->seed, v->slot);
		taken[v->where - 1][v->slot] = true;
		*slot_of(m, v) = v->unit + 1;
	}
}

/* Returns true if the unit must be processed: GTS needs no work in it. */
static bool takes_part(const struct model *m, const struct activity *a, u32 unit)
{
	return m->t.policy == &policy_gts ? plan_takes(&m->t, a, unit) : a->n[unit];
}

static void run_plan(struct model *m, const struct activity *a, bool in_order)
{
	u32 done[STATIONS][UNITS] = { 0 };

	for (u32 begin = 0, end; begin < m->t.plan.n; begin = end) {
		end = begin + 1;
		while (end < m->t.plan.n && !(m->move[end].flags & MOVE_BREAK))
			end++;
		run_window(m, begin, end, in_order, done);
	}
	for (u32 unit = 0; unit < UNITS; unit++) {
		u32 n = 0, want = m->t.divided ? m->t.n_stations : 1;

		for (u32 i = 0; i < m->t.n_stations; i++) {
			u32 slot = residency_find(m->station[i].residency, false, unit);

			assert_true(slot == RESIDENCY_NONE || m->content[i][slot] == unit + 1);
			n += done[i][unit];
		}
		assert_int_equal(n, takes_part(m, a, unit) ? want : 0);
	}
}

/* Runs six passes with random units; residency is cleared before some of them. */
static void run_passes(const struct policy *policy, bool in_order, u64 seed)
{
	struct model m;

	model_open(&m, policy, seed);
	m.options.gts.scan = (enum mill_scan)draw(&m, 2);
	for (u32 pass = 0; pass < 6; pass++) {
		u32 n[UNITS], some = draw(&m, 4);
		struct activity a = { .n = n };

		m.options.no_skip = !draw(&m, 4);
		for (u32 i = 0; i < UNITS; i++)
			n[i] = !some || draw(&m, 4) >= some;
		for (u32 i = 0; !draw(&m, 5) && i < m.t.n_stations; i++)
			residency_clear(m.station[i].residency);
		m.t.plan.n = 0;
		OK((policy->plan ? policy->plan : plan_pages)(&m.t.plan, &a, &m.t));
		run_plan(&m, &a, in_order);
	}
	model_close(&m);
}

/* ---- Plans ---- */

static void add_page(struct plan *out, const struct activity *a, struct transfer *t, u32 page)
{
	struct move m = { .unit = page, .where = 1, .wire = WIRE_STORED };

	if (plan_active(t, a, page))
		m.flags = MOVE_WORK;
	plan_place(&m, a->in, t);
	plan_add(out, m);
}

/*
 * Plans the pages on the device, then the others from the last to the first. The missing pages are
 * listed first, as each one may take the slot of a page that is there.
 */
static mill_err backwards(struct plan *out, const struct activity *a, struct transfer *t)
{
	struct residency *r = t->station[0].residency;
	u32 n_missing = 0;

	residency_begin(r);
	plan_window(t);
	for (u32 i = 0; i < t->units[a->in].n; i++) {
		if (!plan_takes(t, a, i))
			continue;
		if (residency_find(r, a->in, i) == RESIDENCY_NONE)
			t->list[n_missing++] = i;
		else
			add_page(out, a, t, i);
	}
	while (n_missing)
		add_page(out, a, t, t->list[--n_missing]);
	return MILL_OK;
}

static void test_windows(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < repeats(3000); seed++) {
		struct policy p = *policy_find(mill_policies()[seed % 5].name);

		p.plan = backwards;
		run_passes(&p, false, seed);
		run_passes(&policy_gts, false, seed);
	}
}

static void test_stream_order(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < repeats(3000); seed++)	/* five page policies and graphie */
		run_passes(policy_find(mill_policies()[seed % 6].name), true, seed);
}

/* ---- Room ---- */

/* GTS: a larger budget never gives more chunks; with one chunk it never gives fewer slots. */
static void test_room(void **state)
{
	struct budget memory[2];
	struct device device[2] = { { .memory = &memory[0], .n_queues = 4 },
				    { .memory = &memory[1], .n_queues = 4 } };
	struct need need = { .own = true, .writable = 8, .out = true };
	struct room least, room;
	struct model m;

	(void)state;
	model_open(&m, &policy_gts, 0);
	m.store = (struct store){ .page_size = 65536,
				  .codec = PAGE_RAW,
				  .n_linked = 1000000,
				  .out = m.pages,
				  .in = m.pages };
	m.t.store = m.t.graph = &m.store;
	for (u32 n = 1; n <= 2; n++) {
		u32 chunks = UINT32_MAX;
		u64 slots = 0;

		m.t.n_devices = n;
		m.t.device[0] = &device[0];
		m.t.device[1] = &device[1];
		budget_init(&memory[0], MIB);
		budget_init(&memory[1], MIB);
		transfer_room(&least, &m.t, &need);
		assert_true(least.device < MIB && least.host);
		for (u64 limit = least.device; limit < 16 * MIB; limit += 333333) {
			budget_init(&memory[0], limit);
			budget_init(&memory[1], limit);
			transfer_room(&room, &m.t, &need);
			assert_int_equal(room.device, least.device);
			assert_true(room.chunks >= 1 && room.chunks <= chunks && room.areas >= 1);
			assert_true(n > 1 || !room.divided);
			if (room.chunks == 1 && chunks == 1 && !room.divided)
				assert_true(room.slots >= slots);
			slots = room.chunks == 1 && !room.divided ? room.slots : 0;
			chunks = room.chunks;
		}
		assert_int_equal(chunks, 1);
		assert_int_equal(room.divided, false);
		assert_true(slots >= UNITS);
	}
	model_close(&m);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_windows),
	cmocka_unit_test(test_stream_order),
	cmocka_unit_test(test_room),
};

SUITE(plan, tests);
