/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view is the graph as undirected algorithms need it: the simple graph, or both
 * directions merged. It has one symmetric direction that serves as out- and in-edges. An
 * undirected store that already is what the view asks for is its own view. Else the view is
 * made by one merge of the two directions, which lie in vertex order with ascending lists.
 * It is made in memory if it fits, else as a temporary store in TMPDIR or beside the store,
 * which is streamed like any other. The temporary files have no names, so none stays on the
 * disk however the process ends. Operators see a topology like any other.
 */
#ifndef ENGINE_VIEW_H
#define ENGINE_VIEW_H

#include "engine/topology.h"
#include "transfer/need.h"

/*
 * Adds the view to a need. A store that is its own view leaves n->view VIEW_NONE, and the
 * algorithm reads its out-lists. Fails with MILL_EUSAGE for a store without in-edges, and
 * with MILL_ELIMIT if it has too many edges. what: the name of the algorithm, for errors.
 */
mill_err view_need(const struct store *st, enum view view, const char *what, struct need *n);
/* Returns an upper bound of the edges of any view of the store. */
u64 view_edges(const struct store *st);
/* Returns an upper bound of the host bytes of a resident view. */
u64 view_bytes(const struct store *st, enum view view);
/* Returns the host bytes that are in use only while a view is made. */
u64 view_making_bytes(const struct store *st);
/* Returns the host bytes that a view on disk takes once it is made. */
u64 view_kept_bytes(const struct store *st, enum view view);
/* Returns an upper bound of the scratch bytes for decoding pages of a view on disk. */
u64 view_scratch(const struct store *st, unsigned workers);

/* Makes a resident view. */
mill_err view_load(struct topology *t, const struct store *st, enum view view,
		   struct budget *budget, struct ticker *ticker);
/* Makes a view on disk. */
mill_err view_spill(struct store **out, const struct store *st, enum view view,
		    struct budget *budget, struct ticker *ticker);
/*
 * Returns the directory for temporary files: TMPDIR, or the directory in which the store is. The
 * caller frees it with memory_free.
 */
mill_err view_dir(char **out, const struct store *st, struct budget *budget);

#endif
