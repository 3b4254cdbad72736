/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: the work of each algorithm, and its cost. See model.h. */
#include "model/model.h"

#include <math.h>

static f64 vertices(const struct setting *s) { return (f64)s->store->n_linked; }
static f64 edges(const struct setting *s) { return (f64)s->store->stored_edges; }
/*
 * Returns whether the graph is in memory where the run computes, so that passes need no
 * transfers.
 */
static bool in_memory(const struct setting *s) { return s->resident || s->whole; }

/* ---- Full passes: equation 1 ---- */

/*
 * PageRank ends when the change has fallen from its first value to the tolerance. The first
 * value follows from the degrees: with random neighbours, the score of a vertex after one
 * iteration is in proportion to its degree. Then the change falls, per iteration, by the
 * damping times the second eigenvalue of the walk. For a random graph of typical degree k
 * that is 2 sqrt(k - 1) / k. If parts of the graph are loosely connected, the change falls
 * more slowly, at worst by the damping alone: that is the upper bound.
 */
static void pagerank_work(const struct setting *s, struct work *w)
{
	const struct machine *m = s->machine;
	f64 k = m->typical > 2 ? m->typical : 2, rate = s->damping * 2 * sqrt(k - 1) / k;
	f64 first = s->damping * (m->skew > 1e-9 ? m->skew : 1e-9), most = (f64)s->rounds;

	w->steps = w->most = most;
	if (s->tolerance > 0) {
		f64 likely = 1 +
			     log(s->tolerance / first) / log(rate < s->damping ? rate : s->damping);

		w->most = fmin(most, ceil(1 + log(s->tolerance / 2) / log(s->damping)));
		w->steps = fmin(w->most, fmax(1, ceil(s->async ? 0.6 * likely : likely)));
	}
	w->edges = w->steps * edges(s);
	/* Bins are read in sequence, like packed pages. */
	w->edge_seconds = !s->bins		   ? m->gather :
			  store_in_place(s->store) ? m->gather / 2 :
						     2 * m->decode;
	w->vertices = vertices(s);
	w->full = w->steps;
	w->sums = true;
	if (s->gts)
		w->edge_seconds = m->join;
}

static void cdlp_work(const struct setting *s, struct work *w)
{
	w->steps = w->most = w->full = (f64)s->rounds;
	w->edges = w->steps * edges(s);
	w->edge_seconds = 8 * s->machine->gather;	/* labels are sorted or hashed */
	w->vertices = w->steps * vertices(s);
}

static void search_work(const struct setting *s, struct work *w, f64 steps, f64 n_edges);

/*
 * Resident, cc processes two edges of each list; streamed, all edges once. Under GTS labels
 * spread level by level.
 */
static void cc_work(const struct setting *s, struct work *w)
{
	if (s->gts) {	/* a pass may carry a label over many pages, in page order */
		search_work(s, w, fmax(3, s->machine->levels / (s->machine->local > 0 ? 64 : 2)),
			    3 * edges(s));
		w->full = w->steps;
		w->sliding = false;
		return;
	}
	w->steps = in_memory(s) ? 3 : 1;
	w->edges = in_memory(s) ? 2 * (f64)s->store->sources : edges(s);
	/*
	 * Unless lists are short, the beginning of each list is a cache miss. About eight
	 * misses are under way at once.
	 */
	w->edge_seconds = s->machine->scan +
			  (in_memory(s) ? fmin(1, s->machine->typical / 16) * s->machine->miss / 8 :
					  0);
	w->vertices = 6 * vertices(s);
	w->full = 1;
}

static void degrees_work(const struct setting *s, struct work *w) { w->vertices = 4 * vertices(s); }

/*
 * For each edge two lists are intersected, which visits about a fourth of a typical list.
 * Streamed, all pages pass once for each block of pages that stays.
 */
static void triangles_work(const struct setting *s, struct work *w)
{
	u64 held = s->slots ? s->slots : s->frames;	/* pages that stay */
	bool one = s->slots ? s->slots >= s->pages : s->resident;
	f64 blocks = one ? 1 : ceil(2 * (f64)s->pages / (f64)(held ? held : 1));

	w->steps = 1;
	w->edges = edges(s) * fmax(1, s->machine->typical / 4);
	w->edge_seconds = s->machine->scan;
	w->vertices = 2 * vertices(s);
	w->full = blocks;
}

