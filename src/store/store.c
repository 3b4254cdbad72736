/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a store, reading its files, and the public functions of mill_store. */
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "store/export.h"
#include "store/manifest.h"
#include "store/names.h"
#include "store/packed.h"
#include "store/page.h"
#include "store/place.h"
#include "store/rvt.h"

/* ---- Opening ---- */

static mill_err open_dir(struct file *out, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return fail_errno("cannot open %s", path);
	if (!S_ISDIR(st.st_mode))
		return fail(MILL_EINPUT, "%s is not a store: not a directory", path);
	return file_open(out, AT_FDCWD, path, FILE_READ, NULL);
}

/* Opens a file in the directory `path`. It must be a plain file of this size. */
static mill_err open_sized(struct file *out, const char *path, int dir, const char *name,
			   enum file_mode mode, u64 size)
{
	struct file f = FILE_CLOSED;
	struct stat info;
	char *shown;
	mill_err err;
	u64 found;

	TRY(memory_printf(&shown, NULL, "%s/%s", path, name));
	if (fstatat(dir, name, &info, 0))
		err = errno == ENOENT ? fail(MILL_ECORRUPT, "%s is missing", shown)
				      : fail_errno("cannot open %s", shown);
	else if (!S_ISREG(info.st_mode))	/* a FIFO would make the open hang */
		err = fail(MILL_ECORRUPT, "%s is not a plain file", shown);
	else
		err = file_open(&f, dir, name, mode, shown);
	if (!err)
		err = file_size(&f, &found);
	if (!err && found != size)
		err = fail(MILL_ECORRUPT,
			   "%s has %" PRIu64 " bytes, the store was made with %" PRIu64, shown,
			   found, size);
	memory_free(shown);
	if (err)
		file_close(&f);
	else
		*out = f;
	return err;
}

static mill_err read_manifest(struct manifest *out, const struct store *st, int dir, u64 *size)
{
	struct file f = FILE_CLOSED;
	struct stat info;
	char *shown, *text = NULL;
	mill_err err;

	if (fstatat(dir, MANIFEST_NAME, &info, 0))
		return errno == ENOENT ? fail(MILL_EINPUT, "%s is not a store: it has no manifest",
					      st->path)
				       : fail_errno("cannot open %s/manifest", st->path);
	if (!S_ISREG(info.st_mode))
		return fail(MILL_EINPUT, "%s is not a store: its manifest is not a plain file",
			    st->path);
	TRY(memory_printf(&shown, NULL, "%s/%s", st->path, MANIFEST_NAME));
	err = file_open(&f, dir, MANIFEST_NAME, FILE_READ, shown);
	if (!err)
		err = file_size(&f, size);
	if (!err && *size > MANIFEST_READ_MAX)
		err = fail(MILL_ECORRUPT, "%s is too long for a manifest", shown);
	if (!err)
		err = memory_new(&text, NULL, *size + 1, 1, "the manifest");
	if (!err)
		err = file_read_at(&f, text, *size, 0);
	if (!err)
		err = manifest_parse(out, text, *size, shown);
	memory_free(text);
	memory_free(shown);
	file_close(&f);
	return err;
}

static mill_err take_manifest(struct store *st, const struct manifest *m, struct budget *budget)
{
	TRY(memory_string(&st->origin, budget, m->origin));
	memcpy(st->uuid_bytes, m->uuid, sizeof(st->uuid_bytes));
	uuid_show(st->uuid, m->uuid);
	st->format = m->version;
	st->page_size = m->page_size;
	st->codec = m->codec;
	st->paged = m->paged;
	st->directed = m->directed;
	st->named = m->names;
	st->weight = m->weight;
	st->vertices = m->vertices;
	st->sources = m->sources;
	st->n_linked = m->n_linked;
	st->edges = m->edges;
	st->stored_edges = m->stored_edges;
	st->self_loops = m->self_loops;
	st->parallel_edges = m->parallel_edges;
	st->min_id = m->min_id;
	st->max_id = m->max_id;
	st->max_degree = m->max_degree;
	st->min_weight = m->min_weight;
	st->max_weight = m->max_weight;
	st->sum_weight = m->sum_weight;
	memcpy(st->size, m->size, sizeof(st->size));
	return MILL_OK;
}

