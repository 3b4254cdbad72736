/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Degrees and their distribution. The store has the degrees in files beside the pages, so
 * no edge is read. The certificate counts the edges themselves. Self-loops and parallel
 * edges count as they are stored.
 */
#include "algo/algo.h"
#include "base/sort.h"

/*
 * Smaller degrees are counted in a table. There are few larger ones, because all degrees
 * sum to the number of edges.
 */
#define SMALL_DEGREES 65536u

static u64 most_large(const struct store *st) { return st->stored_edges / SMALL_DEGREES; }

struct degrees_run {
	struct vec *out, *in;	/* in: NULL if the store has only one direction */
};

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct store *st = d->run->store;
	struct degrees_run *g = self;
	u64 columns = st->directed && st->has_in ? 2 : 1, large = most_large(st);

	(void)options;
	declare_host(d, &g->out, "degree", st->n_linked, sizeof(u32));
	if (columns > 1)
		declare_host(d, &g->in, "in-degree", st->n_linked, sizeof(u32));
	declare_bytes(d, 0,
		      2 * large * sizeof(u64) + SMALL_DEGREES * sizeof(u64) +
			      (SMALL_DEGREES + large) * sizeof(struct mill_bin));
	declare_check(d,
		      columns * st->n_linked * sizeof(u32) + (SMALL_DEGREES + large) * sizeof(u64));
	d->need.on_host = true;	/* no program runs over edges */
	return d->run->options.check ? declare_direction(d, false) : MILL_OK;
}

/* ---- The distribution ---- */

/* Writes the distribution to `to`, or only counts its bins if that is NULL. */
static void put_bins(struct mill_bin *to, u64 *n_bins, const u64 *small, const u64 *large,
		     u64 n_large)
{
	u64 n = 0;

	for (u64 d = 0; d < SMALL_DEGREES; d++)
		if (small[d]) {
			if (to)
				to[n] = (struct mill_bin){ d, small[d] };
			n++;
		}
	for (u64 i = 0; i < n_large; i++) {
		bool new = !i || large[i] != large[i - 1];

		if (to && new)
			to[n] = (struct mill_bin){ large[i], 1 };
		else if (to)
			to[n - 1].count++;
		n += new;
	}
	*n_bins = n;
}

static mill_err distribute(struct mill_run *r, const u32 *degree, u64 *small, u64 n_large)
{
	u64 n = r->store->n_linked, *large, at = 0, n_bins;
	struct vec *bins;
	mill_err err;

	TRY(memory_new(&large, &r->budget, n_large, sizeof(u64), "large degrees"));
	for (u64 v = 0; v < n; v++)
		if (degree[v] >= SMALL_DEGREES)
			large[at++] = degree[v];
	err = sort_u64(r->pool, &r->budget, large, NULL, n_large, 32);
	if (!err) {
		put_bins(NULL, &n_bins, small, large, n_large);
		err = run_vec_host(r, &bins, "distribution", n_bins, sizeof(struct mill_bin));
	}
	if (!err) {
		put_bins(bins->buffer.host, &n_bins, small, large, n_large);
		r->result.distribution = bins;
	}
	memory_free(large);
	return err;
}

static mill_err find_distribution(struct mill_run *r, const u32 *degree)
{
	u64 *small, n_large = 0;
	mill_err err;

	TRY(memory_new(&small, &r->budget, SMALL_DEGREES, sizeof(u64), "counts of degrees"));
	small[0] = run_isolated(r);
	for (u64 v = 0; v < r->store->n_linked; v++)
		if (degree[v] < SMALL_DEGREES)
			small[degree[v]]++;
		else
			n_large++;
	err = distribute(r, degree, small, n_large);
	memory_free(small);
	return err;
}

/* Returns the degree at a place in the ascending order of all degrees. */
static u64 degree_at(const struct mill_bin *bin, u64 place)
{
	while (place >= bin->count)
		place -= (bin++)->count;
	return bin->value;
}

static void find_facts(struct mill_run *r, const u32 *degree, const u32 *in_degree)
{
	const struct mill_bin *bin = r->result.distribution->buffer.host;
	u64 n = r->store->vertices, n_bins = r->result.distribution->n, isolated = run_isolated(r),
	    most_in = 0;

	for (u64 v = 0; v < r->store->n_linked; v++) {
		isolated += !degree[v] && !(in_degree && in_degree[v]);
		most_in = max_u64(most_in, in_degree ? in_degree[v] : 0);
	}
	run_fact(r, "min", n ? bin[0].value : 0);
	run_fact(r, "max", n ? bin[n_bins - 1].value : 0);
	run_fact_real(r, "mean", n ? (f64)r->store->stored_edges / (f64)n : 0);
	run_fact_real(r, "median",
		      n ? ((f64)degree_at(bin, (n - 1) / 2) + (f64)degree_at(bin, n / 2)) / 2 : 0);
	if (in_degree)
		run_fact(r, "max_in", most_in);
	if (in_degree || !r->store->directed)	/* else in-edges are not known */
		run_fact(r, "isolated", isolated);
}