/* ---- Levels: equation 2 ---- */

/*
 * A search of `steps` supersteps that processes n_edges edges. If levels are few, a little
 * more than half of the steps need nearly all pages, and the others need few. On a map each
 * step needs about half of the pages.
 */
static void search_work(const struct setting *s, struct work *w, f64 steps, f64 n_edges)
{
	bool local = s->machine->local > 0;

	/* With --async, a search over a map passes through a page in one step. */
	if (s->async && local && !s->resident)
		steps /= 16;
	w->steps = steps < 1 ? 1 : steps;
	w->edges = n_edges;
	/*
	 * On a map the few vertices of a level lie anywhere: row, list and state of each
	 * are cache misses, some of them at the same time.
	 */
	w->edge_seconds = s->machine->push + (local ? s->machine->miss / s->machine->typical : 0);
	w->full = fmax(1, (local ? 0.5 : 0.6) * w->steps);
	w->sliding = local;
	w->vertices = vertices(s);
	w->levels = true;
}

/* If levels are few, pulling skips most edges. */
static void bfs_work(const struct setting *s, struct work *w)
{
	bool local = s->machine->local > 0;

	search_work(s, w, s->machine->levels, edges(s) * (s->pulls && !local ? 0.12 : 1));
}

/* Near/far: a level takes several steps if paths of few edges are not the shortest. */
static void sssp_work(const struct setting *s, struct work *w)
{
	bool local = s->machine->local > 0;

	if (s->gts) {	/* no near/far: every vertex that falls is active in the next level */
		search_work(s, w, s->machine->levels * (local ? 0.125 : 1.2),
			    edges(s) * (local ? 20 : 5));
		w->full = 0.8 * w->steps;
		return;
	}
	search_work(s, w, s->machine->levels * (local ? 1.5 : 4), edges(s) * (local ? 1.6 : 1.8));
}

/* Forwards and backwards, over all edges each time. */
static void bc_work(const struct setting *s, struct work *w)
{
	f64 n = (f64)(s->searches ? s->searches : 1);

	search_work(s, w, n * 3 * s->machine->levels, n * 2 * edges(s));
	w->vertices *= n;
}

/* Searches forwards and backwards, then work on the rest. */
static void scc_work(const struct setting *s, struct work *w)
{
	if (!s->store->directed) {
		cc_work(s, w);
		return;
	}
	search_work(s, w, 3 * s->machine->levels, 3 * edges(s));
	w->vertices *= 4;
}

/* Resident, vertices are peeled in cascades. Streamed, bounds fall in some tens of passes. */
static void kcore_work(const struct setting *s, struct work *w)
{
	search_work(s, w, in_memory(s) ? 2 * s->machine->typical : 34,
		    edges(s) * (in_memory(s) ? 1.5 : 8));
	w->full = 12;
	w->sliding = false;
}

static void level_work(const struct setting *s, struct work *w)
{
	search_work(s, w, s->machine->levels, edges(s));
}

static void round_work(const struct setting *s, struct work *w)
{
	w->steps = w->most = w->full = (f64)(s->rounds ? s->rounds : 1);
	w->edges = w->steps * edges(s);
	w->edge_seconds = s->gts ? s->machine->join : s->machine->gather;
	w->vertices = w->steps * vertices(s);
	w->sums = true;
}

const struct cost cost_bfs = { bfs_work, 2 };
const struct cost cost_sssp = { sssp_work, 2 };
const struct cost cost_pagerank = { pagerank_work, 1.5 };
const struct cost cost_cc = { cc_work, 2 };
const struct cost cost_scc = { scc_work, 4 };
const struct cost cost_bc = { bc_work, 3 };
const struct cost cost_kcore = { kcore_work, 4 };
const struct cost cost_triangles = { triangles_work, 4 };
const struct cost cost_cdlp = { cdlp_work, 2 };
const struct cost cost_degrees = { degrees_work, 2 };
const struct cost cost_search = { level_work, 8 };
const struct cost cost_rounds = { round_work, 4 };

/* ---- Cost ---- */

/*
 * Returns the number of pages that cross a boundary behind which `held` pages stay. Full
 * passes read exactly P + (I - 1)(P - F). A front that slides over a map needs from 0 to P
 * pages in a step, each number equally often; the pages beyond F are read again.
 */
