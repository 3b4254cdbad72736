/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts vertices by degree, and packs a sample of the lists with the old and the new numbers. */
#include "import/order.h"

#include "base/bitmap.h"
#include "base/random.h"
#include "base/sort.h"
#include "store/packed.h"

#define SAMPLE_EDGES ((u64)1 << 18)	/* about how many edges, if the graph has more */
#define SAMPLE_MAX (4 * SAMPLE_EDGES)
#define DEGREE_MAX SAMPLE_EDGES		/* a hub of a higher degree would fill the sample alone */

u64 order_bytes(u64 n)
{
	/* Keys and the second array of their sort, the degrees, and the new numbers. */
	return n * (2 * sizeof(u64) + sizeof(u32) + sizeof(vid)) + SAMPLE_MAX * 2 * sizeof(u64);
}

static void count_one(u32 *degree, u64 v) { degree[v] += degree[v] != UINT32_MAX; }

void order_count(u32 *degree, const struct edges *e)
{
	u64 mask = edge_mask(e);

	for (u64 i = 0; i < e->n; i++) {
		count_one(degree, e->key[i] >> e->bits);
		count_one(degree, e->key[i] & mask);
	}
}

mill_err order_by_degree(vid *to, const u32 *degree, u64 n, u64 sources, struct budget *budget,
			 struct pool *pool)
{
	u64 *key;
	mill_err err;

	TRY(memory_new(&key, budget, n, sizeof(*key), "the degrees"));
	for (u64 v = 0; v < n; v++)
		key[v] = (u64)(UINT32_MAX - degree[v]) << 32 | v;
	err = sort_u64(pool, budget, key, NULL, sources, 64);
	if (!err)
		err = sort_u64(pool, budget, key + sources, NULL, n - sources, 64);
	for (u64 i = 0; !err && i < n; i++)
		to[key[i] & UINT32_MAX] = (vid)i;
	memory_free(key);
	return err;
}

mill_err order_sample_init(struct order_sample *s, const u32 *degree, u64 n, u64 sources,
			   u64 stored, struct budget *budget)
{
	u64 one_of = max_u64(1, stored / SAMPLE_EDGES);

	*s = (struct order_sample){ .n = 0 };
	TRY(memory_new(&s->picked, budget, bitmap_words(max_u64(n, 1)), sizeof(u64),
		       "a sample of the lists"));
	for (u64 v = 0; v < sources; v++)
		if (random_below(1, v, one_of) == 0 && degree[v] <= DEGREE_MAX &&
		    s->room + degree[v] <= SAMPLE_MAX) {
			bitmap_put(s->picked, v);
			s->room += degree[v];
		}
	return memory_new(&s->pair, budget, s->room, sizeof(u64), "a sample of the lists");
}

void order_sample_release(struct order_sample *s)
{
	memory_free(s->picked);
	memory_free(s->pair);
	*s = (struct order_sample){ .n = 0 };
}

void order_sample_add(struct order_sample *s, const struct edges *e)
{
	u64 mask = edge_mask(e);

	for (u64 i = 0; i < e->n; i++) {
		u64 row = e->key[i] >> e->bits, column = e->key[i] & mask;

		if (bitmap_get(s->picked, row))
			s->pair[s->n++] = row << 32 | column;
		if (e->undirected && row != column && bitmap_get(s->picked, column))
			s->pair[s->n++] = column << 32 | row;
	}
}

/* Returns the bytes that the sample takes when it is packed. */
static u64 packed_bytes(const u64 *pair, u64 n, struct packer *p, u8 *buffer)
{
	u64 bytes = 0;

	packer_clear(p);
	for (u64 i = 0, end; i < n; i = end) {
		vid neighbour[LIST_BLOCK];
		u32 some = 0;

		for (end = i; end < n && pair[end] >> 32 == pair[i] >> 32 && some < LIST_BLOCK;
		     end++)
			neighbour[some++] = (vid)(pair[end] & UINT32_MAX);
		if (!packer_takes(p, some)) {
			bytes += packer_put(p, buffer);
			packer_clear(p);
		}
		packer_add(p, (vid)(pair[i] >> 32), neighbour, some);
	}
	return bytes + (p->n_rows ? packer_put(p, buffer) : 0);
}

mill_err order_sample_pays(struct order_sample *s, const vid *to, struct budget *budget,
			   struct pool *pool, bool *out)
{
	struct packer *p = NULL;
	u8 *buffer = NULL;
	u64 given = 0;
	mill_err err;

	err = memory_new(&p, budget, 1, sizeof(*p), "a block");
	if (!err)
		err = memory_new(&buffer, budget, PACKED_BLOCK_MAX + PACKED_SLACK, 1,
				 "a packed block");
	if (!err)
		err = sort_u64(pool, budget, s->pair, NULL, s->n, 64);
	if (!err)
		given = packed_bytes(s->pair, s->n, p, buffer);
	for (u64 i = 0; !err && i < s->n; i++)
		s->pair[i] = (u64)to[s->pair[i] >> 32] << 32 | to[s->pair[i] & UINT32_MAX];
	if (!err)
		err = sort_u64(pool, budget, s->pair, NULL, s->n, 64);
	if (!err)
		*out = packed_bytes(s->pair, s->n, p, buffer) < given;
	memory_free(buffer);
	memory_free(p);
	return err;
}
