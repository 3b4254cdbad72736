/* SPDX-License-Identifier: Apache-2.0 */
/* The same run under several policies: a table, a report, a drawing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "cli/message.h"
#include "cli/report.h"

/* ---- What is asked for ---- */

/* The items of "a,b,c", in one block for free(). */
static mill_err split(const char ***out, size_t *n, const char *option, const char *list)
{
	size_t length = strlen(list), most = 1, i;
	char *text, *item;

	for (i = 0; i < length; i++)
		most += list[i] == ',';
	*out = malloc(most * sizeof(**out) + length + 1);
	if (!*out)
		return refuse(MILL_ENOMEM, "no memory for --%s", option);
	text = memcpy((char *)(*out + most), list, length + 1);
	for (*n = 0; *n < most; text = item + strlen(item) + 1) {
		item = text;
		item[strcspn(item, ",")] = '\0';
		if (!*item)
			return refuse(MILL_EUSAGE, "--%s %s: an item is empty", option, list);
		(*out)[(*n)++] = item;
	}
	return MILL_OK;
}

static mill_err find_variant(struct mill_variant *out, const struct mill_variant *table, const char *names,
			     const char *name)
{
	struct nearest near = { .word = name };
	const struct mill_variant *v;

	for (v = table; v->name; v++) {
		if (!strcmp(v->name, name)) {
			*out = *v;
			return MILL_OK;
		}
		nearest_try(&near, v->name);
	}
	if (nearest_found(&near))
		return refuse(MILL_EUSAGE, "--policies %s: unknown; did you mean %s?", name, nearest_found(&near));
	return refuse(MILL_EUSAGE, "--policies %s: unknown; there are %s", name, names);
}

/* Those of the table that --policies names, or all. */
static mill_err choose_policies(struct lab *l, struct options *o)
{
	const struct mill_variant *table = o->mappings ? mill_lab_mappings() : mill_lab_policies(), *v;
	const char **name = NULL;
	size_t length = 0, n = 0, i;
	mill_err err = MILL_OK;

	for (v = table; v->name && length < sizeof(l->names); v++)
		length += (size_t)snprintf(l->names + length, sizeof(l->names) - length, "%s%s",
					   v == table ? "" : ",", v->name);
	if (!o->policies && !o->mappings)
		o->policies = o->wires || o->queue_counts ? "graphie" : l->names;
	if (o->policies)
		err = split(&name, &n, "policies", o->policies);
	else
		n = (size_t)(v - table);
	if (!err) {
		l->variant = calloc(n, sizeof(*l->variant));
		err = l->variant ? MILL_OK : refuse(MILL_ENOMEM, "no memory for the rows of the lab");
	}
	for (i = 0; !err && i < n; i++) {
		if (name)
			err = find_variant(&l->variant[i], table, l->names, name[i]);
		else
			l->variant[i] = table[i];
	}
	l->how.variant = l->variant;
	l->how.n_variants = n;
	free(name);
	return err;
}

/* What --wires and --queue-counts say: {0} where they were not given. */
struct choices {
	enum mill_wire wire[16];
	uint32_t queues[16];
	size_t n_wires, n_queues;
};

static mill_err parse_wires(struct choices *c, const char *list)
{
	const char **item = NULL;
	size_t n = 0, i;
	mill_err err = split(&item, &n, "wires", list);

	if (!err && n > sizeof(c->wire) / sizeof(c->wire[0]))
		err = refuse(MILL_EUSAGE, "--wires %s: too many", list);
	for (i = 0; !err && i < n; i++) {
		enum mill_wire w = MILL_WIRE_EDGES;

		while (w <= MILL_WIRE_PACKED && strcmp(wire_word(w), item[i]))
			w++;
		c->wire[i] = w;
		if (w > MILL_WIRE_PACKED)
			err = refuse(MILL_EUSAGE, "--wires %s: takes edges, csr, packed", item[i]);
	}
	c->n_wires = n;
	free(item);
	return err;
}

