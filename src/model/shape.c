/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the shape of a graph for the cost model, from samples. */
#include "model/shape.h"

#include <math.h>
#include <stdlib.h>

#include "base/bitmap.h"
#include "base/random.h"

#define SOURCES 4	/* most searches; the first sources may be in small components */
#define LEVELS 1024u	/* most levels of a search */
#define REACH 65536u	/* most vertices of a search */
#define READS 48u	/* most pages that one search reads */
#define FRAMES 4u	/* pages in memory at a time */
#define DEGREES 4096u	/* degrees in a sample */
#define SAMPLES 16u	/* most samples of degrees */

/* ---- Degrees ---- */

static int by_value(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

/* Reads samples of the degree file, or all of it if it is small. n: degrees in the file. */
static mill_err read_degrees(const struct store *st, enum store_file file, u64 n, u32 *to,
			     u64 *taken)
{
	u64 samples = min_u64(div_up(n, DEGREES), SAMPLES);

	*taken = 0;
	for (u64 i = 0; i < samples; i++) {
		/*
		 * From the middle of each stretch: the first and last vertices are seldom
		 * typical.
		 */
		u64 at = n > DEGREES ? (n - DEGREES) * (2 * i + 1) / (2 * samples) : 0,
		    some = min_u64(n - at, DEGREES);

		TRY(store_read(st, file, to + *taken, some * sizeof(u32), at * sizeof(u32)));
		*taken += some;
	}
	return MILL_OK;
}

/* Uses in-degrees if it can: PageRank needs them. Vertices beyond the file have degree 0. */
static mill_err measure_degrees(struct machine *m, const struct store *st, u32 *degree)
{
	bool in = st->directed && st->has_in;
	u64 n = in ? st->in.n_rows : st->out.n_rows, taken;
	f64 mean = (f64)st->stored_edges / (f64)max_u64(st->vertices, 1), off = 0;

	TRY(read_degrees(st, in ? STORE_IN_DEGREES : STORE_OUT_DEGREES, n, degree, &taken));
	if (!taken)
		return MILL_OK;
	qsort(degree, taken, sizeof(u32), by_value);
	for (u64 i = 0; i < taken; i++)
		off += fabs(degree[i] / mean - 1);
	m->skew = fmin(2,
		       (off / (f64)taken * (f64)n + (f64)(st->vertices - n)) / (f64)st->vertices);
	m->typical = fmax(1, sqrt((f64)st->stored_edges / (f64)n * degree[taken / 2]));
	return MILL_OK;
}

/* ---- Levels ---- */

struct search {
	const struct store *store;
	void *frame[FRAMES];
	u32 held[FRAMES];	/* by frame: its page + 1; 0: none */
	struct segment segment[FRAMES];
	u32 n_reads;
	u64 *seen;
	u32 *vertex;		/* the vertices reached, in the order of their levels */
	u32 n, level[LEVELS + 1], n_levels;	/* level[i]: number of vertices in levels below i */
	bool complete;		/* the search reached all vertices that it can reach */
};

static mill_err find_segment(struct search *s, u32 page, const struct segment **out)
{
	u32 at = page % FRAMES;

	if (s->held[at] != page + 1) {
		s->held[at] = 0;
		s->n_reads++;
		TRY(page_read(&s->store->out, page, s->frame[at]));
		TRY(page_decode(&s->store->out, page, s->frame[at], &s->segment[at]));
		s->held[at] = page + 1;
	}
	*out = &s->segment[at];
	return MILL_OK;
}

/*
 * Adds the neighbours of v. Of a list that continues in the next page, the part in the
 * first page is enough. *full: the search has reached its limits.
 */
static mill_err expand(struct search *s, u32 v, bool *full)
{
	const struct segment *seg;
	u32 page, row;

	if (v >= s->store->out.n_rows)
		return MILL_OK;
	page = pages_find(&s->store->out, (vid)v);
	*full = s->n_reads >= READS && s->held[page % FRAMES] != page + 1;
	if (*full)
		return MILL_OK;
	TRY(find_segment(s, page, &seg));
	row = v - seg->first;
	for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
		vid u = seg->neighbour[i];

		if (bitmap_get(s->seen, u))
			continue;
		*full = s->n == REACH;
		if (*full)
			return MILL_OK;
		bitmap_put(s->seen, u);
		s->vertex[s->n++] = u;
	}
	return MILL_OK;
}

