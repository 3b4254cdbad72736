/* SPDX-License-Identifier: Apache-2.0 */
/* Gathered rows: see gather.h. */
#include "transfer/gather.h"

#include <assert.h>
#include <string.h>

#include "base/bitmap.h"
#include "transfer/transfer.h"

/* Words of a chunk's header: policy/path.cl has the same. */
enum { VERTICES, HEADS, SOLE, SOURCES, PATHS, INDEXES, SINGLE, WIDTH, WEIGHTS, HEADER = 10 };
enum { ROWS_N, ROWS_EDGES, ROWS_WIDTH, ROWS_WEIGHTS, ROWS_PARTIAL, ROWS_HEADER = 6 };

/* What a vertex is in a chunk. The table of vertices is in this order, from the last. */
enum role { TARGET, SOURCE, SOLE_LINK, SOLE_HEAD, ROLES };

/* A path in a piece: a word of length and flags, the vertices, the weights. */
#define LENGTH 0x3fffffffu
#define IS_FIRST 0x80000000u	/* the first path of its head in the page */
#define IS_PARTIAL 0x40000000u	/* the head's list lies in several pages */

#define QUEUE 1u	/* of transfers and kernels: its order keeps slots safe */

/* ---- Sizes ---- */

static u64 hash_size(u64 vertices)
{
	u64 n = 64;

	while (n < 2 * vertices)
		n *= 2;
	return n;
}

/* Returns upper bounds for a chunk of this size: vertices, and edges. */
static u64 vertices_in(u64 bytes) { return min_u64(bytes / 4, 65534); }
static u64 edges_in(u64 bytes) { return min_u64(bytes / 4, 65534); }

static u64 open_bytes(u64 vertices, u64 edges)
{
	return round_up(vertices * (4 + 1 + 4 + 4) + edges * (5 * 2 + 2 * 8 + 4) +
			hash_size(vertices) * 8 + 256, 64);
}

u64 gather_piece_words(u64 edges, u32 weight) { return edges * (3 + weight / 4); }

u64 gather_host_bytes(u64 slot_bytes, u64 n_slots, u64 stage_words, u64 moves)
{
	return (GATHER_CLASSES + 1) * open_bytes(vertices_in(slot_bytes), edges_in(slot_bytes)) +
	       GATHER_SENDS * slot_bytes + n_slots * (sizeof(struct chunk_slot) + 16) +
	       stage_words * sizeof(u32) + moves * 2 * sizeof(u64) + 4096;
}

/* ---- Open and close ---- */

static void *carve(char **at, u64 bytes)
{
	void *p = *at;

	*at += round_up(bytes, 8);
	return p;
}

static void carve_chunk(struct gather *g, struct open_chunk *c, char **at)
{
	u64 vertices = g->most_vertices, edges = g->most_edges, hash = g->hash_mask + 1ull;

	c->weight = carve(at, edges * sizeof(u64));
	c->single_weight = carve(at, edges * sizeof(u64));
	c->vertex = carve(at, vertices * sizeof(u32));
	c->head = carve(at, vertices * sizeof(u32));
	c->offset = carve(at, vertices * sizeof(u32) + 4);
	c->neighbour = carve(at, edges * sizeof(u32));
	c->table = carve(at, hash * sizeof(u32));
	c->stamp = carve(at, hash * sizeof(u32));
	c->index = carve(at, 2 * edges * sizeof(u16));
	c->path = carve(at, (edges + 1) * sizeof(u16));
	c->from = carve(at, edges * sizeof(u16));
	c->to = carve(at, edges * sizeof(u16));
	c->role = carve(at, vertices);
	c->age = 1;
}

