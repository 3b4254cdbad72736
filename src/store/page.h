/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of a page: a header, then row offsets and neighbours (raw) or a block index and
 * streams (packed, see packed.h), then weights. docs/format.md has the picture.
 */
#ifndef STORE_PAGE_H
#define STORE_PAGE_H

#include "base/types.h"

struct packed_page;
struct pages;

#define PAGE_MAGIC 0x4547415044414552u	/* the bytes "READPAGE" */

/* The first 64 bytes of every page, little-endian. *_at: byte offsets from the page's start. */
struct page_header {
	u64 magic;
	u8 uuid[16];
	u32 number;
	u16 codec;
	u16 direction;		/* 0 out, 1 in */
	u32 first_vertex;
	u32 n_rows;
	u32 n_edges;
	u32 row_at;		/* raw: u32[n_rows + 1]; packed: struct packed_block[] */
	u32 neighbour_at;	/* raw: vid[n_edges]; packed: the streams of the blocks */
	u32 weight_at;		/* a multiple of 8; 0 without weights */
	u64 first_edge;
};
_Static_assert(sizeof(struct page_header) == 64, "page_header is a disk format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "pages are used as they lie on disk");

/* Offsets in a raw page that has this number of rows and edges. */
static inline u64 page_neighbour_at(u64 n_rows)
{
	return sizeof(struct page_header) + 4 * (n_rows + 1);
}

static inline u64 page_weight_at(u64 n_rows, u64 n_edges)
{
	return round_up(page_neighbour_at(n_rows) + sizeof(vid) * n_edges, 8);
}

/* Returns the bytes of a decoded page: row offsets, then neighbours. */
static inline u64 page_lists_bytes(u64 n_rows, u64 n_edges)
{
	return 4 * (n_rows + 1) + sizeof(vid) * n_edges;
}

/* Returns the bytes used in a raw page; weight_size may be 0. The counts are less than 2^48. */
static inline u64 page_bytes(u64 n_rows, u64 n_edges, size_t weight_size)
{
	if (!weight_size)
		return page_neighbour_at(n_rows) + sizeof(vid) * n_edges;
	return page_weight_at(n_rows, n_edges) + weight_size * n_edges;
}

/*
 * Finds the blocks of packed page i. Returns NULL, or what is wrong. The page's header was
 * compared with the index before.
 */
const char *page_find_blocks(const struct pages *p, u32 i, const void *frame,
			     struct packed_page *out);

#endif
