/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, opens and closes OpenCL devices, and makes their buffers. The library is loaded
 * when a device is asked for, so that runs on the CPU need no OpenCL.
 */
#define _GNU_SOURCE	/* RTLD_DEFAULT */
#include "device/device.h"

#if MILL_VID_BITS == 32

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace.h"
#include "device/opencl.h"

#define DEVICES 64
#define QUEUES 32
/*
 * Work-items of a work-group. On a CPU they are the iterations of a loop, and a small
 * number lets the compiler keep them in vector registers. Elsewhere it is a multiple of a
 * warp.
 */
#define GROUP_CPU 8u
#define GROUP_OTHER 64u

struct opencl_calls cl;
static pthread_once_t cl_once = PTHREAD_ONCE_INIT;

static void load_library(void)
{
	/* Prefers a library that is already in the process: oclgrind preloads its own. */
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

mill_err fail_cl(cl_int code, const char *what)
{
	if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY)
		return fail(MILL_EDEVICE, "the device has no memory left for %s (OpenCL error %d)",
			    what, code);
	return fail(MILL_EDEVICE, "the device failed: %s (OpenCL error %d)", what, code);
}

/*
 * Finds all devices of all platforms, in the drivers' order. Returns their number, at most
 * n.
 */
static u32 find_devices(cl_device_id *out, u32 n)
{
	cl_platform_id platform[16];
	cl_uint n_platforms = 0, have = 0;

	pthread_once(&cl_once, load_library);
	if (!cl.ready || CALL(FAULT_CL_OPEN, clGetPlatformIDs, ARRAY_LEN(platform), platform,
			      &n_platforms) != CL_SUCCESS)
		return 0;
	for (cl_uint i = 0; i < n_platforms && i < ARRAY_LEN(platform) && have < n; i++) {
		cl_uint more = 0;

		if (CALL(FAULT_CL_OPEN, clGetDeviceIDs, platform[i], CL_DEVICE_TYPE_ALL, n - have,
			 out + have, &more) == CL_SUCCESS)
			have += more < n - have ? more : n - have;
	}
	return have;
}

static u64 info_u64(cl_device_id id, cl_device_info what)
{
	cl_ulong value = 0;

	cl.clGetDeviceInfo(id, what, sizeof(value), &value, NULL);
	return value;
}

/* ---- Buffers ---- */

/*
 * On a CPU, buffers from this size on use our own memory (CL_MEM_USE_HOST_PTR), because
 * ours is on huge pages. Neighbours lie anywhere, and most of the time of a pull or a
 * gather is address translation.
 */
#define BACKED_FROM (2 * MIB)

mill_err opencl_buffer(struct device *d, struct buffer *b, u64 size, const char *what)
{
	u64 used = __atomic_load_n(&d->memory->used, __ATOMIC_RELAXED);
	u64 room = max_u64(size, 8);	/* OpenCL has no empty buffers */
	void *backing = NULL;
	cl_int code;
	cl_mem mem;

	if (room > d->memory->limit || used > d->memory->limit - room)
		return fail(MILL_ENOMEM,
			    "no room for %s: this needs %llu bytes of device memory, the budget "
			    "leaves %llu",
			    what, (unsigned long long)room,
			    (unsigned long long)(d->memory->limit - used));
	if (room > d->largest)
		return fail(MILL_EDEVICE,
			    "no room for %s: this needs %llu bytes in one buffer, the device "
			    "allows %llu",
			    what, (unsigned long long)room, (unsigned long long)d->largest);
	if (d->chunked && room >= BACKED_FROM)
		TRY(memory_new(&backing, NULL, room, 1, what));
	mem = MAKE(FAULT_CL_ALLOC, &code, clCreateBuffer, opencl_of(d)->context,
		   CL_MEM_READ_WRITE | (backing ? CL_MEM_USE_HOST_PTR : 0), room, backing);
	if (code != CL_SUCCESS) {
		memory_free(backing);
		return fail_cl(code, what);
	}
	d->memory->used = used + room;
	d->memory->peak = max_u64(d->memory->peak, d->memory->used);
	*b = (struct buffer){ .owner = d, .size = size, .handle = mem, .backing = backing };
	return MILL_OK;
}

