/* SPDX-License-Identifier: Apache-2.0 */
/* A lab as the command line holds it: what was asked for, and the rows that came of it. */
#ifndef CLI_LAB_H
#define CLI_LAB_H

#include "cli/report.h"
#include "cli/run.h"

struct lab {
	struct work work;
	struct mill_lab how;
	struct mill_variant *variant;	/* the rows of a budget */
	char *labels;			/* their names, where something multiplies them */
	size_t n_queues;		/* how many of them differ only in that, side by side; 1: --queue-counts was not given */
	size_t n_caches;		/* the same of gts's and --device-caches */
	uint64_t *budget;
	const char **budget_text;	/* as they were given */
	struct mill_lab_row *row;	/* how.n_variants for each budget */
	double *seconds;		/* median of each row */
	size_t n_rows;
	char names[256];		/* of the rows where none were given, for the report */
};

/* The budget of row i as it was given: "25%". */
static inline const char *lab_budget(const struct lab *l, size_t i)
{
	return l->budget_text[i / l->how.n_variants];
}

/* Topology that went to the device in multiples of the graph's CSR. */
static inline double lab_multiple(const struct lab *l, size_t i)
{
	return l->work.info.csr_bytes ? (double)l->row[i].report.topology / (double)l->work.info.csr_bytes : 0;
}

/* Of the pages or partitions that kernels were given, those that were on the device already. */
static inline double lab_hit_rate(const struct lab *l, size_t i)
{
	const struct mill_report *r = &l->row[i].report;
	uint64_t uses = r->pages_reused + r->pages_to_device;

	return uses ? (double)r->pages_reused / (double)uses : 0;
}

/* B / (S + L) of a row of gts: what part of its pages the caches have room for, GTS's guess of the hit rate (section 3.3). */
static inline double lab_cache_share(const struct lab *l, size_t i)
{
	const struct mill_streaming *s = &l->row[i].report.streaming;
	uint64_t pages = s->small_pages + s->large_pages;
	uint64_t cached = s->cached_pages * (s->strategy == MILL_STRATEGY_S ? 1 : s->devices);

	return cached < pages ? (double)cached / (double)pages : 1;
}

/* There are numbers: also of a result that its certificate found wrong. */
static inline bool lab_ran(const struct lab *l, size_t i)
{
	return l->row[i].step && l->row[i].report.n_runs;
}

static inline const struct mill_variant *lab_variant(const struct lab *l, size_t i)
{
	return &l->how.variant[i % l->how.n_variants];
}

/* The policy as under which the row went over pages, as its own has no kernels for the algorithm; else NULL. */
static inline const char *lab_otherwise(const struct lab *l, size_t i)
{
	const struct mill_report *r = &l->row[i].report;

	return lab_ran(l, i) && r->device_budget ? policy_otherwise(lab_variant(l, i)->policy, r->policy_owns) : NULL;
}

/* The items of "a,b,c", in one block for free(), also after a failure. */
mill_err lab_split(const char ***out, size_t *n, const char *option, const char *list);
/* The rows of a budget, once the store is open; o->policies becomes what it came to. */
mill_err lab_choose_rows(struct lab *l, struct options *o);

/*
 * A drawing of pages active and pages moved to the device over the supersteps, one panel for each row, all to the same scale
 * (Graphie's figure 8), as SVG. *out is for free().
 */
mill_err lab_plot(char **out, const struct lab *l);
/* With --queue-counts instead: times over the numbers of queues, a line for each of the other choices (its figure 9). */
mill_err lab_plot_queues(char **out, const struct lab *l);
/* With --device-caches: hit rates over the sizes of the cache, beside B / (S + L) (GTS's figure 11). */
mill_err lab_plot_caches(char **out, const struct lab *l);

#endif
