/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edge numbers. Every edge of the graph that a run reads has one number, below n and dense, the same in every list that shows it:
 *
 *	directed store		its position in the out-lists; in-lists have a table
 *	undirected, view	the edges {u, v} that u owns, those with v >= u, in the order of the lists; the other side has a table
 *
 * Lists ascend, so what a vertex owns is the end of its list: number less position is the same for all of it (`base`), and a program that
 * meets edges from their owner's side only (NUMBERS_OWNED) needs 4 bytes a vertex. From both sides (NUMBERS_BOTH) it needs a table of 4 bytes for each
 * stored edge of the direction: in memory beside resident lists, else in a file beside the pages; on a device it crosses with its page.
 *
 * Copies of an edge are paired in the order in which they lie. A self-loop has a number for each time that it is stored: once in an undirected
 * store, twice (out and in) in a directed store's VIEW_BOTH. Views and oriented lists (op/orient.h) have the numbers of the view's lists.
 */
#ifndef TRANSFER_NUMBER_H
#define TRANSFER_NUMBER_H

#include "device/device.h"
#include "stream/beside.h"

/* The table of one direction. */
struct number_side {
	bool table;		/* there is one; else positions are the numbers, or only owners ask */
	u32 *all;		/* in memory, or ... */
	struct beside file;	/* ... on disk */
	u64 *first;		/* on disk: the position of each page's first edge, and the end */
	u32 *part;		/* on disk: room for the part of a page, for each worker */
};

struct edge_numbers {
	u64 n;
	struct number_side side[2];	/* out, in; of an undirected store, and of a view, there is one */
	u32 *base;		/* by vertex, on the host; NULL: positions are the numbers */
	struct buffer on_device;	/* the same there, in its place */
	u64 *owned;		/* streamed: the number of the first edge that each page owns, and n */
	u32 n_pages;		/* of it */
};

#endif
