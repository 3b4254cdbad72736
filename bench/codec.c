/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec [-t THREADS] STORE...: prints the size and the decoding speed of pages. The size is bytes
 * per edge, with row degrees and the index of blocks; "+ ends" counts whole pages. For the speed
 * every thread decodes a few pages again and again, so that they and the result stay in the cache,
 * with vector instructions and without. The time is the processor time of the threads, which other
 * programs on the machine change little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "store/packed.h"
#include "store/page.h"
#include "store/store.h"

#define SECONDS 0.5
#define PAGES 4	/* pages of a thread; one page of 1 MiB and its 2 MiB of lists fit the cache */

struct measure {
	const struct pages *pages;
	u64 speed;	/* edges per second, the sum over threads; atomic */
};

static void die(const char *what)
{
	fprintf(stderr, "codec: %s: %s\n", what, mill_error());
	exit(1);
}

static f64 processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (f64)t.tv_sec + 1e-9 * (f64)t.tv_nsec;
}

static mill_err decode(void *arg, unsigned worker)
{
	struct measure *m = arg;
	const struct pages *p = m->pages;
	u64 edges = 0;
	f64 seconds = 0;
	void *frame;

	TRY(page_frame_new(&frame, p->store, NULL));
	/* Pages from all over the graph, but neither the first nor the last. */
	for (u32 k = 0; k < PAGES; k++) {
		u32 i = (u32)((u64)p->n_pages * (2 * k + 1) / (2 * PAGES) + worker) % p->n_pages;
		struct segment seg;

		TRY(page_read(p, i, frame));
		TRY(page_decode(p, i, frame, &seg));
		seconds -= processor_time();
		for (f64 began = clock_now(); clock_now() - began < SECONDS / PAGES;) {
			for (int j = 0; j < 8; j++)
				TRY(page_decode(p, i, frame, &seg));
			edges += 8 * (u64)seg.n_edges;
		}
		seconds += processor_time();
	}
	__atomic_add_fetch(&m->speed, (u64)((f64)edges / seconds), __ATOMIC_RELAXED);
	memory_free(frame);
	return MILL_OK;
}

static f64 speed(struct pool *pool, const struct pages *p)
{
	struct measure m = { .pages = p };

	if (pool_run(pool, decode, &m))
		die("decode");
	return (f64)m.speed / 1e9;
}

/* Returns the bytes of headers, indexes and streams, without weights and unused ends of pages. */
static u64 used_bytes(const struct pages *p)
{
	u64 bytes = 0;
	void *frame;

	if (page_frame_new(&frame, p->store, NULL))
		die("memory");
	for (u32 i = 0; i < p->n_pages; i++) {
		struct packed_page page;

		if (page_read(p, i, frame))
			die("read");
		if (p->store->codec == PAGE_RAW)
			bytes += page_bytes(p->entry[i].n_rows, p->entry[i].n_edges, 0);
		else if (!page_find_blocks(p, i, frame, &page))
			bytes += page.end;
	}
	memory_free(frame);
	return bytes;
}

int main(int argc, char **argv)
{
	unsigned threads = 0;
	struct pool *pool;
	int first = 1;

	if (argc > 2 && !strcmp(argv[1], "-t")) {
		threads = (unsigned)atoi(argv[2]);
		first = 3;
	}
	if (pool_new(&pool, threads))
		die("threads");
	printf("%-24s %-7s %12s %8s %8s %14s %14s\n", "store", "codec", "edges", "B/edge", "+ ends",
	       "10^9 edges/s", "no vectors");
	for (int i = first; i < argc; i++) {
		const struct pages *p;
		struct store *st;
		f64 n, fast, plain;

		if (store_open(&st, argv[i], NULL))
			die(argv[i]);
		p = &st->out;
		n = (f64)st->stored_edges;
		if (!p->n_pages)
			die("no edges");
		fast = speed(pool, p);
		packed_plain = true;
		plain = speed(pool, p);
		packed_plain = false;
		printf("%-24s %-7s %12.0f %8.3f %8.3f %14.2f %14.2f\n", argv[i],
		       codec_name(st->codec), n, (f64)used_bytes(p) / n,
		       (f64)st->size[STORE_OUT_PAGES] / n, fast, plain);
		store_close(st);
	}
	pool_free(pool);
	return 0;
}
