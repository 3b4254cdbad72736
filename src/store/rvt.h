/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTS's mapping table from record ids to vertices (Kim, An, Park et al., SIGMOD 2016, appendix A),
 * for one direction of any store.
 *
 * A record id is (page, slot): where the list of a vertex begins. Slots are rows, so the vertex is
 * START_VID of the page + slot. A small page holds whole lists; a large page holds a piece of one
 * list and nothing else. A list of several pages has an LP_RANGE in the entry of its first page:
 * which pages, counted from that page, continue the list. All of them are fetched when the vertex
 * is active.
 *
 * In a paged store every page is small or large. In a dense store a page may begin with the rest
 * of one list and end with the beginning of another, beside whole lists. Such a page is not large,
 * but it has a range if its last list goes on.
 */
#ifndef STORE_RVT_H
#define STORE_RVT_H

#include "store/store.h"

struct rvt_entry {
	u32 start_vid;
	/*
	 * LP_RANGE, counted from the page itself: 0 and the number of pages that follow. -1 and -1:
	 * no list begins here and goes on in the next page.
	 */
	i32 lp_first, lp_last;
};

struct rvt {
	const struct pages *pages;
	struct rvt_entry *entry;	/* one per page */
};

struct rid {
	u32 page, slot;
};

/* Makes the table, 12 bytes per page. pages is borrowed until rvt_close. */
mill_err rvt_open(struct rvt **out, const struct pages *pages, struct budget *budget);
void rvt_close(struct rvt *rvt);	/* NULL is fine */

/*
 * Returns the number of pages after this one that continue a list which begins in it. 0 if there
 * is no such list.
 */
u32 rvt_range(const struct rvt *rvt, u32 page);
/* Returns the page in which v's list begins. v < pages->n_rows: a sink has none. */
u32 rvt_page(const struct rvt *rvt, vid v);
/* Returns the record id of v. v < pages->n_rows. */
struct rid rvt_rid(const struct rvt *rvt, vid v);
/* Returns the vertex of a record id. rid.slot must be a row of the page. */
vid rvt_vid(const struct rvt *rvt, struct rid rid);

/*
 * Limits of record ids with p bytes of page id and q bytes of slot number (GTS, section 6.1).
 * rid_largest_page: bytes of a page that uses all slot numbers for vertices with one edge each: a
 * slot (VID, OFF) and a record (ADJLIST_SZ, one record id) per vertex.
 * rid_pages: about the number of pages of a graph in GTS's own layout.
 */
f64 rid_largest_page(u32 p, u32 q);
f64 rid_pages(u64 vertices, u64 edges, u32 p, u32 q, u64 page_size);

#endif
