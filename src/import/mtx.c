/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Matrix Market: entry (i, j) is an edge from row i to column j, both counted from 1. A
 * rectangular matrix is a bipartite graph: its columns are numbered after its rows. A symmetric
 * matrix lists one triangle, and then the order of an entry's two numbers does not matter.
 * Explicit zeros are entries, and so are all values of an array.
 */
#include <string.h>
#include <strings.h>

#include "import/format.h"

enum field { FIELD_PATTERN, FIELD_INTEGER, FIELD_REAL };
enum symmetry { SYMMETRY_GENERAL, SYMMETRY_SYMMETRIC, SYMMETRY_SKEW };

struct matrix {
	bool array;
	enum field field;
	enum symmetry symmetry;
	u64 rows, columns, entries;
	u64 shift; /* added to the columns */
};

/* Reads a word of the banner. *out is its index among the words allowed. */
static mill_err banner_word(struct scan *s, const char *const *word, int *out)
{
	char text[SCAN_WORD];

	TRY(scan_word(s, text));
	for (*out = 0; word[*out]; ++*out)
		if (!strcasecmp(text, word[*out]))
			return MILL_OK;
	return scan_fail(s, MILL_EINPUT,
			 "the banner of a Matrix Market file has \"%s\" instead of \"%s\"%s",
			 text, word[0], word[1] ? " or similar" : "");
}

static mill_err read_banner(struct scan *s, struct matrix *m)
{
	static const char *const banner[] = { "%%MatrixMarket", NULL };
	static const char *const object[] = { "matrix", NULL };
	static const char *const form[] = { "coordinate", "array", NULL };
	static const char *const field[] = { "pattern", "integer", "real",
					     "double",	"complex", NULL };
	static const char *const symmetry[] = { "general", "symmetric", "skew-symmetric",
						"hermitian", NULL };
	int which;

	if (scan_blanks(s) != '%')
		return scan_fail(s, MILL_EINPUT, "there is no %%%%MatrixMarket banner");
	TRY(banner_word(s, banner, &which));
	TRY(banner_word(s, object, &which));
	TRY(banner_word(s, form, &which));
	m->array = which == 1;
	TRY(banner_word(s, field, &which));
	if (which == 4)
		return scan_fail(s, MILL_EINPUT,
				 "the matrix is complex, which weights cannot be");
	m->field = which == 3 ? FIELD_REAL : (enum field)which;
	TRY(banner_word(s, symmetry, &which));
	/* Without imaginary parts a hermitian matrix is symmetric. */
	m->symmetry = which == 3 ? SYMMETRY_SYMMETRIC : (enum symmetry)which;
	if (m->field == FIELD_PATTERN && (m->array || which > 1))
		return scan_fail(s, MILL_EINPUT, "a pattern must be a general or symmetric "
						 "matrix of coordinates");
	return scan_end_line(s);
}

static mill_err read_size(struct scan *s, struct matrix *m)
{
	scan_next_line(s, '%');
	TRY(scan_u64(s, &m->rows, "the number of rows"));
	TRY(scan_u64(s, &m->columns, "the number of columns"));
	if (!m->array)
		TRY(scan_u64(s, &m->entries, "the number of entries"));
	else if (__builtin_mul_overflow(m->rows, m->columns, &m->entries))
		return scan_fail(s, MILL_ELIMIT, "the array has more than 2^64 values");
	if (m->symmetry && m->rows != m->columns)
		return scan_fail(s, MILL_EINPUT,
				 "a symmetric matrix is square, and this is %llu x %llu",
				 (unsigned long long)m->rows,
				 (unsigned long long)m->columns);
	m->shift = m->rows == m->columns ? 0 : m->rows;
	if (m->columns > UINT64_MAX - m->shift)
		return scan_fail(s, MILL_ELIMIT, "the matrix has more than 2^64 - 1 ids");
	return scan_end_line(s);
}

