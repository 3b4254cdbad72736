/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer fills pages list by list and keeps the checksums of all blocks. place.c owns the
 * directory in which the files are made.
 */
#include "store/writer.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "store/address.h"
#include "store/manifest.h"
#include "store/packed.h"
#include "store/page.h"
#include "store/place.h"
#include "store/stats.h"

/* A file that only grows, with the checksums of its blocks. */
struct output {
	struct file file;
	u64 size;
	u8 *block;		/* size % STORE_BLOCK bytes not written yet; NULL for page files */
	u64 *sum;
	u64 n_sums, max_sums;
};

/* One direction that is being written. */
struct side {
	u64 n_lists;		/* complete lists so far */
	u64 list_n;		/* edges of the present list so far */
	bool row_open;		/* raw: the present list continues the open page's last row */
	u64 n_rows;		/* vertices with a row in a page: up to the last list with edges */
	u64 n_edges, n_pages;
	/* The open page. */
	u64 page_rows, page_edges, page_first, page_skip;
	/* Only for paged stores: */
	bool large;		/* the present list shares its pages with no other list */
	u64 most_rows;		/* largest number of rows of a page so far */
	struct addresses address;
	u64 max_first;		/* number of elements that address.first has room for */
};

struct store_writer {
	struct place *place;	/* NULL: a temporary store */
	char *dir;		/* temporary stores: the directory of the files */
	struct budget *budget;
	struct manifest manifest;
	bool begun, in_begun;
	bool whole_lists;
	u32 slots;		/* paged stores: ids per page as the user chose; 0: as needed */
	u32 most_rows;		/* limit of the rows of a page */
	struct output output[STORE_FILES];
	struct file *stripe[2];	/* n_stripes page files each: out, in */
	struct side side[2];
	struct stats stats;
	/*
	 * The open page. Neighbours (packed: streams) are collected at the beginning of the frame
	 * and moved to their place when the number of rows (blocks) is known.
	 */
	u8 *frame;
	u32 *row;
	u8 *weight;
	u8 *moved;		/* paged stores: buffer for a list that moves to a new page */
	/* Packed: the blocks of the open page, and the open block, which may go to a new page. */
	struct packed_block *block;
	u64 n_blocks, stream_bytes;
	struct packer *packer;
	u8 *packed;
	u64 block_first, block_skip;
};

static mill_err bug(const char *what)
{
	return fail(MILL_EBUG, "the store's writer was misused: %s", what);
}

static u32 n_stripes(const struct store_writer *w) { return w->manifest.stripes; }

/* ---- Outputs ---- */

/* Creates the page files of a direction in the folders of the stripes. */
static mill_err open_stripes(struct store_writer *w, enum store_file f)
{
	struct file **file = &w->stripe[f == STORE_IN_PAGES];

	TRY(memory_new(file, w->budget, n_stripes(w), sizeof(**file), "the stripes"));
	for (u32 k = 0; k < n_stripes(w); k++)
		(*file)[k] = FILE_CLOSED;
	for (u32 k = 0; k < n_stripes(w); k++)
		TRY(place_create_in(w->place, k, &(*file)[k], store_file_name(f)));
	return MILL_OK;
}

static mill_err output_open(struct store_writer *w, enum store_file f, bool page_file)
{
	struct output *s = &w->output[f];

	if (page_file && n_stripes(w))
		return open_stripes(w, f);
	if (w->place)
		TRY(place_create(w->place, &s->file, store_file_name(f)));
	else
		TRY(file_temp(&s->file, w->dir));
	if (page_file)
		return MILL_OK;
	return memory_new(&s->block, w->budget, STORE_BLOCK, 1, "a file buffer");
}

static mill_err add_sum(struct store_writer *w, struct output *s, u64 sum)
{
	if (s->n_sums == s->max_sums) {
		u64 max = s->max_sums ? 2 * s->max_sums : 512;
		u64 *more;

		TRY(memory_new(&more, w->budget, max, sizeof(*more), "checksums"));
		if (s->n_sums)
			memcpy(more, s->sum, s->n_sums * sizeof(*more));
		memory_free(s->sum);
		s->sum = more;
		s->max_sums = max;
	}
	s->sum[s->n_sums++] = sum;
	return MILL_OK;
}

/* Writes a block, or the shorter last one of the file. It ends at byte `end`. */
static mill_err put_block(struct store_writer *w, struct output *s, const void *data, u64 size,
			  u64 end)
{
	TRY(add_sum(w, s, checksum(data, size)));
	return file_write_at(&s->file, data, size, end - size);
}

