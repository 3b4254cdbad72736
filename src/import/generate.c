/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generators. kron is the R-MAT of Graph500 and GAP: for each bit of the vertex numbers it
 * draws one of four quadrants, with probabilities a, b, c and the rest; the quadrant gives this bit
 * of both ends. Then the vertices are renamed at random, so that an id tells nothing about the
 * degree. rmat is the same without renaming.
 *
 * smallworld is the model of Watts and Strogatz: a ring in which each vertex has edges to the
 * next `degree` vertices, but one edge in ten leads to a random vertex instead. powerlaw draws
 * both ends with probabilities that fall as rank^(-2/3) (Chung and Lu), so that a degree d is
 * about as frequent as d^(-5/2).
 *
 * A generator works on candidates: candidate i is an edge or none (at the border of a grid).
 * Undirected edges are added as (low, high), so that a multigraph keeps all of them.
 */
#include "import/generate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "import/builder.h"

#define BLOCK_CANDIDATES ((u64)1 << 14)
#define WAVE_BLOCKS 16u /* blocks made in parallel, then added in order */
#define SCALE_MAX 31u
#define DRAWS_MAX 4u /* draws of 64 random bits at SCALE_MAX, see rmat_edge */
#define RETRIES 64u  /* for rmat with fewer than 2^scale vertices */
#define REWIRED 0.1  /* fraction of smallworld's edges that lead to a random vertex */

/* Streams of random numbers. Each has a seed of its own. */
enum stream { STREAM_ENDS, STREAM_WEIGHT, STREAM_NAMES };

/*
 * rmat: chooses four levels at once, by Walker's alias method. Eight random bits choose an entry;
 * the next 24 bits choose between its two outcomes. An outcome is four bits of the row, then
 * four bits of the column.
 */
struct choice {
	u32 below; /* below this number (of 2^24) the outcome is `own` */
	u8 own, other;
};

struct graph {
	u64 seed[3]; /* by stream */
	u64 n;	     /* vertices */
	u64 n_candidates;
	u64 n_edges;			 /* the most candidates that are edges */
	u64 columns;			 /* grid */
	unsigned scale;			 /* smallest with 2^scale >= n */
	u64 name_key[4], name_factor[4]; /* kron, powerlaw: the renaming */
	struct choice choice[256];	 /* kron, rmat */
	enum mill_weight weight;
	bool directed;
};

struct kind {
	const char *name;
	/* Computes candidate i. Returns false if it is not an edge. */
	bool (*edge)(const struct graph *g, u64 i, u64 *from, u64 *to);
	bool random;	/* takes a degree and may be a multigraph */
	bool quadrants; /* takes a, b, c */
};

/* ---- Edges ---- */

/* A bijection of [0, 2^scale): each step is invertible. */
static u64 rename_once(const struct graph *g, u64 x)
{
	u64 mask = ((u64)1 << g->scale) - 1;
	unsigned half = (g->scale + 1) / 2;

	for (int i = 0; i < 4; i++) {
		x = ((x ^ g->name_key[i]) * g->name_factor[i]) & mask;
		x ^= x >> half;
	}
	return x & mask;
}

/* A bijection of [0, n): repeats the larger bijection until the result is below n. */
static u64 new_name(const struct graph *g, u64 x)
{
	if (!g->scale)
		return x;
	do
		x = rename_once(g, x);
	while (x >= g->n);
	return x;
}

static unsigned choose(const struct graph *g, u32 x)
{
	const struct choice *c = &g->choice[x >> 24];
	/* Without a branch, because it would be unpredictable. */
	unsigned other = 0u - ((x & 0xffffff) >= c->below);

	return c->own ^ ((unsigned)(c->own ^ c->other) & other);
}

