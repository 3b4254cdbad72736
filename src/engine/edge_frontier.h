/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The active edges of one direction: a bitmap by their place in its lists while they are many, a list of them with the vertices in whose lists
 * they are while they are few and the topology is resident on the host. The list is not in any order. Over in-edges a row is an edge's target, and
 * its far end the source.
 */
#ifndef ENGINE_EDGE_FRONTIER_H
#define ENGINE_EDGE_FRONTIER_H

#include "engine/run.h"

struct active_edge {
	u64 edge;		/* its place in the direction's lists */
	vid source;		/* its row */
};

struct edge_frontier {
	struct mill_run *run;
	bool in;		/* over in-edges; without a difference where both directions are one */
	u64 n;			/* active edges */
	bool dense;		/* `bits` holds them; else `list`, and no bit is set */
	struct vec *bits;
	struct active_edge *list, *next_list;
	u64 capacity;		/* of a list; 0: always dense */
	u64 next_n;		/* of next_list; atomic */

	/* On a device: */
	struct vec *page_begin;	/* the number of each page's first edge, and how many there are */
	u32 *page_n;		/* active edges of each page */
};

/* Edges that a direction, or a view, has at most. */
u64 edge_frontier_edges(const struct store *st, enum view view);
/* Bytes where the device is, and host bytes besides. */
u64 edge_frontier_bytes(const struct store *st, enum view view);
u64 edge_frontier_host_bytes(const struct store *st, enum view view);

mill_err run_edge_frontier(struct mill_run *r, struct edge_frontier **out, bool in);
/* All edges become active, or none. */
mill_err edge_frontier_set_all(struct edge_frontier *f);
mill_err edge_frontier_clear(struct edge_frontier *f);
/* A dense one becomes a list, if it fits one. */
void edge_frontier_list(struct edge_frontier *f);
/* On a device, at the end of what was counted since transfer_count_begin: n is what kernels emitted. */
mill_err edge_frontier_counted(struct edge_frontier *f, u64 counts[8]);
/* The segment that holds an edge of u, and *i, its place there. The topology is resident. */
const struct segment *edge_segment(const struct topology *t, const struct active_edge *e, u32 *i);

#endif