static f64 pages_moved(const struct setting *s, const struct work *w, u64 held)
{
	f64 pages = (f64)s->pages, beyond = held < s->pages ? (f64)(s->pages - held) : 0;

	if (!w->full)
		return 0;
	if (w->sliding)
		return pages + w->steps * beyond * beyond / (2 * fmax(pages, 1));
	return pages + fmax(0, w->full - 1) * beyond;
}

/*
 * Returns the number of edges that are decoded: those of the pages that are needed; on a
 * map those near the wanted rows, and the lengths of all rows.
 */
static f64 decoded_edges(const struct setting *s, const struct work *w)
{
	if (s->resident || store_in_place(s->store))
		return 0;
	return w->sliding ? 4 * w->edges + w->full * vertices(s) : w->full * edges(s);
}

static u64 rounded(f64 x) { return x < 1 ? 0 : x < 1e18 ? (u64)(x + 0.5) : (u64)1e18; }

static f64 load_seconds(const struct setting *s)
{
	const struct machine *m = s->machine;
	f64 read = (f64)s->load_pages * s->store->page_size / m->read;
	f64 copy = (f64)s->load_edges * (m->load + (store_in_place(s->store) ? 0 : m->decode)) /
		   s->threads;

	return fmax(read, copy) + m->overlap * fmin(read, copy);
}

/*
 * Returns the number of pages that cross to a device. Under GTS and LRU, a scan finds no
 * page resident unless all are; a search finds the part of the pages that is in the cache.
 * Each page crosses at least once.
 */
static f64 pages_sent(const struct setting *s, const struct work *w)
{
	f64 asked = w->full * (f64)s->pages, hit;

	if (!s->gts)
		return fmin(pages_moved(s, w, s->slots), asked);
	hit = w->levels ? gts_hit_rate(s->slots, s->pages) :
			  gts_scan_hit_rate(s->slots, s->pages, w->full);
	return fmin(asked, fmax(asked * (1 - hit), (f64)s->pages));
}

/*
 * Returns the launches for a page: one to unpack it, three to select the rows of a frontier
 * (GTS has none), and the program's kernel.
 */
static f64 launches(const struct setting *s, const struct work *w)
{
	return (f64)!store_in_place(s->store) + (w->levels && !s->gts ? 4 : 1);
}

/*
 * Returns the seconds of kernels. Pages that do not stay unpacked are unpacked for each
 * use. calls: in units of the launches for a page; each launch costs the device something,
 * too.
 */
static f64 kernel_seconds(const struct setting *s, const struct work *w, f64 calls)
{
	const struct machine *m = s->machine;
	f64 unpacked = store_in_place(s->store) ?
			       0 :
			       (s->whole || s->unpacked ? fmin(1, w->full) : w->full) * edges(s);

	return unpacked * m->decode + w->edges * w->edge_seconds + w->vertices * m->vertex +
	       calls * launches(s, w) * fmax(0, m->call - m->enqueue);
}

/*
 * Returns how often the state goes to the devices and back under GTS. With one device and
 * one chunk it stays on the device between passes. Otherwise the next pass needs what the
 * other devices and chunks wrote. Sums begin as zeros, which need not cross.
 */
static f64 state_copies(const struct setting *s, const struct work *w, f64 rounds)
{
	if (!s->gts)
		return 0;
	if (w->sums)
		return rounds / 2;
	return s->devices > 1 || s->chunks > 1 ? rounds : 1;
}

/*
 * Returns the bytes that go to the devices. Under S all pages go to each device; under P
 * all of the state does. With W chunks the pages pass W times.
 */
static f64 bytes_down(const struct setting *s, const struct work *w, f64 sent, f64 rounds)
{
	f64 n = s->devices ? s->devices : 1, chunks = s->chunks ? s->chunks : 1;
	f64 pages = sent * (f64)s->page_bytes + (f64)s->read_only * (w->levels ? w->full : rounds);
	f64 state = w->sums ? 0 : state_copies(s, w, rounds) * (f64)s->state;

	return s->strategy == GTS_S ? state + n * chunks * pages : n * state + chunks * pages;
}