static mill_err parse_queues(struct choices *c, const char *list)
{
	const char **item = NULL;
	size_t n = 0, i;
	mill_err err = split(&item, &n, "queue-counts", list);

	if (!err && n > sizeof(c->queues) / sizeof(c->queues[0]))
		err = refuse(MILL_EUSAGE, "--queue-counts %s: too many", list);
	for (i = 0; !err && i < n; i++) {
		char *end;
		unsigned long number = strtoul(item[i], &end, 10);

		if (item[i][0] < '0' || item[i][0] > '9' || *end || !number || number > 256)
			err = refuse(MILL_EUSAGE, "--queue-counts %s: must be from 1 to 256", item[i]);
		c->queues[i] = (uint32_t)number;
	}
	c->n_queues = n;
	free(item);
	return err;
}

#define LABEL 48

/* Every row once for each wire, if it is graphie's, and number of queues, those side by side. */
static mill_err multiply(struct lab *l, const struct choices *c)
{
	size_t n = 0, most = l->how.n_variants * c->n_wires * c->n_queues, i, w, q;
	struct mill_variant *all = calloc(most, sizeof(*all));

	l->labels = calloc(most, LABEL);
	if (!all || !l->labels) {
		free(all);
		return refuse(MILL_ENOMEM, "no memory for the rows of the lab");
	}
	for (i = 0; i < l->how.n_variants; i++)
		for (w = 0; w < c->n_wires; w++)
			for (q = 0; q < c->n_queues; q++) {
				struct mill_variant v = l->variant[i];
				bool graphie = v.policy && !strcmp(v.policy, "graphie");
				char *label = l->labels + n * LABEL;
				int length;

				if (w && !graphie)
					continue;
				v.wire = graphie ? c->wire[w] : MILL_WIRE_AUTO;
				v.queues = c->queues[q];
				length = snprintf(label, LABEL, "%s%s%s", v.name, v.wire ? " " : "", v.wire ? wire_word(v.wire) : "");
				if (v.queues)
					snprintf(label + length, LABEL - (size_t)length, " q%u", v.queues);
				v.name = label;
				all[n++] = v;
			}
	free(l->variant);
	l->how.variant = l->variant = all;
	l->how.n_variants = n;
	return MILL_OK;
}

static mill_err choose_variants(struct lab *l, struct options *o)
{
	struct choices c = { .n_wires = 1, .n_queues = 1 };
	mill_err err = choose_policies(l, o);

	if (!err && o->wires)
		err = parse_wires(&c, o->wires);
	if (!err && o->queue_counts)
		err = parse_queues(&c, o->queue_counts);
	l->n_queues = c.n_queues;
	return err || !(o->wires || o->queue_counts) ? err : multiply(l, &c);
}

static mill_err check_plot(const struct options *o)
{
	const char *suffix = strrchr(o->plot, '.');

	if (!suffix || strcmp(suffix, ".svg"))
		return refuse(MILL_EUSAGE, "--plot %s: the name must end in .svg", o->plot);
	if (o->json_file && !strcmp(o->plot, o->json_file))
		return refuse(MILL_EUSAGE, "--plot %s: another output has this name", o->plot);
	return output_possible("--plot", o->plot);
}

static mill_err check_asked(struct options *o)
{
	if (!strcmp(o->device, "cpu"))
		return refuse(MILL_EUSAGE, "lab: compares what crosses to a device: the cpu is none; see `millrace list devices`");
	if (o->mappings && o->policies)
		return refuse(MILL_EUSAGE, "--mappings and --policies: the rows are one or the other");
	if (o->mappings && option_given(o, "mapping"))
		return refuse(MILL_EUSAGE, "--mappings runs all of them: leave --mapping out");
	if (o->wires && option_given(o, "wire"))
		return refuse(MILL_EUSAGE, "--wires and --wire: give one of them");
	if (o->queue_counts && option_given(o, "queues"))
		return refuse(MILL_EUSAGE, "--queue-counts and --queues: give one of them");
	if (o->budgets && option_given(o, "device-memory"))
		return refuse(MILL_EUSAGE, "--budgets and --device-memory: give one of them");
	if (o->budgets)
		o->device_memory.text = NULL;
	o->lanes |= o->mappings;
	return o->plot ? check_plot(o) : MILL_OK;
}

