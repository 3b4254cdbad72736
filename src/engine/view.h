/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: the graph as some algorithms want it, one symmetric direction that serves as both. An undirected store
 * that is what is wanted already is its own view; otherwise the view is made by one merge of the two directions,
 * which lie in vertex order with ascending lists: in memory if that fits, else as a temporary store that is streamed like
 * any other. Its files have no names, so nothing of it stays, whatever ends the process.
 */
#ifndef ENGINE_VIEW_H
#define ENGINE_VIEW_H

#include "engine/topology.h"
#include "transfer/need.h"

/*
 * Adds the view to a need. MILL_EUSAGE for a directed store without in-pages, MILL_ELIMIT if it has too many edges:
 * `what` names who asks. A store that is its own view leaves n->view VIEW_NONE, and the algorithm reads its out-lists.
 */
mill_err view_need(const struct store *st, enum view view, const char *what, struct need *n);
/* Edges that the view has at most; bytes that it takes at most when resident; bytes while it is made on disk, and afterwards. */
u64 view_edges(const struct store *st, enum view view);
u64 view_bytes(const struct store *st, enum view view);
u64 view_making_bytes(const struct store *st);
u64 view_kept_bytes(const struct store *st, enum view view);
/* Of a view on disk: what decoding takes at most. */
u64 view_scratch(const struct store *st, unsigned workers);

struct view_cost {
	u64 pages, bytes;	/* read from disk */
};

/* Makes it resident. */
mill_err view_load(struct topology *t, const struct store *st, enum view view, struct budget *budget,
		   struct ticker *ticker, struct view_cost *cost);
/* Makes it on disk. */
mill_err view_spill(struct store **out, const struct store *st, enum view view, struct budget *budget,
		    struct ticker *ticker, struct view_cost *cost);
/* The directory for temporary files: TMPDIR, or where the store is. memory_free it. */
mill_err view_dir(char **out, const struct store *st, struct budget *budget);

#endif
