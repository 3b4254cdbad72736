/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphie's partitions (Han, Mawhirter, Wu, Buland, PACT 2017): the edges of a direction in
 * runs of about equal size. A partition is the unit that crosses to a device, and has one
 * flag of activity. Rule V-C of the paper gives its size: the bytes of the graph, or of the
 * device's room if that is less, divided by the number of queues. A partition is a run of
 * whole pages. If a page is larger than the size, it is cut into equal pieces, and each
 * piece is a partition; only pages that cross as they are stored are never cut. A list may
 * lie in several partitions.
 *
 * The storage order is Graphie's first renaming: sources first and contiguous, sinks
 * last, lists ascending. The second renaming is made here, when the run begins, from the
 * page index; only pages that are cut are decoded for it, once. It gives every partition
 * an id range of the same size SZ_max, the most sources of a partition. Virtual ids, for
 * which nothing is stored, fill the ranges up. Then the partition of an id is id /
 * SZ_max, and the index of its state is id - pre_sum[id / SZ_max]; sinks follow all
 * ranges. The renaming is a table of P + 1 numbers for P partitions.
 *
 * A paged store has such ids already, with pages in place of partitions. If edges or rows
 * cross, its ids are taken as they are, and flags are by page: the ranges are those of
 * pages, and graphie_spread turns flags of pages into flags of partitions.
 *
 * Corrected against the paper: a source with a list in several partitions belongs to the
 * first of them and is counted once. The others become active with the first, on the host.
 */
#ifndef POLICY_PARTITION_H
#define POLICY_PARTITION_H

#include "store/store.h"

/* Bytes of an edge, a row and a page on the wire. */
struct wire_shape {
	u32 edge, row;
	u64 page;		/* not 0: pages cross as they are stored and are never cut */
};

struct partitions {
	struct pages unit;	/* has an entry per partition, as an index has one per page */
	u32 n;			/* the number of partitions, P */
	u32 *page, *page_end;	/* the pages of each partition */
	u32 n_cut;		/* pages that are cut into pieces */
	/*
	 * P + 1 numbers: the first source of each partition, then the number of sources.
	 * SZ of partition i, the number of its sources, is first[i + 1] - first[i].
	 */
	u32 *first;
	/*
	 * The partition that owns the first source of each partition: the partition itself,
	 * or an earlier one, if the source's list begins there.
	 */
	u32 *owner;
	bool stored;		/* the ids are those of the store's lists */
	u32 n_ranges;		/* id ranges: P, or the number of pages */
	u32 *pre_sum;		/* n_ranges + 1: virtual ids before each range */
	u32 range;		/* SZ_max, or the slots of a page */
	u64 ids;		/* number of sources, virtual ids and sinks together */
	u64 largest;		/* bytes of the largest partition on the wire */
	u64 edges, rows;	/* the most edges and the most rows of a partition */
	u32 *hint;		/* the partition of each 2^shift-th source */
	u32 shift;
};

/* Returns the bytes of pages [begin, end) on the wire. */
u64 partition_bytes(const struct wire_shape *w, const struct pages *p, u32 begin, u32 end);
/*
 * Returns the size by rule V-C for K queues: ES / K if the graph fits, else (GS - VS - AS)
 * / K. room: GS - VS - AS.
 */
u64 partition_size(u64 graph, u64 room, u32 queues);

/*
 * Partitions are made in three steps:
 *
 * cut		makes partitions of at most `size` bytes from the page index alone. A partition
 *		has at least an edge, or a page that is not cut, and a piece of a page may have
 *		more than its share of rows.
 * place	finds the rows of the pieces of a page. It is called for every page that is cut
 *		(partitions_is_cut), on any thread.
 * number	makes the ids, in time linear in the partitions, or takes those of a paged store.
 *		Fails with MILL_ELIMIT if there are more than 2^32 ids.
 */
mill_err partitions_cut(struct partitions *out, struct budget *budget, const struct pages *p,
			const struct wire_shape *w, u64 size);
/* Returns the number of partitions that partitions_cut would make. */
u64 partitions_count(const struct pages *p, const struct wire_shape *w, u64 size);
bool partitions_is_cut(const struct partitions *p, u32 page);
void partitions_place(struct partitions *p, u32 page, const struct segment *seg);
mill_err partitions_number(struct partitions *p, const struct wire_shape *w, u64 n_vertices,
			   struct budget *budget);
void partitions_release(struct partitions *p);	/* a zeroed struct is fine */
/* Estimates the host bytes of n partitions. */
u64 partitions_bytes(u64 n);

/* Returns the partition that has source v. */
static inline u32 partitions_find(const struct partitions *p, vid v)
{
	u32 i = p->hint[v >> p->shift];

	while (v >= p->first[i + 1])
		i++;
	return i;
}

/* Returns SZ of partition i. */
static inline u32 partitions_sources(const struct partitions *p, u32 i)
{
	return p->first[i + 1] - p->first[i];
}

/*
 * Returns the id of vertex v, if ids are not the store's. *near is a partition at or before
 * that of v, and becomes that of v: callers ask for vertices in ascending order.
 */
static inline u32 partitions_id(const struct partitions *p, vid v, u32 *near)
{
	if (v >= p->first[p->n])
		return v + p->pre_sum[p->n];
	while (v >= p->first[*near + 1])
		++*near;
	return v + p->pre_sum[*near];
}

/* Returns the range of an id; n_ranges for a sink. */
static inline u32 partitions_of_id(const struct partitions *p, u32 id)
{
	u32 i = p->range ? id / p->range : p->n_ranges;

	return i < p->n_ranges ? i : p->n_ranges;
}
/* Returns the index of the state of an id. */
static inline vid partitions_index(const struct partitions *p, u32 id)
{
	return (vid)(id - p->pre_sum[partitions_of_id(p, id)]);
}

#endif
