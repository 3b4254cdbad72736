/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run will cost, before it is made. An algorithm is a number of passes over all pages (as PageRank) or of levels that touch some (as
 * BFS). On a device that is GTS's equation 1 or 2 (model/gts_model.h) and t_step x supersteps, on the host
 *
 *	seconds = max(read, compute) + overlap x min(read, compute) + t_step x supersteps
 *	read    = pages read x page size / disk		P + (I - 1)(P - F) pages in I passes over F frames
 *	compute = (edges x (t_edge + t_decode) + vertices x t_vertex) / threads
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <millrace.h>

#include "model/gts_model.h"
#include "model/machine.h"

struct setting;

/* What an algorithm does, as far as it costs something. */
struct work {
	f64 steps;		/* supersteps */
	f64 most;		/* at most so many; 0: as many more as the row is unsure */
	f64 edges;		/* looked at */
	f64 edge_seconds;	/* of a thread, for each */
	f64 vertices;		/* visited by passes over the vertices */
	f64 full;		/* as many passes over all pages would have as many active ones */
	bool levels;		/* equation 2 */
	bool sums;		/* what is written begins at 0 in every pass */
	bool sliding;		/* few pages at a time, which move on slowly: the front of a search over a map */
};

/*
 * The row of an algorithm. sure: the time may be so many times longer or shorter, and supersteps that nothing bounds so many times
 * more or fewer.
 */
struct cost {
	void (*work)(const struct setting *s, struct work *w);
	f64 sure;
};

/* Those that are there: one for each algorithm whose cost is known well, and general ones for others. */
extern const struct cost cost_bfs, cost_sssp, cost_pagerank, cost_cc, cost_scc, cost_bc, cost_kcore, cost_triangles, cost_cdlp, cost_degrees;
extern const struct cost cost_search;	/* levels of a frontier, every edge looked at once */
extern const struct cost cost_rounds;	/* rounds, each a sum over all edges */

/* What the model is told of a run. */
struct setting {
	const struct store *store;
	const struct machine *machine;
	const struct cost *cost;	/* NULL: cost_search */
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
	/* On a device: */
	u64 slots;		/* for pages; 0: the device is the host */
	bool whole;		/* all lists fit, unpacked: they are launched once a step */
	bool unpacked;		/* or stay unpacked, page by page */
	u64 large;		/* of the pages: those of a single list */
	u64 page_bytes;		/* that cross for a page, about */
	u64 state;		/* bytes of it: WA */
	u64 read_only;		/* that come beside the pages in every pass: RA */
	/*
	 * GTS's way: the state is not made there and read when all is done, but written and read by the host; pages are taken in their order and
	 * the latest stay.
	 */
	bool gts;
	u32 devices, chunks;	/* N, W; 0: 1 */
	enum gts_strategy strategy;
	bool shared;		/* the devices are parts of the host */
};

void model_predict(const struct setting *s, struct mill_prediction *out);

#endif
