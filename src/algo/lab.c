/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lab: compares runs that differ in a few options. It is a loop over the public
 * interface; it calls devices_name only to divide a list of devices. A variant is a row of
 * a table with the options that differ. A variant with a strategy runs on all devices, the
 * others on the first one. Counts are those of the first of the repeated runs, which finds
 * no pages on the device: later runs would find the pages that the last run left there.
 */
#include <stdio.h>
#include <string.h>

#include "algo/algo.h"
#include "base/memory.h"
#include "engine/devices.h"

static const struct mill_variant policies[] = {
	{ "all", .no_skip = true, .no_reuse = true }, /* a system without skipping and reuse */
	{ "active", .no_reuse = true },		      /* Graphie's OPT1 */
	{ .name = "reuse" },			      /* OPT1 and OPT2 */
	{ "fifo", .policy = "fifo" },
	{ "lru", .policy = "lru" },
	{ "frequency", .policy = "frequency" },
	{ "pinned", .policy = "pinned" },
	/* OPT1 is active partitions and staging, OPT2 reuse. */
	{ "graphie-naive", .policy = "graphie", .no_skip = true, .no_reuse = true,
	  .graphie.no_staging = true },
	{ "graphie-opt1", .policy = "graphie", .no_reuse = true },
	{ "graphie-opt2", .policy = "graphie", .no_skip = true, .graphie.no_staging = true },
	{ "graphie", .policy = "graphie" },
	{ "gts", .policy = "gts" },
	{ "gts-p", .policy = "gts", .gts.strategy = MILL_STRATEGY_P },
	{ "gts-s", .policy = "gts", .gts.strategy = MILL_STRATEGY_S },
	{ "largegraph", .policy = "largegraph" },
	{ "largegraph-w", .policy = "largegraph", .largegraph.no_keep = true },
	{ "largegraph-cpu", .policy = "largegraph", .largegraph.only = MILL_ONLY_CPU },
	{ "largegraph-device", .policy = "largegraph", .largegraph.only = MILL_ONLY_DEVICE },
	/* Another system, run by largegraph for a comparison. */
	{ "subway", .policy = "largegraph", .largegraph.baseline = MILL_BASELINE_SUBWAY },
	{ "subway-async", .policy = "largegraph",
	  .largegraph.baseline = MILL_BASELINE_SUBWAY_ASYNC },
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

/* A watcher that adds the name of the row to each message. */
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

/* Returns the options of a variant. */
static struct mill_options vary(const struct mill_options *options, const struct mill_variant *v,
				struct relay *relay)
{
	struct mill_options o = *options;
	const struct policy *policy;

	if (v->policy)
		o.policy = v->policy;
	if (v->mapping)
		o.mapping = v->mapping;
	if (v->queues)
		o.queues = v->queues;
	policy_merge(&o, v);
	policy = policy_find(o.policy);
	if (policy)		/* NULL: mill_run_new fails with the reason */
		policy_leave_others(policy, &o);
	o.no_skip |= v->no_skip;
	o.no_reuse |= v->no_reuse;
	o.count_lanes |= v->count_lanes;
	if (o.watcher.watch)
		o.watcher = (struct mill_watcher){ relay_watch, relay };
	return o;
}

/*
 * Keeps the report and steps of the first call; later calls find pages on the device.
 * Pointers of the report are cleared: what they point to belongs to the run and is freed
 * with it.
 */
static mill_err keep(struct mill_lab_row *row, const mill_run *run)
{
	struct mill_report *r = &row->report;

	mill_run_report(run, r);
	r->algorithm = r->device = r->io = r->policy = r->device_failed = NULL;
	r->devices = NULL;
	r->run_seconds = NULL;
	r->fact = NULL;
	r->top = NULL;
	r->distribution = NULL;
	r->n_runs = r->n_facts = r->n_top = r->n_distribution = r->n_devices = 0;
	TRY(memory_new(&row->step, NULL, max_u64(r->n_steps, 1), sizeof(*row->step),
		       "the supersteps of the lab"));
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
	TRY(memory_new(&seconds, NULL, max_u64(r.n_runs, 1), sizeof(*seconds),
		       "the times of the lab"));
	memcpy(seconds, r.run_seconds, r.n_runs * sizeof(*seconds));
	row->report.run_seconds = seconds;
	row->report.n_runs = r.n_runs;
	return MILL_OK;
}

/* Returns the bytes of the budget that was too small: of host or device memory. */
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

/* Returns true if results must be bit-identical. */
static bool promises_bits(const struct mill_lab *lab)
{
	return !algorithm_rounds(lab->algorithm, lab->how);
}

/* Runs once with nothing on the device, then as often as asked for the times. */
static mill_err run_calls(struct mill_lab_row *row, mill_run *run, const struct mill_lab *lab)
{
	struct mill_report r;

	TRY(mill_run_algorithm(run, lab->algorithm, lab->how));
	TRY(keep(row, run));
	for (u32 i = 1; i < lab->repeat; i++) {
		TRY(mill_run_algorithm(run, lab->algorithm, lab->how));
		mill_run_report(run, &r);
		if (r.hash != row->report.hash && promises_bits(lab))
			return fail(MILL_ECHECK, "run %u has the hash %016llx, the first %016llx",
				    i + 1, (unsigned long long)r.hash,
				    (unsigned long long)row->report.hash);
	}
	TRY(keep_times(row, run));
	return lab->options.check ? mill_run_check(run) : MILL_OK;
}

/* Data that all rows share. */
struct bench {
	const struct mill_lab *lab;
	mill_store *store;
	struct device_names device;	/* the names of single devices */
};

/* Sets devices and budget. A row without a strategy for several devices gets the first one. */
static void set_devices(struct mill_options *o, const struct mill_variant *v, const struct bench *b,
			const uint64_t *budget)
{
	if (budget) {
		o->device_memory = *budget;
		o->device_memories = NULL;
		o->n_device_memories = 0;
	}
	if (v->gts.strategy || b->device.n < 2)
		return;
	o->device = b->device.name[0];
	o->n_device_memories = (u32)min_u64(o->n_device_memories, 1);
}

static u64 first_budget(const struct mill_options *o)
{
	return o->device_memories && o->n_device_memories ? o->device_memories[0]
							  : o->device_memory;
}

/*
 * Runs one row. A budget that is too small or a wrong result is kept in the row; other
 * errors end the lab.
 */
static mill_err run_row(struct mill_lab_row *row, const struct bench *b,
			const struct mill_variant *v, const uint64_t *budget)
{
	const struct mill_lab *lab = b->lab;
	struct relay relay = { &lab->options.watcher, v->name };
	struct mill_options o = vary(&lab->options, v, &relay);
	mill_run *run = NULL;
	mill_err err;

	set_devices(&o, v, b, budget);
	row->name = v->name;
	row->budget = first_budget(&o);
	err = mill_run_new(&run, b->store, &o);
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

/*
 * Fails before the first row runs if a row needs several devices and the algorithm cannot
 * use them.
 */
static mill_err check_several(const struct bench *b)
{
	const struct mill_lab *lab = b->lab;
	const struct mill_variant *v = lab->variant;
	struct relay relay = { &lab->options.watcher, lab->algorithm };
	struct mill_options o;
	struct mill_plan plan;
	mill_run *run = NULL;
	mill_err err;

	while (v < lab->variant + lab->n_variants && !v->gts.strategy)
		v++;
	if (v == lab->variant + lab->n_variants || b->device.n < 2)
		return MILL_OK;
	o = vary(&lab->options, v, &relay);
	err = mill_run_new(&run, b->store, &o);
	if (!err)
		err = mill_run_plan(run, lab->algorithm, lab->how, &plan);
	mill_run_free(run);
	return err == MILL_EUSAGE ? err : MILL_OK;
}

/* Fails if a row has a wrong result, or if results that must be the same differ. */
static mill_err compare_rows(const struct mill_lab_row *row, size_t n, const struct mill_lab *lab)
{
	const struct mill_lab_row *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (row[i].error == MILL_ECHECK)
			return fail(MILL_ECHECK, "the result of '%s' is wrong: %s", row[i].name,
				    row[i].message);
		if (row[i].error)
			continue;
		first = first ? first : &row[i];
		if (row[i].report.hash != first->report.hash && promises_bits(lab))
			return fail(MILL_ECHECK, "the results differ: that of '%s' has the hash "
						 "%016llx, that of '%s' %016llx",
				    first->name, (unsigned long long)first->report.hash,
				    row[i].name, (unsigned long long)row[i].report.hash);
	}
	return first || !n ? MILL_OK : fail(MILL_ENOMEM, "%s", row[0].message);
}

MILL_API mill_err mill_lab(struct mill_lab_row *row, mill_store *store, const struct mill_lab *lab)
{
	size_t n = (lab->budget ? lab->n_budgets : 1) * lab->n_variants;
	struct bench b = { .lab = lab, .store = store };
	struct mill_options several = { .device = lab->options.device,
					.n_device_memories = lab->options.n_device_memories };

	memset(row, 0, n * sizeof(*row));
	TRY(devices_name(&b.device, &several));
	TRY(check_several(&b));
	for (size_t i = 0; i < n; i++)
		TRY(run_row(&row[i], &b, &lab->variant[i % lab->n_variants],
			    lab->budget ? &lab->budget[i / lab->n_variants] : NULL));
	return compare_rows(row, n, lab);
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
