/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an algorithm has: its state, frontiers, programs, directions and other bytes, declared once by a function that `plan` and a run both
 * call. The need (bytes, directions, whether the policy owns the run) comes from it, then the kernels to build, the vectors to make and what a
 * checkpoint has to save. Types and sizes may depend on options, so it is a function and no table.
 *
 * A policy owns a run if it takes every program that is declared MAIN. All else is known only then, so a declared thing has two functions: one adds
 * its bytes, one makes it. Things that are made EARLY exist before the clock starts.
 */
#ifndef ENGINE_DECLARATION_H
#define ENGINE_DECLARATION_H

#include "engine/edge_frontier.h"
#include "engine/frontier.h"
#include "engine/run.h"

enum declared_flags {
	MAIN = 1,	/* a program of the main loop: the policy owns the run only if it takes it */
	EARLY = 2,	/* made before the clock starts */
	SELDOM = 4,	/* only its bytes count: the algorithm makes it if it comes to that */
	LISTS = 8,	/* a reducer that is also given lists of vertices */
	OVER_IN = 16,	/* over in-edges */
	BESIDE = 32,	/* state by edge that may be streamed beside the pages: only programs that are OWNED look at it, in op_scan, op_filter_edges, op_expand */
};

struct declaration;

struct declared {
	void (*bytes)(const struct declaration *d, const struct declared *x, struct need *n);	/* NULL: it takes none */
	mill_err (*make)(struct mill_run *r, const struct declared *x);	/* NULL: there is nothing to make */
	void *out;			/* a pointer to the thing is left there */
	const char *name;
	const void *fill;		/* of each element; NULL: zero */
	const struct program *program;
	const struct own_forms *forms;	/* of a program: what policies may take of it */
	const void *what;		/* the operator's own form of the program */
	u64 n;
	u32 size, flags;
};

#define DECLARED_MOST 64

struct declaration {
	struct mill_run *run;
	bool plans;		/* nothing will run: sources are not looked for */
	struct need need;	/* complete after declaration_end */
	u64 saved;		/* bytes of a checkpoint: vectors, frontiers, scalars of the loop */
	struct declared item[DECLARED_MOST];
	u32 n;
};

/* ---- For algorithms ---- */

/* Declares a vector of n elements where the device is, each set to `fill` (NULL: zero), which must live as long as the run. */
void declare_vec(struct declaration *d, struct vec **out, const char *name, u64 n, u32 size, const void *fill);
/* Declares one with an element for each vertex. */
void declare_state(struct declaration *d, struct vec **out, const char *name, u32 size, const void *fill);
/*
 * Declares state by edge: an element for each edge number (transfer/number.h), out->n of them. On the run's device; with BESIDE, where the host's
 * budget is too small for it, in a file beside the pages. flags: BESIDE or 0.
 */
void declare_edge_state(struct declaration *d, struct vec **out, const char *name, u32 size, const void *fill, u32 flags);
/* Declares the out-degree (u32) of each vertex, or 1 if it has none: what shares are divided by. */
void declare_divisors(struct declaration *d, struct vec **out);
/* Declares a vector of n elements in host memory. */
void declare_host(struct declaration *d, struct vec **out, const char *name, u64 n, u32 size);
/* Declares the scalars of the loop, which are complete between two steps: a checkpoint saves them beside vectors and frontiers. */
void declare_loop(struct declaration *d, void *scalars, u64 bytes);
/* Declares a frontier: of vertices or, where the policy owns the run, of its units. buckets: see engine/piles.h; 0: nothing waits. */
void declare_frontier(struct declaration *d, struct frontier **out, u32 buckets);
/* Declares a frontier of out- or in-edges; the direction, or the view, is declared before it. */
void declare_edge_frontier(struct declaration *d, struct edge_frontier **out, bool in);
/* Adds bytes where the device is, and bytes on the host, of what is made later. */
void declare_bytes(struct declaration *d, u64 state, u64 host);
/* Adds the host bytes of a certificate, if one was asked for. */
void declare_check(struct declaration *d, u64 host);
/* Declares that out- or in-edges are read; error if the store lacks them. */
mill_err declare_direction(struct declaration *d, bool in);
/* Declares a view of the graph in place of its directions; error if the store lacks what it takes. what: the algorithm, as errors name it. */
mill_err declare_view(struct declaration *d, enum view view, const char *what);
/* Finds the source of a search (see run_source), unless nothing will run. */
mill_err declare_source(struct declaration *d, const char *text, vid *out);
/* Finds the sources of several searches, unless nothing will run (see run_sources). */
mill_err declare_sources(struct declaration *d, const char *text);
/* Declares for the cost model that the loop takes at most so many rounds, or ends when the change, which damping shrinks, is below the tolerance. */
void declare_rounds(struct declaration *d, u64 rounds, f64 tolerance, f64 damping);
/* Does the run's policy have kernels for a program of these forms? */
bool declared_taken(const struct declaration *d, const struct own_forms *forms);

/* ---- For operators ---- */

void declare_item(struct declaration *d, struct declared item);
/* Declares a program, which is built before the clock starts: the policy's kernels of it if it is MAIN and the policy owns the run, else its own. */
void declare_program(struct declaration *d, const struct program *p, const struct own_forms *forms, u32 flags);

/* ---- For the call ---- */

void declaration_init(struct declaration *d, struct mill_run *r, const char *algorithm, bool plans);
/* Completes the need; error if the policy takes only runs that it owns and does not own this one. */
mill_err declaration_end(struct declaration *d);
/* Makes all that was declared, and starts the clock in between. */
mill_err declaration_make(const struct declaration *d);

#endif
