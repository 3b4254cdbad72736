/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The declaration of an algorithm: its state, frontiers, programs, directions and other bytes.
 * The algorithm declares them once, in a function that `plan` and a run both call. From the
 * declaration come the need (bytes, directions, whether the policy owns the run), the kernels to
 * build before the clock starts, the vectors to make, and the bytes that a checkpoint would save.
 * Types and sizes may depend on options, so this is a function and not a table.
 *
 * A policy owns a run if it takes every program that is declared MAIN. This is known only when
 * the declaration is complete. So each declared item has two functions: one adds its bytes to the
 * need, the other makes it. Items that are EARLY are made before the clock starts. Under every
 * policy the loop is `while (front->n) op_advance(...)`: where the policy owns the run, the
 * frontier holds flags of the policy's units in place of vertices.
 */
#ifndef ENGINE_DECLARATION_H
#define ENGINE_DECLARATION_H

#include "engine/edge_frontier.h"
#include "engine/frontier.h"
#include "engine/run.h"

enum declared_flags {
	MAIN = 1,	/* a program of the main loop, which a policy must take to own the run */
	EARLY = 2,	/* made before the clock starts */
	SELDOM = 4,	/* only its bytes are counted: the algorithm makes it if a run needs it */
	LISTS = 8,	/* a reducer that also reduces lists of vertices */
	OVER_IN = 16,	/* over in-edges */
	/*
	 * State by edge that may be streamed beside the pages. Only programs that are OWNED may
	 * use it, in op_scan, op_filter_edges and op_expand.
	 */
	BESIDE = 32,
};

struct declaration;

struct declared {
	/* Adds its bytes to the need. NULL: it takes none. */
	void (*bytes)(const struct declaration *d, const struct declared *x, struct need *n);
	/* Makes it. NULL: there is nothing to make. */
	mill_err (*make)(struct mill_run *r, const struct declared *x);
	void *out;			/* receives a pointer to what was made */
	const char *name;
	const void *fill;		/* the first value of each element; NULL: zero */
	const struct program *program;
	const struct own_forms *forms;	/* of a program: the forms that policies may take */
	const void *what;		/* of a program: the operator's own struct */
	u64 n;
	u32 size, flags;
};

#define DECLARED_MOST 64

struct declaration {
	struct mill_run *run;
	bool plans;		/* it serves a plan, not a run: sources are not looked up */
	struct need need;	/* complete after declaration_end */
	u64 saved;		/* bytes of a checkpoint: vectors, frontiers, scalars of the loop */
	struct declared item[DECLARED_MOST];
	u32 n;
};

/* ---- Functions for algorithms ---- */

/*
 * Declares a vector of n elements on the run's device. Each element is set to `fill` (NULL:
 * zero), which must live as long as the run.
 */
void declare_vec(struct declaration *d, struct vec **out, const char *name, u64 n, u32 size,
		 const void *fill);
/* Declares a vector with an element for each vertex that has edges. */
void declare_state(struct declaration *d, struct vec **out, const char *name, u32 size,
		   const void *fill);
/*
 * Declares state by edge: an element for each edge number (transfer/number.h), out->n of them. It
 * is on the run's device. With BESIDE, if the host's budget is too small for it, it is in a file
 * beside the pages. flags: BESIDE or 0.
 */
void declare_edge_state(struct declaration *d, struct vec **out, const char *name, u32 size,
			const void *fill, u32 flags);
/*
 * Declares the divisors of shares: the out-degree (u32) of each vertex, or 1 if it has no
 * out-edge.
 */
void declare_divisors(struct declaration *d, struct vec **out);
/* Declares a vector of n elements in host memory. */
void declare_host(struct declaration *d, struct vec **out, const char *name, u64 n, u32 size);
/*
 * Declares the scalars of the loop, which are complete between two steps. A checkpoint would save
 * them with vectors and frontiers.
 */
void declare_loop(struct declaration *d, void *scalars, u64 bytes);
/*
 * Declares a frontier: of vertices or, where the policy owns the run, of its units. buckets: the
 * number of buckets (engine/piles.h); 0: no vertex waits.
 */
void declare_frontier(struct declaration *d, struct frontier **out, u32 buckets);
/* Declares a frontier of out- or in-edges. The direction, or the view, is declared before it. */
void declare_edge_frontier(struct declaration *d, struct edge_frontier **out, bool in);
/* Adds bytes for memory that is made later: on the device, and on the host. */
void declare_bytes(struct declaration *d, u64 state, u64 host);
/* Adds the host bytes of a certificate, if the user asked for one. */
void declare_check(struct declaration *d, u64 host);
/* Declares that out- or in-edges are read. Fails with MILL_EUSAGE if the store lacks them. */
mill_err declare_direction(struct declaration *d, bool in);
/*
 * Declares a view of the graph in place of its directions. Fails if the store lacks what the view
 * is made of. what: the name of the algorithm, for errors.
 */
mill_err declare_view(struct declaration *d, enum view view, const char *what);
/* Finds the source of a search (see run_source), unless d->plans. */
mill_err declare_source(struct declaration *d, const char *text, vid *out);
/* Finds the sources of several searches (see run_sources), unless d->plans. */
mill_err declare_sources(struct declaration *d, const char *text);
/*
 * Tells the cost model how the loop ends: after at most `rounds` rounds, or when the
 * change, which shrinks by `damping` in each round, is below `tolerance`.
 */
void declare_rounds(struct declaration *d, u64 rounds, f64 tolerance, f64 damping);
/* Returns true if the run's policy has kernels for a program that has these forms. */
bool declared_taken(const struct declaration *d, const struct own_forms *forms);

/* ---- Functions for operators ---- */

void declare_item(struct declaration *d, struct declared item);
/*
 * Declares a program, which is built before the clock starts: the policy's kernels for it
 * if it is MAIN and the policy owns the run, else the program's own kernels.
 */
void declare_program(struct declaration *d, const struct program *p, const struct own_forms *forms,
		     u32 flags);

/* ---- Functions for algo/algo.c, which calls an algorithm ---- */

void declaration_init(struct declaration *d, struct mill_run *r, const char *algorithm, bool plans);
/*
 * Completes the need. Fails with MILL_EUSAGE if the policy takes only runs that it owns and does
 * not own this one.
 */
mill_err declaration_end(struct declaration *d);
/* Makes all declared items. Starts the clock after the EARLY ones. */
mill_err declaration_make(const struct declaration *d);

#endif
