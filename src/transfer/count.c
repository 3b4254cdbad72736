/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of kernels: reads the counters, and finds the active rows and pages of a station.
 *
 * Activity is counted on the device. A census gives the number of active vertices of each
 * page. The flags and counts of pages lie behind the counters (PAGE_COUNTS), so one read
 * brings both: a superstep has one wait, and P numbers come back for P pages. The pages that
 * a pull or a scan still wants are found in the same way (op/wanted.cl), but only if not all
 * pages can stay on the device.
 */
#include <string.h>

#include "transfer/transfer.h"

const struct buffer *transfer_counts(const struct transfer *t) { return &t->station[0].counts; }

mill_err transfer_count_begin(struct transfer *t)
{
	for (u32 i = 0; i < t->n_stations; i++)
		TRY(device_fill(&t->station[i].counts, &(u64){ 0 }, sizeof(u64)));
	return MILL_OK;
}

static void add_counts(u64 counts[COUNTS_N], const u64 *copy)
{
	for (u32 i = 0; i < COUNT_COPIES; i++)
		for (u32 k = 0; k < COUNTS_N; k++) {
			u64 x = copy[i * COUNT_STRIDE + k];

			counts[k] = k == COUNT_REST   ? max_u64(counts[k], x) :
				    k == COUNT_FILLED ? counts[k] | x :
							counts[k] + x;
		}
}

mill_err transfer_count_end(struct transfer *t, u64 counts[COUNTS_N], u32 *flag)
{
	const u32 *flags = (const u32 *)((const u64 *)t->counts + COUNTER_WORDS);
	/* If the state is on the host and the caller wants no flags, they are not read. */
	u64 size = flag || !t->own || t->policy->home == HOME_DEVICE ? t->counts_size :
								       COUNTER_WORDS * sizeof(u64);

	memset(counts, 0, COUNTS_N * sizeof(u64));
	if (flag)
		memset(flag, 0, t->n_flags * sizeof(u32));
	for (u32 i = 0; i < t->n_stations; i++) {
		TRY(device_read(&t->station[i].counts, 0, t->counts, size));
		add_counts(counts, t->counts);
		for (u32 k = 0; flag && k < t->n_flags; k++)
			flag[k] |= flags[k];
	}
	return MILL_OK;
}

mill_err transfer_census(struct transfer *t, bool in, const struct vec *bits)
{
	bool side = side_of(t, in);
	struct kernel_call l;

	if (!t->units[side].n)
		return MILL_OK;
	launch_begin_kernel(&l, &transfer_kernels, "pages_census");
	launch_vec(&l, bits);
	launch_buffer(&l, &t->station[0].side[side].range);
	launch_u32(&l, &t->units[side].n);
	launch_buffer(&l, transfer_counts(t));
	return launch_items(t->device[0], &l, t->units[side].n, 1);
}

mill_err transfer_census_edges(struct transfer *t, bool in, const struct vec *bits,
			       const struct vec *begin)
{
	bool side = side_of(t, in);
	struct kernel_call l;

	launch_begin_kernel(&l, &transfer_kernels, "pages_census_edges");
	launch_vec(&l, bits);
	launch_vec(&l, begin);
	launch_u32(&l, &t->units[side].n);
	launch_buffer(&l, transfer_counts(t));
	return launch_items(t->device[0], &l, t->units[side].n, 1);
}

mill_err transfer_wanted(struct transfer *t, const struct program *p, const void *args, bool in,
			 u32 *page_n)
{
	bool side = side_of(t, in);
	u64 counts[COUNTS_N];
	struct kernel_call l;

	if (!t->units[side].n)
		return MILL_OK;
	TRY(transfer_count_begin(t));
	launch_begin(&l, p, "wanted", args);
	launch_buffer(&l, &t->station[0].side[side].range);
	launch_u32(&l, &t->units[side].n);
	launch_buffer(&l, transfer_counts(t));
	TRY(launch_groups(t->device[0], &l, t->units[side].n));
	return transfer_count_end(t, counts, page_n);
}

mill_err transfer_select(const struct device_segment *seg, const struct vec *bits)
{
	struct device *d = seg->station->device;
	const struct work_area *a = seg->area;
	u32 n_tiles = (u32)div_up(seg->n_rows, TILE_ROWS);
	struct kernel_call l;

	launch_begin_kernel(&l, &transfer_kernels, "pages_select_count");
	launch_vec(&l, bits);
	launch_segment(&l, seg);
	launch_buffer(&l, &a->tile);
	launch_u32(&l, &n_tiles);
	TRY(launch_items(d, &l, n_tiles, 1));
	TRY(transfer_scan(d, &a->tile, n_tiles, seg->queue));
	launch_begin_kernel(&l, &transfer_kernels, "pages_select_put");
	launch_vec(&l, bits);
	launch_segment(&l, seg);
	launch_buffer(&l, &a->tile);
	launch_u32(&l, &n_tiles);
	launch_buffer(&l, &a->list);
	launch_buffer(&l, &a->offset);
	return launch_items(d, &l, n_tiles, 1);
}

mill_err transfer_scan(struct device *d, const struct buffer *tile, u32 n_tiles, u32 queue)
{
	struct kernel_call l;

	launch_begin_kernel(&l, &transfer_kernels, "pages_select_scan");
	launch_buffer(&l, tile);
	launch_u32(&l, &n_tiles);
	l.launch.queue = queue;
	return launch_groups(d, &l, 1);
}

mill_err transfer_ends(const struct device_segment *seg, const struct vec *bits,
		       const struct vec *next)
{
	struct kernel_call l;

	launch_begin_kernel(&l, &transfer_kernels, "pages_ends");
	launch_segment(&l, seg);
	launch_vec(&l, bits);
	launch_u64(&l, &seg->first_edge);
	launch_vec(&l, next);
	launch_buffer(&l, &seg->station->counts);
	return launch_items(seg->station->device, &l, seg->n_edges / 32 + 2, ITEM_WORDS);
}
