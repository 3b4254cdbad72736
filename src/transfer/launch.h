/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel calls: the list of arguments, and the launch. The kernels of a program are named
 * NAME_suffix. Their arguments are first the program's fields, taken from its argument
 * struct, then the arguments that the operator's skeleton adds.
 */
#ifndef TRANSFER_LAUNCH_H
#define TRANSFER_LAUNCH_H

#include "transfer/number.h"
#include "transfer/program.h"

#define NO_UNIT UINT32_MAX

/*
 * The form in which a unit crosses: as it is on disk; as an array of sources and one of
 * neighbours; as row offsets and neighbours; as chosen rows of several units.
 */
enum wire { WIRE_STORED, WIRE_EDGES, WIRE_CSR, WIRE_ROWS };

/* A segment on a device, as kernels take it. Offsets (*_at) are in 32-bit words. */
struct device_segment {
	const struct buffer *lists, *weights;
	u32 row_at, neighbour_at, weight_at, first, n_rows, n_edges, partial;
	const struct buffer *number, *own_base;	/* as number and base of struct segment */
	/* For the host: */
	u32 queue;		/* the queue of its kernels */
	u32 unit;		/* NO_UNIT: the segment has all units of the direction */
	u64 n_active;		/* upper bound of the rows with work */
	u64 first_edge;		/* number of its first edge */
	u64 skip;		/* edges of its first list that lie in earlier segments */
	bool continues;		/* its last list continues in the next segment */
	enum wire wire;		/* WIRE_EDGES: row_at is the place of the edges' sources */
	/* WIRE_CSR: kernels subtract it from row offsets. Row 0 always begins at 0. */
	u32 base;
	struct station *station;
	const struct work_area *area;
};

struct kernel_call {
	struct launch launch;
	struct launch_arg arg[48];
	char entry[80];
	enum numbers numbers;	/* the edge numbers that the program takes with each segment */
};

void launch_begin(struct kernel_call *l, const struct program *p, const char *suffix,
		  const void *args);
/*
 * Begins the call of a kernel that belongs to no program. entry: the whole name of the
 * kernel.
 */
void launch_begin_kernel(struct kernel_call *l, const struct kernel_source *source,
			 const char *entry);
/* Adds the segment's arguments and takes its queue. */
void launch_segment(struct kernel_call *l, const struct device_segment *s);
void launch_vec(struct kernel_call *l, const struct vec *v);	/* NULL: a null pointer */
void launch_buffer(struct kernel_call *l, const struct buffer *b);
void launch_u32(struct kernel_call *l, const u32 *value);	/* must live until the launch */
void launch_u64(struct kernel_call *l, const u64 *value);
void launch_local(struct kernel_call *l, u64 bytes);		/* not 0 */
/* Launches enough work-items for n elements, if each work-item takes per_item elements. */
mill_err launch_items(struct device *d, struct kernel_call *l, u64 n, u32 per_item);
mill_err launch_groups(struct device *d, struct kernel_call *l, u64 n_groups);

#endif
