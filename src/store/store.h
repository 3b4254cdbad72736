/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open store: the manifest, the checksums and the page indexes are in memory, the rest is
 * read when asked for, and nothing is handed out unverified. docs/format.md is the format.
 * A store is immutable: it can be read from any number of threads and processes.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/file.h"
#include "base/memory.h"
#include "store/address.h"
#include "store/segment.h"
#include "store/stripe.h"

#define STORE_FORMAT 3u		/* of paged stores; earlier ones are read */
#define STORE_FORMAT_DENSE 2u	/* what is written of others, so that older readers know them */
#define STORE_BLOCK (64 * KIB)	/* what a checksum covers */
#define PAGE_SIZE_MIN (64 * KIB)
#define PAGE_SIZE_MAX (64 * MIB)
#define PAGE_SIZE_DEFAULT (1 * MIB)

/* The files of a store, in the order of the manifest and of the checksums. */
enum store_file {
	STORE_OUT_PAGES,
	STORE_OUT_INDEX,
	STORE_OUT_DEGREES,	/* u32 per vertex below `sources`: the others have none */
	STORE_IN_PAGES,		/* the in-files: only of a directed store, and not with --out-only */
	STORE_IN_INDEX,
	STORE_IN_DEGREES,	/* u32 per vertex */
	STORE_IDS,		/* u64: the original ids, ascending; the place of an id is its rank */
	STORE_ORDER,		/* vid: the vertex of each rank */
	STORE_RANK,		/* vid: the rank of each vertex, `order` inverted */
	STORE_NAMES,		/* the name-files: only where ids are names; by rank, a line each */
	STORE_NAMES_INDEX,	/* u64: the byte of `names` at which each ends, with its newline */
	STORE_FILES
};

/* As in page headers. */
enum page_codec { PAGE_RAW = 0, PAGE_PACKED = 1 };

/* One entry per page of an index, little-endian, as on disk. */
struct page_entry {
	u64 first_edge;
	u64 skip;		/* see struct segment */
	u32 first_vertex;
	u32 n_rows;
	u32 n_edges;
	u32 reserved;		/* 0 */
};
_Static_assert(sizeof(struct page_entry) == 32, "page_entry is a disk format");

/* One direction. */
struct pages {
	const struct store *store;
	enum store_file data, index, degrees;
	u32 n_pages;
	vid n_rows;		/* vertices that have rows: 0 .. n_rows - 1 */
	u32 n_split;		/* how many pages begin in the middle of a list */
	u64 scratch;		/* bytes that page_decode_into needs at most; 0: pages are used where they lie */
	u64 raw_bytes;		/* of the largest page in raw form: what a device gets */
	const struct page_entry *entry;
	struct addresses address;	/* paged stores: what the lists hold */
};

struct store {
	char *path;
	char uuid[37];
	u8 uuid_bytes[16];
	char *origin;
	u32 format;
	u32 page_size;
	enum page_codec codec;
	bool paged;			/* the lists hold page addresses; raw pages only */
	bool directed;
	bool named;			/* the original id of a vertex is the rank of its name */
	enum mill_weight weight;
	u64 n_linked;			/* vertices from this number on have no edge: isolated ones are the last */
	u64 vertices, sources, edges, stored_edges, self_loops, parallel_edges;
	u64 min_id, max_id, max_degree;
	f64 max_weight, sum_weight;	/* over stored edges; 0 without weights */
	f64 min_weight;
	u64 bytes;
	u32 n_stripes;			/* 0: none, the page files are among the others */
	char *stripe_path[STRIPES_MAX + 1];	/* of the folders; NULL-terminated */
	struct file *stripe[2];		/* their page files: out, in */
	struct file file[STORE_FILES];	/* page files in stripes: not open, but with a name for messages */
	u64 size[STORE_FILES];
	u64 *sum[STORE_FILES];		/* checksum of each block */
	struct pages out, in;		/* an undirected store has in == out */
	bool has_in;
};

/* budget (may be NULL) pays for the checksums and indexes. */
mill_err store_open(struct store **out, const char *path, struct budget *budget);
void store_close(struct store *st);
struct manifest;
/* A store of files that are open already (kept, closed also on failure) and the checksums of their blocks. */
mill_err store_adopt(struct store **out, const struct manifest *m, struct file *file, u64 *const *sum,
		     struct budget *budget);

/* 0, 4 or 8 */
size_t weight_size(enum mill_weight w);
const char *weight_name(enum mill_weight w);
/* Are the original ids an unbroken range? Then the id of a rank is min_id + rank. */
bool store_ids_dense(const struct store *st);
/* The graph as a CSR: the unit of sizes given in percent. */
u64 store_csr_bytes(const struct store *st);

/* Bytes [offset, offset + size) of a file that is not a page file, verified block by block. */
mill_err store_read(const struct store *st, enum store_file f, void *to, u64 size, u64 offset);