static mill_err output_add(struct store_writer *w, enum store_file f, const void *data, u64 size)
{
	struct output *s = &w->output[f];
	const u8 *from = data;

	while (size) {
		u64 fill = s->size % STORE_BLOCK;
		u64 n = min_u64(size, STORE_BLOCK - fill);

		s->size += n;
		if (n == STORE_BLOCK) {
			TRY(put_block(w, s, from, n, s->size));
		} else {
			memcpy(s->block + fill, from, n);
			if (fill + n == STORE_BLOCK)
				TRY(put_block(w, s, s->block, STORE_BLOCK, s->size));
		}
		from += n;
		size -= n;
	}
	return MILL_OK;
}

static mill_err finish_file(struct store_writer *w, struct file *f, bool page_file)
{
	if (w->place)
		TRY(place_finish(w->place, f));
	if (page_file)
		file_forget(f);	/* pages are read with O_DIRECT, past the page cache */
	return MILL_OK;
}

static mill_err output_finish(struct store_writer *w, enum store_file f)
{
	struct output *s = &w->output[f];

	if (s->block && s->size % STORE_BLOCK)
		TRY(put_block(w, s, s->block, s->size % STORE_BLOCK, s->size));
	w->manifest.size[f] = s->size;
	if (!s->block && n_stripes(w)) {
		for (u32 k = 0; k < n_stripes(w); k++)
			TRY(finish_file(w, &w->stripe[f == STORE_IN_PAGES][k], true));
		return MILL_OK;
	}
	return finish_file(w, &s->file, !s->block);
}

static void output_release(struct output *s)
{
	file_close(&s->file);
	memory_free(s->block);
	memory_free(s->sum);
}

/* ---- Pages ---- */

static enum store_file data_file(bool in)
{
	return in ? STORE_IN_PAGES : STORE_OUT_PAGES;
}

static struct page_place written_page(const struct store_writer *w, enum store_file f, u64 page)
{
	u32 size = w->manifest.page_size, n = n_stripes(w);

	if (!n)
		return (struct page_place){ &w->output[f].file, page * size };
	return (struct page_place){ &w->stripe[f == STORE_IN_PAGES][page % n], page / n * size };
}

static mill_err put_page(struct store_writer *w, enum store_file f)
{
	struct output *s = &w->output[f];
	u32 size = w->manifest.page_size;
	struct page_place to = written_page(w, f, s->size / size);

	for (u64 at = 0; at < size; at += STORE_BLOCK)
		TRY(add_sum(w, s, checksum(w->frame + at, STORE_BLOCK)));
	TRY(file_write_at(to.file, w->frame, size, to.offset));
	s->size += size;
	return MILL_OK;
}

static bool is_packed(const struct store_writer *w) { return w->manifest.codec == PAGE_PACKED; }

/* Returns where the lists of the open page will begin. */
static u64 lists_at(const struct store_writer *w, const struct side *d)
{
	if (is_packed(w))
		return sizeof(struct page_header) + (w->n_blocks + 1) * sizeof(struct packed_block);
	return page_neighbour_at(d->page_rows);
}

/* Returns the length of the lists of the open page. */
static u64 lists_bytes(const struct store_writer *w, const struct side *d)
{
	return is_packed(w) ? w->stream_bytes : d->page_edges * sizeof(vid);
}

/* Writes the row offsets, or the block index, of the open page. */
static void put_index(struct store_writer *w, const struct side *d, const struct page_header *h)
{
	if (!is_packed(w)) {
		w->row[d->page_rows] = h->n_edges;
		memcpy(w->frame + h->row_at, w->row, 4 * (d->page_rows + 1));
		return;
	}
	w->block[w->n_blocks++] = (struct packed_block){
		.at = (u32)w->stream_bytes,
		.first_row = h->n_rows,
		.first_edge = h->n_edges,
	};
	for (u64 i = 0; i < w->n_blocks; i++)
		w->block[i].at += h->neighbour_at;
	memcpy(w->frame + h->row_at, w->block, w->n_blocks * sizeof(*w->block));
	w->n_blocks = w->stream_bytes = 0;
}

/* ---- Page addresses ---- */

static u32 side_slots(const struct store_writer *w, const struct side *d)
{
	return w->slots ? w->slots : (u32)max_u64(d->most_rows, 1);
}

/*
 * Fails if there are more ids than an id can hold. With --record-id this also limits the number of
 * pages: page id and slot together have the bits of an id.
 */
static mill_err check_ids(const struct store_writer *w, u64 n_pages, u32 slots, u64 sinks)
{
	if (addresses_fit(n_pages, slots, sinks))
		return MILL_OK;
	return fail(MILL_ELIMIT,
		    "%llu pages of %u slots, and %llu vertices without a row, do not fit page "
		    "addresses of %d bits: %s, a larger --page-size, or --addressing dense",
		    (unsigned long long)n_pages, slots, (unsigned long long)sinks, MILL_VID_BITS,
		    w->slots ? "choose another --record-id"
			     : "choose a --record-id, which bounds the slots of a page");
}

