/* SPDX-License-Identifier: Apache-2.0 */
/* The table of record ids, made from the page index. */
#include "store/rvt.h"

#include <assert.h>
#include <math.h>

#define OFF_BYTES 4u
#define ADJLIST_SZ_BYTES 4u

static void fill(struct rvt *rvt)
{
	const struct pages *p = rvt->pages;
	u32 after = 0;	/* number of pages after page i that continue its last list */

	for (u32 i = p->n_pages; i-- > 0;) {
		const struct page_entry *e = &p->entry[i];
		bool begins = page_goes_on(p, i) && (e->n_rows > 1 || !e->skip);

		rvt->entry[i] = (struct rvt_entry){
			.start_vid = e->first_vertex,
			.lp_first = begins ? 0 : -1,
			.lp_last = begins ? (i32)after : -1,
		};
		/* A page with several rows ends the list that it continues. */
		after = !e->skip ? 0 : e->n_rows == 1 ? after + 1 : 1;
	}
}

mill_err rvt_open(struct rvt **out, const struct pages *pages, struct budget *budget)
{
	struct rvt *rvt;
	mill_err err;

	if (pages->n_pages > INT32_MAX)
		return fail(MILL_ELIMIT,
			    "%u pages, a table of record ids holds at most %d: import with a "
			    "larger --page-size", pages->n_pages, INT32_MAX);
	TRY(memory_new(&rvt, budget, 1, sizeof(*rvt), "the table of record ids"));
	rvt->pages = pages;
	err = memory_new(&rvt->entry, budget, pages->n_pages + 1ull, sizeof(*rvt->entry),
			 "the table of record ids");
	if (err) {
		rvt_close(rvt);
		return err;
	}
	fill(rvt);
	*out = rvt;
	return MILL_OK;
}

void rvt_close(struct rvt *rvt)
{
	if (!rvt)
		return;
	memory_free(rvt->entry);
	memory_free(rvt);
}

u32 rvt_range(const struct rvt *rvt, u32 page)
{
	return rvt->entry[page].lp_first < 0 ? 0 : (u32)rvt->entry[page].lp_last;
}

u32 rvt_page(const struct rvt *rvt, vid v) { return pages_find(rvt->pages, v); }

struct rid rvt_rid(const struct rvt *rvt, vid v)
{
	u32 page = rvt_page(rvt, v);

	return (struct rid){ page, v - rvt->entry[page].start_vid };
}

vid rvt_vid(const struct rvt *rvt, struct rid rid)
{
	assert(rid.page < rvt->pages->n_pages && rid.slot < rvt->pages->entry[rid.page].n_rows);
	return (vid)(rvt->entry[rid.page].start_vid + rid.slot);
}

f64 rid_largest_page(u32 p, u32 q)
{
	return ldexp(p + q + OFF_BYTES + ADJLIST_SZ_BYTES + p + q, (int)(8 * q));
}

f64 rid_pages(u64 vertices, u64 edges, u32 p, u32 q, u64 page_size)
{
	f64 slot_and_size = p + q + OFF_BYTES + ADJLIST_SZ_BYTES;

	return ((f64)edges * (p + q) + (f64)vertices * slot_and_size) / (f64)page_size;
}
