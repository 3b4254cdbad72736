/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the rows of a lab: policies or mappings. --wires, --device-caches and --queue-counts are
 * lists of values; they multiply the rows that have these options. A row is a struct mill_variant
 * that says which options differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "cli/message.h"
#include "cli/report.h"

#define MOST 16u	/* most values of a list */
#define LABEL 64	/* bytes of a row's name */
#define NAMES sizeof(((struct lab *)0)->names)

mill_err lab_split(const char ***out, size_t *n, const char *option, const char *list)
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

static const struct mill_policy *policy_of(const struct mill_variant *v)
{
	return mill_policy(v->policy);
}

/* Returns true if the policy of the row has this option. */
static bool has_option(const struct mill_variant *v, const char *option)
{
	return policy_option(policy_of(v), option);
}

/* ---- Policies ---- */

/* Returns true if a lab runs the row unasked. several: it has several devices. */
static bool is_usual(const struct mill_variant *v, bool several)
{
	/* rows of largegraph (alpha) run only if --policies names them */
	return !has_option(v, "alpha") && (several || !v->gts.strategy);
}

/* Which rows add_names takes. */
enum which { ONE_DEVICE, SEVERAL_DEVICES, ALL };

/*
 * Appends the names of rows to the list `to`. option: only rows with this option; NULL: all rows.
 * which: all rows, or the usual ones for one or several devices.
 */
static void add_names(char *to, const char *option, enum which which)
{
	const struct mill_variant *v;
	size_t length = strlen(to);

	for (v = mill_lab_policies(); v->name && length < NAMES; v++)
		if ((!option || has_option(v, option)) &&
		    (which == ALL || is_usual(v, which == SEVERAL_DEVICES)))
			length += (size_t)snprintf(to + length, NAMES - length, "%s%s",
						   length ? "," : "", v->name);
}

static mill_err find_policy(struct mill_variant *out, const char *name)
{
	struct nearest near = { .word = name };
	const struct mill_variant *v;
	char names[NAMES] = "";

	for (v = mill_lab_policies(); v->name; v++) {
		if (!strcmp(v->name, name)) {
			*out = *v;
			return MILL_OK;
		}
		nearest_try(&near, v->name);
	}
	if (nearest_found(&near))
		return refuse(MILL_EUSAGE, "--policies %s: unknown; did you mean %s?", name,
			      nearest_found(&near));
	add_names(names, NULL, ALL);
	return refuse(MILL_EUSAGE, "--policies %s: unknown; there are %s", name, names);
}

/*
 * Returns the rows if --policies is not given: the usual ones, or only those that the given lists
 * of values change.
 */
static const char *usual_policies(struct lab *l, const struct options *o)
{
	enum which which = several_devices(o->device.text) ? SEVERAL_DEVICES : ONE_DEVICE;

	if (o->wires || (o->queue_counts && !o->device_caches))
		snprintf(l->names, NAMES, "graphie");
	if (o->device_caches)
		add_names(l->names, "device-cache", which);
	if (!l->names[0])
		add_names(l->names, NULL, which);
	return l->names;
}

static mill_err new_variants(struct lab *l, size_t n)
{
	l->variant = calloc(n, sizeof(*l->variant));
	l->how.variant = l->variant;
	l->how.n_variants = n;
	return l->variant ? MILL_OK : refuse(MILL_ENOMEM, "no memory for the rows of the lab");
}

static mill_err choose_policies(struct lab *l, const char *list)
{
	const char **name = NULL;
	size_t n = 0, i;
	mill_err err = lab_split(&name, &n, "policies", list);

	if (!err)
		err = new_variants(l, n);
	for (i = 0; !err && i < n; i++)
		err = find_policy(&l->variant[i], name[i]);
	free(name);
	return err;
}

static size_t count_variants(const struct mill_variant *table)
{
	size_t n = 0;

	while (table[n].name)
		n++;
	return n;
}

static mill_err choose_mappings(struct lab *l)
{
	size_t n = count_variants(mill_lab_mappings());
	mill_err err = new_variants(l, n);

	if (!err)
		memcpy(l->variant, mill_lab_mappings(), n * sizeof(*l->variant));
	return err;
}

/* ---- Lists of values ---- */

/* The values of each list. A list that was not given has one value, 0. */
struct choices {
	enum mill_wire wire[MOST];
	uint32_t queues[MOST];
	const char **cache;		/* cache sizes as given */
	uint64_t cache_bytes[MOST];
	bool mappings;			/* multiply by the mappings of the row's policy */
	size_t n_wires, n_queues, n_caches;
};

static mill_err parse_wires(struct choices *c, const char *list)
{
	const char **item = NULL;
	size_t n = 0, i;
	mill_err err = lab_split(&item, &n, "wires", list);

	if (!err && n > MOST)
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
	mill_err err = lab_split(&item, &n, "queue-counts", list);

	if (!err && n > MOST)
		err = refuse(MILL_EUSAGE, "--queue-counts %s: too many", list);
	for (i = 0; !err && i < n; i++) {
		char *end;
		unsigned long number = strtoul(item[i], &end, 10);

		if (item[i][0] < '0' || item[i][0] > '9' || *end || !number || number > 256)
			err = refuse(MILL_EUSAGE, "--queue-counts %s: must be from 1 to 256",
				     item[i]);
		c->queues[i] = (uint32_t)number;
	}
	c->n_queues = n;
	free(item);
	return err;
}