void opencl_buffer_free(struct device *d, struct buffer *b)
{
	if (b->backing)
		opencl_drain(d);
	cl.clReleaseMemObject(b->handle);	/* commands under way keep the object ... */
	memory_free(b->backing);		/* ... but not this: hence the drain */
	d->memory->used -= max_u64(b->size, 8);
}

static mill_err read_bytes(struct device *d, const struct buffer *b, u64 at, void *to, u64 size)
{
	struct command c = {
		.name = "from device", .value = size, .moves = true, .traffic = b->kind
	};
	struct opencl *o = opencl_of(d);
	cl_int code = CALL(FAULT_CL_READ, clEnqueueReadBuffer, o->queue[0].queue, b->handle,
			   CL_TRUE, at, size, to, 0, NULL, &c.event);

	return code == CL_SUCCESS ? opencl_issued(o, c, true) :
				    fail_cl(code, "a transfer from the device");
}

/*
 * Sends the whole buffer, with copies of the pattern in [at, at + n). For oclgrind, which
 * thinks that all bytes outside a buffer's last transfer are uninitialised, and does not see
 * fills at all.
 */
static mill_err write_whole(struct device *d, struct buffer *b, u64 at, const void *pattern,
			    u64 size, u64 n)
{
	char *all;
	mill_err err;

	TRY(memory_new(&all, NULL, b->size, 1, "a checked transfer"));
	err = at || n < b->size ? read_bytes(d, b, 0, all, b->size) : MILL_OK;
	for (u64 i = 0; i < n; i += size)
		memcpy(all + at + i, pattern, size);
	if (!err)
		err = opencl_write(d, b, 0, all, b->size);
	memory_free(all);
	return err;
}

mill_err opencl_write(struct device *d, struct buffer *b, u64 at, const void *from, u64 size)
{
	struct command c = {
		.name = "to device", .value = size, .moves = true, .traffic = b->kind
	};
	struct opencl *o = opencl_of(d);
	cl_int code;

	if (o->race_check && size < b->size)
		return write_whole(d, b, at, from, size, size);
	code = CALL(FAULT_CL_WRITE, clEnqueueWriteBuffer, o->queue[0].queue, b->handle, CL_TRUE, at,
		    size, from, 0, NULL, &c.event);
	return code == CL_SUCCESS ? opencl_issued(o, c, true) :
				    fail_cl(code, "a transfer to the device");
}

static mill_err fill(struct device *d, struct buffer *b, const void *pattern, size_t size)
{
	struct command c = { .name = "fill", .value = b->size };
	struct opencl *o = opencl_of(d);
	cl_int code;

	if (o->race_check)
		return write_whole(d, b, 0, pattern, size, b->size);
	code = CALL(FAULT_CL_FILL, clEnqueueFillBuffer, o->queue[0].queue, b->handle, pattern, size,
		    0, b->size, 0, NULL, &c.event);
	return code == CL_SUCCESS ? opencl_issued(o, c, false) : fail_cl(code, "a fill");
}

/* ---- Opening, closing, listing ---- */

static void opencl_close(struct device *d)
{
	struct opencl *o = opencl_of(d);

	opencl_queues_release(o);	/* first: it waits for commands that use the rest */
	opencl_programs_release(o);
	if (o->nothing)
		cl.clReleaseMemObject(o->nothing);
	if (o->context)
		cl.clReleaseContext(o->context);
	/*
	 * A division of a device is not released: PoCL 3.1 would free it while a thread of
	 * PoCL may still release an event of it.
	 */
	memory_free(o);
}

static const struct device_ops opencl_ops = {
	.close = opencl_close,
	.buffer_new = opencl_buffer,
	.buffer_free = opencl_buffer_free,
	.write = opencl_write,
	.read = read_bytes,
	.fill = fill,
	.prepare = opencl_prepare,
	.launch = opencl_launch,
	.send = opencl_send,
	.wait = opencl_wait,
	.fork = opencl_fork,
	.join = opencl_join,
	.after = opencl_after,
	.mark = opencl_mark,
	.drain = opencl_drain,
};

/*
 * Sets the work-items of a group: `asked`, or if that is 0 the default, halved until the
 * device allows it. Fails with MILL_EDEVICE if the device does not allow `asked`.
 */
