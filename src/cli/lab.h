/* SPDX-License-Identifier: Apache-2.0 */
/* The lab of the command line: what the options ask for, and the rows of the result. */
#ifndef CLI_LAB_H
#define CLI_LAB_H

#include "cli/report.h"
#include "cli/run.h"

struct lab {
	struct work work;
	struct mill_lab how;
	struct mill_variant *variant;	/* the rows of one budget */
	char *labels;			/* names of the rows, if lists of values multiply them */
	/*
	 * Rows of a group that differ only in the number of queues, side by side. 1 without
	 * --queue-counts.
	 */
	size_t n_queues;
	size_t n_caches;		/* the same for gts rows and --device-caches */
	uint64_t *budget;
	const char **budget_text;	/* the budgets as given */
	struct mill_lab_row *row;	/* how.n_variants rows for each budget */
	double *seconds;		/* median of each row */
	size_t n_rows;
	char names[512];		/* the default of --policies, for the report */
};

/* Returns the budget of row i as it was given: "25%". */
static inline const char *lab_budget(const struct lab *l, size_t i)
{
	return l->budget_text[i / l->how.n_variants];
}

/* Returns the bytes of pages that moved, divided by the size of the graph's CSR. */
static inline double lab_multiple(const struct lab *l, size_t i)
{
	return l->work.info.csr_bytes ?
	       (double)l->row[i].report.topology / (double)l->work.info.csr_bytes : 0;
}

/* Returns the share of used pages (or partitions) that were already on the device. */
static inline double lab_hit_rate(const struct lab *l, size_t i)
{
	const struct mill_report *r = &l->row[i].report;
	uint64_t uses = r->pages_reused + r->pages_to_device;

	return uses ? (double)r->pages_reused / (double)uses : 0;
}

/*
 * Returns B / (S + L) of a gts row: the share of its pages that the device caches can hold. GTS
 * uses it as an estimate of the hit rate (section 3.3).
 */
static inline double lab_cache_share(const struct lab *l, size_t i)
{
	const struct mill_streaming *s = &l->row[i].report.streaming;
	uint64_t pages = s->small_pages + s->large_pages;
	uint64_t cached = s->cached_pages * (s->strategy == MILL_STRATEGY_S ? 1 : s->devices);

	return cached < pages ? (double)cached / (double)pages : 1;
}

/* Returns true if row i has numbers. A row with a wrong result has numbers too. */
static inline bool lab_ran(const struct lab *l, size_t i)
{
	return l->row[i].step && l->row[i].report.n_runs;
}

static inline const struct mill_variant *lab_variant(const struct lab *l, size_t i)
{
	return &l->how.variant[i % l->how.n_variants];
}

/*
 * Returns the policy that row i fell back to because its own has no kernels for the algorithm, or
 * NULL.
 */
static inline const char *lab_otherwise(const struct lab *l, size_t i)
{
	const struct mill_report *r = &l->row[i].report;

	return lab_ran(l, i) && r->device_budget ?
	       policy_otherwise(lab_variant(l, i)->policy, r->policy_owns) : NULL;
}

/* Splits "a,b,c" into its items. *out is one block for free(), also after a failure. */
mill_err lab_split(const char ***out, size_t *n, const char *option, const char *list);
/*
 * Chooses the rows of one budget. The store must be open. Sets o->policies to its default if it
 * was not given.
 */
mill_err lab_choose_rows(struct lab *l, struct options *o);

/*
 * Draw an SVG into *out, which is for free(). lab_plot: pages active and pages moved to the device
 * in each superstep, one panel per row, all to the same scale (Graphie's figure 8).
 */
mill_err lab_plot(char **out, const struct lab *l);
/* With --queue-counts: time over the number of queues, one line per group (Graphie's figure 9). */
mill_err lab_plot_queues(char **out, const struct lab *l);
/* With --device-caches: hit rate over the cache size, beside B / (S + L) (GTS's figure 11). */
mill_err lab_plot_caches(char **out, const struct lab *l);

#endif
