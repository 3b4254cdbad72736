/* SPDX-License-Identifier: Apache-2.0 */
/* A lab as the command line holds it: what was asked for, and the rows that came of it. */
#ifndef CLI_LAB_H
#define CLI_LAB_H

#include <stdio.h>

#include "cli/run.h"

struct lab {
	struct work work;
	struct mill_lab how;
	struct mill_variant *variant;	/* the rows of a budget */
	char *labels;			/* their names, where wires or queues vary */
	size_t n_queues;		/* how many of them differ only in that, side by side; 1: --queue-counts was not given */
	uint64_t *budget;
	const char **budget_text;	/* as they were given */
	struct mill_lab_row *row;	/* how.n_variants for each budget */
	double *seconds;		/* median of each row */
	size_t n_rows;
	char names[256];		/* of the table's, for the report */
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

/* There are numbers: also of a result that its certificate found wrong. */
static inline bool lab_ran(const struct lab *l, size_t i)
{
	return l->row[i].step && l->row[i].report.n_runs;
}

/*
 * A drawing of pages active and pages moved to the device over the supersteps, one panel for each row, all to the same scale
 * (Graphie's figure 8), as SVG. *out is for free().
 */
mill_err lab_plot(char **out, const struct lab *l);
/* For drawings: text that XML can hold, and the distance of marks on an axis that goes so far. */
void svg_text(FILE *to, const char *text);
uint64_t svg_tick(uint64_t end);
/* With --queue-counts instead: times over the numbers of queues, a line for each of the other choices (its figure 9). */
mill_err lab_plot_queues(char **out, const struct lab *l);

#endif