static bool rmat_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	unsigned draws = (g->scale + 7) / 8; /* draws of 64 random bits: eight levels each */
	unsigned excess = 8 * draws - g->scale;
	u64 u = 0, v = 0;

	for (unsigned try = 0; try < RETRIES; try++) {
		u64 at = (i * RETRIES + try) * DRAWS_MAX;

		u = v = 0;
		for (unsigned k = 0; k < draws; k++) {
			u64 r = random_at(g->seed[STREAM_ENDS], at + k);
			unsigned high = choose(g, (u32)(r >> 32)), low = choose(g, (u32)r);

			u = u << 8 | (high & 0xf0) | low >> 4;
			v = v << 8 | (high & 15) << 4 | (low & 15);
		}
		u >>= excess;
		v >>= excess;
		if (u < g->n && v < g->n)
			break;
	}
	*from = u < g->n ? u : u % g->n;
	*to = v < g->n ? v : v % g->n;
	return true;
}

static bool kron_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	(void)rmat_edge(g, i, from, to);
	*from = new_name(g, *from);
	*to = new_name(g, *to);
	return true;
}

static bool uniform_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	*from = random_below(g->seed[STREAM_ENDS], 2 * i, g->n);
	*to = random_below(g->seed[STREAM_ENDS], 2 * i + 1, g->n);
	return true;
}

/* Draws an end by rank: the cube of a uniform number in [0, 1) has a density of x^(-2/3). */
static u64 powerlaw_end(const struct graph *g, u64 i)
{
	f64 x = random_unit(g->seed[STREAM_ENDS], i);

	return new_name(g, min_u64((u64)(x * x * x * (f64)g->n), g->n - 1));
}

static bool powerlaw_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	*from = powerlaw_end(g, 2 * i);
	*to = powerlaw_end(g, 2 * i + 1);
	return true;
}

/*
 * Candidates go round the ring: first the edge of each vertex to the next vertex, then the edge
 * of each vertex to the vertex after that, and so on.
 */
static bool smallworld_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	*from = i % g->n;
	*to = (*from + 1 + i / g->n) % g->n;
	if (random_unit(g->seed[STREAM_ENDS], 2 * i) < REWIRED)
		*to = random_below(g->seed[STREAM_ENDS], 2 * i + 1, g->n);
	return true;
}

/* A candidate for every pair; if the graph is undirected, only those with from < to are edges. */
static bool clique_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	*from = i / g->n;
	*to = i % g->n;
	return g->directed ? *from != *to : *from < *to;
}

/* Candidates 2v and 2v + 1: from v to the right, and down. */
static bool grid_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	u64 v = i / 2;

	*from = v;
	if (i % 2) {
		*to = v + g->columns;
		return *to < g->n;
	}
	*to = v + 1;
	return *to % g->columns != 0;
}

static bool path_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	(void)g;
	*from = i;
	*to = i + 1;
	return true;
}

static bool star_edge(const struct graph *g, u64 i, u64 *from, u64 *to)
{
	(void)g;
	*from = 0;
	*to = i + 1;
	return true;
}

static const struct kind kinds[] = {
	{ "kron",	kron_edge,	 .random = true, .quadrants = true },
	{ "uniform",	uniform_edge,	 .random = true },
	{ "grid",	grid_edge,	 .random = false },
	{ "path",	path_edge,	 .random = false },
	{ "star",	star_edge,	 .random = false },
	{ "rmat",	rmat_edge,	 .random = true, .quadrants = true },
	{ "clique",	clique_edge,	 .random = false },
	{ "smallworld", smallworld_edge, .random = true },
	{ "powerlaw",	powerlaw_edge,	 .random = true },
};

const char *const *generate_kinds(void)
{
	static const char *const name[] = {
		"kron", "rmat", "uniform", "grid", "path", "star", "clique", "smallworld",
		"powerlaw", NULL
	};

	return name;
}

static u64 weight_at(const struct graph *g, u64 i)
{
	f32 unit;
	u32 bits;

	switch (g->weight) {
	case MILL_WEIGHT_U32:
		return 1 + random_below(g->seed[STREAM_WEIGHT], i, 255);
	case MILL_WEIGHT_F32:
		unit = (f32)((random_at(g->seed[STREAM_WEIGHT], i) >> 40) + 1) * 0x1p-24f;
		memcpy(&bits, &unit, sizeof(bits));
		return bits;
	default:
		return 0;
	}
}

/* ---- Blocks of candidates ---- */

