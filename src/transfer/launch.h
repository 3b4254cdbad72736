/* SPDX-License-Identifier: Apache-2.0 */
/* A call of a program's kernel NAME_suffix: its fields from args, then what the skeleton adds. */
#ifndef TRANSFER_LAUNCH_H
#define TRANSFER_LAUNCH_H

#include "transfer/number.h"
#include "transfer/program.h"

#define NO_UNIT UINT32_MAX

/* In which form a unit crosses: as it is on disk, as edges with their sources, as rows. */
enum wire { WIRE_STORED, WIRE_EDGES, WIRE_CSR };

/* A segment on a device, as kernels take it: offsets in 32-bit words. */
struct device_segment {
	const struct buffer *lists, *weights;
	u32 row_at, neighbour_at, weight_at, first, n_rows, n_edges, partial;
	const struct buffer *number, *own_base;	/* number and base of struct segment */
	/* For the host: */
	u32 queue;		/* in which its kernels go */
	u32 unit;		/* NO_UNIT: all units of the direction in one */
	u64 n_active;		/* rows with work, at most */
	u64 first_edge, skip;	/* number of its first edge; edges of its first list that lie before it */
	bool continues;		/* its last list goes on behind it */
	enum wire wire;		/* EDGES: row_at is where their sources are */
	u32 base;		/* CSR: rows count from there; row 0 begins at 0 whatever it says */
	struct station *station;
	const struct work_area *area;
};

struct kernel_call {
	struct launch launch;
	struct launch_arg arg[48];
	char entry[80];
	enum numbers numbers;	/* that the program takes with each segment */
};

void launch_begin(struct kernel_call *l, const struct program *p, const char *suffix, const void *args);
/* A kernel without a program: its whole name. */
void launch_begin_kernel(struct kernel_call *l, const struct kernel_source *source, const char *entry);
void launch_segment(struct kernel_call *l, const struct device_segment *s);	/* and goes into its queue */
void launch_vec(struct kernel_call *l, const struct vec *v);	/* NULL is a null pointer */
void launch_buffer(struct kernel_call *l, const struct buffer *b);
void launch_u32(struct kernel_call *l, const u32 *value);	/* must live until the launch */
void launch_u64(struct kernel_call *l, const u64 *value);
void launch_local(struct kernel_call *l, u64 bytes);		/* not 0 */
/* As many work-items as n things take, of which each takes so many. */
mill_err launch_items(struct device *d, struct kernel_call *l, u64 n, u32 per_item);
mill_err launch_groups(struct device *d, struct kernel_call *l, u64 n_groups);

#endif
