/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PageRank by pulling, Jacobi: every iteration sees only the scores of the one before, so that
 * the bits do not depend on threads, budget or page size. Dangling mass goes where jumps go. Asynchronous runs
 * keep one array of shares (Gauss-Seidel): about half the passes, and bits that depend on who came first.
 */
#include "algo/pagerank.h"

#include <string.h>

#include "algo/algo.h"
#include "base/sort.h"
#include "device/dialect.h"
#include "engine/result.h"
#include "store/names.h"

#define PROGRAM pagerank_f32
#define VALUE f32
#include "algo/pagerank.op.h"
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define SUM sum_f32
#define SPREAD 1
#define COUNTS 2
#define GIVEN share
#include "op/reduce.inc"
#define PROGRAM pagerank_f32
#define VALUE f32
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define VERTEX pagerank_f32_first
#include "op/compute.inc"
#define PROGRAM pagerank_f32
#define VALUE f32
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define VERTEX pagerank_f32_mass
#include "op/compute.inc"
#define PROGRAM pagerank_f32
#define VALUE f32
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define VERTEX pagerank_f32_fill
#include "op/compute.inc"

#define PROGRAM pagerank_f32_at_once
#define VALUE f32
#define IN_PLACE 1
#include "algo/pagerank.op.h"
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define SUM sum_f32
#define SPREAD 1
#define COUNTS 3
#define IN_PLACE 1
#define PREFETCH share
#include "op/reduce.inc"
#define PROGRAM pagerank_f32_at_once
#define VALUE f32
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#include "op/scan.inc"
#undef VALUE

#define PROGRAM pagerank_f64
#define VALUE f64
#include "algo/pagerank.op.h"
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define SUM sum_f64
#define SPREAD 1
#define COUNTS 2
#define GIVEN share
#include "op/reduce.inc"
#define PROGRAM pagerank_f64
#define VALUE f64
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define VERTEX pagerank_f64_first
#include "op/compute.inc"
#define PROGRAM pagerank_f64
#define VALUE f64
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define VERTEX pagerank_f64_mass
#include "op/compute.inc"
#define PROGRAM pagerank_f64
#define VALUE f64
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define VERTEX pagerank_f64_fill
#include "op/compute.inc"

#define PROGRAM pagerank_f64_at_once
#define VALUE f64
#define IN_PLACE 1
#include "algo/pagerank.op.h"
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define SUM sum_f64
#define SPREAD 1
#define COUNTS 3
#define IN_PLACE 1
#define PREFETCH share
#include "op/reduce.inc"
#define PROGRAM pagerank_f64_at_once
#define VALUE f64
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#include "op/scan.inc"
#undef VALUE

#define PROGRAM pagerank_fixed
#define VALUE u64
#include "algo/pagerank.op.h"
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define SUM sum_u64
#define SPREAD 1
#define COUNTS 2
#define GIVEN share
#include "op/reduce.inc"
#define PROGRAM pagerank_fixed
#define VALUE u64
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define VERTEX pagerank_fixed_first
#include "op/compute.inc"
#define PROGRAM pagerank_fixed
#define VALUE u64
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define VERTEX pagerank_fixed_mass
#include "op/compute.inc"

/* A precision: its programs, and how its numbers are made. */
static const struct kind {
	const struct reduce_program *reduce, *at_once;	/* at_once, find_loops, fill: asynchronous; NULL: cannot be */
	const struct scan_program *find_loops;
	const struct compute_program *first, *mass, *fill;
	u32 size;
	u32 sum_size;
	enum mill_type type;
	f64 scale;	/* of a score on its way out; 0: it is a float */
} kinds[] = {
	[MILL_F32] = { &pagerank_f32_reduce, &pagerank_f32_at_once_reduce, &pagerank_f32_at_once_scan, &pagerank_f32_first_compute,
		       &pagerank_f32_mass_compute, &pagerank_f32_fill_compute,
		       sizeof(f32), sizeof(f64), MILL_TYPE_F32, 0 },
	[MILL_F64] = { &pagerank_f64_reduce, &pagerank_f64_at_once_reduce, &pagerank_f64_at_once_scan, &pagerank_f64_first_compute,
		       &pagerank_f64_mass_compute, &pagerank_f64_fill_compute,
		       sizeof(f64), sizeof(f64), MILL_TYPE_F64, 0 },
	[MILL_EXACT] = { &pagerank_fixed_reduce, NULL, NULL, &pagerank_fixed_first_compute, &pagerank_fixed_mass_compute, NULL,
			 sizeof(u64), sizeof(u64), MILL_TYPE_F64, 1 / (f64)FIXED_ONE },
};

