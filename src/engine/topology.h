/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topology: one direction of the graph as a run reads it. It is resident in RAM as one
 * segment (or a few, each below 2^32 edges), or streamed page by page. Operators see only
 * segments.
 *
 * Long lists are shared by threads as pieces. A piece is a segment of one row, like a page
 * in the middle of a list, so operators need no code for pieces. The other rows are cut
 * into chunks of about equal numbers of edges, and workers take one after another.
 */
#ifndef ENGINE_TOPOLOGY_H
#define ENGINE_TOPOLOGY_H

#include "base/clock.h"
#include "store/store.h"
#include "stream/stream.h"
#include "transfer/program.h"

struct mill_run;
struct mill_step;

/* Rows of a segment that one worker takes at a time. */
struct chunk {
	const struct segment *segment;
	vid begin, end;		/* rows of the segment */
};

/* A list longer than HUB_EDGES is cut into pieces of PIECE_EDGES for several workers. */
#ifdef MILL_HUB_EDGES		/* test builds: lists of test graphs are short */
#define HUB_EDGES MILL_HUB_EDGES
#else
#define HUB_EDGES 65536u
#endif
#define PIECE_EDGES (HUB_EDGES / 2)	/* a multiple of LIST_BLOCK */

struct topology {
	const struct pages *pages;	/* NULL: a view in memory */
	u64 n_rows, n_edges;
	bool resident;
	u32 n_segments;
	struct segment *segment;
	/*
	 * The pieces of lists that several workers share: long lists, and lists that lie in two
	 * segments. In the order of the vertices.
	 */
	u32 n_pieces;
	struct segment *piece;
	u32 n_chunks;
	struct chunk *chunk;	/* rows and pieces: every edge is in one chunk */
	u32 *piece_row;		/* row offsets of the pieces: two for each */
	u32 *row;
	vid *neighbour;
	void *weight;
	size_t weight_size;
};

/* Returns the host bytes of the direction when it is resident, its chunks included. */
u64 topology_bytes(const struct pages *p, bool weights);
/* Returns the host bytes of chunks and pieces. */
u64 topology_chunk_bytes(u64 n_rows, u64 n_edges, u64 n_segments);
/* Makes a topology of these pages that is not resident. p: NULL for a view in memory. */
void topology_init(struct topology *t, const struct pages *p);
/* Cuts the segments, which are complete, into chunks and pieces. */
mill_err topology_cut_chunks(struct topology *t, struct budget *budget);
/*
 * Reads all pages through the stream and makes them resident. max_edges: the most edges of
 * a segment.
 */
mill_err topology_load(struct topology *t, struct budget *budget, struct stream *stream,
		       bool weights, u64 max_edges, struct ticker *ticker);
void topology_release(struct topology *t);
/* Returns the number of the segment that holds the beginning of v's row. */
u32 topology_find(const struct topology *t, vid v);
/* Returns the length of v's list. The topology is resident. */
static inline u64 topology_degree(const struct topology *t, vid v)
{
	u64 d = 0;

	for (u32 i = t->n_segments > 1 ? topology_find(t, v) : 0; i < t->n_segments; i++) {
		const struct segment *s = &t->segment[i];
		vid row = (vid)(v - s->first);

		if (v < s->first || row >= s->n_rows)
			break;
		d += s->row[row + 1] - s->row[row];
	}
	return d;
}
/* Returns the first of the *n pieces of v's list; *n is 0 if the list is not cut. */
const struct segment *topology_pieces(const struct topology *t, vid v, u32 *n);

/* One pass over the rows of a direction by native code. */
struct pass {
	bool in;
	/*
	 * Returns true if a vertex of [begin, end) is active. NULL: all are. It is called
	 * for whole pages before the pass, and for some rows of a page during it. `work`
	 * must not read the lists of vertices that are not active: they may be missing.
	 */
	bool (*active)(void *arg, u64 begin, u64 end);
	/*
	 * Instead of `active`: returns true if an edge at places [begin, end) of the lists
	 * is active. It is called for whole pages only, and all of an active page is
	 * decoded.
	 */
	bool (*active_edges)(void *arg, u64 begin, u64 end);
	mill_err (*work)(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			 unsigned worker);
	void *arg;
	bool whole;		/* `work` may read any list of an active page */
	enum numbers numbers;	/* the edge numbers that `work` reads from its segments */
};

/*
 * Calls work for all chunks or pages, on all threads. Adds the pass's counts and times to
 * step.
 */
mill_err run_pass(struct mill_run *r, const struct pass *p, struct mill_step *step);

#endif