static mill_err parse_caches(struct choices *c, const char *list, uint64_t csr_bytes)
{
	mill_err err = lab_split(&c->cache, &c->n_caches, "device-caches", list);
	size_t i;

	if (!err && c->n_caches > MOST)
		err = refuse(MILL_EUSAGE, "--device-caches %s: too many", list);
	for (i = 0; !err && i < c->n_caches; i++) {
		struct size_option size = { .text = c->cache[i] };

		err = option_size_or_0(&size, "device-caches", csr_bytes);
		c->cache_bytes[i] = size.bytes ? size.bytes : MILL_SIZE_NONE;
	}
	return err;
}

static mill_err parse_choices(struct choices *c, const struct lab *l, const struct options *o)
{
	mill_err err = MILL_OK;

	if (o->wires)
		err = parse_wires(c, o->wires);
	if (!err && o->queue_counts)
		err = parse_queues(c, o->queue_counts);
	if (!err && o->device_caches)
		err = parse_caches(c, o->device_caches, l->work.info.csr_bytes);
	c->mappings = o->mappings && o->policies;
	return err;
}

/* The index of a row's value in each list. */
struct pick {
	size_t mapping, wire, cache, queues;
};

static void add_word(char *label, const char *before, const char *word)
{
	size_t length = strlen(label);

	snprintf(label + length, LABEL - length, " %s%s", before, word);
}

static void add_row(struct lab *l, const struct choices *c, const struct mill_variant *from,
		    const struct pick *p)
{
	size_t n = l->how.n_variants++;
	struct mill_variant *v = &l->variant[n];
	char *label = l->labels + n * LABEL, number[16];

	*v = *from;
	snprintf(label, LABEL, "%s", from->name);
	if (c->mappings) {
		const struct mill_variant *m = &policy_of(from)->mappings[p->mapping];

		v->mapping = m->mapping;
		v->gts.warp = m->gts.warp;
		v->count_lanes = m->count_lanes;
		add_word(label, "", m->name);
	}
	if (c->n_wires && has_option(from, "wire")) {
		v->graphie.wire = c->wire[p->wire];
		add_word(label, "", wire_word(v->graphie.wire));
	}
	if (c->n_caches && has_option(from, "device-cache")) {
		v->gts.device_cache = c->cache_bytes[p->cache];
		add_word(label, "cache ", c->cache[p->cache]);
	}
	v->queues = c->queues[p->queues];
	snprintf(number, sizeof(number), "%u", v->queues);
	if (v->queues)
		add_word(label, "q", number);
	v->name = label;
}

static size_t at_least_1(size_t n) { return n ? n : 1; }

/* Returns the number of values in each list for a row. */
static struct pick choices_of(const struct choices *c, const struct mill_variant *from)
{
	return (struct pick){
		.mapping = c->mappings ? count_variants(policy_of(from)->mappings) : 1,
		.wire = has_option(from, "wire") ? at_least_1(c->n_wires) : 1,
		.cache = has_option(from, "device-cache") ? at_least_1(c->n_caches) : 1,
		.queues = at_least_1(c->n_queues),
	};
}

/* Rows that differ only in queues are side by side, and so are rows that differ in caches. */
static void add_rows(struct lab *l, const struct choices *c, const struct mill_variant *from)
{
	struct pick p, n = choices_of(c, from);

	for (p.mapping = 0; p.mapping < n.mapping; p.mapping++)
		for (p.wire = 0; p.wire < n.wire; p.wire++)
			for (p.cache = 0; p.cache < n.cache; p.cache++)
				for (p.queues = 0; p.queues < n.queues; p.queues++)
					add_row(l, c, from, &p);
}

static mill_err multiply(struct lab *l, const struct choices *c)
{
	struct mill_variant *from = l->variant;
	size_t n = l->how.n_variants, most = 0, i;
	mill_err err;

	for (i = 0; i < n; i++) {
		struct pick p = choices_of(c, &from[i]);

		most += p.mapping * p.wire * p.cache * p.queues;
	}
	err = new_variants(l, most);
	l->labels = calloc(most, LABEL);
	if (!l->labels && !err)
		err = refuse(MILL_ENOMEM, "no memory for the rows of the lab");
	l->how.n_variants = 0;
	for (i = 0; !err && i < n; i++)
		add_rows(l, c, &from[i]);
	free(from);
	return err;
}

/* Fails if an option was given that no row, or not every row, has. */
static mill_err check_rows(const struct lab *l, const struct options *o)
{
	size_t caches = 0, own = 0, i;

	for (i = 0; i < l->how.n_variants; i++) {
		caches += has_option(&l->variant[i], "device-cache");
		own += policy_of(&l->variant[i])->mappings != NULL;
	}
	if (o->device_caches && !caches)
		return refuse(MILL_EUSAGE,
			      "--device-caches needs a row of gts: add gts to --policies");
	if (o->mappings && o->policies && own < l->how.n_variants)
		return refuse(MILL_EUSAGE,
			      "--mappings with --policies %s: use only gts, gts-p and gts-s, "
			      "which have their own mappings",
			      o->policies);
	if (!own && !work_has_frontiers(o) && (o->mappings || option_given(o, "mapping")))
		return refuse_mapping(o->algorithm, o->mappings ? "mappings" : "mapping",
				      "policies");
	return MILL_OK;
}

mill_err lab_choose_rows(struct lab *l, struct options *o)
{
	struct choices c = { .n_wires = 0 };
	mill_err err;

	if (!o->policies && !o->mappings)
		o->policies = usual_policies(l, o);
	err = o->policies ? choose_policies(l, o->policies) : choose_mappings(l);
	if (!err)
		err = check_rows(l, o);
	if (!err)
		err = parse_choices(&c, l, o);
	l->n_queues = at_least_1(c.n_queues);
	l->n_caches = at_least_1(c.n_caches);
	if (!err && (c.n_wires || c.n_queues || c.n_caches || c.mappings))
		err = multiply(l, &c);
	free(c.cache);
	return err;
}
