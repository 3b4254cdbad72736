/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the SVG of line charts: axes, lines, legend. The text goes to a memory stream; a failure
 * of the stream shows when it is closed.
 */
#include "cli/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

/* Pixels. */
#define LEFT 70
#define TOP 56
#define WIDTH 420
#define HEIGHT 260
#define LEGEND 250
#define LINE 18

static const char *const colour[] = { "#c62828", "#1565c0", "#2e7d32", "#6a1b9a",
				      "#ef6c00", "#00838f", "#4e342e", "#37474f" };

/* The distance is 1, 2 or 5 times a power of ten, so that there are about five marks. */
uint64_t svg_tick(uint64_t end)
{
	static const double round[] = { 1, 2, 5, 10 };
	double power = pow(10, floor(log10((double)end / 4)));
	size_t i = 0;

	while (i < 3 && round[i] * power * 5.5 < (double)end)
		i++;
	return power * round[i] < 1 ? 1 : (uint64_t)(power * round[i]);
}

/* A path may contain bytes that XML does not allow: they become "?". */
void svg_text(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t length;

	for (; *s; s += length ? length : 1) {
		length = utf8_length(s);
		if (!length || *s < ' ' || *s == 127)
			fputc('?', to);
		else if (*s == '<' || *s == '>' || *s == '&')
			fprintf(to, "&#%d;", *s);
		else
			fwrite(s, 1, length, to);
	}
}

mill_err chart_begin(struct chart *c, char **out, const struct lab *l, const char *title, size_t n)
{
	size_t height = n * LINE > HEIGHT ? n * LINE : HEIGHT;

	*out = NULL;
	*c = (struct chart){ .out = out, .lab = l, .end = 1 };
	c->to = open_memstream(out, &c->size);
	if (!c->to)
		return refuse(MILL_ENOMEM, "no memory for the plot");
	fprintf(c->to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
		"font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"14\" y=\"26\" font-size=\"16\">",
		LEFT + WIDTH + LEGEND, TOP + height + 50);
	svg_text(c->to, l->how.algorithm);
	fprintf(c->to, " of ");
	svg_text(c->to, l->work.info.path);
	fprintf(c->to, ": %s</text>\n<g transform=\"translate(%d %d)\">\n", title, LEFT, TOP);
	return MILL_OK;
}

mill_err chart_end(struct chart *c)
{
	fprintf(c->to, "</g>\n</svg>\n");
	if (fclose(c->to)) {
		free(*c->out);
		return refuse(MILL_ENOMEM, "no memory for the plot");
	}
	return MILL_OK;
}

static double y_of(const struct chart *c, double y) { return HEIGHT - HEIGHT * y / (double)c->end; }

void chart_axes(struct chart *c, const char *x_name, const struct axis *y)
{
	uint64_t every = svg_tick(y->end), at;

	c->end = y->end;
	for (at = 0; at <= y->end; at += every) {
		double pixel = y_of(c, (double)at);

		fprintf(c->to, "<line x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>",
			WIDTH, pixel, pixel, at ? "#e8e8e8" : "#222");
		fprintf(c->to, "<text x=\"-7\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n",
			pixel + 4, (double)at / y->unit);
	}
	fprintf(c->to,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#777\">%s</text>\n",
		WIDTH / 2, HEIGHT + 35, x_name);
	fprintf(c->to,
		"<text transform=\"translate(-52 %d) rotate(-90)\" text-anchor=\"middle\" "
		"fill=\"#777\">%s</text>\n",
		HEIGHT / 2, y->name);
}

void chart_mark(struct chart *c, double x, const char *text)
{
	fprintf(c->to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", WIDTH * x, HEIGHT + 17);
	svg_text(c->to, text);
	fprintf(c->to, "</text>\n");
}

static const char *stroke(const struct chart *c)
{
	return colour[(c->n_lines - 1) % (sizeof(colour) / sizeof(colour[0]))];
}

void chart_line(struct chart *c, bool dashed)
{
	c->n_lines += !dashed;
	c->drawn = false;
	fprintf(c->to, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s d=\"", stroke(c),
		dashed ? "1\" stroke-dasharray=\"5 4\"" : "1.5\"");
}

void chart_point(struct chart *c, double x, double y)
{
	fprintf(c->to, "%s%.1f %.1f", c->drawn ? "L" : "M", WIDTH * x, y_of(c, y));
	c->drawn = true;
}

void chart_line_end(struct chart *c) { fprintf(c->to, "\"/>\n"); }

void chart_legend(struct chart *c, size_t row, unsigned cut)
{
	size_t y = (c->n_lines - 1) * LINE;
	char name[64], *last;

	snprintf(name, sizeof(name), "%s", lab_variant(c->lab, row)->name);
	for (last = strrchr(name, ' '); cut && last; cut--, last = strrchr(name, ' '))
		*last = '\0';
	fprintf(c->to,
		"<line x1=\"%d\" x2=\"%d\" y1=\"%zu\" y2=\"%zu\" stroke=\"%s\" "
		"stroke-width=\"1.5\"/>",
		WIDTH + 16, WIDTH + 34, y, y, stroke(c));
	fprintf(c->to, "<text x=\"%d\" y=\"%zu\">", WIDTH + 40, y + 4);
	svg_text(c->to, name);
	fprintf(c->to, " at ");
	svg_text(c->to, lab_budget(c->lab, row));
	fprintf(c->to, "</text>\n");
}
