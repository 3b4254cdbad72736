/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "cli/message.h"

/* Pixels. */
#define LEFT 70
#define TOP 56
#define WIDTH 420
#define HEIGHT 260
#define LEGEND 250
#define LINE 18

static const char *const colour[] = { "#c62828", "#1565c0", "#2e7d32", "#6a1b9a", "#ef6c00", "#00838f", "#4e342e", "#37474f" };

struct drawing {
	FILE *to;
	const struct lab *lab;
	double seconds;		/* the end of the axis */
};

static const struct mill_variant *variant(const struct lab *l, size_t i) { return &l->how.variant[i % l->how.n_variants]; }

/* Numbers of queues double from mark to mark. */
static double x_of(const struct drawing *d, size_t i)
{
	double least = variant(d->lab, 0)->queues, most = least;
	size_t k;

	for (k = 0; k < d->lab->n_queues; k++) {
		least = fmin(least, variant(d->lab, k)->queues);
		most = fmax(most, variant(d->lab, k)->queues);
	}
	return most > least ? WIDTH * log2(variant(d->lab, i)->queues / least) / log2(most / least) : 0;
}

static double y_of(const struct drawing *d, double seconds) { return HEIGHT - HEIGHT * seconds / d->seconds; }

static void put_axes(const struct drawing *d)
{
	uint64_t micro = (uint64_t)(d->seconds * 1e6), every = svg_tick(micro), at;
	size_t k;

	for (at = 0; at <= micro; at += every) {
		double y = y_of(d, (double)at / 1e6);

		fprintf(d->to, "<line x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>", WIDTH, y, y, at ? "#e8e8e8" : "#222");
		fprintf(d->to, "<text x=\"-7\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n", y + 4, (double)at / 1e3);
	}
	for (k = 0; k < d->lab->n_queues; k++)
		fprintf(d->to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%" PRIu32 "</text>\n", x_of(d, k), HEIGHT + 17,
			variant(d->lab, k)->queues);
	fprintf(d->to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#777\">queues</text>\n", WIDTH / 2, HEIGHT + 35);
	fprintf(d->to, "<text transform=\"translate(-52 %d) rotate(-90)\" text-anchor=\"middle\" fill=\"#777\">milliseconds</text>\n",
		HEIGHT / 2);
}

/* Rows [first, first + n_queues). */
static void put_line(const struct drawing *d, size_t first, size_t number)
{
	const char *stroke = colour[number % (sizeof(colour) / sizeof(colour[0]))];
	const char *full = variant(d->lab, first)->name, *last = strrchr(full, ' '), *move = "M";
	char name[64];
	size_t k;

	/* Without its last word, the number of queues. */
	snprintf(name, sizeof(name), "%.*s", (int)(last - full), full);
	fprintf(d->to, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", stroke);
	for (k = first; k < first + d->lab->n_queues; k++) {
		if (!lab_ran(d->lab, k))
			continue;
		fprintf(d->to, "%s%.1f %.1f", move, x_of(d, k), y_of(d, d->lab->seconds[k]));
		move = "L";
	}
	fprintf(d->to, "\"/>\n<line x1=\"%d\" x2=\"%d\" y1=\"%zu\" y2=\"%zu\" stroke=\"%s\" stroke-width=\"1.5\"/>", WIDTH + 16, WIDTH + 34,
		number * LINE, number * LINE, stroke);
	fprintf(d->to, "<text x=\"%d\" y=\"%zu\">", WIDTH + 40, number * LINE + 4);
	svg_text(d->to, name);
	fprintf(d->to, " at ");
	svg_text(d->to, lab_budget(d->lab, first));
	fprintf(d->to, "</text>\n");
}

mill_err lab_plot_queues(char **out, const struct lab *l)
{
	size_t lines = l->n_rows / l->n_queues, size, i, height = lines * LINE > HEIGHT ? lines * LINE : HEIGHT;
	struct drawing d = { .lab = l, .seconds = 1e-6 };

	*out = NULL;
	d.to = open_memstream(out, &size);
	if (!d.to)
		return refuse(MILL_ENOMEM, "no memory for the plot");
	for (i = 0; i < l->n_rows; i++)
		if (lab_ran(l, i))
			d.seconds = fmax(d.seconds, l->seconds[i] * 1.05);
	fprintf(d.to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-family=\"sans-serif\" font-size=\"11\" "
		"fill=\"#222\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"14\" y=\"26\" font-size=\"16\">",
		LEFT + WIDTH + LEGEND, TOP + height + 50);
	svg_text(d.to, l->how.algorithm);
	fprintf(d.to, " of ");
	svg_text(d.to, l->work.info.path);
	fprintf(d.to, ": time by the number of queues</text>\n<g transform=\"translate(%d %d)\">\n", LEFT, TOP);
	put_axes(&d);
	for (i = 0; i < lines; i++)
		put_line(&d, i * l->n_queues, i);
	fprintf(d.to, "</g>\n</svg>\n");
	if (fclose(d.to)) {
		free(*out);
		return refuse(MILL_ENOMEM, "no memory for the plot");
	}
	return MILL_OK;
}
