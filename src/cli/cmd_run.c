/* SPDX-License-Identifier: Apache-2.0 */
/* The command of every algorithm: load, run --repeat times, check, write the result, report. */
#define _GNU_SOURCE 1	/* asprintf */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/report.h"
#include "cli/run.h"

/* The outcome of the run, for the text and the report. */
struct outcome {
	struct mill_report report;
	bool ran;		/* all runs succeeded: `report` has a result */
	bool counted;		/* lanes and atomics were counted */
	double median;		/* seconds of a run */
	double check_seconds;
	char *check;		/* "passed", "failed: ..." or NULL */
	char name[MILL_NAME_MAX + 1];	/* the last name of show_id() */
	mill_err late;		/* error of a look-up for the report */
};

static mill_err check(struct outcome *out, mill_run *run)
{
	double began = now();
	mill_err err = mill_run_check(run);

	out->check_seconds = now() - began;
	if (!err)
		out->check = strdup("passed");
	else if (err != MILL_ECHECK)
		return err;
	else if (asprintf(&out->check, "failed: %s", mill_error()) < 0)
		out->check = NULL;
	if (!out->check)
		return refuse(MILL_ENOMEM, "no memory");
	return err;
}

/* Runs, checks and writes. A result that fails its check is not written. */
static mill_err attempt(struct outcome *out, struct work *w, const struct options *o)
{
	mill_err err;
	uint32_t i;

	out->ran = false;
	for (i = 0; i < o->repeat; i++) {
		err = mill_run_algorithm(w->run, w->algorithm->name, o->how);
		if (err)
			return err;
	}
	out->ran = true;
	if (o->check) {
		err = check(out, w->run);
		if (err)
			return err;
	}
	return o->output ? mill_run_write(w->run, o->output) : MILL_OK;
}

static mill_err execute(struct outcome *out, struct work *w, const struct options *o)
{
	mill_err err = attempt(out, w, o);

	if (err != MILL_EDEVICE || !o->fallback || mill_run_fall_back(w->run))
		return err;
	free(out->check);
	out->check = NULL;
	return attempt(out, w, o);
}

/* Returns an original id as text, valid until the next call. */
static const char *show_id(struct outcome *out, const struct work *w, uint64_t id)
{
	mill_err err = mill_store_name(w->store, id, out->name);

	if (err) {
		out->late = err;
		snprintf(out->name, sizeof(out->name), "?");
	}
	return out->name;
}

static void report_id(struct json *j, const char *key, struct outcome *out, const struct work *w,
		      uint64_t id)
{
	if (w->info.named)
		json_string(j, key, show_id(out, w, id));
	else
		json_u64(j, key, id);
}

static void show_fact(const struct call *call, const struct work *w, struct outcome *out,
		      const struct mill_fact *f, const char *before)
{
	char name[64];
	char *c;

	snprintf(name, sizeof(name), "%s", f->name);
	for (c = name; *c; c++)
		if (*c == '_')
			*c = ' ';
	if (f->type == MILL_TYPE_F64)
		say(call, "%s%s %.9g", before, name, f->f64);
	else if (f->type == MILL_TYPE_ID)
		say(call, "%s%s %s", before, name, show_id(out, w, f->u64));
	else
		say(call, "%s%s %" PRIu64, before, name, f->u64);
}

/* Prints the distribution as bars, one per power of two. A bar that is not empty has a mark. */
static void show_distribution(const struct call *call, const struct mill_report *r)
{
	static const char bar[] = "########################################";
	uint64_t bin[66] = { 0 }, most = 1;
	size_t i, n = 0;

	for (i = 0; i < r->n_distribution; i++) {
		const struct mill_bin *b = &r->distribution[i];
		size_t k = b->value ? 64 - (size_t)__builtin_clzll(b->value) : 0;

		bin[k] += b->count;
		most = bin[k] > most ? bin[k] : most;
		n = k + 1 > n ? k + 1 : n;
	}
	for (i = 0; i < n; i++) {
		uint64_t low = i ? (uint64_t)1 << (i - 1) : 0, high = i ? low + (low - 1) : 0;
		int width = (int)((double)bin[i] / (double)most * (double)(sizeof(bar) - 1));
		char range[48];

		snprintf(range, sizeof(range), low == high ? "%" PRIu64 : "%" PRIu64 "..%" PRIu64,
			 low, high);
		say(call, "  %-22s %12" PRIu64 " %.*s\n", range, bin[i],
		    bin[i] && !width ? 1 : width, bar);
	}
}