/* Adds the page that is being closed to the addresses. */
static mill_err note_page(struct store_writer *w, struct side *d, const struct page_entry *e)
{
	struct addresses *a = &d->address;

	d->most_rows = max_u64(d->most_rows, e->n_rows);
	TRY(check_ids(w, d->n_pages + 1, side_slots(w, d), 0));
	/* Room for this page and for the two elements after the last page. */
	if (d->n_pages + 3 > d->max_first) {
		u64 max = d->max_first ? 2 * d->max_first : 512;
		u32 *more;

		TRY(memory_new(&more, w->budget, max, sizeof(*more), "the page addresses"));
		if (d->n_pages)
			memcpy(more, a->first, d->n_pages * sizeof(*more));
		memory_free(a->first);
		a->first = more;
		d->max_first = max;
	}
	a->first[d->n_pages] = address_first(e->first_vertex, e->skip);
	return MILL_OK;
}

/* Writes the open page; the open block is not part of it. */
static mill_err close_page(struct store_writer *w, bool in)
{
	struct side *d = &w->side[in];
	size_t wsize = weight_size(w->manifest.weight);
	u64 at = lists_at(w, d), list_bytes = lists_bytes(w, d), end = at + list_bytes;
	u64 waiting = is_packed(w) ? w->packer->n_edges : 0;
	struct page_header h = {
		.magic = PAGE_MAGIC,
		.number = (u32)d->n_pages,
		.codec = (u16)w->manifest.codec,
		.direction = in,
		.first_vertex = (u32)d->page_first,
		.n_rows = (u32)d->page_rows,
		.n_edges = (u32)d->page_edges,
		.row_at = sizeof(h),
		.neighbour_at = (u32)at,
		.weight_at = wsize ? (u32)round_up(end, 8) : 0,
		.first_edge = d->n_edges - waiting - d->page_edges,
	};
	struct page_entry e = {
		.first_edge = h.first_edge,
		.skip = d->page_skip,
		.first_vertex = h.first_vertex,
		.n_rows = h.n_rows,
		.n_edges = h.n_edges,
	};

	if (!d->page_rows)
		return MILL_OK;
	if (d->n_pages == UINT32_MAX)
		return fail(MILL_ELIMIT, "the store needs more than %u pages: choose larger ones",
			    UINT32_MAX);
	memcpy(h.uuid, w->manifest.uuid, sizeof(h.uuid));
	memmove(w->frame + at, w->frame, list_bytes);
	memcpy(w->frame, &h, sizeof(h));
	put_index(w, d, &h);
	if (wsize) {
		memset(w->frame + end, 0, h.weight_at - end);
		end = h.weight_at + wsize * d->page_edges;
		memcpy(w->frame + h.weight_at, w->weight, wsize * d->page_edges);
		memmove(w->weight, w->weight + wsize * d->page_edges, wsize * waiting);
	}
	assert(end <= w->manifest.page_size);
	memset(w->frame + end, 0, w->manifest.page_size - end);
	TRY(put_page(w, data_file(in)));
	TRY(output_add(w, data_file(in) + 1, &e, sizeof(e)));

	if (w->manifest.paged)
		TRY(note_page(w, d, &e));
	d->n_pages++;
	d->page_rows = d->page_edges = d->page_skip = 0;
	return MILL_OK;
}

/* Returns true if the open packed page has room for one more block of this size. */
static bool block_fits(const struct store_writer *w, const struct side *d, u64 rows, u64 edges,
		       u64 bytes)
{
	u64 size = w->manifest.page_size, wsize = weight_size(w->manifest.weight);
	u64 end = lists_at(w, d) + sizeof(struct packed_block) + w->stream_bytes + bytes;

	rows += d->page_rows;
	edges += d->page_edges;
	return end + PACKED_SLACK <= size && round_up(end, 8) + wsize * edges <= size &&
	       wsize * edges < size &&
	       page_lists_bytes(rows, edges) <= (u64)PACKED_GROWTH * size;
}

/* Puts the open block into the open page, or into a new one. */
static mill_err close_block(struct store_writer *w, bool in)
{
	struct side *d = &w->side[in];
	struct packer *p = w->packer;
	u32 bytes;

	if (!p->n_rows)
		return MILL_OK;
	bytes = packer_put(p, w->packed);
	if (d->page_rows && !block_fits(w, d, p->n_rows, p->n_edges, bytes))
		TRY(close_page(w, in));
	if (!d->page_rows) {
		d->page_first = w->block_first;
		d->page_skip = w->block_skip;
	}
	w->block[w->n_blocks++] = (struct packed_block){
		.at = (u32)w->stream_bytes,
		.first_row = (u32)(w->block_first - d->page_first),
		.first_edge = (u32)d->page_edges,
		.n_rows = (u16)p->n_rows,
		.n_edges = (u16)p->n_edges,
	};
	memcpy(w->frame + w->stream_bytes, w->packed, bytes);
	w->stream_bytes += bytes;
	d->page_rows = w->block_first - d->page_first + p->n_rows;
	d->page_edges += p->n_edges;
	packer_clear(p);
	return MILL_OK;
}