struct wave {
	const struct kind *kind;
	const struct graph *g;
	struct raw_edge *edge; /* WAVE_BLOCKS x BLOCK_CANDIDATES */
	u64 n[WAVE_BLOCKS];    /* edges in each block */
	u64 first;	       /* number of the first block */
};

static mill_err make_block(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct wave *w = arg;

	(void)worker;
	for (u64 k = begin; k < end; k++) {
		struct raw_edge *edge = w->edge + k * BLOCK_CANDIDATES;
		u64 i = (w->first + k) * BLOCK_CANDIDATES,
		    last = min_u64(i + BLOCK_CANDIDATES, w->g->n_candidates), n = 0;

		for (; i < last; i++) {
			u64 from, to;

			if (!w->kind->edge(w->g, i, &from, &to))
				continue;
			edge[n].from = w->g->directed ? from : min_u64(from, to);
			edge[n].to = w->g->directed ? to : max_u64(from, to);
			edge[n].weight = weight_at(w->g, i);
			n++;
		}
		w->n[k] = n;
	}
	return MILL_OK;
}

static mill_err add_edges(struct builder *b, const struct kind *kind, const struct graph *g)
{
	u64 n_blocks = div_up(g->n_candidates, BLOCK_CANDIDATES);
	struct ticker *ticker = builder_ticker(b);
	struct wave w = { .kind = kind, .g = g };
	mill_err err;

	err = memory_new(&w.edge, builder_budget(b),
			 min_u64(n_blocks, WAVE_BLOCKS) * BLOCK_CANDIDATES, sizeof(*w.edge),
			 "new edges");
	ticker_begin(ticker, "generate", "edges", g->n_candidates);
	for (; !err && w.first < n_blocks; w.first += WAVE_BLOCKS) {
		u64 n = min_u64(n_blocks - w.first, WAVE_BLOCKS);

		err = pool_for(builder_pool(b), n, 1, make_block, &w);
		for (u64 k = 0; !err && k < n; k++)
			err = builder_add(b, w.edge + k * BLOCK_CANDIDATES, w.n[k]);
		if (!err)
			err = ticker_tick(ticker, min_u64((w.first + n) * BLOCK_CANDIDATES,
							  g->n_candidates));
	}
	memory_free(w.edge);
	return err;
}

/* ---- Options ---- */

static mill_err find_kind(const struct kind **out, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (name && !strcmp(kinds[i].name, name)) {
			*out = &kinds[i];
			return MILL_OK;
		}
	return fail(MILL_EUSAGE,
		    "there is no generator \"%s\": kron, rmat, uniform, grid, path, star, "
		    "clique, smallworld or powerlaw",
		    name ? name : "");
}

/* Computes the probabilities of the quadrants: a, b, c and the rest. */
static void shares(const struct mill_generate *how, f64 *quadrant)
{
	quadrant[0] = how->a != 0 ? how->a : .57;
	quadrant[1] = how->b != 0 ? how->b : .19;
	quadrant[2] = how->c != 0 ? how->c : .19;
	quadrant[3] = 1 - quadrant[0] - quadrant[1] - quadrant[2];
	if (quadrant[3] < 1e-9) /* a rounding error, for example of .3 + .3 + .4 */
		quadrant[3] = quadrant[3] > -1e-9 ? 0 : quadrant[3];
}

static mill_err check_options(const struct kind *kind, const struct mill_generate *how)
{
	f64 q[4];

	shares(how, q);
	if (how->scale && how->vertices)
		return fail(MILL_EUSAGE,
			    "give either a scale or a number of vertices, not both");
	if (!(how->degree >= 0) || isinf(how->degree))
		return fail(MILL_EUSAGE, "the degree is not a positive number");
	if (how->degree > 0 && !kind->random)
		return fail(MILL_EUSAGE, "%s takes no degree", kind->name);
	if (how->multigraph && !kind->random)
		return fail(MILL_EUSAGE, "%s is never a multigraph", kind->name);
	if ((how->a != 0 || how->b != 0 || how->c != 0) && !kind->quadrants)
		return fail(MILL_EUSAGE, "%s takes no a, b, c", kind->name);
	if (!(q[0] >= 0 && q[1] >= 0 && q[2] >= 0 && q[3] >= 0))
		return fail(MILL_EUSAGE,
			    "a, b and c must be 0 or more and add up to at most 1: "
			    "not %g, %g, %g", q[0], q[1], q[2]);
	if (how->weight != MILL_WEIGHT_NONE && how->weight != MILL_WEIGHT_U32 &&
	    how->weight != MILL_WEIGHT_F32)
		return fail(MILL_EUSAGE, "generated weights are none, u32 or f32");
	return MILL_OK;
}

