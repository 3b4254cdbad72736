/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads BVGraph, the compressed form of LAW's web graphs: NAME.graph holds the bits of a list for
 * each vertex, NAME.properties the parameters (Boldi and Vigna, The WebGraph Framework I, WWW
 * 2004). A list is described by its length, by the runs that it copies from an earlier list
 * within the window, by intervals, and by the remaining successors. Lists are decoded one after
 * the other, so that no offsets are needed; the lists of the window are kept.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "import/format.h"
#include "import/properties.h"

static const char *const suffixes[] = { ".graph", ".properties", NULL };

#define WINDOW_MAX 65536u
#define TRAILING_MAX 16u /* most bytes after the last list: some writers fill up words */

/* ---- Bits, the most significant first ---- */

enum code { CODE_UNARY, CODE_GAMMA, CODE_DELTA, CODE_ZETA, CODE_NIBBLE, CODE_GOLOMB };

struct bits {
	struct scan *s;
	u64 window; /* the next n bits, from the most significant bit down */
	unsigned n;
	bool bad; /* the file has ended, or a number needs more than 64 bits */
};

static void bits_fill(struct bits *b)
{
	int c;

	while (b->n <= 56 && (c = scan_peek(b->s)) != SCAN_END) {
		b->window |= (u64)c << (56 - b->n);
		b->n += 8;
		b->s->at++;
	}
}

/* k <= 56 */
static u64 bits_take(struct bits *b, unsigned k)
{
	u64 value;

	if (!k)
		return 0;
	if (b->n < k)
		bits_fill(b);
	if (b->n < k) {
		b->bad = true;
		return 0;
	}
	value = b->window >> (64 - k);
	b->window <<= k;
	b->n -= k;
	return value;
}

static u64 bits_read(struct bits *b, unsigned k)
{
	u64 high = 0;

	if (k > 64) {
		b->bad = true;
		return 0;
	}
	if (k > 32) {
		high = bits_take(b, k - 32);
		k = 32;
	}
	return high << 32 | bits_take(b, k);
}

static u64 read_unary(struct bits *b)
{
	u64 zeros = 0;

	for (;;) {
		if (b->window) {
			unsigned k = (unsigned)__builtin_clzll(b->window);

			b->window = k == 63 ? 0 : b->window << (k + 1);
			b->n -= k + 1;
			return zeros + k;
		}
		zeros += b->n;
		b->n = 0;
		bits_fill(b);
		if (!b->n || zeros > UINT32_MAX) {
			b->bad = true;
			return 0;
		}
	}
}

static u64 read_gamma(struct bits *b)
{
	u64 k = read_unary(b);

	if (k > 63) {
		b->bad = true;
		return 0;
	}
	return ((u64)1 << k | bits_read(b, (unsigned)k)) - 1;
}

static u64 read_delta(struct bits *b)
{
	u64 k = read_gamma(b);

	if (k > 63) {
		b->bad = true;
		return 0;
	}
	return ((u64)1 << k | bits_read(b, (unsigned)k)) - 1;
}

static u64 read_zeta(struct bits *b, unsigned k)
{
	u64 h = read_unary(b), left, m;

	if (h * k + k > 63) {
		b->bad = true;
		return 0;
	}
	left = (u64)1 << h * k;
	m = bits_read(b, (unsigned)(h * k + k - 1));
	if (m < left)
		return m + left - 1;
	return (m << 1 | bits_take(b, 1)) - 1;
}

static u64 read_nibbles(struct bits *b)
{
	u64 value = 0, stop;

	do {
		if (value >> 61)
			b->bad = true;
		stop = bits_take(b, 1);
		value = value << 3 | bits_take(b, 3);
	} while (!stop && !b->bad);
	return value;
}

/*
 * Reads a Golomb code: the quotient by the modulus in unary, then the remainder in minimal binary
 * (the fewest bits that hold any remainder, and one bit less for the lowest remainders).
 */
static u64 read_golomb(struct bits *b, unsigned modulus)
{
	unsigned bits = 31u - (unsigned)__builtin_clz(modulus);
	u64 times = read_unary(b), shorter = ((u64)2 << bits) - modulus;
	u64 rest = bits_take(b, bits);

	if (rest >= shorter)
		rest = (rest << 1 | bits_take(b, 1)) - shorter;
	return times * modulus + rest;
}

static u64 read_code(struct bits *b, enum code code, unsigned k)
{
	switch (code) {
	case CODE_UNARY:
		return read_unary(b);
	case CODE_GAMMA:
		return read_gamma(b);
	case CODE_DELTA:
		return read_delta(b);
	case CODE_ZETA:
		return read_zeta(b, k);
	case CODE_NIBBLE:
		return read_nibbles(b);
	case CODE_GOLOMB:
		return read_golomb(b, k);
	}
	return 0;
}

