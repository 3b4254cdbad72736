/* SPDX-License-Identifier: Apache-2.0 */
/* GTS's two kinds of algorithms over pages that are streamed past the state: traversals level by level, and scans that sum. */
#include "op/join.h"

#include <assert.h>
#include <string.h>

#include "engine/fleet.h"
#include "op/op.h"

#define PROGRAM add_f32
#define VALUE f32
#include "op/sum.op.h"
#define FIELDS SUM_FIELDS
#define SOURCE "op/sum.op.h"
#define JOIN sum
#define MERGE MERGE_ADD_F64
#include "op/join.inc"
#undef PROGRAM
#undef VALUE

#define PROGRAM add_f64
#define VALUE f64
#include "op/sum.op.h"
#include "op/join.inc"
#undef PROGRAM
#undef VALUE
#undef MERGE

#define PROGRAM add_u64
#define VALUE u64
#include "op/sum.op.h"
#define MERGE MERGE_ADD_U64
#include "op/join.inc"

/* ---- Traversals ---- */

/* The page where the list begins that goes on at the head of this one. */
static u32 list_begin(const struct pages *p, u32 page)
{
	while (p->entry[page].skip && (--page, p->entry[page].n_rows == 1))
		;
	return page;
}

/* All pages of the list that begins as the last row of this one (LP_RANGE). */
static void activate_range(const struct rvt *rvt, u32 *active, u32 page)
{
	for (u32 k = 0; k <= rvt_range(rvt, page); k++)
		active[page + k] |= PAGE_OTHERS;
}

/*
 * A list of several pages is flagged where it ends, or begins where ids are addresses, as the first row there; all of its pages come. Says how
 * many pages do.
 */
static u64 spread_flags(const struct rvt *rvt, u32 *active)
{
	const struct pages *p = rvt->pages;
	u64 n = 0;

	for (u32 i = 0; i < p->n_pages; i++)
		if (active[i] & PAGE_HEAD && (p->entry[i].skip || p->entry[i].n_rows == 1))
			activate_range(rvt, active, list_begin(p, i));
	for (u32 i = 0; i < p->n_pages; i++)
		n += active[i] != 0;
	return n;
}

/* The pages of v's list, or all. */
static u64 activate_first(const struct rvt *rvt, u32 *active, const vid *first)
{
	const struct pages *p = rvt->pages;

	for (u32 i = 0; i < p->n_pages; i++)
		active[i] = first ? 0 : PAGE_OTHERS;
	if (first && *first < p->n_rows) {
		struct rid rid = rvt_rid(rvt, *first);

		active[rid.page] = PAGE_OTHERS;
		if (rid.slot + 1 == p->entry[rid.page].n_rows)
			activate_range(rvt, active, rid.page);
	}
	return spread_flags(rvt, active);
}

mill_err op_join_pages(struct mill_run *r, const struct join_program *p, const void *args, u32 *level, const vid *first)
{
	const struct rvt *rvt = fleet_rvt(r->fleet, false);
	const struct pages *pages = rvt->pages;
	struct join j = { .program = p, .args = args };
	u64 frontier = first ? 1 : pages->n_rows, n_active;
	struct vec *flags[2];

	fleet_forget(r->fleet);	/* what a run before, that did not end, left there */
	for (u32 i = 0; i < 2; i++)
		TRY(run_vec_host(r, &flags[i], "the next pages", pages->n_pages + 1ull, sizeof(u32)));
	n_active = activate_first(rvt, flags[0]->buffer.host, first);
	for (u32 turn = 0; n_active; turn = !turn) {
		struct mill_step step = { .frontier = frontier, .direction = "push" };
		f64 began = clock_now();

		j.active = flags[turn]->buffer.host;
		j.next = flags[!turn]->buffer.host;
		run_tell(r, "level %llu", r->ledger.total.step + 1);
		TRY(fleet_join(r->fleet, &j, &step));
		ledger_add(&r->ledger, &step, began);
		frontier = step.updates;
		n_active = spread_flags(rvt, j.next);
		if (level)
			++*level;
	}
	TRY(fleet_fetch(r->fleet));
	run_vec_free(r, flags[1]);
	run_vec_free(r, flags[0]);
	return MILL_OK;
}

/* ---- Sums ---- */

static const struct join_program *adding(u32 given_size, bool real)
{
	assert(given_size == sizeof(u64) || real);
	if (!real)
		return &add_u64_join;
	return given_size == sizeof(f32) ? &add_f32_join : &add_f64_join;
}

struct looking {
	const struct pages *pages;
	const struct vec *given;
	u32 *active;
};

/* A page none of whose sources gives anything need not pass. */
static mill_err look_at_pages(void *arg, u64 begin, u64 end, unsigned worker)
{
	static const char nothing[4096];
	struct looking *l = arg;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		const struct page_entry *e = &l->pages->entry[i];
		const char *at = (const char *)l->given->buffer.host + (u64)e->first_vertex * l->given->size;
		u64 left = (u64)e->n_rows * l->given->size, some;

		for (; left; left -= some, at += some) {
			some = min_u64(left, sizeof(nothing));
			if (memcmp(at, nothing, some))
				break;
		}
		l->active[i] = left != 0;
	}
	return MILL_OK;
}

mill_err join_prepare_sums(struct mill_run *r, u32 given_size, bool real)
{
	return fleet_prepare(r->fleet, &adding(given_size, real)->program.source);
}

mill_err join_sums(struct mill_run *r, const struct vec *given, struct vec *sum, bool real, bool in, struct mill_step *step)
{
	const struct pages *pages = run_direction(r, in)->pages;
	struct add_f64_args a = { .sum = sum };	/* all instances have the same */
	struct join j = { .program = adding(given->size, real), .args = &a, .in = in, .given = given, .sums = true };
	struct looking l = { .pages = pages, .given = given };
	struct vec *active;

	TRY(run_vec_host(r, &active, "pages that give", pages->n_pages + 1ull, sizeof(u32)));
	j.active = l.active = active->buffer.host;
	TRY(pool_for(r->pool, pages->n_pages, 16, look_at_pages, &l));
	TRY(fleet_join(r->fleet, &j, step));
	run_vec_free(r, active);
	return MILL_OK;
}
