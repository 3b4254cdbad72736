/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators: how a program meets the edges. The operator chooses push or pull, list or bitmap,
 * resident, streamed or device. Algorithms never see these choices.
 *
 * A program is written once, in the dialect of device/dialect.h, and instantiated by including a
 * template. Its state is one list of fields, X_FIELDS(ARRAY, SCALAR). Four things come from that
 * list: the struct that the program's functions take by value, the host's argument struct (of
 * `struct vec *`, wherever the vector lives), the kernels' parameters, and the table that binds
 * them. The header of the operator's template says what a program must give and may define:
 *
 *	all				edge.op.h	value, relax, idle, edge, s.shared
 *	op_advance, op_split		advance.inc	from a frontier along its edges
 *	op_scan				scan.inc	all edges, without a frontier
 *	op_filter, op_filter_edges,	filter.inc	what stays in a frontier
 *	op_expand, op_ends
 *	op_reduce and its variants	reduce.inc	a value from each vertex's neighbours
 *	op_mode				mode.c		the most frequent value among the neighbours
 *	op_intersect			intersect.inc	common neighbours (declared in intersect.h)
 *	op_compute and its variants	compute.inc	each vertex or edge by itself, with a sum
 *
 * The .inc file of an operator is its native code, the .cl file its kernels. The .c file chooses
 * between them, launches them and counts. program.inc makes several operators of one program.
 */
#ifndef OP_OP_H
#define OP_OP_H

#include "engine/declaration.h"
#include "op/program.h"

/*
 * The defaults of do_a and do_b, which decide when an advance changes from push to pull and back:
 * Beamer's alpha and beta (ADVANCE_), or the factors of Gunrock's estimates (ESTIMATE_).
 */
#define ADVANCE_DO_A 15
#define ADVANCE_DO_B 18
#define ESTIMATE_DO_A 0.001
#define ESTIMATE_DO_B 0.2

/*
 * The decisions of an advance, separate from it so that they can be tested.
 *
 * Returns Gunrock's estimates (equations 3 and 4) for a graph of n vertices and m edges. m_f: the
 * number of edges of a frontier of n_f vertices. m_u: the number of edges of the n_u vertices that
 * were in no frontier yet.
 */
struct estimate {
	f64 m_f, m_u;
};
struct estimate advance_estimate(u64 n_f, u64 n_u, u64 n, u64 m);
/* Returns the mapping that Gunrock's rule (section 5.1.3) chooses for n_f active vertices. */
enum mill_mapping advance_mapping(u64 n_rows, u64 n_edges, u64 n_f);

/*
 * Declares a program of op_advance along out-edges. With PULL it also reads in-edges, if the store
 * has them. flags: MAIN or 0.
 */
void declare_advance(struct declaration *d, const struct advance_program *p, u32 flags);

/*
 * Gives the frontier's edges to the program. The vertices that the program activates are the
 * frontier afterwards. A frontier of units runs the kernels of the run's policy: they look at all
 * rows of the active units, and the units of the vertices that changed are active next.
 */
mill_err op_advance(struct mill_run *r, const struct advance_program *p, const void *args,
		    struct frontier *f);

/*
 * Opens the next bucket that holds vertices (engine/piles.h): they become the frontier, which must
 * be empty before. Their keys are below f->piles.limit. Vertices that were settled while they
 * waited are dropped. The frontier stays empty if no vertex waits. The caller calls
 * frontier_widths before the first op_split.
 */
mill_err op_split(struct mill_run *r, const struct advance_program *p, const void *args,
		  struct frontier *f);

/*
 * Reduces the in-neighbours (or out-neighbours) of every vertex and applies the program to the
 * result. A vertex without a row has an empty list. The reducer keeps what the passes share: which
 * lists span segments, and room for their block sums. count: COUNTS numbers, the sums of what
 * apply added to them.
 */
struct reducer;
mill_err op_reducer(struct mill_run *r, struct reducer **out, const struct reduce_program *p,
		    bool in);
mill_err op_reduce(struct mill_run *r, struct reducer *red, const void *args, u64 *count);
/*
 * Declares a reducer over out-edges, with OVER_IN over in-edges. Fails with MILL_EUSAGE if the
 * store lacks them. flags: MAIN, LISTS, SELDOM, OVER_IN.
 */
