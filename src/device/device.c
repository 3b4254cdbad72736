/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a device by name, and the calls that every device shares. */
#include "device/device.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/trace.h"

#define NUMBER_MOST 1023	/* the largest number of a device or of its divisions in a name */

/* A parsed name. */
struct parsed {
	bool cpu, all;
	bool every;		/* N/K: all K divisions */
	u32 number, divisions, division;	/* divisions 0: the undivided device */
};

/* Parses the number at *at, and moves *at behind it. */
static bool take_number(u32 *out, const char **at, const char *end)
{
	const char *stop = *at;
	u64 value;

	while (stop < end && *stop >= '0' && *stop <= '9')
		stop++;
	if (!number_u64(&value, *at, stop) || value > NUMBER_MOST)
		return false;
	*out = (u32)value;
	*at = stop;
	return true;
}

static bool is(const char *word, const char *at, const char *end)
{
	return strlen(word) == (size_t)(end - at) && !memcmp(word, at, strlen(word));
}

/* Parses N, N/K or N/K:I. */
static bool parse_number(struct parsed *p, const char *at, const char *end)
{
	if (!take_number(&p->number, &at, end))
		return false;
	if (at == end)
		return true;
	if (*at++ != '/' || !take_number(&p->divisions, &at, end) || !p->divisions)
		return false;
	p->every = at == end;
	return p->every || (*at++ == ':' && take_number(&p->division, &at, end) && at == end &&
			    p->division < p->divisions);
}

static mill_err parse(struct parsed *p, const char *at, const char *end)
{
	static const char prefix[] = "opencl:";
	size_t skip = sizeof(prefix) - 1;

	*p = (struct parsed){ .cpu = is("cpu", at, end), .all = is("opencl:all", at, end) };
	if (p->cpu || p->all || is("opencl", at, end))
		return MILL_OK;
	if ((size_t)(end - at) > skip && !memcmp(at, prefix, skip) &&
	    parse_number(p, at + skip, end))
		return MILL_OK;
	return fail(MILL_EUSAGE,
		    "unknown device '%.*s': use cpu, opencl, opencl:N, opencl:all, opencl:N/K or "
		    "opencl:N/K:I with I < K",
		    (int)min_u64((u64)(end - at), 200), at);
}

static void put_name(char *to, u32 number, u32 divisions, u32 division)
{
	int n = snprintf(to, DEVICE_NAME, "opencl:%u", number);

	if (divisions)
		snprintf(to + n, DEVICE_NAME - (size_t)n, "/%u:%u", divisions, division);
}

mill_err device_open(struct device **out, const char *name, struct budget *host,
		     const struct device_how *how)
{
	struct parsed p = { .cpu = true };

	if (name)
		TRY(parse(&p, name, name + strlen(name)));
	if (p.all || p.every)
		return fail(MILL_EUSAGE, "%s is several devices: name one", name);
	if (p.cpu)
		return cpu_open(out, host);
	TRY(opencl_open(out, p.number, p.divisions, p.division, how));
	put_name((*out)->name, p.number, p.divisions, p.division);
	return MILL_OK;
}

/* Adds the devices that one name of the list means. */
static mill_err expand(char (*out)[DEVICE_NAME], u32 *n, const struct parsed *p)
{
	u32 more = 1;

	if (p->all)
		TRY(opencl_count(&more));
	if (p->every) {
		TRY(opencl_divides(p->number, p->divisions));
		more = p->divisions;
	}
	if (more > MILL_DEVICES_MOST - *n)
		return fail(MILL_EUSAGE, "more than %d devices are named: leave some out",
			    MILL_DEVICES_MOST);
	for (u32 i = 0; i < more; i++, ++*n) {
		if (p->cpu)
			snprintf(out[*n], DEVICE_NAME, "cpu");
		else
			put_name(out[*n], p->all ? i : p->number, p->divisions,
				 p->every ? i : p->division);
	}
	return MILL_OK;
}

mill_err device_names_expand(char (*out)[DEVICE_NAME], u32 *n, const char *list)
{
	bool cpu = false;

	*n = 0;
	for (const char *at = list, *end; at; at = *end ? end + 1 : NULL) {
		struct parsed p;

		end = at + strcspn(at, ",");
		TRY(parse(&p, at, end));
		cpu |= p.cpu;
		if (cpu && (at != list || *end))
			return fail(MILL_EUSAGE,
				    "the cpu computes alone: leave it or the other devices out "
				    "of '%.200s'",
				    list);
		TRY(expand(out, n, &p));
	}
	return MILL_OK;
}

