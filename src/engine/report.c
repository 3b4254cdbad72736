/* SPDX-License-Identifier: Apache-2.0 */
/* Public calls: the report of a run, its steps, its certificate and its trace; the version. */
#include "engine/devices.h"

/* Returns the policy's facts of its units: the present ones, or those that it had last. */
static struct mill_report layout(const mill_run *r)
{
	struct mill_report out = r->layout;
	struct mill_partitions *p = &out.partitions;

	if (r->transfer.own)
		r->policy->report(&r->transfer, &out);
	if (p->count) {
		p->cut_seconds = r->transfer.time.cutting;
		p->round2_seconds = r->transfer.time.renaming;
		p->edges_seconds = r->transfer.time.staging;
	}
	return out;
}

MILL_API void mill_run_report(const mill_run *r, struct mill_report *out)
{
	const struct mill_step *t = &r->ledger.total;
	struct mill_report units = layout(r);

	*out = (struct mill_report){
		.algorithm = r->algorithm,
		.hash = r->result.hash,
		.iterations = t->step,
		.edges_traversed = r->ledger.edges_traversed,
		.updates = t->updates,
		.disk_read = t->disk_read,
		.disk_written = t->disk_written,
		.lanes = t->lanes,
		.atomics = t->atomics,
		.device = r->device_name,
		.device_failed = r->device_failed[0] ? r->device_failed : NULL,
		.policy = r->policy->public.name,
		.pages_active = t->pages_active,
		.pages_read = t->pages_read,
		.pages_to_device = t->pages_to_device,
		.pages_reused = t->pages_reused,
		.memory_budget = r->budget.limit,
		.memory_peak = r->budget.peak,
		.n_steps = r->ledger.n_steps,
		.wait = t->wait,
		.decode = t->decode,
		.compute = t->compute,
		.io = reader_name(r->way),
		.load_seconds = r->ledger.load,
		.parents_seconds = r->ledger.parents,
		.output_seconds = r->ledger.output,
		.run_seconds = r->ledger.run,
		.n_runs = r->ledger.n_runs,
		.resident = r->loaded && (!r->stream || r->bins),
		.fact = r->result.fact,
		.n_facts = r->result.n_facts,
		.top = r->result.top,
		.n_top = r->result.n_top,
		.distribution = r->result.distribution ? r->result.distribution->buffer.host : NULL,
		.n_distribution = r->result.distribution ? r->result.distribution->n : 0,
		.partitions = units.partitions,
		.streaming = units.streaming,
		.chunks = units.chunks,
		.policy_owns = r->need.own,
		.predicted = r->predicted,
		.cost = r->ledger.cost,
	};
	if (out->chunks.paths && out->updates)
		out->chunks.stale = 1 - (f64)out->chunks.reached / (f64)out->updates;
	devices_report(r, out);
}

MILL_API void mill_run_step(const mill_run *r, uint64_t i, struct mill_step *out)
{
	*out = i < r->ledger.n_steps ? r->ledger.step[i] : (struct mill_step){ 0 };
}

MILL_API mill_err mill_run_check(mill_run *r)
{
	mill_err err;
	f64 began;

	if (!r->result.check)
		return fail(MILL_EUSAGE, "there is no result to check");
	ticker_init(&r->ticker, &r->options.watcher);
	trace_use(r->trace);
	began = trace_begin();
	err = r->result.check(r);
	trace_end(began, "check", NULL, 0);
	return err;
}

MILL_API mill_err mill_run_end_trace(mill_run *r)
{
	struct trace *t = r->trace;

	r->trace = NULL;
	return trace_close(t);
}

MILL_API const char *mill_version(void) { return MILL_VERSION; }

MILL_API const char *mill_features(void)
{
#if MILL_VID_BITS == 32
	return "cpu opencl uring pread gzip zstd bzip2";
#else
	return "cpu uring pread gzip zstd bzip2 narrow";
#endif
}
