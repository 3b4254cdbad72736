/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream from disk to RAM: the plan of a pass, reads, and work.
 *
 * Workers read. A worker that is done with a page requests the next page into its frame,
 * and a worker that has no page to work on waits for a read to end. Workers call io_uring
 * directly, and as many reads are under way as frames are free. Pages that lie side by side
 * come in one read of up to 1 MiB. The worker that uses a page verifies it first, once for
 * each time that it was read. No pass reads pages for the next pass: in a scan every frame
 * holds a page that the next pass wants, so an early read would evict such a page.
 *
 * A slice is 64 KiB of a page, or 1/64 of a page larger than 4 MiB. When a page is whole in
 * RAM for the first time, the stream notes which rows lie in each slice (8 bytes per slice).
 * Later passes that want few rows, or no weights, read only the slices that they need, if
 * these are at most half of the page. A frame knows which slices it has. If a row becomes
 * wanted after the plan was made, the worker that misses it reads the rest of the page. Raw
 * pages are read whole.
 */
#include "stream/stream.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/thread.h"
#include "base/trace.h"

#define BATCH_BYTES (1 * MIB)	/* most bytes of one read of pages that lie side by side */
/* The frames of the last AHEAD_BYTES assigned are not reassigned, so that reads can be ahead. */
#define AHEAD_BYTES (32 * MIB)
#define BUSY_ENOUGH 4u		/* while this many reads are under way, a batch waits for frames */
#define NO_ITEM UINT32_MAX

struct frame {
	void *data;
	u64 have, checked;		/* bits: slices of its page in RAM; slices verified */
	struct segment segment;		/* raw pages: a view, which the first user validates */
};

/* A page in the plan of a pass. */
struct item {
	u64 slices;			/* bits: slices to read; 0: all wanted slices are in RAM */
	u32 page, frame;
	u32 next;			/* the item that gets the frame when this one is done */
	u16 waiting;			/* reads that have not arrived */
	bool fresh;			/* no slice of the page is in RAM */
};

struct worker_time {
	_Alignas(64) f64 wait, decode, compute;
};

struct stream {
	const struct store *store;
	unsigned workers;
	struct pool *threads;		/* workers first, then helpers of the reader */
	struct reader *reader;
	struct residency *resident;
	u32 n_frames;
	struct frame *frame;
	void *memory;
	u8 *scratch;			/* scratch_size bytes per worker; NULL: pages are raw */
	u64 scratch_size;
	struct slice_rows *rows[2];	/* of all pages; out, in; NULL: pages are read whole */
	struct worker_time *time;

	/* The pass under way. */
	struct stream_pass *pass;
	struct item *item;
	u32 n_items, n_reused;		/* the first n_reused items need no read */
	u32 *missing, *partial;		/* while planning: pages to read, whole or in part */
	u32 *last;			/* by frame, while planning: the last item that uses it */
	unsigned n_working;		/* atomic: workers that have not left the pass */
	u64 bytes_more;			/* atomic: bytes read beyond the plan */

	pthread_mutex_t lock;		/* protects all that follows */
	pthread_cond_t changed;		/* a read arrived, or the pass ends */
	u64 *frame_free;		/* bits: items with a frame that is free for them */
	u32 next_reused, next_read;
	u64 slices_left;		/* of item next_read, if some of it was requested */
	u32 *ready, n_ready, next_ready;
	u32 n_taken, n_done;
	/* in_order: items with transfers from their frame under way. */
	u32 n_sending;
	bool in_take;			/* a worker waits in reader_take */
	bool in_submit;			/* a worker is in reader_submit */
	bool stop;
};

static u32 in_pages(const struct store *st)
{
	return st->has_in && st->directed ? st->in.n_pages : 0;
}
static u32 most_pages(const struct store *st)
{
	return (u32)max_u64(st->out.n_pages, in_pages(st));
}
static u64 worker_scratch(const struct store *st) { return round_up(store_scratch(st), 64); }
u64 stream_scratch(const struct store *st, unsigned workers)
{
	return workers * worker_scratch(st);
}

