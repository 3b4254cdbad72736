/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths of a graph (LargeGraph, section 3.1), as one bit per vertex. A vertex is a link if
 * its in-degree is 1 and its out-degree is 1 (strict) or at least 1 (paper), and the edge to it
 * and its whole list lie in one page. A path begins with an edge that is not the first out-edge
 * of a link, and follows first out-edges while it comes to links. A cycle of links is opened at
 * its smallest vertex, which is then no link. So every edge is in one path, a path lies in one
 * page, and there are E - links paths. Paths need no other table; two are made of them once,
 * because every round asks: the head of a link's path, and the edges of a head's paths.
 */
#ifndef POLICY_PATHS_H
#define POLICY_PATHS_H

#include "transfer/transfer.h"

struct paths {
	u64 *link;		/* NULL: every path is one edge */
	u32 *head;		/* of the path that goes on through a link */
	u32 *edges;		/* of the paths that begin at a vertex */
	u64 n_links, n_single, n_edges;
	f64 seconds;
};

/* Returns the host bytes, also those that are needed only while paths are made. */
u64 paths_bytes(u64 n);
/*
 * Finds the paths in two passes over the pages. links: paths go on through links; false: every
 * path is one edge. branch: links may have several out-edges.
 */
mill_err paths_make(struct paths *out, struct transfer *t, struct stream *stream,
		    const struct pages *p, bool links, bool branch);
void paths_release(struct paths *p);

#endif
