/* SPDX-License-Identifier: Apache-2.0 */
/* GTS's equations 1 and 2. See gts_model.h. */
#include "model/gts_model.h"

#include <math.h>

static f64 seconds(f64 bytes, f64 rate) { return rate > 0 ? bytes / rate : 0; }
/* Returns x within [low, high]; low for a NaN. */
static f64 within(f64 x, f64 low, f64 high) { return x > low ? (x < high ? x : high) : low; }
static f64 devices(const struct gts_scan *s) { return s->n_devices ? s->n_devices : 1; }
static f64 chunks(const struct gts_scan *s) { return s->chunks ? s->chunks : 1; }

/* Two activities overlap. Returns the seconds that both together take longer than the first. */
static f64 visible(f64 first, f64 second, f64 overlap)
{
	return fmax(0, second - first) + within(overlap, 0, 1) * fmin(first, second);
}

/*
 * Returns the divisor of the work on pages: above 1 if devices share it, below 1 if each
 * division of one processor repeats it. skew: d_skew.
 */
static f64 divisor(const struct gts_constants *c, const struct gts_scan *s, f64 skew)
{
	f64 n = devices(s);

	if (s->strategy == GTS_S)
		return c->shared ? 1 / n : 1;
	return c->shared ? 1 : n * within(skew, 1 / n, 1);
}

/*
 * Returns the seconds of WA to the devices and back, once. Under S the shares go one after
 * the other, as in the paper's "naive synchronization".
 */
static f64 attributes(const struct gts_constants *c, const struct gts_scan *s)
{
	f64 times = c->shared && s->strategy == GTS_P ? devices(s) : 1;

	return seconds(2 * times * (f64)s->wa, c->c1);
}

static f64 merging(const struct gts_constants *c, const struct gts_scan *s)
{
	return s->strategy == GTS_P ? fmax(0, c->sync) * (devices(s) - 1) * (f64)s->wa : 0;
}

static void total(struct mill_cost *c)
{
	c->total = c->attributes + c->stream + c->calls + c->kernel + c->sync + c->disk;
}

/*
 * Sets the terms of one pass of streaming pages. bytes: without resident pages. last: edges
 * per device in the last pages; no transfer hides their kernels, because no page follows.
 */
static void stream(const struct gts_constants *c, const struct gts_scan *s, f64 skew, f64 bytes,
		   f64 calls, f64 edges, f64 last, f64 read, struct mill_cost *out)
{
	f64 divided = divisor(c, s, skew) / chunks(s), work = fmax(0, c->kernel) * edges / divided;

	out->stream = seconds(bytes, c->c2) / divided;
	out->calls = fmax(0, c->call) * calls / divided;
	out->kernel = fmax(fmax(0, c->kernel) * last * chunks(s),
			   visible(out->stream, work, c->overlap));
	out->disk = visible(out->stream + out->kernel, seconds(read, c->disk), c->behind);
}

void gts_scan_cost(const struct gts_constants *c, const struct gts_scan *s, struct mill_cost *out)
{
	f64 pages = (f64)s->n_small + (f64)s->n_large, miss = 1 - within(s->hit, 0, 1);
	/* Pages have one size, so the last ones have as many edges as others. */
	f64 last = pages > 0 ? s->edges / pages * (f64)((s->n_small > 0) + (s->n_large > 0)) : 0;

	*out = (struct mill_cost){ .attributes = attributes(c, s), .sync = merging(c, s) };
	stream(c, s, 1, (f64)s->ra + ((f64)s->sp + (f64)s->lp) * miss, pages, s->edges, last,
	       s->disk, out);
	total(out);
}

/* Returns the cost of a level without WA. */
static void level_cost(const struct gts_constants *c, const struct gts_scan *graph, f64 skew,
		       const struct gts_level *l, f64 calls, struct mill_cost *out)
{
	*out = (struct mill_cost){ .sync = merging(c, graph) };
	stream(c, graph, skew > 0 ? skew : 1, (l->ra + l->sp + l->lp) * (1 - within(l->hit, 0, 1)),
	       calls, l->edges, 0, l->disk, out);
	total(out);
}

void gts_levels_cost(const struct gts_constants *c, const struct gts_scan *graph, f64 skew,
		     const struct gts_level *level, u64 n, struct mill_cost *out)
{
	struct mill_cost one;

	*out = (struct mill_cost){ .attributes = attributes(c, graph) };
	for (u64 i = 0; i < n; i++) {
		level_cost(c, graph, skew, &level[i], level[i].n_small + level[i].n_large, &one);
		gts_add(out, &one);
	}
	total(out);
}

void gts_add(struct mill_cost *to, const struct mill_cost *c)
{
	to->attributes += c->attributes;
	to->stream += c->stream;
	to->calls += c->calls;
	to->kernel += c->kernel;
	to->sync += c->sync;
	to->disk += c->disk;
	total(to);
}

static void multiply(struct mill_cost *c, f64 by)
{
	c->stream *= by;
	c->calls *= by;
	c->kernel *= by;
	c->sync *= by;
	c->disk *= by;
}

/* If the levels are not known, the cost is that of a mean round times the number of rounds. */
void gts_predict(const struct gts_setting *s, struct mill_cost *out)
{
	const struct gts_constants *c = &s->constants;
	f64 rounds = fmax(1, s->rounds), pages = (f64)s->graph.n_small + (f64)s->graph.n_large;

	if (s->equation == 2 && s->level) {
		gts_levels_cost(c, &s->graph, s->skew, s->level, s->n_levels, out);
	} else if (s->equation == 2) {
		f64 share = fmax(0, s->full) / rounds;
		struct gts_level mean = {
			.ra = share * (f64)s->graph.ra,
			.sp = share * (f64)s->graph.sp,
			.lp = share * (f64)s->graph.lp,
			.edges = s->edges / rounds,
			.hit = s->hit,
			.disk = s->disk / rounds,
		};

		level_cost(c, &s->graph, s->skew, &mean,
			   s->calls > 0 ? s->calls / rounds : share * pages, out);
		multiply(out, rounds);
	} else {
		struct gts_scan mean = s->graph;

		mean.edges = s->edges / rounds;
		mean.hit = s->hit;
		mean.disk = s->disk / rounds;
		gts_scan_cost(c, &mean, out);
		if (s->calls > 0 && pages > 0)
			out->calls *= s->calls / rounds / pages;
		multiply(out, rounds);
	}
	out->attributes = attributes(c, &s->graph) * fmax(0, s->copies);
	total(out);
}

u64 gts_bytes_down(const struct gts_scan *s)
{
	u64 n = s->n_devices ? s->n_devices : 1,
	    topology = (s->ra + s->sp + s->lp) * (s->chunks ? s->chunks : 1);

	return s->strategy == GTS_S ? s->wa + n * topology : n * s->wa + topology;
}

f64 gts_hit_rate(u64 slots, u64 pages) { return slots >= pages ? 1 : (f64)slots / (f64)pages; }

f64 gts_scan_hit_rate(u64 slots, u64 pages, f64 passes)
{
	return slots < pages || !(passes > 1) ? 0 : 1 - 1 / passes;
}
