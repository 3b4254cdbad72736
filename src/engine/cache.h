/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second boundary, RAM to device. Pages cross as they are on disk, packed ones packed, and become rows and neighbours in a
 * kernel. In one of two forms, as the device's budget allows, or a third, as the policy says:
 *
 *	whole	there is room for all lists side by side, as one segment a direction: a page is unpacked when it comes and
 *		stays, kernels are launched once for all pages;
 *	slots	pages stay packed in slots and are unpacked for each use into the work area of a queue: packed, more of them
 *		stay. Transfers have a queue of their own and wait only for the kernels that used the slot.
 *
 *	parts	slots hold Graphie's partitions (engine/partition.h), in the form that the run's options name, for cache_run_partitions
 *		alone. cache_turn changes between this form and the other two.
 *
 * Only pages with work cross, those that are there already are used first and never moved again while they stay. A graph that
 * fits, in either form, crosses once.
 */
#ifndef ENGINE_CACHE_H
#define ENGINE_CACHE_H

#include "engine/launch.h"
#include "engine/partition.h"

struct device_cache;

/* What the kernels of one queue need besides their segment. */
struct work_area {
	struct buffer lists;		/* slots: the page unpacked */
	struct buffer list, offset;	/* the active rows, and the edges before each; see pages.cl */
	struct buffer tile;		/* the sums that led there: its first two words are how many rows and edges */
	struct buffer queue, kept, kept_tile;	/* what an advance leaves for a filter; only where one is asked for */
	struct buffer scratch;		/* need.edge_scratch bytes for each of cache_scratch_edges, and a few more */
};

struct device_pass {
	bool in;
	const u32 *page_n;	/* for each page how many of its rows have work; NULL: all */
	bool chosen;		/* one of several passes that share the pages: even with --no-skip no other crosses */
	mill_err (*launch)(void *arg, const struct device_segment *seg);
	void *arg;
};

/* Device bytes that a run needs at least besides its state: a page, and room to work on it. */
u64 cache_least(const struct mill_run *r, const struct need *n);
/* Device bytes of a page that stays, for those who estimate. */
u64 cache_slot_size(const struct store *st);
/* Makes use of what the device's budget leaves beside `state` bytes. */
mill_err cache_open(struct device_cache **out, struct mill_run *r, u64 state);
void cache_close(struct device_cache *c);
/* How many pages can stay: a graph that fits is never moved again. */
u32 cache_slots(const struct device_cache *c);
bool cache_is_whole(const struct device_cache *c);
/* Edges for which an area has scratch: as many as a page has, or, where all pages are one segment, as work at a time is good with. */
u64 cache_scratch_edges(const struct device_cache *c);
/* Calls launch for segments that have all pages with work, and adds to step what it cost. Afterwards queue 0 goes on. */
mill_err cache_run(struct mill_run *r, const struct device_pass *p, struct mill_step *step);

/* The far ends of the edges of a segment that are in the bitmap, which is by edge number, become bits of `next`, and are counted as emitted. */
mill_err cache_ends(struct mill_run *r, const struct device_segment *seg, const struct vec *bits, const struct vec *next);
/* ---- Partitions ---- */

/* A partition on the device, or one of its pages, as kernels take it: offsets in 32-bit words. */
struct device_partition {
	enum mill_wire wire;
	const struct buffer *lists, *weights;
	u32 source_at;		/* edges: their sources; else the rows */
	u32 neighbour_at, weight_at, first, n_rows, n_edges;
	u32 base;		/* rows count from there; row 0 begins at 0 whatever it says */
	u32 queue;
};

struct partition_pass {
	const u32 *active;	/* not 0 for partitions that have work */
	mill_err (*launch)(void *arg, const struct device_partition *part);
	void *arg;
};

/* The cache takes the form of partitions, or one of the others; what it held is forgotten. */
mill_err cache_turn(struct mill_run *r, bool partitions);
/* Of the run's cache, where that is its form; else NULL. Behind it what kernels need of it. */
const struct partitions *cache_partitions(const struct mill_run *r);
const struct buffer *cache_pre_sum(const struct mill_run *r);
const struct buffer *cache_first(const struct mill_run *r);	/* only where they cross packed */
mill_err cache_run_partitions(struct mill_run *r, const struct partition_pass *p, struct mill_step *step);
/* Host bytes that this form takes of what frames would get: planned, and of a cache. */
u64 cache_stage_bytes(const struct mill_run *r, const struct need *n);
u64 cache_staged(const struct device_cache *c);

/* The active rows of a segment become the list of its area. */
mill_err cache_select(struct mill_run *r, const struct device_segment *seg, const struct vec *bits);
/* The number of the first edge of a segment of out-edges. */
u64 cache_first_edge(struct mill_run *r, const struct device_segment *seg);
/* The sums before each of n tiles, in pairs, and in the place before the first the sums of all. */
mill_err cache_scan(struct mill_run *r, const struct buffer *tile, u32 n_tiles, u32 queue);

/*
 * What kernels count: begin makes it 0, end reads it, with one wait for the device. In between a census says for each page how
 * many of its rows are in a bitmap; page_n (may be NULL) gets that.
 */
#define COUNTS_N 8
mill_err cache_count_begin(struct mill_run *r);
mill_err cache_census(struct mill_run *r, bool in, const struct vec *bits);
/* The same of out-edges. begin: the number of each page's first, and behind the last how many there are; u64. */
mill_err cache_census_edges(struct mill_run *r, const struct vec *bits, const struct vec *begin);
mill_err cache_count_end(struct mill_run *r, u64 counts[COUNTS_N], u32 *page_n);
const struct buffer *cache_counts(const struct mill_run *r);
/* Asks the program's kernel `wanted` which pages have rows that it wants; page_n[i] is not 0 for those. */
mill_err cache_wanted(struct mill_run *r, const struct program *p, const void *args, bool in, u32 *page_n);

#endif
