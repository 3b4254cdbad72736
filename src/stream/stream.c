/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/queue.h"
#include "base/thread.h"
#include "base/trace.h"

/* Blocking reads under way at once. More helps little: 1 MiB reads at depth 4 come near the disk's best. */
#define READERS 4
#define NO_FRAME UINT32_MAX

struct frame {
	void *data;
	const struct pages *pages;	/* NULL: empty */
	u32 page;
	u64 arrival;			/* grows with each read: the order of eviction */
	struct segment segment;		/* raw pages: a view, validated once, when read */
	/* During a pass: */
	bool active;
	u32 done;			/* finished uses in this pass */
};

struct stream {
	const struct store *store;
	unsigned workers;
	struct pool *threads;		/* workers first, then readers */
	u32 n_frames;
	struct frame *frame;
	void *memory;
	u8 *scratch;			/* for each worker, scratch_size bytes; NULL: pages are raw */
	u64 scratch_size;
	u32 *frame_of[2];		/* by page; out, in */
	u64 arrivals;
	struct queue *ready;		/* positions in `missing` whose page has arrived */

	/* The pass under way. */
	struct stream_pass *pass;
	u32 *reused, n_reused;		/* resident and active, in page order */
	u32 *missing, n_missing;	/* to read, in page order */
	u64 *arrived;			/* in_order: which of them are here */
	u32 *turn;			/* the frames in the order in which they are given away */
	u32 next_reused, next_missing, n_done;	/* atomic */
	pthread_mutex_t lock;
	pthread_cond_t freed;		/* a use of a frame has finished, or the pass failed */
	bool stop;
};

static u32 *frame_map(const struct stream *s, const struct pages *p)
{
	return s->frame_of[p->data == STORE_OUT_PAGES ? 0 : 1];
}

static u64 bookkeeping(const struct store *st)
{
	u64 pages = (u64)st->out.n_pages + (st->has_in && st->directed ? st->in.n_pages : 0);

	return 4 * pages + 8 * max_u64(st->out.n_pages, st->has_in ? st->in.n_pages : 0);
}

static u64 worker_scratch(const struct store *st) { return round_up(store_scratch(st), 64); }

u64 stream_scratch(const struct store *st, unsigned workers) { return workers * worker_scratch(st); }

u32 stream_fit(const struct store *store, u64 bytes, u64 most, unsigned workers)
{
	u64 overhead = bookkeeping(store) + stream_scratch(store, workers);
	u64 fit = bytes > overhead ? (bytes - overhead) / store->page_size : 0;

	return (u32)max_u64(min_u64(fit, most), 1);
}

mill_err stream_open(struct stream **out, struct budget *budget, const struct store *store, u64 bytes,
		     u64 most, unsigned workers)
{
	u32 n_in = store->has_in && store->directed ? store->in.n_pages : 0;
	u32 n_most = store->out.n_pages > n_in ? store->out.n_pages : n_in;
	struct stream *s;
	mill_err err;

	TRY(memory_new(&s, budget, 1, sizeof(*s), "the stream"));
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->freed, NULL);
	s->store = store;
	s->workers = workers;
	s->n_frames = stream_fit(store, bytes, most, workers);
	err = memory_new(&s->frame, budget, s->n_frames, sizeof(*s->frame), "the frames of the page pool");
	/* One page too many: small blocks are aligned to 64 bytes, direct reads need 4096. */
	if (!err)
		err = memory_new(&s->memory, budget, (u64)s->n_frames * store->page_size + 4096, 1,
				 "the page pool");
	s->scratch_size = worker_scratch(store);
	if (!err && s->scratch_size)
		err = memory_new(&s->scratch, budget, workers, s->scratch_size, "the decoded pages");
	if (!err)
		err = memory_new(&s->frame_of[0], budget, store->out.n_pages + 1u, sizeof(u32), "the page table");
	if (!err)
		err = memory_new(&s->frame_of[1], budget, n_in + 1u, sizeof(u32), "the page table");
	if (!err)
		err = memory_new(&s->reused, budget, n_most + 1u, sizeof(u32), "the list of pages");
	if (!err)
		err = memory_new(&s->missing, budget, n_most + 1u, sizeof(u32), "the list of pages");
	if (!err)
		err = memory_new(&s->arrived, budget, bitmap_words(n_most) + 1, sizeof(u64), "the list of pages");
	if (!err)
		err = memory_new(&s->turn, budget, s->n_frames, sizeof(u32), "the list of frames");
	if (!err)
		err = pool_new(&s->threads, workers + READERS);
	if (!err && pool_size(s->threads) < 2)
		err = fail(MILL_ENOMEM, "no thread can be started to read pages");
	if (err)
		goto fail;
	/* With fewer threads than asked for, at least one of them reads. */
	if (s->workers >= pool_size(s->threads))
		s->workers = pool_size(s->threads) - 1;
	for (u32 i = 0; i < s->n_frames; i++) {
		uintptr_t base = (uintptr_t)round_up((uintptr_t)s->memory, 4096);

		s->frame[i].data = (char *)base + (u64)i * store->page_size;
	}
	memset(s->frame_of[0], 0xff, (store->out.n_pages + 1u) * sizeof(u32));
	memset(s->frame_of[1], 0xff, (n_in + 1u) * sizeof(u32));
	*out = s;
	return MILL_OK;