/* Returns the bytes of a stream beside frames and scratch. */
static u64 bookkeeping(const struct store *st)
{
	u64 slices = ((u64)st->out.n_pages + in_pages(st)) * page_slice_entries(st);

	return most_pages(st) * (sizeof(struct item) + 3 * sizeof(u32)) +
	       slices * sizeof(struct slice_rows) +
	       residency_bytes((u64)st->out.n_pages + in_pages(st), 0) + reader_bytes();
}

static u64 frame_bytes(const struct store *st)
{
	return st->page_size + sizeof(struct frame) + sizeof(u32) + residency_bytes(0, 1) -
	       residency_bytes(0, 0);
}

static mill_err open_frames(struct stream *s, struct budget *budget)
{
	u64 size = s->store->page_size;

	TRY(memory_new(&s->frame, budget, s->n_frames, sizeof(*s->frame),
		       "the frames of the page pool"));
	TRY(memory_new(&s->last, budget, s->n_frames, sizeof(u32), "the list of frames"));
	/*
	 * 4096 bytes more: blocks of memory are aligned to 64 bytes, and direct reads need
	 * 4096.
	 */
	TRY(memory_new(&s->memory, budget, s->n_frames * size + 4096, 1, "the page pool"));
	for (u32 i = 0; i < s->n_frames; i++)
		s->frame[i].data = (char *)round_up((uintptr_t)s->memory, 4096) + i * size;
	return MILL_OK;
}

static mill_err open_tables(struct stream *s, struct budget *budget)
{
	u64 n_out = s->store->out.n_pages * page_slice_entries(s->store);
	u64 n_in = in_pages(s->store) * page_slice_entries(s->store);
	u32 most = most_pages(s->store);

	if (n_out)
		TRY(memory_new(&s->rows[0], budget, n_out, sizeof(struct slice_rows),
			       "the rows of slices"));
	if (n_in)
		TRY(memory_new(&s->rows[1], budget, n_in, sizeof(struct slice_rows),
			       "the rows of slices"));
	TRY(memory_new(&s->item, budget, most + 1u, sizeof(*s->item), "the plan of a pass"));
	TRY(memory_new(&s->missing, budget, most + 1u, sizeof(u32), "the plan of a pass"));
	TRY(memory_new(&s->partial, budget, most + 1u, sizeof(u32), "the plan of a pass"));
	TRY(memory_new(&s->ready, budget, most + 1u, sizeof(u32), "the plan of a pass"));
	return memory_new(&s->frame_free, budget, bitmap_words(most) + 1, sizeof(u64),
			  "the plan of a pass");
}

/* If the system gives no threads, the worker that waits for a page reads it. */
static mill_err open_threads(struct stream *s, unsigned workers)
{
	TRY(pool_new(&s->threads,
		     workers + (reader_way(s->reader) == READER_PREAD ? READER_THREADS : 0)));
	s->workers = (unsigned)min_u64(workers, pool_size(s->threads));
	return MILL_OK;
}

u32 stream_fit(const struct store *store, u64 bytes, u64 most, unsigned workers)
{
	u64 overhead = bookkeeping(store) + stream_scratch(store, workers);
	u64 room = bytes > overhead ? (bytes - overhead) / frame_bytes(store) : 0;

	return (u32)max_u64(min_u64(room, most), 1);
}

