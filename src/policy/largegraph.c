/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LargeGraph (Zhang et al., TACO 2021): bfs, sssp and cc along paths (policy/paths.h), on the
 * host's threads and a device at the same time, each with a master of the state
 * (transfer/twin.h). A round is a superstep:
 *
 *	1. A vertex is active if its value differs from the one that it has sent. A path is
 *	   active if one of its sources is. With --chain, paths that begin where an active path
 *	   ends are active too, and so on.
 *	2. f of a path is the number of active in-neighbours of its head, counted in a pass over
 *	   the lists of the active vertices.
 *	3. Active paths that are on the device are hot. Others are hot by falling f, until hot
 *	   paths have alpha of all edges. All others are cold.
 *	4. Hot paths go to the device in chunks and stay there (transfer/gather.h), and are
 *	   repeated until they are quiet. Cold paths run once, on the host.
 *	5. Both sides exchange the vertices that changed.
 *
 * `sent` moves only if all out-edges of a vertex were run in the round: it was active at the
 * beginning, or came by --chain, or is a link with one out-edge. Otherwise it stays active: a
 * simpler rule gives wrong results on one in twelve small random graphs. If the edges of a vertex
 * are run in several places (a list that lies in several pages or chunks, a link with several
 * out-edges), it has sent its value at the beginning of the round, which is older than all that
 * was used.
 *
 * Subway is the same engine with other rules: rows in place of paths, all on the device, and
 * nothing stays there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "policy/paths.h"
#include "policy/policy.h"

#define ALPHA_USUAL 0.05
#define SWEEPS_USUAL 64u
#define CHUNK_MOST (64 * KIB)	/* of a chunk, if the user gives no size */
#define STAGE_WORDS ((u64)1 << 20)
#define TRANSIT_SHARE 8u	/* chunks that pass through have at most 1/8 of the slots */
#define TRANSIT_MOST 64u
#define FULL UINT32_MAX		/* --chain full */

enum bits { ACTIVE, ADDED, NEW, HEADS, HOT, COLD, RESIDENT, SEVERAL, BITMAPS };

struct largegraph {
	struct paths paths;
	u64 n;			/* vertices with rows */
	u64 *bits[BITMAPS];	/* ADDED: by --chain; SEVERAL: edges are run in several places */
	u32 *f;
	bool known;		/* ACTIVE has the vertices that are active now */
	u64 n_active;
	f64 alpha;
	u32 chain;
	u64 slots, tracking_edges;
	f64 tracking_seconds;
};

static struct largegraph *layout_of(const struct transfer *t) { return t->layout; }

static const struct mill_largegraph *settings(const struct transfer *t)
{
	return &t->options->largegraph;
}

static bool is_subway(const struct transfer *t)
{
	return settings(t)->baseline != MILL_BASELINE_NONE;
}

static const struct pages *pages_of(const struct transfer *t)
{
	return t->need.view ? &t->graph->in : &t->graph->out;
}

/* ---- Settings ---- */

static mill_err parse_alpha(const char *text, f64 *out)
{
	char *end;

	*out = ALPHA_USUAL;
	if (!text)
		return MILL_OK;
	*out = strtod(text, &end);
	if (end != text && *end == '%') {
		*out /= 100;
		end++;
	}
	if (end == text || *end || !(*out >= 0 && *out <= 1))
		return fail(MILL_EUSAGE, "--alpha %s: give a share of the edges, 0 to 100%%", text);
	return MILL_OK;
}

static mill_err parse_chain(const char *text, u32 *out)
{
	char *end;
	unsigned long n;

	*out = 0;
	if (!text)
		return MILL_OK;
	if (!strcmp(text, "full")) {
		*out = FULL;
		return MILL_OK;
	}
	n = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || n >= FULL)
		return fail(MILL_EUSAGE, "--chain %s: give a number of steps, or full", text);
	*out = (u32)n;
	return MILL_OK;
}

/* ---- Sizes ---- */

/* Device bytes besides the twin state and the chunks. */
static u64 fixed_bytes(u64 n_flags)
{
	return COUNTER_WORDS * sizeof(u64) + 4 * (n_flags + 2) + 1024;
}

static u64 stage_words(const struct transfer *t, const struct pages *p, u32 weight)
{
	u64 rows, edges;

	largest_page(p, t->store, &rows, &edges);
	return max_u64(STAGE_WORDS, gather_piece_words(edges, weight));
}