void device_close(struct device *d)
{
	if (d)
		d->ops->close(d);
}

mill_err device_buffer(struct device *d, struct buffer *b, u64 size, const char *what)
{
	return d->ops->buffer_new(d, b, size, what);
}

void device_buffer_free(struct buffer *b)
{
	if (b->owner)
		b->owner->ops->buffer_free(b->owner, b);
	*b = (struct buffer){ 0 };
}

/*
 * Adds the time since `began`, in which the host waited for the device. Callers take
 * `began` in a statement of its own, before the call that waits.
 */
static mill_err waited(struct device *d, f64 began, mill_err err)
{
	d->time.wait += clock_now() - began;
	return err;
}

/*
 * No trace spans here: opencl_queue.c makes a span for each command, with the device's
 * times.
 */
mill_err device_write(struct buffer *b, u64 at, const void *from, u64 size)
{
	struct device *d = b->owner;
	f64 began;

	assert(at <= b->size && size <= b->size - at);
	if (!size || d->native)
		return size ? d->ops->write(d, b, at, from, size) : MILL_OK;
	d->to_device[b->kind] += size;
	began = clock_now();
	return waited(d, began, d->ops->write(d, b, at, from, size));
}

mill_err device_read(const struct buffer *b, u64 at, void *to, u64 size)
{
	struct device *d = b->owner;
	f64 began;

	assert(at <= b->size && size <= b->size - at);
	if (!size || d->native)
		return size ? d->ops->read(d, b, at, to, size) : MILL_OK;
	d->from_device[b->kind] += size;
	began = clock_now();
	return waited(d, began, d->ops->read(d, b, at, to, size));
}

mill_err device_fill(struct buffer *b, const void *pattern, size_t size)
{
	assert(b->size % size == 0);
	return b->size ? b->owner->ops->fill(b->owner, b, pattern, size) : MILL_OK;
}

mill_err device_prepare(struct device *d, const struct kernel_source *source)
{
	f64 began = trace_begin();
	mill_err err = d->ops->prepare ? d->ops->prepare(d, source) : MILL_OK;

	if (began > 0 && d->ops->prepare)
		trace_span(TRACE_DEVICE, began, "build", NULL, 0);
	return err;
}

mill_err device_launch(struct device *d, const struct launch *l)
{
	mill_err err;
	f64 began;

	for (u32 i = 0; i < l->n_args; i++)
		assert(!l->arg[i].buffer || l->arg[i].buffer->owner == d);
	assert(l->queue <= d->n_queues);
	if (!l->n_groups)
		return MILL_OK;
	began = clock_now();
	err = d->ops->launch(d, l);
	d->time.launch += clock_now() - began;
	d->time.launches++;
	return err;
}

mill_err device_fork(struct device *d) { return d->ops->fork(d); }

mill_err device_join(struct device *d)
{
	f64 began = clock_now();

	return waited(d, began, d->ops->join(d));
}

mill_err device_send(struct buffer *b, u64 at, const void *from, u64 size, u32 queue,
		     struct ticket *out)
{
	struct device *d = b->owner;
	f64 began = clock_now();

	assert(at <= b->size && size <= b->size - at && queue <= d->n_queues);
	*out = (struct ticket){ .device = d };
	d->to_device[b->kind] += size;
	return size ? waited(d, began, d->ops->send(d, b, at, from, size, queue, out)) : MILL_OK;
}

void device_after(struct device *d, u32 queue, const struct ticket *t)
{
	assert(queue && queue <= d->n_queues && (!t->device || t->device == d));
	if (t->handle)
		d->ops->after(d, queue, t);
}

void device_mark(struct device *d, u32 queue, struct ticket *out)
{
	*out = (struct ticket){ .device = d };
	d->ops->mark(d, queue, out);
}

mill_err device_wait(struct ticket *t)
{
	struct device *d = t->device;
	mill_err err = MILL_OK;
	f64 began;

	if (t->handle) {
		began = clock_now();
		err = waited(d, began, d->ops->wait(d, t));
	}
	*t = (struct ticket){ 0 };
	return err;
}

void device_drain(struct device *d)
{
	if (d->ops->drain)
		d->ops->drain(d);
}

MILL_API size_t mill_devices(struct mill_device *out, size_t n)
{
	size_t have = cpu_list(out, n);

	return have + opencl_list(out + (have < n ? have : n), have < n ? n - have : 0);
}
