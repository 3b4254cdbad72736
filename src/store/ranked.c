/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives out lists in the order of ranks. After its neighbours have become ranks, a list is one
 * ascending run, or two (sources, then the others), or unordered if import reordered the vertices.
 * Two runs are merged; an unordered list is sorted. If the sources themselves are not in order,
 * lists are gathered in windows of ranks, with one pass over the pages for each window.
 */
#include "store/ranked.h"

#include <string.h>

#include "base/sort.h"

struct ranked {
	const struct store *st;
	const struct pages *pages;	/* the direction */
	u64 max_degree;			/* of this direction */
	struct budget *budget;
	struct ticker *ticker;
	mill_err (*take)(void *arg, const struct ranked_list *list);
	void *arg;
	size_t wsize;
	u64 done;		/* pages read so far */
	void *frame;
	vid *rank;		/* of every vertex */
	u64 next;		/* rank of the next list to give out */
	/* Lists in the order of the store, with ranks as neighbours. */
	vid *list;
	u8 *weight;
	u64 room;		/* of both, in edges */
	/* One sorted list. */
	vid *sorted;
	u8 *sorted_weight;
	u64 *key, *place;	/* for sorting a list with more than two runs; made when needed */
	/* A window: the list of rank `next + i` is [at[i], at[i + 1]), filled up to fill[i]. */
	u64 *at, *fill;
	u64 n_window;		/* number of lists in the window */
};

/* Takes a row of a page: a list of v, or a piece of it. last: the list ends here. */
typedef mill_err piece_fn(struct ranked *x, vid v, const vid *neighbour, const u8 *weight, u64 n,
			  bool last);

static mill_err longer(const struct ranked *x)
{
	return fail(MILL_ECORRUPT, "%s: a list is longer than the store says",
		    x->st->file[x->pages->data].name);
}

static void copy_weight(const struct ranked *x, u64 to, const u8 *from, u64 at)
{
	if (x->wsize)
		memcpy(x->sorted_weight + to * x->wsize, from + at * x->wsize, x->wsize);
}

static void merge(struct ranked *x, const vid *list, const u8 *weight, u64 middle, u64 n)
{
	for (u64 a = 0, b = middle, k = 0; k < n; k++) {
		u64 from = b == n || (a < middle && list[a] <= list[b]) ? a++ : b++;

		x->sorted[k] = list[from];
		copy_weight(x, k, weight, from);
	}
}

static mill_err sort(struct ranked *x, const vid *list, const u8 *weight, u64 n)
{
	unsigned bits = 64u - (unsigned)__builtin_clzll(x->st->vertices | 1);

	if (!x->key) {
		TRY(memory_new(&x->key, x->budget, x->max_degree, sizeof(u64), "the longest list"));
		TRY(memory_new(&x->place, x->budget, x->max_degree, sizeof(u64),
			       "the longest list"));
	}
	for (u64 i = 0; i < n; i++) {
		x->key[i] = list[i];
		x->place[i] = i;
	}
	TRY(sort_u64(NULL, x->budget, x->key, x->place, n, bits));
	for (u64 i = 0; i < n; i++) {
		x->sorted[i] = (vid)x->key[i];
		copy_weight(x, i, weight, x->place[i]);
	}
	return MILL_OK;
}

static u64 run_end(const vid *list, u64 at, u64 n)
{
	for (at++; at < n && list[at - 1] <= list[at]; at++)
		;
	return min_u64(at, n);
}

/* Sorts the list of rank `next` if needed and gives it to the caller. n <= max_degree. */
static mill_err give(struct ranked *x, const vid *list, const u8 *weight, u64 n)
{
	struct ranked_list out = { .rank = x->next++, .degree = n };
	u64 middle = run_end(list, 0, n);

	if (middle == n) {
		out.neighbour = list;
		out.weight = x->wsize ? weight : NULL;
		return x->take(x->arg, &out);
	}
	if (run_end(list, middle, n) == n)
		merge(x, list, weight, middle, n);
	else
		TRY(sort(x, list, weight, n));
	out.neighbour = x->sorted;
	out.weight = x->sorted_weight;
	return x->take(x->arg, &out);
}

static mill_err give_empty(struct ranked *x, u64 end)
{
	while (x->next < end)
		TRY(x->take(x->arg, &(struct ranked_list){ .rank = x->next++ }));
	return MILL_OK;
}

