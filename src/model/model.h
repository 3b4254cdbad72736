/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts the cost of a run. model.c has a row per algorithm. To the model, an algorithm is
 * a number of passes over all pages (as PageRank), or of levels that touch some pages (as
 * BFS); pages come from a disk. The number of pages that full passes read is exact. On a
 * device the cost is GTS's equation 1 or 2 (model/gts_model.h) plus t_step x supersteps. On
 * the host it is
 *
 *	seconds = max(read, compute) + overlap x min(read, compute) + t_step x supersteps
 *	read    = pages read x page size / disk
 *	compute = (edges x (t_edge + t_decode) + vertices x t_vertex) / threads
 *
 * I passes over P pages through F frames read P + (I - 1)(P - F) pages. The constants come
 * from model/machine.h.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <millrace.h>

#include "model/gts_model.h"
#include "model/machine.h"

struct setting;

/* The work of an algorithm, in the units that the model has costs for. */
struct work {
	f64 steps;		/* supersteps */
	f64 most;		/* the most supersteps; 0: not bounded, the row's `sure` applies */
	f64 edges;		/* edges processed */
	f64 edge_seconds;	/* seconds of a thread per edge */
	f64 vertices;		/* vertices visited by passes over the vertices */
	f64 full;		/* number of full passes that would have as many active pages */
	bool levels;		/* equation 2; false: equation 1 */
	bool sums;		/* the array that edges write begins at 0 in every pass */
	bool sliding;		/* a front of few pages that moves slowly: a search over a map */
};

/*
 * The row of an algorithm. sure: the factor by which the time may be longer or shorter, and
 * by which the supersteps, if nothing bounds them, may be more or fewer.
 */
struct cost {
	void (*work)(const struct setting *s, struct work *w);
	f64 sure;
};

/* One row for each algorithm with a well-known cost, and two general rows for others. */
extern const struct cost cost_bfs, cost_sssp, cost_pagerank, cost_cc, cost_scc, cost_bc, cost_kcore,
	cost_triangles, cost_cdlp, cost_degrees;
extern const struct cost cost_search;	/* levels of a frontier; every edge is processed once */
extern const struct cost cost_rounds;	/* rounds, each a sum over all edges */

/* A run, as the model sees it. */
struct setting {
	const struct store *store;
	const struct machine *machine;
	const struct cost *cost;	/* NULL: cost_search */
	u64 rounds;		/* the most rounds, for algorithms that have rounds */
	f64 tolerance, damping;	/* pagerank: ends below this change; tolerance 0: all rounds */
	u64 searches;		/* bc: number of sources */
	bool pulls;		/* a search may pull: it has the in-edges */
	bool resident, bins;	/* the graph is resident; it is in bins */
	bool async;
	unsigned threads;
	u64 pages, frames;	/* pages of a full pass; frames of the run */
	f64 again;		/* fraction of a page that later reads bring, without weights */
	u64 load_pages;		/* pages read before the run begins */
	u64 load_edges;
	/* On a device: */
	u64 slots;		/* for pages; 0: the device is the host */
	bool whole;		/* all lists fit, unpacked: kernels are launched once per step */
	bool unpacked;		/* not whole, but each page stays unpacked in its work area */
	u64 large;		/* number of pages with a single list */
	u64 page_bytes;		/* bytes that cross for a page, about */
	u64 state;		/* bytes of state: WA */
	u64 read_only;		/* bytes that are sent beside the pages in every pass: RA */
	/*
	 * GTS: the host writes and reads the state in each pass (otherwise it is made on
	 * the device and read at the end), pages come in page order, and the most recent
	 * stay.
	 */
	bool gts;
	u32 devices, chunks;	/* N, W; 0: 1 */
	enum gts_strategy strategy;
	bool shared;		/* the devices are divisions of the host's processor */
};

void model_predict(const struct setting *s, struct mill_prediction *out);

#endif
