/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the supersteps of a lab: one panel per row, with pages active as an area and pages moved
 * to the device as a line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/chart.h"
#include "cli/message.h"

/* Pixels: a panel with its margins, and the area inside the margins. */
#define PANEL_WIDTH 300
#define PANEL_HEIGHT 220
#define LEFT 58
#define RIGHT 14
#define ABOVE 52
#define BELOW 44
#define WIDTH (PANEL_WIDTH - LEFT - RIGHT)
#define HEIGHT (PANEL_HEIGHT - ABOVE - BELOW)
#define HEAD 64		/* title and legend */
#define FOOT 14
#define MOST_COLUMNS 4

#define INK "#222"
#define FAINT "#777"
#define ACTIVE "#90caf9"
#define MOVED "#c62828"

struct draw_ctx {
	FILE *to;
	const struct lab *lab;
	uint64_t steps, pages;	/* largest values of the axes, the same in all panels */
};

typedef uint64_t series(const struct mill_step *s);

static uint64_t active(const struct mill_step *s)
{
	return s->pages_active;
}

static uint64_t moved(const struct mill_step *s)
{
	return s->pages_to_device;
}

/* Returns true if the last step is the sum of all later steps. It is not drawn then. */
static bool cut_short(const struct mill_report *r)
{
	return r->iterations > r->n_steps;
}

static uint64_t steps_of(const struct mill_lab_row *row)
{
	return row->report.n_steps - (row->report.n_steps && cut_short(&row->report));
}

static void find_ends(struct draw_ctx *d)
{
	size_t i;
	uint64_t k;

	d->steps = d->pages = 1;
	for (i = 0; i < d->lab->n_rows; i++) {
		const struct mill_lab_row *row = &d->lab->row[i];

		if (!lab_ran(d->lab, i))
			continue;
		d->steps = steps_of(row) > d->steps ? steps_of(row) : d->steps;
		for (k = 0; k < steps_of(row); k++) {
			d->pages = active(&row->step[k]) > d->pages ?
				   active(&row->step[k]) : d->pages;
			d->pages = moved(&row->step[k]) > d->pages ?
				   moved(&row->step[k]) : d->pages;
		}
	}
	d->pages += svg_tick(d->pages) - 1;
	d->pages -= d->pages % svg_tick(d->pages);
}

static void put_axes(const struct draw_ctx *d)
{
	uint64_t every = svg_tick(d->pages), at;
	double x, y;

	for (at = 0; at <= d->pages; at += every) {
		y = HEIGHT - HEIGHT * ((double)at / (double)d->pages);
		fprintf(d->to, "<line x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>",
			WIDTH, y, y, at ? "#e8e8e8" : INK);
		fprintf(d->to,
			"<text x=\"-7\" y=\"%.1f\" text-anchor=\"end\">%" PRIu64 "</text>\n",
			y + 4, at);
	}
	every = svg_tick(d->steps);
	for (at = every; at <= d->steps; at += every) {
		x = WIDTH * ((double)at - 0.5) / (double)d->steps;
		fprintf(d->to,
			"<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"%s\"/>", x, x,
			HEIGHT, HEIGHT + 4, INK);
		fprintf(d->to,
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%" PRIu64 "</text>\n",
			x, HEIGHT + 17, at);
	}
	fprintf(d->to,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"" FAINT
		"\">superstep</text>\n",
		WIDTH / 2, HEIGHT + 33);
	fprintf(d->to,
		"<text transform=\"translate(-44 %d) rotate(-90)\" text-anchor=\"middle\" "
		"fill=\"" FAINT "\">pages</text>\n",
		HEIGHT / 2);
}

/* Draws a staircase with one step per superstep. It begins and ends at 0. */
static void put_series(const struct draw_ctx *d, const struct mill_lab_row *row, series *of,
		       const char *style)
{
	uint64_t n = steps_of(row), k, last = 0;
	double width = (double)WIDTH / (double)d->steps;

	fprintf(d->to, "<path d=\"M0 %d", HEIGHT);
	for (k = 0; k < n; k++) {
		uint64_t value = of(&row->step[k]);

		if (value == last)
			continue;
		fprintf(d->to, "H%.1fV%.1f", width * (double)k,
			HEIGHT - HEIGHT * ((double)value / (double)d->pages));
		last = value;
	}
	fprintf(d->to, "H%.1fV%d\" %s/>\n", width * (double)n, HEIGHT, style);
}