/* Reads all pages and calls `take` for each row. */
static mill_err each_piece(struct ranked *x, piece_fn *take)
{
	const struct pages *pages = x->pages;
	struct segment seg;

	for (u32 i = 0; i < pages->n_pages; i++) {
		TRY(page_read(pages, i, x->frame));
		TRY(page_decode(pages, i, x->frame, &seg));
		for (u64 r = 0; r < seg.n_rows; r++) {
			u64 begin = seg.row[r];
			const u8 *weight = seg.weight;

			TRY(take(x, (vid)(seg.first + r), seg.neighbour + begin,
				 x->wsize ? weight + begin * x->wsize : NULL,
				 seg.row[r + 1] - begin, r + 1 < seg.n_rows || !seg.continues));
		}
		TRY(ticker_tick(x->ticker, ++x->done));
	}
	return MILL_OK;
}

static void put(struct ranked *x, u64 at, const vid *neighbour, const u8 *weight, u64 n)
{
	for (u64 k = 0; k < n; k++)
		x->list[at + k] = x->rank[neighbour[k]];
	if (x->wsize && n)
		memcpy(x->weight + at * x->wsize, weight, n * x->wsize);
}

/*
 * For sources in order: gives out a list as soon as it is complete. fill[0]: edges of the list so
 * far.
 */
static mill_err take_in_order(struct ranked *x, vid v, const vid *neighbour, const u8 *weight,
			      u64 n, bool last)
{
	u64 had = x->fill[0];

	if (n > x->room - had)
		return longer(x);
	put(x, had, neighbour, weight, n);
	x->fill[0] += n;
	if (!last)
		return MILL_OK;
	TRY(give_empty(x, x->rank[v]));
	n = x->fill[0];
	x->fill[0] = 0;
	return give(x, x->list, x->weight, n);
}

/* Copies the row if its list belongs to the window. */
static mill_err take_in_window(struct ranked *x, vid v, const vid *neighbour, const u8 *weight,
			       u64 n, bool last)
{
	u64 i = x->rank[v] - x->next;

	(void)last;
	if (x->rank[v] < x->next || i >= x->n_window)
		return MILL_OK;
	if (n > x->at[i + 1] - x->fill[i])
		return longer(x);
	put(x, x->fill[i], neighbour, weight, n);
	x->fill[i] += n;
	return MILL_OK;
}

static mill_err give_window(struct ranked *x)
{
	for (u64 i = 0; i < x->n_window; i++) {
		u64 at = x->at[i], n = x->fill[i] - at;

		if (x->fill[i] != x->at[i + 1])
			return fail(MILL_ECORRUPT, "%s: a list is shorter than the store says",
				    x->st->file[x->pages->data].name);
		TRY(give(x, x->list + at, x->wsize ? x->weight + at * x->wsize : NULL, n));
	}
	return MILL_OK;
}

/* Returns the degree of v; vertices without a row have degree 0. */
static u64 degree_of(const struct ranked *x, const u32 *degree, vid v)
{
	return v < x->pages->n_rows ? degree[v] : 0;
}

/* Makes the next window: as many ranks from `next` on as have room. */
static mill_err cut_window(struct ranked *x, const vid *order, const u32 *degree)
{
	u64 end = x->next, edges = 0;

	for (x->n_window = 0; end < x->st->vertices; end++) {
		u64 n = degree_of(x, degree, order[end]);

		if (n > x->max_degree)
			return longer(x);
		if (n > x->room - edges)
			break;
		x->at[x->n_window] = x->fill[x->n_window] = edges;
		edges += n;
		x->at[++x->n_window] = edges;
	}
	return MILL_OK;
}

static mill_err give_windows(struct ranked *x, const vid *order, const u32 *degree)
{
	while (x->next < x->st->vertices) {
		TRY(cut_window(x, order, degree));
		TRY(each_piece(x, take_in_window));
		TRY(give_window(x));
	}
	return MILL_OK;
}

/* Reads all entries of `order` or `rank`, and checks that each is less than `vertices`. */
static mill_err read_places(const struct ranked *x, enum store_file f, vid *to)
{
	const struct store *st = x->st;

	TRY(store_read(st, f, to, st->size[f], 0));
	for (u64 i = 0; i < st->vertices; i++)
		if (to[i] >= st->vertices)
			return fail(MILL_ECORRUPT, "%s: entry %llu is not a vertex",
				    st->file[f].name, (unsigned long long)i);
	return MILL_OK;
}

static mill_err lists_room(struct ranked *x, u64 edges)
{
	x->room = edges;
	TRY(memory_new(&x->list, x->budget, edges, sizeof(vid), "neighbour lists"));
	if (x->wsize)
		TRY(memory_new(&x->weight, x->budget, edges, x->wsize, "the weights of lists"));
	return MILL_OK;
}

