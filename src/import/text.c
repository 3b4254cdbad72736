/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses edge lists. Lines are parsed in the buffer into which they were read. The buffer always
 * ends with a newline, so that no loop over digits or blanks needs to check for the buffer's end.
 * The carriage return of CRLF belongs to the end of a line; anywhere else it is an error. A NUL
 * byte is an error everywhere.
 *
 * The buffer is cut at line ends into blocks, which all threads parse. If a block fails, one
 * thread parses all of them again, because it knows the number of each line.
 */
#define _GNU_SOURCE 1 /* memrchr */
#include "import/text.h"

#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/number.h"
#include "import/field.h"
#include "import/namer.h"
#include "store/names.h"

#define READ_SIZE (1 * MIB)	/* bytes read at a time, if one thread parses */
#define BATCH 4096u		/* edges added at a time, if one thread parses */
#define BLOCK (256 * KIB)	/* bytes that a thread parses at a time */
#define BLOCK_EDGES (BLOCK / 4)	/* the shortest line has four bytes */
#define SHOWN 24		/* bytes of a bad field that a message quotes */

struct lines {
	struct text *t;
	struct builder *b;
	struct input *in;
	u64 line;     /* number of the present line, from 1 */
	bool began;   /* a line that is not a comment has been seen */
	char *buffer; /* TEXT_LINE_MAX + read_size + 8 bytes */
	u64 fill, read_size;
	struct raw_edge *edge;
	u64 n, room;
	struct line_block *block; /* NULL: one thread parses */
	u64 n_blocks;
};

/* Lines for one thread. */
struct line_block {
	struct text t; /* its own counts and range of weights */
	struct lines lines;
	const char *begin, *end;
	bool failed;
};

mill_err text_init(struct text *t)
{
	t->fraction = false;
	t->min_weight = INT64_MAX;
	t->max_weight = INT64_MIN;
	t->n_edges = 0;
	t->sum = checksum_begin();
	return t->sum ? MILL_OK : fail(MILL_ENOMEM, "no memory for a checksum");
}

void text_release(struct text *t)
{
	if (t->sum)
		checksum_end(t->sum);
	t->sum = NULL;
}

u64 text_fingerprint(struct text *t)
{
	u64 sum = checksum_end(t->sum);

	t->sum = NULL;
	return sum;
}

enum mill_weight text_weight(const struct text *t)
{
	if (!t->weight_column)
		return MILL_WEIGHT_NONE;
	if (t->weight_type)
		return t->weight_type;
	if (t->fraction)
		return MILL_WEIGHT_F64;
	if (!t->n_edges || (t->min_weight >= 0 && t->max_weight <= UINT32_MAX))
		return MILL_WEIGHT_U32;
	if (t->min_weight >= INT32_MIN && t->max_weight <= INT32_MAX)
		return MILL_WEIGHT_I32;
	return MILL_WEIGHT_F64;
}

/* ---- Fields ---- */

/* Copies the field at p for a message. Characters that cannot be printed become '?'. */
static const char *show(char *to, const char *p)
{
	size_t n = (size_t)(field_end(p) - p), shown = min_u64(n, SHOWN);

	for (size_t i = 0; i < shown; i++)
		to[i] = (unsigned char)p[i] < 0x20 || p[i] == 0x7f ? '?' : p[i];
	strcpy(to + shown, n > shown ? "..." : "");
	return to;
}

static mill_err fail_line(const struct lines *r, const char *what)
{
	return fail(MILL_EINPUT, "%s:%llu: %s", input_name(r->in),
		    (unsigned long long)r->line, what);
}

static mill_err fail_field(const struct lines *r, const char *p, const char *what)
{
	char field[SHOWN + 4];

	return fail(MILL_EINPUT, "%s:%llu: \"%s\" %s", input_name(r->in),
		    (unsigned long long)r->line, show(field, p), what);
}

