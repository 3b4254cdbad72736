/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTS's cost models (Kim et al., SIGMOD 2016, section 5), as functions of plain numbers:
 * numbers in, terms out. WA: bytes of attributes that are written; RA: bytes of attributes
 * that are only read and are sent beside their pages; SP and LP: bytes of the S small and L
 * large pages; N devices:
 *
 *	(1) a pass over everything:
 *		2 WA / c1 + (RA + SP + LP) / (c2 N) + t_call((S + L) / N)
 *		+ t_kernel(last SP + last LP) + t_sync(N)
 *	(2) levels:
 *		2 WA / c1 + sum over levels l of
 *			(RA_l + SP_l + LP_l) / (c2 N d_skew) x (1 - r_hit)
 *			+ t_call((S_l + L_l) / (N d_skew))
 *
 * These are for strategy P: every device has all of WA, and the devices share the pages.
 * The following terms are not in the paper. If its constant is 0, a term is left out:
 *
 * S		Devices share WA, and each gets all pages: nothing is divided by N.
 * W chunks	If WA does not fit a device, it comes in W chunks, and pages and RA pass W times.
 * kernels	Kernels run while pages stream. The longer of the two is visible, and so is the
 *		fraction `overlap` of the shorter (in both equations): a device that is the
 *		host's own processor does not do both at once.
 * sync		c.sync seconds per byte that the host merges: (N - 1) WA after a pass under P;
 *		nothing under S, where the devices' shares are disjoint.
 * disk		The time by which reading is longer than streaming and kernels together, and the
 *		fraction `behind` of the shorter of the two.
 * shared	Devices that are divisions of one processor have one link and one clock: bytes,
 *		calls and kernels add up over all of them.
 *
 * Terms are seconds that add up: each is the visible part of its cost, so the measured
 * times of a run can stand beside them (the device's clock for transfers, the host's clock
 * for launches and waits; the part of the waits that transfers do not explain is kernels).
 * A rate or a time of 0 costs nothing, and no input makes a term NaN or infinite.
 */
#ifndef MODEL_GTS_MODEL_H
#define MODEL_GTS_MODEL_H

#include <millrace.h>

#include "base/types.h"

enum gts_strategy { GTS_P, GTS_S };

struct gts_constants {
	f64 c1, c2;		/* bytes per second: a chunk in one piece; pages that stream */
	f64 call;		/* seconds of all launches for a page */
	f64 kernel;		/* seconds per edge */
	f64 sync;		/* seconds per byte that is merged */
	f64 disk;		/* bytes per second; 0: no disk is in front */
	f64 overlap;		/* visible fraction of the shorter of streaming and kernels */
	f64 behind;		/* the same for the disk and (streaming and kernels together) */
	bool shared;		/* see above */
};

/* A pass over all pages. */
struct gts_scan {
	u64 wa, ra, sp, lp;	/* bytes */
	u64 n_small, n_large;	/* pages */
	f64 edges;		/* edges that all devices together process */
	f64 hit;		/* fraction of the pages that is resident; RA always crosses */
	f64 disk;		/* bytes read */
	u32 n_devices;		/* 0: 1 */
	u32 chunks;		/* W; 0: 1 */
	enum gts_strategy strategy;
};

/* The data that one level of a search touches. A mean level may touch half a page. */
struct gts_level {
	f64 ra, sp, lp;		/* bytes */
	f64 n_small, n_large;
	f64 edges;
	f64 hit;		/* r_hit */
	f64 disk;
};

/* The facts about a run that are known before it begins. */
struct gts_setting {
	struct gts_constants constants;
	struct gts_scan graph;	/* one pass over it all; edges, hit and disk are not used */
	u32 equation;		/* 1 or 2 */
	f64 rounds;		/* passes (1) or levels (2); below 1 counts as 1 */
	f64 full;		/* 2: full passes that need as many pages as all levels together */
	f64 edges, disk;	/* edges processed, and bytes read, in all rounds */
	f64 hit;		/* fraction of the pages needed in all rounds that is resident */
	/* Launches in all rounds, in units of the launches for a page; 0: one unit per page. */
	f64 calls;
	/*
	 * How often WA goes to the devices and back: 1 in equation 2, once per pass in
	 * equation 1; 0: WA is made on the device and stays.
	 */
	f64 copies;
	f64 skew;		/* d_skew, 1/N to 1; 0: 1 */
	/*
	 * The levels, if they are known: used instead of the sums over all rounds. NULL:
	 * not known.
	 */
	const struct gts_level *level;
	u64 n_levels;
};

/* Equation 1. */
void gts_scan_cost(const struct gts_constants *c, const struct gts_scan *s, struct mill_cost *out);
/* Equation 2. Of the graph it uses WA, the devices, the strategy and the chunks. */
void gts_levels_cost(const struct gts_constants *c, const struct gts_scan *graph, f64 skew,
		     const struct gts_level *level, u64 n, struct mill_cost *out);
/* Equation 1 or 2, for a whole run. */
void gts_predict(const struct gts_setting *s, struct mill_cost *out);

/*
 * Returns the bytes that go to the devices in a pass with no resident pages: N WA + W (RA +
 * SP + LP) under P, WA + N W (RA + SP + LP) under S.
 */
u64 gts_bytes_down(const struct gts_scan *s);
/*
 * Section 3.3 of the paper: returns B / (S + L), the hit rate of a search that needs any
 * page, if B pages are in the cache.
 */
f64 gts_hit_rate(u64 slots, u64 pages);
/*
 * Returns the hit rate of scans in page order under LRU: 0, unless there is a slot for
 * every page. Then all passes but the first find all pages.
 */
f64 gts_scan_hit_rate(u64 slots, u64 pages, f64 passes);
/* Adds the terms of c to those of `to`. */
void gts_add(struct mill_cost *to, const struct mill_cost *c);

#endif