/* One argument struct per precision: the layouts differ in the scalars. */
union args {
	struct pagerank_f32_args f32;
	struct pagerank_f64_args f64;
	struct pagerank_fixed_args fixed;
};

/* A number in the kind's own form. */
union number {
	f32 f32;
	f64 f64;
	u64 u64;
};

static union number number_of(enum mill_precision p, f64 x)
{
	if (p == MILL_F32)
		return (union number){ .f32 = (f32)x };
	if (p == MILL_F64)
		return (union number){ .f64 = x };
	return (union number){ .u64 = (u64)(x * (f64)FIXED_ONE) };
}

/* A factor of at most 1 in units of 2^-64. */
static u64 fixed_factor(f64 x) { return x >= 1 ? UINT64_MAX : (u64)(x * 0x1p64); }

static enum mill_precision precision_of(const struct mill_pagerank *how)
{
	return how ? how->precision : MILL_F32;
}

static u32 most_iterations(const struct mill_pagerank *how) { return how && how->iterations ? how->iterations : 100; }
static f64 tolerance_of(const struct mill_pagerank *how) { return !how || how->tolerance < 0 ? 1e-6 : how->tolerance; }
static f64 damping_of(const struct mill_pagerank *how) { return how && how->damping > 0 ? how->damping : 0.85; }

mill_err pagerank_need(const struct mill_run *r, const struct mill_pagerank *how, struct need *out)
{
	const struct kind *k = &kinds[precision_of(how)];
	const struct store *st = r->store;
	u64 n = st->connected;

	if (!st->has_in)
		return fail(MILL_EUSAGE, "pagerank reads in-edges, which %s lacks: import it without --out-only",
			    st->path);
	if (r->options.async && !k->at_once)
		return fail(MILL_EUSAGE, "exact scores have their steps: leave --exact or --async out");
	*out = (struct need){
		.state = n * ((r->options.async ? 2 + (st->self_loops > 0) : 3) * k->size + sizeof(u32)) +
			 (how && how->personalize ? n * k->size : 0) + reducer_bytes(st, true, k->sum_size) + computer_bytes(st),
		.host = r->options.check ? pagerank_check_bytes(st) : 0,
		.in = !run_owns_sums(r),
		.out = run_owns_sums(r),
		.own = run_owns_sums(r),
		.spread = k->size,
		.rounds = most_iterations(how),
		.tolerance = tolerance_of(how),
		.damping = damping_of(how),
	};
	if (out->own)
		reducer_join_need(r, out, k->size);
	return MILL_OK;
}

/* ---- Personalisation ---- */

/*
 * Vertices to which nothing leads have one of two scores, as they are chosen or not. For isolated ones that is all there
 * is; `dangling` counts those without out-edges, isolated or not.
 */
struct still {
	u64 isolated, dangling;
	union number teleport, score;
};

struct ranking {
	enum mill_precision precision;
	f64 damping;
	struct vec *score, *share, *next, *teleport, *loop, *degree;
	struct still still[2];	/* chosen: [1] */
};

/* Whom the user names: those with edges by their bits, the others in a list. */
struct persons {
	const struct store *store;
	u64 *bits;
	u64 *isolated;		/* NULL while they are counted */
	u64 n_isolated;
};

static mill_err add_person(void *arg, vid v)
{
	struct persons *p = arg;

	if (v < p->store->connected)
		bitmap_put(p->bits, v);
	else if (p->isolated)
		p->isolated[p->n_isolated++] = v;
	else
		p->n_isolated++;
	return MILL_OK;
}