static void largegraph_room(struct room *out, const struct transfer *t, const struct need *n)
{
	const struct store *st = t->store;
	u32 size = (u32)max_u64(n->writable, sizeof(u32)),
	    weight = n->weights ? (u32)weight_size(st->weight) : 0;
	u64 v = st->n_linked, most = twin_piece(0, size),
	    pages = pages_most(st, n->view);

	pages_room(out, t, n);
	out->device = twin_device_bytes(v, size, false, most) + fixed_bytes(pages) +
		      4 * max_u64(settings(t)->chunk_size, CHUNK_LEAST);
	out->host = twin_host_bytes(v, size, false, (u64)1 << 16) + paths_bytes(v) +
		    BITMAPS * bitmap_words(v) * sizeof(u64) + 2 * sizeof(u32) * v +
		    gather_host_bytes(CHUNK_MOST, 4096, stage_words(t, n->view ? NULL : &st->out,
								    weight), 2 * pages + 2);
}

/* ---- Layout ---- */

/* Marks vertices with out-edges that are run in several places, as far as pages tell. */
static void mark_several(struct largegraph *l, const struct pages *p)
{
	for (u32 i = 0; i < p->n_pages; i++)
		if (p->entry[i].skip)
			bitmap_put(l->bits[SEVERAL], p->entry[i].first_vertex);
	for (u64 v = 0; l->paths.link && v < l->n; v++)
		if (bitmap_get(l->paths.link, v) && l->paths.edges[v])
			bitmap_put(l->bits[SEVERAL], v);
}

static mill_err make_paths(struct transfer *t, const struct pages *p)
{
	struct largegraph *l = layout_of(t);
	struct stream *stream = t->stream;
	mill_err err = MILL_OK;

	if (!stream)
		err = t->lend_stream(t->run, &stream);
	if (!err)
		err = paths_make(&l->paths, t, stream, p, !is_subway(t),
				 settings(t)->paths == MILL_PATHS_PAPER);
	if (stream != t->stream)
		stream_close(stream);
	return err;
}

static mill_err largegraph_layout(struct transfer *t, u64 left)
{
	const struct pages *p = pages_of(t);
	struct largegraph *l;
	u64 words = max_u64(bitmap_words(t->store->n_linked), 1);

	(void)left;
	TRY(memory_new(&l, t->budget, 1, sizeof(*l), "the paths"));
	t->layout = l;
	l->n = p->n_rows;
	TRY(parse_alpha(settings(t)->alpha, &l->alpha));
	TRY(parse_chain(settings(t)->chain, &l->chain));
	for (u32 i = 0; i < BITMAPS; i++)
		TRY(memory_new(&l->bits[i], t->budget, words, sizeof(u64), "active paths"));
	TRY(memory_new(&l->f, t->budget, max_u64(t->store->n_linked, 1), sizeof(u32),
		       "frequencies of paths"));
	TRY(make_paths(t, p));
	mark_several(l, p);
	t->wire = WIRE_ROWS;
	t->renumber = false;
	t->n_flags = p->n_pages;
	t->units[0] = (struct units){ .pages = p, .entry = p->entry, .n = p->n_pages };
	return MILL_OK;
}

static void largegraph_unlayout(struct transfer *t)
{
	struct largegraph *l = layout_of(t);

	if (!l)
		return;
	paths_release(&l->paths);
	for (u32 i = 0; i < BITMAPS; i++)
		memory_free(l->bits[i]);
	memory_free(l->f);
	memory_free(l);
}

static mill_err largegraph_tables(struct transfer *t, struct station *s)
{
	u32 size = (u32)max_u64(t->need.writable, sizeof(u32));
	u64 most = twin_piece(budget_left(s->device->memory), size);

	return twin_open(t, t->store->n_linked, size, false, min_u64(most, (u64)1 << 16));
}

/* Returns the bytes of a chunk: half of the local memory, but so that several fit. */
static u64 chunk_bytes(const struct transfer *t, u64 left)
{
	u64 bytes = settings(t)->chunk_size;

	if (!bytes)
		bytes = min_u64(min_u64(t->device[0]->local / 2, CHUNK_MOST), left / 8);
	return max_u64(bytes, CHUNK_LEAST) / 8 * 8;
}

