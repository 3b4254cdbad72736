/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/number.h"
#include "engine/devices.h"
#include "engine/fleet_form.h"
#include "store/packed.h"

/* Lanes take at most one part in so many of what the writable attribute leaves. */
#define LANE_SHARE 4u
#define SLOTS_LEAST 2u

/* ---- Sizes ---- */

/* Of the direction that has more. */
static u64 most_pages(const struct store *st) { return max_u64(st->out.n_pages, st->directed && st->has_in ? st->in.n_pages : 0); }

/* Counts and flags, the page tables and what else is small. */
static u64 fixed_bytes(u64 pages) { return LANE_WORDS * sizeof(u64) + 12 * pages + 1024; }

static u64 lane_bytes(const struct need *n, const struct store *st, const struct page_shape *s)
{
	return (st->codec == PAGE_PACKED ? s->lists : 0) + n->given * s->rows + 128;
}

/* What a member needs besides its part of the writable attribute. */
static u64 least_beside(const struct need *n, const struct store *st, const struct page_shape *s, u64 pages)
{
	return fixed_bytes(pages) + lane_bytes(n, st, s) + SLOTS_LEAST * s->wire;
}

static u64 scaled(u64 n, u64 part, u64 whole) { return (u64)((unsigned __int128)n * part / max_u64(whole, 1)); }

/* Of n vertices, what the smallest device gets: under S as its budget is to all. */
static u64 smallest_share(const struct mill_run *r, u64 n)
{
	u64 all = 0;

	if (r->options.strategy != MILL_STRATEGY_S)
		return n;
	for (u32 i = 0; i < r->n_opened; i++)
		all += r->opened[i]->memory->limit;
	return n - scaled(n, all - devices_budget(r), all);	/* rounded up */
}

u64 fleet_least(const struct mill_run *r, const struct need *n)
{
	const struct store *st = r->store;
	struct page_shape s = n->view ? page_shape_at_most(st) : page_shape(st);
	u64 chunk = div_up(st->connected, r->options.chunks ? r->options.chunks : FLEET_CHUNKS);

	return least_beside(n, st, &s, most_pages(st) * (n->view ? 4 : 1)) +	/* a view can have more */
	       max_u64(round_up(smallest_share(r, chunk) * n->writable, 8), 8);
}

u64 fleet_host_bytes(const struct mill_run *r, const struct need *n)
{
	u64 pages = 2 * most_pages(r->store) * (n->view ? 4 : 1), copy = r->n_opened > 1 ? r->store->connected * n->writable : 0;

	return copy + (pages * (18 + 12 * (u64)r->n_opened)) + fixed_bytes(pages) + 65536;
}

void fleet_estimate(const struct mill_run *r, const struct need *n, u32 *chunks, u64 *slots, u64 *lanes)
{
	const struct store *st = r->store;
	struct page_shape s = n->view ? page_shape_at_most(st) : page_shape(st);
	u64 lane = lane_bytes(n, st, &s), pages = most_pages(st), beside = least_beside(n, st, &s, pages), left = devices_budget(r), wa;
	u64 members = r->options.strategy == MILL_STRATEGY_S ? r->n_opened : 1;

	for (*chunks = r->options.chunks ? r->options.chunks : 1;; ++*chunks) {
		wa = div_up(st->connected, members * *chunks) * n->writable;
		if (wa + beside <= left || *chunks >= FLEET_CHUNKS || r->options.chunks)
			break;
	}
	left -= min_u64(left, wa + fixed_bytes(pages));
	*lanes = min_u64(max_u64(left / LANE_SHARE / lane, 1), r->opened[0]->n_queues);
	left -= min_u64(left, *lanes * lane);
	*slots = left / s.wire;
	if (*slots < pages)	/* one for each lane is of a page that passes */
		*slots -= min_u64(*slots, *lanes);
	if (r->options.device_cache_set)
		*slots = min_u64(*slots, r->options.device_cache / s.wire);
}