static mill_err in_windows(struct ranked *x)
{
	const struct store *st = x->st;
	u64 left = x->budget && x->budget->limit ? budget_left(x->budget) : memory_available();
	u64 size = sizeof(vid) + x->wsize;
	vid *order = NULL;
	u32 *degree = NULL;
	mill_err err;

	/* Half of the memory, minus 24 bytes a vertex for the other arrays. */
	left = left / 2 > st->vertices * 24 ? left / 2 - st->vertices * 24 : 0;
	TRY(lists_room(x, min_u64(st->stored_edges, max_u64(x->max_degree, left / size))));
	TRY(memory_new(&x->at, x->budget, st->vertices + 1, sizeof(u64), "a window of lists"));
	TRY(memory_new(&x->fill, x->budget, st->vertices, sizeof(u64), "a window of lists"));
	err = memory_new(&order, x->budget, st->vertices, sizeof(vid), "the order of the vertices");
	if (!err)
		err = read_places(x, STORE_ORDER, order);
	if (!err)
		err = memory_new(&degree, x->budget, x->pages->n_rows, sizeof(u32), "degrees");
	if (!err)
		err = store_read(st, x->pages->degrees, degree, x->pages->n_rows * sizeof(u32), 0);
	if (!err)
		err = give_windows(x, order, degree);
	memory_free(degree);
	memory_free(order);
	return err;
}

static mill_err in_order(struct ranked *x)
{
	TRY(lists_room(x, x->max_degree));
	TRY(memory_new(&x->fill, x->budget, 1, sizeof(u64), "a list"));
	TRY(each_piece(x, take_in_order));
	return give_empty(x, x->st->vertices);
}

/* Finds the longest in-list: the manifest has only the longest out-list. */
static mill_err longest_in_list(struct ranked *x)
{
	u64 n = x->pages->n_rows;
	u32 *degree;
	mill_err err;

	TRY(memory_new(&degree, x->budget, n, sizeof(*degree), "degrees"));
	err = store_read(x->st, x->pages->degrees, degree, n * sizeof(*degree), 0);
	x->max_degree = 0;
	for (u64 v = 0; !err && v < n; v++)
		x->max_degree = max_u64(x->max_degree, degree[v]);
	memory_free(degree);
	return err;
}

static mill_err run(struct ranked *x)
{
	const struct store *st = x->st;
	bool ordered = true;

	TRY(memory_new(&x->rank, x->budget, st->vertices, sizeof(vid),
		       "the ranks of the vertices"));
	TRY(read_places(x, STORE_RANK, x->rank));
	for (u64 v = 1; v < x->pages->n_rows; v++)
		ordered &= x->rank[v - 1] < x->rank[v];
	TRY(page_frame_new(&x->frame, st, x->budget));
	TRY(memory_new(&x->sorted, x->budget, x->max_degree, sizeof(vid), "the longest list"));
	if (x->wsize)
		TRY(memory_new(&x->sorted_weight, x->budget, x->max_degree, x->wsize,
			       "the longest list"));
	return ordered ? in_order(x) : in_windows(x);
}

mill_err ranked_lists(const struct store *st, bool in, struct budget *budget, struct ticker *ticker,
		      mill_err (*take)(void *arg, const struct ranked_list *list), void *arg)
{
	struct ranked x = {
		.st = st,
		.pages = in ? &st->in : &st->out,
		.max_degree = st->max_degree,
		.budget = budget,
		.ticker = ticker,
		.take = take,
		.arg = arg,
		.wsize = weight_size(st->weight),
	};
	mill_err err = in ? longest_in_list(&x) : MILL_OK;

	if (!err)
		err = run(&x);

	memory_free(x.fill);
	memory_free(x.at);
	memory_free(x.place);
	memory_free(x.key);
	memory_free(x.sorted_weight);
	memory_free(x.sorted);
	memory_free(x.weight);
	memory_free(x.list);
	memory_free(x.rank);
	memory_free(x.frame);
	return err;
}

mill_err ranked_ids(const struct store *st, struct budget *budget, u64 **out)
{
	u64 *ids;
	mill_err err;

	*out = NULL;
	if (store_ids_dense(st) || !st->vertices)
		return MILL_OK;
	TRY(memory_new(&ids, budget, st->vertices, sizeof(u64), "the original ids"));
	err = store_read(st, STORE_IDS, ids, st->size[STORE_IDS], 0);
	for (u64 i = 1; !err && i < st->vertices; i++)
		if (ids[i] <= ids[i - 1])
			err = fail(MILL_ECORRUPT, "%s: the ids are not in order",
				   st->file[STORE_IDS].name);
	if (err)
		memory_free(ids);
	else
		*out = ids;
	return err;
}
