/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of import share: stores read back arc by arc, and compared file by file. */
#ifndef READBACK_H
#define READBACK_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "helpers.h"
#include "store/store.h"

/* A stored arc by original id. */
struct arc {
	u64 from, to, weight;
};

struct arcs {
	u64 n;
	struct arc *arc; /* in the order of the store */
};

static inline u64 weight_of(enum mill_weight type, const void *weight, u64 i)
{
	if (!weight)
		return 0;
	return weight_size(type) == 8 ? ((const u64 *)weight)[i] : ((const u32 *)weight)[i];
}

/* Returns the original id of every vertex. The caller frees them. */
static inline u64 *read_ids(const struct store *st)
{
	u64 *by_rank = calloc(st->vertices + 1, sizeof(*by_rank));
	u64 *id = calloc(st->vertices + 1, sizeof(*id));
	vid *order = calloc(st->vertices + 1, sizeof(*order));

	OK(store_read(st, STORE_IDS, by_rank, st->vertices * sizeof(*id), 0));
	OK(store_read(st, STORE_ORDER, order, st->vertices * sizeof(*order), 0));
	for (u64 r = 0; r < st->vertices; r++)
		id[order[r]] = by_rank[r];
	free(order);
	free(by_rank);
	return id;
}

/*
 * Returns the arcs of the out-pages, or of the in-pages; from and to are always the ends of the
 * edge. Checks that the lists are ascending. The caller frees the arcs.
 */
static inline struct arcs read_arcs(const struct store *st, bool in)
{
	const struct pages *p = in ? &st->in : &st->out;
	struct arcs a = { .arc = calloc(st->stored_edges + 1, sizeof(*a.arc)) };
	u64 *id = read_ids(st);
	vid last_row = 0, last = 0;
	void *frame;

	OK(page_frame_new(&frame, st, NULL));
	for (u32 i = 0; i < p->n_pages; i++) {
		struct segment s;

		OK(page_read(p, i, frame));
		OK(page_decode(p, i, frame, &s));
		for (vid r = 0; r < s.n_rows; r++)
			for (u32 e = s.row[r]; e < s.row[r + 1]; e++) {
				struct arc *to = &a.arc[a.n];
				vid v = (vid)(s.first + r);

				if (a.n && v == last_row)
					assert_true(s.neighbour[e] >= last);
				last_row = v;
				last = s.neighbour[e];
				assert_true(a.n < st->stored_edges);
				to->from = id[in ? last : v];
				to->to = id[in ? v : last];
				to->weight = weight_of(st->weight, s.weight, e);
				a.n++;
			}
	}
	memory_free(frame);
	free(id);
	return a;
}

static inline void assert_verifies(const struct store *st)
{
	struct ticker ticker;

	ticker_init(&ticker, NULL);
	OK(store_verify(st, &ticker));
}

/* Checks that two stores have the same files with the same bytes. */
static inline void assert_same_store(const char *a, const char *b)
{
	int n = 0, m = 0;
	DIR *d = opendir(a);

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		size_t x_size = 0, y_size = 0;
		u8 *x, *y;

		if (e->d_name[0] == '.')
			continue;
		x = slurp(path_in(a, e->d_name), &x_size);
		y = slurp(path_in(b, e->d_name), &y_size);
		if (x_size != y_size || memcmp(x, y, x_size))
			fail_msg("%s of %s and %s differ", e->d_name, a, b);
		free(x);
		free(y);
		n++;
	}
	closedir(d);
	d = opendir(b);
	while (readdir(d))
		m++;
	closedir(d);
	assert_int_equal(m, n + 2);
}

#endif