static mill_err bad_id(const struct lines *r, const char *p, int column)
{
	const char *end = p;

	if (at_line_end(p) || *p == ',')
		return fail(MILL_EINPUT,
			    "%s:%llu: column %d is missing: an edge is two vertex ids",
			    input_name(r->in), (unsigned long long)r->line, column);
	if (*p == '-' && is_digit(p[1]))
		return fail_field(r, p, "is negative, and vertex ids are not");
	while (is_digit(*end))
		end++;
	if (end > p && at_field_end(end))
		return fail_field(r, p, "is above 2^64 - 1, the largest vertex id");
	return fail_field(r, p, "is not a vertex id");
}

/* Parses the id at p and returns its end; NULL if there is none. 19 digits always fit 64 bits. */
static inline const char *parse_id(u64 *out, const char *p)
{
	const char *begin = p;
	u64 value = 0;

	for (; is_digit(*p); p++)
		value = value * 10 + (u64)(*p - '0');
	if (__builtin_expect(p == begin || !at_field_end(p), 0))
		return NULL;
	if (__builtin_expect(p - begin > 19, 0) && !number_u64(&value, begin, p))
		return NULL;
	*out = value;
	return p;
}

static const f64 power_of_ten[] = { 1e0, 1e1, 1e2,  1e3,  1e4,	1e5,  1e6,  1e7,
				    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };

/*
 * Parses a number of at most 15 digits, perhaps with a point, as most numbers are written. Both
 * the digits and the power of ten are exact in f64, so their quotient is correctly rounded.
 * False: the number has another form, and number_f64 must parse it.
 */
static bool parse_short(f64 *out, bool *whole, i64 *integer, const char *p, const char *end)
{
	const char *point = NULL;
	bool minus = *p == '-';
	int n = 0;
	i64 value = 0;

	for (p += minus; p < end; p++) {
		if (*p == '.' && !point) {
			point = p;
			continue;
		}
		if (!is_digit(*p) || ++n > 15)
			return false;
		value = value * 10 + (*p - '0');
	}
	if (!n)
		return false;
	*whole = !point;
	*integer = minus ? -value : value;
	*out = (f64)value / (point ? power_of_ten[end - point - 1] : 1);
	if (minus)
		*out = -*out;
	return true;
}

/* ---- Names ---- */

static mill_err parse_name(const struct lines *r, const char **p, int column, char *to,
			   struct name *out)
{
	switch (name_parse(p, to, out)) {
	case NAME_FINE:
		return MILL_OK;
	case NAME_MISSING:
		return bad_id(r, *p, column);
	case NAME_UNQUOTED:
		return fail_field(r, *p, "has a quote that is not closed at the end of the field");
	case NAME_EMPTY:
		return fail_line(r, "an empty name");
	case NAME_CONTROL:
		return fail_line(r, "a control character in a name");
	case NAME_LONG:
		break;
	}
	return fail(MILL_ELIMIT, "%s:%llu: a name is longer than %u bytes", input_name(r->in),
		    (unsigned long long)r->line, STORE_NAME_MAX);
}

/* ---- Weights ---- */

static mill_err check_weight(struct lines *r, const char *p, f64 value, bool whole,
			     i64 integer)
{
	struct text *t = r->t;

	switch (t->weight_type) {
	case MILL_WEIGHT_U32:
		if (!whole || integer < 0 || integer > UINT32_MAX)
			return fail_field(r, p, "is not a weight of type u32");
		break;
	case MILL_WEIGHT_I32:
		if (!whole || integer < INT32_MIN || integer > INT32_MAX)
			return fail_field(r, p, "is not a weight of type i32");
		break;
	case MILL_WEIGHT_F32:
		if (isfinite(value) && isinf((f32)value))
			return fail_field(r, p, "is beyond the weights of type f32");
		break;
	default:
		break;
	}
	if (whole) {
		t->min_weight = integer < t->min_weight ? integer : t->min_weight;
		t->max_weight = integer > t->max_weight ? integer : t->max_weight;
	}
	t->fraction |= !whole;
	return MILL_OK;
}

