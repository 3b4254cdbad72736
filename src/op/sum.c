/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions for runs in which the state's home is the host (GTS). A reduction is a join in
 * the other direction. Elsewhere op_reduce gathers values over in-edges; here sources add
 * these values along out-edges to sums of 64 bits on the devices, and apply follows on the
 * host. Pages in which no source gives a value do not cross, so a level of bc moves only the
 * pages of that level.
 *
 * Floats are added in any order, so the last bits of sums differ. Fixed point (--exact) has
 * the same bits on any number of devices and chunks.
 */
#include "op/sum.h"

#include <assert.h>
#include <string.h>

#include "op/op.h"

#define FIELDS SUM_FIELDS
#define SOURCE "op/sum.op.h"
#define WRITES sum
#define WEIGHTS ((const u32 *)seg->weight)
#define PROGRAM add_f32
#define VALUE f32
#define MERGE MERGE_ADD_F64
#include SOURCE
#include "op/edge.op.h"
#include "op/join.inc"
#undef PROGRAM
#undef VALUE

#define PROGRAM add_f64
#define VALUE f64
#include SOURCE
#include "op/join.inc"
#undef PROGRAM
#undef VALUE
#undef MERGE

#define PROGRAM add_u64
#define VALUE u64
#define MERGE MERGE_ADD_U64
#include SOURCE
#include "op/join.inc"
#include "op/undef.inc"

static const struct own_forms *add_forms(u32 given_size, bool real)
{
	static const struct own_forms f32_form = { .join = &add_f32_join },
				      f64_form = { .join = &add_f64_join },
				      u64_form = { .join = &add_u64_join };

	assert(given_size == sizeof(u64) || real);
	if (!real)
		return &u64_form;
	return given_size == sizeof(f32) ? &f32_form : &f64_form;
}

const struct own_forms *sum_forms(const struct reduce_program *p)
{
	return p->given_size ? add_forms(p->given_size, p->real) : NULL;
}

struct look_ctx {
	const struct pages *pages;
	const struct vec *given;
	u32 *active;
};

/* Marks the pages in which some source gives a value that is not 0: the others do not cross. */
static mill_err look_at_pages(void *arg, u64 begin, u64 end, unsigned worker)
{
	static const char nothing[4096];
	struct look_ctx *l = arg;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		const struct page_entry *e = &l->pages->entry[i];
		const char *at =
			(const char *)l->given->buffer.host + (u64)e->first_vertex * l->given->size;
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

mill_err sum_prepare(struct mill_run *r, u32 given_size, bool real)
{
	return transfer_prepare(&r->transfer, &add_forms(given_size, real)->join->program.source);
}

mill_err sum_given(struct mill_run *r, struct vec *given, struct vec *sum, bool real, bool in,
		   struct mill_step *step)
{
	const struct pages *pages = run_direction(r, in)->pages;
	struct add_f64_args a = { .sum = sum };	/* all instances have the same arguments */
	struct device_pass pass = { .activity.in = in,
				    .forms = add_forms(given->size, real),
				    .args = &a,
				    .given = given,
				    .sums = true };
	struct look_ctx l = { .pages = pages, .given = given };
	struct vec *active;

	TRY(vec_fetch(given));
	TRY(run_vec_host(r, &active, "pages that give", pages->n_pages + 1ull, sizeof(u32)));
	pass.activity.n = l.active = active->buffer.host;
	TRY(pool_for(r->pool, pages->n_pages, 16, look_at_pages, &l));
	TRY(transfer_pass(&r->transfer, &pass, step));
	run_vec_free(r, active);
	return MILL_OK;
}