mill_err declare_reducer(struct declaration *d, struct reducer **out,
			 const struct reduce_program *p, u32 flags);

/*
 * Reduce the neighbours of some vertices only: those of a host list without repeats, or of a
 * frontier. The sums have the same bits as those of op_reduce.
 */
mill_err op_reduce_list(struct mill_run *r, struct reducer *red, const void *args, const vid *list,
			u64 n, u64 *count);
mill_err op_reduce_front(struct mill_run *r, struct reducer *red, const void *args,
			 struct frontier *f, u64 *count);

/*
 * Sets to[v] to the value that most out-neighbours of v have in `from`; if several values are
 * equally frequent, to the smallest. A vertex with an empty list gets from[v]; a vertex without a
 * row keeps its value in `to`. Both vectors hold one u32 per vertex, below store->n_linked.
 * *changed: the number of vertices where `to` differs from `from`. The operator takes no program,
 * because the counters of a list have no fixed size. The finder keeps what the passes share.
 * Declare the view before the finder.
 */
struct mode_finder;
mill_err op_mode(struct mill_run *r, struct mode_finder *m, const struct vec *from,
		 const struct vec *to, u64 *changed);
void declare_mode(struct declaration *d, struct mode_finder **out);

/*
 * Removes from the frontier the vertices (or edges) that the program does not keep. The program
 * may change the state of other vertices while it decides, as hooking does.
 */
mill_err op_filter(struct mill_run *r, const struct filter_program *p, const void *args,
		   struct frontier *f);
void declare_filter(struct declaration *d, const struct filter_program *p);
mill_err op_filter_edges(struct mill_run *r, const struct filter_program *p, const void *args,
			 struct edge_frontier *ef);
/*
 * Advances from vertices to edges: the edges of the frontier that the program keeps become the
 * active edges. The frontier stays as it is; both must be of the same direction.
 */
mill_err op_expand(struct mill_run *r, const struct filter_program *p, const void *args,
		   struct frontier *f, struct edge_frontier *ef);
/*
 * Makes the far ends of the active edges the frontier, each vertex once. The active edges stay.
 * With op_advance or op_expand after it, this is an advance from edges to vertices or to edges.
 */
mill_err op_ends(struct mill_run *r, struct edge_frontier *ef, struct frontier *f);

/*
 * Calls the program at the edges of the rows for which its cond holds, without a frontier. For
 * algorithms that look at all edges, or at a few edges of every list. *updates (may be NULL): the
 * number of edges at which `edge` returned true.
 */
struct scan {
	bool in;		/* over in-edges */
	/*
	 * cond is false for many rows: pages without a wanted row are not read. cond must not
	 * become true for a row during a pass.
	 */
	bool some;
	/* Positions [from, from + count) of each list; count 0: all positions from `from` on. */
	u64 from, count;
};
mill_err op_scan(struct mill_run *r, const struct scan_program *p, const void *args,
		 const struct scan *how, u64 *updates);
void declare_scan(struct declaration *d, const struct scan_program *p);
/*
 * Returns true if another pass over the edges moves no pages. Then several passes that look at few
 * edges each are better than one pass over all edges.
 */
bool op_rescan_is_free(const struct mill_run *r);

/* Calls the program at vertices [begin, end) and sums what it returns, in a fixed order. */
mill_err op_compute(struct mill_run *r, const struct compute_program *p, const void *args,
		    u64 begin, u64 end, f64 *sum);
/*
 * Does the same at the active vertices only. The program has FRONT, and the frontier holds
 * vertices, not units. Blocks without an active vertex are not looked at.
 */
mill_err op_compute_front(struct mill_run *r, const struct compute_program *p, const void *args,
			  struct frontier *f, f64 *sum);
/* Does the same at the active edges, for programs with EDGE. Pages without one are not read. */
mill_err op_compute_edges(struct mill_run *r, const struct compute_program *p, const void *args,
			  struct edge_frontier *ef, f64 *sum);
void declare_compute(struct declaration *d, const struct compute_program *p, u32 flags);

#endif
