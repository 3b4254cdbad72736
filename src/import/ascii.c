/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads WebGraph's ASCIIGraph: the number of vertices on the first line, then a line of
 * successors for each vertex, counted from 0 and ascending.
 */
#include "import/format.h"

static mill_err read_successors(struct reader *r, u64 u, u64 n)
{
	struct scan *s = &r->scan;
	u64 v, before = 0;
	bool first = true;
	int c;

	for (; (c = scan_blanks(s)) != '\n' && c != SCAN_END; first = false) {
		TRY(scan_u64(s, &v, "a successor"));
		if (v >= n)
			return scan_fail(s, MILL_EINPUT,
					 "successor %llu is not one of 0 to %llu",
					 (unsigned long long)v, (unsigned long long)n - 1);
		if (!first && v <= before)
			return scan_fail(s, MILL_EINPUT,
					 "successor %llu does not come after %llu: lists ascend",
					 (unsigned long long)v, (unsigned long long)before);
		before = v;
		TRY(reader_edge(r, u, v, 1));
	}
	return scan_skip_line(s);
}

mill_err ascii_read(struct reader *r)
{
	struct scan *s = &r->scan;
	u64 n;

	TRY(reader_scan(r, false));
	TRY(reader_base(r, 0));
	TRY(scan_u64(s, &n, "the number of vertices"));
	TRY(scan_end_line(s));
	TRY(reader_settle(r, HEADER_DIRECTED, false, false));
	for (u64 u = 0; u < n; u++) {
		if (scan_peek(s) == SCAN_END)
			return scan_fail(s, MILL_EINPUT,
					 "the file ends after %llu of the %llu vertices of "
					 "its header",
					 (unsigned long long)u, (unsigned long long)n);
		TRY(read_successors(r, u, n));
	}
	if (scan_next_line(s, 0) != SCAN_END)
		return scan_fail(s, MILL_EINPUT,
				 "there are more lines than the %llu vertices of the header",
				 (unsigned long long)n);
	TRY(s->err);
	return reader_vertices(r, 0, n, n);
}