static mill_err open_chunks(struct transfer *t)
{
	struct gather *g = &t->gather;
	u64 each = open_bytes(g->most_vertices, g->most_edges) + 16 * 13;
	char *at;

	TRY(memory_new(&g->memory, t->budget, GATHER_CLASSES + 1, each, "chunks of paths"));
	at = g->memory;
	for (u32 i = 0; i <= GATHER_CLASSES; i++)
		carve_chunk(g, &g->open[i], &at);
	assert(at <= (char *)g->memory + (GATHER_CLASSES + 1) * each);
	for (u32 i = 0; i < GATHER_SENDS; i++)
		TRY(memory_new(&g->send[i], t->budget, g->slot_bytes, 1, "chunks of paths"));
	return MILL_OK;
}

mill_err gather_open(struct transfer *t, u64 slot_bytes, u32 n_slots, u32 n_transit,
		     u64 stage_words, u32 vertex_bytes)
{
	struct gather *g = &t->gather;
	struct station *s = &t->station[0];
	u64 local = s->device->local;

	g->weight = t->weights ? (u32)weight_size(t->graph->weight) : 0;
	g->slot_bytes = slot_bytes;
	g->n_slots = n_slots;
	g->n_transit = n_transit;
	g->most_vertices = (u32)min_u64(vertices_in(slot_bytes),
					max_u64((local - min_u64(local, 256)) / vertex_bytes, 8));
	g->most_edges = (u32)edges_in(slot_bytes) / 2;
	g->large = (u32)min_u64(min_u64((slot_bytes - 64) / (10 + g->weight), g->most_edges),
				g->most_vertices - 1);
	g->hash_mask = (u32)hash_size(g->most_vertices) - 1;
	g->stage_words = stage_words;
	g->list_most = 2 * (n_slots + n_transit) + 16;
	/* A chunk that stays is a move of its own. */
	memory_free(t->plan.move);
	t->plan.move = NULL;
	t->plan.most = 2 * t->units[0].n + n_slots + 2;
	TRY(memory_new(&t->plan.move, t->budget, t->plan.most, sizeof(struct move),
		       "the plan of a pass"));
	TRY(open_chunks(t));
	TRY(memory_new(&g->slot, t->budget, max_u64(n_slots, 1), sizeof(*g->slot),
		       "chunks of paths"));
	TRY(memory_new(&g->stage, t->budget, stage_words, sizeof(u32), "pieces of pages"));
	TRY(memory_new(&g->piece_at, t->budget, t->plan.most, sizeof(u64), "pieces of pages"));
	TRY(memory_new(&g->piece_end, t->budget, t->plan.most, sizeof(u64), "pieces of pages"));
	TRY(memory_new(&g->pending, t->budget, g->list_most, sizeof(u32), "chunks of paths"));
	return station_buffer(s, &g->list, g->list_most * sizeof(u32), "chunks of paths",
			      TRAFFIC_FLAGS);
}

mill_err gather_drain(struct transfer *t)
{
	struct gather *g = &t->gather;
	mill_err err = MILL_OK;

	for (u32 i = 0; i < GATHER_SENDS; i++) {
		mill_err late = device_wait(&g->sent[i]);

		err = err ? err : late;
		late = device_wait(&g->list_sent[i]);
		err = err ? err : late;
	}
	return err;
}

static void free_slot(struct gather *g, struct chunk_slot *s)
{
	for (u32 i = 0; i < s->n_heads && g->resident; i++)
		g->resident[s->head[i] / 64] &= ~((u64)1 << (s->head[i] % 64));
	memory_free(s->head);
	*s = (struct chunk_slot){ 0 };
}

void gather_forget(struct transfer *t)
{
	struct gather *g = &t->gather;

	for (u32 i = 0; g->slot && i < g->n_slots; i++)
		free_slot(g, &g->slot[i]);
	for (u32 i = 0; i <= GATHER_CLASSES; i++)
		g->open[i].n_vertices = g->open[i].n_heads = g->open[i].n_paths =
			g->open[i].n_index = g->open[i].n_single = 0;
	g->n_pending = g->list_at = 0;
}

