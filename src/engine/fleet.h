/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTS (Kim, An, Park, Park, Kim, SIGMOD 2016): one or several devices past which pages are streamed. The vertices' state is on the host, where all
 * that is per vertex is computed. For a pass over pages what edges write (WA) goes to the devices, what sources give (RA) beside each page,
 * and what was written comes back.
 *
 *	strategy P	WA on every device, each page to one of them; copies become one on the host
 *	strategy S	WA divided between the devices, each page, and what its sources give, to all of them
 *	chunks		where WA is larger than what is there for it: one part after the other, and all pages pass for each
 *
 * Small pages come before large ones, which have one list, or a part of one; each in page order. What a device has room for stays there, and
 * the least recently used goes first: a full scan of more than that finds nothing of itself, as in the paper.
 */
#ifndef ENGINE_FLEET_H
#define ENGINE_FLEET_H

#include "engine/launch.h"
#include "store/rvt.h"

struct fleet;

/* So many chunks at most: topology would hardly ever end to pass. */
#define FLEET_CHUNKS 1024u

/* A pass: the join of pages with attributes. */
struct join {
	const struct join_program *program;
	const void *args;	/* vectors are on the host */
	bool in;		/* pages of in-edges */
	const u32 *active;	/* by page, not 0 for those that pass; NULL: all */
	const struct vec *given;	/* by vertex: what sources give. NULL: what they have in the vector that edges write */
	bool sums;		/* what is written begins at 0 on the devices */
	u32 *next;		/* by page: PAGE_HEAD, PAGE_OTHERS where vertices changed whose lists end there. NULL: nobody asks */
};

/* Device bytes of the smallest budget of a member. */
u64 fleet_least(const struct mill_run *r, const struct need *n);
/* Host bytes besides the state; and those of two sets of pages. */
u64 fleet_host_bytes(const struct mill_run *r, const struct need *n);
u64 page_flags_bytes(const struct store *st);
/* About how it would be opened, for who predicts: chunks, and of a member slots for pages that stay, and lanes, in which they stay unpacked. */
void fleet_estimate(const struct mill_run *r, const struct need *n, u32 *chunks, u64 *slots, u64 *lanes);
mill_err fleet_open(struct fleet **out, struct mill_run *r);
void fleet_close(struct fleet *f);
/* Do all pages stay on every device that gets them? */
bool fleet_keeps_all(const struct fleet *f);
/* GTS's table of the pages of a direction. */
const struct rvt *fleet_rvt(const struct fleet *f, bool in);
struct mill_streaming fleet_layout(const struct fleet *f);
mill_err fleet_prepare(struct fleet *f, const struct kernel_source *source);
/* Adds to step what it cost. */
mill_err fleet_join(struct fleet *f, const struct join *j, struct mill_step *step);
/* What edges wrote may still be on a device alone, for the next pass; now it is on the host. */
mill_err fleet_fetch(struct fleet *f);
/* Or it is not wanted any more. */
void fleet_forget(struct fleet *f);
/* What two devices wrote of n vertices becomes one, in `to`. */
mill_err fleet_merge(struct pool *pool, void *to, const void *from, u64 n, enum join_merge how);

#endif
