/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edge numbers. Every edge of the graph that a run reads has one number. Numbers are dense,
 * below n, and an edge has the same number in every list that shows it:
 *
 *	directed store		its position in the out-lists; in-lists have a table
 *	undirected, view	u owns the edges {u, v} with v >= u; owned edges are numbered in
 *				the order of the lists; the other side has a table
 *
 * Lists ascend, so the edges that a vertex owns are the end of its list: number minus
 * position is the same for all of them (`base`). A program that sees edges from their
 * owner's side only (NUMBERS_OWNED) needs 4 bytes per vertex. A program that sees them from
 * both sides (NUMBERS_BOTH) needs a table of 4 bytes per stored edge of the direction. The
 * table is in memory beside resident lists, else in a file beside the pages. To a device it
 * crosses with its page.
 *
 * Copies of an edge are paired in the order in which they lie. A self-loop has one number
 * for each time that it is stored: one in an undirected store, two (out and in) in
 * VIEW_BOTH of a directed store. Views and oriented lists (op/orient.h) have the numbers of
 * the view's lists.
 */
#ifndef TRANSFER_NUMBER_H
#define TRANSFER_NUMBER_H

#include "device/device.h"
#include "stream/beside.h"

/* The table of one direction. */
struct number_side {
	bool table;		/* false: positions are the numbers, or only owners ask */
	u32 *all;		/* the table, in memory, or ... */
	struct beside file;	/* ... on disk */
	u64 *first;		/* on disk: the position of each page's first edge, and the end */
	u32 *page_numbers;	/* on disk: for each worker, room for the numbers of a page */
};

struct edge_numbers {
	u64 n;
	struct number_side side[2];	/* out, in; an undirected store and a view have one */
	u32 *base;		/* by vertex, on the host; NULL: positions are the numbers */
	struct buffer on_device;	/* the copy of `base` on the device */
	u64 *owned;		/* streamed: the number of the first edge each page owns, and n */
	u32 n_pages;		/* number of pages in `owned` */
};

#endif