void gather_close(struct transfer *t)
{
	struct gather *g = &t->gather;

	gather_drain(t);
	gather_forget(t);
	device_buffer_free(&g->list);
	for (u32 i = 0; i < GATHER_SENDS; i++)
		memory_free(g->send[i]);
	memory_free(g->memory);
	memory_free(g->slot);
	memory_free(g->stage);
	memory_free(g->piece_at);
	memory_free(g->piece_end);
	memory_free(g->pending);
	*g = (struct gather){ 0 };
}

/* ---- Kernels ---- */

/* Adds the scalars of the program's state to a kernel call. */
static void launch_scalars(struct kernel_call *l, const struct program *p, const void *args)
{
	for (u32 i = 0; i < p->n_fields; i++)
		if (!p->field[i].array)
			l->arg[l->launch.n_args++] = (struct launch_arg){
				.value = (const char *)args + p->field[i].offset,
				.size = p->field[i].size,
			};
}

/* Launches the kernels of the slots that are pending. */
static mill_err flush(struct transfer *t)
{
	struct gather *g = &t->gather;
	struct twin *w = &t->twin;
	struct station *s = &t->station[0];
	const struct program *p = g->staged ? &w->program->staged : &w->program->direct;
	u32 slot_words = (u32)(g->slot_bytes / 4), n = g->n_pending, at = g->list_at,
	    i = g->next_list++ % GATHER_SENDS;
	struct kernel_call l;

	if (!n)
		return MILL_OK;
	TRY(device_wait(&g->list_sent[i]));
	TRY(device_send(&g->list, at * sizeof(u32), g->pending + at, n * sizeof(u32), QUEUE,
			&g->list_sent[i]));
	launch_begin(&l, p, g->rows ? "path_rows" : "path_chunks", NULL);
	launch_scalars(&l, p, w->args);
	launch_buffer(&l, &s->slot[0].buffer);
	launch_u32(&l, &slot_words);
	launch_buffer(&l, &g->list);
	launch_u32(&l, &at);
	launch_u32(&l, &n);
	launch_buffer(&l, &w->value);
	launch_buffer(&l, &w->sent);
	launch_buffer(&l, w->program->adds ? &w->factor : NULL);
	launch_buffer(&l, &w->changed);
	launch_u32(&l, &g->sweeps);
	launch_buffer(&l, &s->counts);
	launch_local(&l, (w->program->adds ? 4ull : 2ull) * g->most_vertices * w->program->size);
	launch_u32(&l, &g->most_vertices);
	l.launch.queue = QUEUE;
	TRY(launch_groups(s->device, &l, min_u64(n, 4096)));
	g->list_at += n;
	g->n_pending = 0;
	if (g->list_at + g->n_slots + g->n_transit + 1 > g->list_most) {
		/* The list begins again: what was sent from here must have left. */
		for (u32 k = 0; k < GATHER_SENDS; k++)
			TRY(device_wait(&g->list_sent[k]));
		g->list_at = 0;
	}
	return MILL_OK;
}

static void pend(struct gather *g, u32 slot) { g->pending[g->list_at + g->n_pending++] = slot; }

mill_err gather_begin(struct transfer *t, const struct device_pass *p)
{
	struct gather *g = &t->gather;

	(void)p;
	g->list_at = g->n_pending = 0;
	for (u32 k = 0; k < t->plan.n; k++)
		if (t->plan.move[k].unit == NO_UNIT) {
			pend(g, t->plan.move[k].slot);
			g->chunks_reused++;
		}
	return flush(t);
}

/* ---- Full chunks ---- */

static f64 mean_of(const struct open_chunk *c)
{
	return (f64)c->sum_f / (f64)max_u64(c->n_f, 1);
}

/*
 * Returns the slot in which the chunk stays: a free one, or that of an inactive chunk of lower
 * mean frequency. UINT32_MAX: none.
 */