static bool is_page_file(enum store_file f)
{
	return f == STORE_OUT_PAGES || f == STORE_IN_PAGES;
}

/* Opens stripe k's share of a page file. */
static mill_err open_share(struct store *st, const struct manifest *m, u32 k, int folder,
			   enum store_file f)
{
	u64 n = stripe_share(m->size[f] / m->page_size, k, m->stripes);

	return open_sized(&st->stripe[f == STORE_IN_PAGES][k], st->stripe_path[k], folder,
			  store_file_name(f), FILE_READ_DIRECT, n * m->page_size);
}

static mill_err open_stripe(struct store *st, const struct manifest *m, int dir, u32 k)
{
	struct file folder = FILE_CLOSED;
	mill_err err;

	err = stripe_open(&folder, &st->stripe_path[k], dir, st->path, k, m->stripes, m->uuid);
	if (!err)
		err = open_share(st, m, k, folder.fd, STORE_OUT_PAGES);
	if (!err && m->in_pages)
		err = open_share(st, m, k, folder.fd, STORE_IN_PAGES);
	file_close(&folder);
	return err;
}

static mill_err open_stripes(struct store *st, const struct manifest *m, int dir,
			     struct budget *budget)
{
	if (!m->stripes)
		return MILL_OK;
	TRY(memory_new(&st->stripe[0], budget, 2 * (u64)m->stripes, sizeof(struct file),
		       "the stripes"));
	st->stripe[1] = st->stripe[0] + m->stripes;
	st->n_stripes = m->stripes;
	for (u32 i = 0; i < 2 * m->stripes; i++)
		st->stripe[0][i] = FILE_CLOSED;
	for (u32 k = 0; k < m->stripes; k++)
		TRY(open_stripe(st, m, dir, k));
	return MILL_OK;
}

static mill_err open_files(struct store *st, const struct manifest *m, int dir)
{
	for (enum store_file f = 0; f < STORE_FILES; f++) {
		if (!manifest_has(m, f))
			continue;
		if (is_page_file(f) && m->stripes)
			TRY(memory_printf(&st->file[f].name, NULL, "%s/%s", st->path,
					  store_file_name(f)));
		else
			TRY(open_sized(&st->file[f], st->path, dir, store_file_name(f),
				       is_page_file(f) ? FILE_READ_DIRECT : FILE_READ,
				       m->size[f]));
		st->bytes += m->size[f];
	}
	return MILL_OK;
}

/* Reads the checksums of all files into one allocation, which begins at st->sum[0]. */
static mill_err read_sums(struct store *st, const struct manifest *m, int dir,
			  struct budget *budget)
{
	struct file f;
	mill_err err;
	u64 n = 0, size;

	for (enum store_file i = 0; i < STORE_FILES; i++)
		n += div_up(m->size[i], STORE_BLOCK);
	size = n * sizeof(u64);
	TRY(open_sized(&f, st->path, dir, SUMS_NAME, FILE_READ, size));
	err = memory_new(&st->sum[0], budget, n, sizeof(u64), "the store's checksums");
	if (!err)
		err = file_read_at(&f, st->sum[0], size, 0);
	if (!err && checksum(st->sum[0], size) != m->sums)
		err = fail(MILL_ECORRUPT, "%s does not match the manifest", f.name);
	file_close(&f);
	if (err)
		return err;
	for (enum store_file i = 1; i < STORE_FILES; i++)
		st->sum[i] = st->sum[i - 1] + div_up(m->size[i - 1], STORE_BLOCK);
	st->bytes += size;
	return MILL_OK;
}

/* Returns true if a page can have n_rows and n_edges. This check bounds the decoding memory. */
static bool page_holds(const struct store *st, u64 n_rows, u64 n_edges)
{
	u64 w = weight_size(st->weight);

	if (st->codec == PAGE_RAW)
		return page_bytes(n_rows, n_edges, w) <= st->page_size;
	return page_lists_bytes(n_rows, n_edges) <= (u64)PACKED_GROWTH * st->page_size &&
	       n_edges * w < st->page_size;
}

