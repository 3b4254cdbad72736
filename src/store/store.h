/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open store. The manifest, the checksums and the page indexes are in memory; the rest is
 * read when a caller asks for it, and is verified before the caller gets it. docs/format.md
 * describes the format. A store is immutable: any number of threads and processes can read it.
 *
 * Checksums lie beside the data, in a file of their own: one for each 64 KiB block of every
 * file, none inside pages. So a page is an array that is ready for use, a part of a page can be
 * read and verified, and a page in the wrong place is detected.
 *
 * Isolated vertices have no state. They are numbered last, vectors have n_linked elements, and
 * engine/result.c gives isolated vertices the value that they must have. During a run a column
 * of ids holds ranks among the linked vertices; the result has ranks among all. Formulas that
 * need the number of vertices use `vertices`, which counts the isolated ones too.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/file.h"
#include "base/memory.h"
#include "store/address.h"
#include "store/segment.h"
#include "store/stripe.h"

#define STORE_FORMAT 3u		/* format of paged stores; earlier formats can be read */
#define STORE_FORMAT_DENSE 2u	/* format of dense (not paged) stores: older readers know it */
#define STORE_BLOCK (64 * KIB)	/* bytes that one checksum covers */
#define PAGE_SIZE_MIN (64 * KIB)
#define PAGE_SIZE_MAX (64 * MIB)
#define PAGE_SIZE_DEFAULT (1 * MIB)

/* The files of a store, in the order of the manifest and of the checksums. */
enum store_file {
	STORE_OUT_PAGES,
	STORE_OUT_INDEX,
	STORE_OUT_DEGREES,	/* u32 for each vertex below `sources`; the others have degree 0 */
	STORE_IN_PAGES,		/* the in-files: only in a directed store, not with --out-only */
	STORE_IN_INDEX,
	STORE_IN_DEGREES,	/* u32 for each vertex */
	STORE_IDS,		/* u64: the original ids, ascending; an id's position is its rank */
	STORE_ORDER,		/* vid: the vertex of each rank */
	STORE_RANK,		/* vid: the rank of each vertex, the inverse of `order` */
	STORE_NAMES,		/* one line for each rank; only in a store with names */
	STORE_NAMES_INDEX,	/* u64 for each rank: the byte of `names` after its newline */
	STORE_FILES
};

/* The values are those of page headers. */
enum page_codec { PAGE_RAW = 0, PAGE_PACKED = 1 };

/* One entry of a page index, little-endian, as on disk. */
struct page_entry {
	u64 first_edge;
	u64 skip;		/* see struct segment */
	u32 first_vertex;
	u32 n_rows;
	u32 n_edges;
	u32 reserved;		/* 0 */
};
_Static_assert(sizeof(struct page_entry) == 32, "page_entry is a disk format");

/* The pages of one direction. */
struct pages {
	const struct store *store;
	enum store_file data, index, degrees;
	u32 n_pages;
	vid n_rows;		/* vertices 0 .. n_rows - 1 have rows */
	u32 n_split;		/* number of pages that begin in the middle of a list */
	u64 scratch;		/* bytes that page_decode_into needs; 0: pages need no decoding */
	u64 raw_bytes;		/* size of the largest page in raw form, as devices get it */
	const struct page_entry *entry;
	struct addresses address;	/* paged stores: turns the lists' ids into numbers */
};

struct store {
	char *path;
	char uuid[37];
	u8 uuid_bytes[16];
	char *origin;
	u32 format;
	u32 page_size;
	enum page_codec codec;
	bool paged;			/* the lists hold page addresses; only with raw pages */
	bool directed;
	bool named;			/* the original id of a vertex is the rank of its name */
	enum mill_weight weight;
	u64 n_linked;			/* vertices from this number on are isolated */
	u64 vertices, sources, edges, stored_edges, self_loops, parallel_edges;
	u64 min_id, max_id, max_degree;
	f64 max_weight, sum_weight;	/* over stored edges; 0 without weights */
	f64 min_weight;
	u64 bytes;			/* size of all files together */
	u32 n_stripes;			/* 0: the page files are in the store's own directory */
	char *stripe_path[STRIPES_MAX + 1];	/* paths of the stripes' folders; NULL-terminated */
	struct file *stripe[2];		/* page files in the stripes: out, in */
	struct file file[STORE_FILES];	/* with stripes, page files are closed but have a name */
	u64 size[STORE_FILES];
	u64 *sum[STORE_FILES];		/* checksum of each block */
	struct pages out, in;		/* an undirected store has in == out */
	bool has_in;
};

/* The checksums and indexes count against the budget, which may be NULL. */
mill_err store_open(struct store **out, const char *path, struct budget *budget);
void store_close(struct store *st);
struct manifest;
/*
 * Makes a store from files that are open already and the checksums of their blocks. Keeps the
 * files, and closes them also on failure.
 */
mill_err store_adopt(struct store **out, const struct manifest *m, struct file *file,
		     u64 *const *sum, struct budget *budget);

/* Returns the bytes of a weight: 0, 4 or 8. */
size_t weight_size(enum mill_weight w);
const char *weight_name(enum mill_weight w);
/* Returns true if the original ids have no gaps. Then the id of a rank is min_id + rank. */
bool store_ids_dense(const struct store *st);
/* Returns the bytes of the graph as a CSR. Sizes in percent refer to this number. */
u64 store_csr_bytes(const struct store *st);

/* Reads bytes [offset, offset + size) of a file that is no page file, and verifies them. */
mill_err store_read(const struct store *st, enum store_file f, void *to, u64 size, u64 offset);

