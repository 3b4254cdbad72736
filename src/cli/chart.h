/* SPDX-License-Identifier: Apache-2.0 */
/* Common code of the lab's drawings: text and marks for SVG, and a line chart with a legend. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdio.h>

#include "cli/lab.h"

/* Writes text, escaped for XML. */
void svg_text(FILE *to, const char *text);
/* Returns the distance of the marks on an axis from 0 to `end`. */
uint64_t svg_tick(uint64_t end);

struct chart {
	FILE *to;
	char **out;
	size_t size;
	const struct lab *lab;
	uint64_t end;		/* largest value of the y axis */
	size_t n_lines;		/* lines so far, without dashed ones */
	bool drawn;		/* the current line has a point */
};

struct axis {
	const char *name;
	uint64_t end;		/* its largest value; the smallest is 0 */
	double unit;		/* the value that is labelled 1 */
};

/*
 * Begin and end a chart. n: the number of lines that will follow. After chart_begin succeeded,
 * chart_end must be called; after that succeeded, *out is for free().
 */
mill_err chart_begin(struct chart *c, char **out, const struct lab *l, const char *title, size_t n);
mill_err chart_end(struct chart *c);
void chart_axes(struct chart *c, const char *x_name, const struct axis *y);
/* Writes a label at the x axis. x is from 0 to 1. */
void chart_mark(struct chart *c, double x, const char *text);
/*
 * Draw a line: begin, points, end. A dashed line has the colour of the last solid line and is not
 * in the legend.
 */
void chart_line(struct chart *c, bool dashed);
void chart_point(struct chart *c, double x, double y);
void chart_line_end(struct chart *c);
/*
 * Adds the last line to the legend. row: a row of that line. cut: the number of words at the end
 * of its name to leave out, since they are the x values.
 */
void chart_legend(struct chart *c, size_t row, unsigned cut);

#endif