/*
 * Returns true if entry e can be in a paged store, after `before`. A page there is small, with
 * whole lists, or large, with a piece of one list that lies in several pages.
 */
static bool form_follows(const struct pages *p, const struct page_entry *before,
			 const struct page_entry *e)
{
	return e->n_rows <= p->address.slots &&
	       (!e->skip || (e->n_rows == 1 && before->n_rows == 1));
}

/* Returns true if entry e can follow the entry before it (NULL: be the first). */
static bool entry_follows(const struct pages *p, const struct page_entry *before,
			  const struct page_entry *e)
{
	static const struct page_entry none;
	const struct page_entry *b = before ? before : &none;
	u64 next = (u64)b->first_vertex + b->n_rows;
	u64 most = b->n_edges + (b->n_rows == 1 ? b->skip : 0);

	if (e->reserved || !e->n_rows || e->first_edge != b->first_edge + b->n_edges ||
	    !page_holds(p->store, e->n_rows, e->n_edges))
		return false;
	if (!e->skip)
		return e->first_vertex == next;
	/*
	 * If the page before has several rows, its last row's length is only known when it is
	 * decoded: page_decode checks e->skip exactly.
	 */
	return before && e->skip % LIST_BLOCK == 0 && e->first_vertex == next - 1 && e->n_edges &&
	       (b->n_rows == 1 ? e->skip == most : e->skip <= most);
}

static void note_size(struct pages *p, const struct page_entry *e)
{
	if (!store_in_place(p->store))
		p->scratch = max_u64(p->scratch,
				     page_lists_bytes(e->n_rows, e->n_edges) + PACKED_SLACK);
	if (p->store->codec == PAGE_RAW) {
		p->raw_bytes = p->store->page_size;
		return;
	}
	p->raw_bytes = max_u64(p->raw_bytes,
			       page_bytes(e->n_rows, e->n_edges, weight_size(p->store->weight)));
}

static mill_err read_index(struct pages *p, struct budget *budget)
{
	const struct store *st = p->store;
	struct page_entry *entry = NULL;
	const struct page_entry *last;

	if (!p->n_pages)
		return MILL_OK;
	TRY(memory_new(&entry, budget, p->n_pages, sizeof(*entry), "a page index"));
	p->entry = entry;
	TRY(store_read(st, p->index, entry, p->n_pages * sizeof(*entry), 0));
	for (u32 i = 0; i < p->n_pages; i++) {
		if (!entry_follows(p, i ? &entry[i - 1] : NULL, &entry[i]) ||
		    (st->paged && !form_follows(p, i ? &entry[i - 1] : NULL, &entry[i])))
			return fail(MILL_ECORRUPT, "%s: entry %u is impossible",
				    st->file[p->index].name, i);
		p->n_split += entry[i].skip != 0;
		note_size(p, &entry[i]);
	}
	last = &entry[p->n_pages - 1];
	if ((u64)last->first_vertex + last->n_rows != p->n_rows ||
	    last->first_edge + last->n_edges != st->stored_edges)
		return fail(MILL_ECORRUPT, "%s does not cover all rows and edges",
			    st->file[p->index].name);
	return MILL_OK;
}

static mill_err open_addresses(struct pages *p, u32 slots, struct budget *budget)
{
	TRY(memory_new(&p->address.first, budget, p->n_pages + 2ull, sizeof(u32),
		       "the page addresses"));
	for (u32 i = 0; i < p->n_pages; i++)
		p->address.first[i] = address_first(p->entry[i].first_vertex, p->entry[i].skip);
	addresses_set(&p->address, slots, p->n_pages, p->n_rows,
		      (u32)(p->store->n_linked - p->n_rows));
	return MILL_OK;
}

static mill_err open_pages(struct store *st, struct pages *p, enum store_file data, u64 n_rows,
			   u32 slots, struct budget *budget)
{
	*p = (struct pages){
		.store = st,
		.data = data,
		.index = data + 1,
		.degrees = data + 2,
		.n_pages = (u32)(st->size[data] / st->page_size),
		.n_rows = (vid)n_rows,
	};
	p->address.slots = slots;
	TRY(read_index(p, budget));
	return st->paged ? open_addresses(p, slots, budget) : MILL_OK;
}