mill_err stream_open(struct stream **out, struct budget *budget, const struct store *store,
		     const struct stream_how *how)
{
	struct residency_how resident = {
		.n_units = { store->out.n_pages, in_pages(store) },
		.entry = { store->out.entry, store->in.entry },
		.lately = (u32)(AHEAD_BYTES / store->page_size) + 1,
		.key = how->key ? how->key : residency_auto,
	};
	struct stream *s;
	mill_err err;

	TRY(memory_new(&s, budget, 1, sizeof(*s), "the stream"));
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->store = store;
	s->n_frames = stream_fit(store, how->bytes, how->most, how->workers);
	s->scratch_size = worker_scratch(store);
	err = open_frames(s, budget);
	if (!err)
		err = open_tables(s, budget);
	if (!err && s->scratch_size)
		err = memory_new(&s->scratch, budget, how->workers, s->scratch_size,
				 "the decoded pages");
	if (!err)
		err = memory_new(&s->time, budget, how->workers, sizeof(*s->time),
				 "the workers' times");
	resident.n_slots = resident.most = s->n_frames;
	if (!err)
		err = residency_open(&s->resident, budget, &resident);
	if (!err)
		err = reader_open(&s->reader, budget, how->way);
	if (!err)
		err = open_threads(s, how->workers);
	if (err) {
		stream_close(s);
		return err;
	}
	*out = s;
	return MILL_OK;
}

void step_add_pass(struct mill_step *to, const struct stream_pass *p)
{
	to->pages_active += p->n_active;
	to->pages_read += p->n_read;
	to->pages_reused += p->n_reused;
	to->disk_read += p->bytes_read;
	to->wait += p->wait;
	to->decode += p->decode;
	to->compute += p->compute;
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	pool_free(s->threads);
	reader_close(s->reader);
	residency_close(s->resident);
	memory_free(s->time);
	memory_free(s->frame_free);
	memory_free(s->ready);
	memory_free(s->partial);
	memory_free(s->missing);
	memory_free(s->item);
	memory_free(s->rows[1]);
	memory_free(s->rows[0]);
	memory_free(s->scratch);
	memory_free(s->memory);
	memory_free(s->last);
	memory_free(s->frame);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	memory_free(s);
}

u32 stream_frames(const struct stream *s) { return s->n_frames; }
enum reader_way stream_way(const struct stream *s) { return reader_way(s->reader); }

/* ---- The plan ---- */

static bool side_of(const struct pages *p) { return p->data != STORE_OUT_PAGES; }

static u32 frame_of(const struct stream *s, u32 page)
{
	return residency_find(s->resident, side_of(s->pass->pages), page);
}

static struct slice_rows *rows_of(const struct stream *s, u32 page)
{
	const struct pages *p = s->pass->pages;
	struct slice_rows *rows = s->rows[side_of(p)];

	return rows ? rows + page * page_slice_entries(s->store) : NULL;
}

/*
 * Returns the slices of the page that must be in RAM. Above half of the page, one large
 * read is better.
 */
static u64 slices_needed(const struct stream *s, u32 page)
{
	const struct stream_pass *p = s->pass;
	u64 all = page_slices(p->pages), some;

	if ((!p->want.only && !p->want.lists_only) || !rows_of(s, page))
		return all;
	some = page_slices_wanted(p->pages, page, rows_of(s, page), &p->want);
	return 2 * __builtin_popcountll(some) <= __builtin_popcountll(all) ? some : all;
}

static void add_item(struct stream *s, u32 page, u32 frame, u64 slices, bool fresh)
{
	u32 i = s->n_items++, before = s->last[frame];

	s->item[i] = (struct item){
		.slices = slices, .page = page, .frame = frame, .next = NO_ITEM, .fresh = fresh
	};
	s->last[frame] = i;
	if (before == NO_ITEM)
		bitmap_put(s->frame_free, i);
	else
		s->item[before].next = i;
	s->pass->bytes_read += (u64)__builtin_popcountll(slices) * page_slice(s->store);
}

/* Returns the slices of a resident page that are wanted and not in RAM. */
static u64 slices_lacking(const struct stream *s, u32 page, u32 frame)
{
	u64 have = s->frame[frame].have;

	return have == page_slices(s->pass->pages) ? 0 : slices_needed(s, page) & ~have;
}

