/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTS's mapping table from record ids to vertices (Kim, An, Park et al., SIGMOD 2016, appendix A), for one direction of any store.
 *
 * A record id is (page, slot): where the list of a vertex begins. Slots are rows, so the vertex is START_VID of the page + slot. A small
 * page holds whole lists, a large page a part of one list and nothing else. LP_RANGE says in the page where a list of several pages begins
 * which pages, counted from it, go on with the list: activating the vertex fetches them all.
 *
 * The pages of a paged store are small or large. In a dense one a page may end with the beginning of a list, and begin with the end of one,
 * beside whole ones: it is not large, but has a range if its last list goes on.
 */
#ifndef STORE_RVT_H
#define STORE_RVT_H

#include "store/store.h"

struct rvt_entry {
	u32 start_vid;
	i32 lp_first, lp_last;	/* LP_RANGE, from the page itself: 0 and the number of pages after it; -1, -1: no list goes on here */
};

struct rvt {
	const struct pages *pages;
	struct rvt_entry *entry;	/* for each page */
};

struct rid {
	u32 page, slot;
};

/* pages is borrowed until rvt_close. 12 bytes a page. */
mill_err rvt_open(struct rvt **out, const struct pages *pages, struct budget *budget);
void rvt_close(struct rvt *rvt);	/* NULL is fine */

/* How many pages after this one go on with the list that begins in it; 0 also for a page in which no such list begins. */
u32 rvt_range(const struct rvt *rvt, u32 page);
/* The page in which the list of a vertex begins, and its record id. v < pages->n_rows: a sink has none. */
u32 rvt_page(const struct rvt *rvt, vid v);
struct rid rvt_rid(const struct rvt *rvt, vid v);
/* The vertex; rid.slot must be a row of its page. */
vid rvt_vid(const struct rvt *rvt, struct rid rid);

/*
 * What p bytes of page id and q of slot number can address (GTS, section 6.1). The largest page that all slot numbers fill, of
 * vertices with an edge each: a slot (VID, OFF) and a record (ADJLIST_SZ, one record id). And the pages, about, that a graph takes in
 * GTS's own layout.
 */
f64 rid_largest_page(u32 p, u32 q);
f64 rid_pages(u64 vertices, u64 edges, u32 p, u32 q, u64 page_size);

#endif
