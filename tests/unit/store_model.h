/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the store share: small graphs as plain lists of arcs, stores that the writer
 * makes of them, and ways to damage a store and to correct its checksums afterwards. Vertices are
 * given by vid: sources are 0 .. sources - 1.
 */
#ifndef TEST_STORE_MODEL_H
#define TEST_STORE_MODEL_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/random.h"
#include "helpers.h"
#include "store/manifest.h"
#include "store/page.h"
#include "store/store.h"
#include "store/writer.h"

#define UNUSED __attribute__((unused))

struct arc {
	u32 from, to, ordinal;
	u64 weight;	/* bits of the graph's type */
};

struct graph {
	u32 n, sources;
	bool directed, out_only;
	enum mill_weight weight;
	enum page_codec codec;
	bool paged;
	u32 page_id_bytes, slot_bytes;
	u64 piece;		/* edges in a piece of a list; 0: lists are written whole */
	struct arc *arc;	/* stored arcs: both directions of an undirected edge */
	u32 n_arcs;
	u64 edges;		/* an undirected edge counts once */
	u64 *id;
};

static u64 random_weight(enum mill_weight type, u64 seed, u64 i)
{
	f32 f = (f32)random_unit(seed, i) * 100 - 20;
	f64 d = random_unit(seed, i) * 100 - 20;
	u64 bits = 0;

	switch (type) {
	case MILL_WEIGHT_NONE:
		break;
	case MILL_WEIGHT_U32:
		return (u32)random_at(seed, i);
	case MILL_WEIGHT_I32:
		return (u32)random_at(seed, i);
	case MILL_WEIGHT_F32:
		memcpy(&bits, &f, sizeof(f));
		break;
	case MILL_WEIGHT_F64:
		memcpy(&bits, &d, sizeof(d));
		break;
	}
	return bits;
}

UNUSED static void graph_release(struct graph *g)
{
	free(g->arc);
	free(g->id);
}

/*
 * Makes room for max_arcs arcs, and ids: those of sources and of other vertices are mixed, the
 * largest is 2^64 - 1.
 */
static void graph_init(struct graph *g, u32 n, u32 sources, u32 max_arcs)
{
	u32 next[2] = { 0, sources };

	g->n = n;
	g->sources = sources;
	g->arc = calloc(max_arcs + 1, sizeof(*g->arc));
	g->id = calloc(n + 1, sizeof(*g->id));
	assert_true(g->arc && g->id);
	for (u32 rank = 0; rank < n; rank++) {
		bool other = next[0] == sources || (next[1] < n && random_at(n, rank) & 1);

		g->id[next[other]++] = rank + 1 == n ? UINT64_MAX : 5 + 3 * (u64)rank;
	}
}

/* Adds an edge: one arc, or both if the graph is undirected. */
static void graph_add(struct graph *g, u32 u, u32 v, u64 weight)
{
	u32 ordinal = (u32)g->edges++;

	g->arc[g->n_arcs++] = (struct arc){ u, v, ordinal, weight };
	if (!g->directed && u != v)
		g->arc[g->n_arcs++] = (struct arc){ v, u, ordinal, weight };
}

/* Gives every source one edge, then adds m more at random; few vertices give parallel edges. */
UNUSED static void graph_random(struct graph *g, u32 n, u32 sources, u32 m, u64 seed)
{
	graph_init(g, n, sources, 2 * (m + sources));
	for (u32 u = 0; u < sources; u++)
		graph_add(g, u, (u32)random_below(seed, u, g->directed ? n : sources),
			  random_weight(g->weight, seed + 1, g->edges));
	for (u32 i = 0; i < m && sources; i++) {
		u32 u = (u32)random_below(seed + 2, i, sources);
		u32 v = (u32)random_below(seed + 3, i, g->directed ? n : sources);

		graph_add(g, u, v, random_weight(g->weight, seed + 1, g->edges));
	}
}