fail:
	stream_close(s);
	return err;
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	pool_free(s->threads);
	memory_free(s->turn);
	memory_free(s->arrived);
	memory_free(s->missing);
	memory_free(s->reused);
	memory_free(s->frame_of[1]);
	memory_free(s->frame_of[0]);
	memory_free(s->scratch);
	memory_free(s->memory);
	memory_free(s->frame);
	pthread_cond_destroy(&s->freed);
	pthread_mutex_destroy(&s->lock);
	memory_free(s);
}

u32 stream_frames(const struct stream *s) { return s->n_frames; }

/* In which order frames are given away: empty ones, those that this pass does not need by their age, the rest. */
static void order_frames(struct stream *s)
{
	u32 n = 0;

	for (u32 i = 0; i < s->n_frames; i++)
		if (!s->frame[i].pages)
			s->turn[n++] = i;
	for (u32 empty = n, i = 0; i < s->n_frames; i++) {
		u32 at = n;

		if (!s->frame[i].pages || s->frame[i].active)
			continue;
		/* Insertion by arrival: frames arrive nearly in order, so this seldom moves much. */
		while (at > empty && s->frame[s->turn[at - 1]].arrival > s->frame[i].arrival) {
			s->turn[at] = s->turn[at - 1];
			at--;
		}
		s->turn[at] = i;
		n++;
	}
	for (u32 i = 0; i < s->n_reused; i++)
		s->turn[n++] = frame_map(s, s->pass->pages)[s->reused[i]];
	assert(n == s->n_frames);
}

static void plan_pass(struct stream *s)
{
	struct stream_pass *p = s->pass;
	u32 *map = frame_map(s, p->pages);

	s->n_reused = s->n_missing = 0;
	for (u32 i = 0; i < s->n_frames; i++) {
		s->frame[i].active = false;
		s->frame[i].done = 0;
	}
	for (u32 i = 0; i < p->pages->n_pages; i++) {
		if (p->active && !p->active(p->arg, i))
			continue;
		if (map[i] == NO_FRAME) {
			s->missing[s->n_missing++] = i;
		} else {
			s->reused[s->n_reused++] = i;
			s->frame[map[i]].active = true;
		}
	}
	if (s->n_missing)
		order_frames(s);
	s->next_reused = s->next_missing = s->n_done = 0;
	s->stop = false;
	p->n_reused = s->n_reused;
	p->n_active = s->n_reused + s->n_missing;
}

static void stop_pass(struct stream *s)
{
	pthread_mutex_lock(&s->lock);
	__atomic_store_n(&s->stop, true, __ATOMIC_RELAXED);	/* workers look at it without the lock */
	pthread_cond_broadcast(&s->freed);
	pthread_mutex_unlock(&s->lock);
	queue_close(s->ready);
}

/* Page missing[i] takes the place of what its frame held. Only its own reader touches the frame now. */
static mill_err read_missing(struct stream *s, u32 i)
{
	const struct pages *pages = s->pass->pages;
	struct frame *f = &s->frame[s->turn[i % s->n_frames]];
	u32 uses = (i / s->n_frames) + f->active;
	f64 began = trace_begin();

	pthread_mutex_lock(&s->lock);
	while (!s->stop && f->done < uses)
		pthread_cond_wait(&s->freed, &s->lock);
	if (s->stop) {
		pthread_mutex_unlock(&s->lock);
		return MILL_OK;
	}
	if (f->pages)
		frame_map(s, f->pages)[f->page] = NO_FRAME;
	f->pages = NULL;
	pthread_mutex_unlock(&s->lock);
	trace_end(began, "wait for a frame", "page", s->missing[i]);

	began = trace_begin();
	TRY(page_read(pages, s->missing[i], f->data));
	trace_end(began, "read", "page", s->missing[i]);
	if (!s->scratch)
		TRY(page_decode_into(pages, s->missing[i], f->data, NULL, NULL, &f->segment));

	pthread_mutex_lock(&s->lock);
	f->pages = pages;
	f->page = s->missing[i];
	f->arrival = s->arrivals + i;
	frame_map(s, pages)[f->page] = s->turn[i % s->n_frames];
	pthread_mutex_unlock(&s->lock);
	queue_push(s->ready, i);
	return MILL_OK;
}

