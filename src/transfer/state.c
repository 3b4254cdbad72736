/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertex state that lives on the host (HOME_HOST, GTS). The array that edges write goes to
 * the devices in shares, chunk after chunk, and comes back to be merged, by minimum or by
 * sum. Contexts of OpenCL share nothing, so copies are merged on the host. Sums begin at 0
 * on the device, so they are not sent, only read back. The values that sources give are
 * sent beside the units.
 *
 * With one device, one chunk and no other writer, the array stays on the device between
 * passes. Then the vector's newest values are on the device, and every reader fetches them
 * first. Test builds (MILL_POISON) overwrite the host's copy in that time.
 */
#include <string.h>

#include "transfer/transfer.h"

static struct vec *pass_writable(const struct device_pass *p)
{
	return *(struct vec *const *)((const char *)p->args + p->forms->join->writable);
}

/* ---- Shares ---- */

static u64 scaled(u64 n, u64 some, u64 all)
{
	return (u64)((unsigned __int128)n * some / max_u64(all, 1));
}

/*
 * A divided chunk is shared by the devices in proportion to their budgets. Sums of budgets
 * do not wrap: they are bytes of memory.
 */
static u64 budget_before(const struct transfer *t, u32 station)
{
	u64 sum = 0;

	for (u32 i = 0; i < station; i++)
		sum += t->device[i]->memory->limit;
	return sum;
}

static struct share state_share(const struct transfer *t, u32 station, u32 chunk, u64 n)
{
	u64 begin = scaled(n, chunk, t->chunks), end = scaled(n, chunk + 1u, t->chunks), all;

	if (!t->divided)
		return (struct share){ begin, end };
	all = budget_before(t, t->n_devices);
	return (struct share){ begin + scaled(end - begin, budget_before(t, station), all),
			       begin + scaled(end - begin, budget_before(t, station + 1), all) };
}

u64 state_bytes(const struct transfer *t, u32 station)
{
	u64 most = 0;

	for (u32 i = 0; i < t->chunks; i++) {
		struct share s = state_share(t, station, i, t->store->n_linked);

		most = max_u64(most, s.end - s.begin);
	}
	return max_u64(round_up(most * t->need.writable, 8), 8);
}

/* Returns whether copies come back that must be merged with the host's or another device's. */
static bool merges(const struct transfer *t)
{
	return t->policy->host || (t->n_stations > 1 && !t->divided);
}

mill_err state_open(struct transfer *t, struct station *s)
{
	u64 most = 0;

	if (!t->own || t->policy->home != HOME_HOST)
		return MILL_OK;
	for (u32 i = 0; i < t->n_stations; i++)
		most = max_u64(most, state_bytes(t, i));
	if (merges(t) && !t->merge_copy)
		TRY(memory_new(&t->merge_copy, t->budget, most, 1, "copies of the state"));
	s->writable.name = "writable attributes";
	return station_buffer(s, &s->writable.buffer, state_bytes(t, (u32)(s - t->station)),
			      s->writable.name, TRAFFIC_WRITABLE);
}

void state_close(struct transfer *t)
{
	state_forget(t);
	memory_free(t->merge_copy);
	t->merge_copy = NULL;
}

/* ---- Newest values ---- */

static void hold(struct transfer *t, struct vec *v)
{
	t->held = v;
	v->newest = t;
#ifdef MILL_POISON
	memset(v->buffer.host, 0xa5, v->buffer.size);
#endif
}

void state_forget(struct transfer *t)
{
	if (t->held)
		t->held->newest = NULL;
	t->held = NULL;
}

mill_err vec_fetch(const struct vec *v)
{
	struct transfer *t = v->newest;

	if (!t)
		return MILL_OK;
	state_forget(t);
	return device_read(&t->station[0].writable.buffer, 0, v->buffer.host, v->n * v->size);
}

mill_err program_fetch(const struct program *p, const void *args)
{
	for (u32 i = 0; args && i < p->n_fields; i++) {
		struct vec *v = p->field[i].array ?
			*(struct vec *const *)((const char *)args + p->field[i].offset) : NULL;

		if (v && v->beside && p->numbers != NUMBERS_OWNED)
			return fail(
				MILL_ENOMEM,
				"%s does not fit memory and is streamed beside the pages, where "
				"%s cannot use it: raise --memory",
				v->name, p->name);
		if (v)
			TRY(vec_fetch(v));
	}
	return MILL_OK;
}

/* ---- Passes ---- */

static bool stays(const struct transfer *t, const struct device_pass *p)
{
	return t->n_stations == 1 && t->chunks == 1 && !p->sums && !t->policy->host;
}

