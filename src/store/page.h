/* SPDX-License-Identifier: Apache-2.0 */
/* The raw page: a header, row offsets, neighbours, weights. docs/format.md has the picture. */
#ifndef STORE_PAGE_H
#define STORE_PAGE_H

#include "base/types.h"

#define PAGE_MAGIC 0x4547415044414552u	/* the bytes "READPAGE" */

enum page_codec { PAGE_RAW = 0, PAGE_PACKED = 1 /* its place is kept for import's issue */ };

/* 64 bytes, little-endian, at the start of every page. *_at: byte offsets from the page's start. */
struct page_header {
	u64 magic;
	u8 uuid[16];
	u32 number;
	u16 codec;
	u16 direction;		/* 0 out, 1 in */
	u32 first_vertex;
	u32 n_rows;
	u32 n_edges;
	u32 row_at;		/* u32[n_rows + 1] */
	u32 neighbour_at;	/* vid[n_edges] */
	u32 weight_at;		/* 0 without weights; else a multiple of 8 */
	u64 first_edge;
};
_Static_assert(sizeof(struct page_header) == 64, "page_header is a disk format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "pages are used as they lie on disk");

/* Where things lie in a raw page of so many rows and edges. */
static inline u64 page_neighbour_at(u64 n_rows)
{
	return sizeof(struct page_header) + 4 * (n_rows + 1);
}

static inline u64 page_weight_at(u64 n_rows, u64 n_edges)
{
	return round_up(page_neighbour_at(n_rows) + sizeof(vid) * n_edges, 8);
}

/* The bytes used; weight_size may be 0. Callers keep the counts below 2^48. */
static inline u64 page_bytes(u64 n_rows, u64 n_edges, size_t weight_size)
{
	if (!weight_size)
		return page_neighbour_at(n_rows) + sizeof(vid) * n_edges;
	return page_weight_at(n_rows, n_edges) + weight_size * n_edges;
}

#endif
