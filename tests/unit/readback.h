/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of import share: a scratch directory, and stores read back arc by arc. */
#ifndef READBACK_H
#define READBACK_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/store.h"
#include "unit.h"

#define OK(call)                                                                   \
	do {                                                                       \
		mill_err ok_err_ = (call);                                         \
		if (ok_err_)                                                       \
			fail_msg("%s: %d, %s", #call, (int)ok_err_, mill_error()); \
	} while (0)

static char scratch[] = "/tmp/mill-import-XXXXXX";

static inline const char *in_scratch(const char *name)
{
	static char path[64][256];
	static unsigned i;

	snprintf(path[++i % ARRAY_LEN(path)], sizeof(path[0]), "%s/%s", scratch, name);
	return path[i % ARRAY_LEN(path)];
}

static inline int make_scratch(void **state)
{
	(void)state;
	return mkdtemp(scratch) ? 0 : -1;
}

static inline int remove_scratch(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	return system(command);
}

static inline void put_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

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

/* By vertex number. */
static inline u64 *read_ids(const struct store *st)
{
	u64 *by_rank = calloc(st->vertices + 1, sizeof(*by_rank)), *id = calloc(st->vertices + 1, sizeof(*id));
	vid *order = calloc(st->vertices + 1, sizeof(*order));

	OK(store_read(st, STORE_IDS, by_rank, st->vertices * sizeof(*id), 0));
	OK(store_read(st, STORE_ORDER, order, st->vertices * sizeof(*order), 0));
	for (u64 r = 0; r < st->vertices; r++)
		id[order[r]] = by_rank[r];
	free(order);
	free(by_rank);
	return id;
}

/* All arcs of one direction; in: from and to as the edge has them. Checks the order on the way. */
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
	struct mill_watcher none = { .watch = NULL };
	struct ticker ticker;

	ticker_init(&ticker, &none);
	OK(store_verify(st, &ticker));
}

static inline char *slurp_file(const char *dir, const char *name, size_t *size)
{
	char path[512];
	char *data;
	long n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	data = malloc((size_t)n + 1);
	*size = fread(data, 1, (size_t)n, f);
	fclose(f);
	return data;
}

/* Same files, same bytes. */
static inline void assert_same_store(const char *a, const char *b)
{
	int n = 0, m = 0;
	DIR *d = opendir(a);

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		size_t x_size = 0, y_size = 0;
		char *x, *y;

		if (e->d_name[0] == '.')
			continue;
		x = slurp_file(a, e->d_name, &x_size);
		y = slurp_file(b, e->d_name, &y_size);
		if (!y || x_size != y_size || memcmp(x, y, x_size))
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