/* Lists the isolated ones, each once, for the result. */
static mill_err list_isolated(struct mill_run *r, const char *who, struct persons *p)
{
	struct vec *list;
	u64 n = 0;

	TRY(run_vec_host(r, &list, "isolated vertices", p->n_isolated, sizeof(u64)));
	p->isolated = list->buffer.host;
	p->n_isolated = 0;
	TRY(each_vertex(r, who, "--personalize", add_person, p));
	TRY(sort_u64(r->pool, &r->budget, p->isolated, NULL, p->n_isolated, 64));
	for (u64 i = 0; i < p->n_isolated; i++)
		if (!i || p->isolated[i] != p->isolated[i - 1])
			p->isolated[n++] = p->isolated[i];
	p->n_isolated = n;
	r->result.chosen = p->isolated;
	r->result.n_chosen = n;
	return MILL_OK;
}

static mill_err find_persons(struct mill_run *r, const char *who, struct persons *p)
{
	TRY(each_vertex(r, who, "--personalize", add_person, p));
	return p->n_isolated ? list_isolated(r, who, p) : MILL_OK;
}

/* teleport[v]: the chosen vertices share 1 equally. */
static mill_err personalize(struct mill_run *r, struct ranking *g, const char *who)
{
	struct persons p = { .store = r->store };
	struct still *chosen = &g->still[1], *other = &g->still[0];
	u64 n = r->store->connected, with_edges;
	mill_err err;

	TRY(run_vec(r, &g->teleport, "teleport", n, kinds[g->precision].size, NULL));
	TRY(memory_new(&p.bits, &r->budget, bitmap_words(n), sizeof(u64), "the personalisation"));
	err = find_persons(r, who, &p);
	with_edges = err ? 0 : bitmap_count(p.bits, 0, n);
	if (!err && !with_edges && !p.n_isolated)
		err = fail(MILL_EUSAGE, "%s names no vertex to personalize for", who + 1);
	chosen->isolated = p.n_isolated;
	chosen->dangling = p.n_isolated + bitmap_count(p.bits, r->store->sources, n);
	other->isolated -= chosen->isolated;
	other->dangling -= chosen->dangling;
	chosen->teleport = number_of(g->precision, 1 / (f64)max_u64(with_edges + p.n_isolated, 1));
	for (u64 v = 0; !err && v < n; v++)
		if (bitmap_get(p.bits, v))
			err = vec_set(g->teleport, v, &chosen->teleport);
	memory_free(p.bits);
	return err;
}

/* ---- The iteration ---- */

static mill_err load_degrees(struct mill_run *r, struct vec **out)
{
	const struct store *st = r->store;
	u32 *degree;
	mill_err err;

	TRY(run_vec(r, out, "degree", st->connected, sizeof(u32), NULL));
	TRY(vec_map(r, *out, &degree));
	err = store_read(st, STORE_OUT_DEGREES, degree, st->sources * sizeof(u32), 0);
	for (u64 v = st->sources; v < st->connected; v++)
		degree[v] = 1;
	/* A hostile store must not make us divide by zero. */
	for (u64 v = 0; !err && v < st->sources; v++)
		if (!degree[v])
			err = fail(MILL_ECORRUPT, "%s: vertex %llu is a source without out-edges", st->path,
				   (unsigned long long)v);
	if (!err && !r->device->native)
		err = device_write(&(*out)->buffer, 0, degree, (*out)->buffer.size);
	vec_unmap(*out, degree);
	return err;
}

/* The arguments of a pass in which vertices jump with `jump` in all, dangling mass included. */
static union args arguments(const struct mill_run *r, const struct ranking *g, f64 damping, f64 jump)
{
	f64 each = jump / (f64)max_u64(r->store->vertices, 1);
	u32 sources = (u32)r->store->sources;
	union args a;

#define ARRAYS .score = g->score, .share = g->share, .next = g->next, .teleport = g->teleport, \
	       .loop = g->loop, .degree = g->degree, .sources = sources, .personal = g->teleport != NULL, .loops = g->loop != NULL
	if (g->precision == MILL_F32)
		a.f32 = (struct pagerank_f32_args){ ARRAYS, .damping = damping, .base = each, .jump = jump };
	else if (g->precision == MILL_F64)
		a.f64 = (struct pagerank_f64_args){ ARRAYS, .damping = damping, .base = each, .jump = jump };
	else
		a.fixed = (struct pagerank_fixed_args){ ARRAYS,
							.damping = fixed_factor(damping),
							.base = number_of(MILL_EXACT, each).u64,
							.jump = fixed_factor(jump) };
#undef ARRAYS
	return a;
}