static mill_err choose_budgets(struct lab *l, const struct options *o)
{
	const char *list = o->budgets ? o->budgets : o->device_memory.text;
	size_t i, n = 0;
	mill_err err;

	err = split(&l->budget_text, &n, "budgets", list);
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

/* ---- Run ---- */

static mill_err open_lab(struct lab *l, struct call *call)
{
	struct options *o = &call->options;
	mill_err err;

	err = check_asked(o);
	if (!err)
		err = choose_variants(l, o);
	if (!err)
		err = work_prepare(&l->work, call, o->operand[0], o->operand[1]);
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
	l->how.how = &l->work.how;
	l->how.options = l->work.options;
	l->how.repeat = o->repeat;
	return MILL_OK;
}

static mill_err run_lab(struct lab *l)
{
	mill_err err = mill_lab(l->row, l->work.store, &l->how), late;
	size_t i;

	if (err)
		refuse(err, "%s", mill_error());	/* what comes now shall not hide it */
	for (i = 0; i < l->n_rows; i++) {
		if (!lab_ran(l, i))
			continue;
		late = median(&l->seconds[i], l->row[i].report.run_seconds, l->row[i].report.n_runs);
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

/* ---- Tell ---- */

enum column {
	NAME, BUDGET, MOVED, MULTIPLE, READ_ONLY, WRITABLE, FLAGS, PAGES, REUSED, ACTIVE, UPDATES, STEPS, EDGES, LANES, ATOMICS, TIME, HASH,
	CHECK, N_COLUMNS
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
		[PAGES] = r->pages_to_device, [REUSED] = r->pages_reused, [ACTIVE] = r->pages_active, [UPDATES] = r->updates,
		[STEPS] = r->iterations, [EDGES] = row->edges, [LANES] = r->lanes, [ATOMICS] = r->atomics,
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
		snprintf(to, CELL, "%.1f", (double)(c == READ_ONLY ? r->read_only : c == WRITABLE ? r->writable : r->flags) / 1024);
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
	default:
		snprintf(to, CELL, "%" PRIu64, count[c]);
	}
}

static void tell_row(const struct call *call, const struct lab *l, size_t i, const int *width)
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
		say(call, "  %*s", c == NAME ? -width[c] : width[c], text);
	}
	say(call, "\n");
}

static void tell(const struct call *call, const struct lab *l)
{
	const struct options *o = &call->options;
	const char *const head[N_COLUMNS] = {
		o->mappings ? "mapping" : "policy", "budget", "MiB moved", "x CSR", "KiB read-only", "writable", "flags", "pages", "reused",
		"active", "updates", "steps", "edges", "lanes", "atomics", "time", "hash", "check",
	};
	const struct mill_info *info = &l->work.info;
	int width[N_COLUMNS], c;
	char text[CELL];
	size_t i;

	say(call, "%s of %s: %" PRIu64 " vertices, %" PRIu64 " stored edges, a CSR of %s; on %s\n", l->how.algorithm, info->path,
	    info->vertices, info->stored_edges, show_size(text, info->csr_bytes), o->device);
	for (c = 0; c < N_COLUMNS; c++) {
		width[c] = (int)strlen(head[c]);
		for (i = 0; i < l->n_rows && l->row[i].name; i++) {
			if (c > BUDGET && !lab_ran(l, i))
				continue;
			cell(text, l, i, (enum column)c);
			width[c] = (int)strlen(text) > width[c] ? (int)strlen(text) : width[c];
		}
		if (((c == LANES || c == ATOMICS) && !o->lanes) || (c == CHECK && !o->check))
			width[c] = 0;
		else
			say(call, "  %*s", c == NAME ? -width[c] : width[c], head[c]);
	}
	say(call, "\n");
	for (i = 0; i < l->n_rows && l->row[i].name; i++)
		tell_row(call, l, i, width);
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
	report_partitions(j, &r->partitions);
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
	options_report(o, FOR_LAB | (l->work.algorithm ? l->work.algorithm->who : 0), j);
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

	err = l->n_queues > 1 ? lab_plot_queues(&text, l) : lab_plot(&text, l);
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
		all = !err || err == MILL_ECHECK;	/* every row was come to */
	}
	progress_end(&call->progress);
	report_lab(&call->report, &l, &call->options);
	if (all)
		tell(call, &l);
	if (!err && call->options.plot)
		err = draw(&l, call->options.plot);
	close_lab(&l);
	return err;
}