u64 page_flags_bytes(const struct store *st) { return 8 * most_pages(st) + 256; }

/* ---- Shares ---- */

/* Strategy S: as each has room. Sums of rooms do not wrap: they are bytes of memory. */
static u64 room_before(const struct fleet *f, u32 member)
{
	u64 sum = 0;

	for (u32 i = 0; i < member; i++)
		sum += f->member[i].device->memory->limit;
	return sum;
}

struct share fleet_share(const struct fleet *f, u32 member, u32 chunk, u64 n)
{
	u64 begin = scaled(n, chunk, f->chunks), end = scaled(n, chunk + 1u, f->chunks), all;

	if (!f->divided)
		return (struct share){ begin, end };
	all = room_before(f, f->n);
	return (struct share){ begin + scaled(end - begin, room_before(f, member), all),
			       begin + scaled(end - begin, room_before(f, member + 1), all) };
}

/* Bytes of the largest part that a member ever has. */
static u64 writable_bytes(const struct fleet *f, u32 member)
{
	u64 most = 0;

	for (u32 i = 0; i < f->chunks; i++) {
		struct share s = fleet_share(f, member, i, f->run->store->connected);

		most = max_u64(most, s.end - s.begin);
	}
	return max_u64(round_up(most * f->run->need.writable, 8), 8);
}

/* As few chunks as let every member have its part, a lane and two slots. */
static mill_err choose_chunks(struct fleet *f, u64 beside)
{
	const struct mill_options *o = &f->run->options;
	u32 most = o->chunks ? o->chunks : FLEET_CHUNKS;
	char needed[NUMBER_TEXT];

	for (f->chunks = o->chunks ? o->chunks : 1;; f->chunks++) {
		u32 small = f->n;

		for (u32 i = f->n; i-- > 0;)
			if (writable_bytes(f, i) + beside > budget_left(f->member[i].device->memory))
				small = i;
		if (small == f->n)
			return MILL_OK;
		if (f->chunks < most)
			continue;
		return fail(MILL_ENOMEM, "--device-memory is too small for device %u: with %u chunks it needs %s", small, f->chunks,
			    size_show(needed, writable_bytes(f, small) + beside));
	}
}

/* ---- Open and close ---- */

static mill_err open_buffer(struct member *m, struct buffer *b, u64 size, const char *what, enum traffic kind)
{
	TRY(device_buffer(m->device, b, size, what));
	b->kind = kind;
	return MILL_OK;
}

static mill_err open_start(struct fleet *f, struct member *m, int in)
{
	const struct pages *p = f->pages[in];
	u64 size;
	mill_err err;
	u32 *start;

	if (!p)
		return MILL_OK;
	size = (p->n_pages + 1ull) * sizeof(u32);
	TRY(open_buffer(m, &m->start[in], size, "the page table", TRAFFIC_FLAGS));
	TRY(memory_new(&start, &f->run->budget, p->n_pages + 1ull, sizeof(u32), "the page table"));
	for (u32 i = 0; i < p->n_pages; i++)
		start[i] = p->address.slots ? p->address.first[i] : p->entry[i].first_vertex;
	start[p->n_pages] = p->n_rows;
	err = device_write(&m->start[in], 0, start, size);
	memory_free(start);
	return err;
}

static mill_err open_lanes(struct fleet *f, struct member *m, u32 n, const struct page_shape *s)
{
	TRY(memory_new(&m->lane, &f->run->budget, n, sizeof(*m->lane), "the device's lanes"));
	m->n_lanes = n;
	for (u32 i = 0; i < n; i++) {
		if (f->run->graph->codec == PAGE_PACKED)
			TRY(open_buffer(m, &m->lane[i].lists, s->lists, "an unpacked page", TRAFFIC_WRITABLE));
		if (f->run->need.given)
			TRY(open_buffer(m, &m->lane[i].given, max_u64(f->run->need.given * s->rows, 8), "read-only attributes",
					TRAFFIC_READ_ONLY));
	}
	return MILL_OK;
}