static u64 square_root(u64 n)
{
	u64 r = (u64)sqrt((f64)n);

	while (r && r * r > n)
		r--;
	while ((r + 1) * (r + 1) <= n)
		r++;
	return r;
}

/* Computes the numbers of vertices and candidates. Checks the limits before any allocation. */
static mill_err size_graph(struct graph *g, const struct kind *kind,
			   const struct mill_generate *how)
{
	f64 edges;

	if (!how->vertices && how->scale > SCALE_MAX)
		return fail(MILL_ELIMIT, "scale %u: at most %u", how->scale, SCALE_MAX);
	g->n = how->vertices ? how->vertices : (u64)1 << how->scale;
	if (g->n > MAX_VERTICES)
		return fail(MILL_ELIMIT, "%llu vertices: a store holds at most %llu",
			    (unsigned long long)g->n, (unsigned long long)MAX_VERTICES);
	g->scale = g->n > 1 ? 64u - (unsigned)__builtin_clzll(g->n - 1) : 0;

	if (kind->random) {
		edges = (how->degree > 0 ? how->degree : 16) * (f64)g->n + 0.5;
		/* f64 cannot represent MAX_EDGES exactly; below 2^62 the cast to u64 is safe. */
		if (edges >= 0x1p62 || (u64)edges > MAX_EDGES)
			return fail(MILL_ELIMIT, "%.0f edges: a store holds at most %llu",
				    edges, (unsigned long long)MAX_EDGES);
		g->n_candidates = (u64)edges;
	} else if (kind->edge == grid_edge) {
		if (how->vertices) {
			g->columns = square_root(g->n);
			g->n = g->columns * g->columns;
		} else {
			g->columns = (u64)1 << (how->scale - how->scale / 2);
		}
		g->n_candidates = 2 * g->n;
	} else if (kind->edge == clique_edge) {
		if (g->n > 1 && g->n > MAX_EDGES / (g->n - 1))
			return fail(MILL_ELIMIT,
				    "a clique of %llu vertices: a store holds at most %llu edges",
				    (unsigned long long)g->n, (unsigned long long)MAX_EDGES);
		g->n_candidates = g->n * g->n;
	} else {
		g->n_candidates = g->n - 1;
	}
	g->n_edges = g->n_candidates;
	if (kind->edge == clique_edge)
		g->n_edges = g->n * (g->n - 1) / (how->directed ? 1 : 2);
	return MILL_OK;
}

/*
 * Makes the table by Vose's construction: entries with too little probability are filled up from
 * those with too much.
 */
static void make_choices(struct graph *g, const f64 *quadrant)
{
	f64 left[256];
	u8 small[256], large[256];
	unsigned n_small = 0, n_large = 0;

	for (unsigned o = 0; o < 256; o++) {
		left[o] = 256;
		for (unsigned level = 0; level < 4; level++)
			left[o] *= quadrant[(o >> (4 + level) & 1) << 1 | (o >> level & 1)];
		g->choice[o] = (struct choice){ 1u << 24, (u8)o, (u8)o };
		if (left[o] < 1)
			small[n_small++] = (u8)o;
		else
			large[n_large++] = (u8)o;
	}
	while (n_small && n_large) {
		u8 s = small[--n_small], l = large[n_large - 1];

		g->choice[s].below = (u32)(left[s] * 0x1p24);
		g->choice[s].other = l;
		left[l] -= 1 - left[s];
		if (left[l] < 1) {
			n_large--;
			small[n_small++] = l;
		}
	}
}

