/* SPDX-License-Identifier: Apache-2.0 */
/* What an algorithm needs, said before it begins. */
#ifndef TRANSFER_NEED_H
#define TRANSFER_NEED_H

#include "base/types.h"

enum view {
	VIEW_NONE,	/* the store's own directions */
	VIEW_SIMPLE,	/* undirected; neither loops nor parallel edges */
	VIEW_ARCS,	/* the same of a directed store, with the number of its directions (1 or 2) as u32 weights */
	VIEW_BOTH	/* out- and in-lists merged; loops and parallel edges stay */
};

struct cost;

struct need {
	const char *algorithm;	/* as users know it */
	const struct cost *cost;	/* its row of the cost model; NULL: about as a search */
	u64 state;		/* bytes of vectors, frontiers included, where the device is */
	u64 host;		/* bytes that are on the host in any case: ids for parents, a certificate */
	bool out, in;		/* the directions that it reads */
	bool weights;
	bool advances;		/* along a frontier; with `own` this is of what follows */
	u32 edge_scratch;	/* device bytes for each edge of the segments that kernels work on; see transfer->scratch_edges */
	bool own;		/* the policy's units and kernels. With home HOST the state is on the host, and ... */
	u32 writable, given;	/* ... bytes, of each vertex, that edges write, and that sources give, at most, go to the devices */
	u32 spread;		/* not 0: in-edges are only reduced, by programs with SPREAD, from values of so many bytes */
	u64 resident;		/* host bytes more, if the topology is resident */
	bool one_segment;	/* resident only as a single segment */
	bool on_host;		/* computes on the host, whatever the device: then the state is there */
	u8 numbers;		/* bits 1 << enum numbers: which edge numbers programs take */
	u64 by_edge;		/* host bytes of state by edge that may be streamed instead, ... */
	u32 by_edge_size;	/* ... and those of one edge */
	u64 own_lists;		/* not 0: the operator sends its own lists instead of pages; the least device bytes for them */
	enum view view;		/* not VIEW_NONE: instead of the directions; see view_need */
	/* For the cost model: see struct setting. */
	u64 rounds, searches;
	f64 tolerance, damping;
};

#endif