/* Packs a list in pieces of LIST_BLOCK edges. A piece goes into the open block if it has room. */
static mill_err pack_list(struct store_writer *w, bool in, u64 v, u64 skip, const vid *neighbour,
			  const u8 *weight, u64 degree)
{
	struct side *d = &w->side[in];
	size_t wsize = weight_size(w->manifest.weight);
	u64 done = 0;

	do {
		u32 n = (u32)min_u64(degree - done, LIST_BLOCK);

		if (!packer_takes(w->packer, n))
			TRY(close_block(w, in));
		if (!w->packer->n_rows) {
			w->block_first = v;
			w->block_skip = skip + done;
		}
		if (wsize && n)
			memcpy(w->weight + (d->page_edges + w->packer->n_edges) * wsize,
			       weight + done * wsize, n * wsize);
		packer_add(w->packer, (vid)v, n ? neighbour + done : NULL, n);
		d->n_edges += n;
		done += n;
	} while (done < degree);
	return MILL_OK;
}

/* Turns the neighbours of page i of a complete direction into addresses. */
static mill_err rename_page(struct store_writer *w, bool in, u32 i)
{
	struct output *s = &w->output[data_file(in)];
	u32 size = w->manifest.page_size, blocks = (u32)(size / STORE_BLOCK);
	struct page_place at = written_page(w, data_file(in), i);
	struct page_header h;
	vid *neighbour;

	TRY(file_read_at(at.file, w->frame, size, at.offset));
	for (u32 b = 0; b < blocks; b++)	/* verifies what was read back */
		if (checksum(w->frame + b * STORE_BLOCK, STORE_BLOCK) !=
		    s->sum[(u64)i * blocks + b])
			return bad_block(at.file, at.offset + b * STORE_BLOCK);
	memcpy(&h, w->frame, sizeof(h));
	neighbour = (vid *)(w->frame + h.neighbour_at);
	addresses_encode(&w->side[in].address, neighbour, h.n_edges, neighbour);
	for (u32 b = 0; b < blocks; b++)
		s->sum[(u64)i * blocks + b] = checksum(w->frame + b * STORE_BLOCK, STORE_BLOCK);
	return file_write_at(at.file, w->frame, size, at.offset);
}

/*
 * Reads all pages of a direction again and replaces vertex numbers by addresses: the page in which
 * each list begins is known only when all lists are written. To count all degrees first would not
 * be better: that reads the sorted edges once more, which have no fewer bytes than the pages.
 */
static mill_err rename_side(struct store_writer *w, bool in)
{
	struct side *d = &w->side[in];
	struct addresses *a = &d->address;
	u64 sinks = w->manifest.n_linked - d->n_rows;

	w->manifest.slots[in] = side_slots(w, d);
	if (!d->n_pages)
		return MILL_OK;
	TRY(check_ids(w, d->n_pages, side_slots(w, d), sinks));
	addresses_set(a, side_slots(w, d), (u32)d->n_pages, (u32)d->n_rows, (u32)sinks);
	TRY(addresses_make_hints(a, w->budget));
	for (u32 i = 0; i < d->n_pages; i++)
		TRY(rename_page(w, in, i));
	addresses_release(a);
	return MILL_OK;
}

/* Writes the last page of a complete direction. */
static mill_err close_side(struct store_writer *w, bool in)
{
	if (is_packed(w))
		TRY(close_block(w, in));
	TRY(close_page(w, in));
	return w->manifest.paged ? rename_side(w, in) : MILL_OK;
}

/* Appends a row to the open page; it fits. skip: edges of the list that are in earlier pages. */
static void put_row(struct store_writer *w, bool in, u64 v, u64 skip, const vid *neighbour,
		    const u8 *weight, u64 n)
{
	struct side *d = &w->side[in];
	size_t wsize = weight_size(w->manifest.weight);

	if (!d->page_rows) {
		d->page_first = v;
		d->page_skip = skip;
	}
	if (!d->row_open)
		w->row[d->page_rows++] = (u32)d->page_edges;
	if (!n)
		return;
	memcpy(w->frame + d->page_edges * sizeof(vid), neighbour, n * sizeof(vid));
	if (wsize)
		memcpy(w->weight + d->page_edges * wsize, weight, n * wsize);
	d->page_edges += n;
	d->n_edges += n;
}