/* Parses the weight of a line. p: the line's third column, or its end. */
static mill_err parse_weight(struct lines *r, const char *p, u64 *out)
{
	const char *end;
	bool whole = false;
	i64 integer = 0;
	f64 value;

	for (u32 column = 3; column < r->t->weight_column && !at_line_end(p); column++)
		p = next_field(r->t->names ? name_end(p) : field_end(p));
	end = field_end(p);
	if (end == p)
		return fail(MILL_EINPUT, "%s:%llu: column %u, the weight, is missing",
			    input_name(r->in), (unsigned long long)r->line,
			    r->t->weight_column);
	if (!parse_short(&value, &whole, &integer, p, end) && !number_f64(&value, p, end))
		return fail_field(r, p, "is not a weight");
	if (isnan(value))
		return fail_field(r, p, "is not a weight: weights are numbers");
	TRY(check_weight(r, p, value, whole, integer));
	memcpy(out, &value, sizeof(*out));
	return MILL_OK;
}

/* ---- Lines ---- */

static mill_err flush(struct lines *r)
{
	if (!r->n)
		return MILL_OK;
	if (r->t->only_check) {
		r->n = 0;
		return MILL_OK;
	}
	checksum_add(r->t->sum, r->edge, r->n * sizeof(*r->edge));
	TRY(builder_add(r->b, r->edge, r->n));
	r->t->n_edges += r->n;
	r->n = 0;
	return MILL_OK;
}

/* Returns whether a line is a header: it has a comma, and its first two fields are not ids. */
static bool is_header(const char *p, const char *end)
{
	u64 id;

	if (!memchr(p, ',', (size_t)(end - p)))
		return false;
	return !parse_id(&id, p) && !is_digit(*p) && *p != '-' &&
	       !parse_id(&id, next_field(field_end(p)));
}

/*
 * Handles comments, empty lines and the first other line, which may be a header. *skip: the line
 * holds no edge. Not inline, because most lines do not need it.
 */
static mill_err __attribute__((noinline))
odd_line(struct lines *r, const char *p, bool *skip)
{
	const char *end = strchr(p, '\n');

	*skip = true;
	if (at_line_end(p))
		return MILL_OK;
	if (*p == '#' || *p == '%')
		return MILL_OK;
	*skip = !r->began && (r->t->names ? name_is_header(p, r->t->weight_column)
					  : is_header(p, end));
	r->t->header |= *skip;
	r->began = true;
	return MILL_OK;
}

static mill_err parse_named(struct lines *r, const char *p)
{
	char quoted[2][STORE_NAME_MAX];
	struct name from, to;
	u64 weight;
	bool skip;

	p = skip_blanks(p);
	if (*p == '#' || *p == '%' || at_line_end(p) || !r->began) {
		TRY(odd_line(r, p, &skip));
		if (skip)
			return MILL_OK;
	}
	TRY(parse_name(r, &p, 1, quoted[0], &from));
	p = next_field(p);
	TRY(parse_name(r, &p, 2, quoted[1], &to));
	if (r->t->weight_column)
		TRY(parse_weight(r, next_field(p), &weight));
	if (r->t->refuse_loops && !name_compare(from.text, from.length, to.text, to.length))
		return fail_line(r, "an edge from a vertex to itself");
	r->t->n_edges++;
	return namer_add(r->t->names, from, to, r->t->weight_column ? &weight : NULL);
}

static bool is_known(const struct known_ids *k, u64 id)
{
	return !known_covers(k, id) || ids_has(&k->ids, id);
}

static mill_err check_known(const struct lines *r, const struct raw_edge *e)
{
	const struct known_ids *k = r->t->known;
	u64 id = is_known(k, e->from) ? e->to : e->from;

	if (is_known(k, id))
		return MILL_OK;
	return fail(MILL_EINPUT, "%s:%llu: vertex %llu is not in %s", input_name(r->in),
		    (unsigned long long)r->line, (unsigned long long)id, k->from);
}

