/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One direction of the graph as a run reads it: resident in RAM as one segment (or a few, each
 * below 2^32 edges), or streamed page by page. Operators see only segments.
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

/* A list longer than this is cut into parts of PART_EDGES for several workers. */
#ifdef MILL_HUB_EDGES		/* test builds: lists of test graphs are short */
#define HUB_EDGES MILL_HUB_EDGES
#else
#define HUB_EDGES 65536u
#endif
#define PART_EDGES (HUB_EDGES / 2)	/* a multiple of LIST_BLOCK */

struct topology {
	const struct pages *pages;	/* NULL: a view in memory */
	u64 n_rows, n_edges;
	bool resident;
	u32 n_segments;
	struct segment *segment;
	/*
	 * The parts of lists that several workers share: long ones, and those that lie in two segments. Each is a
	 * segment of one row, as a page in the middle of a list is; in the order of the vertices.
	 */
	u32 n_parts;
	struct segment *part;
	u32 n_chunks;		/* together: every row once */
	struct chunk *chunk;
	u32 *part_row;
	u32 *row;
	vid *neighbour;
	void *weight;
	size_t weight_size;
};

/* Host bytes that the direction takes when resident. */
u64 topology_bytes(const struct pages *p, bool weights);
u64 topology_chunk_bytes(u64 n_rows, u64 n_edges, u64 n_segments);
/* What a topology knows of its pages. */
void topology_init(struct topology *t, const struct pages *p);
/* The segments are complete: cuts them for the workers. */
mill_err topology_cut_chunks(struct topology *t, struct budget *budget);
/* Reads all pages through the stream; max_edges: at most so many edges a segment. */
mill_err topology_load(struct topology *t, struct budget *budget, struct stream *stream, bool weights,
		       u64 max_edges, struct ticker *ticker, u64 *bytes_read);
void topology_release(struct topology *t);
/* The segment that holds the beginning of v's row. */
u32 topology_find(const struct topology *t, vid v);
/* The length of v's list; the topology is resident. */
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
/* The first part of v's list: *n of them, 0 if it is whole. */
const struct segment *topology_parts(const struct topology *t, vid v, u32 *n);

/* One pass over the rows of a direction by native code. */
struct pass {
	bool in;
	/*
	 * Has any vertex of a range something to do? NULL: all have. Asked for whole pages before the pass and for parts of
	 * them during it; work must leave the lists of vertices alone that have nothing to do.
	 */
	bool (*active)(void *arg, u64 begin, u64 end);
	/* Instead, by edge numbers: has any of the range something to do? Asked for whole pages only; all of a page is decoded. */
	bool (*active_edges)(void *arg, u64 begin, u64 end);
	mill_err (*work)(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			 unsigned worker);
	void *arg;
	bool whole;		/* work may look at any list of an active page */
	enum numbers numbers;	/* that work takes of its segments */
};

/* Calls work for all chunks or pages, on all threads; adds what it cost to step. */
mill_err run_pass(struct mill_run *r, const struct pass *p, struct mill_step *step);

#endif