/* Ends a list. If it shares its pages with no other list, its last page is closed too. */
static mill_err end_list(struct store_writer *w, bool in)
{
	struct side *d = &w->side[in];

	d->row_open = false;
	if (!d->large)
		return MILL_OK;
	d->large = false;
	return close_page(w, in);
}

/*
 * Returns how many of n further edges, in the open row or in a new one, fit into the open page.
 * Returns -1 if not even the row fits.
 */
static i64 room(const struct store_writer *w, const struct side *d, u64 n)
{
	size_t wsize = weight_size(w->manifest.weight);
	u64 size = w->manifest.page_size;
	u64 rows = d->page_rows + !d->row_open;
	u64 fit;

	if (page_bytes(rows, d->page_edges, wsize) > size || rows > w->most_rows)
		return -1;
	fit = (size - page_neighbour_at(rows)) / (sizeof(vid) + wsize);
	while (page_bytes(rows, fit, wsize) > size)	/* because of the gap before the weights */
		fit--;
	return (i64)min_u64(n, fit - d->page_edges);
}

/*
 * For a paged store: the open page ends with a list that does not fit it. Moves that list, which is
 * in this page from its beginning, to a new page of its own.
 */
static mill_err move_open_row(struct store_writer *w, bool in, u64 v)
{
	struct side *d = &w->side[in];
	size_t wsize = weight_size(w->manifest.weight);
	u64 from = w->row[d->page_rows - 1], n = d->page_edges - from;
	u8 *weight = w->moved + n * sizeof(vid);

	memcpy(w->moved, w->frame + from * sizeof(vid), n * sizeof(vid));
	if (wsize)
		memcpy(weight, w->weight + from * wsize, n * wsize);
	d->page_rows--;
	d->page_edges -= n;
	d->n_edges -= n;
	TRY(close_page(w, in));
	d->row_open = false;
	put_row(w, in, v, 0, (const vid *)w->moved, wsize ? weight : NULL, n);
	d->row_open = true;
	return MILL_OK;
}

/* Adds edges [skip, skip + degree) of the list of v to pages. last: the list ends with them. */
static mill_err put_list(struct store_writer *w, bool in, u64 v, u64 skip, const vid *neighbour,
			 const void *weight, u64 degree, bool last)
{
	struct side *d = &w->side[in];
	size_t wsize = weight_size(w->manifest.weight);
	const u8 *bytes = weight;
	u64 done = 0;

	if (is_packed(w))
		return pack_list(w, in, v, skip, neighbour, weight, degree);
	for (;;) {
		i64 n = room(w, d, degree - done);

		if (n >= 0 && (u64)n < degree - done) {
			n -= n % LIST_BLOCK;
			if (w->whole_lists && d->page_rows && !d->row_open) {
				n = -1;	/* all of it goes to the next page */
			} else if (w->manifest.paged && d->page_rows > 1) {
				TRY(move_open_row(w, in, v));
				continue;
			} else {
				d->large = w->manifest.paged;
			}
		}
		if (n > 0 || (n == 0 && !degree)) {
			put_row(w, in, v, skip + done, neighbour + done,
				wsize ? bytes + done * wsize : NULL, (u64)n);
			done += (u64)n;
			d->row_open = !last;
			if (done == degree)
				return last ? end_list(w, in) : MILL_OK;
		}
		TRY(close_page(w, in));
		d->row_open = false;
	}
}

/* ---- The functions of writer.h ---- */

mill_err writer_open(struct store_writer **out, const char *path, bool force, struct budget *budget)
{
	struct store_writer *w;
	mill_err err;

	TRY(memory_new(&w, budget, 1, sizeof(*w), "the store's writer"));
	w->budget = budget;
	for (enum store_file f = 0; f < STORE_FILES; f++)
		w->output[f].file = FILE_CLOSED;
	err = place_open(&w->place, path, force, budget);
	if (err) {
		writer_abandon(w);
		return err;
	}
	*out = w;
	return MILL_OK;
}

mill_err writer_stripe(struct store_writer *w, const char *list)
{
	return place_stripe(w->place, list);
}

/*
 * Makes the uuid. The same graph in the same form gets the same uuid, so that stores can be
 * compared byte by byte.
 */
static void derive_uuid(struct manifest *m, u32 slots)
{
	u64 shape[] = {
		0, m->fingerprint, m->page_size, m->directed, m->in_pages,
		m->weight, m->vertices, m->sources, m->edges, m->codec, m->n_linked,
		slots,	/* only for paged stores: the uuids of others stay as before */
	};
	size_t size = sizeof(shape) - (m->paged ? 0 : sizeof(shape[0]));

	for (unsigned half = 0; half < 2; half++) {
		u64 sum;

		shape[0] = half;
		sum = checksum(shape, size);
		memcpy(m->uuid + 8 * half, &sum, 8);
	}
	m->uuid[6] = (u8)((m->uuid[6] & 0x0f) | 0x80);	/* RFC 9562: version 8, variant 2 */
	m->uuid[8] = (u8)((m->uuid[8] & 0x3f) | 0x80);
}