/* ---- Parameters ---- */

struct list {
	u32 *vertex;
	u64 n, room;
};

struct bvgraph {
	struct properties p;
	u64 vertices, arcs;
	u64 window;
	u64 interval;	/* length of the shortest interval; 0: there are no intervals */
	unsigned zeta;	/* k of zeta codes, or the modulus of Golomb codes */
	enum code outdegrees, blocks, residuals, references, block_count;
	struct bits bits;
	struct list *kept; /* the last window + 1 lists: that of vertex x at x % (window + 1) */
	struct list copied, spans, rest;
	u64 n_arcs;
};

static bool code_named(enum code *out, const char *name, size_t n)
{
	static const char *const code[] = { "UNARY", "GAMMA",  "DELTA",
					    "ZETA",  "NIBBLE", "GOLOMB" };

	for (size_t i = 0; i < ARRAY_LEN(code); i++)
		if (strlen(code[i]) == n && !memcmp(code[i], name, n)) {
			*out = (enum code)i;
			return true;
		}
	return false;
}

/* Reads flags such as "RESIDUALS_GAMMA | REFERENCES_UNARY". Codes not named keep their defaults. */
static mill_err read_flags(struct bvgraph *g, const char *flags)
{
	const struct {
		const char *prefix;
		enum code *code;
	} flag[] = { { "OUTDEGREES_", &g->outdegrees }, { "BLOCKS_", &g->blocks },
		     { "RESIDUALS_", &g->residuals },	{ "REFERENCES_", &g->references },
		     { "BLOCK_COUNT_", &g->block_count } };
	enum code offsets;

	while (*(flags += strspn(flags, " \t|,"))) {
		size_t n = strcspn(flags, " \t|,"), i;
		bool known = n > 8 && !memcmp(flags, "OFFSETS_", 8) &&
			     code_named(&offsets, flags + 8, n - 8);

		for (i = 0; i < ARRAY_LEN(flag) && !known; i++) {
			size_t k = strlen(flag[i].prefix);

			known = n > k && !memcmp(flags, flag[i].prefix, k) &&
				code_named(flag[i].code, flags + k, n - k) &&
				(*flag[i].code != CODE_GOLOMB || flag[i].code == &g->residuals);
		}
		if (!known)
			return fail(MILL_EINPUT, "%s: the compression flag %.*s is not known",
				    g->p.name, (int)min_u64(n, 40), flags);
		flags += n;
	}
	return MILL_OK;
}

static mill_err read_properties(struct bvgraph *g)
{
	const char *class = properties_get(&g->p, "graphclass");
	const char *flags = properties_get(&g->p, "compressionflags");
	u64 version, zeta;

	g->residuals = CODE_ZETA;
	g->references = CODE_UNARY;
	g->outdegrees = g->blocks = g->block_count = CODE_GAMMA;
	if (!class || !strstr(class, "BVGraph"))
		return fail(MILL_EINPUT, "%s: graphclass is \"%.60s\", not BVGraph", g->p.name,
			    class ? class : "");
	if (!properties_get(&g->p, "nodes") || !properties_get(&g->p, "arcs"))
		return fail(MILL_EINPUT, "%s does not give both nodes and arcs", g->p.name);
	TRY(properties_u64(&g->p, "version", 0, 1, &version));
	TRY(properties_u64(&g->p, "nodes", 0, MAX_VERTICES, &g->vertices));
	TRY(properties_u64(&g->p, "arcs", 0, UINT64_MAX, &g->arcs));
	TRY(properties_u64(&g->p, "windowsize", 7, WINDOW_MAX, &g->window));
	TRY(properties_u64(&g->p, "minintervallength", 4, UINT32_MAX, &g->interval));
	TRY(read_flags(g, flags ? flags : ""));
	TRY(properties_u64(&g->p, "zetak", 3, g->residuals == CODE_GOLOMB ? INT32_MAX : 32, &zeta));
	if (!zeta)
		return fail(MILL_EINPUT, "%s: zetak is 0", g->p.name);
	g->zeta = (unsigned)zeta;
	return MILL_OK;
}

mill_err bvgraph_is(bool *out, const char *path, size_t stem)
{
	struct properties p = { .size = 0 };
	const char *class;
	char *name;
	mill_err err;

	*out = false;
	TRY(memory_printf(&name, NULL, "%.*s.properties", (int)stem, path));
	err = path_exists(name) ? properties_read(&p, name, NULL) : MILL_EINPUT;
	class = err ? NULL : properties_get(&p, "graphclass");
	*out = class && strstr(class, "BVGraph");
	properties_release(&p);
	memory_free(name);
	return err == MILL_EINPUT ? MILL_OK : err;
}