/* The vertex of an original id; NO_VERTEX if there is none. */
mill_err store_vertex(const struct store *st, u64 id, vid *out);
mill_err store_id(const struct store *st, vid v, u64 *out);
mill_err store_degree(const struct store *st, vid v, u32 *out);	/* out */

/* The page that holds the beginning of v's row. v < pages->n_rows. */
u32 pages_find(const struct pages *p, vid v);
/* Does the last list of page i go on in the next one? */
bool page_goes_on(const struct pages *p, u32 i);
/* Has page i a part of one list, and nothing else? (GTS's large pages.) */
bool page_is_large(const struct pages *p, u32 i);
u64 pages_large(const struct pages *p);	/* how many are */
/* Where page i lies, for whoever reads it himself. */
struct page_place {
	const struct file *file;
	u64 offset;
};
struct page_place page_place(const struct pages *p, u32 i);
/* Are blocks [first, first + n) of page i, of which data holds so many, what was written? */
mill_err page_check(const struct pages *p, u32 i, u32 first, u32 n, const void *data);
/* Reads page i into frame (page_size bytes, aligned to 4096 for direct I/O) and verifies its checksums. */
mill_err page_read(const struct pages *p, u32 i, void *frame);
/* A frame for page_read and page_decode: a page and the room for decoding it. memory_free it. */
mill_err page_frame_new(void **out, const struct store *st, struct budget *budget);
/*
 * Makes seg a view of the page in frame. Safe for hostile pages: offsets and neighbours are
 * checked, not only the checksum. The row offsets are followed at once by the neighbours.
 */
mill_err page_decode(const struct pages *p, u32 i, void *frame, struct segment *seg);
/*
 * The same for a frame that is a page and no more: scratch has p->scratch bytes, is 64-byte
 * aligned and becomes part of the segment. Raw pages need none and are viewed where they lie, but those of a paged store, whose
 * neighbours become dense numbers. With `only` (may be NULL) the neighbours of rows that nobody wants may be anything.
 */
mill_err page_decode_into(const struct pages *p, u32 i, const void *frame, void *scratch,
			  const struct row_filter *only, struct segment *seg);
/*
 * A page can be read in slices of so many bytes, at most 64: a set of them is the bits of a word. page_slices: all of them.
 * page_decode_part decodes a page of which `have` are here, the first ones that hold its index among them; *lacks:
 * a wanted row is not, and nothing was decoded.
 */
struct rows_wanted {
	const struct row_filter *only;	/* NULL: all rows */
	bool lists_only;		/* nobody looks at their weights */
	bool as_stored;			/* paged stores: neighbours are addresses, checked, where they lie */
	bool rows_only;			/* nobody looks at neighbours: they may be anything */
};
u32 page_slice(const struct store *st);
u64 page_slices(const struct pages *p);
mill_err page_decode_part(const struct pages *p, u32 i, const void *frame, u64 have, void *scratch,
			  const struct rows_wanted *want, struct segment *seg, bool *lacks);
/* Rows [first, end) of a page have something in a slice of it. */
struct slice_rows {
	u32 first, end;		/* end UINT32_MAX: whoever reads any row reads this */
};
/* How many of them tell all of a page; 0: pages of this store are read whole. */
u64 page_slice_entries(const struct store *st);
/* Fills them, all zero before, from a whole page that has been decoded. */
void page_learn(const struct pages *p, u32 i, const void *frame, struct slice_rows *slice);
/* The slices that somebody who wants these rows must read; all of them before the page was learned. */
u64 page_slices_wanted(const struct pages *p, u32 i, const struct slice_rows *slice, const struct rows_wanted *want);
/*
 * What of a page a device needs, as byte ranges: a block index with its streams, or row offsets and neighbours. Everything is
 * checked that does not lie in the streams, or is a page address, which whoever decodes them checks.
 */
struct page_wire {
	u32 begin, end;
	u32 weight_at, weight_end;	/* both 0 without weights */
	u32 n_blocks;			/* packed: the index begins at `begin` */
	u32 neighbour_at;		/* raw: the rows do */
};
mill_err page_wire(const struct pages *p, u32 i, const void *frame, struct page_wire *out);
/* What page_decode_into needs at most for any page of the store. */
u64 store_scratch(const struct store *st);
const char *codec_name(enum page_codec c);
/* Are pages used where they lie, without decoding? */
static inline bool store_in_place(const struct store *st) { return st->codec == PAGE_RAW && !st->paged; }

/* The block at this byte of a file is not what was written: MILL_ECORRUPT. */
mill_err bad_block(const struct file *f, u64 at);

/* Every checksum, and every invariant: sorted lists, degrees, ids, in = transpose of out. */
struct ticker;
mill_err store_verify(const struct store *st, struct ticker *ticker);

/* What the public handle is. */
struct mill_store {
	struct store *st;
	struct budget budget;	/* counts, without a limit */
	char *min_name, *max_name;	/* NULL: none */
};

#endif
