/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts edges and merges parallel ones. The sorted keys are cut into blocks of whole groups of
 * equal keys; all threads reduce the blocks in place, then the blocks are moved together.
 */
#include "import/edges.h"

#include <string.h>

#include "base/random.h"
#include "base/sort.h"

#define REDUCE_BLOCK ((u64)1 << 18) /* keys */

f64 weight_value(enum mill_weight type, u64 bits)
{
	f32 narrow;
	f64 wide;
	u32 low = (u32)bits;

	switch (type) {
	case MILL_WEIGHT_U32:
		return low;
	case MILL_WEIGHT_I32:
		return (i32)low;
	case MILL_WEIGHT_F32:
		memcpy(&narrow, &low, sizeof(narrow));
		return (f64)narrow;
	case MILL_WEIGHT_F64:
		memcpy(&wide, &bits, sizeof(wide));
		return wide;
	case MILL_WEIGHT_NONE:
		break;
	}
	return 0;
}

u64 weight_bits(enum mill_weight type, f64 value)
{
	f32 narrow = (f32)value;
	u32 low = 0;
	u64 bits;

	switch (type) {
	case MILL_WEIGHT_U32:
		return (u32)value;
	case MILL_WEIGHT_I32:
		return (u32)(i32)value;
	case MILL_WEIGHT_F32:
		memcpy(&low, &narrow, sizeof(low));
		return low;
	case MILL_WEIGHT_F64:
		memcpy(&bits, &value, sizeof(bits));
		return bits;
	case MILL_WEIGHT_NONE:
		break;
	}
	return 0;
}

mill_err edges_alloc(struct edges *e)
{
	TRY(memory_new(&e->key, e->budget, e->n, sizeof(*e->key), "the edges"));
	if (!e->type)
		return MILL_OK;
	return memory_new(&e->weight, e->budget, e->n, sizeof(*e->weight), "the weights");
}

void edges_release(struct edges *e)
{
	memory_free(e->key);
	memory_free(e->weight);
	e->key = e->weight = NULL;
}

mill_err edges_sort(struct edges *e)
{
	return sort_u64(e->pool, e->budget, e->key, e->weight, e->n, 2 * e->bits);
}

mill_err edges_sort_by_column(struct edges *e)
{
	return sort_u64(e->pool, e->budget, e->key, e->weight, e->n, e->bits);
}

/* Whole groups of equal keys, which are reduced in place. */
struct block {
	u64 begin, end; /* its keys before it is reduced */
	u64 n;		/* number of keys after that, from `begin` on */
	u64 loops;	/* loops among these n */
	u64 duplicates, merged;
	/* Directed: sums over the distinct arcs, equal if each has its reverse. */
	u64 forward, backward;
	bool one_way; /* undirected: some edge was read in one direction only */
	mill_err err; /* the first error ... */
	u64 key;      /* ... and the key at which it occurred */
};

struct reduction {
	struct edges *e;
	enum mill_dedup rule;
	struct block *block;
};

/*
 * Sums of these hashes tell two sets of arcs apart, with an error of one in 2^64. That is enough
 * for `symmetric`, which is only reported.
 */
static u64 hash_arc(u64 from, u64 to)
{
	return random_at(from, to);
}

static bool is_whole(enum mill_weight type)
{
	return type == MILL_WEIGHT_U32 || type == MILL_WEIGHT_I32;
}

/* Combines a weight with the group by the rule. first: it is the group's first weight. */
static void fold(struct edges_group *g, enum mill_dedup rule, enum mill_weight type, u64 weight,
		 bool first)
{
	f64 x = weight_value(type, weight), y;

	if (first)
		g->best = weight;
	switch (rule) {
	case MILL_DEDUP_MIN:
	case MILL_DEDUP_MAX:
		y = weight_value(type, g->best);
		if (rule == MILL_DEDUP_MIN ? x < y : x > y)
			g->best = weight;
		break;
	case MILL_DEDUP_SUM:
		if (is_whole(type))
			g->whole += (i64)x;
		else
			g->real += x;
		break;
	default:
		break;
	}
}

/* Returns the combined weight. Fails with MILL_ELIMIT if a sum does not fit the type. */
static mill_err fold_result(const struct edges_group *g, enum mill_dedup rule,
			    enum mill_weight type, u64 *out)
{
	f64 real = g->real;

	*out = g->best;
	if (rule != MILL_DEDUP_SUM)
		return MILL_OK;
	if (is_whole(type)) {
		if (type == MILL_WEIGHT_U32 ? g->whole > UINT32_MAX
					    : g->whole > INT32_MAX || g->whole < INT32_MIN)
			return MILL_ELIMIT;
		real = (f64)(i64)g->whole;
	}
	if (real != real) /* inf - inf */
		return MILL_ELIMIT;
	*out = weight_bits(type, real);
	return MILL_OK;
}

