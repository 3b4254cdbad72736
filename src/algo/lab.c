/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lab: runs that differ in one thing each, side by side. It only calls what programs can call; a policy more to compare is
 * a row more in its table.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static const struct mill_variant policies[] = {
	{ "all", .no_skip = true, .no_reuse = true },	/* what a system without any of it moves */
	{ "active", .no_reuse = true },			/* Graphie's OPT1 */
	{ .name = "reuse" },				/* OPT1 and OPT2 */
	{ "fifo", .policy = "fifo" },
	{ "lru", .policy = "lru" },
	{ "frequency", .policy = "frequency" },
	{ "pinned", .policy = "pinned" },
	/* OPT1 is active partitions and staging, OPT2 reuse. */
	{ "graphie-naive", .policy = "graphie", .no_skip = true, .no_reuse = true, .no_staging = true },
	{ "graphie-opt1", .policy = "graphie", .no_reuse = true },
	{ "graphie-opt2", .policy = "graphie", .no_skip = true, .no_staging = true },
	{ "graphie", .policy = "graphie" },
	{ 0 },
};

static const struct mill_variant mappings[] = {
	{ "thread", .mapping = MILL_MAPPING_THREAD, .count_lanes = true },
	{ "group", .mapping = MILL_MAPPING_GROUP, .count_lanes = true },
	{ "input", .mapping = MILL_MAPPING_INPUT, .count_lanes = true },
	{ "output", .mapping = MILL_MAPPING_OUTPUT, .count_lanes = true },
	{ "auto", .count_lanes = true },
	{ 0 },
};

MILL_API const struct mill_variant *mill_lab_policies(void) { return policies; }

MILL_API const struct mill_variant *mill_lab_mappings(void) { return mappings; }

/* A watcher that says also which row it is. */
struct relay {
	const struct mill_watcher *to;
	const char *name;
};

static int relay_watch(void *arg, const struct mill_progress *progress)
{
	const struct relay *r = arg;
	struct mill_progress named = *progress;
	char what[96];

	if (progress->what) {
		snprintf(what, sizeof(what), "%s: %s", r->name, progress->what);
		named.what = what;
	}
	return r->to->watch(r->to->arg, &named);
}

static struct mill_options vary(const struct mill_options *options, const struct mill_variant *v, struct relay *relay)
{
	struct mill_options o = *options;

	if (v->policy)
		o.policy = v->policy;
	if (v->mapping)
		o.mapping = v->mapping;
	if (v->wire)
		o.wire = v->wire;
	if (v->queues)
		o.queues = v->queues;
	o.no_staging |= v->no_staging;
	if (!o.policy || strcmp(o.policy, "graphie")) {
		o.wire = MILL_WIRE_AUTO;
		o.partition_size = 0;
		o.no_staging = false;
	}
	o.no_skip |= v->no_skip;
	o.no_reuse |= v->no_reuse;
	o.count_lanes |= v->count_lanes;
	if (o.watcher.watch)
		o.watcher = (struct mill_watcher){ relay_watch, relay };
	return o;
}

/*
 * What shall outlive the run: the result is the run's, and so is what a report points to. Of the first call, since the next ones
 * find pages on the device.
 */
static mill_err keep(struct mill_lab_row *row, const mill_run *run)
{
	struct mill_report *r = &row->report;

	mill_run_report(run, r);
	r->algorithm = r->device = r->io = NULL;
	r->run_seconds = NULL;
	r->fact = NULL;
	r->top = NULL;
	r->distribution = NULL;
	r->n_runs = r->n_facts = r->n_top = r->n_distribution = 0;
	TRY(memory_new(&row->step, NULL, max_u64(r->n_steps, 1), sizeof(*row->step), "the supersteps of the lab"));
	for (u64 i = 0; i < r->n_steps; i++) {
		mill_run_step(run, i, &row->step[i]);
		row->edges += row->step[i].edges;
	}
	return MILL_OK;
}

static mill_err keep_times(struct mill_lab_row *row, const mill_run *run)
{
	struct mill_report r;
	double *seconds;

	mill_run_report(run, &r);
	TRY(memory_new(&seconds, NULL, max_u64(r.n_runs, 1), sizeof(*seconds), "the times of the lab"));
	memcpy(seconds, r.run_seconds, r.n_runs * sizeof(*seconds));
	row->report.run_seconds = seconds;
	row->report.n_runs = r.n_runs;
	return MILL_OK;
}