static void seed_graph(struct graph *g, const struct mill_generate *how)
{
	f64 quadrant[4];

	shares(how, quadrant);
	for (u64 s = 0; s < ARRAY_LEN(g->seed); s++)
		g->seed[s] = random_at(how->seed, s);
	for (u64 i = 0; i < ARRAY_LEN(g->name_key); i++) {
		g->name_key[i] = random_at(g->seed[STREAM_NAMES], 2 * i) &
				 (((u64)1 << g->scale) - 1);
		g->name_factor[i] = random_at(g->seed[STREAM_NAMES], 2 * i + 1) | 1;
	}
	make_choices(g, quadrant);
	g->weight = how->weight;
	g->directed = how->directed;
}

static u64 fingerprint(const struct kind *kind, const struct graph *g,
		       const struct mill_generate *how)
{
	const u64 option[] = { g->n, g->n_candidates, g->columns, how->weight, how->directed,
			       how->multigraph, how->seed };
	u64 h = (u64)(kind - kinds);

	for (size_t i = 0; i < ARRAY_LEN(option); i++)
		h = random_at(h, option[i]);
	for (size_t i = 0; kind->quadrants && i < ARRAY_LEN(g->choice); i++)
		h = random_at(h, (u64)g->choice[i].other << 32 | g->choice[i].below);
	return h;
}

/* Writes the command that makes the same graph again. */
static mill_err describe(char **out, const struct kind *kind,
			 const struct mill_generate *how)
{
	static const char *const weight[] = { "", " --weights u32", "", " --weights f32",
					      "" };
	char size[64], degree[64] = "", quadrants[128] = "", number[3][NUMBER_TEXT];
	f64 share[4];

	if (how->vertices)
		snprintf(size, sizeof(size), "--vertices %llu",
			 (unsigned long long)how->vertices);
	else
		snprintf(size, sizeof(size), "--scale %u", how->scale);
	if (kind->random) {
		share[0] = how->degree > 0 ? how->degree : 16;
		number[0][number_put_f64(number[0], share[0])] = 0;
		snprintf(degree, sizeof(degree), " --degree %s", number[0]);
	}
	if (how->a != 0 || how->b != 0 || how->c != 0) {
		shares(how, share);
		for (int i = 0; i < 3; i++)
			number[i][number_put_f64(number[i], share[i])] = 0;
		snprintf(quadrants, sizeof(quadrants), " --a %s --b %s --c %s", number[0],
			 number[1], number[2]);
	}
	return memory_printf(
		out, NULL, "generate %s %s%s%s%s%s%s --seed %llu", kind->name, size, degree,
		quadrants, weight[how->weight], how->directed ? " --directed" : "",
		how->multigraph ? " --multigraph" : "", (unsigned long long)how->seed);
}

mill_err generate(struct mill_built *out, const struct mill_generate *how)
{
	struct builder_options o = { .target = &how->target,
				     .undirected = !how->directed,
				     .weight = how->weight };
	struct graph g = { .n = 0 };
	const struct kind *kind = NULL;
	struct builder *b = NULL;
	char *origin;
	mill_err err;

	TRY(find_kind(&kind, how->kind));
	TRY(check_options(kind, how));
	TRY(size_graph(&g, kind, how));
	seed_graph(&g, how);
	o.dense = g.n;
	o.fingerprint = fingerprint(kind, &g, how);
	if (kind->random && !how->multigraph) {
		o.dedup = MILL_DEDUP_FIRST;
		o.loops = MILL_LOOPS_DROP;
	}
	TRY(describe(&origin, kind, how));
	o.origin = origin;

	err = builder_new(&b, &o);
	if (!err)
		err = builder_expect(b, g.n_edges);
	if (!err)
		err = add_edges(b, kind, &g);
	if (!err) {
		err = builder_finish(b, out);
		b = NULL;
	}
	if (!err)
		out->symmetric |= !how->directed; /* added one way, but meant both ways */
	builder_abandon(b);
	memory_free(origin);
	return err;
}