static mill_err open_all(struct store *st, const char *path, struct budget *budget)
{
	struct file dir = FILE_CLOSED;
	struct manifest m;
	mill_err err;
	u64 size;

	TRY(memory_string(&st->path, budget, path));
	err = open_dir(&dir, path);
	if (!err)
		err = read_manifest(&m, st, dir.fd, &size);
	if (!err)
		err = take_manifest(st, &m, budget);
	if (!err)
		err = open_files(st, &m, dir.fd);
	if (!err)
		err = open_stripes(st, &m, dir.fd, budget);
	if (!err)
		err = read_sums(st, &m, dir.fd, budget);
	file_close(&dir);
	if (err)
		return err;
	st->bytes += size;

	TRY(open_pages(st, &st->out, STORE_OUT_PAGES, m.sources, m.slots[0], budget));
	if (m.in_pages)
		TRY(open_pages(st, &st->in, STORE_IN_PAGES, m.in_rows, m.slots[1], budget));
	else if (!m.directed)
		st->in = st->out;
	st->has_in = m.in_pages || !m.directed;
	return MILL_OK;
}

mill_err store_open(struct store **out, const char *path, struct budget *budget)
{
	struct store *st;
	mill_err err;

	place_sweep(path);
	TRY(memory_new(&st, budget, 1, sizeof(*st), "a store"));
	for (enum store_file f = 0; f < STORE_FILES; f++)
		st->file[f] = FILE_CLOSED;
	err = open_all(st, path, budget);
	if (err) {
		store_close(st);
		return err;
	}
	*out = st;
	return MILL_OK;
}

static mill_err adopt(struct store *st, const struct manifest *m, u64 *const *sum,
		      struct budget *budget)
{
	u64 n = 0, *to;

	TRY(memory_string(&st->path, budget, "a temporary graph"));
	TRY(take_manifest(st, m, budget));
	for (enum store_file f = 0; f < STORE_FILES; f++)
		n += div_up(m->size[f], STORE_BLOCK);
	TRY(memory_new(&st->sum[0], budget, n, sizeof(u64), "the checksums"));
	to = st->sum[0];
	for (enum store_file f = 0; f < STORE_FILES; f++) {
		u64 some = div_up(m->size[f], STORE_BLOCK);

		st->sum[f] = to;
		if (some)
			memcpy(to, sum[f], some * sizeof(u64));
		to += some;
		st->bytes += m->size[f];
	}
	st->has_in = true;
	st->out = (struct pages){ .store = st, .data = STORE_OUT_PAGES, .index = STORE_OUT_INDEX,
				  .degrees = STORE_OUT_DEGREES };
	return open_pages(st, &st->in, STORE_IN_PAGES, m->in_rows, 0, budget);
}

mill_err store_adopt(struct store **out, const struct manifest *m, struct file *file,
		     u64 *const *sum, struct budget *budget)
{
	struct store *st;
	mill_err err = memory_new(&st, budget, 1, sizeof(*st), "a temporary graph");

	if (err) {
		for (enum store_file f = 0; f < STORE_FILES; f++)
			file_close(&file[f]);
		return err;
	}
	memcpy(st->file, file, sizeof(st->file));
	err = adopt(st, m, sum, budget);
	if (err) {
		store_close(st);
		return err;
	}
	*out = st;
	return MILL_OK;
}

void store_close(struct store *st)
{
	if (!st)
		return;
	for (enum store_file f = 0; f < STORE_FILES; f++)
		file_close(&st->file[f]);
	for (u32 k = 0; k < st->n_stripes; k++) {
		file_close(&st->stripe[0][k]);
		file_close(&st->stripe[1][k]);
		memory_free(st->stripe_path[k]);
	}
	memory_free(st->stripe[0]);
	if (st->in.entry != st->out.entry)
		memory_free((void *)st->in.entry);
	if (st->in.address.first != st->out.address.first)
		memory_free(st->in.address.first);
	memory_free(st->out.address.first);
	memory_free((void *)st->out.entry);
	memory_free(st->sum[0]);
	memory_free(st->origin);
	memory_free(st->path);
	memory_free(st);
}

