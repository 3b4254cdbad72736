/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes sorted runs and reads them back in pieces. The slices of a piece are found in two steps:
 * the samples in memory give a bound below which at most `room` keys lie, then a binary search on
 * disk gives the exact end of each slice.
 */
#include "import/runs.h"

#include <string.h>

#include "base/fault.h"
#include "base/sort.h"

#define STEP 1024u	/* keys from one sample to the next, at first */
#define SAMPLES_MIN ((u64)1 << 14)

struct run {
	u64 at;			/* byte of its first key; its weights follow its keys */
	u64 n;
	u64 first_sample;
	u64 next;		/* index of the first key that has not been read */
	u64 stop;		/* index at which the present slice ends */
};

mill_err runs_open(struct runs *r, const char *dir, struct budget *budget, bool weighted,
		   unsigned bits)
{
	*r = (struct runs){
		.file = FILE_CLOSED,
		.budget = budget,
		.weighted = weighted,
		.mask = bits < 64 ? ((u64)1 << bits) - 1 : ~(u64)0,
		.step = fault_hold() ? 2 : STEP,
	};
	r->most_samples = max_u64(SAMPLES_MIN, (budget->limit ? budget->limit : GIB) / RUNS_SHARE /
						       sizeof(u64));
	return file_temp(&r->file, dir);
}

void runs_release(struct runs *r)
{
	file_close(&r->file);
	memory_free(r->run);
	memory_free(r->sample);
	*r = (struct runs){ .file = FILE_CLOSED };
}

static u64 run_samples(const struct runs *r, const struct run *run)
{
	return div_up(run->n, r->step);
}

/* Drops every second sample. */
static void thin(struct runs *r)
{
	u64 n = 0;

	for (u64 i = 0; i < r->n_runs; i++) {
		struct run *run = &r->run[i];
		u64 have = run_samples(r, run), first = n;

		for (u64 k = 0; k < have; k += 2)
			r->sample[n++] = r->sample[run->first_sample + k];
		run->first_sample = first;
	}
	r->n_samples = n;
	r->step *= 2;
}

/*
 * Makes room for `wanted` elements in an array that holds n. Doubles the room, but not beyond
 * `most`.
 */
static mill_err grow(struct runs *r, void *array, u64 n, u64 *room, size_t size, u64 wanted,
		     u64 most)
{
	void **old = array, *more;
	u64 to = min_u64(max_u64(2 * *room, max_u64(wanted, 64)), max_u64(wanted, most));

	if (wanted <= *room)
		return MILL_OK;
	TRY(memory_new(&more, r->budget, to, size, "sorted runs"));
	if (n)
		memcpy(more, *old, n * size);
	memory_free(*old);
	*old = more;
	*room = to;
	return MILL_OK;
}

mill_err runs_add(struct runs *r, const u64 *key, const u64 *weight, u64 n)
{
	struct run run = { .at = r->bytes, .n = n };

	if (!n)
		return MILL_OK;
	while (r->n_samples && r->n_samples + div_up(n, r->step) > r->most_samples)
		thin(r);
	TRY(grow(r, &r->run, r->n_runs, &r->run_room, sizeof(*r->run), r->n_runs + 1,
		 UINT64_MAX));
	TRY(grow(r, &r->sample, r->n_samples, &r->sample_room, sizeof(u64),
		 r->n_samples + div_up(n, r->step),
		 max_u64(r->most_samples, div_up(n, r->step))));
	TRY(file_write_at(&r->file, key, n * sizeof(u64), r->bytes));
	r->bytes += n * sizeof(u64);
	if (r->weighted) {
		TRY(file_write_at(&r->file, weight, n * sizeof(u64), r->bytes));
		r->bytes += n * sizeof(u64);
	}
	run.first_sample = r->n_samples;
	for (u64 i = 0; i < n; i += r->step)
		r->sample[r->n_samples++] = key[i] & r->mask;
	r->run[r->n_runs++] = run;
	r->n += n;
	return MILL_OK;
}

void runs_rewind(struct runs *r)
{
	for (u64 i = 0; i < r->n_runs; i++)
		r->run[i].next = 0;
	r->done = 0;
	r->partial = false;
}

/*
 * Returns at least the number of unread keys below the bound, without a read: counts whole blocks
 * (the keys from one sample to the next) up to the last one that may hold such a key.
 */
static u64 run_reach(const struct runs *r, const struct run *run, u64 bound)
{
	const u64 *sample = r->sample + run->first_sample;
	u64 low = run->next / r->step, high = run_samples(r, run), from = low;

	if (run->next == run->n)
		return 0;
	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (sample[middle] < bound)
			low = middle + 1;
		else
			high = middle;
	}
	/* Not even the block of `next` begins below the bound: no key is below it. */
	return low > from ? min_u64(run->n, low * r->step) - run->next : 0;
}

/* Returns the sum of run_reach over all runs. */
static u64 reach(const struct runs *r, u64 bound)
{
	u64 sum = 0;

	for (u64 i = 0; i < r->n_runs; i++)
		sum += run_reach(r, &r->run[i], bound);
	return sum;
}

