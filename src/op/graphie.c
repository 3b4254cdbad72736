/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphie's runtime: supersteps over partitions. The device keeps the state and one flag a partition; the flags, with the counters,
 * are all that comes back in a superstep.
 */
#include "engine/cache.h"
#include "op/op.h"

struct traversing {
	struct mill_run *run;
	const struct advance_program *program;
	const void *args;
	const struct partitions *table;
	u32 *active;		/* a flag for each partition */
	u32 *flag;		/* what comes back: for each range of ids, which are partitions, or pages */
	u32 n_words;		/* of flags in local memory; 0: they do not fit */
	u32 staging;
};

static u32 tile_edges(const struct device *d) { return d->group * (d->chunked ? TILE_EDGES : 1); }

/* Beside the tile's values, of at most 8 bytes, and what is small. */
static u32 flag_words(const struct device *d, const struct partitions *t)
{
	u64 words = div_up(t->n_ranges, 32);

	return 4 * words + 8ull * tile_edges(d) + 64 <= d->local ? (u32)words : 0;
}

static mill_err launch(void *arg, const struct device_partition *part)
{
	struct traversing *t = arg;
	bool rows = part->wire != MILL_WIRE_EDGES;
	u64 groups = div_up(part->n_edges, tile_edges(t->run->device));
	struct launching l;

	launch_begin(&l, t->program->partition, rows ? "partition_rows" : "partition_edges", t->args);
	launch_buffer(&l, part->lists);
	launch_buffer(&l, part->weights);
	launch_u32(&l, &part->source_at);
	launch_u32(&l, &part->neighbour_at);
	launch_u32(&l, &part->weight_at);
	launch_u32(&l, &part->n_edges);
	launch_buffer(&l, cache_pre_sum(t->run));
	launch_u32(&l, &t->table->n_ranges);
	launch_u32(&l, &t->table->range);
	launch_u32(&l, &t->staging);
	launch_buffer(&l, cache_counts(t->run));
	launch_local(&l, t->n_words ? 4ull * t->n_words : 4);
	launch_u32(&l, &t->n_words);
	if (rows) {
		launch_u32(&l, &part->first);
		launch_u32(&l, &part->n_rows);
		launch_u32(&l, &part->base);
		launch_buffer(&l, part->wire == MILL_WIRE_PACKED ? cache_first(t->run) : NULL);
	}
	l.launch.queue = part->queue;
	/* Work-groups go on until no tile is left, so that their flags are worth their while. */
	return launch_groups(t->run, &l, min_u64(groups, t->run->device->chunked ? 64 : 1024));
}

/* Who begins with the end of a list whose source is another's becomes active with that one. Says how many are. */
static u64 spread_flags(struct traversing *t)
{
	u64 n = 0;

	/* From the last on: owners come before, and what they have by themselves is all that counts. */
	for (u32 i = t->table->n; i-- > 0;)
		if (t->active[t->table->owner[i]])
			t->active[i] = 1;
	for (u32 i = 0; i < t->table->n; i++)
		n += t->active[i] != 0;
	return n;
}

/* A partition is active if one of its pages is; of a page that is cut all parts are. */
static void take_flags(struct traversing *t)
{
	for (u32 i = 0; t->table->stored && i < t->table->n; i++) {
		t->active[i] = 0;
		for (u32 page = t->table->page[i]; page < t->table->page_end[i]; page++)
			t->active[i] |= t->flag[page];
	}
}

static u64 activate_first(struct traversing *t, const vid *first)
{
	bool has_edges = !first || *first < t->table->unit.n_rows;

	for (u32 i = 0; i < t->table->n; i++)
		t->active[i] = !first || (has_edges && i == partitions_find(t->table, *first));
	return spread_flags(t);
}

static mill_err superstep(struct traversing *t, struct mill_step *step, u64 *n_active)
{
	struct partition_pass pass = { .active = t->active, .launch = launch, .arg = t };
	u64 counts[COUNTS_N];

	if (t->run->see_step)
		t->run->see_step(t->run, t->active, t->table->n);
	TRY(cache_count_begin(t->run));
	TRY(cache_run_partitions(t->run, &pass, step));
	TRY(cache_count_end(t->run, counts, t->flag));
	take_flags(t);
	step->updates = counts[COUNT_UPDATES];
	step->atomics = counts[COUNT_ATOMICS];
	if (t->run->options.count_lanes)
		step->lanes = div_up(step->edges, t->run->device->group) * t->run->device->group;
	*n_active = spread_flags(t);
	return MILL_OK;
}

mill_err op_partitions(struct mill_run *r, const struct advance_program *p, const void *args, const vid *first)
{
	struct traversing t = { .run = r, .program = p, .args = args, .staging = !r->options.no_staging };
	u64 n_active, frontier;
	struct vec *flags, *active = NULL;

	TRY(cache_turn(r, true));
	t.table = cache_partitions(r);
	t.n_words = flag_words(r->device, t.table);
	r->parted.local_flags = t.n_words || !t.table->n;
	TRY(run_vec_host(r, &flags, "flags", t.table->n_ranges + 2u, sizeof(u32)));
	if (t.table->stored)
		TRY(run_vec_host(r, &active, "active partitions", t.table->n + 2u, sizeof(u32)));
	t.flag = flags->buffer.host;
	t.active = active ? active->buffer.host : t.flag;
	frontier = first ? 1 : t.table->unit.n_rows;
	for (n_active = activate_first(&t, first); n_active;) {
		struct mill_step step = { .frontier = frontier, .direction = "push" };
		f64 began = clock_now();

		run_tell(r, "step %llu", r->ledger.total.step + 1);
		TRY(superstep(&t, &step, &n_active));
		ledger_add(&r->ledger, &step, began);
		frontier = step.updates;
	}
	if (active)
		run_vec_free(r, active);
	run_vec_free(r, flags);
	return MILL_OK;
}
