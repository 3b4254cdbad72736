/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues of an OpenCL device, and the commands in them. Queues are in-order, and between queues events order: a fork is an
 * event that the others wait for when they are first used after it, a join a barrier in queue 0 behind the last command of each.
 *
 * Every command has an event. It is looked at once, after its end: how it ended is told by the next call that
 * waits (a kernel that fails does so long after its launch), and its times go to the trace, and those of transfers to the device's own account.
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
	cl_int code = cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);

	return code == CL_SUCCESS ? status : code;
}

static void time_command(struct opencl *o, const struct command *c)
{
	cl_ulong began = 0, ended = 0;

	if (!o->profiling || !(c->moves || o->tracing))
		return;
	if (cl.clGetEventProfilingInfo(c->event, CL_PROFILING_COMMAND_START, sizeof(began), &began, NULL) != CL_SUCCESS ||
	    cl.clGetEventProfilingInfo(c->event, CL_PROFILING_COMMAND_END, sizeof(ended), &ended, NULL) != CL_SUCCESS ||
	    ended < began)
		return;
	if (c->moves)
		o->device.time.transfer[c->traffic] += (f64)(ended - began) * 1e-9;
	if (o->tracing && trace_current)
		trace_past(o->tracks + 2 * c->queue + c->kernel, (f64)began * 1e-9 + o->clock, (f64)ended * 1e-9 + o->clock,
			   trace_word(c->name), c->kernel ? "groups" : "bytes", c->value);
}

/* Looks at the commands that have ended, and forgets them. The first failure counts: others follow from it. */
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
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "starting what it was given");
}

/* So many are under way that the host is far ahead: the oldest is waited for. */
static mill_err make_room(struct opencl *o)
{
	TRY(collect(o));
	if (o->n_commands < COMMANDS - COMMANDS / 4)
		return MILL_OK;
	TRY(flush(o));
	cl.clWaitForEvents(1, &o->command[0].event);	/* how it ended is seen now */
	return collect(o);
}

/* They have been told to a command, or do not matter any more. */
static void forget_after(struct queue *q)
{
	while (q->n_after)
		cl.clReleaseEvent(q->after[--q->n_after]);
}

mill_err opencl_issued(struct opencl *o, struct command c, bool ended)
{
	struct queue *q = &o->queue[c.queue];
	mill_err err = o->n_commands == COMMANDS ? make_room(o) : MILL_OK;

	if (o->n_commands == COMMANDS) {	/* that failed: what became of the oldest will not be known */
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
		code = CALL(FAULT_CL_WAIT, clEnqueueBarrierWithWaitList, q->queue, 1, &o->fork, NULL);
	*out = q->queue;
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "a fork");
}

/* What leaves nothing that waits for the fork, or is waited for by a join. */
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

	/* Also after a failure, and before one on purpose: what they read may be about to be freed. */
	for (u32 i = 0; i <= o->device.n_queues; i++) {
		cl_int this = o->queue[i].queue ? cl.clFinish(o->queue[i].queue) : CL_SUCCESS;

		code = code == CL_SUCCESS ? this : code;
	}
	if (code == CL_SUCCESS)
		code = fault_cl(FAULT_CL_FINISH);
	forget_fork(o);
	o->busy = false;
	TRY(collect(o));
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "waiting for it");
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

	if (o->forked)	/* a pass that failed never came to its join */
		TRY(opencl_finish(o));
	o->forked = true;
	if (!o->busy || o->race_check)
		return MILL_OK;
	code = CALL(FAULT_CL_WAIT, clEnqueueMarkerWithWaitList, o->queue[0].queue, 0, NULL, &o->fork);
	if (code == CL_SUCCESS)
		code = CALL(FAULT_CL_FINISH, clFlush, o->queue[0].queue);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "a fork");
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
		code = CALL(FAULT_CL_WAIT, clEnqueueBarrierWithWaitList, o->queue[0].queue, n, o->joined, NULL);
	if (code != CL_SUCCESS)
		return fail_cl(code, "a join");	/* still forked: the next fork, or closing, waits for all */
	o->busy = o->busy || n;
	forget_fork(o);
	TRY(flush(o));
	return collect(o);
}

/* ---- Transfers ---- */

mill_err opencl_send(struct device *d, struct buffer *b, u64 at, const void *from, u64 size, u32 queue, struct ticket *out)
{
	struct command c = { .name = "to device", .value = size, .queue = queue, .moves = true, .traffic = b->kind };
	struct opencl *o = opencl_of(d);
	cl_command_queue q = NULL;
	cl_int code;

	if (o->race_check)
		return opencl_write(d, b, at, from, size);
	TRY(opencl_enter(o, queue, &q));
	code = CALL(FAULT_CL_WRITE, clEnqueueWriteBuffer, q, b->handle, CL_FALSE, at, size, from, AFTER(o, queue), &c.event);
	if (code != CL_SUCCESS)
		return fail_cl(code, "a transfer to it");
	/* The ticket stands also if what follows fails: `from` may be read until it is waited for. */
	cl.clRetainEvent(c.event);
	out->handle = c.event;
	TRY(opencl_issued(o, c, false));
	code = CALL(FAULT_CL_FINISH, clFlush, q);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "a transfer to it");
}

mill_err opencl_wait(struct device *d, struct ticket *t)
{
	cl_int code = cl.clWaitForEvents(1, (cl_event *)&t->handle), status = status_of(t->handle);

	(void)d;
	cl.clReleaseEvent(t->handle);
	if (status == CL_COMPLETE)
		status = fault_cl(FAULT_CL_WAIT);
	if (status < 0)
		return fail_cl(status, "a transfer to it");
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "waiting for a transfer");
}

void opencl_after(struct device *d, u32 queue, const struct ticket *t)
{
	struct queue *q = &opencl_of(d)->queue[queue];

	if (q->n_after == QUEUE_AFTER) {	/* nothing came after them yet: the oldest is waited for here */
		cl.clWaitForEvents(1, &q->after[0]);
		cl.clReleaseEvent(q->after[0]);
		memmove(q->after, q->after + 1, --q->n_after * sizeof(*q->after));
	}
	cl.clRetainEvent(t->handle);
	q->after[q->n_after++] = t->handle;
}

/* Queues are in order: where the last command has ended, all have. */
void opencl_mark(struct device *d, u32 queue, struct ticket *out)
{
	struct opencl *o = opencl_of(d);

	if (!o->queue[queue].last)
		return;
	cl.clRetainEvent(o->queue[queue].last);
	out->handle = o->queue[queue].last;
}

/* ---- Open, close ---- */

/*
 * The device's clock may be any. The host sees the end of a command a little after it, so of several the one with the least
 * between them is nearest to the truth. Done once: spans of one track must not overlap for a better guess.
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
		cl_int code = CALL(FAULT_CL_WRITE, clEnqueueWriteBuffer, o->queue[0].queue, b.handle, CL_TRUE, 0,
				   sizeof(bytes), bytes, 0, NULL, &event);
		f64 now = clock_now();

		if (code != CL_SUCCESS) {
			err = fail_cl(code, "calibrating the clock");
			break;
		}
		code = cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(ended), &ended, NULL);
		if (code != CL_SUCCESS)
			o->profiling = false;	/* then the trace has no kernels, but is right */
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

	TRY(memory_new(&o->queue, NULL, (u64)o->device.n_queues + 1, sizeof(*o->queue), "the device's queues"));
	TRY(memory_new(&o->joined, NULL, (u64)o->device.n_queues + 1, sizeof(*o->joined), "the device's queues"));
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