/* ---- The certificate ---- */

struct degree_check {
	u32 *out, *in;		/* in: NULL if there is no such column */
	u64 *count;		/* vertices in each bin of the distribution */
};

static mill_err count_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			   unsigned worker)
{
	struct degree_check *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		u32 first = seg->row[row], last = seg->row[row + 1];

		__atomic_fetch_add(&c->out[seg->first + row], last - first, __ATOMIC_RELAXED);
		for (u32 i = first; c->in && i < last; i++)
			__atomic_fetch_add(&c->in[seg->neighbour[i]], 1, __ATOMIC_RELAXED);
	}
	return MILL_OK;
}

static mill_err compare(struct mill_run *r, const struct degree_check *c)
{
	const u32 *degree = r->result.column[0].vec->buffer.host,
		  *in = c->in ? r->result.column[1].vec->buffer.host : NULL;
	const struct mill_bin *bin = r->result.distribution->buffer.host;
	u64 n = r->store->n_linked, n_bins = r->result.distribution->n;

	for (u64 v = 0; v < n; v++) {
		u64 low = 0, high = n_bins;

		if (degree[v] != c->out[v])
			return check_wrong(r, v, "it has another number of edges");
		if (in && in[v] != c->in[v])
			return check_wrong(r, v, "another number of edges leads to it");
		while (high - low > 1) {
			u64 middle = (low + high) / 2;

			if (bin[middle].value <= degree[v])
				low = middle;
			else
				high = middle;
		}
		if (bin[low].value != degree[v])
			return check_wrong(r, v, "the distribution lacks its degree");
		c->count[low]++;
	}
	if (run_isolated(r) && n_bins && !bin[0].value)
		c->count[0] += run_isolated(r);
	for (u64 i = 0; i < n_bins; i++)
		if (bin[i].count != c->count[i])
			return fail(MILL_ECHECK, "%llu vertices have degree %llu, not %llu",
				    (unsigned long long)c->count[i],
				    (unsigned long long)bin[i].value,
				    (unsigned long long)bin[i].count);
	return MILL_OK;
}

static mill_err check(struct mill_run *r)
{
	struct degree_check c = { 0 };
	struct pass pass = { .work = count_rows, .arg = &c };
	struct mill_step step = { 0 };
	u64 n = r->store->n_linked;
	mill_err err;

	if (!r->need.out)
		return fail(MILL_EUSAGE,
			    "the run did not load the edges: set the option `check` before it");
	err = memory_new(&c.out, &r->budget, n, sizeof(u32), "the certificate");
	if (!err && r->result.n_columns > 1)
		err = memory_new(&c.in, &r->budget, n, sizeof(u32), "the certificate");
	if (!err)
		err = memory_new(&c.count, &r->budget, r->result.distribution->n, sizeof(u64),
				 "the certificate");
	if (!err) {
		run_announce(r, "check", 0);
		err = run_pass(r, &pass, &step);
	}
	if (!err)
		err = compare(r, &c);
	memory_free(c.count);
	memory_free(c.in);
	memory_free(c.out);
	return err;
}

static mill_err run(struct mill_run *r, void *self)
{
	const struct store *st = r->store;
	struct degrees_run *g = self;

	TRY(store_read(st, STORE_OUT_DEGREES, g->out->buffer.host, st->sources * sizeof(u32), 0));
	if (g->in)
		TRY(store_read(st, STORE_IN_DEGREES, g->in->buffer.host, st->n_linked * sizeof(u32),
			       0));
	TRY(find_distribution(r, g->out->buffer.host));
	run_column(r, "degree", MILL_TYPE_U32, g->out, UINT64_MAX, 0);
	if (g->in)
		run_column(r, "in_degree", MILL_TYPE_U32, g->in, UINT64_MAX, 0);
	TRY(run_end(r));
	find_facts(r, g->out->buffer.host, g->in ? g->in->buffer.host : NULL);
	return MILL_OK;
}

const struct algorithm algorithm_degrees = {
	.public = {
		.name = "degrees",
		.summary = "how many edges every vertex has, and how they are distributed",
		.help = "-o writes `id degree`, of a directed graph `id degree in_degree`.\n"
			"Self-loops and parallel edges count as they are stored. The\n"
			"distribution is in the report: [[degree, vertices], ...].\n",
		.examples = "  millrace degrees web.mill\n"
			    "  millrace degrees web.mill -o degrees.csv --json=report.json "
			    "--check\n",
		.column = NAMES("degree", "in_degree"),
		.fact = NAMES("min", "max", "mean", "median", "max_in", "isolated", "distribution"),
	},
	.size = sizeof(struct degrees_run),
	.declare = declare,
	.run = run,
	.check = check,
	.cost = &cost_degrees,
};