/*
 * Returns d_skew. Pages go to devices in turn, so in a level of few pages one device may
 * have one page more than others.
 */
static f64 skew(const struct setting *s, f64 pages)
{
	f64 n = s->devices ? s->devices : 1;

	return pages > 0 ? pages / (n * ceil(pages / n)) : 1;
}

/* Applies equation 1 or 2 to all passes or levels. */
static void device_cost(const struct setting *s, const struct work *w, struct mill_prediction *out)
{
	const struct machine *m = s->machine;
	f64 rounds = fmax(1, w->levels ? w->steps : w->full), asked = w->full * (f64)s->pages,
	    sent = pages_sent(s, w);
	struct gts_setting g = {
		.constants = {
			.c1 = m->chunk_rate,
			.c2 = m->page_rate,
			.call = launches(s, w) * fmin(m->enqueue, m->call),
			.sync = m->merge,
			.disk = m->read,
			.overlap = m->beside,
			.behind = m->overlap,
			.shared = s->shared,
		},
		.graph = {
			.wa = s->state,
			.ra = s->read_only,
			.sp = (s->pages - s->large) * s->page_bytes,
			.lp = s->large * s->page_bytes,
			.n_small = s->pages - s->large,
			.n_large = s->large,
			.n_devices = s->devices,
			.chunks = s->chunks,
			.strategy = s->strategy,
		},
		.equation = out->equation = w->levels ? 2 : 1,
		.rounds = rounds,
		.full = w->full,
		.edges = fmax(1, w->edges),
		.disk = (f64)out->disk_read,
		.hit = asked > 0 ? 1 - sent / asked : 0,
		.calls = s->whole ? fmin(asked, (f64)s->pages) + w->steps : asked,
		.copies = state_copies(s, w, rounds),
		.skew = skew(s, asked / rounds),
	};

	g.constants.kernel = kernel_seconds(s, w, g.calls) / g.edges;
	gts_predict(&g, &out->cost);
	out->device_seconds = out->cost.total;
	out->to_device = rounded(bytes_down(s, w, sent, rounds));
}

void model_predict(const struct setting *s, struct mill_prediction *out)
{
	const struct cost *model = s->cost ? s->cost : &cost_search;
	const struct machine *m = s->machine;
	struct work w = { 0 };
	f64 pages, compute, sure;

	*out = (struct mill_prediction){ .measured = m->measured };
	model->work(s, &w);
	/* If the shape of the graph was not measured, it may be any. */
	sure = m->shape_known || w.most ? model->sure : 2 * model->sure;
	pages = s->resident ? 0 : pages_moved(s, &w, s->slots > s->frames ? s->slots : s->frames);
	compute = s->slots ? 0 :
			     decoded_edges(s, &w) * m->decode + w.edges * w.edge_seconds +
				     w.vertices * m->vertex;
	out->pages_read = rounded(pages);
	out->disk_read = rounded(((pages < (f64)s->pages ? pages : (f64)s->pages) +
				  (pages > (f64)s->pages ? pages - (f64)s->pages : 0) *
					  (s->again > 0 ? s->again : 1)) *
				 s->store->page_size);
	out->load_read = s->load_pages * s->store->page_size;
	out->iterations = rounded(w.steps);
	out->iterations_low = w.most ? (s->tolerance > 0 ? 1 : rounded(w.most)) :
				       rounded(w.steps / sure);
	out->iterations_high = w.most ? rounded(w.most) : rounded(ceil(w.steps * sure));
	out->read_seconds = (f64)out->disk_read / m->read;
	out->compute_seconds = compute / s->threads;
	out->step_seconds = w.steps * (m->step + 100 * m->miss);
	out->seconds = fmax(out->read_seconds, out->compute_seconds) +
		       m->overlap * fmin(out->read_seconds, out->compute_seconds);
	if (s->slots) {	/* the equation contains the disk */
		device_cost(s, &w, out);
		out->seconds = out->device_seconds;
	}
	out->seconds += out->step_seconds;
	out->seconds_low = out->seconds / sure;
	out->seconds_high = out->seconds * sure;
	/* The run may take all the steps of its upper bound. */
	if (w.most > w.steps && w.steps > 0)
		out->seconds_high = fmax(out->seconds_high, out->seconds * w.most / w.steps);
	out->load_seconds = load_seconds(s);
}
