/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a device cache, for the files that make it up: cache.c and cache_pass.c, cache_partition.c
 * and cache_partition_pass.c.
 */
#ifndef ENGINE_CACHE_FORM_H
#define ENGINE_CACHE_FORM_H

#include "engine/cache.h"
#include "stream/evict.h"

#define STAGES 4u		/* whole: pages on their way */
/* Whole: edges that share the scratch at a time. So few that it stays in a CPU's cache, or so many that a GPU is busy. */
#define SCRATCH_CHUNKED ((u64)1 << 18)
#define SCRATCH_WIDE ((u64)1 << 22)
#define LANE_WORDS (COUNT_LANES * COUNT_STRIDE)

struct slot {
	struct buffer buffer;
	struct page_wire wire;	/* of the page that it holds */
	struct ticket used;	/* the last kernels that look at it */
};

/* One direction. */
struct side {
	const struct pages *pages;	/* NULL: not needed */
	struct buffer range;		/* first vertex and rows of each page */
	struct buffer first;		/* of a paged store: that of its addresses */
	struct buffer lists, weights;	/* whole */
	u64 *present;			/* whole: a bit for each page */
};

#define STAGE_SENDS 96u

/* Where edges of partitions are made on the host, and stay until they have crossed. */
struct stage {
	u32 *source, *neighbour;	/* sources: edges only */
	u8 *weight;
	u32 *row;			/* csr only */
	struct ticket transfer[STAGE_SENDS];
	u32 n_transfers;
};

/* Slots that hold partitions. */
struct parts {
	struct partitions table;
	struct wire_shape shape;
	enum mill_wire wire;
	struct buffer pre_sum, first;	/* by range, and by partition */
	u8 *missing;			/* by partition, in the pass under way */
	struct page_wire *page;		/* packed: of every page that crossed */
	struct stage stage[2];
	u64 stage_edges, stage_rows;	/* for which each has room */
	u32 next_stage;
};

struct device_cache {
	struct mill_run *run;
	struct parts *parts;	/* NULL: another form */
	bool whole, select, weights;
	u32 n_slots;		/* whole: stages */
	struct slot *slot;
	struct evict *evict;	/* slots */
	struct side side[2];
	u32 n_areas;
	struct work_area *area;
	struct buffer counts;	/* LANE_WORDS u64, then u32 for each page */
	u64 counts_size;
	u64 scratch_edges;
	void *counted;		/* their copy on the host */
	struct buffer fault;	/* the number of a page that cannot be unpacked, or has an impossible address, + 1 */
};

/* engine/pages.cl */
extern const struct kernel_source cache_kernels;

/* A direction's: of an undirected store, and of a view, there is one. */
struct side *cache_side(struct device_cache *c, bool in);

mill_err cache_buffer(struct device_cache *c, struct buffer *b, u64 size, const char *what, enum traffic kind);
mill_err cache_open_areas(struct device_cache *c, u32 n, u64 rows, u64 edges, u64 lists);
mill_err cache_open_slots(struct device_cache *c, u32 n, u64 size);
/* What cache_number needs; nothing where lists hold dense numbers. */
mill_err cache_open_addresses(struct device_cache *c, struct side *s, const struct pages *p);
/* Counters, and a flag or number for each of n. */
mill_err cache_open_counts(struct device_cache *c, u64 n);

/* A page as it lies in its slot, for queue 0 and without what the host knows of its work. */
struct device_segment slot_segment(const struct slot *s, const struct pages *p, u32 page, bool weights);

/* Where the rows of a page go: an area of its own, or among all others. */
struct place {
	const struct buffer *lists;
	u32 row_at, neighbour_at, edge_base, shared, queue;
};
/* The packed page that lies at byte page_at of a buffer. fault gets its number + 1 if that cannot be done. */
mill_err cache_unpack(const struct buffer *fault, const struct pages *p, u32 page, const struct buffer *from, u64 page_at,
		      const struct page_wire *wire, const struct place *to);
/* The raw page of a paged store whose neighbours lie at these words of a buffer gets dense numbers. */
mill_err cache_number(struct device_cache *c, const struct side *s, u32 page, const struct buffer *at, u32 neighbour_at, u32 queue);
/* The end of a pass, which may have failed: then nothing is under way afterwards that uses slots and frames. */
mill_err cache_join(struct device_cache *c, mill_err err);
/* MILL_ECORRUPT if a page could not be unpacked, or has an impossible address. */
mill_err cache_check_fault(struct buffer *fault, const struct pages *p);

/* The largest page of each kind. */
struct page_shape {
	u64 wire, rows, edges, lists;
};
struct page_shape page_shape(const struct store *st);
struct page_shape page_shape_at_most(const struct store *st);	/* of a view that is not made yet */

/* cache_partition.c */
mill_err parts_open(struct device_cache *c, u64 room);
void parts_close(struct parts *p);
u64 parts_least(const struct mill_run *r, const struct need *n);

#endif
