/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frontier: the active vertices. It is a list while they are known to be few and the
 * topology is resident on the host, a bitmap otherwise. Where the policy owns the run, it
 * is a flag for each of the policy's units: the unit has active vertices. Operators write
 * the next frontier beside it, and frontier_turn swaps the two. So `while (front->n)
 * op_advance(...)` is the loop of every traversal.
 */
#ifndef ENGINE_FRONTIER_H
#define ENGINE_FRONTIER_H

#include "engine/piles.h"
#include "engine/run.h"

struct frontier {
	struct mill_run *run;
	bool in;		/* advances along in-edges: read "in-edges" for "out-edges" below */
	u64 n;			/* number of active vertices */
	u64 work;		/* number of their out-edges, exact or estimated */
	bool dense;		/* `bits` holds them, else `list` does */
	bool marked;		/* not dense, and their bits are set too */
	struct vec *bits, *next_bits;
	vid *list, *next_list;
	u64 hubs;		/* the last `hubs` vertices of the list are hubs (> HUB_EDGES) */
	u64 capacity;		/* of a list; 0: always dense */
	u64 next_n;		/* length of next_list; atomic */
	struct piles piles;	/* vertices that wait */

	/* The operator keeps these between steps, to choose push or pull. */
	bool pulling;
	u64 edges_left;		/* out-edges of vertices that were never active */
	u64 vertices_left;	/* vertices that were never active, if none becomes active twice */
	u64 last_n;

	/*
	 * Where the policy owns the run, its units are active instead of vertices. Then there are
	 * no bits, lists or waiting vertices.
	 */
	u32 *unit;		/* by unit: not 0 if it is active. NULL: a frontier of vertices */
	u32 *flag;		/* by unit or page: set by kernels in a step */

	/* On a device: */
	u64 *mirror;		/* the bitmap's copy on the host; NULL before frontier_bits */
	u32 *page_n;		/* active vertices of each page in the direction of the frontier */
};

/*
 * Return the device bytes, and the additional host bytes. buckets: their number, near and
 * far included; 0: no vertex waits.
 */
u64 frontier_bytes(u64 n_vertices, u32 buckets);
u64 frontier_host_bytes(u64 n_vertices);

/* Makes a frontier of vertices. No vertex is active. The run frees it. */
mill_err run_frontier(struct mill_run *r, struct frontier **out, u32 buckets);
/*
 * Makes a frontier of the policy's units. Its n is 0 if no unit is active, else the number of
 * vertices that the last step changed, and at least 1.
 */
mill_err run_unit_frontier(struct mill_run *r, struct frontier **out);
/* Activates the units of the flagged vertices, and no others. changed: vertices that changed. */
void frontier_turn_units(struct frontier *f, u64 changed);
/*
 * Begins a search at v: sets its value to 0 and activates it. If v has no edge, and so no state,
 * nothing becomes active, and v goes to result.chosen.
 */
mill_err frontier_begin(struct frontier *f, struct vec *value, vid v);
/* Activate v, or all vertices below n. The frontier is empty before. */
mill_err frontier_set(struct frontier *f, vid v);
mill_err frontier_set_all(struct frontier *f, u64 n);
/*
 * Sets the width of buckets: keys below it are near. The width is a key too: where keys are
 * real, it is the bits of an f64. Fails with MILL_EUSAGE if the width is 0, negative or not
 * a number. Does nothing else for a frontier of units, which has no keys.
 */
mill_err frontier_widths(struct frontier *f, u64 width, bool real);
/* Makes all vertices below n wait; none is active. The first op_split puts them into buckets. */
mill_err frontier_wait_all(struct frontier *f, u64 n);

/* Prepares an empty frontier for another traversal, along out- or in-edges. */
void frontier_restart(struct frontier *f, bool in);

/* Empties the frontier. */
mill_err frontier_clear(struct frontier *f);
/* Turns a list into a bitmap. On the host. */
mill_err frontier_dense(struct frontier *f);
/* Turns a bitmap into a list, if the active vertices fit one. */
void frontier_list(struct frontier *f);
/*
 * Returns the bitmap in host memory. Sets the bits of a list first, or copies those of a
 * device.
 */
mill_err frontier_bits(struct frontier *f, const u64 **out);
/* Makes the next frontier, of n vertices, the present one, and clears the other. */
mill_err frontier_turn(struct frontier *f, bool dense, bool marked, u64 n);
/*
 * Does the same on a device, and ends the counting that transfer_count_begin began: n becomes the
 * number of vertices that kernels emitted.
 */
mill_err frontier_turn_counted(struct frontier *f, u64 counts[8]);
/*
 * Sets `work`: exactly for a list, by the average degree for a resident bitmap, else by the
 * average degree of each page.
 */
mill_err frontier_measure(struct frontier *f);

#endif
