/* SPDX-License-Identifier: Apache-2.0 */
/* Decides the kind of the graph, batches edges for the builder, and checks lists of both ends. */
#include "import/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/random.h"

/* Vertices that a header may claim: always VERTICES_FREE, and some more for each entry. */
#define VERTICES_FREE ((u64)1 << 20)
#define VERTICES_PER_ENTRY 16u

mill_err reader_scan(struct reader *r, bool binary)
{
	struct budget *budget = builder_budget(r->k->b);

	TRY(memory_new(&r->edge, budget, READER_BATCH, sizeof(*r->edge), "an input"));
	TRY(scan_init(&r->scan, r->in, binary, budget));
	r->refuse_loops = r->k->how->loops == MILL_LOOPS_ERROR;
	ticker_begin(builder_ticker(r->k->b), "read", "bytes", input_size(r->in));
	return MILL_OK;
}

static mill_err settle_weights(const struct reader *r, bool has_weights, bool *out)
{
	const struct mill_import *how = r->k->how;

	*out = has_weights && how->weights != MILL_WEIGHTS_NONE;
	if (how->weight_type && !*out)
		return fail(MILL_EUSAGE, "%s has no weights, so --weight-type does not apply",
			    input_name(r->in));
	return MILL_OK;
}

mill_err reader_settle(struct reader *r, enum header_kind kind, bool has_weights, bool once)
{
	struct intake *k = r->k;
	bool undirected, weighted;

	TRY(settle_weights(r, has_weights, &weighted));
	undirected = k->how->undirected ||
		     (kind == HEADER_UNDIRECTED && !k->how->directed);
	if (k->settled && undirected != k->undirected)
		return fail(MILL_EINPUT,
			    "%s is %s, and the inputs before it are not: "
			    "give --directed or --undirected",
			    input_name(r->in), undirected ? "undirected" : "directed");
	if (k->settled && weighted != k->weighted)
		return fail(MILL_EINPUT,
			    "%s has %sweights, unlike the inputs before it: "
			    "--weights none ignores the weights of all inputs",
			    input_name(r->in), weighted ? "" : "no ");
	if (!k->settled)
		builder_set_kind(k->b, undirected,
				 weighted ? MILL_WEIGHT_F64 : MILL_WEIGHT_NONE);
	k->settled = true;
	k->undirected = undirected;
	k->symmetric |= kind == HEADER_UNDIRECTED;
	k->weighted = weighted;
	if (weighted && !k->text.weight_column)
		k->text.weight_column = 3; /* any column: not 0 means that there are weights */
	r->mirror = once && kind == HEADER_UNDIRECTED && !undirected;
	return MILL_OK;
}

mill_err reader_base(const struct reader *r, u32 base)
{
	const struct mill_import *how = r->k->how;

	if (!how->base_given || how->base == base)
		return MILL_OK;
	return fail(MILL_EUSAGE, "%s: this format counts its vertices from %u, not from %u",
		    input_name(r->in), base, how->base);
}

mill_err reader_flush(struct reader *r)
{
	struct text *t = &r->k->text;

	if (!r->n)
		return MILL_OK;
	checksum_add(t->sum, r->edge, r->n * sizeof(*r->edge));
	TRY(builder_add(r->k->b, r->edge, r->n));
	t->n_edges += r->n;
	r->n = 0;
	TRY(builder_project(r->k->b, t->n_edges, input_done(r->in), input_size(r->in)));
	return ticker_tick(builder_ticker(r->k->b), input_done(r->in));
}

mill_err reader_refuse_loop(struct reader *r)
{
	return scan_fail(&r->scan, MILL_EINPUT, "an edge from a vertex to itself");
}

mill_err reader_weight(struct reader *r, f64 value, bool whole, i64 integer)
{
	struct text *t = &r->k->text;
	bool fits = true;

	switch (t->weight_type) {
	case MILL_WEIGHT_U32:
		fits = whole && integer >= 0 && integer <= UINT32_MAX;
		break;
	case MILL_WEIGHT_I32:
		fits = whole && integer >= INT32_MIN && integer <= INT32_MAX;
		break;
	case MILL_WEIGHT_F32:
		fits = !isfinite(value) || isfinite((f32)value);
		break;
	default:
		break;
	}
	if (!fits)
		return scan_fail(&r->scan, MILL_EINPUT, "%g is not a weight of type %s",
				 value,
				 t->weight_type == MILL_WEIGHT_U32   ? "u32"
				 : t->weight_type == MILL_WEIGHT_I32 ? "i32"
								     : "f32");
	if (whole) {
		t->min_weight = integer < t->min_weight ? integer : t->min_weight;
		t->max_weight = integer > t->max_weight ? integer : t->max_weight;
	}
	t->fraction |= !whole;
	return MILL_OK;
}

mill_err reader_vertices(struct reader *r, u64 first, u64 n, u64 entries)
{
	u64 id[1024], limit, k = 0;

	if (__builtin_mul_overflow(entries, (u64)VERTICES_PER_ENTRY, &limit) ||
	    __builtin_add_overflow(limit, VERTICES_FREE, &limit))
		limit = UINT64_MAX;
	if (n > limit)
		return fail(MILL_ELIMIT,
			    "%s: the header claims %llu vertices, nearly all without an edge: "
			    "with %llu entries at most %llu are accepted",
			    input_name(r->in), (unsigned long long)n,
			    (unsigned long long)entries, (unsigned long long)limit);
	TRY(reader_flush(r));
	for (u64 i = 0; i < n; i++) {
		id[k++] = first + i;
		if (k == ARRAY_LEN(id) || i + 1 == n) {
			TRY(builder_add_vertices(r->k->b, id, k));
			k = 0;
		}
	}
	checksum_add(r->k->text.sum, &n, sizeof(n));
	return MILL_OK;
}

void reader_note(struct reader *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->k->out->note, sizeof(r->k->out->note), format, args);
	va_end(args);
}

/* ---- The check of both ends ---- */

mill_err mirror_begin(struct mirror_check *m, u64 n, struct budget *budget)
{
	m->n = n;
	m->shift = 0;
	while (n && (n - 1) >> m->shift >= MIRROR_BUCKETS)
		m->shift++;
	return memory_new(&m->sum, budget, MIRROR_BUCKETS, sizeof(*m->sum),
			  "the check of both ends");
}

void mirror_release(struct mirror_check *m)
{
	memory_free(m->sum);
	m->sum = NULL;
}

/*
 * An entry v in the list of u adds a hash to u's bucket. The entry u in the list of v subtracts
 * the same hash from u's bucket. So after all lists, every bucket is 0 if they agree.
 */
void mirror_add(struct mirror_check *m, u64 u, u64 v, u64 weight)
{
	m->sum[u >> m->shift] += random_at(random_at(u, v), weight);
	m->sum[v >> m->shift] -= random_at(random_at(v, u), weight);
}

bool mirror_agrees(const struct mirror_check *m, u64 *first, u64 *last)
{
	for (u64 i = 0; i < MIRROR_BUCKETS; i++)
		if (m->sum[i]) {
			*first = i << m->shift;
			*last = min_u64(m->n, (i + 1) << m->shift) - 1;
			return false;
		}
	return true;
}