/* ---- Lists ---- */

static mill_err fail_list(struct bvgraph *g, u64 x, const char *what)
{
	if (g->bits.bad)
		what = "is cut off or has a number of more than 64 bits";
	return scan_fail(g->bits.s, MILL_EINPUT, "the list of vertex %llu %s",
			 (unsigned long long)x, what);
}

static mill_err list_reserve(struct list *l, u64 n, struct budget *budget)
{
	u64 room = max_u64(n, max_u64(2 * l->room, 64));
	u32 *vertex;

	if (n <= l->room)
		return MILL_OK;
	TRY(memory_new(&vertex, budget, room, sizeof(*vertex), "a list of successors"));
	if (l->n)
		memcpy(vertex, l->vertex, l->n * sizeof(*vertex));
	memory_free(l->vertex);
	l->vertex = vertex;
	l->room = room;
	return MILL_OK;
}

static u64 read_length(struct bvgraph *g, enum code code)
{
	return read_code(&g->bits, code, g->zeta);
}

/* Copies runs of the list that this one refers to. Runs are copied and left out in turn. */
static mill_err copy_blocks(struct bvgraph *g, u64 x, const struct list *from,
			    struct budget *budget)
{
	u64 n_blocks = read_length(g, g->block_count), at = 0;

	TRY(list_reserve(&g->copied, from->n, budget));
	if (g->bits.bad || n_blocks > from->n + 1)
		return fail_list(g, x, "copies more blocks than the list it refers to has");
	for (u64 i = 0; i <= n_blocks; i++) {
		u64 n = from->n - at;

		if (i < n_blocks) {
			u64 length = read_length(g, g->blocks);

			if (g->bits.bad || length > n || (i && length == n))
				return fail_list(g, x, "copies beyond the end of the list it "
						       "refers to");
			n = length + (i > 0);
		}
		if (i % 2 == 0 && n) {
			memcpy(g->copied.vertex + g->copied.n, from->vertex + at,
			       n * sizeof(u32));
			g->copied.n += n;
		}
		at += n;
	}
	return MILL_OK;
}

/*
 * Returns x plus the integer that `code` encodes: codes 0, 1, 2, 3, ... mean 0, -1, 1, -2, ...
 * Returns UINT64_MAX if the result is negative or too large.
 */
static u64 relative(u64 x, u64 code)
{
	u64 down = code / 2 + 1;

	if (code % 2 == 0)
		return code / 2 > UINT64_MAX - x ? UINT64_MAX : x + code / 2;
	return down > x ? UINT64_MAX : x - down;
}

static mill_err read_spans(struct bvgraph *g, u64 x, u64 left, struct budget *budget)
{
	u64 n_spans = read_gamma(&g->bits), at = 0;

	for (u64 i = 0; i < n_spans && !g->bits.bad; i++) {
		u64 code = read_gamma(&g->bits), n;

		/* code may be near 2^64: checked before it is added. */
		if (i == 0)
			at = relative(x, code);
		else if (code >= g->vertices)
			at = UINT64_MAX;
		else
			at += code + 1;
		n = read_gamma(&g->bits);
		if (g->bits.bad || at >= g->vertices || n > g->vertices)
			return fail_list(g, x, "has an interval outside of the graph");
		n += g->interval;
		if (n > g->vertices - at || n > left - g->spans.n)
			return fail_list(g, x, "has intervals that are longer than the list");
		TRY(list_reserve(&g->spans, g->spans.n + n, budget));
		for (u64 k = 0; k < n; k++)
			g->spans.vertex[g->spans.n++] = (u32)(at + k);
		at += n;
	}
	return g->bits.bad ? fail_list(g, x, "") : MILL_OK;
}

static mill_err read_rest(struct bvgraph *g, u64 x, u64 n, struct budget *budget)
{
	u64 at = 0;

	for (u64 i = 0; i < n; i++) {
		u64 code = read_code(&g->bits, g->residuals, g->zeta);

		if (i == 0)
			at = relative(x, code);
		else if (code >= g->vertices)
			at = UINT64_MAX;
		else
			at += code + 1;
		if (g->bits.bad || at >= g->vertices)
			return fail_list(g, x, "has a successor outside of the graph");
		TRY(list_reserve(&g->rest, i + 1, budget));
		g->rest.vertex[i] = (u32)at;
		g->rest.n = i + 1;
	}
	return MILL_OK;
}