/* Parses a line. *end becomes the end of its second id, from where the newline is searched. */
static inline mill_err parse_line(struct lines *r, const char *p, const char **end)
{
	struct raw_edge *e = &r->edge[r->n];
	const char *q;
	bool skip;

	p = skip_blanks(p);
	if (__builtin_expect(!is_digit(*p) || !r->began, 0)) {
		TRY(odd_line(r, p, &skip));
		if (skip)
			return MILL_OK;
	}
	q = parse_id(&e->from, p);
	if (!q)
		return bad_id(r, p, 1);
	p = next_field(q);
	q = parse_id(&e->to, p);
	if (!q)
		return bad_id(r, p, 2);
	if (r->t->weight_column)
		TRY(parse_weight(r, next_field(q), &e->weight));
	if (__builtin_expect(e->from < r->t->base || e->to < r->t->base, 0))
		return fail_line(r, "vertex 0 is not allowed, because --base is 1");
	if (__builtin_expect(r->t->known != NULL, 0))
		TRY(check_known(r, e));
	if (r->t->refuse_loops && e->from == e->to)
		return fail_line(r, "an edge from a vertex to itself");
	*end = q;
	if (++r->n == r->room)
		return flush(r);
	return MILL_OK;
}

/* Parses all lines of [p, end), which ends with a newline. */
static mill_err parse_lines(struct lines *r, const char *p, const char *end)
{
	while (p < end) {
		const char *stop = p;

		r->line++;
		TRY(r->t->names ? parse_named(r, p) : parse_line(r, p, &stop));
		if (__builtin_expect(*stop != '\n', 0)) /* most lines end with the second id */
			stop = memchr(stop, '\n', (size_t)(end - stop));
		if (__builtin_expect(stop - p > (i64)TEXT_LINE_MAX, 0) &&
		    stop - p - (stop[-1] == '\r') > (i64)TEXT_LINE_MAX)
			return fail_line(r, "the line is longer than 1 MiB");
		p = stop + 1;
	}
	return MILL_OK;
}

static mill_err parse_block(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct lines *r = arg;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		struct line_block *p = &r->block[i];

		p->t = *r->t;
		p->lines.n = p->lines.line = 0;
		p->lines.began = true;
		p->failed = parse_lines(&p->lines, p->begin, p->end) != MILL_OK;
	}
	return MILL_OK;
}

/* Cuts lines into blocks of about the same size, after newlines. The last ones may be empty. */
static void cut_blocks(struct lines *r, const char *p, const char *end)
{
	for (u64 i = 0; i < r->n_blocks; i++) {
		const char *stop = end - p > (i64)BLOCK
					   ? memchr(p + BLOCK, '\n', (size_t)(end - p) - BLOCK)
					   : NULL;

		r->block[i].begin = p;
		p = stop ? stop + 1 : end;
		r->block[i].end = p;
	}
}

static mill_err take_block(struct lines *r, const struct line_block *p)
{
	struct text *t = r->t;

	t->fraction |= p->t.fraction;
	t->min_weight = p->t.min_weight < t->min_weight ? p->t.min_weight : t->min_weight;
	t->max_weight = p->t.max_weight > t->max_weight ? p->t.max_weight : t->max_weight;
	r->line += p->lines.line;
	if (t->only_check)
		return MILL_OK;
	checksum_add(t->sum, p->lines.edge, p->lines.n * sizeof(*p->lines.edge));
	t->n_edges += p->lines.n;
	return builder_add(r->b, p->lines.edge, p->lines.n);
}

/* Does the work of parse_lines on all threads. If a block is too long, one thread parses all. */
static mill_err parse_blocks(struct lines *r, const char *p, const char *end)
{
	if (!r->block || !r->began || end - p < (i64)BLOCK)
		return parse_lines(r, p, end);
	TRY(flush(r));
	while (p < end) {
		bool failed = false;

		cut_blocks(r, p, end);
		for (u64 i = 0; i < r->n_blocks; i++)
			failed |= r->block[i].end - r->block[i].begin >
				  (i64)(4 * r->block[i].lines.room);
		if (!failed)
			TRY(pool_for(builder_pool(r->b), r->n_blocks, 1, parse_block, r));
		for (u64 i = 0; i < r->n_blocks; i++)
			failed |= r->block[i].failed;
		if (failed)
			return parse_lines(r, p, end);
		for (u64 i = 0; i < r->n_blocks; i++)
			TRY(take_block(r, &r->block[i]));
		p = r->block[r->n_blocks - 1].end;
	}
	return MILL_OK;
}