/*
 * Lists a page that must be read: a missing one, or a resident one that lacks wanted
 * slices. A page that needs no read becomes an item at once.
 */
static void plan_page(struct stream *s, u32 page, u32 *n_partial, u32 *n_missing)
{
	u32 frame = frame_of(s, page);

	if (frame == RESIDENCY_NONE) {
		s->missing[(*n_missing)++] = page;
		return;
	}
	residency_use(s->resident, frame);
	if (slices_lacking(s, page, frame))
		s->partial[(*n_partial)++] = page;
	else
		add_item(s, page, frame, 0, false);
}

static void plan_resident(struct stream *s, u32 *n_partial, u32 *n_missing)
{
	struct stream_pass *p = s->pass;

	for (u32 i = 0; p->list && i < p->n_list; i++)
		plan_page(s, p->list[i], n_partial, n_missing);
	for (u32 i = 0; !p->list && i < p->pages->n_pages; i++)
		if (!p->active || p->active(p->arg, i))
			plan_page(s, i, n_partial, n_missing);
}

void stream_order(struct stream *s, struct stream_pass *p, u32 *list, u32 n)
{
	u32 n_first = 0, n_partial = 0, n_missing = 0;

	s->pass = p;
	for (u32 i = 0; i < n; i++) {
		u32 frame = frame_of(s, list[i]);

		if (frame == RESIDENCY_NONE)
			s->missing[n_missing++] = list[i];
		else if (slices_lacking(s, list[i], frame))
			s->partial[n_partial++] = list[i];
		else
			list[n_first++] = list[i];
	}
	memcpy(list + n_first, s->partial, n_partial * sizeof(u32));
	memcpy(list + n_first + n_partial, s->missing, n_missing * sizeof(u32));
}

/*
 * Resident pages that lack slices are read before the missing ones: their frames are free
 * at once.
 */
static void plan_pass(struct stream *s)
{
	struct stream_pass *p = s->pass;
	u32 n_partial = 0, n_missing = 0;

	s->n_items = 0;
	p->bytes_read = s->bytes_more = 0;
	memset(s->last, 0xff, s->n_frames * sizeof(u32));
	memset(s->frame_free, 0, (bitmap_words(p->pages->n_pages) + 1) * sizeof(u64));
	residency_begin(s->resident);
	plan_resident(s, &n_partial, &n_missing);
	s->n_reused = s->n_items;
	for (u32 i = 0; i < n_partial; i++) {
		u32 page = s->partial[i], frame = frame_of(s, page);

		add_item(s, page, frame, slices_lacking(s, page, frame), false);
	}
	for (u32 i = 0; i < n_missing; i++) {
		u32 page = s->missing[i];

		add_item(s, page, residency_place(s->resident, side_of(p->pages), page, 0),
			 slices_needed(s, page), true);
	}
	p->n_reused = s->n_reused;
	p->n_active = s->n_items;
	p->n_read = s->n_items - s->n_reused;
	s->next_reused = s->next_ready = s->n_ready = s->n_taken = s->n_done = 0;
	s->next_read = s->n_reused;
	s->slices_left = 0;
	s->stop = s->in_take = s->in_submit = false;
}

/* ---- Reads, under the lock ---- */

static bool is_whole(const struct stream *s, const struct item *it)
{
	return it->slices == page_slices(s->pass->pages);
}

/*
 * Returns how many items from next_read on one read can bring: whole pages side by side in
 * a file.
 */
static u32 batch_size(const struct stream *s)
{
	const struct pages *p = s->pass->pages;
	u32 most = (u32)min_u64(max_u64(BATCH_BYTES / s->store->page_size, 1), READER_IOVS), n = 1,
	    at = s->next_read;
	struct page_place first = page_place(p, s->item[at].page);

	if (!is_whole(s, &s->item[at]))
		return 1;
	for (; n < most && at + n < s->n_items && is_whole(s, &s->item[at + n]); n++) {
		struct page_place next = page_place(p, s->item[at + n].page);

		if (next.file != first.file ||
		    next.offset != first.offset + (u64)n * s->store->page_size)
			break;
	}
	return n;
}