/* As many slots as the budget leaves: those of pages that stay, and one for each lane for those that pass. */
static mill_err open_slots(struct fleet *f, struct member *m, const struct page_shape *s, u64 pages)
{
	const struct mill_options *o = &f->run->options;
	u64 lane = lane_bytes(&f->run->need, f->run->graph, s), left = budget_left(m->device->memory), n, most;
	u64 lanes = min_u64(max_u64(left / LANE_SHARE / lane, 1), m->device->n_queues);
	u32 n_pages[2] = { f->pages[0] ? f->pages[0]->n_pages : 0, f->pages[1] ? f->pages[1]->n_pages : 0 };

	lanes = min_u64(lanes, max_u64(left / (lane + SLOTS_LEAST * s->wire), 1));
	left -= min_u64(left, lanes * lane);
	n = min_u64(left / s->wire, pages + lanes);
	if (!n)
		return fail(MILL_ENOMEM, "the device's budget leaves no room for a page");
	most = n >= pages ? pages : n > lanes ? n - lanes : 0;
	if (o->device_cache_set)
		most = min_u64(most, o->device_cache / s->wire);
	n = most >= pages ? max_u64(pages, 1) : min_u64(n, most + lanes);
	TRY(open_lanes(f, m, (u32)lanes, s));
	TRY(memory_new(&m->slot, &f->run->budget, n, sizeof(*m->slot), "the device's slots"));
	TRY(lru_open(&m->lru, &f->run->budget, n_pages, (u32)n, (u32)most));
	for (u32 i = 0; i < n; i++)
		TRY(open_buffer(m, &m->slot[i].buffer, s->wire, "a slot for pages", TRAFFIC_TOPOLOGY));
	return MILL_OK;
}

static mill_err open_member(struct fleet *f, struct member *m, const struct page_shape *s, u64 pages, u64 most)
{
	TRY(device_prepare(m->device, &cache_kernels));
	TRY(open_buffer(m, &m->writable.buffer, writable_bytes(f, (u32)(m - f->member)), "writable attributes", TRAFFIC_WRITABLE));
	m->writable.name = "writable attributes";
	TRY(open_start(f, m, 0));
	TRY(open_start(f, m, 1));
	TRY(open_buffer(m, &m->counts, f->counts_size, "counts", TRAFFIC_FLAGS));
	TRY(open_buffer(m, &m->fault, sizeof(u64), "counts", TRAFFIC_FLAGS));
	TRY(memory_new(&m->placed, &f->run->budget, most + 1, sizeof(u32), "the page table"));
	return open_slots(f, m, s, pages);
}

/* Of a direction, those that a member gets. */
static u64 member_pages(const struct fleet *f, int in)
{
	return f->pages[in] ? div_up(f->pages[in]->n_pages, f->divided ? 1 : f->n) : 0;
}

static mill_err open_all(struct fleet *f)
{
	struct mill_run *r = f->run;
	bool both = r->store->directed && !r->need.view;
	struct page_shape s = page_shape(r->graph);
	u64 pages = 0, most = 0;

	if (r->need.out || !both)
		f->pages[0] = run_direction(r, false)->pages;
	if (r->need.in && both)
		f->pages[1] = run_direction(r, true)->pages;
	for (int in = 0; in < 2; in++) {
		pages += member_pages(f, in);
		most = max_u64(most, f->pages[in] ? f->pages[in]->n_pages : 0);
		if (f->pages[in])
			TRY(rvt_open(&f->rvt[in], f->pages[in], &r->budget));
	}
	f->weights = r->need.weights && r->graph->weight;
	f->counts_size = LANE_WORDS * sizeof(u64) + 4 * round_up(most, 2);
	TRY(memory_new(&f->counted, &r->budget, f->counts_size, 1, "counts"));
	TRY(memory_new(&f->order, &r->budget, most + 1, sizeof(u32), "the order of pages"));
	TRY(memory_new(&f->missing, &r->budget, most + 1, sizeof(u16), "the order of pages"));
	TRY(choose_chunks(f, least_beside(&r->need, r->graph, &s, most)));
	if (f->n > 1 && !f->divided)
		TRY(memory_new(&f->merging, &r->budget, writable_bytes(f, 0), 1, "copies of the state"));
	for (u32 i = 0; i < f->n; i++)
		TRY(open_member(f, &f->member[i], &s, pages, most));
	return MILL_OK;
}

