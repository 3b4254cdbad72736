/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTS's cost models (Kim et al., SIGMOD 2016, section 5), as functions of plain numbers. With WA bytes of attributes that are
 * written, RA that are only read and come beside their pages, SP and LP of S small and L large pages, and N devices:
 *
 *	(1) a pass over everything:	2 WA / c1 + (RA + SP + LP) / (c2 N) + t_call((S + L) / N) + t_kernel(last SP + last LP) + t_sync(N)
 *	(2) levels:			2 WA / c1 + sum over l of
 *						(RA_l + SP_l + LP_l) / (c2 N d_skew) x (1 - r_hit) + t_call((S_l + L_l) / (N d_skew))
 *
 * That is strategy P, whose devices have all of WA and share the pages. What the paper does not print, and 0 leaves out:
 *
 * S		devices share WA, and all get all pages: nothing is divided by N.
 * W chunks	WA larger than a device comes in W parts, and pages and RA pass W times.
 * kernels	are hidden by the streaming where they take less. Where they take longer, the rest is seen (in both equations), and `overlap`
 *		of the shorter too: a device that is the host's own processor does not do both at once.
 * sync		is c.sync seconds for each byte that the host merges: (N - 1) WA after a pass under P, none under S, whose parts are disjoint.
 * disk		in front: what reading takes beyond streaming and kernels, and `behind` of the shorter.
 * shared	devices that are parts of one processor have one link and one clock: bytes, calls and kernels add up over all of them.
 *
 * Terms add up: each is what is seen of it, in seconds. A rate or a time that is 0 costs nothing, and no number makes a term NaN or
 * infinite.
 */
#ifndef MODEL_GTS_MODEL_H
#define MODEL_GTS_MODEL_H

#include <millrace.h>

#include "base/types.h"

enum gts_strategy { GTS_P, GTS_S };

struct gts_constants {
	f64 c1, c2;		/* bytes a second: a chunk in one piece, pages that stream */
	f64 call;		/* seconds of all that is launched for a page */
	f64 kernel;		/* seconds an edge */
	f64 sync;		/* seconds a byte that is merged */
	f64 disk;		/* bytes a second; 0: there is none in front */
	f64 overlap;		/* of the shorter of streaming and kernels, how much is seen: 0 to 1 ... */
	f64 behind;		/* ... and of the shorter of these and the disk */
	bool shared;		/* see above */
};

/* A pass over all pages. */
struct gts_scan {
	u64 wa, ra, sp, lp;	/* bytes */
	u64 n_small, n_large;	/* pages */
	f64 edges;		/* looked at, by all devices together */
	f64 hit;		/* of the pages, the share that is on the device already; RA is new in every pass */
	f64 disk;		/* bytes read */
	u32 n_devices;		/* 0: 1 */
	u32 chunks;		/* W; 0: 1 */
	enum gts_strategy strategy;
};

/* What a level touches of that; a mean level may touch half a page. */
struct gts_level {
	f64 ra, sp, lp;		/* bytes */
	f64 n_small, n_large;
	f64 edges;
	f64 hit;		/* r_hit */
	f64 disk;
};

/* A run, as far as it is known before it is made. */
struct gts_setting {
	struct gts_constants constants;
	struct gts_scan graph;	/* all of it, once; its edges, hit and disk are not looked at */
	u32 equation;		/* 1 or 2 */
	f64 rounds;		/* passes (1), levels (2); at least 1 counts */
	f64 full;		/* 2: all levels together ask for as many pages as so many passes */
	f64 edges, disk;	/* looked at, and bytes read, in all rounds */
	f64 hit;		/* of the pages asked for in all rounds */
	f64 calls;		/* pages' worth of launches in all rounds; 0: one for each page asked for */
	f64 copies;		/* WA goes there and back so often: equation 2 has 1, and (1) for each pass again; 0: it is made there and stays */
	f64 skew;		/* d_skew, 1/N to 1; 0: 1 */
	const struct gts_level *level;	/* where they are known, instead of what was said of all rounds; NULL: they are not */
	u64 n_levels;
};

/* Equation 1. */
void gts_scan_cost(const struct gts_constants *c, const struct gts_scan *s, struct mill_cost *out);
/* Equation 2; of the graph WA, the devices, strategy and chunks count. */
void gts_levels_cost(const struct gts_constants *c, const struct gts_scan *graph, f64 skew, const struct gts_level *level, u64 n,
		     struct mill_cost *out);
/* Either, for a whole run. */
void gts_predict(const struct gts_setting *s, struct mill_cost *out);

/* Bytes that go to devices in a pass that finds nothing there: N WA + W (RA + SP + LP) under P, WA + N W (RA + SP + LP) under S. */
u64 gts_bytes_down(const struct gts_scan *s);
/* Section 3.3: B of S + L pages are in the cache of a search that goes anywhere. */
f64 gts_hit_rate(u64 slots, u64 pages);
/* A scan in the order of the pages finds nothing under LRU, unless all are there: then all but those of the first of so many passes. */
f64 gts_scan_hit_rate(u64 slots, u64 pages, f64 passes);
/* The terms together. */
void gts_add(struct mill_cost *to, const struct mill_cost *c);

#endif
