/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The active vertices: a list while they are known to be few and the topology is resident on the host,
 * a bitmap otherwise; or, where the policy owns the run, a flag for each of its units that has active vertices. Operators write the
 * next frontier beside it; frontier_turn swaps the two. So `while (front->n) op_advance(...)` is the loop of every traversal.
 */
#ifndef ENGINE_FRONTIER_H
#define ENGINE_FRONTIER_H

#include "engine/piles.h"
#include "engine/run.h"

struct frontier {
	struct mill_run *run;
	bool in;		/* advances along in-edges: what is said of out-edges is then true of those */
	u64 n;			/* active vertices */
	u64 work;		/* out-edges of them, exact or estimated */
	bool dense;		/* `bits` holds them, else `list` */
	bool marked;		/* sparse, and their bits are set too */
	struct vec *bits, *next_bits;
	vid *list, *next_list;
	u64 hubs;		/* vertices of the list whose lists come in parts: its last ones */
	u64 capacity;		/* of a list; 0: always dense */
	u64 next_n;		/* of next_list; atomic */
	struct piles piles;	/* what waits */

	/* push or pull: what the operator remembers between steps */
	bool pulling;
	u64 edges_left;		/* out-edges of vertices that were never active */
	u64 vertices_left;	/* that were never active, if none becomes so twice */
	u64 last_n;

	/* Where the policy owns the run its units are active, not vertices: then there are neither bits, lists nor waiting vertices. */
	u32 *unit;		/* not NULL: by unit, is it active? */
	u32 *flag;		/* by unit or page: what kernels flag in a step */

	/* On a device: */
	u64 *mirror;		/* the bitmap's copy on the host, once somebody has asked for it */
	u32 *page_n;		/* active vertices of each page in the direction of the frontier */
};

/* Device bytes, and host bytes besides; buckets: near and far are two, 0: nothing waits. */
u64 frontier_bytes(u64 n_vertices, u32 buckets);
u64 frontier_host_bytes(u64 n_vertices);

mill_err run_frontier(struct mill_run *r, struct frontier **out, u32 buckets);
/* Makes one of the policy's units. n is 0 exactly when none is active, else the vertices that the last step changed. */
mill_err run_unit_frontier(struct mill_run *r, struct frontier **out);
/* The units of vertices that were flagged become the active ones; so many vertices changed. */
void frontier_turn_units(struct frontier *f, u64 changed);
/*
 * A search begins at v: its value is 0, and it is active. One without edges has no state: nothing becomes active then, and the result
 * knows it.
 */
mill_err frontier_begin(struct frontier *f, struct vec *value, vid v);
/* Makes v (all of 0 .. n - 1) the active vertices, where none is active. */
mill_err frontier_set(struct frontier *f, vid v);
mill_err frontier_set_all(struct frontier *f, u64 n);
/*
 * Keys below a width are near, and buckets are so wide: a key too, the bits of an f64 where keys are real. Error if it is 0, or no
 * number. A frontier of units has no keys.
 */
mill_err frontier_widths(struct frontier *f, u64 width, bool real);
/* All of 0 .. n - 1 wait, and none is active: the first op_split parts them. */
mill_err frontier_wait_all(struct frontier *f, u64 n);

/* An empty one begins anew, along out- or in-edges. */
void frontier_restart(struct frontier *f, bool in);

/* Empties it. */
mill_err frontier_clear(struct frontier *f);
/* A list becomes a bitmap; on the host. */
mill_err frontier_dense(struct frontier *f);
/* A dense frontier becomes a list, if it fits one. */
void frontier_list(struct frontier *f);
/* The bits as the host sees them; sparse frontiers are marked first. */
mill_err frontier_bits(struct frontier *f, const u64 **out);
/* next becomes the frontier, of n vertices; what was the frontier is cleared. */
mill_err frontier_turn(struct frontier *f, bool dense, bool marked, u64 n);
/* The same on a device, at the end of what was counted since transfer_count_begin: n is what kernels emitted. */
mill_err frontier_turn_counted(struct frontier *f, u64 counts[8]);
/* Counts `work`, from row offsets where the topology is resident, else from the pages' averages. */
mill_err frontier_measure(struct frontier *f);

#endif