/* Finds the vertex of an original id; NO_VERTEX if there is none. */
mill_err store_vertex(const struct store *st, u64 id, vid *out);
/* Finds the original id of a vertex. */
mill_err store_id(const struct store *st, vid v, u64 *out);
/* Finds the out-degree of a vertex. */
mill_err store_degree(const struct store *st, vid v, u32 *out);

/* Returns the page that holds the beginning of v's row. v < pages->n_rows. */
u32 pages_find(const struct pages *p, vid v);
/* Returns true if the last list of page i goes on in the next page. */
bool page_goes_on(const struct pages *p, u32 i);
/* Returns true if page i holds a piece of one long list and nothing else (GTS's large page). */
bool page_is_large(const struct pages *p, u32 i);
/* Returns the number of large pages. */
u64 pages_large(const struct pages *p);
/* Where page i lies on disk, for callers that read it themselves. */
struct page_place {
	const struct file *file;
	u64 offset;
};
struct page_place page_place(const struct pages *p, u32 i);
/* Verifies the checksums of blocks [first, first + n) of page i; data holds these n blocks. */
mill_err page_check(const struct pages *p, u32 i, u32 first, u32 n, const void *data);
/*
 * Reads page i into frame and verifies its checksums. frame: page_size bytes, aligned to 4096
 * for direct I/O.
 */
mill_err page_read(const struct pages *p, u32 i, void *frame);
/*
 * Allocates a frame for page_read and page_decode: a page, and room to decode it. Free it with
 * memory_free.
 */
mill_err page_frame_new(void **out, const struct store *st, struct budget *budget);
/*
 * Makes seg a view of the page in frame. Safe for hostile pages: row offsets and neighbours are
 * checked too, not only the checksum. The neighbours follow the row offsets in memory.
 */
mill_err page_decode(const struct pages *p, u32 i, void *frame, struct segment *seg);
/*
 * Does the same for a frame without room to decode. scratch has p->scratch bytes, is aligned to
 * 64 bytes and becomes part of the segment. Raw pages need no scratch and are used in place,
 * except in a paged store, where page addresses become dense numbers. With `only` (may be
 * NULL) the neighbours of rows that are not wanted are undefined.
 */
mill_err page_decode_into(const struct pages *p, u32 i, const void *frame, void *scratch,
			  const struct row_filter *only, struct segment *seg);

/* The parts of a page that a caller of page_decode_part needs. */
struct rows_wanted {
	const struct row_filter *only;	/* NULL: all rows */
	bool lists_only;		/* weights are not needed */
	bool as_stored;			/* paged stores: neighbours stay addresses (checked) */
	bool rows_only;			/* paged stores: neighbours are not needed */
};
/*
 * A page can be read in slices, at most 64 of them, so a set of slices is a 64-bit word.
 * page_slice returns the bytes of a slice, page_slices the set of all slices of a page.
 */
u32 page_slice(const struct store *st);
u64 page_slices(const struct pages *p);
/*
 * Decodes a page of which only the slices in `have` were read; the slices with the header and
 * the block index must be among them. Sets *lacks and decodes nothing if a wanted row was not
 * read.
 */
mill_err page_decode_part(const struct pages *p, u32 i, const void *frame, u64 have, void *scratch,
			  const struct rows_wanted *want, struct segment *seg, bool *lacks);
/* The rows [first, end) of a page that have data in one slice. */
struct slice_rows {
	u32 first, end;		/* end UINT32_MAX: the slice is needed for every row */
};
/* Returns the number of slice_rows that describe one page; 0: pages are always read whole. */
u64 page_slice_entries(const struct store *st);
/*
 * Fills the slice_rows of a page, which are zero before, from a whole page that was decoded.
 * The entries for lists come first, those for weights follow.
 */
void page_learn(const struct pages *p, u32 i, const void *frame, struct slice_rows *slice);
/*
 * Returns the set of slices that must be read for these rows; all slices if page_learn was not
 * called for the page.
 */
u64 page_slices_wanted(const struct pages *p, u32 i, const struct slice_rows *slice,
		       const struct rows_wanted *want);
/*
 * The byte ranges of a page that a device needs: a block index with its streams, or row offsets
 * and neighbours. page_wire checks everything except the contents of streams and page addresses:
 * the code that decodes those must check them.
 */
struct page_wire {
	u32 begin, end;
	u32 weight_at, weight_end;	/* both 0 without weights */
	u32 n_blocks;			/* packed: entries of the index, which starts at `begin` */
	u32 neighbour_at;		/* raw: row offsets are at `begin`, neighbours here */
};
mill_err page_wire(const struct pages *p, u32 i, const void *frame, struct page_wire *out);
/* Returns the scratch bytes of page_decode_into that are enough for any page of the store. */
u64 store_scratch(const struct store *st);
const char *codec_name(enum page_codec c);
/* Returns true if pages are used in place, without decoding. */
static inline bool store_in_place(const struct store *st)
{
	return st->codec == PAGE_RAW && !st->paged;
}

/* Returns MILL_ECORRUPT: the block at this byte of a file does not match its checksum. */
mill_err bad_block(const struct file *f, u64 at);

/*
 * Checks every checksum and every invariant: sorted lists, degrees, ids, in-edges = reversed
 * out-edges.
 */
struct ticker;
mill_err store_verify(const struct store *st, struct ticker *ticker);

/* The public handle. */
struct mill_store {
	struct store *st;
	struct budget budget;	/* counts the bytes; has no limit */
	char *min_name, *max_name;	/* NULL: the store has no names */
};

#endif
