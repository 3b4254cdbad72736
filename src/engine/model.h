/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run will cost, before it is made: GTS's cost models (Kim et al., SIGMOD 2016, equations 1 and 2) with a disk
 * in front. An algorithm is a number of passes over all pages (1, as PageRank) or of levels that touch some (2, as
 * BFS):
 *
 *	seconds = 2 WA / c1 + bytes to device / c2 + t_call x launches + t_kernel x edges	on a device
 *		+ max(read, compute) + overlap x min(read, compute) + t_step x supersteps
 *	read    = pages read x page size / disk		P + (I - 1)(P - F) pages in I passes over F frames
 *	compute = (edges x (t_edge + t_decode) + vertices x t_vertex) / threads
 */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include <millrace.h>

#include "engine/machine.h"

/* What the model is told of a run. */
struct setting {
	const struct store *store;
	const struct machine *machine;
	const char *algorithm;
	u64 rounds;		/* of algorithms that go round: at most so many ... */
	f64 tolerance, damping;	/* ... or (pagerank) until the change is below; 0: all of them */
	u64 searches;		/* bc: from so many sources */
	bool pulls;		/* a search may pull: it has the in-edges */
	bool resident, bins;	/* and as bins */
	bool async;
	unsigned threads;
	u64 pages, frames;	/* of a pass; what the run can hold */
	f64 again;		/* the share of a page that is read when it comes again: not unwanted weights */
	u64 load_pages;		/* read before it begins */
	u64 load_edges;
	u64 slots;		/* a device's, for pages; 0: the device is the host */
	u64 state;		/* bytes of it on the device */
	u64 raw_page;		/* bytes of a page there */
};

void model_predict(const struct setting *s, struct mill_prediction *out);

#endif