/*
 * Searches from a source. Only whole levels count; vertices of an incomplete last level do
 * not.
 */
static mill_err search(struct search *s, u32 source)
{
	bool full = false;

	for (u32 i = 0; i < s->n; i++)
		s->seen[s->vertex[i] / 64] = 0;
	s->n = s->n_levels = s->n_reads = 0;
	s->vertex[s->n++] = source;
	bitmap_put(s->seen, source);
	s->level[0] = 0;
	for (s->level[++s->n_levels] = 1; s->n_levels < LEVELS;) {
		u32 begin = s->level[s->n_levels - 1], end = s->n;

		/* Sorted, so that each page is read once per level. */
		qsort(s->vertex + begin, end - begin, sizeof(u32), by_value);
		for (u32 i = begin; i < end && !full; i++)
			TRY(expand(s, s->vertex[i], &full));
		if (full || s->n == end) {
			s->complete = !full;
			return MILL_OK;
		}
		s->level[++s->n_levels] = s->n;
	}
	return MILL_OK;
}

/*
 * Estimates the levels of the whole search. On maps, the number of vertices reached grows
 * as a power D of the levels. It is assumed to grow on like that; from a random source the
 * farthest corner is about 1 + D / 2 times as far as the radius of a ball of all vertices.
 * In other graphs, each level is a constant factor larger than the one before until nearly
 * all vertices are reached; 3 more levels follow.
 */
static void extend(struct machine *m, const struct search *s)
{
	u32 l = s->n_levels, reached = s->level[l], last = reached - s->level[l - 1];
	f64 all = (f64)s->store->sources, dimension, growth;

	m->levels = l;
	m->local = 0;
	dimension = l >= 8 ? log2((f64)reached / s->level[l / 2]) : INFINITY;
	if (dimension < 5)
		m->local = 1;
	if (s->complete)
		return;
	if (dimension < 5) {
		m->levels = l * pow(all / reached, 1 / fmax(dimension, 0.5)) * (1 + dimension / 2);
		m->levels = fmin(m->levels, all);
		return;
	}
	growth = l > 1 ? (f64)last / (s->level[l - 1] - s->level[l - 2]) : m->typical;
	m->levels = l - 1 + log(fmax(1, all / last)) / log(fmax(growth, 2)) + 3;
}

static mill_err measure_levels(struct machine *m, const struct store *st, struct search *s)
{
	u32 most = 0;

	for (u32 i = 0; i < SOURCES && st->sources; i++) {
		TRY(search(s, (u32)random_below(1, i, st->sources)));
		if (s->n > most) {
			most = s->n;
			extend(m, s);
		}
		/* Stops if the search reached half of the sources, or its limits. */
		if (!s->complete || most >= st->sources / 2)
			break;
	}
	return MILL_OK;
}

mill_err shape_measure(struct machine *m, const struct store *st, struct budget *budget)
{
	struct search *s;
	mill_err err;

	TRY(memory_new(&s, budget, 1, sizeof(*s), "a search"));
	s->store = st;
	err = memory_new(&s->vertex, budget, max_u64(REACH, SAMPLES * DEGREES), sizeof(u32),
			 "the vertices of a search");
	if (!err)
		err = memory_new(&s->seen, budget, bitmap_words(st->vertices) + 1, sizeof(u64),
				 "the vertices of a search");
	for (u32 i = 0; !err && i < FRAMES; i++)
		err = page_frame_new(&s->frame[i], st, budget);
	if (!err && st->stored_edges)
		err = measure_degrees(m, st, s->vertex);
	if (!err && st->stored_edges)
		err = measure_levels(m, st, s);
	m->shape_known = !err;
	for (u32 i = 0; i < FRAMES; i++)
		memory_free(s->frame[i]);
	memory_free(s->seen);
	memory_free(s->vertex);
	memory_free(s);
	return err;
}