static mill_err largegraph_fit(struct fit *out, const struct transfer *t, u32 station, u64 left)
{
	u64 bytes, slots;

	(void)station;
	left = left > 1024 ? min_u64(left - 1024, t->device[0]->largest) : 0;
	bytes = chunk_bytes(t, left);
	slots = min_u64(left / (bytes + 2 * sizeof(u32)), UINT32_MAX / 8);
	if (slots < 2)
		return fail(MILL_ENOMEM,
			    "the device's budget leaves %llu bytes for chunks of paths, but two "
			    "take %llu: raise --device-memory, or lower --chunk-size",
			    (unsigned long long)left, (unsigned long long)(2 * bytes));
	*out = (struct fit){
		.slots = 1, .most = 1, .slot_bytes = slots * bytes, .areas = 1, .own_queues = true,
	};
	return MILL_OK;
}

/* The station's only slot is the arena of all chunks. */
static mill_err largegraph_open(struct transfer *t)
{
	struct largegraph *l = layout_of(t);
	struct station *s = &t->station[0];
	u32 size = (u32)max_u64(t->need.writable, sizeof(u32)), transit;
	u32 weight = t->weights ? (u32)weight_size(t->graph->weight) : 0;
	u64 left = s->slot[0].buffer.size, bytes = chunk_bytes(t, left), slots = left / bytes;

	if (slots < 2) {
		bytes = left / 2 / 8 * 8;
		slots = 2;
	}
	transit = (u32)min_u64(max_u64(slots / TRANSIT_SHARE, 1), TRANSIT_MOST);
	if (settings(t)->no_keep || is_subway(t))
		transit = (u32)slots;
	l->slots = slots - transit;
	TRY(gather_open(t, bytes, (u32)l->slots, transit, stage_words(t, pages_of(t), weight),
			2 * size));
	t->gather.resident = l->bits[RESIDENT];
	t->gather.path_edges = l->paths.edges;
	t->gather.link = l->paths.link;
	t->gather.frequency = l->f;
	t->gather.hot = l->bits[HOT];
	t->gather.cold = l->bits[COLD];
	t->gather.keep = l->slots > 0;
	t->gather.rows = is_subway(t);
	t->gather.staged = !is_subway(t);
	t->gather.sweeps = settings(t)->sweeps ? settings(t)->sweeps : SWEEPS_USUAL;
	if (settings(t)->baseline == MILL_BASELINE_SUBWAY)
		t->gather.sweeps = 1;
	return MILL_OK;
}

/* ---- Active vertices ---- */

struct active_ctx {
	const struct transfer *t;
	u64 n;			/* atomic */
};

static mill_err find_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct active_ctx *c = arg;
	struct largegraph *l = layout_of(c->t);
	const struct twin *w = &c->t->twin;
	u64 n = w->program->active(w->args, twin_sent(w), begin, end, l->n, l->bits[ACTIVE]);

	(void)worker;
	__atomic_fetch_add(&c->n, n, __ATOMIC_RELAXED);
	return MILL_OK;
}

static mill_err find_active(const struct transfer *t)
{
	struct largegraph *l = layout_of(t);
	struct active_ctx c = { .t = t };

	TRY(pool_for(t->pool, bitmap_words(l->n), 1024, find_some, &c));
	l->n_active = c.n;
	l->known = true;
	return MILL_OK;
}

static u64 largegraph_begin(const struct transfer *t, u32 *active, const vid *first)
{
	struct largegraph *l = layout_of(t);
	struct transfer *own = (struct transfer *)t;

	(void)active;
	l->known = false;
	l->tracking_edges = 0;
	l->tracking_seconds = 0;
	own->gather.chunks_sent = own->gather.chunks_reused = own->gather.chunks_evicted =
		own->gather.chunks_passed = own->gather.host_edges = own->gather.device_edges = 0;
	own->twin.exchanged = 0;
	twin_restart(own);
	return !first || *first < l->n;
}

static u64 largegraph_spread(const struct transfer *t, const u32 *flag, u32 *active)
{
	(void)flag;
	(void)active;
	/* It fails only if a thread cannot be used; then the pass that follows fails too. */
	return find_active(t) ? 1 : layout_of(t)->n_active;
}

/* ---- Tracking: frequencies and chains ---- */

struct track_ctx {
	struct transfer *t;
	struct largegraph *l;
	const u64 *rows;	/* the rows that the pass visits */
	bool count, chain;	/* f is counted; paths that follow become active */
	u64 edges, added;	/* atomic */
};

static bool has_rows(void *arg, u32 page)
{
	struct track_ctx *c = arg;
	const struct page_entry *e = &c->t->units[0].pages->entry[page];

	return bitmap_any(c->rows, e->first_vertex, (u64)e->first_vertex + e->n_rows);
}

