/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of the OpenCL device share. opencl*.c are the only files with
 * cl* calls, of the 1.2 interface. One host thread at a time works with a device.
 *
 *	opencl.c          finding, opening and closing devices; buffers
 *	opencl_program.c  programs: building, warming up, launching
 *	opencl_queue.c    queues, forks and joins; the commands under way and their results
 */
#ifndef DEVICE_OPENCL_H
#define DEVICE_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "base/fault.h"
#include "device/device.h"

#define CALLS(X)                        \
	X(clGetPlatformIDs)             \
	X(clGetDeviceIDs)               \
	X(clGetDeviceInfo)              \
	X(clCreateSubDevices)           \
	X(clReleaseDevice)              \
	X(clCreateContext)              \
	X(clReleaseContext)             \
	X(clCreateCommandQueue)         \
	X(clReleaseCommandQueue)        \
	X(clCreateBuffer)               \
	X(clReleaseMemObject)           \
	X(clEnqueueWriteBuffer)         \
	X(clEnqueueReadBuffer)          \
	X(clEnqueueFillBuffer)          \
	X(clEnqueueMarkerWithWaitList)  \
	X(clEnqueueBarrierWithWaitList) \
	X(clCreateProgramWithSource)    \
	X(clBuildProgram)               \
	X(clGetProgramBuildInfo)        \
	X(clReleaseProgram)             \
	X(clCreateKernelsInProgram)     \
	X(clGetKernelInfo)              \
	X(clGetKernelArgInfo)           \
	X(clGetKernelWorkGroupInfo)     \
	X(clReleaseKernel)              \
	X(clSetKernelArg)               \
	X(clEnqueueNDRangeKernel)       \
	X(clWaitForEvents)              \
	X(clGetEventInfo)               \
	X(clGetEventProfilingInfo)      \
	X(clRetainEvent)                \
	X(clReleaseEvent)               \
	X(clFlush)                      \
	X(clFinish)

#define CALLS_POINTER(name) __typeof__(&name) name;

/*
 * The library's entry points; filled once per process. The library is never unloaded: drivers
 * do not expect that.
 */
struct opencl_calls {
	CALLS(CALLS_POINTER)
	bool ready;
	char why[256];		/* the reason if it is not ready */
};
extern struct opencl_calls cl;

/*
 * CALL: calls a function that returns a code. MAKE: calls a function that returns an object
 * and stores a code through its last argument. The fault layer may make both fail.
 */
#define CALL(op, name, ...) (fault_cl(op) ?: cl.name(__VA_ARGS__))
#define MAKE(op, code, name, ...) ((*(code) = fault_cl(op)) ? NULL : cl.name(__VA_ARGS__, code))

#define COMMANDS 256	/* the most commands under way */

/* A command that was given to a queue and not yet collected (opencl_queue.c). */
struct command {
	cl_event event;
	const char *name;	/* lives as long as the device */
	u64 value;		/* bytes, or work-groups of a kernel */
	u32 queue;
	bool kernel;
	bool moves;		/* a transfer ... */
	enum traffic traffic;	/* ... of this kind of bytes */
};

#define QUEUE_AFTER 4u

struct queue {
	cl_command_queue queue;	/* NULL: not made yet */
	cl_event after[QUEUE_AFTER];	/* events that the next command waits for */
	u32 n_after;
	cl_event last;		/* not in queue 0: the last command since the fork; NULL: none */
};

struct opencl_kernel {
	char name[80];
	cl_kernel kernel;
	u64 local;		/* bytes of local memory, without those of arguments */
	u64 widest;		/* work-items of the largest grid that it was warmed up with */
};

struct opencl_program {
	const struct kernel_source *source;
	cl_program program;
	struct opencl_kernel *kernel;
	u32 n_kernels;
};

struct opencl {
	struct device device;
	cl_device_id id;
	bool divided;		/* it is a division of a device */
	cl_context context;
	/*
	 * A small buffer of zeros, used in place of every buffer when kernels are warmed
	 * up. Not counted in the budget.
	 */
	cl_mem nothing;
	/* MILL_RACE_CHECK: kernels for oclgrind (dialect.h), and all commands in queue 0. */
	bool race_check;
	bool count_lanes;

	struct queue *queue;	/* device.n_queues + 1 */
	cl_event *joined;	/* room for as many events */
	bool busy;		/* queue 0 may have commands under way */
	bool forked;
	cl_event fork;		/* a marker in queue 0; NULL: queue 0 was idle at the fork */
	struct command command[COMMANDS];
	u32 n_commands;
	bool profiling;		/* commands have times */
	bool tracing;		/* the times go to the trace ... */
	u32 tracks;		/* ... in the tracks from this number on */
	f64 clock;		/* seconds: host's clock minus device's clock */

	struct opencl_program **program;
	u32 n_programs, room;
};

/* The events that a command must wait for, as two arguments of a call. */
#define AFTER(o, number) \
	(o)->queue[number].n_after, (o)->queue[number].n_after ? (o)->queue[number].after : NULL

static inline struct opencl *opencl_of(struct device *d) { return (struct opencl *)d; }

mill_err fail_cl(cl_int code, const char *what);

/* ---- opencl_queue.c ---- */

mill_err opencl_queues(struct opencl *o);
void opencl_queues_release(struct opencl *o);
/* Finds the queue for a command. Makes it if it is not there, and lets it wait for the fork. */
mill_err opencl_enter(struct opencl *o, u32 queue, cl_command_queue *out);
/*
 * Records a command that was just given to its queue, with AFTER, and takes its event over.
 * ended: the call waited for the command, and so for all earlier commands of queue 0.
 */
mill_err opencl_issued(struct opencl *o, struct command c, bool ended);
/*
 * Waits for all commands of all queues. Ignores whether they failed, and does not end a
 * fork.
 */
void opencl_settle(struct opencl *o);
/* Waits for all commands, ends a fork, and returns the first failure of a command. */
mill_err opencl_finish(struct opencl *o);
mill_err opencl_send(struct device *d, struct buffer *b, u64 at, const void *from, u64 size,
		     u32 queue, struct ticket *out);
mill_err opencl_wait(struct device *d, struct ticket *t);
mill_err opencl_fork(struct device *d);
mill_err opencl_join(struct device *d);
void opencl_after(struct device *d, u32 queue, const struct ticket *t);
void opencl_mark(struct device *d, u32 queue, struct ticket *out);
void opencl_drain(struct device *d);

/* ---- opencl_program.c ---- */

mill_err opencl_prepare(struct device *d, const struct kernel_source *source);
mill_err opencl_launch(struct device *d, const struct launch *l);
void opencl_programs_release(struct opencl *o);

/* ---- opencl.c ---- */

mill_err opencl_buffer(struct device *d, struct buffer *b, u64 size, const char *what);
void opencl_buffer_free(struct device *d, struct buffer *b);
mill_err opencl_write(struct device *d, struct buffer *b, u64 at, const void *from, u64 size);

#endif