static mill_err check_nul(struct lines *r)
{
	const char *nul = memchr(r->buffer, 0, r->fill);

	if (!nul)
		return MILL_OK;
	r->line++;
	for (const char *p = r->buffer; p < nul; p++)
		r->line += *p == '\n';
	return fail_line(r, "a NUL byte: this is not text");
}

static mill_err read_all(struct lines *r)
{
	struct ticker *ticker = builder_ticker(r->b);
	bool first = true;
	u64 got;

	ticker_begin(ticker, "read", "bytes", input_size(r->in));
	do {
		const char *begin = r->buffer, *end;

		TRY(input_read(r->in, r->buffer + r->fill, r->read_size, &got));
		r->fill += got;
		if (!got && r->fill) /* the last line may have no newline */
			r->buffer[r->fill++] = '\n';
		else if (first && got && r->fill < 3)
			continue; /* could be the first bytes of a byte order mark */
		TRY(check_nul(r));
		if (first && r->fill >= 3 && !memcmp(begin, "\xef\xbb\xbf", 3))
			begin += 3;
		first = false;
		end = memrchr(begin, '\n', r->fill - (u64)(begin - r->buffer));
		end = end ? end + 1 : begin;
		TRY(parse_blocks(r, begin, end));
		r->fill -= (u64)(end - r->buffer);
		memmove(r->buffer, end, r->fill);
		if (r->fill > TEXT_LINE_MAX + 1) {
			r->line++;
			return fail_line(r, "the line is longer than 1 MiB");
		}
		if (!r->t->only_check)
			TRY(builder_project(r->b, r->t->n_edges, input_done(r->in),
					    input_size(r->in)));
		TRY(ticker_tick(ticker, input_done(r->in)));
	} while (got);
	return flush(r);
}

/*
 * Allocates several blocks per thread, because blocks take different times to parse; at most the
 * readers' share of the budget. Names are parsed by one thread.
 */
static mill_err make_blocks(struct lines *r, struct budget *budget)
{
	u64 threads = pool_size(builder_pool(r->b));
	u64 each = BLOCK + BLOCK_EDGES * sizeof(struct raw_edge);
	u64 most = budget->limit ? budget->limit / BUILDER_READER_SHARE / each : 4 * threads;

	r->n_blocks = min_u64(4 * threads, most);
	r->read_size = READ_SIZE;
	if (threads < 2 || r->n_blocks < 2 || r->t->names)
		return MILL_OK;
	TRY(memory_new(&r->block, budget, r->n_blocks, sizeof(*r->block), "a text buffer"));
	r->read_size = r->n_blocks * BLOCK;
	for (u64 i = 0; i < r->n_blocks; i++) {
		struct line_block *p = &r->block[i];

		p->lines = (struct lines){ .t = &p->t, .in = r->in };
		/*
		 * A block ends with the line that fills it. If that line is so long that the
		 * block might have more edges than this, parse_blocks lets one thread parse it.
		 */
		p->lines.room = BLOCK_EDGES + BLOCK_EDGES / 16;
		TRY(memory_new(&p->lines.edge, budget, p->lines.room, sizeof(*p->lines.edge),
			       "a text buffer"));
	}
	return MILL_OK;
}

mill_err text_read(struct text *t, struct builder *b, struct input *in)
{
	struct lines r = { .t = t, .b = b, .in = in, .room = BATCH };
	struct budget *budget = builder_budget(b);
	mill_err err;

	err = make_blocks(&r, budget);
	if (!err)
		err = memory_new(&r.buffer, budget, TEXT_LINE_MAX + r.read_size + 8, 1,
				 "a text buffer");
	if (!err)
		err = memory_new(&r.edge, budget, BATCH, sizeof(*r.edge), "a text buffer");
	if (!err)
		err = read_all(&r);
	memory_free(r.edge);
	memory_free(r.buffer);
	for (u64 i = 0; r.block && i < r.n_blocks; i++)
		memory_free(r.block[i].lines.edge);
	memory_free(r.block);
	return err;
}
