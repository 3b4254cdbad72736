/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An edge frontier: the active edges of one direction, or of a view. If many edges are
 * active, it is a bitmap by the edge's place in the direction's lists. If few are and the
 * topology is resident on the host, it is a list of edges with their sources, in no order.
 * The bitmap takes E/8 bytes of state, so only algorithms that declare an edge frontier pay
 * for it. A streamed pass reads, and a device gets, only the pages that have an active edge
 * (counted by page with a census where the bitmap is on the device). Over in-edges a row is
 * an edge's target, and the far end is its source.
 */
#ifndef ENGINE_EDGE_FRONTIER_H
#define ENGINE_EDGE_FRONTIER_H

#include "engine/run.h"

struct active_edge {
	u64 edge;		/* its place in the direction's lists */
	vid source;		/* the vertex that has the edge in its list */
};

struct edge_frontier {
	struct mill_run *run;
	bool in;		/* over in-edges; without effect if both directions are the same */
	u64 n;			/* active edges */
	bool dense;		/* `bits` holds them; else `list` does, and no bit is set */
	struct vec *bits;
	struct active_edge *list, *next_list;
	u64 capacity;		/* of a list; 0: always dense */
	u64 next_n;		/* of next_list; atomic */

	/* On a device: */
	struct vec *page_begin;	/* the place of each page's first edge, and the number of edges */
	u32 *page_n;		/* active edges of each page */
};

/* Returns an upper bound of the edges of a direction, or of a view. */
u64 edge_frontier_edges(const struct store *st, enum view view);
/* Return the bytes on the run's device, and the additional host bytes. */
u64 edge_frontier_bytes(const struct store *st, enum view view);
u64 edge_frontier_host_bytes(const struct store *st, enum view view);

/* Makes an edge frontier without active edges. The run frees it. */
mill_err run_edge_frontier(struct mill_run *r, struct edge_frontier **out, bool in);
/* Activates all edges. */
mill_err edge_frontier_set_all(struct edge_frontier *f);
/* Deactivates all edges. */
mill_err edge_frontier_clear(struct edge_frontier *f);
/* Turns a bitmap into a list, if the active edges fit one. */
void edge_frontier_list(struct edge_frontier *f);
/*
 * Ends the counting on a device that transfer_count_begin began: counts the active edges by page,
 * and sets n to the number of edges that kernels emitted.
 */
mill_err edge_frontier_counted(struct edge_frontier *f, u64 counts[8]);
/*
 * Returns the segment that holds an edge. *i: its place in the segment. The topology is
 * resident.
 */
const struct segment *edge_segment(const struct topology *t, const struct active_edge *e, u32 *i);

#endif
