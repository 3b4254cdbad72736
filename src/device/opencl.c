/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL devices. The only file with cl* calls; the library is loaded when a device is asked for, so that the CPU path
 * needs no OpenCL. The 1.2 interface, one in-order queue.
 */
#define _GNU_SOURCE	/* RTLD_DEFAULT */
#include "device/device.h"

#if MILL_VID_BITS == 32

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAMS 32
#define KERNELS 64
#define LOCAL_SIZE 8
#define DEVICES 64

#define CALLS(X)                   \
	X(clGetPlatformIDs)        \
	X(clGetDeviceIDs)          \
	X(clGetDeviceInfo)         \
	X(clCreateContext)         \
	X(clReleaseContext)        \
	X(clCreateCommandQueue)    \
	X(clReleaseCommandQueue)   \
	X(clCreateBuffer)          \
	X(clReleaseMemObject)      \
	X(clEnqueueWriteBuffer)    \
	X(clEnqueueReadBuffer)     \
	X(clEnqueueFillBuffer)     \
	X(clCreateProgramWithSource) \
	X(clBuildProgram)          \
	X(clGetProgramBuildInfo)   \
	X(clReleaseProgram)        \
	X(clCreateKernel)          \
	X(clReleaseKernel)         \
	X(clSetKernelArg)          \
	X(clEnqueueNDRangeKernel)  \
	X(clFinish)

#define POINTER(name) __typeof__(&name) name;

/* The library's entry points; filled once per process, never unloaded (drivers do not like that). */
static struct {
	CALLS(POINTER)
	bool ready;
	char why[256];
} cl;
static pthread_once_t cl_once = PTHREAD_ONCE_INIT;

struct program_entry {
	const struct kernel_source *source;
	cl_program program;
};

struct kernel_entry {
	const struct kernel_source *source;
	char entry[80];
	cl_kernel kernel;
};

struct opencl {
	struct device device;
	cl_device_id id;
	cl_context context;
	cl_command_queue queue;
	struct program_entry program[PROGRAMS];
	struct kernel_entry kernel[KERNELS];
	u32 n_programs, n_kernels;
	bool race_check;	/* MILL_RACE_CHECK: kernels for oclgrind, see dialect.h */
};

static void load_library(void)
{
	/* One that is in the process already comes first: oclgrind preloads its own. */
	bool there = dlsym(RTLD_DEFAULT, "clGetPlatformIDs");
	void *lib = there ? RTLD_DEFAULT : dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!there && !lib) {
		snprintf(cl.why, sizeof(cl.why), "%s", dlerror());
		return;
	}
#define LOAD(name)                                                                   \
	*(void **)&cl.name = dlsym(lib, #name);                                      \
	if (!cl.name) {                                                              \
		snprintf(cl.why, sizeof(cl.why), "libOpenCL.so.1 lacks %s", #name);  \
		return;                                                              \
	}
	CALLS(LOAD)
	cl.ready = true;
}

static mill_err fail_cl(cl_int code, const char *what)
{
	if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
	    code == CL_OUT_OF_HOST_MEMORY)
		return fail(MILL_EDEVICE, "the device has no memory left for %s (OpenCL error %d)", what, code);
	return fail(MILL_EDEVICE, "the device failed: %s (OpenCL error %d)", what, code);
}

/* All devices of all platforms, in the drivers' order. */
static u32 find_devices(cl_device_id *out, u32 n)
{
	cl_platform_id platform[16];
	cl_uint n_platforms = 0, have = 0;

	pthread_once(&cl_once, load_library);
	if (!cl.ready || cl.clGetPlatformIDs(ARRAY_LEN(platform), platform, &n_platforms) != CL_SUCCESS)
		return 0;
	for (cl_uint i = 0; i < n_platforms && i < ARRAY_LEN(platform) && have < n; i++) {
		cl_uint more = 0;

		if (cl.clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_ALL, n - have, out + have, &more) == CL_SUCCESS)
			have += more < n - have ? more : n - have;
	}
	return have;
}

