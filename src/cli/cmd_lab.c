/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command lab: runs an algorithm under several policies and budgets, and shows them as a table,
 * a report and a drawing. The library's mill_lab() makes the runs; lab_rows.c chooses the rows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "cli/message.h"
#include "cli/report.h"

/* ---- Options ---- */

static mill_err check_plot(const struct options *o)
{
	const char *suffix = strrchr(o->plot, '.');

	if (!suffix || strcmp(suffix, ".svg"))
		return refuse(MILL_EUSAGE, "--plot %s: the name must end in .svg", o->plot);
	if (o->json.file && !strcmp(o->plot, o->json.file))
		return refuse(MILL_EUSAGE, "--plot %s: another output has this name", o->plot);
	return output_possible("--plot", o->plot);
}

static mill_err check_options(struct options *o)
{
	if (!strcmp(o->device.text, "cpu"))
		return refuse(MILL_EUSAGE,
			      "lab: needs a device, not the cpu; see `millrace list devices`");
	if (o->mappings && option_given(o, "mapping"))
		return refuse(MILL_EUSAGE, "--mappings runs every mapping: leave out --mapping");
	if (o->wires && option_given(o, "wire"))
		return refuse(MILL_EUSAGE, "--wires and --wire: give one of them");
	if (o->queue_counts && option_given(o, "queues"))
		return refuse(MILL_EUSAGE, "--queue-counts and --queues: give one of them");
	if (o->device_caches && option_given(o, "device-cache"))
		return refuse(MILL_EUSAGE, "--device-caches and --device-cache: give one of them");
	if (o->plot && o->device_caches && o->queue_counts)
		return refuse(MILL_EUSAGE, "--plot with --device-caches and --queue-counts: "
			      "give one of them");
	if (o->budgets && option_given(o, "device-memory"))
		return refuse(MILL_EUSAGE, "--budgets and --device-memory: give one of them");
	if (o->budgets)
		o->device_memory.text = NULL;
	o->lanes |= o->mappings;
	return o->plot ? check_plot(o) : MILL_OK;
}

static mill_err parse_budgets(struct lab *l, const char *list)
{
	size_t i, n = 0;
	mill_err err;

	err = lab_split(&l->budget_text, &n, "budgets", list);
	if (err)
		return err;
	l->budget = calloc(n, sizeof(*l->budget));
	if (!l->budget)
		return refuse(MILL_ENOMEM, "no memory for --budgets");
	for (i = 0; !err && i < n; i++) {
		struct size_option size = { .text = l->budget_text[i] };

		err = option_size(&size, "budgets", l->work.info.csr_bytes);
		l->budget[i] = size.bytes;
	}
	l->how.budget = l->budget;
	l->how.n_budgets = n;
	return err;
}

/* Without --budgets there is one budget: --device-memory, which may be a list for the devices. */
static mill_err choose_budgets(struct lab *l, const struct options *o)
{
	if (o->budgets)
		return parse_budgets(l, o->budgets);
	l->budget_text = malloc(sizeof(*l->budget_text));
	if (!l->budget_text)
		return refuse(MILL_ENOMEM, "no memory for the rows of the lab");
	l->budget_text[0] = o->device_memory.text;
	l->how.n_budgets = 1;
	return MILL_OK;
}

/* ---- Run ---- */

static mill_err open_lab(struct lab *l, struct call *call)
{
	struct options *o = &call->options;
	mill_err err;

	err = check_options(o);
	if (!err)
		err = work_prepare(&l->work, call, o->operand[0], o->operand[1]);
	if (!err)
		err = lab_choose_rows(l, o);
	if (!err)
		err = choose_budgets(l, o);
	if (err)
		return err;
	l->row = calloc(l->how.n_budgets * l->how.n_variants, sizeof(*l->row));
	l->seconds = calloc(l->how.n_budgets * l->how.n_variants, sizeof(*l->seconds));
	if (!l->row || !l->seconds)
		return refuse(MILL_ENOMEM, "no memory for the rows of the lab");
	l->n_rows = l->how.n_budgets * l->how.n_variants;
	l->how.algorithm = l->work.algorithm->name;
	l->how.how = o->how;
	l->how.options = l->work.options;
	l->how.repeat = o->repeat;
	return MILL_OK;
}

static mill_err run_lab(struct lab *l)
{
	mill_err err = mill_lab(l->row, l->work.store, &l->how), late;
	size_t i;

	if (err)
		refuse(err, "%s", mill_error()); /* keep this message: later calls may fail too */
	for (i = 0; i < l->n_rows; i++) {
		if (!lab_ran(l, i))
			continue;
		late = median(&l->seconds[i], l->row[i].report.run_seconds,
			      l->row[i].report.n_runs);
		err = err ? err : late;
	}
	return err;
}

static void close_lab(struct lab *l)
{
	mill_lab_release(l->row, l->n_rows);
	free(l->row);
	free(l->seconds);
	free(l->budget);
	free(l->budget_text);
	free(l->variant);
	free(l->labels);
	work_close(&l->work);
}

/* ---- Text ---- */

