/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues of an OpenCL device, and the commands in them. Each queue runs its commands in
 * order; events order commands of different queues. A fork is an event in queue 0 that each
 * other queue waits for when it is first used after the fork. A join is a barrier in queue
 * 0 behind the last command of each other queue.
 *
 * So the kernels of a page run in order in the queue of its work area, and transfers in
 * another queue wait only for the last kernels that used the slot (opencl_mark); the
 * kernels wait for the transfer on the device (opencl_after). The host waits for neither:
 * the stream keeps a frame until its bytes have crossed, and verifies the next pages
 * meanwhile. Nothing above opencl*.c knows events.
 *
 * Every command has an event, which is collected once, after the command has ended. The
 * next call that waits returns a failure of the command (a kernel fails long after its
 * launch). The times of the command go to the trace, and those of transfers also to
 * device.time.
 */
#include "device/device.h"

#if MILL_VID_BITS == 32

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/trace.h"
#include "device/opencl.h"

/* ---- Commands ---- */

static cl_int status_of(cl_event event)
{
	cl_int status = CL_COMPLETE;
	cl_int code = cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
					&status, NULL);

	return code == CL_SUCCESS ? status : code;
}

static void time_command(struct opencl *o, const struct command *c)
{
	cl_ulong began = 0, ended = 0;

	if (!o->profiling || !(c->moves || o->tracing))
		return;
	if (cl.clGetEventProfilingInfo(c->event, CL_PROFILING_COMMAND_START, sizeof(began), &began,
				       NULL) != CL_SUCCESS ||
	    cl.clGetEventProfilingInfo(c->event, CL_PROFILING_COMMAND_END, sizeof(ended), &ended,
				       NULL) != CL_SUCCESS ||
	    ended < began)
		return;
	if (c->moves)
		o->device.time.transfer[c->traffic] += (f64)(ended - began) * 1e-9;
	if (o->tracing && trace_current)
		trace_past(o->tracks + 2 * c->queue + c->kernel, (f64)began * 1e-9 + o->clock,
			   (f64)ended * 1e-9 + o->clock, trace_word(c->name),
			   c->kernel ? "groups" : "bytes", c->value);
}

/*
 * Collects the commands that have ended: takes their times and releases their events.
 * Returns the first failure; later failures follow from it.
 */
static mill_err collect(struct opencl *o)
{
	const char *what = NULL;
	cl_int failed = 0;
	u32 kept = 0;

	for (u32 i = 0; i < o->n_commands; i++) {
		struct command c = o->command[i];
		cl_int status = status_of(c.event);

		if (status > CL_COMPLETE) {
			o->command[kept++] = c;
			continue;
		}
		if (status == CL_COMPLETE) {
			time_command(o, &c);
			status = fault_cl(FAULT_CL_WAIT);
		}
		if (status < 0 && !failed) {
			failed = status;
			what = c.kernel ? c.name : "a transfer";
		}
		cl.clReleaseEvent(c.event);
	}
	o->n_commands = kept;
	return failed ? fail_cl(failed, what) : MILL_OK;
}

static mill_err flush(struct opencl *o)
{
	cl_int code = CL_SUCCESS;

	for (u32 i = 0; i <= o->device.n_queues && code == CL_SUCCESS; i++)
		if (o->queue[i].queue)
			code = CALL(FAULT_CL_FINISH, clFlush, o->queue[i].queue);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "starting commands");
}

/* Makes room for a command. If too many are under way, waits for the oldest. */
static mill_err make_room(struct opencl *o)
{
	TRY(collect(o));
	if (o->n_commands < COMMANDS - COMMANDS / 4)
		return MILL_OK;
	TRY(flush(o));
	cl.clWaitForEvents(1, &o->command[0].event);	/* collect sees how it ended */
	return collect(o);
}

/* Releases the events that the next command had to wait for. */
static void forget_after(struct queue *q)
{
	while (q->n_after)
		cl.clReleaseEvent(q->after[--q->n_after]);
}

mill_err opencl_issued(struct opencl *o, struct command c, bool ended)
{
	struct queue *q = &o->queue[c.queue];
	mill_err err = o->n_commands == COMMANDS ? make_room(o) : MILL_OK;

	/* If make_room failed, the oldest command is dropped; its result stays unknown. */
	if (o->n_commands == COMMANDS) {
		cl.clReleaseEvent(o->command[0].event);
		o->command[0] = o->command[--o->n_commands];
	}
	o->command[o->n_commands++] = c;
	forget_after(q);
	if (c.queue) {
		if (q->last)
			cl.clReleaseEvent(q->last);
		cl.clRetainEvent(c.event);
		q->last = c.event;
	} else {
		o->busy = !ended;
	}
	if (err)
		return err;
	return ended ? collect(o) : MILL_OK;
}

