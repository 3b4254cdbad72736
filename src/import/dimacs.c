/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads shortest-path files of the ninth DIMACS challenge: "p sp VERTICES ARCS" once, then
 * "a FROM TO WEIGHT" for each arc. Vertices count from 1; lines that begin with c are comments.
 */
#include <string.h>

#include "import/format.h"

static mill_err read_problem(struct scan *s, u64 *vertices, u64 *arcs)
{
	char word[SCAN_WORD];

	if (scan_next_line(s, 'c') == SCAN_END)
		return scan_fail(s, MILL_EINPUT, "there is no line \"p sp VERTICES ARCS\"");
	TRY(scan_word(s, word));
	if (strcmp(word, "p"))
		return scan_fail(s, MILL_EINPUT,
				 "\"%s\" stands where \"p sp VERTICES ARCS\" should", word);
	TRY(scan_word(s, word));
	if (strcmp(word, "sp"))
		return scan_fail(s, MILL_EINPUT,
				 "\"p %s\" is another DIMACS format: only \"p sp\" is read",
				 word);
	TRY(scan_u64(s, vertices, "the number of vertices"));
	TRY(scan_u64(s, arcs, "the number of arcs"));
	return scan_end_line(s);
}

static mill_err read_vertex(struct scan *s, u64 *out, u64 vertices)
{
	TRY(scan_u64(s, out, "a vertex"));
	if (*out >= 1 && *out <= vertices)
		return MILL_OK;
	return scan_fail(s, MILL_EINPUT, "vertex %llu is not one of 1 to %llu",
			 (unsigned long long)*out, (unsigned long long)vertices);
}

static mill_err read_arc(struct reader *r, u64 vertices)
{
	struct scan *s = &r->scan;
	char word[SCAN_WORD];
	u64 from, to;
	bool whole;
	i64 integer;
	f64 weight;

	TRY(scan_word(s, word));
	if (strcmp(word, "a"))
		return scan_fail(s, MILL_EINPUT,
				 "\"%s\" cannot begin a line: \"a\" begins an arc, "
				 "\"c\" a comment",
				 word);
	TRY(read_vertex(s, &from, vertices));
	TRY(read_vertex(s, &to, vertices));
	TRY(scan_number(s, &weight, &whole, &integer, "a weight"));
	if (r->k->weighted)
		TRY(reader_weight(r, weight, whole, integer));
	TRY(reader_edge(r, from, to, weight));
	return scan_end_line(s);
}

mill_err dimacs_read(struct reader *r)
{
	struct scan *s = &r->scan;
	u64 vertices, arcs, n;

	TRY(reader_scan(r, false));
	TRY(reader_base(r, 1));
	TRY(read_problem(s, &vertices, &arcs));
	TRY(reader_settle(r, HEADER_DIRECTED, true, false));
	for (n = 0; scan_next_line(s, 'c') != SCAN_END; n++) {
		if (n == arcs)
			return scan_fail(s, MILL_EINPUT,
					 "there are more arcs than the %llu of the header",
					 (unsigned long long)arcs);
		TRY(read_arc(r, vertices));
	}
	if (s->err)
		return s->err;
	if (n != arcs)
		return scan_fail(s, MILL_EINPUT,
				 "the file ends after %llu of the %llu arcs of its header",
				 (unsigned long long)n, (unsigned long long)arcs);
	return reader_vertices(r, 1, vertices, n);
}