static mill_err read_pages(struct stream *s)
{
	for (;;) {
		u32 i = __atomic_fetch_add(&s->next_missing, 1, __ATOMIC_RELAXED);
		mill_err err;

		if (i >= s->n_missing)
			return MILL_OK;
		err = read_missing(s, i);
		if (err) {
			stop_pass(s);
			return err;
		}
	}
}

static mill_err use_page(struct stream *s, u32 page, u32 frame, unsigned worker)
{
	struct frame *f = &s->frame[frame];
	struct segment seg = f->segment;
	mill_err err = MILL_OK;
	f64 began = trace_begin();
	u32 done;

	if (s->scratch) {
		err = page_decode_into(s->pass->pages, page, f->data, s->scratch + worker * s->scratch_size,
				       s->pass->only, &seg);
		trace_end(began, "decode", "page", page);
		began = trace_begin();
	}
	if (!err)
		err = s->pass->work(s->pass->arg, page, &seg, worker);
	trace_end(began, "compute", "page", page);
	done = __atomic_add_fetch(&s->n_done, 1, __ATOMIC_RELAXED);
	if (!err && !worker)
		err = ticker_tick(s->pass->ticker, done);
	pthread_mutex_lock(&s->lock);
	f->done++;
	pthread_cond_broadcast(&s->freed);
	pthread_mutex_unlock(&s->lock);
	/* The last page: nobody waits for another. */
	if (done == s->n_reused + s->n_missing)
		queue_close(s->ready);
	return err;
}

/* The next page to arrive; false: there is none. */
static bool wait_for_page(struct stream *s, u64 *i)
{
	f64 began = trace_begin();
	bool any = queue_pop(s->ready, i);

	trace_end(began, "wait for a page", NULL, 0);
	return any;
}

static mill_err use_pages(struct stream *s, unsigned worker)
{
	u64 i;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		u32 next = __atomic_fetch_add(&s->next_reused, 1, __ATOMIC_RELAXED);

		if (next >= s->n_reused)
			break;
		/* Its frame is not given away before this use is done, so the map can be read bare. */
		TRY(use_page(s, s->reused[next],
			     __atomic_load_n(&frame_map(s, s->pass->pages)[s->reused[next]], __ATOMIC_RELAXED),
			     worker));
	}
	while (wait_for_page(s, &i))
		TRY(use_page(s, s->missing[i], s->turn[i % s->n_frames], worker));
	return MILL_OK;
}

/* The same by one thread and in page order, whatever the order of arrival. */
static mill_err use_pages_in_order(struct stream *s)
{
	for (u32 i = 0; i < s->n_reused; i++)
		TRY(use_page(s, s->reused[i], frame_map(s, s->pass->pages)[s->reused[i]], 0));
	for (u32 i = 0; i < s->n_missing; i++) {
		u64 arrived;

		while (!bitmap_get(s->arrived, i)) {
			if (!wait_for_page(s, &arrived))
				return MILL_OK;	/* a reader failed */
			bitmap_put(s->arrived, arrived);
		}
		TRY(use_page(s, s->missing[i], s->turn[i % s->n_frames], 0));
	}
	return MILL_OK;
}

static mill_err take_part(void *arg, unsigned thread)
{
	struct stream *s = arg;
	mill_err err;

	trace_name(thread >= s->workers ? "reader" : "worker");
	if (thread >= s->workers)
		return read_pages(s);
	if (thread && s->pass->in_order)
		return MILL_OK;
	err = s->pass->in_order ? use_pages_in_order(s) : use_pages(s, thread);
	if (err)
		stop_pass(s);
	return err;
}

mill_err stream_run(struct stream *s, struct stream_pass *p)
{
	f64 began = trace_begin();
	mill_err err;

	s->pass = p;
	plan_pass(s);
	if (!p->n_active)
		return MILL_OK;
	if (p->in_order)
		memset(s->arrived, 0, bitmap_words(s->n_missing) * sizeof(u64));
	TRY(queue_new(&s->ready, NULL, s->n_frames + 1));
	if (!s->n_missing)
		queue_close(s->ready);
	err = pool_run(s->threads, take_part, s);
	queue_free(s->ready);
	s->ready = NULL;
	s->arrivals += s->n_missing;
	p->n_read = s->n_missing;
	p->bytes_read = (u64)s->n_missing * s->store->page_size;
	trace_end(began, "pass", "pages", p->n_active);
	return err;
}
