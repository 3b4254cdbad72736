/* SPDX-License-Identifier: Apache-2.0 */
#include "model/shape.h"

#include <math.h>
#include <stdlib.h>

#include "base/bitmap.h"
#include "base/random.h"

#define SOURCES 4	/* of a search, if the first are in small components */
#define LEVELS 1024u
#define REACH 65536u	/* vertices */
#define READS 48u	/* pages of one search */
#define SLOTS 4u	/* pages held at a time */
#define DEGREES 4096u	/* in a piece */
#define PIECES 16u

/* ---- Degrees ---- */

static int by_value(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

/* Pieces of the file, all of it if it is small. n: how many there are. */
static mill_err read_degrees(const struct store *st, enum store_file file, u64 n, u32 *to, u64 *taken)
{
	u64 pieces = min_u64(div_up(n, DEGREES), PIECES);

	*taken = 0;
	for (u64 i = 0; i < pieces; i++) {
		/* From the middle of each part: first and last vertices are seldom like the others. */
		u64 at = n > DEGREES ? (n - DEGREES) * (2 * i + 1) / (2 * pieces) : 0, some = min_u64(n - at, DEGREES);

		TRY(store_read(st, file, to + *taken, some * sizeof(u32), at * sizeof(u32)));
		*taken += some;
	}
	return MILL_OK;
}

/* In-degrees are what PageRank begins with. Vertices without a number in the file have none. */
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
	m->skew = fmin(2, (off / (f64)taken * (f64)n + (f64)(st->vertices - n)) / (f64)st->vertices);
	m->typical = fmax(1, sqrt((f64)st->stored_edges / (f64)n * degree[taken / 2]));
	return MILL_OK;
}

/* ---- Levels ---- */

struct search {
	const struct store *store;
	void *frame[SLOTS];
	u32 held[SLOTS];	/* the page in it, plus 1; 0: none */
	struct segment segment[SLOTS];
	u32 n_reads;
	u64 *seen;
	u32 *vertex;		/* in the order of their levels */
	u32 n, level[LEVELS + 1], n_levels;	/* level[i]: how many there are in levels below i */
	bool complete;		/* there is nothing beyond */
};

static mill_err find_segment(struct search *s, u32 page, const struct segment **out)
{
	u32 slot = page % SLOTS;

	if (s->held[slot] != page + 1) {
		s->held[slot] = 0;
		s->n_reads++;
		TRY(page_read(&s->store->out, page, s->frame[slot]));
		TRY(page_decode(&s->store->out, page, s->frame[slot], &s->segment[slot]));
		s->held[slot] = page + 1;
	}
	*out = &s->segment[slot];
	return MILL_OK;
}

/* Of a list that goes on in the next page the first part is enough. *full: there is no more room. */
static mill_err expand(struct search *s, u32 v, bool *full)
{
	const struct segment *seg;
	u32 page, row;

	if (v >= s->store->out.n_rows)
		return MILL_OK;
	page = pages_find(&s->store->out, (vid)v);
	*full = s->n_reads >= READS && s->held[page % SLOTS] != page + 1;
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

/* Whole levels only: what was found of one that is cut short is forgotten. */
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

		qsort(s->vertex + begin, end - begin, sizeof(u32), by_value);	/* each page once a level */
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
 * How it would go on. Where reach grows as a power D of the levels, as it does on maps, it goes on so; from a source in
 * the middle of nowhere the farthest corner is about 1 + D / 2 times as far as a ball of all vertices would reach.
 * Elsewhere each level is so many times the one before until nearly all are reached, and then there are a few.
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
		/* Half of what there is, or more than could be looked at. */
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
	err = memory_new(&s->vertex, budget, max_u64(REACH, PIECES * DEGREES), sizeof(u32), "the vertices of a search");
	if (!err)
		err = memory_new(&s->seen, budget, bitmap_words(st->vertices) + 1, sizeof(u64),
				 "the vertices of a search");
	for (u32 i = 0; !err && i < SLOTS; i++)
		err = page_frame_new(&s->frame[i], st, budget);
	if (!err && st->stored_edges)
		err = measure_degrees(m, st, s->vertex);
	if (!err && st->stored_edges)
		err = measure_levels(m, st, s);
	m->shape_known = !err;
	for (u32 i = 0; i < SLOTS; i++)
		memory_free(s->frame[i]);
	memory_free(s->seen);
	memory_free(s->vertex);
	memory_free(s);
	return err;
}
