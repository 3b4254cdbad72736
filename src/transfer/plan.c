/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the plans of all policies share. */
#include <assert.h>

#include "transfer/transfer.h"

void plan_add(struct plan *p, struct move m)
{
	assert(p->n < p->most);
	p->move[p->n++] = m;
}

bool plan_active(const struct transfer *t, const struct activity *a, u32 unit)
{
	return transfer_takes(t, unit) && (!a->n || a->n[unit]);
}

bool plan_takes(const struct transfer *t, const struct activity *a, u32 unit)
{
	return plan_active(t, a, unit) ||
	       (t->options->no_skip && !a->subset && transfer_takes(t, unit));
}

void plan_by_stream(struct transfer *t, bool in, u32 *page, u32 n)
{
	struct stream_pass pass = {
		.pages = t->units[in].pages,
		.want = { .lists_only = !t->weights },
	};

	if (t->stream)
		stream_order(t->stream, &pass, page, n);
}

static u8 work_of(const struct transfer *t, const struct activity *a, u32 unit, bool idle)
{
	if (plan_active(t, a, unit))
		return MOVE_WORK;
	return idle ? MOVE_WORK | MOVE_IDLE : 0;
}

/* Resident units come first, so that a scan finds the units that the last scan left. */
mill_err plan_resident_first(struct plan *out, const struct activity *a, struct transfer *t,
			     const struct plan_how *how)
{
	struct residency *r = t->station[0].residency;
	u32 n_missing = 0;

	residency_begin(r);
	for (u32 i = 0; i < t->units[a->in].n; i++) {
		u32 slot = residency_find(r, a->in, i);

		if (!plan_takes(t, a, i))
			continue;
		if (slot == RESIDENCY_NONE) {
			t->list[n_missing++] = i;
			continue;
		}
		residency_use(r, slot);
		plan_add(out,
			 (struct move){ i, slot, 1, (u8)t->wire, work_of(t, a, i, how->idle) });
	}
	if (how->by_stream)
		plan_by_stream(t, a->in, t->list, n_missing);
	for (u32 k = 0; k < n_missing; k++) {
		u32 i = t->list[k], slot = residency_place(r, a->in, i, 0);

		plan_add(out, (struct move){ i, slot, 1, (u8)t->wire,
					     MOVE_SEND | work_of(t, a, i, how->idle) });
	}
	return MILL_OK;
}

mill_err plan_pages(struct plan *out, const struct activity *a, struct transfer *t)
{
	return plan_resident_first(out, a, t, &(struct plan_how){ .by_stream = true });
}

/* ---- Windows ---- */

void plan_window(struct transfer *t)
{
	for (u32 i = 0; i < t->n_stations; i++)
		residency_window(t->station[i].residency);
}

void plan_place(struct move *m, bool in, struct transfer *t)
{
	struct residency *r = t->station[m->where - 1].residency;

	m->slot = residency_find(r, in, m->unit);
	if (m->slot != RESIDENCY_NONE) {
		residency_use(r, m->slot);
		return;
	}
	m->flags |= MOVE_SEND;
	m->slot = residency_place(r, in, m->unit, 0);
	if (m->slot != RESIDENCY_NONE)
		return;
	plan_window(t);
	m->flags |= MOVE_BREAK;
	m->slot = residency_place(r, in, m->unit, 0);
	assert(m->slot != RESIDENCY_NONE);
}