/* Copies the origin as one line. Control characters, which a file name may have, become '?'. */
static void copy_origin(char *to, const char *from)
{
	size_t n = 0;

	for (; from && *from && n < ORIGIN_MAX; from++) {
		u8 c = (u8)*from;

		to[n++] = c < 0x20 || c == 0x7f ? '?' : *from;
	}
	to[n] = '\0';
}

static bool has_file(const struct store_writer *w, enum store_file f)
{
	if (!w->place)
		return f == STORE_IN_PAGES || f == STORE_IN_INDEX || f == STORE_IN_DEGREES;
	return manifest_has(&w->manifest, f);
}

mill_err writer_allows(const struct store_facts *facts)
{
	u32 size = facts->page_size, p = facts->page_id_bytes, q = facts->slot_bytes;

	if (size && (size < PAGE_SIZE_MIN || size > PAGE_SIZE_MAX || (size & (size - 1))))
		return fail(MILL_EUSAGE,
			    "a page of %u bytes: pages are 64K to 64M, a power of two", size);
	if ((p || q) && !facts->paged)
		return fail(MILL_EUSAGE, "--record-id %u,%u is for --addressing paged", p, q);
	if ((p || q) && (!p || !q || p + q != 4))
		return fail(MILL_EUSAGE,
			    "--record-id %u,%u: lists hold ids of 32 bits, so page id and slot "
			    "number have 4 bytes together, and each at least 1", p, q);
	if (facts->paged && facts->codec != PAGE_RAW)
		return fail(MILL_EUSAGE,
			    "--addressing paged needs --codec raw: where packed pages end depends "
			    "on the numbers that are packed, and page addresses on where pages "
			    "end");
	return MILL_OK;
}

mill_err writer_begin(struct store_writer *w, const struct store_facts *facts)
{
	struct manifest *m = &w->manifest;
	u32 size = facts->page_size ? facts->page_size : (u32)PAGE_SIZE_DEFAULT;
	size_t wsize = weight_size(facts->weight);

	if (w->begun)
		return bug("begun twice");
	TRY(writer_allows(facts));
	if (facts->vertices > MAX_VERTICES)
		return fail(MILL_ELIMIT, "%llu vertices, a store holds at most %llu",
			    (unsigned long long)facts->vertices, (unsigned long long)MAX_VERTICES);
	if (facts->edges > MAX_EDGES)
		return fail(MILL_ELIMIT, "%llu edges, a store holds at most %llu",
			    (unsigned long long)facts->edges, (unsigned long long)MAX_EDGES);
	if (facts->sources > facts->vertices || facts->n_linked > facts->vertices)
		return bug("more sources than vertices");

	m->version = facts->paged ? STORE_FORMAT : STORE_FORMAT_DENSE;
	m->paged = facts->paged;
	m->page_size = size;
	m->stripes = w->place ? place_stripes(w->place) : 0;
	m->codec = facts->codec;
	m->directed = facts->directed;
	m->in_pages = facts->directed && facts->in_pages;
	m->names = facts->names;
	m->weight = facts->weight;
	m->vertices = facts->vertices;
	m->sources = facts->sources;
	m->n_linked = !facts->directed ? facts->sources :
		       facts->n_linked ? facts->n_linked :
		       facts->sources	? facts->vertices :
					  0;
	m->edges = facts->edges;
	m->fingerprint = facts->fingerprint;
	w->whole_lists = facts->whole_lists || facts->paged;
	w->slots = facts->slot_bytes ? 1u << 8 * facts->slot_bytes : 0;
	w->most_rows = w->slots ? w->slots : UINT32_MAX;
	copy_origin(m->origin, facts->origin);
	derive_uuid(m, w->slots);
	w->stats.weight = facts->weight;

	TRY(memory_new(&w->frame, w->budget, size, 1, "a page"));
	if (!is_packed(w))
		TRY(memory_new(&w->row, w->budget, size, 1, "the rows of a page"));
	if (wsize)
		TRY(memory_new(&w->weight, w->budget, size + LIST_BLOCK * wsize, 1,
			       "the weights of a page"));
	if (m->paged)
		TRY(memory_new(&w->moved, w->budget, size, 1, "a list"));
	if (is_packed(w)) {
		TRY(memory_new(&w->block, w->budget, size, 1, "the blocks of a page"));
		TRY(memory_new(&w->packer, w->budget, 1, sizeof(*w->packer), "a block"));
		TRY(memory_new(&w->packed, w->budget, PACKED_BLOCK_MAX + PACKED_SLACK, 1,
			       "a packed block"));
	}
	if (n_stripes(w))
		TRY(place_make_stripes(w->place, m->uuid));
	for (enum store_file f = 0; f < STORE_FILES; f++)
		if (has_file(w, f))
			TRY(output_open(w, f, f == STORE_OUT_PAGES || f == STORE_IN_PAGES));
	w->begun = true;
	return MILL_OK;
}

