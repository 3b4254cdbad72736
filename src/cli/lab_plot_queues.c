/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the times of a lab over the number of queues, one line per group of rows. */
#include <math.h>

#include "cli/chart.h"

/* Returns the place of row i on the x axis, from 0 to 1. The axis is logarithmic. */
static double x_of(const struct lab *l, size_t i)
{
	double least = lab_variant(l, 0)->queues, most = least;
	size_t k;

	for (k = 0; k < l->n_queues; k++) {
		least = fmin(least, lab_variant(l, k)->queues);
		most = fmax(most, lab_variant(l, k)->queues);
	}
	return most > least ? log2(lab_variant(l, i)->queues / least) / log2(most / least) : 0;
}

mill_err lab_plot_queues(char **out, const struct lab *l)
{
	struct axis y = { "milliseconds", 1, 1e3 };
	struct chart c;
	char text[16];
	size_t i, k;
	mill_err err;

	for (i = 0; i < l->n_rows; i++)
		if (lab_ran(l, i))
			y.end = (uint64_t)fmax((double)y.end, l->seconds[i] * 1.05e6);
	err = chart_begin(&c, out, l, "time by the number of queues", l->n_rows / l->n_queues);
	if (err)
		return err;
	chart_axes(&c, "queues", &y);
	for (k = 0; k < l->n_queues; k++) {
		snprintf(text, sizeof(text), "%u", lab_variant(l, k)->queues);
		chart_mark(&c, x_of(l, k), text);
	}
	for (i = 0; i < l->n_rows; i += l->n_queues) {
		chart_line(&c, false);
		for (k = i; k < i + l->n_queues; k++)
			if (lab_ran(l, k))
				chart_point(&c, x_of(l, k), l->seconds[k] * 1e6);
		chart_line_end(&c);
		chart_legend(&c, i, 1);
	}
	return chart_end(&c);
}
