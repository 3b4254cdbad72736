/* SPDX-License-Identifier: Apache-2.0 */
/* What drawings of a lab share: text and marks for SVG, and a chart of lines with a legend beside it. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdio.h>

#include "cli/lab.h"

/* Text that XML can hold, and the distance of marks on an axis that goes so far. */
void svg_text(FILE *to, const char *text);
uint64_t svg_tick(uint64_t end);

struct chart {
	FILE *to;
	char **out;
	size_t size;
	const struct lab *lab;
	uint64_t end;		/* of the y axis, in its units */
	size_t n_lines;		/* so far */
	bool drawn;		/* the line has a point */
};

struct axis {
	const char *name;
	uint64_t end;		/* it begins at 0 */
	double unit;		/* so much of it is written as 1 */
};

/* title: what it shows; n: lines there will be. *out is for free() once chart_end succeeded; after chart_begin it must follow. */
mill_err chart_begin(struct chart *c, char **out, const struct lab *l, const char *title, size_t n);
mill_err chart_end(struct chart *c);
void chart_axes(struct chart *c, const char *x_name, const struct axis *y);
/* x from 0 to 1. */
void chart_mark(struct chart *c, double x, const char *text);
/* A line: begin, points, end. Those that are dashed belong to the last that is not, and have no place in the legend. */
void chart_line(struct chart *c, bool dashed);
void chart_point(struct chart *c, double x, double y);
void chart_line_end(struct chart *c);
/* The row is one of the last line's. cut: so many words at the end of its name are what the line is drawn over. */
void chart_legend(struct chart *c, size_t row, unsigned cut);

#endif
