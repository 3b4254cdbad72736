/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Oriented lists: each edge of a simple graph once, led to the end of larger degree (ties: to the larger number). So no list
 * is longer than the root of twice the edges, and every triangle has one vertex that leads to both others.
 */
#ifndef OP_ORIENT_H
#define OP_ORIENT_H

#include "engine/run.h"

/* Whole lists of neighbouring vertices: what is moved together. */
struct piece {
	vid first;
	u32 n_rows, n_edges;
	u64 first_edge;		/* edges before it */
};

struct oriented {
	struct mill_run *run;
	const u32 *degree;
	bool weights;		/* of arcs, or edge numbers: u32 */
	bool numbers;		/* the latter */
	struct segment all;	/* in memory: the lists of all vertices; host vectors of the run */
	struct store *store;	/* on disk: a temporary one of raw pages, in which every list is whole. NULL: in memory */
	const struct pages *pages;
	struct stream *stream;	/* of it; opened by who wants one, closed here */
	u32 n_pieces;
	vid *cut;		/* in memory: the first vertex of each, and the end */
};

/*
 * Orients the run's graph: in memory if that is one resident segment, else on disk; then the run's own stream is closed, to be
 * resumed by who is done. numbers: edges carry their numbers (transfer/number.h) as weights. oriented_close also after a failure.
 */
mill_err oriented_open(struct oriented *o, struct mill_run *r, const u32 *degree, bool numbers);
void oriented_close(struct oriented *o);
/* Would they be in memory? */
bool oriented_in_memory(const struct mill_run *r);

/* Host bytes besides the graph, where that is resident; and on disk, where what the smallest budget has is left out. */
u64 oriented_resident_bytes(const struct mill_run *r, bool weights);
u64 oriented_disk_bytes(const struct mill_run *r, bool weights);
/* Bytes in which any list finds room: of a page on disk. Fails for graphs that have too long lists. */
mill_err oriented_page(const struct mill_run *r, u64 edges, bool weights, u32 *out);
#define ORIENTED_FRAMES 6u	/* that a stream of it has at least */

/* Bytes of a piece on a device: rows, neighbours, weights. */
static inline u64 piece_bytes(u64 n_rows, u64 n_edges, bool weights)
{
	return 4 * (n_rows + 1) + (weights ? 8 : 4) * n_edges;
}

/* Pieces in the order of the vertices, none larger than `most` bytes, which is no less than oriented_page; on disk they are the pages. */
mill_err oriented_cut(struct oriented *o, u64 most);
struct piece oriented_piece(const struct oriented *o, u32 i);

/*
 * Takes the wanted pieces, on this thread: from disk those first that are still in RAM, else in order. Rows of a segment may
 * begin above 0; it is gone when `take` returns.
 */
struct oriented_pass {
	bool (*wanted)(void *arg, u32 piece);
	mill_err (*take)(void *arg, u32 piece, const struct segment *seg);
	void *arg;
};
mill_err oriented_pass(struct oriented *o, const struct oriented_pass *p, struct mill_step *step);

#endif
