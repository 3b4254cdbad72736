/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communities by label propagation as LDBC Graphalytics defines it: every vertex begins with its own id and takes in each
 * iteration the label that most of its neighbours had before, of several the smallest. A directed edge makes each end a
 * neighbour of the other, so an edge in both directions counts twice, and so do parallel ones. Labels are ranks of
 * ids, which have the same order.
 *
 * Most lists are counted in a small table of the worker's own. Long ones, and those of which a page or a worker has only a
 * part, are left for the end of the iteration and counted one after the other in an array of all labels.
 */
#include "algo/cdlp.h"

#include <string.h>

#include "algo/algo.h"
#include "base/bitmap.h"
#include "engine/cursor.h"
#include "engine/result.h"

#define LONG 16384u		/* neighbours */
#define TABLE (2 * LONG)	/* a power of two */
#define NO_LABEL UINT32_MAX

/* Per worker. */
struct table {
	u32 label[TABLE];
	u32 count[TABLE];
};

/* A label counted in one list: those of other lists are as if they were 0. */
struct tally_of_list {
	u32 list, count;
};

struct spreading {
	struct mill_run *run;
	const u32 *label;
	u32 *next;
	struct table *table;
	struct tally_of_list *all;
	u32 list;		/* its present number */
	u64 *late;		/* vertices whose lists come last */
	u64 n_late, changed;	/* atomic */
	void *frame;		/* a page for them */
	u32 held;		/* which it holds, + 1 */
	struct segment page;
};

struct best {
	u32 label, count;
};

/* What was counted `count` times now may be what is there most often. */
static inline void improve(struct best *b, u32 label, u32 count)
{
	if (count > b->count || (count == b->count && label < b->label))
		*b = (struct best){ label, count };
}

static u32 most_frequent(const struct spreading *s, struct table *t, const vid *neighbour, u32 n)
{
	struct best best = { NO_LABEL, 0 };
	u32 size = 16, mask;

	while (size < 2 * n)
		size *= 2;
	mask = size - 1;
	memset(t->label, 0xff, size * sizeof(u32));
	for (u32 i = 0; i < n; i++) {
		u32 label = s->label[neighbour[i]], at = label * 2654435769u & mask;

		while (t->label[at] != label && t->label[at] != NO_LABEL)
			at = (at + 1) & mask;
		if (t->label[at] == NO_LABEL) {
			t->label[at] = label;
			t->count[at] = 0;
		}
		improve(&best, label, ++t->count[at]);
	}
	return best.label;
}

static mill_err spread_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page, unsigned worker)
{
	struct spreading *s = arg;
	u64 changed = 0, late = 0;

	(void)page;
	for (vid row = begin; row < end; row++) {
		u64 v = (u64)seg->first + row;
		u32 n = seg->row[row + 1] - seg->row[row];

		if (row + 1 < end)
			__builtin_prefetch(&seg->neighbour[seg->row[row + 1]]);
		if (segment_row_is_partial(seg, row) || n > LONG) {
			late += bitmap_claim(s->late, v);
			continue;
		}
		s->next[v] = n ? most_frequent(s, &s->table[worker], seg->neighbour + seg->row[row], n) : s->label[v];
		changed += s->next[v] != s->label[v];
	}
	__atomic_fetch_add(&s->changed, changed, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->n_late, late, __ATOMIC_RELAXED);
	return MILL_OK;
}

/* ---- Long lists ---- */

static void count_part(struct spreading *s, struct best *best, const struct segment *seg, vid row)
{
	for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
		u32 label = s->label[seg->neighbour[i]];
		struct tally_of_list *t = &s->all[label];

		if (t->list != s->list)
			*t = (struct tally_of_list){ s->list, 0 };
		improve(best, label, ++t->count);
	}
}

/* Over resident segments. */
static void count_resident(struct spreading *s, struct best *best, vid v)
{
	const struct topology *t = run_direction(s->run, false);

	for (u32 i = topology_find(t, v); i < t->n_segments && t->segment[i].first <= v; i++)
		count_part(s, best, &t->segment[i], (vid)(v - t->segment[i].first));
}

/* Over pages, read by this thread alone. */
static mill_err count_pages(struct spreading *s, struct best *best, vid v, struct mill_step *step)
{
	const struct pages *p = run_direction(s->run, false)->pages;

	for (u32 i = pages_find(p, v); i < p->n_pages && p->entry[i].first_vertex <= v; i++) {
		if (s->held != i + 1) {
			s->held = 0;
			TRY(page_read(p, i, s->frame));
			TRY(page_decode(p, i, s->frame, &s->page));
			s->held = i + 1;
			step->pages_read++;
			step->disk_read += p->store->page_size;
		}
		count_part(s, best, &s->page, (vid)(v - s->page.first));
	}
	return MILL_OK;
}