bool store_ids_dense(const struct store *st)
{
	return st->vertices && st->max_id - st->min_id == st->vertices - 1;
}

u64 store_scratch(const struct store *st) { return max_u64(st->out.scratch, st->in.scratch); }

u64 store_csr_bytes(const struct store *st)
{
	u64 per_edge = st->weight == MILL_WEIGHT_NONE ? 4 : 8;

	return per_edge * st->stored_edges + 8 * (st->vertices + 1);
}

/* ---- Reading ---- */

mill_err bad_block(const struct file *f, u64 at)
{
	return fail(MILL_ECORRUPT, "%s: the block at byte %" PRIu64 " does not match its checksum",
		    f->name, at);
}

/* Verifies block `number` of a file; data holds all its `size` bytes. */
static mill_err check_block(const struct store *st, enum store_file f, u64 number,
			    const void *data, u64 size)
{
	if (checksum(data, size) == st->sum[f][number])
		return MILL_OK;
	return bad_block(&st->file[f], number * STORE_BLOCK);
}

/* Reads bytes [from, to) of the block at byte `at`. buffer holds a whole block. */
static mill_err read_in_block(const struct store *st, enum store_file f, u8 *buffer, void *out,
			      u64 at, u64 from, u64 to)
{
	u64 size = min_u64(STORE_BLOCK, st->size[f] - at);

	TRY(file_read_at(&st->file[f], buffer, size, at));
	TRY(check_block(st, f, at / STORE_BLOCK, buffer, size));
	memcpy(out, buffer + (from - at), to - from);
	return MILL_OK;
}

mill_err store_read(const struct store *st, enum store_file f, void *to, u64 size, u64 offset)
{
	u64 end = offset + size;
	u8 *buffer = NULL;
	u8 *out = to;
	mill_err err = MILL_OK;

	assert(end >= offset && end <= st->size[f]);
	while (offset < end && !err) {
		u64 at = offset - offset % STORE_BLOCK;
		u64 block_end = min_u64(at + STORE_BLOCK, st->size[f]);
		u64 stop = min_u64(block_end, end);

		if (offset == at && stop == block_end) {
			err = file_read_at(&st->file[f], out, stop - at, at);
			if (!err)
				err = check_block(st, f, at / STORE_BLOCK, out, stop - at);
		} else {
			if (!buffer)
				err = memory_new(&buffer, NULL, STORE_BLOCK, 1, "a block");
			if (!err)
				err = read_in_block(st, f, buffer, out, at, offset, stop);
		}
		out += stop - offset;
		offset = stop;
	}
	memory_free(buffer);
	return err;
}

/* Reads entry i of `order` or `rank`. */
static mill_err read_place(const struct store *st, enum store_file f, u64 i, vid *out)
{
	TRY(store_read(st, f, out, sizeof(*out), i * sizeof(*out)));
	if (*out >= st->vertices)
		return fail(MILL_ECORRUPT, "%s: entry %" PRIu64 " is not a vertex",
			    st->file[f].name, i);
	return MILL_OK;
}

mill_err store_vertex(const struct store *st, u64 id, vid *out)
{
	u64 low = 0, high = st->vertices;

	while (low < high) {
		u64 middle = low + (high - low) / 2;
		u64 found;

		TRY(store_read(st, STORE_IDS, &found, sizeof(found), middle * sizeof(found)));
		if (found == id)
			return read_place(st, STORE_ORDER, middle, out);
		if (found < id)
			low = middle + 1;
		else
			high = middle;
	}
	*out = NO_VERTEX;
	return MILL_OK;
}

mill_err store_id(const struct store *st, vid v, u64 *out)
{
	vid rank;

	TRY(read_place(st, STORE_RANK, v, &rank));
	return store_read(st, STORE_IDS, out, sizeof(*out), (u64)rank * sizeof(*out));
}