/* Combines the weights of the group [begin, end) by the rule. */
static mill_err combine(const struct reduction *r, u64 begin, u64 end, u64 *out)
{
	struct edges_group g = { .made = 0 };

	for (u64 i = begin; i < end; i++)
		fold(&g, r->rule, r->e->type, r->e->weight[i], i == begin);
	return fold_result(&g, r->rule, r->e->type, out);
}

/*
 * Pairs listings of {u, v} with listings of {v, u}. A listing makes an edge if its direction has
 * now been read more often than there are edges; else it belongs to an edge that the other
 * direction has made. So {u, v} keeps the larger of its two counts, and the weights read first.
 */
static u64 pair_listings(struct edges *e, u64 begin, u64 end, u64 to)
{
	u64 count[2] = { 0, 0 }, made = 0;
	u64 *key = e->key, *weight = e->weight, clean = key[begin] & ~EDGE_REVERSED;

	for (u64 i = begin; i < end; i++) {
		u64 w = weight ? weight[i] : 0;

		if (++count[key[i] >> 63] <= made)
			continue;
		/* to + made <= i, and key[i] has been read: so it may be overwritten. */
		key[to + made] = clean;
		if (weight)
			weight[to + made] = w;
		made++;
	}
	return made;
}

static void reduce_group(const struct reduction *r, struct block *blk, u64 begin, u64 end,
			 u64 *to)
{
	struct edges *e = r->e;
	u64 *key = e->key, *weight = e->weight;
	u64 clean = e->undirected ? key[begin] & ~EDGE_REVERSED : key[begin];
	u64 row = clean >> e->bits, column = clean & edge_mask(e);
	u64 size = end - begin, reversed = 0, made, w = 0;

	if (e->undirected) {
		for (u64 i = begin; i < end; i++)
			reversed += key[i] >> 63;
		blk->merged += r->rule ? (reversed && reversed < size)
				       : min_u64(reversed, size - reversed);
		blk->duplicates += (reversed ? reversed - 1 : 0) +
				   (size > reversed ? size - reversed - 1 : 0);
		blk->one_way |= row != column && (!reversed || reversed == size);
	} else {
		blk->duplicates += size - 1;
		blk->forward += hash_arc(row, column);
		blk->backward += hash_arc(column, row);
	}

	if (size == 1) { /* most groups */
		key[*to] = clean;
		if (weight)
			weight[*to] = weight[begin];
		made = 1;
	} else if (r->rule) {
		mill_err err = MILL_OK;

		if (r->rule == MILL_DEDUP_ERROR)
			err = MILL_EINPUT;
		else if (weight)
			err = combine(r, begin, end, &w);
		if (err && !blk->err) {
			blk->err = err;
			blk->key = clean;
		}
		key[*to] = clean;
		if (weight)
			weight[*to] = w;
		made = 1;
	} else if (e->undirected) {
		made = pair_listings(e, begin, end, *to);
	} else {
		made = size;
		memmove(key + *to, key + begin, size * sizeof(*key));
		if (weight)
			memmove(weight + *to, weight + begin, size * sizeof(*weight));
	}
	if (row == column)
		blk->loops += made;
	*to += made;
}

static void reduce_block(const struct reduction *r, struct block *blk)
{
	const struct edges *e = r->e;
	u64 mask = e->undirected ? ~EDGE_REVERSED : ~(u64)0, to = blk->begin, end;

	for (u64 i = blk->begin; i < blk->end; i = end) {
		for (end = i + 1; end < blk->end; end++)
			if ((e->key[end] ^ e->key[i]) & mask)
				break;
		reduce_group(r, blk, i, end, &to);
	}
	blk->n = to - blk->begin;
}

static mill_err reduce_blocks(void *arg, u64 first, u64 last, unsigned worker)
{
	const struct reduction *r = arg;

	for (u64 k = first; k < last; k++)
		reduce_block(r, &r->block[k]);
	return worker ? MILL_OK : ticker_tick(r->e->ticker, first);
}

/* Cuts the keys into blocks. A block begins where a group begins. */
static void cut_blocks(const struct edges *e, struct block *block, u64 n_blocks)
{
	u64 mask = e->undirected ? ~EDGE_REVERSED : ~(u64)0, at = 0;

	for (u64 k = 0; k < n_blocks; k++) {
		block[k].begin = at;
		at = max_u64(at, min_u64(e->n, (k + 1) * REDUCE_BLOCK));
		while (at < e->n && at > block[k].begin &&
		       !((e->key[at] ^ e->key[at - 1]) & mask))
			at++;
		block[k].end = at;
	}
}

static void join_blocks(struct edges *e, const struct block *block, u64 n_blocks,
			struct edges_found *found)
{
	u64 n = 0, forward = 0, backward = 0;
	bool one_way = false;