/* ---- Queues ---- */

mill_err opencl_enter(struct opencl *o, u32 queue, cl_command_queue *out)
{
	struct queue *q = &o->queue[queue];
	cl_int code = CL_SUCCESS;

	assert(queue <= o->device.n_queues && (!queue || o->forked));
	if (!q->queue)
		q->queue = MAKE(FAULT_CL_OPEN, &code, clCreateCommandQueue, o->context, o->id,
				o->profiling ? CL_QUEUE_PROFILING_ENABLE : 0);
	if (code != CL_SUCCESS)
		return fail_cl(code, "making a queue");
	if (queue && !q->last && o->fork)
		code = CALL(FAULT_CL_WAIT, clEnqueueBarrierWithWaitList, q->queue, 1, &o->fork,
			    NULL);
	*out = q->queue;
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "forking queues");
}

/* Ends a fork: releases its event and the events that a join would wait for. */
static void forget_fork(struct opencl *o)
{
	for (u32 i = 1; i <= o->device.n_queues; i++) {
		if (o->queue[i].last)
			cl.clReleaseEvent(o->queue[i].last);
		o->queue[i].last = NULL;
		forget_after(&o->queue[i]);
	}
	if (o->fork)
		cl.clReleaseEvent(o->fork);
	o->fork = NULL;
	o->forked = false;
}

void opencl_settle(struct opencl *o)
{
	for (u32 i = 0; i <= o->device.n_queues; i++)
		if (o->queue[i].queue)
			cl.clFinish(o->queue[i].queue);
}

mill_err opencl_finish(struct opencl *o)
{
	cl_int code = CL_SUCCESS;

	/*
	 * Waits for every queue, also after a failure, and before a failure is injected:
	 * the caller may be about to free what the commands use.
	 */
	for (u32 i = 0; i <= o->device.n_queues; i++) {
		cl_int this = o->queue[i].queue ? cl.clFinish(o->queue[i].queue) : CL_SUCCESS;

		code = code == CL_SUCCESS ? this : code;
	}
	if (code == CL_SUCCESS)
		code = fault_cl(FAULT_CL_FINISH);
	forget_fork(o);
	o->busy = false;
	TRY(collect(o));
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "waiting for the device");
}

void opencl_drain(struct device *d)
{
	struct opencl *o = opencl_of(d);

	opencl_settle(o);
	forget_fork(o);
	for (u32 i = 0; i < o->n_commands; i++)
		cl.clReleaseEvent(o->command[i].event);
	o->n_commands = 0;
	o->busy = false;
}

mill_err opencl_fork(struct device *d)
{
	struct opencl *o = opencl_of(d);
	cl_int code;

	if (o->forked)	/* a pass failed before its join */
		TRY(opencl_finish(o));
	o->forked = true;
	if (!o->busy || o->race_check)
		return MILL_OK;
	code = CALL(FAULT_CL_WAIT, clEnqueueMarkerWithWaitList, o->queue[0].queue, 0, NULL,
		    &o->fork);
	if (code == CL_SUCCESS)
		code = CALL(FAULT_CL_FINISH, clFlush, o->queue[0].queue);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "forking queues");
}

mill_err opencl_join(struct device *d)
{
	struct opencl *o = opencl_of(d);
	cl_int code = CL_SUCCESS;
	u32 n = 0;

	for (u32 i = 1; i <= d->n_queues; i++)
		if (o->queue[i].last)
			o->joined[n++] = o->queue[i].last;
	if (n)
		code = CALL(FAULT_CL_WAIT, clEnqueueBarrierWithWaitList, o->queue[0].queue, n,
			    o->joined, NULL);
	if (code != CL_SUCCESS)
		return fail_cl(code, "joining queues");	/* still forked: the next fork waits */
	o->busy = o->busy || n;
	forget_fork(o);
	TRY(flush(o));
	return collect(o);
}

/* ---- Transfers ---- */

