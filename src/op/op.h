/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators: how a program meets the edges. Push or pull, list or bitmap, resident, streamed or
 * on a device are their choices, never the algorithm's.
 */
#ifndef OP_OP_H
#define OP_OP_H

#include "engine/declaration.h"
#include "op/program.h"

/* Where to go on from push to pull and back (Beamer's alpha and beta, or the factors of Gunrock's estimates) unless the options say. */
#define ADVANCE_DO_A 15
#define ADVANCE_DO_B 18
#define ESTIMATE_DO_A 0.001
#define ESTIMATE_DO_B 0.2

/*
 * How an advance decides, apart from it so that it can be tested. Gunrock's estimates (equations 3 and 4) of the edges of a frontier
 * of n_f vertices and of those of n_u that were never in one, in a graph of n vertices and m edges; and its rule of section 5.1.3.
 */
struct estimate {
	f64 m_f, m_u;
};
struct estimate advance_estimate(u64 n_f, u64 n_u, u64 n, u64 m);
enum mill_mapping advance_mapping(u64 n_rows, u64 n_edges, u64 n_f);

/* Declares a program of op_advance along out-edges, and with PULL also along in-edges, if the store has them. flags: MAIN or 0. */
void declare_advance(struct declaration *d, const struct advance_program *p, u32 flags);

/*
 * Gives the frontier's edges to the program; what it activates is the frontier afterwards. A frontier of units takes the kernels of the run's
 * policy: then all rows of the active units are looked at, and next come the units of vertices that changed.
 */
mill_err op_advance(struct mill_run *r, const struct advance_program *p, const void *args,
		    struct frontier *f);

/*
 * Splits what waits: the vertices of the next bucket that has any become the frontier, which must be empty; those settled meanwhile are forgotten. Their
 * keys are below f->piles.limit. Nothing is active afterwards if nothing waits. frontier_widths comes before the first.
 */
mill_err op_split(struct mill_run *r, const struct advance_program *p, const void *args, struct frontier *f);

/*
 * Reduces every vertex's in-neighbours (or out-neighbours) to what the program makes of them; vertices without a row
 * have empty lists. The reducer keeps what passes share: which lists span segments, and room for their block sums.
 * count: COUNTS numbers, what apply added to them.
 */
struct reducer;
mill_err op_reducer(struct mill_run *r, struct reducer **out, const struct reduce_program *p, bool in);
mill_err op_reduce(struct mill_run *r, struct reducer *red, const void *args, u64 *count);
/* Declares a reducer of out-edges, with OVER_IN of in-edges: error if the store lacks them. flags: MAIN, LISTS, SELDOM. */
mill_err declare_reducer(struct declaration *d, struct reducer **out, const struct reduce_program *p, u32 flags);

/*
 * The same for chosen vertices only: those of a host list without repeats, or of a frontier. The sums have the same
 * bits.
 */
mill_err op_reduce_list(struct mill_run *r, struct reducer *red, const void *args, const vid *list, u64 n,
			u64 *count);
mill_err op_reduce_front(struct mill_run *r, struct reducer *red, const void *args, struct frontier *f,
			 u64 *count);

/*
 * A neighbourhood reduction without a program, because what it counts has no fixed size: to[v] becomes what most of v's out-neighbours have
 * in `from`, of several the smallest; without neighbours it is from[v], and vertices without a row keep what `to` has. Both hold a u32 a
 * vertex, a value below store->n_linked. *changed: how many differ. The finder keeps what passes share; the view is declared before it.
 */
struct mode_finder;
mill_err op_mode(struct mill_run *r, struct mode_finder *m, const struct vec *from, const struct vec *to, u64 *changed);
void declare_mode(struct declaration *d, struct mode_finder **out);

/*
 * Filters: what the program does not keep leaves the frontier. What it keeps may change the state of other vertices, as
 * hooking does.
 */
mill_err op_filter(struct mill_run *r, const struct filter_program *p, const void *args, struct frontier *f);
void declare_filter(struct declaration *d, const struct filter_program *p);
mill_err op_filter_edges(struct mill_run *r, const struct filter_program *p, const void *args, struct edge_frontier *ef);
/* Advance to edges: the edges of the frontier (which stays, and leads along the same direction) that the program keeps become the active ones. */
mill_err op_expand(struct mill_run *r, const struct filter_program *p, const void *args, struct frontier *f,
		   struct edge_frontier *ef);
/*
 * The far ends of the active edges (which stay) become the frontier, each once. Then op_advance and op_expand lead on:
 * an advance from edges to vertices, or to edges.
 */
mill_err op_ends(struct mill_run *r, struct edge_frontier *ef, struct frontier *f);

/*
 * Calls the program at the edges of the rows for which its cond holds, without a frontier: what algorithms do that look
 * at all edges, or at a few of every list. *updates (may be NULL): how often `edge` was true.
 */
struct scan {
	bool in;		/* over in-edges */
	/* cond is false for many: pages of which no row is wanted are not read. It must not become true during a pass. */
	bool some;
	u64 from, count;	/* of each list only the edges at positions [from, from + count); 0: all after from */
};
mill_err op_scan(struct mill_run *r, const struct scan_program *p, const void *args, const struct scan *how,
		 u64 *updates);
void declare_scan(struct declaration *d, const struct scan_program *p);
/* Does another pass over the edges move nothing? Then several that each look at little are better than one at all. */
bool op_rescan_is_free(const struct mill_run *r);

/* Calls the program at vertices [begin, end) and sums what it returns, in a fixed order. */
mill_err op_compute(struct mill_run *r, const struct compute_program *p, const void *args, u64 begin,
		    u64 end, f64 *sum);
/* The same at the active vertices only, for programs with FRONT; not of a frontier of units, which has none. Blocks without any are not looked at. */
mill_err op_compute_front(struct mill_run *r, const struct compute_program *p, const void *args, struct frontier *f, f64 *sum);
/* The same at the active edges, for programs of edges (EDGE): pages without any are not read. */
mill_err op_compute_edges(struct mill_run *r, const struct compute_program *p, const void *args, struct edge_frontier *ef, f64 *sum);
void declare_compute(struct declaration *d, const struct compute_program *p, u32 flags);

#endif
