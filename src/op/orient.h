/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Oriented lists: each edge of a simple graph once, from the end of smaller degree to the
 * end of larger degree (ties: to the larger number). So no list is longer than the square
 * root of twice the number of edges, and every triangle has one vertex with edges to both
 * others.
 */
#ifndef OP_ORIENT_H
#define OP_ORIENT_H

#include "engine/run.h"

/* The whole lists of consecutive vertices, which are moved together. */
struct piece {
	vid first;
	u32 n_rows, n_edges;
	u64 first_edge;		/* number of edges in the pieces before */
};

struct oriented {
	struct mill_run *run;
	const u32 *degree;
	bool weights;		/* each edge has a u32: its number of arcs, or its edge number */
	bool numbers;		/* this u32 is the edge number */
	struct segment all;	/* in memory: the lists of all vertices; host vectors of the run */
	/*
	 * On disk: a temporary store of raw pages, in which every list is whole. NULL: in
	 * memory.
	 */
	struct store *store;
	const struct pages *pages;	/* of the store */
	struct stream *stream;	/* of the store; a caller opens it, oriented_close closes it */
	u32 n_pieces;
	vid *cut;		/* in memory: the first vertex of each piece, and the end */
};

/*
 * Orients the run's graph: in memory if the graph is one resident segment, else on disk. On
 * disk the run's own stream is closed; the caller calls run_resume_stream at the end.
 * numbers: edges carry their numbers (transfer/number.h) as weights. Call oriented_close
 * also after a failure.
 */
mill_err oriented_open(struct oriented *o, struct mill_run *r, const u32 *degree, bool numbers);
void oriented_close(struct oriented *o);
/* Returns true if oriented_open would orient in memory. */
bool oriented_in_memory(const struct mill_run *r);

/* Returns the host bytes needed besides the graph, if the graph is resident. */
u64 oriented_resident_bytes(const struct mill_run *r, bool weights);
/* Returns the host bytes needed to orient on disk, in addition to RUN_ROOM. */
u64 oriented_disk_bytes(const struct mill_run *r, bool weights);
/*
 * Finds the size of the pages on disk, in which any list has room. Fails with MILL_ELIMIT
 * if lists can be too long.
 */
mill_err oriented_page(const struct mill_run *r, u64 edges, bool weights, u32 *out);
#define ORIENTED_FRAMES 6u	/* the least number of frames of a stream of oriented lists */

/* Returns the bytes of a piece on a device: row offsets, neighbours, weights. */
static inline u64 piece_bytes(u64 n_rows, u64 n_edges, bool weights)
{
	return 4 * (n_rows + 1) + (weights ? 8 : 4) * n_edges;
}

/*
 * Cuts the lists into pieces in the order of the vertices, of at most `most` bytes each.
 * `most` must not be less than the size from oriented_page. On disk the pieces are the
 * pages.
 */
mill_err oriented_cut(struct oriented *o, u64 most);
struct piece oriented_piece(const struct oriented *o, u32 i);

/*
 * Calls `take` for each wanted piece, on this thread. From disk the pieces that are still
 * in RAM come first, then the others in order. The row offsets of the segment may begin
 * above 0. The segment is valid until `take` returns.
 */
struct oriented_pass {
	bool (*wanted)(void *arg, u32 piece);
	mill_err (*take)(void *arg, u32 piece, const struct segment *seg);
	void *arg;
};
mill_err oriented_pass(struct oriented *o, const struct oriented_pass *p, struct mill_step *step);

#endif
