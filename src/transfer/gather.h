/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathered rows (WIRE_ROWS): not pages but chosen rows of pages cross to a device, in chunks.
 * In a stream pass, workers cut the paths of hot heads out of the pages that they decode, and
 * run the paths of cold heads on the host's master at once (op/path.inc). The calling thread
 * then puts the pieces into chunks, in page order, sends full chunks and launches their
 * kernels, which run during the stream pass of the next window. So both sides compute at the
 * same time, and what crosses depends on page numbers and counts alone.
 *
 * A chunk has a table of its distinct vertices, ordered: heads with all their paths in the
 * chunk, links with one out-edge (both are "sole": all their out-edges are here), other
 * sources, other vertices. Then come the paths, as numbers into the table (E'_idx, 16 bits):
 * paths of several edges with the place where each begins (ChunkTable), then paths of one
 * edge as sources and targets; then weights (E'_val), in 1 or 2 bytes where all fit. As rows,
 * a chunk has row numbers, offsets, neighbours and weights, as Subway sends them.
 *
 * There is an open chunk for each power of two of f, the frequency of use, so that chunks have
 * paths of like frequency. A full chunk stays in a slot, if one is free or holds an inactive
 * chunk of lower mean frequency; else it passes through a transit slot. Chunks of a head that
 * needs several do not stay.
 */
#ifndef TRANSFER_GATHER_H
#define TRANSFER_GATHER_H

#include "device/device.h"
#include "stream/stream.h"

struct transfer;
struct device_pass;

#define GATHER_CLASSES 12u	/* open chunks */
#define GATHER_SENDS 8u		/* chunks on their way */
#define CHUNK_LEAST 1024u	/* bytes */

/* A chunk that is being filled. */
struct open_chunk {
	u32 n_vertices, n_heads, n_paths, n_index, n_single;
	u32 *vertex;
	u8 *role;		/* by vertex: enum role of gather.c */
	u16 *index, *path, *from, *to;
	u32 *offset, *neighbour;	/* as rows */
	u64 *weight, *single_weight;	/* of paths of several edges, and of one edge */
	u32 *head;		/* heads, each once */
	u64 most_weight;	/* the largest weight, if weights are whole numbers */
	u64 sum_f, n_f;		/* f summed over paths, and their number */
	u32 *table, *stamp;	/* hash table: a place in `vertex`, and the age of the entry */
	u32 age;
	bool split;		/* has paths of one head, which has more chunks */
};

/* A slot of the arena. */
struct chunk_slot {
	u32 *head;		/* heads of the chunk; NULL: the slot is free */
	u32 n_heads;
	f64 mean;		/* mean f of its paths now */
	bool active;
};

struct gather {
	/* Set by the policy at each plan. By vertex. */
	const u64 *hot, *cold, *link;
	u64 *resident;		/* heads with all their paths in a slot */
	u64 *given;		/* see struct path_pass */
	const u32 *frequency;
	const u32 *path_edges;	/* edges of the paths that begin at the vertex */
	u32 sweeps;
	bool keep, staged, rows;

	/* Sizes. */
	u32 weight;		/* bytes of a weight of the store; 0: none */
	u64 slot_bytes;
	u32 most_vertices, most_edges;	/* of a chunk */
	u32 large;		/* a head with more edges in its paths has chunks of its own */
	u32 n_slots, n_transit;	/* slots that keep chunks; slots that chunks pass through */
	u32 next_transit;
	struct chunk_slot *slot;
	struct open_chunk open[GATHER_CLASSES + 1];	/* the last one: of a split head */
	u32 hash_mask;
	void *memory;		/* of all open chunks */

	/* Pieces of a window. */
	u32 *stage;
	u64 stage_words;
	u64 *piece_at, *piece_end;	/* by move: words of the page's piece */

	/* Chunks on their way, and lists of slots for kernels. */
	char *send[GATHER_SENDS];
	struct ticket sent[GATHER_SENDS];
	u32 next_send;
	struct buffer list;	/* slots to work on, in parts */
	u32 *pending;		/* the same on the host */
	u32 list_at, n_pending, list_most;
	struct ticket list_sent[GATHER_SENDS];
	u32 next_list;

	u64 chunks_sent, chunks_reused, chunks_evicted, chunks_passed;
	u64 host_edges, device_edges;
};

/* Returns the host bytes for chunks of this size. */
u64 gather_host_bytes(u64 slot_bytes, u64 n_slots, u64 stage_words, u64 moves);
/* Returns the words of a page's piece if `edges` of its edges are hot. */
u64 gather_piece_words(u64 edges, u32 weight);
/*
 * Opens chunks of slot_bytes in the station's arena (its only slot), of which n_transit slots
 * are for chunks that pass through. vertex_bytes: local memory of a vertex.
 */
mill_err gather_open(struct transfer *t, u64 slot_bytes, u32 n_slots, u32 n_transit,
		     u64 stage_words, u32 vertex_bytes);
void gather_close(struct transfer *t);
/* Forgets the chunks that stay. */
void gather_forget(struct transfer *t);
/* Returns the number of hot edges in a page, or more. */
u64 gather_page_edges(const struct transfer *t, u32 page);
/* Begins a pass: launches the kernels of the slots that the plan names. */
mill_err gather_begin(struct transfer *t, const struct device_pass *p);
/* Runs a window of the plan: moves [begin, end). */
mill_err gather_window(struct transfer *t, const struct device_pass *p, u32 begin, u32 end,
		       struct mill_step *step);
/* Ends a pass: sends open chunks and launches their kernels. */
mill_err gather_end(struct transfer *t, const struct device_pass *p);
/* Waits for transfers from host memory. */
mill_err gather_drain(struct transfer *t);

#endif