/*
 * Returns how many items the next read brings: those of the batch with free frames. 0:
 * none, or it is better to wait until the whole batch has free frames.
 */
static u32 next_batch(const struct stream *s)
{
	u32 n = 0, most;

	if (s->next_read == s->n_items || !bitmap_get(s->frame_free, s->next_read))
		return 0;
	most = batch_size(s);
	while (n < most && bitmap_get(s->frame_free, s->next_read + n))
		n++;
	return n < most && reader_busy(s->reader) >= BUSY_ENOUGH ? 0 : n;
}

/* Returns the lowest unbroken run of bits. */
static u64 first_run(u64 bits)
{
	u64 from = bits & -bits;

	return bits & ~(bits + from);
}

static u32 n_runs(u64 bits) { return (u32)__builtin_popcountll(bits & ~(bits << 1)); }

/* Gives the frame to the item. */
static void begin_item(struct stream *s, struct item *it)
{
	struct frame *f = &s->frame[it->frame];

	if (it->fresh)
		f->have = f->checked = 0;
	it->waiting = (u16)n_runs(it->slices);
}

static void want_pages(struct stream *s, struct request *q, u32 n)
{
	struct page_place at = page_place(s->pass->pages, s->item[s->next_read].page);

	q->file = at.file;
	q->offset = at.offset;
	q->first = s->next_read;
	q->n = n;
	for (u32 i = 0; i < n; i++)
		request_add(q, s->frame[s->item[s->next_read + i].frame].data, s->store->page_size);
	s->next_read += n;
}

static void want_slices(struct stream *s, struct request *q)
{
	const struct item *it = &s->item[s->next_read];
	struct page_place at = page_place(s->pass->pages, it->page);
	u64 run = first_run(s->slices_left),
	    skip = (u64)__builtin_ctzll(run) * page_slice(s->store);

	q->file = at.file;
	q->offset = at.offset + skip;
	q->first = s->next_read;
	q->n = 1;
	request_add(q, (char *)s->frame[it->frame].data + skip,
		    (u64)__builtin_popcountll(run) * page_slice(s->store));
	s->slices_left &= ~run;
	if (!s->slices_left)
		s->next_read++;
}

/* Makes q the next read: n items, or a run of slices of one item. */
static void fill_request(struct stream *s, struct request *q, u32 n)
{
	if (!s->slices_left) {
		for (u32 i = 0; i < n; i++)
			begin_item(s, &s->item[s->next_read + i]);
		if (!is_whole(s, &s->item[s->next_read]))
			s->slices_left = s->item[s->next_read].slices;
	}
	if (s->slices_left)
		want_slices(s, q);
	else
		want_pages(s, q, n);
	q->began = trace_begin();
}

/*
 * Submits reads in the order of the plan, as far as frames and requests are free. One
 * worker at a time submits for all. It releases the lock while the kernel takes a request:
 * that is long enough for other workers to take and finish items.
 */
static mill_err submit_reads(struct stream *s)
{
	mill_err err = MILL_OK;
	struct request *q;
	u32 n;

	if (s->in_submit)
		return MILL_OK;
	s->in_submit = true;
	while (!err && !s->stop && (n = next_batch(s)) && (q = reader_get(s->reader))) {
		fill_request(s, q, n);
		pthread_mutex_unlock(&s->lock);
		err = reader_submit(s->reader, q);
		pthread_mutex_lock(&s->lock);
		if (err)
			reader_give_back(s->reader, q);
	}
	s->in_submit = false;
	return err;
}