static u64 global_memory(cl_device_id id)
{
	cl_ulong bytes = 0;

	cl.clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
	return bytes;
}

/* ---- Buffers ---- */

static struct opencl *self(struct device *d) { return (struct opencl *)d; }

static mill_err buffer_new(struct device *d, struct buffer *b, u64 size, const char *what)
{
	u64 used = __atomic_load_n(&d->memory->used, __ATOMIC_RELAXED);
	u64 room = max_u64(size, 8);	/* OpenCL has no empty buffers */
	cl_int code;
	cl_mem mem;

	if (room > d->memory->limit || used > d->memory->limit - room)
		return fail(MILL_ENOMEM, "%s needs %llu bytes of device memory, the budget leaves %llu", what,
			    (unsigned long long)room, (unsigned long long)(d->memory->limit - used));
	mem = cl.clCreateBuffer(self(d)->context, CL_MEM_READ_WRITE, room, NULL, &code);
	if (code != CL_SUCCESS)
		return fail_cl(code, what);
	d->memory->used = used + room;
	d->memory->peak = max_u64(d->memory->peak, d->memory->used);
	*b = (struct buffer){ .owner = d, .size = size, .handle = mem };
	return MILL_OK;
}

static void buffer_free(struct device *d, struct buffer *b)
{
	cl.clReleaseMemObject(b->handle);
	d->memory->used -= max_u64(b->size, 8);
}

static mill_err read_bytes(struct device *d, const struct buffer *b, u64 at, void *to, u64 size)
{
	cl_int code = cl.clEnqueueReadBuffer(self(d)->queue, b->handle, CL_TRUE, at, size, to, 0, NULL, NULL);

	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "a transfer from it");
}

static mill_err write_bytes(struct device *d, struct buffer *b, u64 at, const void *from, u64 size);

/*
 * For oclgrind, which takes what was not in a buffer's last transfer for uninitialised and does not
 * see fills at all: the whole buffer is sent, with [at, at + n) made of copies of the pattern.
 */
static mill_err write_whole(struct device *d, struct buffer *b, u64 at, const void *pattern, u64 size, u64 n)
{
	char *all;
	mill_err err;

	TRY(memory_new(&all, NULL, b->size, 1, "a checked transfer"));
	err = at || n < b->size ? read_bytes(d, b, 0, all, b->size) : MILL_OK;
	for (u64 i = 0; i < n; i += size)
		memcpy(all + at + i, pattern, size);
	if (!err)
		err = write_bytes(d, b, 0, all, b->size);
	memory_free(all);
	return err;
}

static mill_err write_bytes(struct device *d, struct buffer *b, u64 at, const void *from, u64 size)
{
	cl_int code;

	if (self(d)->race_check && size < b->size)
		return write_whole(d, b, at, from, size, size);
	code = cl.clEnqueueWriteBuffer(self(d)->queue, b->handle, CL_TRUE, at, size, from, 0, NULL, NULL);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "a transfer to it");
}

static mill_err fill(struct device *d, struct buffer *b, const void *pattern, size_t size)
{
	cl_int code;

	if (self(d)->race_check)
		return write_whole(d, b, 0, pattern, size, b->size);
	code = cl.clEnqueueFillBuffer(self(d)->queue, b->handle, pattern, size, 0, b->size, 0, NULL, NULL);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, "a fill");
}

/* ---- Programs ---- */

