/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second boundary, RAM to device: slots of device memory that hold pages. Resident active
 * pages are launched first, the others stream from disk through RAM into the slots that this pass does not
 * need, in page order. A graph that fits the slots crosses once.
 */
#ifndef ENGINE_CACHE_H
#define ENGINE_CACHE_H

#include "engine/run.h"

struct device_cache;

/* A page on the device, as kernels take it: offsets in 32-bit words. */
struct page_args {
	const struct buffer *page;
	u32 row_at, neighbour_at, weight_at, first, n_rows;
	u32 head_edges;		/* in the first row: for the host */
};

struct device_pass {
	bool in;
	bool (*active)(void *arg, u64 begin, u64 end);	/* NULL: all */
	mill_err (*launch)(void *arg, u32 page, const struct page_args *args);
	void *arg;
};

/* Device bytes of a slot: it takes any page of the store in raw form. */
u64 cache_slot_size(const struct store *st);
/* Slots for as many pages as the device's budget leaves beside `state` bytes. */
mill_err cache_open(struct device_cache **out, struct mill_run *r, u64 state);
void cache_close(struct device_cache *c);
u32 cache_slots(const struct device_cache *c);
mill_err cache_run(struct mill_run *r, const struct device_pass *p, struct mill_step *step);

/*
 * A launch of a program's kernel NAME_suffix: its fields from args, then what the skeleton adds.
 */
struct launching {
	struct launch launch;
	struct launch_arg arg[48];
	char entry[80];
};

void launch_begin(struct launching *l, const struct program *p, const char *suffix, const void *args);
void launch_page(struct launching *l, const struct page_args *page);
void launch_vec(struct launching *l, const struct vec *v);	/* NULL is a null pointer */
void launch_u32(struct launching *l, const u32 *value);		/* must live until launch_go */
void launch_u64(struct launching *l, const u64 *value);
mill_err launch_go(struct mill_run *r, struct launching *l, u64 n_items);

#endif