static mill_err spread_late(struct spreading *s, struct mill_step *step)
{
	bool resident = run_direction(s->run, false)->resident;
	u64 words = bitmap_words(s->run->store->connected);

	s->held = 0;
	for (u64 w = 0; s->n_late && w < words; w++)
		for (u64 word = s->late[w]; word; word &= word - 1) {
			vid v = (vid)(w * 64 + (u64)__builtin_ctzll(word));
			struct best best = { NO_LABEL, 0 };

			s->list++;
			if (resident)
				count_resident(s, &best, v);
			else
				TRY(count_pages(s, &best, v, step));
			s->next[v] = best.count ? best.label : s->label[v];
			s->changed += s->next[v] != s->label[v];
			TRY(ticker_tick(&s->run->ticker, 0));
		}
	return MILL_OK;
}

/* ---- The whole ---- */

static u32 most_iterations(const struct mill_cdlp *how) { return how && how->iterations ? how->iterations : 10; }

mill_err cdlp_need(const struct mill_run *r, const struct mill_cdlp *how, struct need *out)
{
	u64 n = r->store->connected;

	*out = (struct need){
		.state = n * (2 * sizeof(u32) + sizeof(struct tally_of_list)) + (bitmap_words(n) + 1) * sizeof(u64) +
			 pool_size(r->pool) * sizeof(struct table),
		.host = result_ids_bytes(r->store) + result_ranks_bytes(r->store) + (r->options.check ? cdlp_check_bytes(r->store) : 0),
		.on_host = true,
		.rounds = most_iterations(how),
	};
	TRY(view_need(r->store, VIEW_BOTH, "cdlp", out));
	/* A page for long lists; a temporary store's may take more to decode. */
	out->host += (out->view ? r->store->page_size + view_scratch(r->store, 1) : cursor_bytes(r->store)) + 2 * MIB;
	return MILL_OK;
}

static mill_err iterate(struct spreading *s)
{
	struct mill_run *r = s->run;
	struct pass pass = { .work = spread_rows, .arg = s };
	struct mill_step step = { .frontier = r->store->vertices, .direction = "scan" };
	f64 began = clock_now();

	run_tell(r, "iteration %llu", r->ledger.total.step + 1);
	s->changed = 0;
	TRY(run_pass(r, &pass, &step));
	TRY(spread_late(s, &step));
	step.edges = run_direction(r, false)->n_edges;
	step.updates = s->changed;
	ledger_add(&r->ledger, &step, began);
	return MILL_OK;
}

static void tell(const struct spreading *s, const u32 *label, u64 n)
{
	u64 communities = 0;
	u32 largest = 0;

	memset(s->all, 0, n * sizeof(*s->all));
	for (u64 v = 0; v < n; v++) {
		u32 now = ++s->all[label[v]].count;

		communities += now == 1;
		largest = now > largest ? now : largest;
	}
	run_fact(s->run, "communities", communities + run_isolated(s->run));
	run_fact(s->run, "largest", largest ? largest : run_isolated(s->run) > 0);
}

static mill_err prepare(struct spreading *s, struct vec **label, struct vec **next)
{
	struct mill_run *r = s->run;
	u64 n = r->store->connected;
	struct vec *v;

	TRY(run_vec_host(r, label, "labels", n, sizeof(u32)));
	TRY(run_vec_host(r, next, "next labels", n, sizeof(u32)));
	TRY(run_vec_host(r, &v, "counts of labels", n, sizeof(struct tally_of_list)));
	s->all = v->buffer.host;
	TRY(run_vec_host(r, &v, "long lists", bitmap_words(n) + 1, sizeof(u64)));
	s->late = v->buffer.host;
	TRY(run_vec_host(r, &v, "the workers' labels", pool_size(r->pool), sizeof(struct table)));
	s->table = v->buffer.host;
	if (r->stream) {
		TRY(run_vec_host(r, &v, "a page", max_u64(r->graph->page_size + store_scratch(r->graph), 2 * MIB), 1));
		s->frame = v->buffer.host;
	}
	/* The labels are the ranks at first. */
	TRY(result_read_ranks(r, (*label)->buffer.host));
	memcpy((*next)->buffer.host, (*label)->buffer.host, n * sizeof(u32));
	return MILL_OK;
}

MILL_API mill_err mill_cdlp(mill_run *r, const struct mill_cdlp *how)
{
	u32 most = most_iterations(how);
	struct spreading s = { .run = r, .changed = 1 };
	struct vec *label, *next;
	struct need need;

	TRY(cdlp_need(r, how, &need));
	TRY(run_begin(r, "cdlp", &need));
	run_start(r);
	TRY(prepare(&s, &label, &next));
	for (u32 i = 0; i < most && s.changed; i++) {
		struct vec *swap = label;

		s.label = label->buffer.host;
		s.next = next->buffer.host;
		TRY(iterate(&s));
		label = next;
		next = swap;
	}
	run_column(r, "community", MILL_TYPE_ID, label, UINT64_MAX, OWN_RANK);
	TRY(run_end(r));
	r->ledger.edges_traversed = run_direction(r, false)->n_edges * r->ledger.total.step;
	tell(&s, label->buffer.host, r->store->connected);
	r->settings = next->buffer.host;
	r->check = cdlp_check;
	return MILL_OK;
}
