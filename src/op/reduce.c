/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbourhood reduction: who drives the templates of reduce.inc and the kernels of reduce.cl. */
#include "engine/cache.h"
#include "op/op.h"

/* A list that spans segments: its block sums go to slots, which `finish` combines in order. */
struct reducer {
	const struct reduce_program *program;
	bool in;
	struct vec *partial;
	struct vec *split;		/* struct split_list, by vertex; on the host */
	struct vec *split_device;	/* its copy for kernels */
	u64 n_splits;
};

_Static_assert(sizeof(struct split_list) == 24, "kernels see three u64");

struct reducing {
	struct mill_run *run;
	struct reducer *reducer;
	const void *args;
	u64 edges;	/* atomic */
};

/* Pages or the parts of resident lists, alike. */
struct part {
	u64 first, n_rows, n_edges, skip;
	bool continues;
};

static u32 n_parts(const struct topology *t) { return t->resident ? t->n_parts : t->pages->n_pages; }

static struct part part_of(const struct topology *t, u32 i)
{
	const struct page_entry *e = &t->pages->entry[i];

	if (t->resident) {
		const struct segment *s = &t->part[i];

		return (struct part){ s->first, s->n_rows, s->n_edges, s->skip, s->continues };
	}
	return (struct part){ e->first_vertex, e->n_rows, e->n_edges, e->skip,
			      i + 1 < t->pages->n_pages && e[1].skip };
}

/*
 * Finds the lists that are cut. The length of such a list is known when its last part is read; until then
 * all edges of that part count, so there are at least as many slots as needed.
 */
static void find_splits(const struct topology *t, struct split_list *out, u64 *n_splits, u64 *n_slots)
{
	*n_splits = *n_slots = 0;
	for (u32 i = 0; i < n_parts(t); i++) {
		struct part p = part_of(t, i);
		u64 slots;

		if (!p.skip || (p.n_rows == 1 && p.continues))
			continue;
		slots = div_up(p.skip + p.n_edges, LIST_BLOCK);
		if (out)
			out[*n_splits] = (struct split_list){ (vid)p.first, *n_slots, slots };
		*n_slots += slots;
		++*n_splits;
	}
}

u64 reducer_bytes(const struct store *st, bool in, u32 sum_size)
{
	struct topology streamed = { .pages = in ? &st->in : &st->out };
	u64 splits, slots;

	find_splits(&streamed, NULL, &splits, &slots);
	/* Resident, the long lists are cut. */
	splits = max_u64(splits, st->stored_edges / HUB_EDGES + 1);
	slots = max_u64(slots, st->stored_edges / LIST_BLOCK + splits);
	return slots * sum_size + 2 * (splits + 1) * sizeof(struct split_list) + 1024;
}

mill_err op_reducer(struct mill_run *r, struct reducer **out, const struct reduce_program *p, bool in)
{
	struct topology *t = run_direction(r, in);
	struct reducer *red;
	struct vec *self;
	u64 n_slots;

	TRY(run_vec_host(r, &self, "reducer", 1, sizeof(*red)));
	red = self->buffer.host;
	red->program = p;
	red->in = in;
	find_splits(t, NULL, &red->n_splits, &n_slots);
	TRY(run_vec_host(r, &red->split, "split lists", red->n_splits, sizeof(struct split_list)));
	TRY(run_vec(r, &red->partial, "partial sums", n_slots, p->sum_size, NULL));
	find_splits(t, red->split->buffer.host, &red->n_splits, &n_slots);
	if (!r->device->native)
		TRY(run_vec(r, &red->split_device, "split lists", red->n_splits, sizeof(struct split_list),
			    NULL));
	*out = red;
	return MILL_OK;
}

static struct split_list *find_split(const struct reducer *red, vid v)
{
	struct split_list *list = red->split->buffer.host;
	u64 low = 0, high = red->n_splits;

	while (high - low > 1) {
		u64 middle = (low + high) / 2;

		if (list[middle].vertex <= v)
			low = middle;
		else
			high = middle;
	}
	return &list[low];
}

/* Where the blocks of the first and the last row go; head_edges: the first row's. */
static void find_slots(const struct reducer *red, const struct part *p, u64 head_edges, u64 *head, u64 *tail)
{
	bool through = p->n_rows == 1 && p->continues;

	*head = *tail = NO_SLOT;
	if (p->skip) {
		struct split_list *s = find_split(red, (vid)p->first);

		*head = s->first_slot + p->skip / LIST_BLOCK;
		if (!through)	/* this is the list's last part: now its length is known */
			s->n_slots = div_up(p->skip + head_edges, LIST_BLOCK);
	}
	if (p->continues && !(through && p->skip))
		*tail = find_split(red, (vid)(p->first + p->n_rows - 1))->first_slot;
}

static mill_err reduce_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			    unsigned worker)
{
	struct reducing *a = arg;
	const struct reducer *red = a->reducer;
	struct part p = { seg->first, seg->n_rows, seg->n_edges, seg->skip, seg->continues };
	u64 head, tail, edges;

	(void)page;
	(void)worker;
	/* Only the worker of the row itself may write down its list's length. */
	if (begin)
		p.skip = 0;
	find_slots(red, &p, seg->row[1], &head, &tail);
	edges = red->program->rows(a->args, seg, begin, end, red->partial->buffer.host, head, tail);
	__atomic_fetch_add(&a->edges, edges, __ATOMIC_RELAXED);
	return MILL_OK;
}

static mill_err reduce_page(void *arg, u32 page, const struct page_args *pa)
{
	struct reducing *a = arg;
	const struct reducer *red = a->reducer;
	struct part p = part_of(run_direction(a->run, red->in), page);
	struct launching l;
	u64 head, tail;

	find_slots(red, &p, pa->head_edges, &head, &tail);
	a->edges += p.n_edges;
	launch_begin(&l, &red->program->program, "rows", a->args);
	launch_page(&l, pa);
	launch_vec(&l, red->partial);
	launch_u64(&l, &head);
	launch_u64(&l, &tail);
	return launch_go(a->run, &l, pa->n_rows);
}

static mill_err finish_device(struct reducing *a)
{
	struct reducer *red = a->reducer;
	u32 n = (u32)red->n_splits;
	struct launching l;

	TRY(device_write(&red->split_device->buffer, 0, red->split->buffer.host, n * sizeof(struct split_list)));
	launch_begin(&l, &red->program->program, "finish", a->args);
	launch_vec(&l, red->partial);
	launch_vec(&l, red->split_device);
	launch_u32(&l, &n);
	return launch_go(a->run, &l, n);
}

mill_err op_reduce(struct mill_run *r, struct reducer *red, const void *args)
{
	struct reducing a = { .run = r, .reducer = red, .args = args };
	struct pass pass = { .in = red->in, .work = reduce_rows, .arg = &a };
	struct device_pass device_pass = { .in = red->in, .launch = reduce_page, .arg = &a };
	struct mill_step step = { .frontier = r->store->vertices, .direction = "scan" };
	f64 began = clock_now();

	run_tell(r, "pass %llu", r->ledger.total.step + 1);
	if (r->device->native) {
		TRY(run_pass(r, &pass, &step));
		red->program->finish(args, red->partial->buffer.host, red->split->buffer.host, red->n_splits);
	} else {
		TRY(cache_run(r, &device_pass, &step));
		TRY(finish_device(&a));
	}
	step.edges = a.edges;
	step.updates = run_direction(r, red->in)->pages->n_rows;
	step.seconds = clock_now() - began;
	ledger_add(&r->ledger, &step);
	return MILL_OK;
}
