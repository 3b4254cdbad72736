/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packed page: neighbour lists as gaps (differences between successive neighbours), in groups
 * of eight. A group of width w has w bits for each gap, so it is exactly w bytes long. Groups lie
 * in blocks that can be decoded independently. docs/format.md has the picture and the reasons.
 */
#ifndef STORE_PACKED_H
#define STORE_PACKED_H

#include "store/segment.h"

#define PACKED_EDGES LIST_BLOCK	/* most edges of a block */
#define PACKED_ROWS 1024u	/* most rows of a block */
#define PACKED_GROUP 8u
#define PACKED_WIDTHS 16u	/* number of group widths; a 4-bit code chooses one */
/*
 * A decoded page is at most 4 times as large as the page. So the memory that a page needs is
 * bounded by its size, for every graph; without this limit a star would shrink a hundred times.
 */
#define PACKED_GROWTH 4u
/* Bytes that decoders may read and write beyond the data, because they work in whole vectors. */
#define PACKED_SLACK 32u
/* Most bytes of an encoded block: three streams in which all groups are 32 bits wide. */
#define PACKED_BLOCK_MAX (3 * (PACKED_EDGES / PACKED_GROUP) * 33u)

/* One entry of a page's block index, as on disk. */
struct packed_block {
	u32 at;			/* byte of the page where its streams begin */
	/*
	 * Row of the page. If the block goes on with the list of the last row of the block before
	 * it, this is that row.
	 */
	u32 first_row;
	u32 first_edge;		/* in the page */
	u16 n_rows, n_edges;
};
_Static_assert(sizeof(struct packed_block) == 16, "packed_block is a disk format");

/* A block that is being filled: the values of its streams, not packed yet. */
struct packer {
	u32 n_rows, n_edges, n_firsts, n_gaps;
	u32 degree[PACKED_ROWS + PACKED_GROUP];
	u32 first[PACKED_ROWS + PACKED_GROUP];
	u32 gap[PACKED_EDGES + PACKED_GROUP];
};

void packer_clear(struct packer *p);
/*
 * Returns true if the block has room for a row with n neighbours. An empty block has room for
 * PACKED_EDGES.
 */
bool packer_takes(const struct packer *p, u32 n);
void packer_add(struct packer *p, vid v, const vid *neighbour, u32 n);
/*
 * Writes the streams. Returns their length, at most PACKED_BLOCK_MAX. `to` has PACKED_SLACK
 * bytes more, some of which are overwritten.
 */
u32 packer_put(struct packer *p, u8 *to);

/* The facts about a packed page, after its header was compared with its index entry. */
struct packed_page {
	const u8 *page;		/* PACKED_SLACK bytes beyond `end` can be read */
	/* struct packed_block[n_blocks + 1]; the last one says where all blocks end. */
	u32 index_at, n_blocks;
	u32 end;		/* of the streams, which begin after the index */
	u32 first_vertex, n_rows, n_edges;
	u64 n_vertices;		/* neighbours are less */
	/* For a page that was read only partly: */
	u64 have;		/* one bit per slice that was read */
	u32 slice_bits;		/* a slice has 2^slice_bits bytes; 0: the whole page was read */
	u32 weight_at, weight_size;
};

/* Returns true if all bytes [begin, end) of the page were read. */
static inline bool packed_has(const struct packed_page *p, u64 begin, u64 end)
{
	u64 bits;

	if (!p->slice_bits || begin >= end)
		return true;
	bits = (~(u64)0 << (begin >> p->slice_bits)) &
	       (~(u64)0 >> (63 - ((end - 1) >> p->slice_bits)));
	return !(bits & ~p->have);
}

/*
 * Fills row[n_rows + 1] and neighbour[n_edges]; neighbour has PACKED_SLACK bytes more. Returns
 * NULL, or what is wrong with the page. Whatever the page's bytes are, nothing outside is read
 * or written, and all neighbours are vertices.
 *
 * With `only` (may be NULL), blocks without wanted rows are skipped: their neighbours are not
 * written and not checked, so a sparse frontier costs little more than the rows. If such a block
 * was not read, its row offsets ascend but mean nothing.
 */
const char *packed_decode(const struct packed_page *p, const struct row_filter *only, u32 *row,
			  vid *neighbour);
/* The text that packed_decode returns if the page was read partly and lacks a wanted row. */
extern const char packed_lacks[];

/*
 * Returns what is wrong with the block index, or NULL: blocks must follow each other and have all
 * rows and edges of the page. Whether each block's streams end where the next block begins can be
 * found only by decoding.
 */
const char *packed_index_fault(const struct packed_page *p);

/* Copies entry i of the block index; entry n_blocks is the end. */
void packed_block_at(const struct packed_page *p, u32 i, struct packed_block *out);

/* For tests and benches: true makes decoders use no vector instructions. */
extern bool packed_plain;

#endif