/* Merges copied successors, intervals and the rest, each ascending, into one list. */
static mill_err merge(struct bvgraph *g, u64 x, struct list *to, struct budget *budget)
{
	const struct list *source[3] = { &g->copied, &g->spans, &g->rest };
	u64 at[3] = { 0 }, n = g->copied.n + g->spans.n + g->rest.n;

	to->n = 0;
	TRY(list_reserve(to, n, budget));
	while (to->n < n) {
		int best = -1;

		for (int i = 0; i < 3; i++)
			if (at[i] < source[i]->n &&
			    (best < 0 ||
			     source[i]->vertex[at[i]] < source[best]->vertex[at[best]]))
				best = i;
		to->vertex[to->n] = source[best]->vertex[at[best]++];
		if (to->n && to->vertex[to->n] <= to->vertex[to->n - 1])
			return fail_list(g, x, "has a successor twice");
		to->n++;
	}
	return MILL_OK;
}

static mill_err read_list(struct bvgraph *g, u64 x, struct list *to, struct budget *budget)
{
	u64 degree = read_length(g, g->outdegrees), back;

	g->copied.n = g->spans.n = g->rest.n = 0;
	if (g->bits.bad || degree > g->vertices)
		return fail_list(g, x, "is longer than there are vertices");
	if (degree > g->arcs - g->n_arcs)
		return fail_list(g, x, "exceeds the number of arcs in the properties");
	g->n_arcs += degree;
	to->n = 0;
	if (!degree)
		return MILL_OK;
	back = g->window ? read_length(g, g->references) : 0;
	if (g->bits.bad || back > g->window || back > x)
		return fail_list(g, x, "refers to a list outside of the window");
	if (back)
		TRY(copy_blocks(g, x, &g->kept[(x - back) % (g->window + 1)], budget));
	if (g->copied.n > degree)
		return fail_list(g, x, "copies more successors than it has");
	if (g->copied.n < degree && g->interval)
		TRY(read_spans(g, x, degree - g->copied.n, budget));
	TRY(read_rest(g, x, degree - g->copied.n - g->spans.n, budget));
	return merge(g, x, to, budget);
}

static mill_err read_lists(struct reader *r, struct bvgraph *g)
{
	struct budget *budget = builder_budget(r->k->b);
	struct scan *s = &r->scan;
	unsigned left = 0;

	TRY(memory_new(&g->kept, budget, g->window + 1, sizeof(*g->kept),
		       "the window of lists"));
	g->bits.s = s;
	for (u64 x = 0; x < g->vertices; x++) {
		struct list *l = &g->kept[x % (g->window + 1)];

		TRY(read_list(g, x, l, budget));
		for (u64 i = 0; i < l->n; i++)
			TRY(reader_edge(r, x, l->vertex[i], 1));
	}
	for (left = g->bits.n / 8; scan_peek(s) != SCAN_END && left <= TRAILING_MAX; left++)
		s->at++;
	TRY(s->err);
	if (left > TRAILING_MAX)
		return scan_fail(s, MILL_EINPUT, "the file goes on after its last list");
	if (g->n_arcs != g->arcs)
		return scan_fail(s, MILL_EINPUT,
				 "the lists that end here have %llu arcs, and the properties "
				 "say %llu",
				 (unsigned long long)g->n_arcs, (unsigned long long)g->arcs);
	return reader_vertices(r, 0, g->vertices, g->vertices);
}

static mill_err read_graph(struct reader *r, struct bvgraph *g)
{
	struct budget *budget = builder_budget(r->k->b);
	size_t stem = path_stem(r->path, suffixes);
	char *path;
	mill_err err;

	if (!stem)
		return fail(MILL_EUSAGE,
			    "%s: a BVGraph is NAME.graph with NAME.properties beside it",
			    r->path);
	TRY(memory_printf(&path, budget, "%.*s.properties", (int)stem, r->path));
	err = properties_read(&g->p, path, budget);
	memory_free(path);
	if (!err)
		err = read_properties(g);
	if (!err && !strcmp(r->path + stem, ".properties")) {
		input_close(r->in);
		r->in = NULL;
		err = memory_printf(&path, budget, "%.*s.graph", (int)stem, r->path);
		if (!err) {
			err = input_open(&r->in, path, budget);
			memory_free(path);
		}
	}
	TRY(err);
	TRY(reader_scan(r, true));
	TRY(reader_base(r, 0));
	TRY(reader_settle(r, HEADER_DIRECTED, false, false));
	return read_lists(r, g);
}

mill_err bvgraph_read(struct reader *r)
{
	struct bvgraph g = { .vertices = 0 };
	mill_err err = read_graph(r, &g);

	for (u64 i = 0; g.kept && i <= g.window; i++)
		memory_free(g.kept[i].vertex);
	memory_free(g.kept);
	memory_free(g.copied.vertex);
	memory_free(g.spans.vertex);
	memory_free(g.rest.vertex);
	properties_release(&g.p);
	return err;
}
