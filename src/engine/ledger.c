/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up supersteps and the time of devices; ledger.h has the contract. */
#include "engine/ledger.h"

#include <math.h>

#include "base/trace.h"
#include "model/gts_model.h"

void ledger_clear(struct ledger *l)
{
	l->n_steps = 0;
	l->total = (struct mill_step){ 0 };
	l->edges_traversed = 0;
	l->parents = l->output = 0;
	l->cost = (struct mill_cost){ 0 };
	l->paused = false;
}

static void sum(struct mill_step *to, const struct mill_step *s)
{
	to->frontier += s->frontier;
	to->edges += s->edges;
	to->updates += s->updates;
	to->pages_active += s->pages_active;
	to->pages_read += s->pages_read;
	to->pages_to_device += s->pages_to_device;
	to->pages_reused += s->pages_reused;
	to->disk_read += s->disk_read;
	to->disk_written += s->disk_written;
	to->to_device += s->to_device;
	to->lanes += s->lanes;
	to->atomics += s->atomics;
	to->seconds += s->seconds;
	to->wait += s->wait;
	to->decode += s->decode;
	to->compute += s->compute;
}

void ledger_add_device(struct ledger *l, const struct device *d)
{
	const f64 *moving = d->time.transfer;
	struct mill_cost c = {
		.attributes = moving[TRAFFIC_WRITABLE],
		.stream = moving[TRAFFIC_TOPOLOGY] + moving[TRAFFIC_READ_ONLY],
		.calls = d->time.launch,
	};

	/*
	 * Flags and counts come back when the kernels before them have ended, so that wait
	 * counts as kernels.
	 */
	c.kernel = fmax(0, d->time.wait - c.attributes - c.stream);
	gts_add(&l->cost, &c);
}

void ledger_end(struct ledger *l, f64 merging)
{
	gts_add(&l->cost,
		&(struct mill_cost){ .sync = merging, .disk = l->total.wait + l->total.decode });
}

void ledger_add(struct ledger *l, struct mill_step *s, f64 began)
{
	struct mill_step *to;

	s->seconds = clock_now() - began;
	if (!s->pages_active)	/* no pages, so no thread waited for one */
		s->compute = s->seconds * l->threads;
	if (trace_current)
		trace_end(began, s->direction, "superstep", l->total.step + 1);
	if (l->paused)
		return;
	sum(&l->total, s);
	l->total.step++;
	if (l->n_steps < LEDGER_STEPS) {
		to = &l->step[l->n_steps++];
		*to = *s;
		to->step = l->total.step;
		return;
	}
	to = &l->step[LEDGER_STEPS - 1];
	sum(to, s);
	to->direction = "rest";
}