/* Checks a piece of n edges. degree: edges of its list so far, with this piece. */
static mill_err check_piece(const struct store_writer *w, bool in, u64 n, u64 degree, bool last)
{
	const struct side *d = &w->side[in];

	if (!w->begun || (in && !w->manifest.in_pages) || (!in && w->in_begun))
		return bug("a list out of turn");
	if (d->n_lists == w->manifest.vertices)
		return bug("more lists than vertices");
	if (!in && (d->n_lists < w->manifest.sources) != (degree != 0))
		return bug("the vertices with out-edges are not the first ones");
	if (degree > UINT32_MAX)
		return fail(MILL_ELIMIT, "a vertex has %llu edges, at most %u are possible",
			    (unsigned long long)degree, UINT32_MAX);
	if (!last && (!n || n % LIST_BLOCK))
		return bug("a list is cut in the middle of a block");
	if (n > MAX_EDGES - d->n_edges)
		return fail(MILL_ELIMIT, "more than %llu edges",
			    (unsigned long long)MAX_EDGES);
	return MILL_OK;
}

mill_err writer_list(struct store_writer *w, bool in, const vid *neighbour, const void *weight,
		     u64 degree)
{
	return writer_piece(w, in, neighbour, weight, degree, true);
}

mill_err writer_piece(struct store_writer *w, bool in, const vid *neighbour, const void *weight,
		      u64 n, bool last)
{
	struct side *d = &w->side[in];
	u64 skip = d->list_n, degree = skip + n, v = d->n_lists;
	u32 narrow = (u32)degree;

	TRY(check_piece(w, in, n, degree, last));
	if (in && !w->in_begun) {
		TRY(close_side(w, false));	/* the buffers of the open page are shared */
		w->in_begun = true;
	}
	d->list_n = last ? 0 : degree;
	d->n_lists += last;
	if (last && (in || v < w->manifest.sources))
		TRY(output_add(w, data_file(in) + 2, &narrow, sizeof(narrow)));
	if (!n)
		return end_list(w, in);	/* an empty list gets a row when a later vertex has edges */
	for (; d->n_rows < v; d->n_rows++)
		TRY(put_list(w, in, d->n_rows, 0, NULL, NULL, 0, true));
	TRY(put_list(w, in, v, skip, neighbour, weight, n, last));
	d->n_rows = v + 1;
	if (!in) {
		stats_add(&w->stats, (vid)v, neighbour, weight, n);
		w->manifest.max_degree = max_u64(w->manifest.max_degree, degree);
	}
	return MILL_OK;
}

const char *writer_dir(const struct store_writer *w) { return place_dir(w->place); }

mill_err writer_append(struct store_writer *w, enum store_file f, const void *data, u64 size)
{
	struct manifest *m = &w->manifest;
	const u8 *bytes = data;

	if (!w->begun || f < STORE_IDS || !manifest_has(m, f))
		return bug("appended to a file that is the writer's own");
	for (u64 at = 0; f == STORE_IDS && at + 8 <= size; at += 8) {
		bool first = w->output[f].size + at == 0;
		u64 id;

		memcpy(&id, bytes + at, sizeof(id));
		m->min_id = first ? id : min_u64(m->min_id, id);
		m->max_id = max_u64(m->max_id, id);
	}
	return output_add(w, f, data, size);
}

/* Writes the file `sums`: the checksums of all files, one after the other. */
static mill_err write_sums(struct store_writer *w)
{
	struct file file = FILE_CLOSED;
	struct checksum_stream *digest;
	mill_err err;
	u64 at = 0;

	digest = checksum_begin();
	if (!digest)
		return fail(MILL_ENOMEM, "no memory for a checksum");
	err = place_create(w->place, &file, SUMS_NAME);
	for (enum store_file f = 0; !err && f < STORE_FILES; f++) {
		u64 size = w->output[f].n_sums * sizeof(u64);

		if (!size)
			continue;
		checksum_add(digest, w->output[f].sum, size);
		err = file_write_at(&file, w->output[f].sum, size, at);
		at += size;
	}
	if (!err)
		err = place_finish(w->place, &file);
	w->manifest.sums = checksum_end(digest);
	file_close(&file);
	return err;
}