mill_err store_degree(const struct store *st, vid v, u32 *out)
{
	*out = 0;
	if (v >= st->sources)
		return MILL_OK;
	return store_read(st, STORE_OUT_DEGREES, out, sizeof(*out), (u64)v * sizeof(*out));
}

/* ---- The public handle ---- */

MILL_API mill_err mill_store_open(mill_store **out, const char *path)
{
	struct mill_store *store;
	mill_err err;

	if (!path)
		return fail(MILL_EUSAGE, "the path of the store is missing");
	TRY(memory_new(&store, NULL, 1, sizeof(*store), "a store"));
	budget_init(&store->budget, 0);
	err = store_open(&store->st, path, &store->budget);
	if (!err && store->st->named && store->st->vertices)
		err = names_ends(store->st, &store->budget, &store->min_name, &store->max_name);
	if (err) {
		mill_store_close(store);
		return err;
	}
	*out = store;
	return MILL_OK;
}

MILL_API void mill_store_close(mill_store *store)
{
	if (!store)
		return;
	memory_free(store->min_name);
	memory_free(store->max_name);
	store_close(store->st);
	memory_free(store);
}

u64 pages_large(const struct pages *p)
{
	u64 n = 0;

	for (u32 i = 0; i < p->n_pages; i++)
		n += page_is_large(p, i);
	return n;
}

/* Computes numbers for GTS's own layout, with record ids as wide as this store's. */
static void record_facts(const struct store *st, struct mill_info *out)
{
	u32 q = 0;

	if (!st->paged)
		return;
	while (q < sizeof(vid) && (st->out.address.slots - 1ull) >> 8 * q)
		q++;
	out->largest_page = rid_largest_page((u32)sizeof(vid) - q, q);
	out->record_pages = rid_pages(st->vertices, st->stored_edges, (u32)sizeof(vid) - q, q,
				      st->page_size);
	if (st->directed && st->has_in)
		out->record_pages *= 2;
}

MILL_API void mill_store_info(const mill_store *store, struct mill_info *out)
{
	const struct store *st = store->st;
	u64 pages = (u64)st->out.n_pages + (st->directed ? st->in.n_pages : 0);
	u64 large = pages_large(&st->out) + (st->directed ? pages_large(&st->in) : 0);

	*out = (struct mill_info){
		.path = st->path,
		.uuid = st->uuid,
		.vertices = st->vertices,
		.sources = st->sources,
		.connected = st->n_linked,
		.edges = st->edges,
		.stored_edges = st->stored_edges,
		.self_loops = st->self_loops,
		.parallel_edges = st->parallel_edges,
		.bytes = st->bytes,
		.csr_bytes = store_csr_bytes(st),
		.pages = pages,
		.min_id = st->min_id,
		.max_id = st->max_id,
		.max_degree = st->max_degree,
		.page_size = st->page_size,
		.format = st->format,
		.directed = st->directed,
		.named = st->named,
		.min_name = store->min_name,
		.max_name = store->max_name,
		.has_in_pages = st->has_in,
		.weight = st->weight,
		.codec = codec_name(st->codec),
		.addressing = st->paged ? MILL_ADDRESSING_PAGED : MILL_ADDRESSING_DENSE,
		.out_slots = st->out.address.slots,
		.in_slots = st->directed ? st->in.address.slots : 0,
		.small_pages = st->paged ? pages - large : 0,
		.large_pages = st->paged ? large : 0,
		.page_bytes = st->size[STORE_OUT_PAGES] + st->size[STORE_IN_PAGES],
		.origin = st->origin,
		.stripe = (const char *const *)st->stripe_path,
	};
	record_facts(st, out);
}

MILL_API mill_err mill_store_verify(mill_store *store, const struct mill_watcher *watcher)
{
	struct ticker ticker;

	ticker_init(&ticker, watcher);
	return store_verify(store->st, &ticker);
}

MILL_API mill_err mill_store_export(mill_store *store, const char *path, const char *format,
				    const struct mill_watcher *watcher)
{
	struct ticker ticker;

	if (!path)
		return fail(MILL_EUSAGE, "the path of the export is missing");
	ticker_init(&ticker, watcher);
	return store_export(store->st, path, format, &store->budget, &ticker);
}