static mill_err choose_group(struct opencl *o, u32 asked)
{
	size_t most = 1, item[16] = { 0 };
	u32 group = o->device.chunked ? GROUP_CPU : GROUP_OTHER;

	cl.clGetDeviceInfo(o->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(most), &most, NULL);
	cl.clGetDeviceInfo(o->id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(item), item, NULL);
	if (item[0] && item[0] < most)
		most = item[0];
	if (asked > most)
		return fail(MILL_EDEVICE,
			    "a work-group of %u work-items is too large: the device allows %zu",
			    asked, most);
	while (group > most && group > 1)
		group /= 2;
	o->device.group = asked ? asked : group;
	return MILL_OK;
}

/* Without a budget in `how`, the budget is 90 % of the device's memory, divided by `shares`. */
static mill_err set_up(struct opencl *o, const struct device_how *how, u64 shares)
{
	struct device *d = &o->device;
	u64 zeros[8] = { 0 };
	cl_int code;

	d->n_queues = (u32)min_u64(how->queues ? how->queues : QUEUES, TRACE_QUEUES - 1);
	d->chunked = info_u64(o->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
	d->largest = info_u64(o->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
	d->local = info_u64(o->id, CL_DEVICE_LOCAL_MEM_SIZE);
	o->race_check = getenv("MILL_RACE_CHECK");
	o->count_lanes = how->count_lanes;
	o->profiling = true;	/* the report has the time of transfers */
	o->tracing = trace_current;
	o->tracks = TRACE_QUEUE + 2 * TRACE_QUEUES * how->place;
	budget_init(&d->own, how->memory ?
				     how->memory :
				     info_u64(o->id, CL_DEVICE_GLOBAL_MEM_SIZE) / 10 * 9 / shares);
	TRY(choose_group(o, how->group));
	o->context = MAKE(FAULT_CL_OPEN, &code, clCreateContext, NULL, 1, &o->id, NULL, NULL);
	if (code == CL_SUCCESS)
		o->nothing = MAKE(FAULT_CL_OPEN, &code, clCreateBuffer, o->context,
				  CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(zeros), zeros);
	if (code != CL_SUCCESS)
		return fail_cl(code, "opening the device");
	return opencl_queues(o);
}

static mill_err find_some(cl_device_id *out, u32 *n)
{
	*n = find_devices(out, DEVICES);
	if (!cl.ready || !*n)
		return fail(MILL_EDEVICE,
			    "OpenCL is not there (%s): install a driver, or use --device cpu",
			    cl.ready ? "it has no device" : cl.why);
	return MILL_OK;
}

static mill_err find_device(cl_device_id *out, u32 number)
{
	cl_device_id id[DEVICES];
	u32 n = 0;

	TRY(find_some(id, &n));
	if (number >= n)
		return fail(MILL_EDEVICE,
			    "there is no OpenCL device %u, only %u: see millrace list devices",
			    number, n);
	*out = id[number];
	return MILL_OK;
}

mill_err opencl_count(u32 *out)
{
	cl_device_id id[DEVICES];

	return find_some(id, out);
}

/* ---- Divisions of devices ---- */

/* Returns the most equal divisions that the device allows; 0: it cannot be divided. */
static u32 most_divisions(cl_device_id id)
{
	cl_device_partition_property way[16] = { 0 };
	u64 most = min_u64(info_u64(id, CL_DEVICE_PARTITION_MAX_SUB_DEVICES),
			   info_u64(id, CL_DEVICE_MAX_COMPUTE_UNITS));

	cl.clGetDeviceInfo(id, CL_DEVICE_PARTITION_PROPERTIES, sizeof(way), way, NULL);
	for (u32 i = 0; i < ARRAY_LEN(way) && way[i] && most > 1; i++)
		if (way[i] == CL_DEVICE_PARTITION_EQUALLY)
			return (u32)most;
	return 0;
}

static mill_err check_divisions(cl_device_id id, u32 number, u32 divisions)
{
	u32 units = (u32)info_u64(id, CL_DEVICE_MAX_COMPUTE_UNITS), most = most_divisions(id);

	if (!most)
		return fail(MILL_EDEVICE, "OpenCL device %u cannot be divided: use opencl:%u",
			    number, number);
	if (divisions > most || units % divisions)
		return fail(
			MILL_EDEVICE,
			"OpenCL device %u has %u compute units and cannot be divided into %u "
			"equal parts: use a divisor of that number of units, at most %u",
			number, units, divisions, most);
	return MILL_OK;
}

mill_err opencl_divides(u32 number, u32 divisions)
{
	cl_device_id id = NULL;

	TRY(find_device(&id, number));
	return check_divisions(id, number, divisions);
}

/*
 * Divides a device, keeps one division and releases the others at once, so that device
 * objects know nothing of each other. On PoCL division I has the same compute units each
 * time, so different divisions share none (measured: two run in the time of one).
 */
static mill_err divide(struct opencl *o, cl_device_id whole, u32 number, u32 divisions,
		       u32 division)
{
	cl_device_partition_property way[3] = { CL_DEVICE_PARTITION_EQUALLY };
	cl_device_id *made = NULL;
	cl_uint n = 0;
	cl_int code;

	TRY(check_divisions(whole, number, divisions));
	way[1] = (cl_device_partition_property)(info_u64(whole, CL_DEVICE_MAX_COMPUTE_UNITS) /
						divisions);
	TRY(memory_new(&made, NULL, divisions, sizeof(*made), "the divisions of a device"));
	code = CALL(FAULT_CL_OPEN, clCreateSubDevices, whole, way, divisions, made, &n);
	for (cl_uint i = 0; code == CL_SUCCESS && i < n; i++) {
		if (i == division) {
			o->id = made[i];
			o->divided = true;
		} else {
			cl.clReleaseDevice(made[i]);
		}
	}
	memory_free(made);
	if (code != CL_SUCCESS || !o->divided)
		return fail_cl(code ? code : CL_DEVICE_PARTITION_FAILED, "dividing the device");
	return MILL_OK;
}

mill_err opencl_open(struct device **out, u32 number, u32 divisions, u32 division,
		     const struct device_how *how)
{
	u64 before = memory_rss(), after;
	cl_device_id whole = NULL;
	struct opencl *o;
	mill_err err;

	TRY(find_device(&whole, number));
	TRY(memory_new(&o, NULL, 1, sizeof(*o), "the OpenCL device"));
	o->device.ops = &opencl_ops;
	o->device.memory = &o->device.own;
	o->id = whole;
	err = divisions ? divide(o, whole, number, divisions, division) : MILL_OK;
	if (!err)
		err = set_up(o, how, max_u64(divisions, 1));
	if (err) {
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
		char version[128] = "", driver[64] = "";

		out[i] = (struct mill_device){
			.memory = info_u64(id[i], CL_DEVICE_GLOBAL_MEM_SIZE),
			.units = (u32)info_u64(id[i], CL_DEVICE_MAX_COMPUTE_UNITS),
			.parts = most_divisions(id[i]),
		};
		snprintf(out[i].name, sizeof(out[i].name), "opencl:%u", i);
		cl.clGetDeviceInfo(id[i], CL_DEVICE_NAME, sizeof(out[i].model) - 1, out[i].model,
				   NULL);
		cl.clGetDeviceInfo(id[i], CL_DEVICE_VERSION, sizeof(version) - 1, version, NULL);
		cl.clGetDeviceInfo(id[i], CL_DRIVER_VERSION, sizeof(driver) - 1, driver, NULL);
		snprintf(out[i].driver, sizeof(out[i].driver), "%s, driver %s", version, driver);
	}
	return have;
}

#else /* the narrow test build: kernels support only 32-bit vertices */

static mill_err fail_narrow(void)
{
	return fail(MILL_EDEVICE,
		    "this build has narrow vertex numbers, which OpenCL kernels do not support");
}

mill_err opencl_open(struct device **out, u32 number, u32 divisions, u32 division,
		     const struct device_how *how)
{
	(void)out;
	(void)number;
	(void)divisions;
	(void)division;
	(void)how;
	return fail_narrow();
}

mill_err opencl_count(u32 *out)
{
	(void)out;
	return fail_narrow();
}

mill_err opencl_divides(u32 number, u32 divisions)
{
	(void)number;
	(void)divisions;
	return fail_narrow();
}

size_t opencl_list(struct mill_device *out, size_t n)
{
	(void)out;
	(void)n;
	return 0;
}

#endif