static u32 find_slot(struct gather *g, f64 mean)
{
	u32 best = UINT32_MAX;

	for (u32 i = 0; i < g->n_slots; i++) {
		const struct chunk_slot *s = &g->slot[i];

		if (!s->head)
			return i;
		if (!s->active && s->mean < mean &&
		    (best == UINT32_MAX || s->mean < g->slot[best].mean))
			best = i;
	}
	if (best != UINT32_MAX) {
		free_slot(g, &g->slot[best]);
		g->chunks_evicted++;
	}
	return best;
}

static mill_err keep_chunk(struct transfer *t, const struct open_chunk *c, u32 slot)
{
	struct gather *g = &t->gather;
	struct chunk_slot *s = &g->slot[slot];

	TRY(memory_new(&s->head, t->budget, c->n_heads, sizeof(u32), "chunks of paths"));
	memcpy(s->head, c->head, c->n_heads * sizeof(u32));
	s->n_heads = c->n_heads;
	s->mean = mean_of(c);
	s->active = true;
	for (u32 i = 0; i < s->n_heads; i++)
		bitmap_put(g->resident, s->head[i]);
	return MILL_OK;
}

static u32 edges_of(const struct gather *g, const struct open_chunk *c)
{
	return g->rows ? c->n_single : c->n_index - c->n_paths + c->n_single;
}

/* Returns the bytes of a weight in a chunk. */
static u32 width_of(const struct transfer *t, u64 most_weight)
{
	enum mill_weight kind = t->graph->weight;
	u32 w = t->gather.weight;

	if (!w || kind == MILL_WEIGHT_F32 || kind == MILL_WEIGHT_F64)
		return w;
	return most_weight < 256 ? 1 : most_weight < 65536 ? 2 : w;
}

static void put_weight(char *to, u32 width, u32 i, u64 weight)
{
	memcpy(to + (u64)i * width, &weight, width);	/* little-endian */
}

/* Writes the chunk as it crosses. Returns its bytes. */
static u64 write_paths(const struct transfer *t, struct open_chunk *c, u32 *to)
{
	u32 n_multi = c->n_index - c->n_paths, width = width_of(t, c->most_weight);
	u32 n[ROLES] = { 0 }, at[ROLES] = { 0 };
	u16 *half;
	char *weight;
	u64 bytes;
	u32 *number = c->table;		/* no vertex is looked up any more */

	for (u32 i = 0; i < c->n_vertices; i++)
		n[c->role[i]]++;
	at[SOLE_LINK] = n[SOLE_HEAD];
	at[SOURCE] = at[SOLE_LINK] + n[SOLE_LINK];
	at[TARGET] = at[SOURCE] + n[SOURCE];
	to[VERTICES] = c->n_vertices;
	to[HEADS] = n[SOLE_HEAD];
	to[SOLE] = at[SOURCE];
	to[SOURCES] = at[TARGET];
	to[PATHS] = c->n_paths;
	to[INDEXES] = c->n_index;
	to[SINGLE] = c->n_single;
	to[WIDTH] = width;
	to[9] = 0;
	for (u32 i = 0; i < c->n_vertices; i++) {
		number[i] = at[c->role[i]]++;
		to[HEADER + number[i]] = c->vertex[i];
	}
	half = (u16 *)(to + HEADER + c->n_vertices);
	c->path[c->n_paths] = (u16)c->n_index;
	memcpy(half, c->path, (c->n_paths + 1) * sizeof(u16));
	half += c->n_paths + 1;
	for (u32 i = 0; i < c->n_index; i++)
		*half++ = (u16)number[c->index[i]];
	for (u32 i = 0; i < c->n_single; i++)
		*half++ = (u16)number[c->from[i]];
	for (u32 i = 0; i < c->n_single; i++)
		*half++ = (u16)number[c->to[i]];
	bytes = round_up((u64)((char *)half - (char *)to), 8);
	to[WEIGHTS] = (u32)bytes;
	weight = (char *)to + bytes;
	for (u32 i = 0; width && i < n_multi; i++)
		put_weight(weight, width, i, c->weight[i]);
	for (u32 i = 0; width && i < c->n_single; i++)
		put_weight(weight, width, n_multi + i, c->single_weight[i]);
	return round_up(bytes + (u64)width * (n_multi + c->n_single), 4);
}

