/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a device cache, for the files that make it up: cache.c, cache_pass.c, cache_partition.c. */
#ifndef ENGINE_CACHE_FORM_H
#define ENGINE_CACHE_FORM_H

#include "engine/cache.h"
#include "stream/evict.h"

#define STAGES 4u		/* whole: pages on their way */
#define LANE_WORDS (COUNT_LANES * COUNT_STRIDE)

struct slot {
	struct buffer buffer;
	struct page_wire wire;	/* of the page that it holds */
};

/* One direction. */
struct side {
	const struct pages *pages;	/* NULL: not needed */
	struct buffer range;		/* first vertex and rows of each page */
	struct buffer lists, weights;	/* whole */
	u64 *present;			/* whole: a bit for each page */
	u32 n_present;
};

struct device_cache {
	struct mill_run *run;
	bool whole, select, weights;
	u32 n_slots;		/* whole: stages */
	struct slot *slot;
	struct evict *evict;	/* slots */
	struct side side[2];
	u32 n_areas;
	struct work_area *area;
	struct buffer counts;	/* LANE_WORDS u64, then u32 for each page */
	u64 counts_size;
	void *counted;		/* their copy on the host */
	struct buffer fault;	/* the number of a page that cannot be unpacked, + 1 */
};

/* engine/pages.cl */
extern const struct kernel_source cache_kernels;

/* A direction's: of an undirected store, and of a view, there is one. */
struct side *cache_side(struct device_cache *c, bool in);

#endif
