/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a fleet, for the files that make it up: fleet.c and fleet_pass.c. */
#ifndef ENGINE_FLEET_FORM_H
#define ENGINE_FLEET_FORM_H

#include "engine/cache_form.h"
#include "engine/fleet.h"
#include "engine/lru.h"

/* What the kernels of one queue need besides their page. */
struct lane {
	struct buffer lists;	/* the page unpacked ... */
	u64 holds;		/* ... of in-pages with bit 32 set, + 1; 0: none */
	struct buffer given;	/* RABuf: of the page's rows */
	struct ticket sent;	/* the last of those */
};

/* The vertices of a member while a chunk passes. */
struct share {
	u64 begin, end;
};

struct member {
	struct device *device;
	struct vec writable;	/* WABuf: of the vertices of its share */
	struct share share;
	struct buffer start[2];	/* the first vertex of each page of a direction, or of its addresses, and how many have rows */
	struct buffer counts, fault;
	u32 n_lanes;
	struct lane *lane;
	struct slot *slot;	/* SPBuf, LPBuf and the cache */
	struct lru *lru;	/* who is in which */
	u32 *placed;		/* by page: the slot that it got */
	bool moved;		/* pages, in the pass under way */
};

struct fleet {
	struct mill_run *run;
	u32 n;
	struct member *member;
	bool divided;		/* strategy S */
	u32 chunks;
	const struct pages *pages[2];	/* out, in; NULL: not read */
	struct rvt *rvt[2];
	bool weights;
	u64 counts_size;
	void *counted;
	u32 *order;		/* pages that pass: small ones, then large ones */
	u16 *missing;		/* by page: the members that lack it, of the window under way */
	void *merging;		/* a chunk of another copy */
	const struct join *join;	/* under way */
	struct mill_step *step;
	const struct vec *held;	/* the vector of which the device has what is newer than here */
};

struct share fleet_share(const struct fleet *f, u32 member, u32 chunk, u64 n_vertices);

#endif