static void swap_shares(struct ranking *g)
{
	struct vec *share = g->share;

	g->share = g->next;
	g->next = share;
}

/* A score or teleport as a real number. */
static f64 real_of(enum mill_precision p, union number x)
{
	return p == MILL_F32 ? (f64)x.f32 : p == MILL_F64 ? x.f64 : (f64)x.u64 * kinds[MILL_EXACT].scale;
}

static f64 isolated_mass(const struct ranking *g)
{
	f64 sum = 0;

	for (u32 i = 0; i < 2; i++)
		sum += (f64)g->still[i].isolated * real_of(g->precision, g->still[i].score);
	return sum;
}

static mill_err fill_up(struct mill_run *r, struct ranking *g)
{
	const struct kind *k = &kinds[g->precision];
	union args a = arguments(r, g, 1, 1);
	f64 sum, lacks;

	TRY(op_compute(r, k->mass, &a, 0, r->store->connected, &sum));
	sum += isolated_mass(g);
	lacks = sum > 0 ? 1 / sum : 1;
	for (u32 i = 0; i < 2; i++)
		g->still[i].score = number_of(g->precision, real_of(g->precision, g->still[i].score) * lacks);
	a = arguments(r, g, lacks, 1);
	return op_compute(r, k->fill, &a, 0, r->store->connected, &sum);
}

/* What apply does, at a vertex of one kind to which nothing leads. */
static void settle_still(const struct ranking *g, const union args *a, struct still *x, u64 *count)
{
#define STATE_OF(kind) ((struct pagerank_##kind){ .base = a->kind.base, .jump = a->kind.jump, .personal = a->kind.personal })
	if (g->precision == MILL_F32)
		x->score.f32 = pagerank_f32_alone(STATE_OF(f32), x->teleport.f32, x->score.f32, count);
	else if (g->precision == MILL_F64)
		x->score.f64 = pagerank_f64_alone(STATE_OF(f64), x->teleport.f64, x->score.f64, count);
	else
		x->score.u64 = pagerank_fixed_alone(STATE_OF(fixed), x->teleport.u64, x->score.u64, count);
#undef STATE_OF
}

/* The first scores; says what is dangling. */
static mill_err begin_scores(struct mill_run *r, struct ranking *g, f64 *dangling)
{
	union args a = arguments(r, g, 0, 1);
	u64 mass = 0;
	f64 none;

	for (u32 i = 0; i < 2; i++) {
		u64 count[2];

		settle_still(g, &a, &g->still[i], count);
		mass += g->still[i].dangling * count[1];
	}
	*dangling = (f64)mass / (f64)FIXED_ONE;
	return op_compute(r, kinds[g->precision].first, &a, 0, r->store->connected, &none);
}

/* One more; count: the change, what is dangling, and all there is if it is asynchronous. */
static mill_err next_scores(struct mill_run *r, struct ranking *g, struct reducer *reducer, f64 jump, u64 *count)
{
	union args a = arguments(r, g, g->damping, jump);

	TRY(op_reduce(r, reducer, &a, count));
	for (u32 i = 0; i < 2; i++) {
		u64 one[2];

		settle_still(g, &a, &g->still[i], one);
		count[0] += g->still[i].isolated * one[0];
		count[1] += g->still[i].isolated * one[1];
		count[2] += g->still[i].isolated * one[1];
	}
	return MILL_OK;
}

static mill_err make_state(struct mill_run *r, struct ranking *g)
{
	u64 n = r->store->connected;
	u32 size = kinds[g->precision].size;

	TRY(run_vec(r, &g->score, "score", n, size, NULL));
	TRY(run_vec(r, &g->share, "share", n, size, NULL));
	g->next = g->share;
	if (!r->options.async)
		return run_vec(r, &g->next, "next share", n, size, NULL);
	return r->store->self_loops ? run_vec(r, &g->loop, "self-loops", n, size, NULL) : MILL_OK;
}