/* Activates the vertex where a path ends. */
static void follow(struct track_ctx *c, const struct segment *seg, vid v, u64 *edges, u64 *added)
{
	struct largegraph *l = c->l;

	while (l->paths.link && v >= seg->first && (vid)(v - seg->first) < seg->n_rows &&
	       bitmap_get(l->paths.link, v)) {
		v = seg->neighbour[seg->row[v - seg->first]];
		++*edges;
	}
	if (v < l->n && !bitmap_get(l->bits[ACTIVE], v) && !bitmap_get(l->bits[ADDED], v))
		*added += bitmap_claim(l->bits[NEW], v);
}

static mill_err track_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct track_ctx *c = arg;
	u64 first = seg->first, last = first + seg->n_rows, edges = 0, added = 0;

	(void)page;
	(void)worker;
	for (u64 w = first / 64; w < div_up(last, 64); w++)
		for (u64 word = bitmap_window(c->rows, w, first, last); word; word &= word - 1) {
			u32 r = (u32)(w * 64 + (u64)__builtin_ctzll(word) - first);

			for (u32 i = seg->row[r]; i < seg->row[r + 1]; i++) {
				vid v = seg->neighbour[i];

				edges++;
				if (c->count && v < c->l->n)
					__atomic_fetch_add(&c->l->f[v], 1, __ATOMIC_RELAXED);
				if (c->chain)
					follow(c, seg, v, &edges, &added);
			}
		}
	__atomic_fetch_add(&c->edges, edges, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->added, added, __ATOMIC_RELAXED);
	return MILL_OK;
}

static mill_err track(struct track_ctx *c)
{
	struct stream_pass sp = {
		.pages = c->t->units[0].pages, .active = has_rows, .work = track_page, .arg = c,
		.want = { .lists_only = true }, .ticker = c->t->ticker,
	};
	mill_err err;

	c->added = 0;
	err = stream_run(c->t->stream, &sp);
	c->l->tracking_edges += c->edges;
	c->edges = 0;
	return err;
}

/* Counts f, and adds the paths that follow active ones. */
static mill_err find_frequencies(struct transfer *t)
{
	struct largegraph *l = layout_of(t);
	u64 words = bitmap_words(l->n) * sizeof(u64);
	struct track_ctx c = { .t = t, .l = l, .rows = l->bits[ACTIVE], .count = true,
			       .chain = l->chain > 0 };
	f64 began = clock_now();

	memset(l->f, 0, l->n * sizeof(u32));
	memset(l->bits[ADDED], 0, words);
	memset(l->bits[NEW], 0, words);
	TRY(track(&c));
	for (u32 step = 1; c.added; step++) {
		/* The rows that were added last are visited next; HEADS has them meanwhile. */
		memcpy(l->bits[HEADS], l->bits[NEW], words);
		for (u64 k = 0; k < bitmap_words(l->n); k++)
			l->bits[ADDED][k] |= l->bits[NEW][k];
		memset(l->bits[NEW], 0, words);
		if (step >= l->chain)
			break;
		c.rows = l->bits[HEADS];
		c.count = false;
		TRY(track(&c));
	}
	l->tracking_seconds += clock_now() - began;
	return MILL_OK;
}

/* ---- Hot and cold ---- */

/* Sets HEADS, and lets vertices that are marked SEVERAL, or have large lists, send. */
static void find_heads(struct transfer *t)
{
	struct largegraph *l = layout_of(t);
	const struct paths *p = &l->paths;
	u32 size = t->twin.program->size;
	char *value = twin_value(&t->twin), *sent = twin_sent(&t->twin);

	memset(l->bits[HEADS], 0, bitmap_words(l->n) * sizeof(u64));
	for (u64 k = 0; k < bitmap_words(l->n); k++)
		for (u64 word = l->bits[ACTIVE][k] | l->bits[ADDED][k]; word; word &= word - 1) {
			u64 v = k * 64 + (u64)__builtin_ctzll(word);

			if (p->link && bitmap_get(p->link, v))
				bitmap_put(l->bits[HEADS], p->head[v]);
			if (p->edges[v])
				bitmap_put(l->bits[HEADS], v);
			if (bitmap_get(l->bits[SEVERAL], v) || p->edges[v] > t->gather.large)
				memcpy(sent + v * size, value + v * size, size);
		}
}

