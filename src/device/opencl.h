/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the OpenCL device share. opencl*.c are the only ones with cl* calls, of the 1.2 interface; one host thread
 * at a time works with a device.
 *
 *	opencl.c          finding, opening and closing devices; buffers
 *	opencl_program.c  programs: building, warming up, launching
 *	opencl_queue.c    queues, forks and joins; the commands under way and what became of them
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

/* The library's entry points; filled once per process, never unloaded (drivers do not like that). */
struct opencl_calls {
	CALLS(CALLS_POINTER)
	bool ready;
	char why[256];		/* it is not */
};
extern struct opencl_calls cl;

/* The code of a call, which the fault layer may make fail; and of one that makes something and gives the code out last. */
#define CALL(op, name, ...) (fault_cl(op) ?: cl.name(__VA_ARGS__))
#define MAKE(op, code, name, ...) ((*(code) = fault_cl(op)) ? NULL : cl.name(__VA_ARGS__, code))

#define COMMANDS 256	/* under way at most */

/* A command that was given to a queue and not yet looked at since. */
struct command {
	cl_event event;
	const char *name;	/* lives as long as the device */
	u64 value;		/* bytes, or work-groups of a kernel */
	u32 queue;
	bool kernel;
	bool moves;		/* a transfer ... */
	enum traffic traffic;	/* ... of that */
};

#define QUEUE_AFTER 4u

struct queue {
	cl_command_queue queue;	/* NULL: not made yet */
	cl_event after[QUEUE_AFTER];	/* what the next command waits for */
	u32 n_after;
	cl_event last;		/* of queues but 0: the last command since the fork; NULL: none */
};

struct opencl_kernel {
	char name[80];
	cl_kernel kernel;
	u64 local;		/* bytes of local memory, without arguments */
	u64 widest;		/* work-items of the grid that it was warmed up with */
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
	bool divided;		/* it is a part of a device */
	cl_context context;
	cl_mem nothing;		/* zeros, in place of every buffer when kernels are warmed up; counted as the driver's */
	bool race_check;	/* MILL_RACE_CHECK: kernels for oclgrind, see dialect.h; all is in queue 0 */
	bool count_lanes;

	struct queue *queue;	/* device.n_queues + 1 */
	cl_event *joined;	/* so many */
	bool busy;		/* queue 0 may have commands under way */
	bool forked;
	cl_event fork;		/* where queue 0 was; NULL: it had ended all */
	struct command command[COMMANDS];
	u32 n_commands;
	bool profiling;		/* commands have times */
	bool tracing;		/* and somebody wants to see them ... */
	u32 tracks;		/* ... in the tracks from here on */
	f64 clock;		/* what added to the device's clock, in seconds, gives the host's */

	struct opencl_program **program;
	u32 n_programs, room;
};

/* The list of what a command must wait for, as calls take it. */
#define AFTER(o, number) (o)->queue[number].n_after, (o)->queue[number].n_after ? (o)->queue[number].after : NULL

static inline struct opencl *opencl_of(struct device *d) { return (struct opencl *)d; }

mill_err fail_cl(cl_int code, const char *what);

/* ---- opencl_queue.c ---- */

mill_err opencl_queues(struct opencl *o);
void opencl_queues_release(struct opencl *o);
/* The queue for a command: made if it is not there, and behind the fork. */
mill_err opencl_enter(struct opencl *o, u32 queue, cl_command_queue *out);
/*
 * After a command was given to the queue, which waited for what `after` has: takes its event over. ended: the command was waited for, and so all that
 * queue 0 had before it.
 */
mill_err opencl_issued(struct opencl *o, struct command c, bool ended);
/* Waits for all that any queue has; forks stay, and how commands ended is not looked at. */
void opencl_settle(struct opencl *o);
/* Waits for all, ends a fork, and says how commands ended. */
mill_err opencl_finish(struct opencl *o);
mill_err opencl_send(struct device *d, struct buffer *b, u64 at, const void *from, u64 size, u32 queue, struct ticket *out);
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