static void read_arrived(struct stream *s, const struct request *q)
{
	for (u32 i = q->first; i < q->first + q->n; i++)
		if (!--s->item[i].waiting) {
			s->frame[s->item[i].frame].have |= s->item[i].slices;
			s->ready[s->n_ready++] = i;
			if (q->began > 0)
				trace_span(TRACE_DISK + request_number(s->reader, q), q->began,
					   "read", "page", s->item[i].page);
		}
}

/* Releases the lock, waits for a read to end, takes the lock and submits the next reads. */
static mill_err take_read(struct stream *s)
{
	struct request *q;
	mill_err err;

	s->in_take = true;
	pthread_mutex_unlock(&s->lock);
	err = reader_take(s->reader, &q);
	pthread_mutex_lock(&s->lock);
	s->in_take = false;
	if (!err)
		read_arrived(s, q);
	if (q)
		reader_give_back(s->reader, q);
	if (!err)
		err = submit_reads(s);
	pthread_cond_broadcast(&s->changed);
	return err;
}

/* After a failure: waits for the reads under way, because they still write into frames. */
static void drain(struct stream *s)
{
	struct request *q;

	while (reader_busy(s->reader)) {
		(void)reader_take(s->reader, &q);
		if (q)
			reader_give_back(s->reader, q);
	}
}

/* ---- Work ---- */

/* Returns an item that can be worked on now, or NO_ITEM. The lock is held. */
static u32 ready_item(struct stream *s)
{
	u32 next = s->n_taken;

	if (s->next_reused < s->n_reused)
		return s->next_reused++;
	if (!s->pass->in_order)
		return s->next_ready < s->n_ready ? s->ready[s->next_ready++] : NO_ITEM;
	return next < s->next_read && !s->item[next].waiting ? next : NO_ITEM;
}

/*
 * Takes the next item; waits for it. *out is NO_ITEM if no item is left, or if no item can
 * come before a transfer from a frame has ended.
 */
static mill_err next_item(struct stream *s, u32 *out, struct worker_time *time)
{
	mill_err err = MILL_OK;
	f64 began = 0;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		*out = NO_ITEM;
		if (err || s->stop || s->n_taken == s->n_items)
			break;
		*out = ready_item(s);
		if (*out != NO_ITEM)
			break;
		if (!began)
			began = clock_now();
		if (!s->in_take && reader_busy(s->reader))
			err = take_read(s);
		else if (s->n_sending)
			break;
		else
			pthread_cond_wait(&s->changed, &s->lock);
	}
	s->n_taken += *out != NO_ITEM;
	pthread_mutex_unlock(&s->lock);
	if (began)
		time->wait += clock_now() - began;
	if (trace_current)
		trace_end(began, "wait for a page", NULL, 0);
	return err;
}

static mill_err finish_item(struct stream *s, u32 i, u32 *done)
{
	u32 next = s->item[i].next;
	mill_err err = MILL_OK;

	pthread_mutex_lock(&s->lock);
	if (next != NO_ITEM) {
		bitmap_put(s->frame_free, next);
		err = submit_reads(s);
	}
	*done = ++s->n_done;
	/* A worker waits for `changed` if there was no read that it could wait for. */
	if (next != NO_ITEM || *done == s->n_items)
		pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return err;
}