	for (u64 k = 0; k < n_blocks; k++) {
		const struct block *blk = &block[k];

		if (blk->err && !found->err) {
			found->err = blk->err;
			found->key = blk->key;
		}
		if (n != blk->begin) {
			memmove(e->key + n, e->key + blk->begin, blk->n * sizeof(*e->key));
			if (e->weight)
				memmove(e->weight + n, e->weight + blk->begin,
					blk->n * sizeof(*e->weight));
		}
		n += blk->n;
		found->loops += blk->loops;
		found->duplicates += blk->duplicates;
		found->merged += blk->merged;
		forward += blk->forward;
		backward += blk->backward;
		one_way |= blk->one_way;
	}
	e->n = n;
	found->forward = forward;
	found->backward = backward;
	found->one_way = one_way;
	found->symmetric = e->undirected ? !one_way : forward == backward;
}

mill_err edges_reduce(struct edges *e, enum mill_dedup rule, struct edges_found *found)
{
	u64 n_blocks = div_up(e->n, REDUCE_BLOCK);
	struct reduction r = { .e = e, .rule = rule };
	mill_err err;

	*found = (struct edges_found){ .loops = 0 };
	TRY(memory_new(&r.block, e->budget, n_blocks, sizeof(*r.block), "the edges"));
	cut_blocks(e, r.block, n_blocks);
	ticker_begin(e->ticker, "merge", "blocks", n_blocks);
	err = pool_for(e->pool, n_blocks, 1, reduce_blocks, &r);
	if (!err)
		join_blocks(e, r.block, n_blocks, found);
	memory_free(r.block);
	return err;
}

void edges_reduce_alone(struct edges *e, enum mill_dedup rule, struct edges_found *found)
{
	struct block all = { .end = e->n };
	struct reduction r = { .e = e, .rule = rule, .block = &all };

	*found = (struct edges_found){ .loops = 0 };
	reduce_block(&r, &all);
	join_blocks(e, &all, 1, found);
}

void edges_found_add(struct edges_found *sum, const struct edges_found *f)
{
	sum->loops += f->loops;
	sum->duplicates += f->duplicates;
	sum->merged += f->merged;
	sum->forward += f->forward;
	sum->backward += f->backward;
	sum->one_way |= f->one_way;
	if (f->err && (!sum->err || f->key < sum->key)) {
		sum->err = f->err;
		sum->key = f->key;
	}
}

/* Sets what is found in a whole group. count: its listings in each direction. */
static void find_group(const struct edges *e, enum mill_dedup rule, u64 key, const u64 *count,
		       struct edges_found *found)
{
	u64 row = key >> e->bits, column = key & edge_mask(e);

	if (!e->undirected) {
		found->duplicates = count[0] - 1;
		found->forward = hash_arc(row, column);
		found->backward = hash_arc(column, row);
		return;
	}
	found->merged = rule ? count[0] && count[1] : min_u64(count[0], count[1]);
	found->duplicates = (count[0] ? count[0] - 1 : 0) + (count[1] ? count[1] - 1 : 0);
	found->one_way = row != column && !(count[0] && count[1]);
}

void edges_reduce_partial(struct edges *e, enum mill_dedup rule, struct edges_group *g, bool last,
		       struct edges_found *found)
{
	u64 clean = e->undirected ? e->key[0] & ~EDGE_REVERSED : e->key[0], n = 0;

	*found = (struct edges_found){ .loops = 0 };
	for (u64 i = 0; i < e->n; i++) {
		bool reversed = e->undirected && e->key[i] & EDGE_REVERSED;
		bool first = !g->count[0] && !g->count[1];

		g->count[reversed]++;
		if (rule) {
			if (e->weight)
				fold(g, rule, e->type, e->weight[i], first);
			continue;
		}
		if (e->undirected && g->count[reversed] <= g->made)
			continue;
		e->key[n] = clean;
		if (e->weight)
			e->weight[n] = e->weight[i];
		n++;
		g->made++;
	}
	if (rule && last) {
		if (rule == MILL_DEDUP_ERROR)
			found->err = MILL_EINPUT;
		else if (e->weight)
			found->err = fold_result(g, rule, e->type, &e->weight[0]);
		found->key = e->key[0] = clean;
		n = 1;
	}
	e->n = n;
	if (clean >> e->bits == (clean & edge_mask(e)))
		found->loops = n;
	if (last)
		find_group(e, rule, clean, g->count, found);
}

mill_err edges_mirror(struct edges *out, const struct edges *e, u64 n_loops)
{
	u64 mask = edge_mask(e);

	*out = *e;
	out->key = out->weight = NULL;
	out->n = e->n - n_loops;
	TRY(edges_alloc(out));
	out->n = 0;
	for (u64 i = 0; i < e->n; i++) {
		if (n_loops && e->key[i] >> e->bits == (e->key[i] & mask))
			continue;
		out->key[out->n] = e->key[i];
		if (e->weight)
			out->weight[out->n] = e->weight[i];
		out->n++;
	}
	/* The sort is stable: within a column the rows stay in order. */
	return edges_sort_by_column(out);
}
