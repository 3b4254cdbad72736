/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented intersection on a device. The oriented lists are cut into pieces of whole
 * lists. As many pieces as the device's budget holds are a block, which stays while all
 * pieces pass it. The pieces of the block itself pass where they are. The others pass
 * through slots, in queues of their own, so that one piece is sent while kernels work on
 * another. Then comes the next block. So lists that fit the device cross once, others once
 * for each block.
 *
 * Two kernels (Gunrock's) look at all edges of a piece: a work-item merges pairs of short
 * lists; for other pairs a team searches for the elements of the shorter list. Each kernel
 * leaves the pairs of the other alone, so there is no queue between them, and room for the
 * state and two pieces is enough.
 */
#include <assert.h>

#include "op/intersect.h"
#include "op/orient.h"

#define SLOTS 4u
/* With room for this many pieces there are SLOTS slots, with less room two or one. */
#define MANY 16u
/* The most pieces of the block that are launched ahead: launched work cannot be cancelled. */
#define AHEAD 4u
/*
 * The size of a piece if lists are in memory and the budget is large: enough work for a
 * launch.
 */
#define PIECE_BYTES (4 * MIB)
#define COUNT_WORDS (COUNT_COPIES * COUNT_STRIDE)

struct cross_ctx {
	struct mill_run *run;
	const struct intersect_program *program;
	const void *args;
	struct oriented *lists;
	struct mill_step *step;
	struct vec *counts;
	u32 *row;			/* row offsets of the piece that is sent */
	struct vec *block;
	u32 begin, end;			/* pieces of the block */
	struct device_segment held;	/* the block as one segment */
	struct vec *slot[SLOTS];
	u32 n_slots;
	u32 next;			/* number of pieces that have passed this block */
	struct ticket used[AHEAD];	/* the last kernels of the block's own pieces */
};

/* ---- Sizes ---- */

u64 intersect_resident_bytes(const struct mill_run *r, bool weights)
{
	return oriented_resident_bytes(r, weights) + (run_is_native(r) ? 0 : 2 * PIECE_BYTES);
}

u64 intersect_device_bytes(const struct mill_run *r, bool weights)
{
	u32 page = 0;

	if (run_is_native(r) || oriented_page(r, view_edges(r->store), weights, &page))
		return 0;	/* the run fails with this error later and reports it */
	return 2 * (u64)page + COUNT_WORDS * sizeof(u64);
}

static u64 bytes_of(const struct cross_ctx *c, u32 piece)
{
	struct piece p = oriented_piece(c->lists, piece);

	return piece_bytes(p.n_rows, p.n_edges, c->lists->weights);
}

/*
 * Divides the room on the device into a block and slots of one piece each. If all pieces
 * fit the block, there are no slots.
 */
static mill_err share_room(struct cross_ctx *c, u64 room, u64 largest)
{
	struct mill_run *r = c->run;
	u64 all = 0, rows = 0, most = min_u64(r->device->largest, (u64)UINT32_MAX * 4), block;
	struct vec *v;

	for (u32 i = 0; i < c->lists->n_pieces; i++) {
		all += bytes_of(c, i);
		rows = max_u64(rows, oriented_piece(c->lists, i).n_rows);
	}
	if (all > min_u64(room, most))
		c->n_slots = room >= MANY * largest ? SLOTS : room >= 3 * largest ? 2 : 1;
	block = min_u64(all, min_u64(most, room - c->n_slots * largest));
	TRY(run_vec_host(r, &v, "a piece of oriented lists", rows + 1, sizeof(u32)));
	c->row = v->buffer.host;
	TRY(run_vec(r, &c->block, "a block of oriented lists", block / 4, sizeof(u32), NULL));
	c->block->buffer.kind = TRAFFIC_TOPOLOGY;
	for (u32 i = 0; i < c->n_slots; i++) {
		TRY(run_vec(r, &c->slot[i], "a slot for oriented lists", largest / 4, sizeof(u32),
			    NULL));
		c->slot[i]->buffer.kind = TRAFFIC_TOPOLOGY;
	}
	return MILL_OK;
}

static mill_err make_room(struct cross_ctx *c)
{
	struct mill_run *r = c->run;
	u64 room, largest = 0;
	u32 page;

	TRY(run_vec(r, &c->counts, "counts", COUNT_WORDS, sizeof(u64), NULL));
	c->counts->buffer.kind = TRAFFIC_FLAGS;
	TRY(oriented_page(r, run_direction(r, false)->n_edges, c->lists->weights, &page));
	room = budget_left(r->device->memory);
	TRY(oriented_cut(c->lists, max_u64(page, min_u64(room / MANY, PIECE_BYTES))));
	for (u32 i = 0; i < c->lists->n_pieces; i++)
		largest = max_u64(largest, bytes_of(c, i));
	return share_room(c, room, largest);
}

/* ---- Transfers ---- */

/*
 * The place of a piece on the device, in words of 32 bits: its row offsets, which count
 * from edge_base on, its neighbours and its weights.
 */
struct spot {
	struct buffer *to;
	u32 row_at, neighbour_at, weight_at, edge_base, queue;
};

/* Sends a piece and waits until it has crossed: then the memory of seg may be reused. */
static mill_err send_piece(struct cross_ctx *c, const struct segment *seg, const struct spot *p)
{
	u64 rows = 4 * ((u64)seg->n_rows + 1), edges = 4 * (u64)seg->n_edges;
	struct ticket t[3] = { 0 };
	mill_err err, late;

	for (u32 i = 0; i <= seg->n_rows; i++)
		c->row[i] = seg->row[i] - seg->row[0] + p->edge_base;
	err = device_send(p->to, 4 * (u64)p->row_at, c->row, rows, p->queue, &t[0]);
	if (!err)
		err = device_send(p->to, 4 * ((u64)p->neighbour_at + p->edge_base), seg->neighbour,
				  edges, p->queue, &t[1]);
	if (!err && seg->weight)
		err = device_send(p->to, 4 * ((u64)p->weight_at + p->edge_base), seg->weight, edges,
				  p->queue, &t[2]);
	for (u32 i = 0; i < ARRAY_LEN(t); i++) {
		late = device_wait(&t[i]);
		err = err ? err : late;
	}
	c->step->pages_to_device++;
	c->step->to_device += rows + edges * (seg->weight ? 2 : 1);
	return err;
}

static bool is_held(void *arg, u32 piece)
{
	const struct cross_ctx *c = arg;

	return piece >= c->begin && piece < c->end;
}

static bool is_outside(void *arg, u32 piece) { return !is_held(arg, piece); }

static mill_err hold_piece(void *arg, u32 piece, const struct segment *seg)
{
	struct cross_ctx *c = arg;
	struct spot p = {
		.to = &c->block->buffer,
		.row_at = seg->first - c->held.first,
		.neighbour_at = c->held.neighbour_at,
		.weight_at = c->held.weight_at,
		.edge_base = (u32)(oriented_piece(c->lists, piece).first_edge -
				   oriented_piece(c->lists, c->begin).first_edge),
	};

	return send_piece(c, seg, &p);
}

/* Sends the pieces from c->begin on, as many as fit the block. */
static mill_err hold_block(struct cross_ctx *c)
{
	struct oriented_pass pass = { .wanted = is_held, .take = hold_piece, .arg = c };
	struct piece first = oriented_piece(c->lists, c->begin);
	u64 rows = 0, edges = 0;

	for (c->end = c->begin; c->end < c->lists->n_pieces; c->end++) {
		struct piece p = oriented_piece(c->lists, c->end);

		if (piece_bytes(rows + p.n_rows, edges + p.n_edges, c->lists->weights) >
			    c->block->buffer.size ||
		    edges + p.n_edges > UINT32_MAX)
			break;
		rows += p.n_rows;
		edges += p.n_edges;
	}
	assert(c->end > c->begin);
	c->held = (struct device_segment){
		.lists = &c->block->buffer,
		.weights = c->lists->weights ? &c->block->buffer : NULL,
		.neighbour_at = (u32)rows + 1,
		.weight_at = (u32)(rows + 1 + edges),
		.first = first.first,
		.n_rows = (u32)rows,
		.n_edges = (u32)edges,
	};
	return oriented_pass(c->lists, &pass, c->step);
}

/* ---- Passes ---- */

static mill_err intersect_segment(struct cross_ctx *c, const struct device_segment *seg)
{
	static const char *const kernel[] = { "two_small", "small_large" };

	c->step->pages_active++;
	for (u32 i = 0; i < ARRAY_LEN(kernel); i++) {
		struct kernel_call l;

		launch_begin(&l, &c->program->program, kernel[i], c->args);
		launch_segment(&l, seg);
		launch_buffer(&l, c->held.lists);
		launch_u32(&l, &c->held.neighbour_at);
		launch_u32(&l, &c->held.weight_at);
		launch_u32(&l, &c->held.first);
		launch_u32(&l, &c->held.n_rows);
		launch_vec(&l, c->counts);
		TRY(launch_items(c->run->device, &l, seg->n_edges, ITEM_PAIRS));
	}
	return MILL_OK;
}

/*
 * Launches the kernels for a piece of the block itself. They go to other queues than those
 * of the slots (if there are enough queues), so the first transfers need not wait for them.
 */
static mill_err use_held(struct cross_ctx *c, u32 piece)
{
	struct piece p = oriented_piece(c->lists, piece);
	struct device_segment seg = c->held;
	u32 turn = c->next++ % AHEAD;

	TRY(device_wait(&c->used[turn]));
	seg.row_at = p.first - c->held.first;
	seg.first = p.first;
	seg.n_rows = p.n_rows;
	seg.n_edges = p.n_edges;
	seg.queue = 1 + (c->n_slots + turn) % c->run->device->n_queues;
	c->step->pages_reused++;
	TRY(intersect_segment(c, &seg));
	device_mark(c->run->device, seg.queue, &c->used[turn]);
	return MILL_OK;
}

static mill_err pass_piece(void *arg, u32 piece, const struct segment *from)
{
	struct cross_ctx *c = arg;
	u32 slot = c->next++ % c->n_slots;
	struct buffer *to = &c->slot[slot]->buffer;
	struct device_segment seg = {
		.lists = to,
		.weights = from->weight ? to : NULL,
		.neighbour_at = from->n_rows + 1u,
		.weight_at = from->n_rows + 1u + from->n_edges,
		.first = from->first,
		.n_rows = from->n_rows,
		.n_edges = from->n_edges,
		.queue = 1 + slot % c->run->device->n_queues,
	};
	struct spot p = { to, 0, seg.neighbour_at, seg.weight_at, 0, seg.queue };

	(void)piece;
	TRY(send_piece(c, from, &p));
	return intersect_segment(c, &seg);
}

static mill_err pass_all(struct cross_ctx *c)
{
	struct oriented_pass pass = { .wanted = is_outside, .take = pass_piece, .arg = c };

	for (u32 i = c->begin; i < c->end; i++) {
		TRY(use_held(c, i));
		TRY(ticker_tick(&c->run->ticker, i));
	}
	return c->n_slots ? oriented_pass(c->lists, &pass, c->step) : MILL_OK;
}

static mill_err pass_block(struct cross_ctx *c)
{
	mill_err err;

	TRY(hold_block(c));
	err = device_fork(c->run->device);
	c->next = 0;
	if (!err)
		err = pass_all(c);
	if (!err)
		err = device_join(c->run->device);
	if (err)
		device_drain(c->run->device);	/* commands under way use the block and the slots */
	for (u32 i = 0; i < AHEAD; i++) {
		mill_err late = device_wait(&c->used[i]);

		err = err ? err : late;
	}
	return err;
}

static mill_err add_counts(struct cross_ctx *c)
{
	u64 *count;

	TRY(vec_map(c->run, c->counts, &count));
	for (u32 i = 0; i < COUNT_WORDS; i += COUNT_STRIDE) {
		c->step->edges += count[i + COUNT_EDGES];
		c->step->updates += count[i + COUNT_UPDATES];
	}
	vec_unmap(c->counts, count);
	return MILL_OK;
}

/*
 * Opens the stream for lists on disk. Its frames keep as many pages in RAM as the budget
 * allows.
 */
static mill_err open_frames(struct cross_ctx *c)
{
	struct mill_run *r = c->run;
	u64 page = c->lists->store->page_size;
	u64 bytes =
		max_u64(r->frame_bytes > page ? r->frame_bytes - page : 0, ORIENTED_FRAMES * page);

	return run_open_stream(r, &c->lists->stream, c->lists->store, bytes,
			       run_most_frames(r, c->lists->store));
}

mill_err intersect_device(struct mill_run *r, const struct intersect_program *p, const void *args,
			  struct oriented *lists, struct mill_step *step)
{
	struct cross_ctx c = { .run = r, .program = p, .args = args, .lists = lists, .step = step };

	TRY(make_room(&c));
	if (lists->store)
		TRY(open_frames(&c));
	for (; c.begin < lists->n_pieces; c.begin = c.end)
		TRY(pass_block(&c));
	return add_counts(&c);
}
