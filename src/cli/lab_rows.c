/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a lab: policies or mappings, and each of them once for every wire, cache and number of queues that it heeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "cli/message.h"
#include "cli/report.h"

#define MOST 16u	/* of each choice */
#define LABEL 64	/* bytes of a name */
#define NAMES sizeof(((struct lab *)0)->names)

/* The items of "a,b,c", in one block for free(). */
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

static bool is_of(const struct mill_variant *v, const char *policy) { return v->policy && !strcmp(v->policy, policy); }

/* ---- Policies ---- */

/* May the names be of more than one device? "opencl:0/2:1" is of one. */
static bool several(const char *device)
{
	const char *part = strchr(device, '/');

	return strchr(device, ',') || strstr(device, "all") || (part && !strchr(part, ':'));
}

/* Behind what is there the names of the table's rows, or of one policy's; those that share out work only where `all`. */
static void add_names(char *to, const char *policy, bool all)
{
	const struct mill_variant *v;
	size_t length = strlen(to);

	for (v = mill_lab_policies(); v->name && length < NAMES; v++)
		if ((!policy || is_of(v, policy)) && (all || !v->strategy))
			length += (size_t)snprintf(to + length, NAMES - length, "%s%s", length ? "," : "", v->name);
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
		return refuse(MILL_EUSAGE, "--policies %s: unknown; did you mean %s?", name, nearest_found(&near));
	add_names(names, NULL, true);
	return refuse(MILL_EUSAGE, "--policies %s: unknown; there are %s", name, names);
}

/* Where none are named: all, or those that what is given makes differ. */
static const char *usual_policies(struct lab *l, const struct options *o)
{
	bool all = several(o->device);

	if (o->wires || (o->queue_counts && !o->device_caches))
		snprintf(l->names, NAMES, "graphie");
	if (o->device_caches)
		add_names(l->names, "gts", all);
	if (!l->names[0])
		add_names(l->names, NULL, all);
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

static size_t count(const struct mill_variant *table)
{
	size_t n = 0;

	while (table[n].name)
		n++;
	return n;
}

static mill_err choose_mappings(struct lab *l)
{
	size_t n = count(mill_lab_mappings());
	mill_err err = new_variants(l, n);

	if (!err)
		memcpy(l->variant, mill_lab_mappings(), n * sizeof(*l->variant));
	return err;
}

/* ---- What multiplies them ---- */

/* {0} of what was not given. */
struct choices {
	enum mill_wire wire[MOST];
	uint32_t queues[MOST];
	const char **cache;		/* as they were given */
	uint64_t cache_bytes[MOST];
	const struct mill_variant *mapping;	/* gts's */
	size_t n_wires, n_queues, n_caches, n_mappings;
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
			err = refuse(MILL_EUSAGE, "--queue-counts %s: must be from 1 to 256", item[i]);
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
		c->cache_bytes[i] = size.bytes;
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
	if (o->mappings && o->policies) {
		c->mapping = mill_lab_gts_mappings();
		c->n_mappings = count(c->mapping);
	}
	return err;
}

/* Which of each choice a row has. */
struct pick {
	size_t mapping, wire, cache, queues;
};

static void add_word(char *label, const char *before, const char *word)
{
	size_t length = strlen(label);

	snprintf(label + length, LABEL - length, " %s%s", before, word);
}

static void add_row(struct lab *l, const struct choices *c, const struct mill_variant *from, const struct pick *p)
{
	size_t n = l->how.n_variants++;
	struct mill_variant *v = &l->variant[n];
	char *label = l->labels + n * LABEL, number[16];

	*v = *from;
	snprintf(label, LABEL, "%s", from->name);
	if (c->mapping && is_of(from, "gts")) {
		const struct mill_variant *m = &c->mapping[p->mapping];

		v->mapping = m->mapping;
		v->warp = m->warp;
		v->count_lanes = m->count_lanes;
		add_word(label, "", m->name);
	}
	v->wire = is_of(from, "graphie") ? c->wire[p->wire] : MILL_WIRE_AUTO;
	if (v->wire)
		add_word(label, "", wire_word(v->wire));
	if (c->cache && is_of(from, "gts")) {
		v->device_cache_set = true;
		v->device_cache = c->cache_bytes[p->cache];
		add_word(label, "cache ", c->cache[p->cache]);
	}
	v->queues = c->queues[p->queues];
	snprintf(number, sizeof(number), "%u", v->queues);
	if (v->queues)
		add_word(label, "q", number);
	v->name = label;
}

static size_t at_least_1(size_t n) { return n ? n : 1; }

/* Rows that differ in their queues only are side by side, and so are those of caches. */
static void add_rows(struct lab *l, const struct choices *c, const struct mill_variant *from)
{
	bool gts = is_of(from, "gts");
	size_t mappings = gts ? at_least_1(c->n_mappings) : 1, caches = gts ? at_least_1(c->n_caches) : 1;
	size_t wires = is_of(from, "graphie") ? at_least_1(c->n_wires) : 1;
	struct pick p;

	for (p.mapping = 0; p.mapping < mappings; p.mapping++)
		for (p.wire = 0; p.wire < wires; p.wire++)
			for (p.cache = 0; p.cache < caches; p.cache++)
				for (p.queues = 0; p.queues < at_least_1(c->n_queues); p.queues++)
					add_row(l, c, from, &p);
}

static mill_err multiply(struct lab *l, const struct choices *c)
{
	struct mill_variant *from = l->variant;
	size_t n = l->how.n_variants, i;
	size_t most = n * at_least_1(c->n_wires) * at_least_1(c->n_queues) * at_least_1(c->n_caches) * at_least_1(c->n_mappings);
	mill_err err = new_variants(l, most);

	l->labels = calloc(most, LABEL);
	if (!l->labels && !err)
		err = refuse(MILL_ENOMEM, "no memory for the rows of the lab");
	l->how.n_variants = 0;
	for (i = 0; !err && i < n; i++)
		add_rows(l, c, &from[i]);
	free(from);
	return err;
}

/* What only gts's rows heed needs them. */
static mill_err check_rows(const struct lab *l, const struct options *o)
{
	size_t n = 0, i;

	for (i = 0; i < l->how.n_variants; i++)
		n += is_of(&l->variant[i], "gts");
	if (o->device_caches && !n)
		return refuse(MILL_EUSAGE, "--device-caches is for rows of gts, and there is none");
	if (o->mappings && o->policies && n < l->how.n_variants)
		return refuse(MILL_EUSAGE, "--mappings with --policies %s: takes gts, gts-p and gts-s, which have mappings of their own", o->policies);
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
	if (!err && (c.n_wires || c.n_queues || c.n_caches || c.n_mappings))
		err = multiply(l, &c);
	free(c.cache);
	return err;
}