mill_err opencl_send(struct device *d, struct buffer *b, u64 at, const void *from, u64 size,
		     u32 queue, struct ticket *out)
{
	struct command c = { .name = "to device",
			     .value = size,
			     .queue = queue,
			     .moves = true,
			     .traffic = b->kind };
	struct opencl *o = opencl_of(d);
	cl_command_queue q = NULL;
	cl_int code;

	if (o->race_check)
		return opencl_write(d, b, at, from, size);
	TRY(opencl_enter(o, queue, &q));
	code = CALL(FAULT_CL_WRITE, clEnqueueWriteBuffer, q, b->handle, CL_FALSE, at, size, from,
		    AFTER(o, queue), &c.event);
	if (code != CL_SUCCESS)
		return fail_cl(code, "a transfer to the device");
	/*
	 * Sets the ticket before the next call can fail: the device may read `from` until
	 * the caller has waited for the ticket.
	 */
	cl.clRetainEvent(c.event);
	out->handle = c.event;
	TRY(opencl_issued(o, c, false));
	code = CALL(FAULT_CL_FINISH, clFlush, q);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "a transfer to the device");
}

mill_err opencl_wait(struct device *d, struct ticket *t)
{
	cl_int code = cl.clWaitForEvents(1, (cl_event *)&t->handle), status = status_of(t->handle);

	(void)d;
	cl.clReleaseEvent(t->handle);
	if (status == CL_COMPLETE)
		status = fault_cl(FAULT_CL_WAIT);
	if (status < 0)
		return fail_cl(status, "a transfer to the device");
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "waiting for a transfer");
}

void opencl_after(struct device *d, u32 queue, const struct ticket *t)
{
	struct queue *q = &opencl_of(d)->queue[queue];

	/*
	 * No command took the events yet, and the list is full: the host waits for the
	 * oldest.
	 */
	if (q->n_after == QUEUE_AFTER) {
		cl.clWaitForEvents(1, &q->after[0]);
		cl.clReleaseEvent(q->after[0]);
		memmove(q->after, q->after + 1, --q->n_after * sizeof(*q->after));
	}
	cl.clRetainEvent(t->handle);
	q->after[q->n_after++] = t->handle;
}

/* Queues run in order: if the last command has ended, all have. */
void opencl_mark(struct device *d, u32 queue, struct ticket *out)
{
	struct opencl *o = opencl_of(d);

	if (!o->queue[queue].last)
		return;
	cl.clRetainEvent(o->queue[queue].last);
	out->handle = o->queue[queue].last;
}

/* ---- Opening and closing ---- */

/*
 * Finds the difference between the host's clock and the device's. The host sees the end of
 * a command a little late, so the smallest difference of several commands is the best
 * estimate. Done once: with a better estimate later, spans of one track could overlap.
 */
static mill_err calibrate(struct opencl *o)
{
	struct buffer b = { 0 };
	char bytes[8] = { 0 };
	mill_err err;

	TRY(opencl_buffer(&o->device, &b, sizeof(bytes), "calibrating the clock"));
	err = MILL_OK;
	o->clock = 1e300;
	for (int i = 0; i < 8 && !err; i++) {
		cl_event event;
		cl_ulong ended = 0;
		cl_int code = CALL(FAULT_CL_WRITE, clEnqueueWriteBuffer, o->queue[0].queue,
				   b.handle, CL_TRUE, 0, sizeof(bytes), bytes, 0, NULL, &event);
		f64 now = clock_now();

		if (code != CL_SUCCESS) {
			err = fail_cl(code, "calibrating the clock");
			break;
		}
		code = cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(ended),
						  &ended, NULL);
		if (code != CL_SUCCESS)
			o->profiling = false;	/* the trace has no kernels then, but is correct */
		else if (now - (f64)ended * 1e-9 < o->clock)
			o->clock = now - (f64)ended * 1e-9;
		cl.clReleaseEvent(event);
	}
	opencl_buffer_free(&o->device, &b);
	return err;
}

mill_err opencl_queues(struct opencl *o)
{
	cl_command_queue first = NULL;

	TRY(memory_new(&o->queue, NULL, (u64)o->device.n_queues + 1, sizeof(*o->queue),
		       "the device's queues"));
	TRY(memory_new(&o->joined, NULL, (u64)o->device.n_queues + 1, sizeof(*o->joined),
		       "the device's queues"));
	TRY(opencl_enter(o, 0, &first));
	return o->tracing ? calibrate(o) : MILL_OK;
}

void opencl_queues_release(struct opencl *o)
{
	if (!o->queue)
		return;
	opencl_drain(&o->device);
	for (u32 i = 0; i <= o->device.n_queues; i++)
		if (o->queue[i].queue)
			cl.clReleaseCommandQueue(o->queue[i].queue);
	memory_free(o->joined);
	memory_free(o->queue);
}

#endif
