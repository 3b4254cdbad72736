/* SPDX-License-Identifier: Apache-2.0 */
/* The need of a run: bytes, directions, views. It is declared before the run begins. */
#ifndef TRANSFER_NEED_H
#define TRANSFER_NEED_H

#include "base/types.h"

enum view {
	VIEW_NONE,	/* the store's own directions */
	VIEW_SIMPLE,	/* undirected; neither loops nor parallel edges */
	/*
	 * VIEW_SIMPLE of a directed store; an edge's u32 weight is the number of directions
	 * (1 or 2) that the store has of it.
	 */
	VIEW_ARCS,
	VIEW_BOTH	/* out- and in-lists merged; loops and parallel edges stay */
};

struct cost;

struct need {
	const char *algorithm;	/* its name for users */
	const struct cost *cost;	/* its row of the cost model; NULL: the cost of a search */
	u64 state;		/* bytes of vectors and frontiers, on the device or on the host */
	u64 host;		/* bytes that are always on the host: parents' ids, a certificate */
	bool out, in;		/* the directions that it reads */
	bool weights;
	/* It advances along a frontier. With `own`: in later passes, which go over pages. */
	bool advances;
	/*
	 * Device bytes per edge of the segments that kernels work on; see
	 * transfer->scratch_edges.
	 */
	u32 edge_scratch;
	bool own;		/* the run uses the policy's units and kernels */
	/*
	 * With `own` and home HOST, bytes per vertex that go to the devices. writable: of
	 * the array that edges write; given: of the values that sources give.
	 */
	u32 writable, given;
	/*
	 * Bytes of a value that a source gives, if in-edges are only reduced, and only by
	 * programs with SPREAD (op/reduce.inc); else 0.
	 */
	u32 spread;
	u64 resident;		/* additional host bytes if the topology is resident */
	bool one_segment;	/* it can be resident only as a single segment */
	bool on_host;		/* computes on the host on any device, so the state is there */
	u8 numbers;		/* bits 1 << enum numbers: which edge numbers programs take */
	u64 by_edge;		/* host bytes of state by edge that may be streamed instead, ... */
	u32 by_edge_size;	/* ... and bytes of that state per edge */
	/*
	 * Not 0: the operator sends its own lists instead of pages; the least device bytes
	 * for them.
	 */
	u64 own_lists;
	enum view view;		/* not VIEW_NONE: replaces the directions; see view_need */
	/* For the cost model: see struct setting. */
	u64 rounds, searches;
	f64 tolerance, damping;
};

#endif