/* Puts the counts of the lists into the manifest. Returns false if they contradict the facts. */
static bool take_counts(struct store_writer *w)
{
	struct manifest *m = &w->manifest;
	const struct stats *s = &w->stats;
	u64 pairs;

	m->stored_edges = s->edges;
	m->in_rows = w->side[1].n_rows;
	m->self_loops = s->self_loops;
	m->parallel_edges = s->parallel_edges;
	m->min_weight = s->min_weight;
	m->max_weight = s->max_weight;
	m->sum_weight = stats_sum_weight(s);
	pairs = s->edges - s->self_loops;
	return w->side[0].n_lists >= m->sources && !s->not_a_number &&
	       (!m->in_pages || w->side[1].n_edges == s->edges) &&
	       m->edges == (m->directed ? s->edges : s->self_loops + pairs / 2) &&
	       m->size[STORE_IDS] == m->vertices * 8 &&
	       m->size[STORE_ORDER] == m->vertices * sizeof(vid) &&
	       m->size[STORE_RANK] == m->vertices * sizeof(vid) &&
	       (!m->names || m->size[STORE_NAMES_INDEX] == m->vertices * 8);
}

static mill_err finish_files(struct store_writer *w)
{
	static const u32 none;

	if (!w->begun)
		return bug("committed before it was begun");
	if (!w->in_begun)
		TRY(close_side(w, false));
	if (w->manifest.in_pages)
		TRY(close_side(w, true));
	for (; w->manifest.in_pages && w->side[1].n_lists < w->manifest.vertices;
	     w->side[1].n_lists++)
		TRY(output_add(w, STORE_IN_DEGREES, &none, sizeof(none)));
	for (enum store_file f = 0; f < STORE_FILES; f++)
		if (has_file(w, f))
			TRY(output_finish(w, f));
	return MILL_OK;
}

static mill_err finish(struct store_writer *w)
{
	char text[MANIFEST_MAX];

	TRY(finish_files(w));
	TRY(write_sums(w));
	if (!take_counts(w))
		return bug("the lists are not what was announced");
	return place_commit(w->place, text, manifest_format(text, &w->manifest));
}

mill_err writer_commit(struct store_writer *w)
{
	mill_err err = finish(w);

	writer_abandon(w);	/* does not remove a store that was committed */
	return err;
}

void writer_abandon(struct store_writer *w)
{
	if (!w)
		return;
	for (enum store_file f = 0; f < STORE_FILES; f++)
		output_release(&w->output[f]);
	for (u32 i = 0; i < 2; i++) {
		for (u32 k = 0; w->stripe[i] && k < n_stripes(w); k++)
			file_close(&w->stripe[i][k]);
		memory_free(w->stripe[i]);
	}
	memory_free(w->frame);
	memory_free(w->row);
	memory_free(w->weight);
	memory_free(w->moved);
	addresses_release(&w->side[0].address);
	addresses_release(&w->side[1].address);
	memory_free(w->block);
	memory_free(w->packer);
	memory_free(w->packed);
	place_close(w->place);
	memory_free(w->dir);
	memory_free(w);
}

/* ---- Temporary stores ---- */

mill_err writer_open_temporary(struct store_writer **out, const char *dir, struct budget *budget)
{
	struct store_writer *w;
	mill_err err;

	TRY(memory_new(&w, budget, 1, sizeof(*w), "the writer of a temporary graph"));
	w->budget = budget;
	for (enum store_file f = 0; f < STORE_FILES; f++)
		w->output[f].file = FILE_CLOSED;
	err = memory_string(&w->dir, budget, dir);
	if (err) {
		writer_abandon(w);
		return err;
	}
	*out = w;
	return MILL_OK;
}

mill_err writer_keep(struct store_writer *w, struct store **out)
{
	struct manifest *m = &w->manifest;
	struct file file[STORE_FILES];
	u64 *sum[STORE_FILES];
	mill_err err = finish_files(w);

	if (!err) {
		m->stored_edges = m->edges = w->side[1].n_edges;
		m->in_rows = w->side[1].n_rows;
		for (enum store_file f = 0; f < STORE_FILES; f++) {
			file[f] = w->output[f].file;
			w->output[f].file = FILE_CLOSED;
			sum[f] = w->output[f].sum;
		}
		err = store_adopt(out, m, file, sum, w->budget);
	}
	writer_abandon(w);
	return err;
}

u64 temporary_bytes(u64 vertices, u64 edges, u32 page_size, enum mill_weight weight)
{
	/* Twice the data. Worst case of raw pages: long lists leave every other page half empty. */
	u64 bytes = 2 * (4 * vertices + edges * (sizeof(vid) + weight_size(weight)));
	u64 pages = bytes / page_size + 2;

	/* The checksums, in arrays that double and are copied at the end, and the index. */
	return pages * (5 * sizeof(u64) * (page_size / STORE_BLOCK) +
			2 * sizeof(struct page_entry)) +
	       5 * sizeof(u64) * (4 * vertices / STORE_BLOCK) + 512 * KIB;
}