static uint64_t smallest_budget(mill_run *run, const struct mill_lab *lab)
{
	struct mill_report r;
	struct mill_plan plan;

	mill_run_report(run, &r);
	if (mill_run_plan(run, lab->algorithm, lab->how, &plan))
		return 0;
	if (r.memory_budget < plan.needed)
		return plan.needed;
	return r.device_budget < plan.device_needed ? plan.device_needed : 0;
}

/* Sums of floats come in another order on devices. */
static bool promises_bits(const struct mill_lab *lab)
{
	const struct mill_pagerank *how = lab->how;

	if (!strcmp(lab->algorithm, "pagerank"))
		return how && how->precision == MILL_EXACT;
	return strcmp(lab->algorithm, "bc");
}

/* Once cold, then as often as it is to be timed. */
static mill_err run_calls(struct mill_lab_row *row, mill_run *run, const struct mill_lab *lab)
{
	struct mill_report r;

	TRY(mill_run_algorithm(run, lab->algorithm, lab->how));
	TRY(keep(row, run));
	for (u32 i = 1; i < lab->repeat; i++) {
		TRY(mill_run_algorithm(run, lab->algorithm, lab->how));
		mill_run_report(run, &r);
		if (r.hash != row->report.hash && promises_bits(lab))
			return fail(MILL_ECHECK, "run %u has the hash %016llx, the first %016llx", i + 1,
				    (unsigned long long)r.hash, (unsigned long long)row->report.hash);
	}
	TRY(keep_times(row, run));
	return lab->options.check ? mill_run_check(run) : MILL_OK;
}

/* A budget that is too small and a wrong result are the row's alone. */
static mill_err run_row(struct mill_lab_row *row, mill_store *store, const struct mill_lab *lab,
			const struct mill_variant *v, uint64_t budget)
{
	struct relay relay = { &lab->options.watcher, v->name };
	struct mill_options o = vary(&lab->options, v, &relay);
	mill_run *run = NULL;
	mill_err err;

	row->name = v->name;
	row->budget = o.device_memory = budget;
	err = mill_run_new(&run, store, &o);
	if (!err)
		err = run_calls(row, run, lab);
	row->error = err;
	if (err)
		snprintf(row->message, sizeof(row->message), "%s", mill_error());
	if (run && err == MILL_ENOMEM)
		row->needed = smallest_budget(run, lab);
	mill_run_free(run);
	return err == MILL_ENOMEM || err == MILL_ECHECK ? MILL_OK : err;
}

static mill_err judge(const struct mill_lab_row *row, size_t n, const struct mill_lab *lab)
{
	const struct mill_lab_row *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (row[i].error == MILL_ECHECK)
			return fail(MILL_ECHECK, "the result of '%s' is wrong: %s", row[i].name, row[i].message);
		if (row[i].error)
			continue;
		first = first ? first : &row[i];
		if (row[i].report.hash != first->report.hash && promises_bits(lab))
			return fail(MILL_ECHECK, "the results differ: that of '%s' has the hash %016llx, that of '%s' %016llx",
				    first->name, (unsigned long long)first->report.hash, row[i].name,
				    (unsigned long long)row[i].report.hash);
	}
	return first || !n ? MILL_OK : fail(MILL_ENOMEM, "%s", row[0].message);
}

MILL_API mill_err mill_lab(struct mill_lab_row *row, mill_store *store, const struct mill_lab *lab)
{
	const uint64_t *budget = lab->budget ? lab->budget : &lab->options.device_memory;
	size_t n = (lab->budget ? lab->n_budgets : 1) * lab->n_variants;

	memset(row, 0, n * sizeof(*row));
	for (size_t i = 0; i < n; i++)
		TRY(run_row(&row[i], store, lab, &lab->variant[i % lab->n_variants], budget[i / lab->n_variants]));
	return judge(row, n, lab);
}

MILL_API void mill_lab_release(struct mill_lab_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		memory_free(row[i].step);
		memory_free((void *)(uintptr_t)row[i].report.run_seconds);
		row[i].step = NULL;
		row[i].report.run_seconds = NULL;
	}
}