static mill_err fail_build(struct opencl *o, cl_program program, const char *name)
{
	char log[700] = "";
	char *full = NULL;
	size_t size = 0;

	cl.clGetProgramBuildInfo(program, o->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
	if (size && !memory_new(&full, NULL, size + 1, 1, "a build log")) {
		cl.clGetProgramBuildInfo(program, o->id, CL_PROGRAM_BUILD_LOG, size, full, NULL);
		snprintf(log, sizeof(log), "%s", full);
	}
	memory_free(full);
	for (char *p = log; *p; p++)	/* errors are one line */
		if (*p == '\n')
			*p = ' ';
	return fail(MILL_EDEVICE, "the device cannot build the kernels of '%s': %s", name, log);
}

static mill_err find_program(struct opencl *o, const struct kernel_source *source, cl_program *out)
{
	const char *piece[16];
	cl_program program;
	cl_int code;
	char options[128];

	for (u32 i = 0; i < o->n_programs; i++)
		if (o->program[i].source == source) {
			*out = o->program[i].program;
			return MILL_OK;
		}
	assert(source->n_pieces <= ARRAY_LEN(piece) && o->n_programs < PROGRAMS);
	snprintf(options, sizeof(options), "-cl-std=CL1.2 -DLANES=0 -DGROUP=%u -DCHUNKED=%d%s", o->device.group, o->device.chunked,
		 o->race_check ? " -DRACE_CHECK=1" : "");
	for (u32 i = 0; i < source->n_pieces; i++) {
		const char *text = text_find(source->piece[i]);

		piece[i] = text ? text : source->piece[i];
	}
	program = cl.clCreateProgramWithSource(o->context, source->n_pieces, piece, NULL, &code);
	if (code != CL_SUCCESS)
		return fail_cl(code, "making a program");
	code = cl.clBuildProgram(program, 1, &o->id, options, NULL, NULL);
	if (code != CL_SUCCESS) {
		mill_err err = fail_build(o, program, source->name);

		cl.clReleaseProgram(program);
		return err;
	}
	o->program[o->n_programs++] = (struct program_entry){ source, program };
	*out = program;
	return MILL_OK;
}

static mill_err find_kernel(struct opencl *o, const struct kernel_source *source, const char *entry, cl_kernel *out)
{
	struct kernel_entry *k;
	cl_program program = NULL;
	cl_int code;

	for (u32 i = 0; i < o->n_kernels; i++)
		if (o->kernel[i].source == source && !strcmp(o->kernel[i].entry, entry)) {
			*out = o->kernel[i].kernel;
			return MILL_OK;
		}
	assert(o->n_kernels < KERNELS);
	TRY(find_program(o, source, &program));
	k = &o->kernel[o->n_kernels];
	k->source = source;
	snprintf(k->entry, sizeof(k->entry), "%s", entry);
	k->kernel = cl.clCreateKernel(program, entry, &code);
	if (code != CL_SUCCESS)
		return fail_cl(code, entry);
	o->n_kernels++;
	*out = k->kernel;
	return MILL_OK;
}

static mill_err prepare(struct device *d, const struct kernel_source *source)
{
	cl_program program;

	return find_program(self(d), source, &program);
}

static mill_err launch(struct device *d, const struct launch *l)
{
	size_t local = d->group, global = (size_t)l->n_groups * d->group;
	struct opencl *o = self(d);
	cl_kernel kernel = NULL;
	cl_int code;

	TRY(find_kernel(o, l->source, l->entry, &kernel));
	for (u32 i = 0; i < l->n_args; i++) {
		const struct launch_arg *a = &l->arg[i];
		cl_mem mem = a->buffer ? a->buffer->handle : NULL;

		if (!a->buffer && a->size)	/* a scalar, or local memory */
			code = cl.clSetKernelArg(kernel, i, a->size, a->value);
		else
			code = cl.clSetKernelArg(kernel, i, sizeof(mem), mem ? &mem : NULL);
		if (code != CL_SUCCESS)
			return fail_cl(code, l->entry);
	}
	code = cl.clEnqueueNDRangeKernel(o->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, l->entry);
}

/* ---- Queues ---- */

static mill_err send(struct device *d, struct buffer *b, u64 at, const void *from, u64 size, u32 queue,
		     struct transfer *out)
{
	(void)queue;
	(void)out;
	return write_bytes(d, b, at, from, size);
}

static mill_err wait_for(struct device *d, struct transfer *t)
{
	(void)d;
	(void)t;
	return MILL_OK;
}

static mill_err fork_queues(struct device *d)
{
	(void)d;
	return MILL_OK;
}

static mill_err join_queues(struct device *d)
{
	(void)d;
	return MILL_OK;
}

/* ---- Open, close, list ---- */

static void opencl_close(struct device *d)
{
	struct opencl *o = self(d);

	if (o->queue)
		cl.clFinish(o->queue);
	for (u32 i = 0; i < o->n_kernels; i++)
		cl.clReleaseKernel(o->kernel[i].kernel);
	for (u32 i = 0; i < o->n_programs; i++)
		cl.clReleaseProgram(o->program[i].program);
	if (o->queue)
		cl.clReleaseCommandQueue(o->queue);
	if (o->context)
		cl.clReleaseContext(o->context);
	memory_free(o);
}

static const struct device_ops opencl_ops = {
	.close = opencl_close,
	.buffer_new = buffer_new,
	.buffer_free = buffer_free,
	.write = write_bytes,
	.read = read_bytes,
	.fill = fill,
	.prepare = prepare,
	.launch = launch,
	.send = send,
	.wait = wait_for,
	.fork = fork_queues,
	.join = join_queues,
};

mill_err opencl_open(struct device **out, unsigned number, const struct device_how *how)
{
	u64 before = memory_rss(), after;
	cl_device_id id[DEVICES];
	struct opencl *o;
	cl_int code;
	u32 n = find_devices(id, DEVICES);

	if (!cl.ready)
		return fail(MILL_EDEVICE, "OpenCL is not there (%s): install a driver, or use --device cpu", cl.why);
	if (number >= n)
		return fail(MILL_EDEVICE, "there is no OpenCL device %u, only %u: see millrace list devices", number, n);
	TRY(memory_new(&o, NULL, 1, sizeof(*o), "the OpenCL device"));
	o->device.ops = &opencl_ops;
	o->device.memory = &o->device.own;
	o->id = id[number];
	o->race_check = getenv("MILL_RACE_CHECK");
	o->device.n_queues = how->queues ? how->queues : 32;
	o->device.group = how->group ? how->group : LOCAL_SIZE;
	o->device.chunked = true;
	o->device.largest = global_memory(o->id);
	budget_init(&o->device.own, how->memory ? how->memory : global_memory(o->id) / 10 * 9);
	o->context = cl.clCreateContext(NULL, 1, &o->id, NULL, NULL, &code);
	if (code == CL_SUCCESS)
		o->queue = cl.clCreateCommandQueue(o->context, o->id, 0, &code);
	if (code != CL_SUCCESS) {
		mill_err err = fail_cl(code, "opening it");

		opencl_close(&o->device);
		return err;
	}
	after = memory_rss();
	o->device.driver = after > before ? after - before : 0;
	*out = &o->device;
	return MILL_OK;
}

size_t opencl_list(struct mill_device *out, size_t n)
{
	cl_device_id id[DEVICES];
	u32 have = find_devices(id, DEVICES);

	for (u32 i = 0; i < have && i < n; i++) {
		cl_uint units = 0;

		out[i] = (struct mill_device){ .memory = global_memory(id[i]) };
		snprintf(out[i].name, sizeof(out[i].name), "opencl:%u", i);
		cl.clGetDeviceInfo(id[i], CL_DEVICE_NAME, sizeof(out[i].model) - 1, out[i].model, NULL);
		cl.clGetDeviceInfo(id[i], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
		out[i].units = units;
	}
	return have;
}

#else /* the narrow test build: kernels know only 32-bit vertices */

mill_err opencl_open(struct device **out, unsigned number, const struct device_how *how)
{
	(void)out;
	(void)number;
	(void)how;
	return fail(MILL_EDEVICE, "this build has narrow vertex numbers, which OpenCL kernels do not know");
}

size_t opencl_list(struct mill_device *out, size_t n)
{
	(void)out;
	(void)n;
	return 0;
}

#endif