enum column {
	NAME, BUDGET, MOVED, MULTIPLE, READ_ONLY, WRITABLE, FLAGS, PAGES, REUSED, ACTIVE, HIT_RATE,
	CACHE_SHARE, UPDATES, STEPS, EDGES, LANES, ATOMICS, TIME, HASH, CHECK, NOTE, N_COLUMNS
};

#define CELL 64

static void hash_cell(char *to, const struct lab *l, size_t i)
{
	size_t first = 0;

	while (!lab_ran(l, first))
		first++;
	if (first < i && l->row[i].report.hash == l->row[first].report.hash)
		snprintf(to, CELL, "same");
	else
		snprintf(to, CELL, "%016" PRIx64, l->row[i].report.hash);
}

static void cell(char *to, const struct lab *l, size_t i, enum column c)
{
	const struct mill_lab_row *row = &l->row[i];
	const struct mill_report *r = &row->report;
	const uint64_t count[N_COLUMNS] = {
		[PAGES] = r->pages_to_device, [REUSED] = r->pages_reused,
		[ACTIVE] = r->pages_active,   [UPDATES] = r->updates,
		[STEPS] = r->iterations,      [EDGES] = row->edges,
		[LANES] = r->lanes,	      [ATOMICS] = r->atomics,
	};

	switch (c) {
	case NAME:
		snprintf(to, CELL, "%s", row->name);
		break;
	case BUDGET:
		snprintf(to, CELL, "%s", lab_budget(l, i));
		break;
	case MOVED:
		snprintf(to, CELL, "%.2f", (double)r->to_device / (1 << 20));
		break;
	case MULTIPLE:
		snprintf(to, CELL, "%.2f", lab_multiple(l, i));
		break;
	case READ_ONLY:
	case WRITABLE:
	case FLAGS:
		snprintf(to, CELL, "%.1f", (double)(c == READ_ONLY ? r->read_only :
						    c == WRITABLE ? r->writable : r->flags) / 1024);
		break;
	case HIT_RATE:
		snprintf(to, CELL, "%.3f", lab_hit_rate(l, i));
		break;
	case CACHE_SHARE:
		snprintf(to, CELL, r->streaming.devices ? "%.3f" : "-", lab_cache_share(l, i));
		break;
	case TIME:
		show_seconds(to, l->seconds[i]);
		break;
	case HASH:
		hash_cell(to, l, i);
		break;
	case CHECK:
		snprintf(to, CELL, "%s", row->error ? "failed" : "passed");
		break;
	case NOTE:
		to[0] = '\0';
		if (lab_otherwise(l, i))
			snprintf(to, CELL, "over pages, as %s", lab_otherwise(l, i));
		break;
	default:
		snprintf(to, CELL, "%" PRIu64, count[c]);
	}
}

/* Returns the width of a cell for printf: names are left-aligned, a note is not padded. */
static int cell_width(int c, int width) { return c == NAME ? -width : c == NOTE ? 1 : width; }

static void print_row(const struct call *call, const struct lab *l, size_t i, const int *width)
{
	const struct mill_lab_row *row = &l->row[i];
	char text[CELL];
	int c;

	for (c = 0; c < N_COLUMNS; c++) {
		if (!width[c])
			continue;
		if (c > BUDGET && !lab_ran(l, i)) {
			if (row->needed)
				say(call, "  needs %" PRIu64 " bytes", row->needed);
			else
				say(call, "  %s", row->message);
			break;
		}
		cell(text, l, i, (enum column)c);
		if (c != NOTE || text[0])
			say(call, "  %*s", cell_width(c, width[c]), text);
	}
	say(call, "\n");
}

/* Returns true if the table has this column. */
static bool has_column(const struct lab *l, const struct options *o, enum column c)
{
	size_t i;

	switch (c) {
	case HIT_RATE:
	case CACHE_SHARE:
		for (i = 0; i < l->n_rows; i++)
			if (lab_ran(l, i) && l->row[i].report.streaming.devices)
				return true;
		return false;
	case LANES:
	case ATOMICS:
		return o->lanes;
	case CHECK:
		return o->check;
	case NOTE:
		for (i = 0; i < l->n_rows; i++)
			if (lab_otherwise(l, i))
				return true;
		return false;
	default:
		return true;
	}
}

static void print_text(const struct call *call, const struct lab *l)
{
	const struct options *o = &call->options;
	const char *const head[N_COLUMNS] = {
		o->mappings ? "mapping" : "policy", "budget", "MiB moved", "x CSR", "KiB read-only",
		"writable", "flags", "pages", "reused", "active", "hit rate", "B/(S+L)", "updates",
		"steps", "edges", "lanes", "atomics", "time", "hash", "check", "note",
	};
	const struct mill_info *info = &l->work.info;
	int width[N_COLUMNS], c;
	char text[CELL];
	size_t i;

	say(call,
	    "%s of %s: %" PRIu64 " vertices, %" PRIu64 " stored edges, a CSR of %s; on %s\n",
	    l->how.algorithm, info->path, info->vertices, info->stored_edges,
	    show_size(text, info->csr_bytes), o->device.text);
	for (c = 0; c < N_COLUMNS; c++) {
		width[c] = (int)strlen(head[c]);
		for (i = 0; i < l->n_rows && l->row[i].name; i++) {
			if (c > BUDGET && !lab_ran(l, i))
				continue;
			cell(text, l, i, (enum column)c);
			width[c] = (int)strlen(text) > width[c] ? (int)strlen(text) : width[c];
		}
		if (!has_column(l, o, (enum column)c))
			width[c] = 0;
		else
			say(call, "  %*s", cell_width(c, width[c]), head[c]);
	}
	say(call, "\n");
	for (i = 0; i < l->n_rows && l->row[i].name; i++)
		print_row(call, l, i, width);
}

