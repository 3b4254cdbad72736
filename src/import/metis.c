/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads METIS and Chaco: "VERTICES EDGES [FORMAT [WEIGHTS]]", then for each vertex a line with
 * its neighbours, counted from 1. An empty line is a vertex without neighbours. Every edge is on
 * the lines of both its ends and counts once. The digits of FORMAT say whether there is a size of
 * each vertex, weights of each vertex (WEIGHTS of them) and a weight of each edge. Sizes and
 * weights of vertices must be numbers; they are not stored.
 */
#include <string.h>

#include "import/format.h"

struct metis {
	struct mirror_check both;
	u64 vertices, edges;
	bool sizes, edge_weights;
	u64 n_weights; /* weights of a vertex */
	u64 listed;    /* neighbours read so far */
	u64 *line;     /* line at which each bucket of the check begins */
};

static mill_err read_header(struct scan *s, struct metis *m)
{
	char format[SCAN_WORD];
	size_t n;
	int c;

	scan_next_line(s, '%');
	TRY(scan_u64(s, &m->vertices, "the number of vertices"));
	TRY(scan_u64(s, &m->edges, "the number of edges"));
	TRY(scan_word(s, format));
	n = strlen(format);
	if (strspn(format, "01") != n || n > 3)
		return scan_fail(s, MILL_EINPUT,
				 "the format \"%s\" must be at most three digits 0 or 1",
				 format);
	m->edge_weights = n >= 1 && format[n - 1] == '1';
	m->n_weights = n >= 2 && format[n - 2] == '1';
	m->sizes = n == 3 && format[0] == '1';
	c = scan_blanks(s);
	if (c != '\n' && c != SCAN_END) {
		u64 n_weights;

		TRY(scan_u64(s, &n_weights, "the number of weights of a vertex"));
		if (m->n_weights)
			m->n_weights = n_weights;
	}
	return scan_end_line(s);
}

static mill_err read_neighbour(struct reader *r, struct metis *m, u64 u)
{
	struct scan *s = &r->scan;
	bool whole = true;
	i64 integer = 1;
	f64 weight = 1;
	u64 v, bits = 0;

	TRY(scan_u64(s, &v, "a neighbour"));
	if (v < 1 || v > m->vertices)
		return scan_fail(s, MILL_EINPUT, "neighbour %llu is not one of 1 to %llu",
				 (unsigned long long)v, (unsigned long long)m->vertices);
	if (v == u)
		return scan_fail(s, MILL_EINPUT,
				 "vertex %llu is its own neighbour, which this format does "
				 "not allow",
				 (unsigned long long)u);
	if (m->edge_weights) {
		TRY(scan_number(s, &weight, &whole, &integer, "the weight of an edge"));
		if (r->k->weighted)
			TRY(reader_weight(r, weight, whole, integer));
		memcpy(&bits, &weight, sizeof(bits));
	}
	mirror_add(&m->both, u - 1, v - 1, bits);
	m->listed++;
	return u < v || !r->k->undirected ? reader_edge(r, u, v, weight) : MILL_OK;
}

/* Reads the line of vertex u. */
static mill_err read_vertex(struct reader *r, struct metis *m, u64 u)
{
	struct scan *s = &r->scan;
	f64 value;
	bool whole;
	i64 integer;
	int c;

	if (m->sizes)
		TRY(scan_number(s, &value, &whole, &integer, "the size of the vertex"));
	for (u64 i = 0; i < m->n_weights; i++)
		TRY(scan_number(s, &value, &whole, &integer, "a weight of the vertex"));
	while ((c = scan_blanks(s)) != '\n' && c != SCAN_END)
		TRY(read_neighbour(r, m, u));
	return scan_skip_line(s);
}

static mill_err check_ends(struct reader *r, const struct metis *m)
{
	u64 first, last;

	if (!mirror_agrees(&m->both, &first, &last)) {
		r->scan.line = m->line[first >> m->both.shift];
		return scan_fail(&r->scan, MILL_EINPUT,
				 "the lists are not symmetric: vertex %llu%s has an edge that "
				 "the neighbour's line does not have, or has with another weight",
				 (unsigned long long)first + 1,
				 first == last ? "" : " or one soon after it");
	}
	if (m->listed % 2 || m->listed / 2 != m->edges)
		return scan_fail(&r->scan, MILL_EINPUT,
				 "the lists have %llu edges, and the header says %llu",
				 (unsigned long long)m->listed / 2,
				 (unsigned long long)m->edges);
	return MILL_OK;
}

static mill_err read_lists(struct reader *r, struct metis *m)
{
	struct scan *s = &r->scan;

	for (u64 u = 1; u <= m->vertices; u++) {
		int c;

		while ((c = scan_blanks(s)) == '%')
			TRY(scan_skip_line(s));
		if (c == SCAN_END)
			return scan_fail(s, MILL_EINPUT,
					 "the file ends after %llu of the %llu vertices of "
					 "its header",
					 (unsigned long long)u - 1,
					 (unsigned long long)m->vertices);
		if ((u - 1) % ((u64)1 << m->both.shift) == 0)
			m->line[(u - 1) >> m->both.shift] = s->line;
		TRY(read_vertex(r, m, u));
	}
	if (scan_next_line(s, '%') != SCAN_END)
		return scan_fail(s, MILL_EINPUT,
				 "there are more lines than the %llu vertices of the header",
				 (unsigned long long)m->vertices);
	TRY(s->err);
	TRY(check_ends(r, m));
	return reader_vertices(r, 1, m->vertices, m->vertices);
}

mill_err metis_read(struct reader *r)
{
	struct metis m = { .vertices = 0 };
	mill_err err;

	TRY(reader_scan(r, false));
	TRY(reader_base(r, 1));
	TRY(read_header(&r->scan, &m));
	TRY(reader_settle(r, HEADER_UNDIRECTED, m.edge_weights, false));
	TRY(mirror_begin(&m.both, m.vertices, builder_budget(r->k->b)));
	err = memory_new(&m.line, builder_budget(r->k->b), MIRROR_BUCKETS, sizeof(*m.line),
			 "the check of both ends");
	if (!err)
		err = read_lists(r, &m);
	memory_free(m.line);
	mirror_release(&m.both);
	return err;
}
