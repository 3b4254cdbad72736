/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel skeletons share: how a program's fields become parameters, and where things are in a page. */
#define PARAM_ARRAY(type, name) GLOBAL type *name,
#define PARAM_SCALAR(type, name) type name,
#define LOCAL_ARRAY(type, name) name,
#define LOCAL_SCALAR(type, name) name,

/* Offsets in 32-bit words. */
#define PAGE_PARAMS \
	GLOBAL const u32 *page, u32 row_at, u32 neighbour_at, u32 weight_at, u32 first, u32 n_rows
#define ROWS (page + row_at)
#define NEIGHBOURS (page + neighbour_at)
#define WEIGHTS ((GLOBAL const WEIGHT *)(page + weight_at))

/* The host rounds after every operation, and so does the device. */
#pragma OPENCL FP_CONTRACT OFF
