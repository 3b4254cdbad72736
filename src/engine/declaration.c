/* SPDX-License-Identifier: Apache-2.0 */
/* Declared items: for each kind the bytes that it takes, and how it is made. */
#include "engine/declaration.h"

#include <assert.h>

#include "engine/edge_state.h"
#include "engine/number.h"
#include "engine/sources.h"

/* ---- Items ---- */

void declare_item(struct declaration *d, struct declared item)
{
	assert(d->n < DECLARED_MOST);
	d->item[d->n++] = item;
}

static void state_bytes_of(const struct declaration *d, const struct declared *x, struct need *n)
{
	(void)d;
	n->state += x->n * x->size;
}

static mill_err make_state(struct mill_run *r, const struct declared *x)
{
	return run_vec(r, x->out, x->name, x->n, x->size, x->fill);
}

void declare_vec(struct declaration *d, struct vec **out, const char *name, u64 n, u32 size,
		 const void *fill)
{
	declare_item(d, (struct declared){ state_bytes_of, make_state, out, name, fill, .n = n,
					   .size = size });
	d->saved += n * size;
}

void declare_state(struct declaration *d, struct vec **out, const char *name, u32 size,
		   const void *fill)
{
	declare_vec(d, out, name, d->run->store->n_linked, size, fill);
}

static void edge_state_bytes_of(const struct declaration *d, const struct declared *x,
				struct need *n)
{
	u64 bytes = numbers_most(d->run->store) * x->size;

	if (!(x->flags & BESIDE) || !run_is_native(d->run)) {
		n->state += bytes;
		return;
	}
	n->by_edge += bytes;
	n->by_edge_size += x->size;
}

static mill_err make_edge_state(struct mill_run *r, const struct declared *x)
{
	return run_edge_state(r, x->out, x->name, x->size, x->fill, x->flags & BESIDE);
}

void declare_edge_state(struct declaration *d, struct vec **out, const char *name, u32 size,
			const void *fill, u32 flags)
{
	declare_item(d, (struct declared){ edge_state_bytes_of, make_edge_state, out, name, fill,
					   .size = size, .flags = flags });
	d->need.numbers |= 1 << NUMBERS_OWNED;
	d->saved += numbers_most(d->run->store) * size;
}

static mill_err make_divisors(struct mill_run *r, const struct declared *x)
{
	struct vec **out = x->out;

	TRY(make_state(r, x));
	return run_divisors(r, *out);
}

void declare_divisors(struct declaration *d, struct vec **out)
{
	declare_item(d, (struct declared){ state_bytes_of, make_divisors, out, "degree",
					   .n = d->run->store->n_linked, .size = sizeof(u32),
					   .flags = EARLY });
}

static void host_bytes_of(const struct declaration *d, const struct declared *x, struct need *n)
{
	(void)d;
	n->host += x->n * x->size;
}

static mill_err make_host(struct mill_run *r, const struct declared *x)
{
	return run_vec_host(r, x->out, x->name, x->n, x->size);
}

void declare_host(struct declaration *d, struct vec **out, const char *name, u64 n, u32 size)
{
	declare_item(d, (struct declared){ host_bytes_of, make_host, out, name, .n = n,
					   .size = size });
	d->saved += n * size;
}

void declare_loop(struct declaration *d, void *scalars, u64 bytes)
{
	declare_item(d, (struct declared){ .out = scalars, .name = "loop", .n = bytes });
	d->saved += bytes;
}

static void frontier_bytes_of(const struct declaration *d, const struct declared *x, struct need *n)
{
	const struct store *st = d->run->store;

	if (n->own) {
		/* A view can have more pages. */
		n->host += (n->view ? 4 : 1) * run_flags_bytes(st);
		return;
	}
	n->state += frontier_bytes(st->n_linked, x->size);
	n->host += frontier_host_bytes(st->n_linked);
	n->advances = true;
}

static mill_err make_frontier(struct mill_run *r, const struct declared *x)
{
	return r->need.own ? run_unit_frontier(r, x->out) : run_frontier(r, x->out, x->size);
}

void declare_frontier(struct declaration *d, struct frontier **out, u32 buckets)
{
	declare_item(d, (struct declared){ frontier_bytes_of, make_frontier, out,
					   .size = buckets });
	d->saved += frontier_bytes(d->run->store->n_linked, buckets);
}

static void edge_frontier_bytes_of(const struct declaration *d, const struct declared *x,
				   struct need *n)
{
	(void)x;
	n->state += edge_frontier_bytes(d->run->store, n->view);
	n->host += edge_frontier_host_bytes(d->run->store, n->view);
}