static u64 write_rows(const struct transfer *t, struct open_chunk *c, u32 *to)
{
	u32 width = width_of(t, c->most_weight), n = c->n_vertices;
	u64 bytes;

	c->offset[n] = c->n_single;
	to[ROWS_N] = n;
	to[ROWS_EDGES] = c->n_single;
	to[ROWS_WIDTH] = width;
	to[ROWS_PARTIAL] = c->split ? PARTIAL_HEAD | PARTIAL_TAIL : 0;
	to[5] = 0;
	memcpy(to + ROWS_HEADER, c->vertex, n * sizeof(u32));
	memcpy(to + ROWS_HEADER + n, c->offset, (n + 1) * sizeof(u32));
	memcpy(to + ROWS_HEADER + 2 * n + 1, c->neighbour, c->n_single * sizeof(u32));
	bytes = round_up((ROWS_HEADER + 2ull * n + 1 + c->n_single) * sizeof(u32), 8);
	to[ROWS_WEIGHTS] = (u32)bytes;
	for (u32 i = 0; width && i < c->n_single; i++)
		put_weight((char *)to + bytes, width, i, c->single_weight[i]);
	return round_up(bytes + (u64)width * c->n_single, 4);
}

static void reset_chunk(struct open_chunk *c)
{
	c->n_vertices = c->n_heads = c->n_paths = c->n_index = c->n_single = 0;
	c->most_weight = c->sum_f = c->n_f = 0;
	c->split = false;
	c->age++;
}

/* Sends the chunk to its slot, and begins another. */
static mill_err close_chunk(struct transfer *t, struct open_chunk *c)
{
	struct gather *g = &t->gather;
	u32 i = g->next_send++ % GATHER_SENDS, slot = UINT32_MAX;
	u64 bytes;

	if (!edges_of(g, c))
		return MILL_OK;
	if (g->keep && !c->split)
		slot = find_slot(g, mean_of(c));
	if (slot != UINT32_MAX) {
		TRY(keep_chunk(t, c, slot));
	} else {
		if (g->n_pending + 1 > g->n_transit)
			TRY(flush(t));
		slot = g->n_slots + g->next_transit++ % g->n_transit;
		g->chunks_passed++;
	}
	TRY(device_wait(&g->sent[i]));
	bytes = g->rows ? write_rows(t, c, (u32 *)g->send[i]) :
			  write_paths(t, c, (u32 *)g->send[i]);
	assert(bytes <= g->slot_bytes);
	TRY(device_send(&t->station[0].slot[0].buffer, slot * g->slot_bytes, g->send[i], bytes,
			QUEUE, &g->sent[i]));
	t->station[0].sent_bytes += bytes;
	pend(g, slot);
	g->chunks_sent++;
	reset_chunk(c);
	return g->n_pending >= g->n_transit ? flush(t) : MILL_OK;
}

/* ---- Filling chunks ---- */

static u32 local_number(struct gather *g, struct open_chunk *c, u32 v)
{
	u32 h = (u32)((u64)v * 0x9e3779b97f4a7c15u >> 40) & g->hash_mask;

	for (; c->stamp[h] == c->age; h = (h + 1) & g->hash_mask)
		if (c->vertex[c->table[h]] == v)
			return c->table[h];
	c->stamp[h] = c->age;
	c->table[h] = c->n_vertices;
	c->vertex[c->n_vertices] = v;
	c->role[c->n_vertices] = TARGET;
	return c->n_vertices++;
}

static void set_role(struct open_chunk *c, u32 i, enum role role)
{
	if (c->role[i] < role)
		c->role[i] = role;
}

/* Paths of one head in a piece. */
struct head_paths {
	const u32 *at, *end;
	u32 head, paths, edges;
	u64 most_weight;
	bool partial;
};

