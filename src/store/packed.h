/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packed page: neighbour lists as gaps in groups of eight, each group w bits wide and so
 * exactly w bytes long, in restart blocks that can be decoded on their own. docs/format.md has
 * the picture and says why.
 */
#ifndef STORE_PACKED_H
#define STORE_PACKED_H

#include "store/segment.h"

#define PACKED_EDGES LIST_BLOCK	/* of a block at most: it never holds parts of two sums */
#define PACKED_ROWS 1024u	/* of a block at most */
#define PACKED_GROUP 8u
#define PACKED_WIDTHS 16u	/* the widths of groups, chosen by four bits */
/*
 * A decoded page is at most so many times the size of its page: what a page costs in memory is
 * bounded by its own size, whatever the graph (a star would shrink a hundred times).
 */
#define PACKED_GROWTH 4u
/* Decoders read and write in whole vectors: this much more than the data, and ignore it. */
#define PACKED_SLACK 32u
/* Bytes of an encoded block at most: three streams whose groups are all 32 bits wide. */
#define PACKED_BLOCK_MAX (3 * (PACKED_EDGES / PACKED_GROUP) * 33u)

/* One entry per block of a page's block index, as on disk. */
struct packed_block {
	u32 at;			/* byte of the page where its streams begin */
	u32 first_row;		/* row of the page; the last row of the block before if it goes on with that */
	u32 first_edge;		/* in the page */
	u16 n_rows, n_edges;
};
_Static_assert(sizeof(struct packed_block) == 16, "packed_block is a disk format");

/* A block on its way in: the rows that came, as values still unpacked. */
struct packer {
	u32 n_rows, n_edges, n_firsts, n_gaps;
	u32 degree[PACKED_ROWS + PACKED_GROUP];
	u32 first[PACKED_ROWS + PACKED_GROUP];
	u32 gap[PACKED_EDGES + PACKED_GROUP];
};

void packer_clear(struct packer *p);
/* Can a row with n neighbours come into this block too? An empty block takes any up to PACKED_EDGES. */
bool packer_takes(const struct packer *p, u32 n);
void packer_add(struct packer *p, vid v, const vid *neighbour, u32 n);
/*
 * Writes the streams and says how long they are: at most PACKED_BLOCK_MAX. `to` has PACKED_SLACK
 * bytes more, of which some are overwritten.
 */
u32 packer_put(struct packer *p, u8 *to);

/* What a packed page says of itself and what its index says, already compared. */
struct packed_page {
	const u8 *page;		/* readable PACKED_SLACK bytes beyond `end` */
	u32 index_at, n_blocks;	/* struct packed_block[n_blocks + 1]: the last one says where all end */
	u32 end;		/* of the streams, which begin behind the index */
	u32 first_vertex, n_rows, n_edges;
	u64 n_vertices;		/* neighbours are below it */
	/* Of a page that is only partly here: */
	u64 have;		/* a bit per slice of 2^slice_bits bytes */
	u32 slice_bits;		/* 0: all of it is */
	u32 weight_at, weight_size;
};

/* Is all of bytes [begin, end) of the page here? */
static inline bool packed_has(const struct packed_page *p, u64 begin, u64 end)
{
	u64 bits;

	if (!p->slice_bits || begin >= end)
		return true;
	bits = (~(u64)0 << (begin >> p->slice_bits)) & (~(u64)0 >> (63 - ((end - 1) >> p->slice_bits)));
	return !(bits & ~p->have);
}

/*
 * Fills row[n_rows + 1] and neighbour[n_edges], which has PACKED_SLACK bytes more. NULL, or what is
 * wrong with the page; whatever its bytes are, nothing outside is read or written, and the neighbours are
 * vertices. With `only` (may be NULL) the neighbours in blocks without wanted rows are left as they
 * are, unchecked: a sparse frontier costs little more than the rows. Where such a block is not here, its
 * rows are anything that ascends.
 */
const char *packed_decode(const struct packed_page *p, const struct row_filter *only, u32 *row,
			  vid *neighbour);
/* The answer for a page that is only partly here, and of which a wanted row is not. */
extern const char packed_lacks[];

/*
 * What is wrong with the block index by itself, or NULL: blocks follow each other and have all rows and edges of the page.
 * That each block's streams end where the next begins only decoding shows.
 */
const char *packed_index_fault(const struct packed_page *p);

/* Block i of the index, or the end. */
void packed_block_at(const struct packed_page *p, u32 i, struct packed_block *out);

/* For tests and benches: decode without vector instructions even where there are some. */
extern bool packed_plain;

#endif