static double mteps(const struct outcome *out)
{
	return (double)out->report.edges_traversed / out->median / 1e6;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Prints the paths and chunks of the policy largegraph. */
static void print_chunks(const struct call *call, const struct mill_chunks *c)
{
	uint64_t edges = c->host_edges + c->device_edges;
	char a[SHOWN_SIZE];

	say(call,
	    "  largegraph  %" PRIu64 " paths (mean length %.2f, %.1f %% single edges), "
	    "%.2f x CSR, found in %s; chunks: %" PRIu64 " sent, %" PRIu64 " reused, %" PRIu64
	    " evicted, %" PRIu64 " passed through, %" PRIu64 " slots\n",
	    c->paths, c->mean_length, percent(c->single, c->paths),
	    percent(c->path_bytes, c->csr_bytes) / 100, show_seconds(a, c->paths_seconds),
	    c->chunks_sent, c->chunks_reused, c->chunks_evicted, c->chunks_passed, c->slots);
	say(call,
	    "              edges: host %.1f %%, device %.1f %%; %s exchanged; %" PRIu64
	    " tracking edges; stale %.3f\n",
	    percent(c->host_edges, edges), percent(c->device_edges, edges),
	    show_size(a, c->exchanged), c->tracking_edges, c->stale);
}

static void print_device(const struct call *call, const struct mill_report *r)
{
	char a[SHOWN_SIZE], b[SHOWN_SIZE], c[SHOWN_SIZE];
	size_t i;

	if (r->device_failed)
		say(call, "  device  %s failed (%s), ran on the %s\n", call->options.device.text,
		    r->device_failed, r->device);
	if (!r->device_budget)
		return;
	say(call, "  device  %s, %s moved to it (topology %s), ", r->device,
	    show_size(a, r->to_device), show_size(b, r->topology));
	say(call, "%" PRIu64 " %s, %" PRIu64 " reused; peak %s of %s", r->pages_to_device,
	    r->partitions.count ? "partitions" : "pages", r->pages_reused,
	    show_size(a, r->device_peak), show_size(b, r->device_budget));
	say(call, "; the driver took %s more\n", show_size(a, r->device_driver));
	for (i = 0; r->n_devices > 1 && i < r->n_devices; i++)
		say(call, "          %s: %s moved to it, peak %s of %s\n", r->devices[i].name,
		    show_size(a, r->devices[i].to_device), show_size(b, r->devices[i].peak),
		    show_size(c, r->devices[i].budget));
	if (policy_otherwise(r->policy, r->policy_owns))
		say(call,
		    "  policy  %s has no kernels of its own for %s: "
		    "it ran over pages, as under %s\n",
		    r->policy, r->algorithm, policy_otherwise(r->policy, r->policy_owns));
	if (r->streaming.devices) {
		const struct mill_streaming *s = &r->streaming;

		say(call,
		    "  gts     strategy %s: %s; %" PRIu32
		    " chunk%s of up to %s, pages cached: %" PRIu64 "\n",
		    strategy_word(s->strategy), s->why, s->chunks, s->chunks > 1 ? "s" : "",
		    show_size(a, s->writable), s->cached_pages);
	}
	if (r->partitions.count) {
		const struct mill_partitions *p = &r->partitions;

		say(call,
		    "  graphie %" PRIu64 " partitions of up to %s as %s, %" PRIu64 " buffers; ",
		    p->count, show_size(a, p->bytes), wire_word(p->wire), p->buffers);
		if (p->addressing == MILL_ADDRESSING_PAGED)
			say(call, "ids as stored");
		else
			say(call, "renamed in %s", show_seconds(b, p->round2_seconds));
		say(call, "%s%s\n", p->staged ? "" : ", no staging",
		    p->local_flags ? "" : ", flags do not fit local memory");
	}
	if (r->chunks.paths)
		print_chunks(call, &r->chunks);
	if (call->options.lanes)
		say(call, "  lanes   %" PRIu64 ", %" PRIu64 " atomics\n", r->lanes, r->atomics);
}

static void print_text(const struct call *call, const struct work *w, struct outcome *out)
{
	const struct mill_report *r = &out->report;
	char a[SHOWN_SIZE], b[SHOWN_SIZE], c[SHOWN_SIZE];
	size_t i;

	say(call, "%s of %s: %" PRIu64 " vertices, %" PRIu64 " stored edges%s\n",
	    w->algorithm->name, w->info.path, w->info.vertices, w->info.stored_edges,
	    w->algorithm->traits & MILL_SIMPLE &&
			    (w->info.directed || w->info.self_loops || w->info.parallel_edges) ?
		    ", as an undirected simple graph" : "");
	for (i = 0; i < r->n_facts; i++)
		show_fact(call, w, out, &r->fact[i], i ? ", " : "  result  ");
	if (r->n_facts)
		say(call, "\n");
	for (i = 0; i < r->n_top && i < 5; i++)
		say(call, "%s %s (%.6g)", i ? "," : "  top    ", show_id(out, w, r->top[i].id),
		    r->top[i].value);
	if (r->n_top)
		say(call, "\n");
	show_distribution(call, r);
	say(call, "  time    %s", show_seconds(a, out->median));
	if (r->n_runs > 1)
		say(call, ", the median of %zu", r->n_runs);
	if (out->median > 0 && r->edges_traversed)
		say(call, " (%.1f million edges/s)", mteps(out));
	say(call, ", %" PRIu64 " iterations; load %s", r->iterations,
	    show_seconds(b, r->load_seconds));
	if (r->parents_seconds > 0)
		say(call, ", parents %s", show_seconds(b, r->parents_seconds));
	say(call, "\n  memory  peak %s", show_size(a, peak_rss()));
	say(call, " of %s, graph %s", show_size(a, r->memory_budget),
	    r->resident ? "resident" : "streamed");
	say(call, "; %s read from disk\n", show_size(a, r->disk_read));
	print_device(call, r);
	if (!r->resident && !r->device_budget)
		say(call, "  workers %s computing, %s decoding, %s waiting for pages\n",
		    show_seconds(a, r->compute), show_seconds(b, r->decode),
		    show_seconds(c, r->wait));
	say(call, "  plan    predicted %s, %s read, ", show_seconds(a, r->predicted.seconds),
	    show_size(b, r->predicted.disk_read));
	say(call, "%" PRIu64 " iterations%s\n", r->predicted.iterations,
	    r->predicted.measured ? "" :
	    " (by defaults: run `millrace plan` to measure this machine)");
	print_cost(call, &r->predicted, &r->cost);
	if (out->check)
		say(call, "  check   %s\n", out->check);
	if (call->options.output)
		say(call, "  output  %s in %s\n", call->options.output,
		    show_seconds(a, r->output_seconds));
}

static void report_times(struct json *j, const struct call *call, const struct outcome *out,
			 bool known)
{
	const struct mill_report *r = &out->report;
	size_t n = known ? r->n_runs : 0, i;

	json_object(j, "seconds");
	seconds_or_null(j, "load", known, r->load_seconds);
	seconds_or_null(j, "run", n, out->median);
	seconds_or_null(j, "parents", out->ran && r->parents_seconds > 0,
			r->parents_seconds);
	seconds_or_null(j, "check", out->check, out->check_seconds);
	seconds_or_null(j, "output", out->ran && call->options.output, r->output_seconds);
	json_f64(j, "total", now() - call->began);
	json_object_end(j);
	json_array(j, "runs");
	for (i = 0; i < n; i++)
		json_f64(j, NULL, r->run_seconds[i]);
	json_array_end(j);
	count_or_null(j, "iterations", known, r->iterations);
	count_or_null(j, "edges_traversed", known, r->edges_traversed);
	seconds_or_null(j, "mteps", n && out->median > 0, mteps(out));
	count_or_null(j, "updates", known, r->updates);
}

/* Adds "devices". r NULL: there was no run. */
static void report_devices(struct json *j, const struct mill_report *r)
{
	size_t i;

	if (!r || !r->n_devices) {
		json_null(j, "devices");
		return;
	}
	json_array(j, "devices");
	for (i = 0; i < r->n_devices; i++) {
		json_object(j, NULL);
		json_string(j, "name", r->devices[i].name);
		json_u64(j, "budget", r->devices[i].budget);
		json_u64(j, "peak", r->devices[i].peak);
		json_u64(j, "to_device", r->devices[i].to_device);
		json_u64(j, "from_device", r->devices[i].from_device);
		json_object_end(j);
	}
	json_array_end(j);
}

static void report_traffic(struct json *j, const struct outcome *out, bool known)
{
	const struct mill_report *r = &out->report;
	bool device = known && r->device_budget;

	json_string(j, "device", known ? r->device : NULL);
	report_devices(j, known ? r : NULL);
	report_owns(j, out->ran && device, r->policy, r->policy_owns);
	count_or_null(j, "lanes", out->counted, r->lanes);
	count_or_null(j, "atomics", out->counted, r->atomics);
	json_object(j, "bytes");
	count_or_null(j, "disk_read", known, r->disk_read);
	count_or_null(j, "to_device", known, r->to_device);
	count_or_null(j, "from_device", known, r->from_device);
	count_or_null(j, "topology", device, r->topology);
	count_or_null(j, "read_only", device, r->read_only);
	count_or_null(j, "writable", device, r->writable);
	count_or_null(j, "flags", device, r->flags);
	json_object_end(j);
	json_object(j, "pages");
	count_or_null(j, "active", known, r->pages_active);
	count_or_null(j, "read", known, r->pages_read);
	count_or_null(j, "to_device", known, r->pages_to_device);
	count_or_null(j, "reused", known, r->pages_reused);
	json_object_end(j);
	report_partitions(j, &r->partitions);
	report_streaming(j, &r->streaming);
	report_chunks(j, &r->chunks);
	json_object(j, "memory");
	count_or_null(j, "budget", known, r->memory_budget);
	json_u64(j, "peak_rss", peak_rss());
	count_or_null(j, "counted", known, r->memory_peak);
	if (known)
		json_bool(j, "resident", r->resident);
	else
		json_null(j, "resident");
	count_or_null(j, "device_budget", device, r->device_budget);
	count_or_null(j, "device_peak", device, r->device_peak);
	count_or_null(j, "driver", device, r->device_driver);
	json_object_end(j);
}

static void report_steps(struct json *j, const struct work *w, const struct outcome *out,
			 bool known)
{
	uint64_t n = known ? out->report.n_steps : 0, i;
	struct mill_step s;

	json_array(j, "supersteps");
	for (i = 0; i < n; i++) {
		mill_run_step(w->run, i, &s);
		report_step(j, &s, out->counted);
	}
	json_array_end(j);
}

static void report_result(struct json *j, struct outcome *out, const struct work *w)
{
	const struct mill_report *r = &out->report;
	char hash[17];
	size_t i;

	json_object(j, "result");
	if (!out->ran) {
		json_null(j, "hash");
		json_object_end(j);
		return;
	}
	snprintf(hash, sizeof(hash), "%016" PRIx64, r->hash);
	json_string(j, "hash", hash);
	for (i = 0; i < r->n_facts; i++) {
		if (r->fact[i].type == MILL_TYPE_F64)
			json_f64(j, r->fact[i].name, r->fact[i].f64);
		else if (r->fact[i].type == MILL_TYPE_ID)
			report_id(j, r->fact[i].name, out, w, r->fact[i].u64);
		else
			json_u64(j, r->fact[i].name, r->fact[i].u64);
	}
	if (r->n_top) {
		json_array(j, "top");
		for (i = 0; i < r->n_top; i++) {
			json_array(j, NULL);
			report_id(j, NULL, out, w, r->top[i].id);
			json_f64(j, NULL, r->top[i].value);
			json_array_end(j);
		}
		json_array_end(j);
	}
	if (r->n_distribution) {
		json_array(j, "distribution");
		for (i = 0; i < r->n_distribution; i++) {
			json_array(j, NULL);
			json_u64(j, NULL, r->distribution[i].value);
			json_u64(j, NULL, r->distribution[i].count);
			json_array_end(j);
		}
		json_array_end(j);
	}
	json_object_end(j);
}

mill_err cmd_run(struct call *call)
{
	const char *path = call->options.n_operands ? call->options.operand[0] : NULL;
	struct json *j = &call->report;
	struct outcome out = { .median = 0 };
	mill_err err, late;
	struct work w = { .run = NULL };
	bool known;

	err = call->refused;
	if (!err)
		err = work_open(&w, call, call->command.name, path);
	if (!err)
		err = execute(&out, &w, &call->options);
	if (w.run) {	/* also after a failure or a signal */
		if (err)
			refuse(err, "%s", message());	/* keep it: ending the trace may fail too */
		late = mill_run_end_trace(w.run);
		err = err ? err : late;
	}
	progress_end(&call->progress);
	known = w.run;
	if (known) {
		mill_run_report(w.run, &out.report);
		work_update_options(&out.report, &call->options);
		out.counted = call->options.lanes && out.report.device_budget;
		call->options.io = strcmp(out.report.io, "pread") ? IO_URING : IO_PREAD;
		if (out.report.n_runs) {
			late = median(&out.median, out.report.run_seconds,
				      out.report.n_runs);
			err = err ? err : late;
		}
	}
	report_store(j, path, w.store ? &w.info : NULL);
	options_report(&call->options, j);
	report_times(j, call, &out, known);
	report_traffic(j, &out, known);
	report_predicted(j, known && out.report.algorithm ? &out.report.predicted : NULL);
	report_cost(j, known && out.report.algorithm ? &out.report.predicted : NULL,
		    out.ran ? &out.report.cost : NULL);
	report_steps(j, &w, &out, known);
	report_result(j, &out, &w);
	json_string(j, "check", out.check);
	if (!err)
		print_text(call, &w, &out);
	err = err ? err : out.late;
	work_close(&w);
	free(out.check);
	return err;
}