static void stop_pass(struct stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* Verifies the new slices just before they are decoded, so that they are then in the cache. */
static mill_err check_slices(struct stream *s, u32 page, struct frame *f)
{
	const u32 size = page_slice(s->store), blocks = size / STORE_BLOCK;
	u64 run;

	for (u64 fresh = f->have & ~f->checked; fresh; fresh &= ~run) {
		u32 first = (u32)__builtin_ctzll(fresh);

		run = first_run(fresh);
		TRY(page_check(s->pass->pages, page, first * blocks,
			       (u32)__builtin_popcountll(run) * blocks,
			       (const char *)f->data + (u64)first * size));
	}
	f->checked = f->have;
	return MILL_OK;
}

/* Reads the missing slices of a page: a row became wanted after the plan was made. */
static mill_err read_rest(struct stream *s, u32 page, struct frame *f)
{
	struct page_place at = page_place(s->pass->pages, page);
	const u32 size = page_slice(s->store);
	u64 run;

	for (u64 rest = page_slices(s->pass->pages) & ~f->have; rest; rest &= ~run) {
		u64 skip = (u64)__builtin_ctzll(rest) * size, bytes;

		run = first_run(rest);
		bytes = (u64)__builtin_popcountll(run) * size;
		TRY(file_read_at(at.file, (char *)f->data + skip, bytes, at.offset + skip));
		__atomic_add_fetch(&s->bytes_more, bytes, __ATOMIC_RELAXED);
	}
	f->have = page_slices(s->pass->pages);
	return check_slices(s, page, f);
}

static mill_err decode_raw(struct stream *s, u32 page, struct frame *f, struct segment *seg)
{
	bool fresh = f->checked != f->have;

	TRY(check_slices(s, page, f));
	if (fresh)
		TRY(page_decode_into(s->pass->pages, page, f->data, NULL, NULL, &f->segment));
	*seg = f->segment;
	return MILL_OK;
}

static mill_err decode_page(struct stream *s, u32 page, struct frame *f, unsigned worker,
			    struct segment *seg)
{
	const struct stream_pass *p = s->pass;
	struct slice_rows *rows = rows_of(s, page);
	u8 *scratch = s->scratch + worker * s->scratch_size;
	bool lacks;

	if (!s->scratch)
		return decode_raw(s, page, f, seg);
	TRY(check_slices(s, page, f));
	TRY(page_decode_part(p->pages, page, f->data, f->have, scratch, &p->want, seg, &lacks));
	if (lacks) {
		TRY(read_rest(s, page, f));
		TRY(page_decode_into(p->pages, page, f->data, scratch, p->want.only, seg));
	}
	if (rows && !rows->end)
		page_learn(p->pages, page, f->data, rows);
	return MILL_OK;
}

static mill_err pass_on(struct stream *s, u32 page, struct frame *f, struct ticket *sent)
{
	struct slice_rows *rows = rows_of(s, page);
	f64 began = clock_now();
	struct segment seg;

	/* decode_raw: when a raw page is checked, its segment must be set, too. */
	TRY(s->scratch ? check_slices(s, page, f) : decode_raw(s, page, f, &seg));
	s->time[0].decode += clock_now() - began;
	TRY(s->pass->pass_on(s->pass->arg, page, f->data, sent));
	/* pass_on has checked the page's index: before that it cannot be trusted. */
	if (rows && !rows->end)
		page_learn(s->pass->pages, page, f->data, rows);
	return MILL_OK;
}

static mill_err work_on(struct stream *s, u32 page, struct frame *f, unsigned worker)
{
	struct worker_time *time = &s->time[worker];
	f64 began = clock_now(), decoded;
	struct segment seg;

	TRY(decode_page(s, page, f, worker, &seg));
	if (trace_current)
		trace_end(began, "decode", "page", page);
	decoded = clock_now();
	time->decode += decoded - began;
	TRY(s->pass->work(s->pass->arg, page, &seg, worker));
	time->compute += clock_now() - decoded;
	if (trace_current)
		trace_end(decoded, "compute", "page", page);
	return MILL_OK;
}

static mill_err use_item(struct stream *s, u32 i, unsigned worker)
{
	u32 done;

	TRY(work_on(s, s->item[i].page, &s->frame[s->item[i].frame], worker));
	TRY(finish_item(s, i, &done));
	return worker ? MILL_OK : ticker_tick(s->pass->ticker, done);
}

static mill_err use_items(struct stream *s, unsigned worker)
{
	for (;;) {
		u32 i;

		TRY(next_item(s, &i, &s->time[worker]));
		if (i == NO_ITEM)
			return MILL_OK;
		TRY(use_item(s, i, worker));
	}
}

/* An item that was passed on, and its transfers that may be under way. */
struct sent_item {
	u32 item;
	struct ticket sent[STREAM_SENDS];
};

#define SENDING_MOST 4u

static mill_err wait_for(struct sent_item *b)
{
	mill_err err = MILL_OK;

	for (u32 i = 0; i < STREAM_SENDS; i++) {
		mill_err late = device_wait(&b->sent[i]);

		err = err ? err : late;
	}
	return err;
}

static mill_err finish_oldest(struct stream *s, struct sent_item *b)
{
	u32 done;

	TRY(wait_for(b));
	TRY(finish_item(s, b->item, &done));
	return ticker_tick(s->pass->ticker, done);
}

/* Passes pages on. While earlier pages cross, a page is verified, and the next ones are read. */
static mill_err pass_items(struct stream *s)
{
	struct sent_item ring[SENDING_MOST] = { 0 };
	mill_err err = MILL_OK;
	u32 oldest = 0, i;

	while (!err) {
		struct sent_item *b = &ring[oldest % SENDING_MOST];

		i = NO_ITEM;
		if (s->n_sending < SENDING_MOST)
			err = next_item(s, &i, &s->time[0]);
		if (err || (i == NO_ITEM && !s->n_sending))
			break;
		if (i == NO_ITEM) {
			err = finish_oldest(s, b);
			oldest++;
			s->n_sending--;
			continue;
		}
		b = &ring[(oldest + s->n_sending++) % SENDING_MOST];
		b->item = i;
		err = pass_on(s, s->item[i].page, &s->frame[s->item[i].frame], b->sent);
	}
	for (; s->n_sending; s->n_sending--)	/* before the frames are used for something else */
		(void)wait_for(&ring[oldest++ % SENDING_MOST]);
	return err;
}

static mill_err run_thread(void *arg, unsigned thread)
{
	struct stream *s = arg;
	mill_err err = MILL_OK;

	trace_name(thread >= s->workers ? "reader" : "worker");
	if (thread >= s->workers) {
		reader_help(s->reader);
		return MILL_OK;
	}
	if (s->pass->pass_on)
		err = thread ? MILL_OK : pass_items(s);
	else if (!thread || !s->pass->in_order)
		err = use_items(s, thread);
	if (err)
		stop_pass(s);
	if (!__atomic_sub_fetch(&s->n_working, 1, __ATOMIC_ACQ_REL))
		reader_dismiss(s->reader);
	return err;
}

/* After a failed pass no page can be assumed to be where the plan says. */
static void forget_all(struct stream *s)
{
	drain(s);
	residency_clear(s->resident);
	for (u32 i = 0; i < s->n_frames; i++)
		s->frame[i].have = s->frame[i].checked = 0;
}

static mill_err run_pass(struct stream *s)
{
	mill_err err;

	pthread_mutex_lock(&s->lock);
	err = submit_reads(s);
	pthread_mutex_unlock(&s->lock);
	if (err)
		return err;
	if (pool_size(s->threads) > s->workers)
		reader_welcome(s->reader);
	s->n_working = s->workers;
	return pool_run(s->threads, run_thread, s);
}

mill_err stream_run(struct stream *s, struct stream_pass *p)
{
	f64 began = trace_begin();
	mill_err err;

	assert(!p->pass_on || p->in_order);
	s->pass = p;
	plan_pass(s);
	p->wait = p->decode = p->compute = 0;
	if (!p->n_active)
		return MILL_OK;
	memset(s->time, 0, s->workers * sizeof(*s->time));
	err = run_pass(s);
	if (err)
		forget_all(s);
	trace_end(began, "pass", "pages", p->n_active);
	p->bytes_read += s->bytes_more;
	for (unsigned i = 0; i < s->workers; i++) {
		p->wait += s->time[i].wait;
		p->decode += s->time[i].decode;
		p->compute += s->time[i].compute;
	}
	return err;
}
