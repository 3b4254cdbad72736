/* SPDX-License-Identifier: Apache-2.0 */
/* The command plan: predicts memory, bytes, passes and time of a run without running it. */
#include <inttypes.h>

#include "cli/message.h"
#include "cli/report.h"
#include "cli/run.h"

static void print_predicted(const struct call *call, const struct mill_prediction *p)
{
	char a[SHOWN_SIZE], b[SHOWN_SIZE], c[SHOWN_SIZE];

	say(call, "  time          %s (%s to %s)", show_seconds(a, p->seconds),
	    show_seconds(b, p->seconds_low), show_seconds(c, p->seconds_high));
	if (p->load_read)
		say(call, ", after loading %s in %s", show_size(a, p->load_read),
		    show_seconds(b, p->load_seconds));
	say(call, "\n  supersteps    %" PRIu64 " (%" PRIu64 " to %" PRIu64 ")\n", p->iterations,
	    p->iterations_low, p->iterations_high);
	say(call, "  disk          %s, %" PRIu64 " pages\n", show_size(a, p->disk_read),
	    p->pages_read);
	say(call, "  peak memory   %s\n", show_size(a, p->memory));
	if (p->equation)
		say(call, "  terms         device %s for %s", show_seconds(a, p->device_seconds),
		    show_size(b, p->to_device));
	else
		say(call, "  terms         read %s and compute %s, which overlap",
		    show_seconds(a, p->read_seconds), show_seconds(b, p->compute_seconds));
	say(call, ", supersteps %s\n", show_seconds(a, p->step_seconds));
	print_cost(call, p, NULL);
	say(call, "  constants     %s\n",
	    p->measured ? "measured on this machine" :
	    "defaults: this machine could not be measured");
}

/* policy: the policy of the run. */
static void print_device(const struct call *call, const struct work *w, const struct mill_plan *p,
			 const char *policy)
{
	const char *as = policy_otherwise(policy, p->policy_owns);
	char shown[SHOWN_SIZE];

	say(call, "  device        at least %s of its memory\n",
	    show_size(shown, p->device_needed));
	if (as)
		say(call,
		    "  policy        %s has no kernels of its own for %s: "
		    "it runs over pages, as under %s\n",
		    policy, w->algorithm->name, as);
	if (p->why)
		say(call, "  gts           strategy %s: %s; %" PRIu32 " chunk%s\n",
		    strategy_word(p->strategy), p->why, p->chunks, p->chunks > 1 ? "s" : "");
}

static void print_text(const struct call *call, const struct work *w, const struct mill_plan *p,
		       const struct mill_report *r)
{
	uint64_t budget = call->options.memory.bytes;
	char a[SHOWN_SIZE], b[SHOWN_SIZE];

	say(call, "%s of %s: %" PRIu64 " vertices, %" PRIu64 " stored edges\n",
	    w->algorithm->name, w->info.path, w->info.vertices, w->info.stored_edges);
	say(call, "  vertex state  %s\n", show_size(a, p->state));
	say(call, "  memory        at least %s; %s with the whole graph resident\n",
	    show_size(a, p->needed), show_size(b, p->resident));
	say(call, "  budget        %s: ", show_size(a, budget));
	if (budget < p->needed)
		say(call, "too small\n");
	else if (p->fits)
		say(call, "the graph is read once and stays in memory\n");
	else
		say(call, "the graph streams from disk, %s in a full pass\n",
		    show_size(b, p->pass_bytes));
	if (r->n_devices)
		print_device(call, w, p, r->policy);
	if (budget >= p->needed)
		print_predicted(call, &p->predicted);
}

static void report_strategy(struct json *j, const struct mill_plan *p)
{
	if (!p || !p->why) {
		json_null(j, "gts");
		return;
	}
	json_object(j, "gts");
	json_string(j, "strategy", strategy_word(p->strategy));
	json_string(j, "why", p->why);
	json_u64(j, "chunks", p->chunks);
	json_object_end(j);
}

/* Adds "plan". p NULL: there is no plan, so all values are null. */
static void report_plan(struct json *j, const struct mill_plan *p, const struct mill_report *r)
{
	static const char *const key[] = {
		"state", "needed", "resident", "device_needed", "pass_bytes", "saved", "fits",
	};
	size_t i;

	json_object(j, "plan");
	if (p) {
		json_u64(j, "state", p->state);
		json_u64(j, "needed", p->needed);
		json_u64(j, "resident", p->resident);
		json_u64(j, "device_needed", p->device_needed);
		json_u64(j, "pass_bytes", p->pass_bytes);
		json_u64(j, "saved", p->saved);
		json_bool(j, "fits", p->fits);
	} else {
		for (i = 0; i < sizeof(key) / sizeof(key[0]); i++)
			json_null(j, key[i]);
	}
	report_owns(j, p && r->n_devices, r->policy, p && p->policy_owns);
	report_strategy(j, p);
	json_object_end(j);
}

mill_err cmd_plan(struct call *call)
{
	const char *algorithm = call->options.operand[0], *path = call->options.operand[1];
	struct mill_report report = { .policy = NULL };
	struct mill_plan plan;
	struct work w;
	mill_err err;

	err = work_open(&w, call, algorithm, path);
	if (!err)	/* before measuring: fails at once if the run is not possible */
		err = mill_run_plan(w.run, algorithm, call->options.how, &plan);
	if (!err)
		err = mill_run_measure(w.run, call->options.recalibrate);
	if (!err)
		err = mill_run_plan(w.run, algorithm, call->options.how, &plan);
	if (w.run) {
		mill_run_report(w.run, &report);
		work_update_options(&report, &call->options);
	}
	progress_end(&call->progress);
	json_string(&call->report, "algorithm", algorithm);
	report_store(&call->report, path, w.store ? &w.info : NULL);
	options_report(&call->options, &call->report);
	report_plan(&call->report, err ? NULL : &plan, &report);
	report_predicted(&call->report, err ? NULL : &plan.predicted);
	report_cost(&call->report, err ? NULL : &plan.predicted, NULL);
	if (!err)
		print_text(call, &w, &plan, &report);
	work_close(&w);
	return err;
}