static mill_err add_entry(struct reader *r, const struct matrix *m, u64 i, u64 j)
{
	struct scan *s = &r->scan;
	bool whole = true;
	i64 integer = 1;
	f64 value = 1;

	if (m->field != FIELD_PATTERN) {
		TRY(scan_number(s, &value, &whole, &integer, "a value"));
		if (m->field == FIELD_INTEGER && !whole)
			return scan_fail(s, MILL_EINPUT,
					 "%g is not an integer, but the banner says integer",
					 value);
		whole &= m->field == FIELD_INTEGER;
		if (r->k->weighted)
			TRY(reader_weight(r, value, whole, integer));
	}
	if (m->symmetry == SYMMETRY_SKEW) {
		if (i == j && value != 0)
			return scan_fail(s, MILL_EINPUT,
					 "a skew-symmetric matrix has no diagonal");
		if (r->k->weighted && i != j)
			TRY(reader_weight(r, -value, whole, -integer));
		TRY(reader_edge(r, i, j, value));
		return i == j ? MILL_OK : reader_edge(r, j, i, -value);
	}
	return reader_edge(r, i, m->shift + j, value);
}

static mill_err check_range(struct scan *s, u64 at, u64 size, const char *what)
{
	if (at >= 1 && at <= size)
		return MILL_OK;
	return scan_fail(s, MILL_EINPUT, "%s %llu is not one of 1 to %llu", what,
			 (unsigned long long)at, (unsigned long long)size);
}

static mill_err read_coordinates(struct reader *r, const struct matrix *m, u64 *n)
{
	struct scan *s = &r->scan;
	u64 i, j;

	for (*n = 0; scan_next_line(s, '%') != SCAN_END; ++*n) {
		if (*n == m->entries)
			return scan_fail(s, MILL_EINPUT,
					 "there are more entries than the %llu of the header",
					 (unsigned long long)m->entries);
		TRY(scan_u64(s, &i, "a row"));
		TRY(check_range(s, i, m->rows, "row"));
		TRY(scan_u64(s, &j, "a column"));
		TRY(check_range(s, j, m->columns, "column"));
		TRY(add_entry(r, m, i, j));
		TRY(scan_end_line(s));
	}
	return s->err;
}

/*
 * Reads the values column by column. A symmetric matrix lists only those from the diagonal down,
 * a skew-symmetric one those below the diagonal.
 */
static mill_err read_array(struct reader *r, const struct matrix *m, u64 *n)
{
	struct scan *s = &r->scan;
	u64 i = 1, j = 1;

	for (*n = 0; scan_next_line(s, '%') != SCAN_END; ++*n, i++) {
		if (m->symmetry == SYMMETRY_SKEW && i == j)
			i++;
		if (i > m->rows) {
			j++;
			i = !m->symmetry ? 1 : m->symmetry == SYMMETRY_SKEW ? j + 1 : j;
		}
		if (j > m->columns || i > m->rows)
			return scan_fail(s, MILL_EINPUT,
					 "there are more values than the array has");
		TRY(add_entry(r, m, i, j));
		TRY(scan_end_line(s));
	}
	return s->err;
}

/* Returns the number of entries that the file lists. */
static u64 listed(const struct matrix *m)
{
	u64 half;

	if (!m->array || !m->symmetry)
		return m->entries;
	half = (m->entries - m->rows) / 2;
	return m->symmetry == SYMMETRY_SKEW ? half : half + m->rows;
}

mill_err mtx_read(struct reader *r)
{
	struct matrix m = { .array = false };
	enum header_kind kind;
	u64 n;

	TRY(reader_scan(r, false));
	TRY(reader_base(r, 1));
	TRY(read_banner(&r->scan, &m));
	TRY(read_size(&r->scan, &m));
	kind = m.symmetry == SYMMETRY_SYMMETRIC ? HEADER_UNDIRECTED : HEADER_DIRECTED;
	TRY(reader_settle(r, kind, m.field != FIELD_PATTERN, true));
	TRY(m.array ? read_array(r, &m, &n) : read_coordinates(r, &m, &n));
	if (n != listed(&m))
		return scan_fail(&r->scan, MILL_EINPUT,
				 "the file ends after %llu of the %llu entries of its header",
				 (unsigned long long)n, (unsigned long long)listed(&m));
	if (m.shift)
		reader_note(r, "rectangular: rows are 1 to %llu, columns %llu to %llu",
			    (unsigned long long)m.rows, (unsigned long long)m.shift + 1,
			    (unsigned long long)(m.shift + m.columns));
	return reader_vertices(r, 1, m.shift + m.columns, n);
}