static u64 weight_at(const struct gather *g, const u32 *at, u32 i)
{
	return g->weight == 8 ? (u64)at[2 * i + 1] << 32 | at[2 * i] : at[i];
}

/* Reads the paths of the head at `at`, up to the next head or the end of the piece. */
static struct head_paths read_head(const struct gather *g, const u32 *at, const u32 *end)
{
	struct head_paths h = { .at = at, .head = at[1], .partial = at[0] & IS_PARTIAL };

	do {
		u32 length = at[0] & LENGTH;

		at += 1 + length + 1;
		for (u32 i = 0; g->weight && i < length; i++)
			h.most_weight = max_u64(h.most_weight, weight_at(g, at, i));
		at += length * (g->weight / 4);
		h.paths++;
		h.edges += length;
	} while (at < end && !(at[0] & IS_FIRST));
	h.end = at;
	return h;
}

/* Returns whether paths with so many more edges, of weights up to `most`, fit the chunk. */
static bool fits(const struct transfer *t, const struct open_chunk *c, u32 paths, u32 edges,
		 u64 most)
{
	const struct gather *g = &t->gather;
	u64 width = width_of(t, max_u64(c->most_weight, most)), all = (u64)edges_of(g, c) + edges;
	u64 bytes;

	if (all + paths > g->most_edges || c->n_vertices + (u64)edges + 1 > g->most_vertices)
		return false;
	if (g->rows)
		bytes = (ROWS_HEADER + 2 * (c->n_vertices + 1ull) + 1 + all) * 4;
	else
		bytes = (HEADER + c->n_vertices + (u64)edges + 1) * 4 +
			2 * (c->n_paths + c->n_index + 2ull * (c->n_single + edges + paths) + 1);
	return bytes + 16 + width * all <= g->slot_bytes;
}

/* Adds vertices [from, to] of a path to the chunk. at: the path in the piece. */
static void add_path(struct transfer *t, struct open_chunk *c, const u32 *at, u32 from, u32 to,
		     bool sole)
{
	struct gather *g = &t->gather;
	u32 length = at[0] & LENGTH;
	const u32 *v = at + 1, *weight = at + 2 + length;
	u32 last = local_number(g, c, v[from]);

	/* Only the first edge of a path has the head as its source; others are links. */
	set_role(c, last, from ? (g->path_edges[v[from]] ? SOURCE : SOLE_LINK) :
			  sole ? SOLE_HEAD : SOURCE);
	if (to == from + 1) {
		c->from[c->n_single] = (u16)last;
		c->to[c->n_single] = (u16)local_number(g, c, v[to]);
		if (g->weight)
			c->single_weight[c->n_single] = weight_at(g, weight, from);
		c->n_single++;
		return;
	}
	c->path[c->n_paths++] = (u16)c->n_index;
	c->index[c->n_index++] = (u16)last;
	for (u32 i = from + 1; i <= to; i++) {
		u32 x = local_number(g, c, v[i]);

		if (i < to)
			set_role(c, x, g->path_edges[v[i]] ? SOURCE : SOLE_LINK);
		if (g->weight)
			c->weight[c->n_index - c->n_paths] = weight_at(g, weight, i - 1);
		c->index[c->n_index++] = (u16)x;
	}
}

static void add_row(struct gather *g, struct open_chunk *c, const struct head_paths *h)
{
	const u32 *at = h->at;

	c->vertex[c->n_vertices] = h->head;
	c->offset[c->n_vertices++] = c->n_single;
	for (; at < h->end; at += 3 + g->weight / 4) {
		c->neighbour[c->n_single] = at[2];
		if (g->weight)
			c->single_weight[c->n_single] = weight_at(g, at + 3, 0);
		c->n_single++;
	}
}

static const u32 *next_path(const struct gather *g, const u32 *at)
{
	u32 length = at[0] & LENGTH;

	return at + 2 + length + length * (g->weight / 4);
}