mill_err fleet_open(struct fleet **out, struct mill_run *r)
{
	struct fleet *f;
	mill_err err;

	TRY(memory_new(&f, &r->budget, 1, sizeof(*f), "the fleet"));
	f->run = r;
	f->n = r->n_opened;
	f->divided = r->options.strategy == MILL_STRATEGY_S && f->n > 1;	/* one has all */
	err = memory_new(&f->member, &r->budget, f->n, sizeof(*f->member), "the fleet");
	for (u32 i = 0; !err && i < f->n; i++)
		f->member[i].device = r->opened[i];
	if (!err)
		err = open_all(f);
	if (err) {
		fleet_close(f);
		return err;
	}
	*out = f;
	return MILL_OK;
}

static void close_member(struct member *m)
{
	for (u32 i = 0; m->lru && i < lru_slots(m->lru); i++) {
		device_wait(&m->slot[i].used);
		device_buffer_free(&m->slot[i].buffer);
	}
	for (u32 i = 0; i < m->n_lanes; i++) {
		device_wait(&m->lane[i].sent);
		device_buffer_free(&m->lane[i].lists);
		device_buffer_free(&m->lane[i].given);
	}
	device_buffer_free(&m->writable.buffer);
	device_buffer_free(&m->start[0]);
	device_buffer_free(&m->start[1]);
	device_buffer_free(&m->counts);
	device_buffer_free(&m->fault);
	lru_close(m->lru);
	memory_free(m->slot);
	memory_free(m->lane);
	memory_free(m->placed);
}

void fleet_close(struct fleet *f)
{
	if (!f)
		return;
	for (u32 i = 0; f->member && i < f->n; i++)
		close_member(&f->member[i]);
	rvt_close(f->rvt[0]);
	rvt_close(f->rvt[1]);
	memory_free(f->member);
	memory_free(f->merging);
	memory_free(f->missing);
	memory_free(f->order);
	memory_free(f->counted);
	memory_free(f);
}

const struct rvt *fleet_rvt(const struct fleet *f, bool in) { return f->rvt[in && f->rvt[1]]; }

bool fleet_keeps_all(const struct fleet *f)
{
	u64 pages = member_pages(f, 0) + member_pages(f, 1);

	for (u32 i = 0; i < f->n; i++)
		if (lru_most(f->member[i].lru) < pages)
			return false;
	return true;
}

mill_err fleet_prepare(struct fleet *f, const struct kernel_source *source)
{
	for (u32 i = 0; i < f->n; i++)
		TRY(device_prepare(f->member[i].device, source));
	return MILL_OK;
}

struct mill_streaming fleet_layout(const struct fleet *f)
{
	struct mill_streaming out = {
		.devices = f->n,
		.strategy = f->divided ? MILL_STRATEGY_S : MILL_STRATEGY_P,
		.chunks = f->chunks,
		.cached_pages = UINT64_MAX,
		.frames = f->run->stream ? stream_frames(f->run->stream) : 0,
	};

	for (int in = 0; in < 2; in++)
		if (f->pages[in]) {
			out.large_pages += pages_large(f->pages[in]);
			out.small_pages += f->pages[in]->n_pages;
		}
	out.small_pages -= out.large_pages;
	for (u32 i = 0; i < f->n; i++) {
		out.writable = max_u64(out.writable, writable_bytes(f, i));
		out.cached_pages = min_u64(out.cached_pages, lru_most(f->member[i].lru));
	}
	return out;
}