static void put_panel(const struct draw_ctx *d, size_t i, double x, double y)
{
	const struct mill_lab_row *row = &d->lab->row[i];

	fprintf(d->to,
		"<g transform=\"translate(%g %g)\">\n"
		"<text y=\"-26\" font-size=\"13\"><tspan font-weight=\"bold\">",
		x + LEFT, y + ABOVE);
	svg_text(d->to, row->name);
	fprintf(d->to, "</tspan> at ");
	svg_text(d->to, lab_budget(d->lab, i));
	fprintf(d->to, "</text>\n");
	if (lab_ran(d->lab, i)) {
		fprintf(d->to,
			"<text y=\"-11\" fill=\"" FAINT "\">%" PRIu64
			" pages moved, %.3g x CSR</text>\n",
			row->report.pages_to_device, lab_multiple(d->lab, i));
		put_axes(d);
		put_series(d, row, active, "fill=\"" ACTIVE "\"");
		put_series(d, row, moved,
			   "fill=\"none\" stroke=\"" MOVED
			   "\" stroke-width=\"1.5\" stroke-linejoin=\"round\"");
	} else {
		fprintf(d->to, "<rect width=\"%d\" height=\"%d\" fill=\"#f6f6f6\"/>\n", WIDTH,
			HEIGHT);
		fprintf(d->to,
			"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"" FAINT "\">",
			WIDTH / 2, HEIGHT / 2);
		if (row->needed)
			fprintf(d->to, "needs %" PRIu64 " bytes</text>\n", row->needed);
		else
			fprintf(d->to, "the budget is too small</text>\n");
	}
	fprintf(d->to, "</g>\n");
}

static void put_head(const struct draw_ctx *d, unsigned width, unsigned height)
{
	bool rest = false;
	size_t i;

	for (i = 0; i < d->lab->n_rows; i++)
		rest |= lab_ran(d->lab, i) && cut_short(&d->lab->row[i].report);
	fprintf(d->to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" "
		"font-size=\"11\" fill=\"" INK "\">\n",
		width, height, width, height);
	fprintf(d->to,
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"%d\" y=\"26\" font-size=\"16\">", 14);
	svg_text(d->to, d->lab->how.algorithm);
	fprintf(d->to, " of ");
	svg_text(d->to, d->lab->work.info.path);
	fprintf(d->to,
		": pages in each superstep</text>\n"
		"<rect x=\"14\" y=\"40\" width=\"18\" height=\"11\" fill=\"" ACTIVE "\"/>"
		"<text x=\"38\" y=\"50\">active</text>\n"
		"<line x1=\"90\" x2=\"108\" y1=\"46\" y2=\"46\" stroke=\"" MOVED
		"\" stroke-width=\"1.5\"/>"
		"<text x=\"114\" y=\"50\">moved to the device%s</text>\n",
		rest ? " (later supersteps are left out)" : "");
}

mill_err lab_plot(char **out, const struct lab *l)
{
	struct draw_ctx d = { .lab = l };
	size_t variants = l->how.n_variants, i;
	size_t columns = variants <= MOST_COLUMNS ? variants :
			 variants <= 2 * MOST_COLUMNS ? (variants + 1) / 2 : MOST_COLUMNS;
	size_t lines = (variants + columns - 1) / columns;	/* per budget */
	size_t size;

	*out = NULL;
	d.to = open_memstream(out, &size);
	if (!d.to)
		return refuse(MILL_ENOMEM, "no memory for the plot");
	find_ends(&d);
	put_head(&d, (unsigned)(PANEL_WIDTH * (columns > 1 ? columns : 2)),
		 (unsigned)(HEAD + PANEL_HEIGHT * lines * l->how.n_budgets + FOOT));
	for (i = 0; i < l->n_rows; i++) {
		size_t line = i / variants * lines + i % variants / columns;

		put_panel(&d, i, (double)(PANEL_WIDTH * (i % variants % columns)),
			  (double)(HEAD + PANEL_HEIGHT * line));
	}
	fprintf(d.to, "</svg>\n");
	if (fclose(d.to)) {
		free(*out);
		return refuse(MILL_ENOMEM, "no memory for the plot");
	}
	return MILL_OK;
}