static void add_head(struct transfer *t, struct open_chunk *c, const struct head_paths *h,
		     bool sole)
{
	struct gather *g = &t->gather;

	c->most_weight = max_u64(c->most_weight, h->most_weight);
	c->head[c->n_heads++] = h->head;
	c->sum_f += (u64)g->frequency[h->head] * h->paths;
	c->n_f += h->paths;
	if (g->rows) {
		add_row(g, c, h);
		return;
	}
	for (const u32 *at = h->at; at < h->end; at = next_path(g, at))
		add_path(t, c, at, 0, at[0] & LENGTH, sole);
}

/*
 * Puts the paths of a head into chunks of their own. A path that is longer than a chunk goes
 * on in the next: its links are sources there.
 */
static mill_err split_head(struct transfer *t, const struct head_paths *h)
{
	struct gather *g = &t->gather;
	struct open_chunk *c = &g->open[GATHER_CLASSES];

	c->split = true;
	for (const u32 *at = h->at; at < h->end; at = next_path(g, at)) {
		u32 length = at[0] & LENGTH, from = 0;

		while (from < length) {
			u32 n = length - from;

			while (n > 1 && !fits(t, c, 1, n, h->most_weight))
				n -= n / 2;
			if (!fits(t, c, 1, n, h->most_weight)) {
				TRY(close_chunk(t, c));
				c->split = true;
				continue;
			}
			c->most_weight = max_u64(c->most_weight, h->most_weight);
			if (g->rows) {
				struct head_paths one = { .at = at, .end = next_path(g, at),
							  .head = h->head };

				if (!c->n_vertices)
					add_row(g, c, &one);
				else {
					c->neighbour[c->n_single] = at[2];
					if (g->weight)
						c->single_weight[c->n_single] =
							weight_at(g, at + 3, 0);
					c->n_single++;
				}
			} else {
				add_path(t, c, at, from, from + n, false);
			}
			from += n;
		}
	}
	return close_chunk(t, c);
}

static u32 class_of(u32 f)
{
	u32 k = f ? 31 - (u32)__builtin_clz(f) : 0;

	return k < GATHER_CLASSES ? k : GATHER_CLASSES - 1;
}

static mill_err take_piece(struct transfer *t, const u32 *at, const u32 *end)
{
	struct gather *g = &t->gather;

	while (at < end) {
		struct head_paths h = read_head(g, at, end);
		struct open_chunk *c = &g->open[class_of(g->frequency[h.head])];
		bool link = g->link && bitmap_get(g->link, h.head);

		at = h.end;
		if (h.partial || h.edges > g->large) {
			TRY(split_head(t, &h));
			continue;
		}
		if (!fits(t, c, h.paths, h.edges, h.most_weight))
			TRY(close_chunk(t, c));
		add_head(t, c, &h, !link);
	}
	return MILL_OK;
}

/* ---- Windows ---- */

u64 gather_page_edges(const struct transfer *t, u32 page)
{
	const struct gather *g = &t->gather;
	const struct page_entry *e = &t->units[0].pages->entry[page];
	u64 first = e->first_vertex, last = first + e->n_rows, n = 0;

	for (u64 w = first / 64; w < div_up(last, 64); w++)
		for (u64 word = bitmap_window(g->hot, w, first, last); word; word &= word - 1)
			n += g->path_edges[w * 64 + (u64)__builtin_ctzll(word)];
	return min_u64(n, e->n_edges);
}

struct window_ctx {
	struct transfer *t;
	const struct device_pass *pass;
	u32 end;
	u64 edges, updates;	/* of the host; atomic */
};

