/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cache.h"

#include <assert.h>
#include <stdio.h>

#include "store/page.h"

/* Kernels of so many pages may be under way: their slots are not wanted back at once. */
#define LATELY 8

struct slot {
	struct buffer buffer;
	struct page_args args;
};

struct device_cache {
	u32 n_slots;
	struct slot *slot;
	struct evict *evict;
};

struct passing {
	struct mill_run *run;
	struct device_cache *cache;
	const struct device_pass *pass;
	struct mill_step *step;
	const struct pages *pages;
};

u64 cache_slot_size(const struct store *st)
{
	return round_up(max_u64(st->page_size, max_u64(st->out.raw_bytes, st->in.raw_bytes)), 4096);
}

mill_err cache_open(struct device_cache **out, struct mill_run *r, u64 state)
{
	const struct store *st = r->graph;
	u32 n_in = st->directed && st->has_in ? st->in.n_pages : 0;
	u64 pages = (u64)(r->need.out || !n_in ? st->out.n_pages : 0) + (r->need.in || r->need.view ? n_in : 0);
	u64 left = budget_left(r->device->memory);
	u64 slot_size = cache_slot_size(st);
	u64 room = left > state ? (left - state) / slot_size : 0;
	struct device_cache *c;
	mill_err err;

	TRY(memory_new(&c, &r->budget, 1, sizeof(*c), "the device's cache"));
	c->n_slots = (u32)min_u64(room, max_u64(pages, 1));
	err = memory_new(&c->slot, &r->budget, c->n_slots, sizeof(*c->slot), "the device's slots");
	if (!err)
		err = evict_open(&c->evict, &r->budget, st, c->n_slots, LATELY, r->policy);
	for (u32 i = 0; !err && i < c->n_slots; i++)
		err = device_buffer(r->device, &c->slot[i].buffer, slot_size, "a page slot");
	if (err) {
		cache_close(c);
		return err;
	}
	*out = c;
	return MILL_OK;
}

void cache_close(struct device_cache *c)
{
	if (!c)
		return;
	for (u32 i = 0; c->slot && i < c->n_slots; i++)
		device_buffer_free(&c->slot[i].buffer);
	evict_close(c->evict);
	memory_free(c->slot);
	memory_free(c);
}

u32 cache_slots(const struct device_cache *c) { return c->n_slots; }

static bool is_active(const struct passing *p, u32 page)
{
	const struct page_entry *e = &p->pages->entry[page];

	return run_takes_page(p->run, page) &&
	       (!p->pass->active || p->pass->active(p->pass->arg, e->first_vertex, (u64)e->first_vertex + e->n_rows));
}

static bool is_missing(void *arg, u32 page)
{
	struct passing *p = arg;

	return evict_slot(p->cache->evict, p->pages, page) == NO_SLOT_HELD && is_active(p, page);
}

static mill_err launch(struct passing *p, u32 page, struct slot *s)
{
	p->step->pages_active++;
	return p->pass->launch(p->pass->arg, page, &s->args);
}

/* A slot has the layout of a raw page without its header, whatever the codec: kernels know no other. */
static mill_err move_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct passing *p = arg;
	struct device_cache *c = p->cache;
	struct slot *s = &c->slot[evict_take(c->evict, p->pages, page)];
	u64 lists = page_lists_bytes(seg->n_rows, seg->n_edges), weight_at = round_up(lists, 8);
	u64 weights = seg->weight ? seg->n_edges * (u64)weight_size(p->run->graph->weight) : 0;

	(void)worker;
	TRY(device_write(&s->buffer, 0, seg->row, lists));
	if (weights)
		TRY(device_write(&s->buffer, weight_at, seg->weight, weights));
	s->args = (struct page_args){
		.page = &s->buffer,
		.row_at = 0,
		.neighbour_at = seg->n_rows + 1u,
		.weight_at = (u32)(weight_at / 4),
		.first = seg->first,
		.n_rows = seg->n_rows,
		.head_edges = seg->row[1],
	};
	p->step->pages_to_device++;
	p->step->to_device += lists + weights;
	return launch(p, page, s);
}

mill_err cache_run(struct mill_run *r, const struct device_pass *dp, struct mill_step *step)
{
	struct passing p = {
		.run = r,
		.cache = r->cache,
		.pass = dp,
		.step = step,
		.pages = run_direction(r, dp->in)->pages,
	};
	struct stream_pass sp = {
		.pages = p.pages,
		.active = is_missing,
		.work = move_page,
		.arg = &p,
		.in_order = true,
		.ticker = &r->ticker,
	};
	mill_err err;

	evict_begin(r->cache->evict);
	for (u32 i = 0; i < p.pages->n_pages; i++) {
		u32 slot = evict_slot(r->cache->evict, p.pages, i);

		if (slot == NO_SLOT_HELD || !is_active(&p, i))
			continue;
		evict_use(r->cache->evict, slot);
		step->pages_reused++;
		TRY(launch(&p, i, &r->cache->slot[slot]));
	}
	err = stream_run(r->stream, &sp);
	if (err)
		evict_clear(r->cache->evict);	/* a page may not have come where it was sent */
	sp.n_active = sp.n_reused = 0;		/* of the device's own */
	step_add_pass(step, &sp);
	return err;
}

/* ---- Launches ---- */

static void add(struct launching *l, struct launch_arg arg)
{
	assert(l->launch.n_args < ARRAY_LEN(l->arg));
	l->arg[l->launch.n_args++] = arg;
}

void launch_vec(struct launching *l, const struct vec *v)
{
	add(l, (struct launch_arg){ .buffer = v ? &v->buffer : NULL });
}

void launch_u32(struct launching *l, const u32 *value)
{
	add(l, (struct launch_arg){ .value = value, .size = sizeof(*value) });
}

void launch_u64(struct launching *l, const u64 *value)
{
	add(l, (struct launch_arg){ .value = value, .size = sizeof(*value) });
}

void launch_begin(struct launching *l, const struct program *p, const char *suffix, const void *args)
{
	snprintf(l->entry, sizeof(l->entry), "%s_%s", p->name, suffix);
	l->launch = (struct launch){ .source = &p->source, .entry = l->entry, .arg = l->arg };
	for (u32 i = 0; i < p->n_fields; i++) {
		const struct field *f = &p->field[i];
		const void *at = (const char *)args + f->offset;

		if (f->array)
			launch_vec(l, *(struct vec *const *)at);
		else
			add(l, (struct launch_arg){ .value = at, .size = f->size });
	}
}

void launch_page(struct launching *l, const struct page_args *page)
{
	add(l, (struct launch_arg){ .buffer = page->page });
	launch_u32(l, &page->row_at);
	launch_u32(l, &page->neighbour_at);
	launch_u32(l, &page->weight_at);
	launch_u32(l, &page->first);
	launch_u32(l, &page->n_rows);
}

mill_err launch_go(struct mill_run *r, struct launching *l, u64 n_items)
{
	l->launch.n_groups = div_up(n_items, r->device->group);
	return device_launch(r->device, &l->launch);
}