mill_err state_begin(struct transfer *t, struct device_pass *p)
{
	struct vec *v = pass_writable(p);

	if (p->given)
		TRY(vec_fetch(p->given));
	else if (t->divided || t->chunks > 1)
		p->given = v;		/* the device may not have the source's value */
	if (t->held && (t->held != v || !stays(t, p)))
		TRY(vec_fetch(t->held));
	if (p->sums && t->policy->host)
		memset(v->buffer.host, 0, v->buffer.size);	/* the host's threads add there */
	return MILL_OK;
}

mill_err state_put(struct transfer *t, const struct device_pass *p, u32 chunk)
{
	const struct vec *v = pass_writable(p);

	for (u32 i = 0; i < t->n_stations; i++) {
		struct station *s = &t->station[i];

		s->share = state_share(t, i, chunk, v->n);
		s->writable.size = v->size;
		s->writable.n = s->share.end - s->share.begin;
		if (t->held == v)
			continue;
		if (p->sums)
			TRY(device_fill(&s->writable.buffer, &(u64){ 0 }, sizeof(u64)));
		else
			TRY(device_write(&s->writable.buffer, 0,
					 (const char *)v->buffer.host + s->share.begin * v->size,
					 s->writable.n * v->size));
	}
	return MILL_OK;
}

mill_err state_given(const struct device_pass *p, const struct page_entry *e, struct work_area *a,
		     u32 queue)
{
	const struct vec *v = p->given;

	TRY(device_wait(&a->sent));	/* has ended long ago: frees the ticket */
	return device_send(&a->given, 0,
			   (const char *)v->buffer.host + (u64)e->first_vertex * v->size,
			   (u64)e->n_rows * v->size, queue, &a->sent);
}

struct merge_ctx {
	void *to;
	const void *from;
	enum merge_kind how;
};

#define MERGE_LOOP(type, better) \
	for (u64 i = begin; i < end; i++) { \
		type *a = (type *)m->to + i, b = ((const type *)m->from)[i]; \
		*a = better; \
	}

static mill_err merge_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct merge_ctx *m = arg;

	(void)worker;
	switch (m->how) {
	case MERGE_MIN_U32:
		MERGE_LOOP(u32, b < *a ? b : *a)
		break;
	case MERGE_MIN_U64:
		MERGE_LOOP(u64, b < *a ? b : *a)
		break;
	case MERGE_ADD_F64:
		MERGE_LOOP(f64, *a + b)
		break;
	case MERGE_ADD_U64:
		MERGE_LOOP(u64, *a + b)
		break;
	}
	return MILL_OK;
}

mill_err merge_copies(struct pool *pool, void *to, const void *from, u64 n, enum merge_kind how)
{
	struct merge_ctx m = { to, from, how };

	return pool_for(pool, n, 1 << 16, merge_some, &m);
}

static mill_err get_from(struct transfer *t, struct station *s, const struct device_pass *p,
			 bool merge)
{
	const struct vec *v = pass_writable(p);
	char *to = (char *)v->buffer.host + s->share.begin * v->size;
	f64 began;

	TRY(device_read(&s->writable.buffer, 0, merge ? t->merge_copy : to,
			s->writable.n * v->size));
	began = clock_now();
	if (merge)
		TRY(merge_copies(t->pool, to, t->merge_copy, s->writable.n, p->forms->join->merge));
	t->time.merging += clock_now() - began;
	return MILL_OK;
}

mill_err state_get(struct transfer *t, const struct device_pass *p)
{
	if (stays(t, p)) {
		if (!t->held)
			hold(t, pass_writable(p));
		return MILL_OK;
	}
	for (u32 i = 0; i < t->n_stations; i++)
		TRY(get_from(t, &t->station[i], p, t->policy->host || (i && !t->divided)));
	return MILL_OK;
}

/* ---- Changes by native code ---- */

/*
 * Flags the page where the list of v ends or, if ids are addresses, where it begins, as
 * policy/join.cl does.
 */
void changes_flag(struct changes *c, vid v)
{
	const struct pages *p = c->pages;
	u32 low = 0, high = p->n_pages;

	if (!c->flag || v >= p->n_rows)
		return;
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if ((p->address.slots ? p->address.first[middle] :
					p->entry[middle].first_vertex) <= v)
			low = middle;
		else
			high = middle;
	}
	__atomic_fetch_or(&c->flag[low],
			  v == (p->address.slots ? p->address.first[low] :
						   p->entry[low].first_vertex) ?
				  PAGE_HEAD : PAGE_OTHERS,
			  __ATOMIC_RELAXED);
}