/* Cuts the paths of hot heads out of a page. Returns the end of the piece. */
static u32 *cut_page(const struct gather *g, const struct segment *seg, u32 *to)
{
	u64 first = seg->first, last = first + seg->n_rows;
	u32 words = g->weight / 4;

	for (u64 w = first / 64; w < div_up(last, 64); w++)
		for (u64 word = bitmap_window(g->hot, w, first, last); word; word &= word - 1) {
			u32 u = (u32)(w * 64 + (u64)__builtin_ctzll(word)), r = (u32)(u - first);
			bool partial = segment_row_is_partial(seg, (vid)r);
			u32 flags = IS_FIRST | (partial ? IS_PARTIAL : 0);
			u32 begin = seg->row[r] + (g->link && bitmap_get(g->link, u));

			for (u32 i = begin; i < seg->row[r + 1]; i++) {
				u32 *length = to, v = seg->neighbour[i], n = 1, e = i;

				to[1] = u;
				to[2] = v;
				to += 3;
				while (g->link && v >= first && v < last &&
				       bitmap_get(g->link, v)) {
					v = seg->neighbour[seg->row[v - first]];
					*to++ = v;
					n++;
				}
				*length = n | flags;
				flags &= ~IS_FIRST;
				for (u32 k = 0; words && k < n; k++) {
					memcpy(to, (const u32 *)seg->weight + (u64)e * words,
					       g->weight);
					to += words;
					e = k + 1 < n ? seg->row[length[2 + k] - first] : 0;
				}
			}
		}
	return to;
}

static mill_err work_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct window_ctx *c = arg;
	struct transfer *t = c->t;
	struct gather *g = &t->gather;

	(void)worker;
	for (u32 k = t->move_of[page]; k < c->end && t->plan.move[k].unit == page; k++) {
		struct path_pass p = {
			.head = g->cold,
			.link = g->link,
			.sent = twin_sent(&t->twin),
			.changed = t->twin.changed_bits,
			.ran = t->twin.program->adds ? t->twin.ran : NULL,
			.given = g->given,
		};

		if (t->plan.move[k].where != ON_HOST) {
			g->piece_end[k] = (u64)(cut_page(g, seg, g->stage + g->piece_at[k]) -
						g->stage);
			continue;
		}
		t->twin.program->run(t->twin.args, seg, &p);
		__atomic_fetch_add(&c->edges, p.edges, __ATOMIC_RELAXED);
		__atomic_fetch_add(&c->updates, p.updates, __ATOMIC_RELAXED);
	}
	return MILL_OK;
}

mill_err gather_window(struct transfer *t, const struct device_pass *p, u32 begin, u32 end,
		       struct mill_step *step)
{
	struct gather *g = &t->gather;
	struct window_ctx c = { .t = t, .pass = p, .end = end };
	struct stream_pass sp = {
		.pages = t->units[0].pages, .list = t->list, .work = work_page, .arg = &c,
		.want = { .lists_only = !t->weights }, .ticker = t->ticker,
	};
	u64 at = 0;

	for (u32 k = begin; k < end; k++) {
		const struct move *m = &t->plan.move[k];

		if (m->unit == NO_UNIT)
			continue;
		g->piece_at[k] = g->piece_end[k] = at;
		if (m->where != ON_HOST) {
			at += gather_piece_words(gather_page_edges(t, m->unit), g->weight);
			t->station[0].moved = true;
		}
		if (sp.n_list && t->list[sp.n_list - 1] == m->unit)
			continue;
		t->move_of[m->unit] = k;
		t->list[sp.n_list++] = m->unit;
	}
	assert(at <= g->stage_words);
	if (!sp.n_list)
		return MILL_OK;
	TRY(stream_run(t->stream, &sp));
	sp.n_active = sp.n_reused = 0;
	step_add_pass(step, &sp);
	step->edges += c.edges;
	step->updates += c.updates;
	g->host_edges += c.edges;
	for (u32 k = begin; k < end; k++)
		if (t->plan.move[k].unit != NO_UNIT && t->plan.move[k].where != ON_HOST)
			TRY(take_piece(t, g->stage + g->piece_at[k], g->stage + g->piece_end[k]));
	return flush(t);
}

mill_err gather_end(struct transfer *t, const struct device_pass *p)
{
	(void)p;
	for (u32 i = 0; i <= GATHER_CLASSES; i++)
		TRY(close_chunk(t, &t->gather.open[i]));
	return flush(t);
}