static mill_err iterate(struct mill_run *r, struct ranking *g, const struct mill_pagerank *how,
			struct pagerank_settings *s)
{
	const struct kind *k = &kinds[g->precision];
	f64 tolerance = tolerance_of(how);
	u32 most = most_iterations(how);
	const struct reduce_program *reduce = r->options.async ? k->at_once : k->reduce;
	struct reducer *reducer;
	u64 count[3] = { 0 };
	f64 dangling, mass = 1;

	TRY(op_reducer(r, &reducer, reduce, true));
	TRY(device_prepare(r->device, &reduce->program.source));
	TRY(device_prepare(r->device, &k->first->program.source));
	TRY(device_prepare(r->device, &k->mass->program.source));
	run_start(r);
	TRY(make_state(r, g));
	if (g->loop) {
		union args a = arguments(r, g, g->damping, 1);

		TRY(op_scan(r, k->find_loops, &a, &(struct scan){ .in = true }, NULL));
	}
	TRY(begin_scores(r, g, &dangling));
	for (s->iterations = 0; s->iterations < most; s->iterations++) {
		if (s->iterations && s->change < tolerance)
			break;
		swap_shares(g);
		TRY(next_scores(r, g, reducer, (1 - g->damping) * mass + g->damping * dangling, count));
		s->change = (f64)count[0] / (f64)FIXED_ONE;
		dangling = (f64)count[1] / (f64)FIXED_ONE;
		/* In place mass is not kept: jumps share what there is, and the sum is made 1 at the end. */
		mass = r->options.async ? (f64)count[2] / (f64)FIXED_ONE : 1;
	}
	return r->options.async ? fill_up(r, g) : MILL_OK;
}

/* What the result and the certificate know of isolated vertices. */
static void tell_isolated(struct mill_run *r, const struct ranking *g, struct pagerank_settings *s)
{
	for (u32 i = 0; i < 2; i++) {
		s->isolated[i] = g->still[i].isolated;
		s->isolated_score[i] = real_of(g->precision, g->still[i].score);
		s->isolated_teleport[i] = real_of(g->precision, g->still[i].teleport);
	}
	memcpy(&r->result.column[0].isolated, &s->isolated_score[0], sizeof(u64));
	memcpy(&r->result.column[0].chosen, &s->isolated_score[1], sizeof(u64));
}

MILL_API mill_err mill_pagerank(mill_run *r, const struct mill_pagerank *how)
{
	struct ranking g = { .precision = precision_of(how), .damping = damping_of(how),
			     .still[0] = { .isolated = run_isolated(r),
					   .dangling = r->store->vertices - r->store->sources } };
	const struct kind *k = &kinds[g.precision];
	u64 n = r->store->connected;
	struct pagerank_settings *s;
	struct vec *settings;
	struct need need;
	union args a;
	f64 sum = 0;

	if (!(g.damping < 1))
		return fail(MILL_EUSAGE, "a damping of %g is not below 1", g.damping);
	TRY(pagerank_need(r, how, &need));
	TRY(run_begin(r, "pagerank", &need));
	TRY(load_degrees(r, &g.degree));
	if (how && how->personalize)
		TRY(personalize(r, &g, how->personalize));
	TRY(run_vec_host(r, &settings, "settings", 1, sizeof(*s)));
	s = settings->buffer.host;
	*s = (struct pagerank_settings){ .damping = g.damping, .precision = g.precision };
	TRY(iterate(r, &g, how, s));
	s->score = g.score;
	s->teleport = g.teleport;

	run_column(r, "score", k->type, g.score, 0, 0);
	r->result.column[0].scale = k->scale;
	tell_isolated(r, &g, s);
	TRY(run_end(r));
	r->ledger.edges_traversed = (u64)s->iterations * r->store->stored_edges;
	a = arguments(r, &g, g.damping, 1);
	TRY(op_compute(r, k->mass, &a, 0, n, &sum));
	run_fact_real(r, "sum", sum + isolated_mass(&g));
	run_fact_real(r, "change", s->change);
	TRY(result_top(r));
	r->result.settings = s;
	r->result.check = pagerank_check;
	return MILL_OK;
}
