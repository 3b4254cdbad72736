/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the hit rates of a lab's gts rows over the size of the device cache, and as dashed lines
 * GTS's estimate B / (S + L).
 */
#include <string.h>

#include "cli/chart.h"

/* Returns the cache size of row i in bytes. */
static uint64_t cache_of(const struct lab *l, size_t i)
{
	uint64_t size = lab_variant(l, i)->gts.device_cache;

	return size == MILL_SIZE_NONE ? 0 : size;
}

static double x_of(const struct lab *l, size_t i, uint64_t most)
{
	return most ? (double)cache_of(l, i) / (double)most : 0;
}

typedef double rate(const struct lab *l, size_t i);

/* Draws a rate of rows [first, first + n_caches), in percent. */
static void put_line(struct chart *c, size_t first, uint64_t most, rate *of, bool dashed)
{
	size_t k;

	chart_line(c, dashed);
	for (k = first; k < first + c->lab->n_caches; k++)
		if (lab_ran(c->lab, k))
			chart_point(c, x_of(c->lab, k, most), 100 * of(c->lab, k));
	chart_line_end(c);
}

/* Returns the first gts row. Rows of other policies have no cache and are not drawn. */
static size_t first_row(const struct lab *l)
{
	size_t i = 0;

	while (!lab_variant(l, i)->gts.device_cache)
		i++;
	return i;
}

mill_err lab_plot_caches(char **out, const struct lab *l)
{
	const struct axis y = { "hit rate, % (dashed: B / (S + L))", 100, 1 };
	size_t first = first_row(l), n = 0, i;
	uint64_t most = 0;
	struct chart c;
	mill_err err;

	for (i = 0; i < l->n_rows; i++) {
		n += lab_variant(l, i)->gts.device_cache != 0;
		most = cache_of(l, i) > most ? cache_of(l, i) : most;
	}
	err = chart_begin(&c, out, l, "hit rate by the size of the cache", n / l->n_caches);
	if (err)
		return err;
	chart_axes(&c, "cache of a device", &y);
	for (i = first; i < first + l->n_caches; i++)	/* labels: last word of each name */
		chart_mark(&c, x_of(l, i, most), strrchr(lab_variant(l, i)->name, ' ') + 1);
	for (i = 0; i < l->n_rows; i += lab_variant(l, i)->gts.device_cache ? l->n_caches : 1) {
		if (!lab_variant(l, i)->gts.device_cache)
			continue;
		put_line(&c, i, most, lab_hit_rate, false);
		chart_legend(&c, i, 2);
		put_line(&c, i, most, lab_cache_share, true);
	}
	return chart_end(&c);
}
