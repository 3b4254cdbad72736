/* SPDX-License-Identifier: Apache-2.0 */
/* A launch of a program's kernel NAME_suffix on the run's device: its fields from args, then what the skeleton adds. */
#ifndef ENGINE_LAUNCH_H
#define ENGINE_LAUNCH_H

#include "engine/run.h"

/* A segment on the device, as kernels take it: offsets in 32-bit words. */
struct device_segment {
	const struct buffer *lists, *weights;
	u32 row_at, neighbour_at, weight_at, first, n_rows, n_edges, partial;
	/* For the host: */
	u32 queue;		/* in which its kernels go */
	u32 page;		/* NO_PAGE: all pages of the direction in one */
	u64 n_active;		/* rows with work, at most */
	const struct work_area *area;
};

#define NO_PAGE UINT32_MAX

struct launching {
	struct launch launch;
	struct launch_arg arg[48];
	char entry[80];
};

void launch_begin(struct launching *l, const struct program *p, const char *suffix, const void *args);
/* A kernel without a program: its whole name. */
void launch_begin_kernel(struct launching *l, const struct kernel_source *source, const char *entry);
void launch_segment(struct launching *l, const struct device_segment *s);	/* and goes into its queue */
void launch_vec(struct launching *l, const struct vec *v);	/* NULL is a null pointer */
void launch_buffer(struct launching *l, const struct buffer *b);
void launch_u32(struct launching *l, const u32 *value);		/* must live until launch_go */
void launch_u64(struct launching *l, const u64 *value);
void launch_local(struct launching *l, u64 bytes);		/* not 0 */
/* As many work-items as n things take, of which each takes so many. */
mill_err launch_go(struct mill_run *r, struct launching *l, u64 n, u32 per_item);
mill_err launch_groups(struct mill_run *r, struct launching *l, u64 n_groups);
/* On another device than the run's. */
mill_err launch_items_on(struct device *d, struct launching *l, u64 n, u32 per_item);
mill_err launch_groups_on(struct device *d, struct launching *l, u64 n_groups);

#endif