static mill_err make_edge_frontier(struct mill_run *r, const struct declared *x)
{
	return run_edge_frontier(r, x->out, x->flags & OVER_IN);
}

void declare_edge_frontier(struct declaration *d, struct edge_frontier **out, bool in)
{
	declare_item(d, (struct declared){ edge_frontier_bytes_of, make_edge_frontier, out,
					   .flags = EARLY | (in ? OVER_IN : 0) });
	d->saved += edge_frontier_bytes(d->run->store, d->need.view);
}

static mill_err make_program(struct mill_run *r, const struct declared *x)
{
	if (r->need.own && x->flags & MAIN && r->policy->home == HOME_TWIN)
		TRY(transfer_prepare(&r->transfer, &x->forms->path->direct.source));
	if (r->need.own && x->flags & MAIN)
		return transfer_prepare(&r->transfer, &r->policy->takes(x->forms)->source);
	return device_prepare(r->device, &x->program->source);
}

void declare_program(struct declaration *d, const struct program *p, const struct own_forms *forms,
		     u32 flags)
{
	if (p->numbers)
		d->need.numbers |= (u8)(1 << p->numbers);
	declare_item(d, (struct declared){ NULL, make_program, .program = p, .forms = forms,
					   .flags = flags | EARLY });
}

/* ---- Bytes, directions, sources ---- */

void declare_bytes(struct declaration *d, u64 state, u64 host)
{
	d->need.state += state;
	d->need.host += host;
}

void declare_check(struct declaration *d, u64 host)
{
	if (d->run->options.check)
		d->need.host += host;
}

mill_err declare_direction(struct declaration *d, bool in)
{
	const struct store *st = d->run->store;

	if (in && !st->has_in)
		return fail(MILL_EUSAGE,
			    "%s reads in-edges, which %s lacks: import it without --out-only",
			    d->need.algorithm, st->path);
	*(in ? &d->need.in : &d->need.out) = true;
	return MILL_OK;
}

mill_err declare_view(struct declaration *d, enum view view, const char *what)
{
	return view_need(d->run->store, view, what, &d->need);
}

mill_err declare_source(struct declaration *d, const char *text, vid *out)
{
	return d->plans ? MILL_OK : run_source(d->run, text, out);
}

mill_err declare_sources(struct declaration *d, const char *text)
{
	TRY(sources_count(d->run, text, &d->need.searches));
	d->need.host += sources_bytes(d->run->store, d->need.searches);
	return d->plans ? MILL_OK : run_sources(d->run, text);
}

void declare_rounds(struct declaration *d, u64 rounds, f64 tolerance, f64 damping)
{
	d->need.rounds = rounds;
	d->need.tolerance = tolerance;
	d->need.damping = damping;
}

/* ---- The complete declaration ---- */

bool declared_taken(const struct declaration *d, const struct own_forms *forms)
{
	const struct mill_run *r = d->run;

	return r->n_opened && r->policy->takes && forms && r->policy->takes(forms);
}

/*
 * Returns true if the policy takes every main program, and there is at least one. A
 * policy's units have no edge numbers, so it owns no run that needs them.
 */
static bool owns(const struct declaration *d)
{
	u32 n = 0;

	if (d->need.numbers)
		return false;
	for (u32 i = 0; i < d->n; i++) {
		const struct declared *x = &d->item[i];

		if (!(x->flags & MAIN))
			continue;
		if (!declared_taken(d, x->forms))
			return false;
		n++;
	}
	return n;
}

void declaration_init(struct declaration *d, struct mill_run *r, const char *algorithm, bool plans)
{
	d->run = r;
	d->plans = plans;
	d->need = (struct need){ .algorithm = algorithm };
	d->saved = 0;
	d->n = 0;
}

mill_err declaration_end(struct declaration *d)
{
	const struct mill_run *r = d->run;

	d->need.own = owns(d);
	if (!d->need.own && r->n_opened && r->policy->only_own)
		return fail(MILL_EUSAGE, "--policy %s has no kernels for %s: choose another policy",
			    r->policy->public.name, d->need.algorithm);
	for (u32 i = 0; i < d->n; i++)
		if (d->item[i].bytes)
			d->item[i].bytes(d, &d->item[i], &d->need);
	return numbers_need(r, &d->need);
}

mill_err declaration_make(const struct declaration *d)
{
	for (u32 early = EARLY;; early = 0) {
		for (u32 i = 0; i < d->n; i++) {
			const struct declared *x = &d->item[i];

			if (x->make && !(x->flags & SELDOM) && (x->flags & EARLY) == early)
				TRY(x->make(d->run, x));
		}
		if (!early)
			return MILL_OK;
		run_start(d->run);
	}
}