/* Sets run->stop to the exact end of the keys below the bound, by a search of one block on disk. */
static mill_err find_stop(const struct runs *r, struct run *run, u64 bound)
{
	u64 high = run->next + run_reach(r, run, bound), low = run->next;

	if (high > low)
		low = max_u64(low, (high - 1) / r->step * r->step);
	while (low < high) {
		u64 middle = low + (high - low) / 2, key;

		TRY(file_read_at(&r->file, &key, sizeof(key), run->at + middle * sizeof(u64)));
		if ((key & r->mask) < bound)
			low = middle + 1;
		else
			high = middle;
	}
	run->stop = low;
	return MILL_OK;
}

/* Calls find_stop for all runs. *n becomes the number of unread keys below the bound. */
static mill_err find_stops(struct runs *r, u64 bound, u64 *n)
{
	*n = 0;
	for (u64 i = 0; i < r->n_runs; i++) {
		TRY(find_stop(r, &r->run[i], bound));
		*n += r->run[i].stop - r->run[i].next;
	}
	return MILL_OK;
}

/*
 * Chooses a bound below which at most `room` unread keys lie, and sets the stops for it. Takes
 * the largest bound for which the samples guarantee that. If this bound yields less than half of
 * `room` (many runs, and samples far apart), searches for a larger bound on disk.
 */
static mill_err choose_bound(struct runs *r, u64 room, u64 *n)
{
	u64 low = 0, high = r->mask, best = 0;

	while (low < high) {
		u64 middle = low + (high - low) / 2 + 1;

		if (reach(r, middle) <= room)
			low = middle;
		else
			high = middle - 1;
	}
	TRY(find_stops(r, low, n));
	best = low;
	high = r->mask;
	while ((!*n || *n < room / 2) && low < high) {
		u64 middle = low + (high - low) / 2 + 1, some;

		TRY(find_stops(r, middle, &some));
		if (some <= room) {
			best = low = middle;
			*n = some;
		} else {
			high = middle - 1;
		}
	}
	return find_stops(r, best, n);
}

/* Reads the next n keys of a run to `to`. */
static mill_err read_keys(const struct runs *r, const struct run *run, u64 *to, u64 n)
{
	return file_read_at(&r->file, to, n * sizeof(u64), run->at + run->next * sizeof(u64));
}

/* Reads the weights of the next n keys of a run, after read_keys, and counts these keys as read. */
static mill_err take(struct runs *r, struct run *run, struct edges *e, u64 n)
{
	if (r->weighted && n)
		TRY(file_read_at(&r->file, e->weight + e->n, n * sizeof(u64),
				 run->at + (run->n + run->next) * sizeof(u64)));
	run->next += n;
	e->n += n;
	r->done += n;
	return MILL_OK;
}

/* Reads all slices up to their stops, or as many of their keys as there is room for. */
static mill_err read_slices(struct runs *r, struct edges *e, u64 room)
{
	for (u64 i = 0; i < r->n_runs; i++) {
		struct run *run = &r->run[i];
		u64 n = min_u64(run->stop - run->next, room - e->n);

		TRY(read_keys(r, run, e->key + e->n, n));
		TRY(take(r, run, e, n));
	}
	return MILL_OK;
}

static void stop_at_ends(struct runs *r)
{
	for (u64 i = 0; i < r->n_runs; i++)
		r->run[i].stop = r->run[i].n;
}

/* Sets the stops so that the slices hold only the smallest key. */
static mill_err choose_group(struct runs *r)
{
	u64 least = r->mask, n;

	for (u64 i = 0; i < r->n_runs; i++) {
		const struct run *run = &r->run[i];
		u64 key;

		if (run->next == run->n)
			continue;
		TRY(read_keys(r, run, &key, 1));
		least = min_u64(least, key & r->mask);
	}
	if (least < r->mask)
		return find_stops(r, least + 1, &n);
	stop_at_ends(r);
	return MILL_OK;
}

/* Reads the next piece of a group of equal keys. */
static mill_err next_partial(struct runs *r, struct edges *e, u64 room)
{
	TRY(read_slices(r, e, room));
	r->partial = true;
	r->partial_last = true;
	for (u64 i = 0; i < r->n_runs; i++)
		r->partial_last &= r->run[i].next == r->run[i].stop;
	return MILL_OK;
}

mill_err runs_next(struct runs *r, struct edges *e, u64 room)
{
	u64 n;

	e->n = 0;
	if (r->partial && !r->partial_last)
		return next_partial(r, e, room);
	r->partial = false;
	if (r->done == r->n)
		return MILL_OK;
	if (r->n - r->done <= room) {
		stop_at_ends(r);
	} else {
		TRY(choose_bound(r, room, &n));
		if (!n) {
			TRY(choose_group(r));
			return next_partial(r, e, room);
		}
	}
	TRY(read_slices(r, e, room));
	return sort_u64(e->pool, e->budget, e->key, e->weight, e->n,
			64u - (unsigned)__builtin_clzll(r->mask));
}

mill_err runs_next_unsorted(struct runs *r, struct edges *e, u64 room)
{
	e->n = 0;
	for (u64 i = 0; i < r->n_runs && e->n < room; i++) {
		struct run *run = &r->run[i];
		u64 n = min_u64(run->n - run->next, room - e->n);

		TRY(read_keys(r, run, e->key + e->n, n));
		TRY(take(r, run, e, n));
	}
	return MILL_OK;
}