/* Finds the chunks on the device that are active. Returns the edges of their active heads. */
static u64 find_active_slots(struct transfer *t)
{
	struct largegraph *l = layout_of(t);
	u64 edges = 0;

	for (u32 i = 0; i < t->gather.n_slots; i++) {
		struct chunk_slot *s = &t->gather.slot[i];
		u64 sum = 0, n = 0;

		s->active = false;
		for (u32 k = 0; k < s->n_heads; k++) {
			u32 h = s->head[k], e = l->paths.edges[h];

			sum += (u64)l->f[h] * e;
			n += e;
			if (!bitmap_get(l->bits[HEADS], h))
				continue;
			s->active = true;
			edges += e;
		}
		s->mean = (f64)sum / (f64)max_u64(n, 1);
	}
	return edges;
}

/*
 * Returns the edges of the active heads that are not on the device and have an f of at least
 * `least`.
 */
static u64 edges_from(const struct largegraph *l, u32 least)
{
	u64 edges = 0;

	for (u64 k = 0; k < bitmap_words(l->n); k++)
		for (u64 word = l->bits[HEADS][k] & ~l->bits[RESIDENT][k]; word; word &= word - 1) {
			u64 v = k * 64 + (u64)__builtin_ctzll(word);

			edges += l->f[v] >= least ? l->paths.edges[v] : 0;
		}
	return edges;
}

/* Divides the active heads into hot and cold ones: hot by (f falling, head) up to `most` edges. */
static void divide(struct largegraph *l, u64 most)
{
	u32 low = 0, high = UINT32_MAX;
	u64 taken;

	/* The smallest f at which all heads of at least that f are hot. */
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (edges_from(l, middle) <= most)
			high = middle;
		else
			low = middle + 1;
	}
	taken = edges_from(l, low);
	for (u64 k = 0; k < bitmap_words(l->n); k++) {
		l->bits[HOT][k] = l->bits[COLD][k] = 0;
		for (u64 word = l->bits[HEADS][k] & ~l->bits[RESIDENT][k]; word; word &= word - 1) {
			u64 v = k * 64 + (u64)__builtin_ctzll(word), bit = word & -word;
			bool hot = l->f[v] >= low;

			if (!hot && low && l->f[v] == low - 1 && taken < most) {
				taken += l->paths.edges[v];
				hot = true;
			}
			l->bits[hot ? HOT : COLD][k] |= bit;
		}
	}
}

/* ---- The plan ---- */

static void plan_moves(struct plan *out, struct transfer *t)
{
	struct largegraph *l = layout_of(t);
	struct gather *g = &t->gather;
	u64 words = 0;

	for (u32 i = 0; i < g->n_slots; i++)
		if (g->slot[i].active)
			plan_add(out, (struct move){ NO_UNIT, i, 1, WIRE_ROWS, MOVE_WORK });
	for (u32 i = 0; i < t->units[0].n; i++) {
		const struct page_entry *e = &t->units[0].entry[i];
		u64 first = e->first_vertex, last = first + e->n_rows, more = 0;
		bool hot = bitmap_any(l->bits[HOT], first, last),
		     cold = bitmap_any(l->bits[COLD], first, last);
		u8 flags = 0;

		if (hot)
			more = gather_piece_words(gather_page_edges(t, i), g->weight);
		if (words + more > g->stage_words) {
			flags = MOVE_BREAK;
			words = 0;
		}
		words += more;
		if (hot)
			plan_add(out, (struct move){ i, 0, 1, WIRE_ROWS,
						     (u8)(MOVE_SEND | MOVE_WORK | flags) });
		if (cold)
			plan_add(out, (struct move){ i, 0, ON_HOST, WIRE_ROWS,
						     (u8)(MOVE_WORK | (hot ? 0 : flags)) });
	}
}

static mill_err largegraph_plan(struct plan *out, const struct activity *a, struct transfer *t)
{
	struct largegraph *l = layout_of(t);
	f64 share = is_subway(t) || settings(t)->only == MILL_ONLY_DEVICE ? 1 :
		    settings(t)->only == MILL_ONLY_CPU ? 0 : l->alpha;
	u64 most = (u64)(share * (f64)l->paths.n_edges), resident;

	(void)a;
	if (!l->known)
		TRY(find_active(t));
	TRY(find_frequencies(t));
	find_heads(t);
	resident = find_active_slots(t);
	divide(l, share >= 1 ? UINT64_MAX : most > resident ? most - resident : 0);
	plan_moves(out, t);
	return MILL_OK;
}

