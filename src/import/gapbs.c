/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads GAPBS's serialized graphs: a byte (directed or not), i64 edges, i64 vertices, i64 offsets
 * (one more than vertices), i32 neighbours, or pairs of i32 (neighbour, weight) in .wsg; then, if
 * directed, offsets and neighbours of the inverse. Little-endian, without padding. The inverse is
 * compared with the lists by a sum of hashes.
 */
#include <string.h>

#include "base/random.h"
#include "import/format.h"

struct sg {
	bool directed, weighted;
	u64 edges, vertices;
	u32 *degree;
	u64 room;
	u64 sum; /* of hashes of arcs; the inverse subtracts them again */
	struct mirror_check both;
};

static mill_err read_count(struct scan *s, u64 *out, const char *what)
{
	i64 value;

	TRY(scan_bytes(s, &value, sizeof(value)));
	if (value < 0)
		return scan_fail(s, MILL_EINPUT, "the number of %s is negative", what);
	*out = (u64)value;
	return MILL_OK;
}

static mill_err read_header(struct scan *s, struct sg *g)
{
	u8 directed;

	TRY(scan_bytes(s, &directed, 1));
	if (directed > 1)
		return scan_fail(s, MILL_EINPUT,
				 "this is not a serialized graph: it begins with %u, not with "
				 "0 or 1",
				 directed);
	g->directed = directed;
	TRY(read_count(s, &g->edges, "edges"));
	TRY(read_count(s, &g->vertices, "vertices"));
	if (g->vertices > (u64)INT32_MAX + 1)
		return scan_fail(s, MILL_EINPUT,
				 "%llu vertices are more than 32-bit neighbours can name",
				 (unsigned long long)g->vertices);
	return MILL_OK;
}

/* Makes room for degree n. It grows with what has been read, not with what a header claims. */
static mill_err grow(struct sg *g, u64 n, struct budget *budget)
{
	u64 room = min_u64(g->vertices, max_u64(2 * g->room, 64 * KIB));
	u32 *degree;

	if (n < g->room)
		return MILL_OK;
	TRY(memory_new(&degree, budget, room, sizeof(*degree), "the degrees"));
	if (g->room)
		memcpy(degree, g->degree, g->room * sizeof(*degree));
	memory_free(g->degree);
	g->degree = degree;
	g->room = room;
	return MILL_OK;
}

static mill_err read_offsets(struct reader *r, struct sg *g)
{
	struct scan *s = &r->scan;
	u64 before, next;

	TRY(scan_bytes(s, &before, sizeof(before)));
	if (before)
		return scan_fail(s, MILL_EINPUT, "the first offset is not 0");
	for (u64 u = 0; u < g->vertices; u++) {
		TRY(scan_bytes(s, &next, sizeof(next)));
		if (next < before || next > g->edges)
			return scan_fail(s, MILL_EINPUT,
					 "offset %llu of vertex %llu is less than the one "
					 "before or more than %llu edges",
					 (unsigned long long)next, (unsigned long long)u,
					 (unsigned long long)g->edges);
		if (next - before > UINT32_MAX)
			return scan_fail(s, MILL_ELIMIT,
					 "a vertex has more than 2^32 - 1 edges");
		TRY(grow(g, u, builder_budget(r->k->b)));
		g->degree[u] = (u32)(next - before);
		before = next;
	}
	if (before != g->edges)
		return scan_fail(s, MILL_EINPUT,
				 "the offsets end at %llu, and the header says %llu edges",
				 (unsigned long long)before, (unsigned long long)g->edges);
	return MILL_OK;
}

static mill_err read_neighbour(struct reader *r, struct sg *g, u64 u, bool inverse)
{
	struct scan *s = &r->scan;
	i32 pair[2] = { 0, 1 };
	u64 v, w;

	TRY(scan_bytes(s, pair, g->weighted ? 8 : 4));
	if (pair[0] < 0 || (u64)pair[0] >= g->vertices)
		return scan_fail(s, MILL_EINPUT, "neighbour %d is not one of 0 to %llu",
				 pair[0], (unsigned long long)g->vertices - 1);
	v = (u64)pair[0];
	w = (u32)pair[1];
	if (inverse) {
		g->sum -= random_at(random_at(v, u), w);
		return MILL_OK;
	}
	if (g->directed)
		g->sum += random_at(random_at(u, v), w);
	else
		mirror_add(&g->both, u, v, w);
	if (r->k->weighted)
		TRY(reader_weight(r, pair[1], true, pair[1]));
	if (!g->directed && r->k->undirected && u > v)
		return MILL_OK; /* its other end adds it */
	return reader_edge(r, u, v, pair[1]);
}

static mill_err read_half(struct reader *r, struct sg *g, bool inverse)
{
	TRY(read_offsets(r, g));
	for (u64 u = 0; u < g->vertices; u++)
		for (u32 k = 0; k < g->degree[u]; k++)
			TRY(read_neighbour(r, g, u, inverse));
	return MILL_OK;
}

static mill_err read_graph(struct reader *r, struct sg *g)
{
	struct scan *s = &r->scan;
	u64 first, last;

	if (!g->directed)
		TRY(mirror_begin(&g->both, g->vertices, builder_budget(r->k->b)));
	TRY(read_half(r, g, false));
	if (g->directed)
		TRY(read_half(r, g, true));
	if (scan_peek(s) != SCAN_END)
		return scan_fail(s, MILL_EINPUT, "there are more bytes after the graph");
	TRY(s->err);
	if (g->sum)
		return scan_fail(s, MILL_EINPUT,
				 "the inverse that ends here does not match the lists before it");
	if (!g->directed && !mirror_agrees(&g->both, &first, &last))
		return scan_fail(s, MILL_EINPUT,
				 "the lists of the undirected graph that end here are not "
				 "symmetric: look at vertex %llu%s",
				 (unsigned long long)first,
				 first == last ? "" : " and those after it");
	return reader_vertices(r, 0, g->vertices, g->vertices);
}

static mill_err read_sg(struct reader *r, bool weighted)
{
	struct sg g = { .weighted = weighted };
	mill_err err;

	TRY(reader_scan(r, true));
	TRY(reader_base(r, 0));
	TRY(read_header(&r->scan, &g));
	TRY(reader_settle(r, g.directed ? HEADER_DIRECTED : HEADER_UNDIRECTED, weighted,
			  false));
	err = read_graph(r, &g);
	mirror_release(&g.both);
	memory_free(g.degree);
	return err;
}

mill_err sg_read(struct reader *r)
{
	return read_sg(r, false);
}

mill_err wsg_read(struct reader *r)
{
	return read_sg(r, true);
}
