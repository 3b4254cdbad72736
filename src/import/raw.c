/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads raw edges: records without a header. A record is two ids of --id-bits and, with
 * --weight-type, a weight; little-endian.
 */
#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "import/format.h"
#include "store/store.h"

#define TOUCH_STEP 4096u
#define TOUCH_GRAIN (2 * MIB)
#define PIECE ((u64)1 << 18)	/* edges; one piece is read while the one before is checked */

static mill_err read_weight(struct reader *r, const u8 *from, f64 *out)
{
	enum mill_weight type = r->k->how->weight_type;
	u32 low;
	i32 integer;
	f32 narrow;

	memcpy(&low, from, sizeof(low));
	switch (type) {
	case MILL_WEIGHT_U32:
		*out = low;
		return reader_weight(r, *out, true, low);
	case MILL_WEIGHT_I32:
		memcpy(&integer, from, sizeof(integer));
		*out = integer;
		return reader_weight(r, *out, true, integer);
	case MILL_WEIGHT_F32:
		memcpy(&narrow, from, sizeof(narrow));
		*out = (f64)narrow;
		break;
	default:
		memcpy(out, from, sizeof(*out));
		break;
	}
	if (isnan(*out))
		return scan_fail(&r->scan, MILL_EINPUT, "a weight is not a number (NaN)");
	return reader_weight(r, *out, false, 0);
}

static u64 read_id(const u8 *from, size_t size)
{
	u32 narrow;
	u64 wide;

	memcpy(&narrow, from, sizeof(narrow));
	memcpy(&wide, from, sizeof(wide)); /* the record's buffer is always long enough */
	return size == 4 ? narrow : wide;
}

static mill_err read_record(struct reader *r, size_t id, size_t weight)
{
	const struct mill_import *how = r->k->how;
	u8 record[3 * sizeof(u64)] = { 0 };
	u64 from, to;
	f64 value = 1;

	TRY(scan_bytes(&r->scan, record, 2 * id + weight));
	from = read_id(record, id);
	to = read_id(record + id, id);
	if (from < how->base || to < how->base)
		return scan_fail(&r->scan, MILL_EINPUT,
				 "vertex 0 is not allowed, because --base is 1");
	if (weight)
		TRY(read_weight(r, record + 2 * id, &value));
	return reader_edge(r, from, to, value);
}

/* Pairs of 32-bit ids. The file and the builder have the same form. */
struct piece {
	u32 *pair;
	u64 room, n;
};

struct pairs {
	struct reader *r;
	struct piece now, next;
	u64 bytes;		/* bytes that have been read */
	bool end;		/* the input has ended */
	u64 low, high;		/* lowest and highest id in `now` */
};

static mill_err fill_piece(struct pairs *p, struct piece *to)
{
	u64 size = to->room * 2 * sizeof(u32), fill = 0, got;

	while (fill < size && !p->end) {
		TRY(input_read(p->r->in, (u8 *)to->pair + fill, size - fill, &got));
		p->end = !got;
		fill += got;
	}
	p->bytes += fill;
	to->n = fill / 8;
	if (fill % 8)
		return fail(MILL_EINPUT,
			    "%s: byte %llu: the file ends at least %llu bytes too early",
			    input_name(p->r->in), (unsigned long long)p->bytes,
			    (unsigned long long)(8 - fill % 8));
	return MILL_OK;
}

/*
 * Touches the memory on all workers: the kernel clears memory when it is first touched, which
 * takes longer than reading a file into it.
 */
static mill_err touch(void *arg, u64 begin, u64 end, unsigned worker)
{
	u8 *memory = arg;

	(void)worker;
	for (u64 at = begin; at < end; at += TOUCH_STEP)
		__atomic_store_n(&memory[at], 0, __ATOMIC_RELAXED);
	return MILL_OK;
}

/*
 * Finds the lowest and highest id, and adds the edges to the fingerprint, in the form that all
 * readers use: so the fingerprint does not depend on the format.
 */
static void look_at_piece(struct pairs *p)
{
	struct raw_edge *edge = p->r->edge;
	const u32 *pair = p->now.pair;
	u32 low = UINT32_MAX, high = 0;

	for (u64 at = 0; at < p->now.n; at += READER_BATCH) {
		u64 n = min_u64(READER_BATCH, p->now.n - at);

		for (u64 i = 0; i < n; i++, pair += 2) {
			edge[i] = (struct raw_edge){ .from = pair[0], .to = pair[1] };
			low = pair[0] < low ? pair[0] : low;
			low = pair[1] < low ? pair[1] : low;
			high = pair[0] > high ? pair[0] : high;
			high = pair[1] > high ? pair[1] : high;
		}
		checksum_add(p->r->k->text.sum, edge, n * sizeof(*edge));
	}
	p->low = low;
	p->high = high;
}

/* Task 0 reads the next piece, task 1 looks at the piece before it. */
static mill_err pairs_step(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct pairs *p = arg;

	(void)worker;
	for (u64 task = begin; task < end; task++) {
		if (task == 0)
			TRY(fill_piece(p, &p->next));
		else
			look_at_piece(p);
	}
	return MILL_OK;
}

static mill_err count_piece(struct pairs *p)
{
	struct reader *r = p->r;
	struct text *t = &r->k->text;

	TRY(builder_commit_pairs(r->k->b, p->now.n, p->low, p->high));
	t->n_edges += p->now.n;
	TRY(builder_project(r->k->b, t->n_edges, input_done(r->in), input_size(r->in)));
	return ticker_tick(builder_ticker(r->k->b), input_done(r->in));
}

/*
 * Reads pairs directly into the builder's memory. One worker reads the next piece while another
 * looks at the piece before it.
 */
static mill_err read_pairs(struct reader *r)
{
	struct pairs p = { .r = r };

	while (!p.end) {
		u64 room, used = 0;
		u32 *pair;

		TRY(builder_reserve_pairs(r->k->b, &pair, &room));
		TRY(pool_for(builder_pool(r->k->b), room * 2 * sizeof(u32), TOUCH_GRAIN, touch,
			     pair));
		p.now.n = 0;
		do {
			p.next = (struct piece){
				.pair = pair + 2 * used,
				.room = min_u64(PIECE, room - used),
			};
			TRY(pool_for(builder_pool(r->k->b), p.now.n ? 2 : 1, 1, pairs_step, &p));
			TRY(count_piece(&p));
			used += p.next.n;
			p.now = p.next;
		} while (p.now.n);
	}
	return MILL_OK;
}

mill_err raw_read(struct reader *r)
{
	const struct mill_import *how = r->k->how;
	size_t id = how->id_bits / 8, weight;

	if (!id)
		return fail(MILL_EUSAGE,
			    "%s: raw edges have no header: give --id-bits 32 or 64",
			    input_name(r->in));
	if (how->weights == MILL_WEIGHTS_AUTO && !how->weight_type)
		return fail(MILL_EUSAGE,
			    "%s: raw edges have no header: give --weight-type too",
			    input_name(r->in));
	TRY(reader_scan(r, true));
	TRY(reader_settle(r, HEADER_UNSAID, how->weight_type != MILL_WEIGHT_NONE, false));
	weight = r->k->weighted ? weight_size(how->weight_type) : 0;
	if (id == 4 && !weight && !how->base && !r->refuse_loops)
		return read_pairs(r);
	while (scan_peek(&r->scan) != SCAN_END)
		TRY(read_record(r, id, weight));
	TRY(r->scan.err);
	return reader_flush(r);
}
