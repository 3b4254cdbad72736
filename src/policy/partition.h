/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphie's partitions (Han, Mawhirter, Wu, Buland, PACT 2017): the edges of a direction in runs of about equal size, each the unit
 * that crosses to a device and has one flag of activity. A partition is a run of whole pages or, where it is smaller than a page, a
 * part of one; a list may so lie in several.
 *
 * The storage order is its first renaming: sources first and contiguous, sinks last, lists ascending. The second, made here, gives
 * every partition an id range of the same size: virtual ids, which nothing is stored for, fill the ranges up. Then the partition of
 * an id is id / SZ_max and the index of its state id - pre_sum[id / SZ_max]; sinks follow all ranges.
 *
 * A paged store has ids like that already, with pages for partitions. Where edges or rows cross, they are taken as they are, and flags are
 * by page: ranges are then those of pages, and who reads flags turns them into flags of partitions.
 *
 * Corrected against the paper: a source whose list lies in several partitions belongs to the first of them and is counted once; the
 * others become active with that one.
 */
#ifndef POLICY_PARTITION_H
#define POLICY_PARTITION_H

#include "store/store.h"

/* What an edge, a row and a page take on the wire. */
struct wire_shape {
	u32 edge, row;
	u64 page;		/* not 0: pages cross as they are, and are never cut */
};

struct partitions {
	struct pages unit;	/* entries tell of partitions what those of an index tell of pages */
	u32 n;			/* of them: P */
	u32 *page, *page_end;	/* the pages that hold each */
	u32 n_cut;		/* pages that hold parts */
	u32 *first;		/* P + 1: the first source of each; SZ is the distance to the next, and first[P] the number of sources */
	u32 *owner;		/* who has its first source: itself, or an earlier one whose last list goes on here */
	bool stored;		/* the ids are those of the store's lists */
	u32 n_ranges;		/* of ids: P, or the pages */
	u32 *pre_sum;		/* n_ranges + 1: virtual ids before each */
	u32 range;		/* SZ_max, or the slots of a page */
	u64 ids;		/* sources, virtual ids and sinks together */
	u64 largest;		/* bytes of the largest on the wire */
	u64 edges, rows;	/* of the largest */
	u32 *hint;		/* the partition of each 2^shift-th source */
	u32 shift;
};

/* Bytes of pages [begin, end) on the wire. */
u64 partition_bytes(const struct wire_shape *w, const struct pages *p, u32 begin, u32 end);
/* Rule V-C for K queues: ES / K for a graph that fits, else (GS - VS - AS) / K, of which room is what stands in the brackets. */
u64 partition_size(u64 graph, u64 room, u32 queues);

/*
 * Three steps: cut makes partitions of at most `size` bytes from the page index alone (but of an edge at least, or of a page that is
 * not cut, and a part may have more than its share of rows); place is called for every page that holds parts (partitions_is_cut), on any
 * thread, and finds their rows; number makes the ids, in time that is linear in partitions, or takes those of a paged store.
 * MILL_ELIMIT: more than 2^32 of them.
 */
mill_err partitions_cut(struct partitions *out, struct budget *budget, const struct pages *p, const struct wire_shape *w, u64 size);
/* How many that would be. */
u64 partitions_count(const struct pages *p, const struct wire_shape *w, u64 size);
bool partitions_is_cut(const struct partitions *p, u32 page);
void partitions_place(struct partitions *p, u32 page, const struct segment *seg);
mill_err partitions_number(struct partitions *p, const struct wire_shape *w, u64 n_vertices, struct budget *budget);
void partitions_release(struct partitions *p);	/* a zeroed struct is fine */
/* Host bytes of P partitions of so many sources, about. */
u64 partitions_bytes(u64 n);

/* The partition that has source v. */
static inline u32 partitions_find(const struct partitions *p, vid v)
{
	u32 i = p->hint[v >> p->shift];

	while (v >= p->first[i + 1])
		i++;
	return i;
}

/* SZ. */
static inline u32 partitions_sources(const struct partitions *p, u32 i) { return p->first[i + 1] - p->first[i]; }

/* Of ids that are made here, the id of a vertex; near: a partition at or before that of v, for who asks in ascending order. Keeps it up. */
static inline u32 partitions_id(const struct partitions *p, vid v, u32 *near)
{
	if (v >= p->first[p->n])
		return v + p->pre_sum[p->n];
	while (v >= p->first[*near + 1])
		++*near;
	return v + p->pre_sum[*near];
}

/* From an id back to its range, n_ranges for a sink, and to the index of its state. */
static inline u32 partitions_of_id(const struct partitions *p, u32 id)
{
	u32 i = p->range ? id / p->range : p->n_ranges;

	return i < p->n_ranges ? i : p->n_ranges;
}
static inline vid partitions_index(const struct partitions *p, u32 id) { return (vid)(id - p->pre_sum[partitions_of_id(p, id)]); }

#endif