/* ---- Report ---- */

static void report_error(struct json *j, const struct mill_lab_row *row)
{
	if (!row->error) {
		json_null(j, "error");
		return;
	}
	json_object(j, "error");
	json_u64(j, "code", (uint64_t)row->error);
	json_string(j, "message", row->message);
	count_or_null(j, "needed", row->needed, row->needed);
	json_object_end(j);
}

static void report_check(struct json *j, const struct mill_lab_row *row, bool checked)
{
	char text[sizeof(row->message) + 16];

	snprintf(text, sizeof(text), row->error ? "failed: %s" : "passed", row->message);
	json_string(j, "check", checked ? text : NULL);
}

static void report_row(struct json *j, const struct lab *l, size_t i, const struct options *o)
{
	const struct mill_lab_row *row = &l->row[i];
	const struct mill_report *r = &row->report;
	bool ran = lab_ran(l, i), counted = ran && o->lanes;
	char hash[17];
	uint64_t k;

	json_object(j, NULL);
	json_string(j, "policy", row->name);
	report_owns(j, ran && r->device_budget, lab_variant(l, i)->policy, r->policy_owns);
	json_u64(j, "budget", row->budget);
	count_or_null(j, "to_device", ran, r->to_device);
	count_or_null(j, "topology", ran, r->topology);
	count_or_null(j, "read_only", ran, r->read_only);
	count_or_null(j, "writable", ran, r->writable);
	count_or_null(j, "flags", ran, r->flags);
	seconds_or_null(j, "csr_multiple", ran, lab_multiple(l, i));
	count_or_null(j, "pages_to_device", ran, r->pages_to_device);
	count_or_null(j, "pages_reused", ran, r->pages_reused);
	count_or_null(j, "pages_active", ran, r->pages_active);
	seconds_or_null(j, "hit_rate", ran, lab_hit_rate(l, i));
	seconds_or_null(j, "cache_share", ran && r->streaming.devices, lab_cache_share(l, i));
	report_partitions(j, &r->partitions);
	report_streaming(j, &r->streaming);
	report_chunks(j, &r->chunks);
	count_or_null(j, "updates", ran, r->updates);
	count_or_null(j, "iterations", ran, r->iterations);
	count_or_null(j, "edges", ran, row->edges);
	count_or_null(j, "lanes", counted, r->lanes);
	count_or_null(j, "atomics", counted, r->atomics);
	seconds_or_null(j, "seconds", ran, l->seconds[i]);
	snprintf(hash, sizeof(hash), "%016" PRIx64, r->hash);
	json_string(j, "hash", ran ? hash : NULL);
	report_check(j, row, ran && o->check);
	report_error(j, row);
	json_array(j, "supersteps");
	for (k = 0; ran && k < r->n_steps; k++)
		report_step(j, &row->step[k], counted);
	json_array_end(j);
	json_object_end(j);
}

static void report_lab(struct json *j, const struct lab *l, const struct options *o)
{
	bool known = l->work.store;
	size_t i;

	json_string(j, "algorithm", o->operand[0]);
	report_store(j, o->operand[1], known ? &l->work.info : NULL);
	options_report(o, j);
	count_or_null(j, "csr_bytes", known, l->work.info.csr_bytes);
	json_array(j, "rows");
	for (i = 0; i < l->n_rows && l->row[i].name; i++)
		report_row(j, l, i, o);
	json_array_end(j);
}

static mill_err draw(const struct lab *l, const char *path)
{
	mill_err err;
	char *text;

	err = l->n_queues > 1 ? lab_plot_queues(&text, l) :
	      l->n_caches > 1 ? lab_plot_caches(&text, l) : lab_plot(&text, l);
	if (err)
		return err;
	err = output_write(path, text);
	free(text);
	return err;
}

mill_err cmd_lab(struct call *call)
{
	struct lab l = { .n_rows = 0 };
	bool all = false;
	mill_err err;

	err = open_lab(&l, call);
	if (!err) {
		err = run_lab(&l);
		all = !err || err == MILL_ECHECK;	/* the lab got to every row */
	}
	progress_end(&call->progress);
	report_lab(&call->report, &l, &call->options);
	if (all)
		print_text(call, &l);
	if (!err && call->options.plot)
		err = draw(&l, call->options.plot);
	close_lab(&l);
	return err;
}
