/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a device by name, and the calls that every device shares. */
#include "device/device.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "base/trace.h"

mill_err device_open(struct device **out, const char *name, struct budget *host, const struct device_how *how)
{
	u64 number = 0;

	if (!name || !strcmp(name, "cpu"))
		return cpu_open(out, host);
	if (!strcmp(name, "opencl"))
		return opencl_open(out, 0, how);
	if (!strncmp(name, "opencl:", 7) && number_u64(&number, name + 7, name + strlen(name)) &&
	    number < 1024)
		return opencl_open(out, (unsigned)number, how);
	return fail(MILL_EUSAGE, "unknown device '%s': use cpu, opencl or opencl:N", name);
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

/* Commands have spans of their own, with the times of the device: see opencl_queue.c. */
mill_err device_write(struct buffer *b, u64 at, const void *from, u64 size)
{
	assert(at <= b->size && size <= b->size - at);
	if (!b->owner->native)
		b->owner->to_device[b->kind] += size;
	return size ? b->owner->ops->write(b->owner, b, at, from, size) : MILL_OK;
}

mill_err device_read(const struct buffer *b, u64 at, void *to, u64 size)
{
	assert(at <= b->size && size <= b->size - at);
	if (!b->owner->native)
		b->owner->from_device[b->kind] += size;
	return size ? b->owner->ops->read(b->owner, b, at, to, size) : MILL_OK;
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
	for (u32 i = 0; i < l->n_args; i++)
		assert(!l->arg[i].buffer || l->arg[i].buffer->owner == d);
	assert(l->queue <= d->n_queues);
	return l->n_groups ? d->ops->launch(d, l) : MILL_OK;
}

mill_err device_fork(struct device *d) { return d->ops->fork(d); }
mill_err device_join(struct device *d) { return d->ops->join(d); }

mill_err device_send(struct buffer *b, u64 at, const void *from, u64 size, u32 queue, struct transfer *out)
{
	struct device *d = b->owner;

	assert(at <= b->size && size <= b->size - at && queue <= d->n_queues);
	*out = (struct transfer){ .device = d };
	d->to_device[b->kind] += size;
	return size ? d->ops->send(d, b, at, from, size, queue, out) : MILL_OK;
}

void device_mark(struct device *d, u32 queue, struct transfer *out)
{
	*out = (struct transfer){ .device = d };
	d->ops->mark(d, queue, out);
}

mill_err device_wait(struct transfer *t)
{
	mill_err err = t->handle ? t->device->ops->wait(t->device, t) : MILL_OK;

	*t = (struct transfer){ 0 };
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