static int by_out(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static int by_in(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static void put_weight(void *to, enum mill_weight type, u64 k, u64 bits)
{
	memcpy((u8 *)to + k * weight_size(type), &bits, weight_size(type));
}

/* Writes the n edges of a list from the first on; last: the list ends with them. */
static mill_err write_piece(struct store_writer *w, const struct graph *g, bool in,
			    const vid *neighbour, const u8 *weight, u64 first, u64 n, bool last)
{
	const u8 *from = g->weight ? weight + first * weight_size(g->weight) : NULL;

	return writer_piece(w, in, neighbour + first, from, n, last);
}

/* Sorts the arcs and writes all lists of a direction. */
static mill_err write_lists(struct store_writer *w, struct graph *g, bool in)
{
	vid *neighbour = calloc(g->n_arcs + 1, sizeof(vid));
	u8 *weight = calloc(g->n_arcs + 1, 8);
	mill_err err = MILL_OK;
	u32 i = 0;

	qsort(g->arc, g->n_arcs, sizeof(*g->arc), in ? by_in : by_out);
	for (u32 v = 0; v < g->n && !err; v++) {
		u64 k = 0, done = 0;

		for (; i < g->n_arcs && (in ? g->arc[i].to : g->arc[i].from) == v; i++, k++) {
			neighbour[k] = (vid)(in ? g->arc[i].from : g->arc[i].to);
			put_weight(weight, g->weight, k, g->arc[i].weight);
		}
		for (; !err && g->piece && done + g->piece < k; done += g->piece)
			err = write_piece(w, g, in, neighbour, weight, done, g->piece, false);
		if (!err)
			err = write_piece(w, g, in, neighbour, weight, done, k - done, true);
	}
	free(neighbour);
	free(weight);
	return err;
}

static mill_err write_ids(struct store_writer *w, const struct graph *g)
{
	vid *order = calloc(g->n + 1, sizeof(vid)), *rank = calloc(g->n + 1, sizeof(vid));
	u64 *id = calloc(g->n + 1, sizeof(*id));
	u32 a = 0, b = g->sources;
	mill_err err;

	for (u32 i = 0; i < g->n; i++) {
		bool other = a == g->sources || (b < g->n && g->id[b] < g->id[a]);

		order[i] = (vid)(other ? b++ : a++);
		rank[order[i]] = (vid)i;
		id[i] = g->id[order[i]];
	}
	err = writer_append(w, STORE_IDS, id, (u64)g->n * 8);
	if (!err)
		err = writer_append(w, STORE_ORDER, order, (u64)g->n * sizeof(vid));
	if (!err)
		err = writer_append(w, STORE_RANK, rank, (u64)g->n * sizeof(vid));
	free(id);
	free(rank);
	free(order);
	return err;
}

/* "DIR,DIR": the directories over which graph_write spreads the pages; NULL: no stripes. */
UNUSED static const char *stripe_list;

/* Writes the graph as a store. */
UNUSED static mill_err graph_write(struct graph *g, const char *path, u32 page_size, bool force)
{
	struct store_facts facts = {
		.vertices = g->n,
		.sources = g->sources,
		.edges = g->edges,
		.directed = g->directed,
		.in_pages = g->directed && !g->out_only,
		.weight = g->weight,
		.page_size = page_size,
		.codec = g->codec,
		.paged = g->paged,
		.page_id_bytes = g->page_id_bytes,
		.slot_bytes = g->slot_bytes,
		.fingerprint = 0x1234,
		.origin = "test",
	};
	struct store_writer *w;
	mill_err err;

	TRY(writer_open(&w, path, force, NULL));
	err = stripe_list ? writer_stripe(w, stripe_list) : MILL_OK;
	if (!err)
		err = writer_begin(w, &facts);
	if (!err)
		err = write_lists(w, g, false);
	if (!err && facts.in_pages)
		err = write_lists(w, g, true);
	if (!err)
		err = write_ids(w, g);
	if (!err)
		return writer_commit(w);
	writer_abandon(w);
	return err;
}

/* Opens the store and verifies it, which finds every accident. */
UNUSED static mill_err open_and_verify(const char *path)
{
	struct ticker ticker;
	struct store *st;
	mill_err err;

	TRY(store_open(&st, path, NULL));
	ticker_init(&ticker, NULL);
	err = store_verify(st, &ticker);
	store_close(st);
	return err;
}

/* Writes a manifest: the text and the line with its checksum. */
UNUSED static void seal_manifest(const char *store, const char *text, size_t size)
{
	char all[8192];

	assert_true(size + 26 < sizeof(all));
	memcpy(all, text, size);
	snprintf(all + size, sizeof(all) - size, "checksum %016llx\n",
		 (unsigned long long)checksum(text, size));
	put_file(path_in(store, "manifest"), all, size + 26);
}

/* Computes all checksums of a store again after its files were changed, as an attacker can. */
UNUSED static void reseal(const char *store)
{
	u64 sum[4096], n = 0;
	size_t size;
	char *text, *at;

	for (enum store_file f = 0; f < STORE_FILES; f++) {
		const char *path = path_in(store, store_file_name(f));
		u8 *data;

		if (access(path, F_OK))
			continue;
		data = slurp(path, &size);
		for (size_t b = 0; b < size; b += STORE_BLOCK) {
			assert_true(n < ARRAY_LEN(sum));
			sum[n++] = checksum(data + b, min_u64(STORE_BLOCK, size - b));
		}
		free(data);
	}
	put_file(path_in(store, "sums"), sum, n * 8);
	text = (char *)slurp(path_in(store, "manifest"), &size);
	at = strstr(text, "\nsums ");
	assert_non_null(at);
	sprintf(at, "\nsums %016llx\n", (unsigned long long)checksum(sum, n * 8));
	seal_manifest(store, text, strlen(text));
	free(text);
}

#endif