/* ---- Report and row ---- */

static void largegraph_report(const struct transfer *t, struct mill_report *out)
{
	const struct largegraph *l = layout_of(t);
	const struct gather *g = &t->gather;
	const struct paths *p = &l->paths;
	u64 n_paths = p->n_edges - p->n_links, v = t->store->n_linked,
	    weight = t->weights ? weight_size(t->graph->weight) : 0;

	out->chunks = (struct mill_chunks){
		.paths = n_paths,
		.links = p->n_links,
		.single = p->n_single,
		.mean_length = (f64)p->n_edges / (f64)max_u64(n_paths, 1),
		.path_bytes = (p->n_edges + n_paths) * 4 + p->n_edges * weight + 4 * n_paths,
		.csr_bytes = p->n_edges * (4 + weight) + 8 * (t->store->vertices + 1),
		.paths_seconds = p->seconds,
		.auxiliary = (BITMAPS + 1) * bitmap_words(v) * sizeof(u64) + 3 * sizeof(u32) * v,
		.chunk_bytes = g->slot_bytes,
		.slots = l->slots,
		.hot_chunks = (u64)(l->alpha * (f64)p->n_edges) / max_u64(g->large, 1),
		.host_edges = g->host_edges,
		.device_edges = g->device_edges,
		.tracking_edges = l->tracking_edges,
		.tracking_seconds = l->tracking_seconds,
		.chunks_sent = g->chunks_sent,
		.chunks_reused = g->chunks_reused,
		.chunks_evicted = g->chunks_evicted,
		.chunks_passed = g->chunks_passed,
		.exchanged = t->twin.exchanged,
		.reached = t->twin.ever ? bitmap_count(t->twin.ever, 0, v) : 0,
	};
}

static const struct program *largegraph_takes(const struct own_forms *forms)
{
	return forms->path ? &forms->path->staged : NULL;
}

#define AT(field) offsetof(struct mill_largegraph, field)

static const char *const paths_words[] = { "strict", "paper", NULL };
static const char *const sides[] = { "both", "cpu", "device", NULL };
static const char *const baselines[] = { "none", "subway", "subway-async", NULL };

static const struct mill_option options[] = {
	{ "paths", MILL_OPTION_CHOICE, AT(paths), "strict|paper",
	  .help = "vertices through which a path goes on (default strict)", .word = paths_words },
	{ "chain", MILL_OPTION_TEXT, AT(chain), "N|full",
	  .help = "steps by which active paths activate the paths that follow", .usual_text = "0" },
	{ "alpha", MILL_OPTION_TEXT, AT(alpha), "SHARE",
	  .help = "share of the edges that the device gets in a round", .usual_text = "5%" },
	{ "chunk-size", MILL_OPTION_SIZE, AT(chunk_size), "SIZE",
	  .help = "bytes of a chunk on the device (default: half of its local memory)" },
	{ "sweeps", MILL_OPTION_U32, AT(sweeps), "N", .help = "the most repeats of a hot chunk",
	  .low = 1, .usual = SWEEPS_USUAL },
	{ "no-keep", MILL_OPTION_FLAG, AT(no_keep), NULL,
	  .help = "no chunk stays on the device (LargeGraph-w)" },
	{ "only", MILL_OPTION_CHOICE, AT(only), "both|cpu|device",
	  .help = "compute on one side only (default both)", .word = sides },
	{ "baseline", MILL_OPTION_CHOICE, AT(baseline), "none|subway|subway-async",
	  .help = "run another system instead, for a comparison (default none)",
	  .word = baselines },
	{ 0 },
};

const struct policy policy_largegraph = {
	.public = {
		.name = "largegraph",
		.summary = "bfs, sssp and cc along paths, on the host's threads and a device at "
			   "the same time, as LargeGraph does (TACO 2021)",
		.option = options,
		.settings = offsetof(struct mill_options, largegraph),
		.otherwise = "fifo",
	},
	.device = residency_fifo,
	.before = residency_auto,
	.cpu = residency_fifo,
	.home = HOME_TWIN,
	.in_place = true,
	.only_own = true,
	.takes = largegraph_takes,
	.room = largegraph_room,
	.layout = largegraph_layout,
	.unlayout = largegraph_unlayout,
	.tables = largegraph_tables,
	.fit = largegraph_fit,
	.open = largegraph_open,
	.plan = largegraph_plan,
	.begin = largegraph_begin,
	.spread = largegraph_spread,
	.report = largegraph_report,
};
