/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel programs of an OpenCL device: built once per device object from embedded text,
 * warmed up, launched. Binaries are not kept on disk: PoCL and the drivers of vendors have
 * caches of their own.
 *
 * To warm up a kernel means to launch it once without work, on a grid as wide as any that
 * follows, while no other command is under way. PoCL 3.1 compiles a kernel again for wider
 * grids, and its count of users goes wrong if launches are under way then (see warm_up).
 */
#include "device/device.h"

#if MILL_VID_BITS == 32

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/opencl.h"

#define PIECES 16
/*
 * Work-items of the first grid on a CPU. PoCL compiles a kernel for grids up to 65,535, and
 * again for larger ones; the second form serves both.
 */
#define WARM_ITEMS 65537u

/* ---- Building ---- */

static mill_err fail_build(struct opencl *o, cl_program program, const char *name, cl_int code)
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
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return fail(MILL_EDEVICE,
		    "the device cannot build the kernels of '%s' (OpenCL error %d): %s", name, code,
		    log);
}

/*
 * With MILL_KERNEL_DUMP=DIR, writes the text as the compiler sees it to DIR/NAME.cl, for
 * checks by other compilers. A file that cannot be written is no error.
 */
static void dump(const struct opencl *o, const struct kernel_source *source,
		 const char *const *piece)
{
	const char *folder = getenv("MILL_KERNEL_DUMP");
	char path[4096];
	FILE *f;
	int n;

	if (!folder)
		return;
	n = snprintf(path, sizeof(path), "%s/", folder);
	if (n < 0 || (size_t)n + strlen(source->name) + 4 > sizeof(path))
		return;
	for (const char *c = source->name; *c; c++)
		path[n++] = *c == ' ' || *c == '/' ? '_' : *c;
	snprintf(path + n, sizeof(path) - (size_t)n, ".cl");
	f = fopen(path, "we");
	if (!f)
		return;
	fprintf(f, "#define GROUP %u\n#define CHUNKED %d\n#define LANES %d\n", o->device.group,
		o->device.chunked, o->count_lanes);
	for (u32 i = 0; i < source->n_pieces; i++)
		fputs(piece[i], f);
	fclose(f);
}

static mill_err build(struct opencl *o, struct opencl_program *p)
{
	const struct kernel_source *source = p->source;
	const char *piece[PIECES];
	char options[160];
	cl_int code;

	assert(source->n_pieces <= PIECES);
	for (u32 i = 0; i < source->n_pieces; i++) {
		const char *text = text_find(source->piece[i]);

		piece[i] = text ? text : source->piece[i];
	}
	dump(o, source, piece);
	snprintf(options, sizeof(options),
		 "-cl-std=CL1.2 -cl-kernel-arg-info -DGROUP=%u -DCHUNKED=%d -DLANES=%d%s",
		 o->device.group, o->device.chunked, o->count_lanes,
		 o->race_check ? " -DRACE_CHECK=1" : "");
	p->program = MAKE(FAULT_CL_BUILD, &code, clCreateProgramWithSource, o->context,
			  source->n_pieces, piece, NULL);
	if (code != CL_SUCCESS)
		return fail_cl(code, "making a program");
	code = CALL(FAULT_CL_BUILD, clBuildProgram, p->program, 1, &o->id, options, NULL, NULL);
	return code == CL_SUCCESS ? MILL_OK : fail_build(o, p->program, source->name, code);
}

/*
 * Gets the kernel's name and local memory. Fails if the device's work-groups are too large
 * for it.
 */
static mill_err look_at_kernel(struct opencl *o, struct opencl_kernel *k)
{
	cl_ulong local = 0;
	size_t most = 0;
	cl_int code = cl.clGetKernelInfo(k->kernel, CL_KERNEL_FUNCTION_NAME, sizeof(k->name),
					 k->name, NULL);

	if (code == CL_SUCCESS)
		code = cl.clGetKernelWorkGroupInfo(k->kernel, o->id, CL_KERNEL_WORK_GROUP_SIZE,
						   sizeof(most), &most, NULL);
	if (code == CL_SUCCESS)
		code = cl.clGetKernelWorkGroupInfo(k->kernel, o->id, CL_KERNEL_LOCAL_MEM_SIZE,
						   sizeof(local), &local, NULL);
	if (code != CL_SUCCESS)
		return fail_cl(code, "looking at a kernel");
	k->local = local;
	if (most < o->device.group)
		return fail(
			MILL_EDEVICE,
			"the device runs %s in work-groups of at most %zu work-items, not %u: "
			"use --group-size",
			k->name, most, o->device.group);
	return MILL_OK;
}

static mill_err make_kernels(struct opencl *o, struct opencl_program *p)
{
	cl_kernel *made = NULL;
	cl_uint n = 0;
	cl_int code = CALL(FAULT_CL_BUILD, clCreateKernelsInProgram, p->program, 0, NULL, &n);
	mill_err err;

	if (code != CL_SUCCESS)
		return fail_cl(code, "making kernels");
	TRY(memory_new(&p->kernel, NULL, n, sizeof(*p->kernel), "kernels"));
	TRY(memory_new(&made, NULL, n, sizeof(*made), "kernels"));
	code = CALL(FAULT_CL_BUILD, clCreateKernelsInProgram, p->program, n, made, NULL);
	err = code == CL_SUCCESS ? MILL_OK : fail_cl(code, "making kernels");
	for (u32 i = 0; i < n && !err; i++)
		p->kernel[p->n_kernels++].kernel = made[i];	/* release() frees it */
	memory_free(made);
	for (u32 i = 0; i < n && !err; i++)
		err = look_at_kernel(o, &p->kernel[i]);
	return err;
}

/* ---- Warming up ---- */

/*
 * Sets argument i to a value that means no work: zeros, a small buffer of zeros, or local
 * memory. Returns false if the kind of the argument is unknown.
 */
static bool set_nothing(const struct opencl *o, const struct opencl_kernel *k, cl_uint i)
{
	static const size_t size[] = { 4, 8, 1, 2, 16 };
	cl_kernel_arg_address_qualifier where = 0;
	u64 zero[2] = { 0 };

	if (cl.clGetKernelArgInfo(k->kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(where),
				  &where, NULL) != CL_SUCCESS)
		return false;
	if (where == CL_KERNEL_ARG_ADDRESS_GLOBAL || where == CL_KERNEL_ARG_ADDRESS_CONSTANT)
		return cl.clSetKernelArg(k->kernel, i, sizeof(o->nothing), &o->nothing) ==
		       CL_SUCCESS;
	if (where == CL_KERNEL_ARG_ADDRESS_LOCAL)
		return cl.clSetKernelArg(k->kernel, i, 16 * (size_t)o->device.group, NULL) ==
		       CL_SUCCESS;
	/* A scalar. The driver refuses a wrong size, so all sizes are tried. */
	for (u32 s = 0; s < ARRAY_LEN(size); s++)
		if (cl.clSetKernelArg(k->kernel, i, size[s], zero) == CL_SUCCESS)
			return true;
	return false;
}

/* Returns the bytes of local memory that launch_nothing needs. */
static u64 local_of_nothing(const struct opencl *o, const struct opencl_kernel *k, cl_uint n_args)
{
	cl_kernel_arg_address_qualifier where;
	u64 bytes = k->local;

	for (cl_uint i = 0; i < n_args; i++)
		if (cl.clGetKernelArgInfo(k->kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
					  sizeof(where), &where, NULL) == CL_SUCCESS &&
		    where == CL_KERNEL_ARG_ADDRESS_LOCAL)
			bytes += 16 * (u64)o->device.group;
	return bytes;
}

/* Launches a kernel with all counts 0: kernels then return at once. */
static mill_err launch_nothing(struct opencl *o, const struct opencl_kernel *k, size_t global)
{
	size_t local = o->device.group;
	cl_command_queue queue = NULL;
	cl_uint n_args = 0;
	cl_int code;

	if (cl.clGetKernelInfo(k->kernel, CL_KERNEL_NUM_ARGS, sizeof(n_args), &n_args, NULL) !=
		    CL_SUCCESS ||
	    local_of_nothing(o, k, n_args) > o->device.local)
		return MILL_OK;
	for (cl_uint i = 0; i < n_args; i++)
		if (!set_nothing(o, k, i))
			return MILL_OK;
	TRY(opencl_enter(o, 0, &queue));
	code = CALL(FAULT_CL_LAUNCH, clEnqueueNDRangeKernel, queue, k->kernel, 1, NULL, &global,
		    &local, 0, NULL, NULL);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, k->name);
}

/*
 * Lets the driver compile the kernel for a grid of `global` work-items now, by a launch
 * without work. Nothing else may be under way, because of PoCL 3.1. It makes an entry for
 * every grid of a kernel that is wider than all before. After each launch it takes one user
 * off the kernel's newest entry, even if the launch used another. An entry that is made
 * while launches of narrower grids are under way loses users that it never had, and an
 * assertion ends the process.
 */
static mill_err warm_up(struct opencl *o, struct opencl_kernel *k, u64 global)
{
	opencl_settle(o);
	k->widest = global;
	TRY(launch_nothing(o, k, global));
	opencl_settle(o);
	return MILL_OK;
}

static mill_err warm_all(struct opencl *o, struct opencl_program *p)
{
	u64 group = o->device.group,
	    global = o->device.chunked ? div_up(WARM_ITEMS, group) * group : group;

	/* Not for oclgrind: it interprets kernels, so a warm-up would only cost time. */
	for (u32 i = 0; i < p->n_kernels && !o->race_check; i++)
		TRY(warm_up(o, &p->kernel[i], global));
	return MILL_OK;
}

/* ---- Programs ---- */

static void release(struct opencl_program *p)
{
	for (u32 i = 0; i < p->n_kernels; i++)
		cl.clReleaseKernel(p->kernel[i].kernel);
	if (p->program)
		cl.clReleaseProgram(p->program);
	memory_free(p->kernel);
	memory_free(p);
}

void opencl_programs_release(struct opencl *o)
{
	for (u32 i = 0; i < o->n_programs; i++)
		release(o->program[i]);
	memory_free(o->program);
}

static mill_err make_room(struct opencl *o)
{
	u32 room = o->room ? 2 * o->room : 16;
	struct opencl_program **more;

	if (o->n_programs < o->room)
		return MILL_OK;
	TRY(memory_new(&more, NULL, room, sizeof(*more), "programs"));
	if (o->n_programs)
		memcpy(more, o->program, o->n_programs * sizeof(*more));
	memory_free(o->program);
	o->program = more;
	o->room = room;
	return MILL_OK;
}

static mill_err find_program(struct opencl *o, const struct kernel_source *source,
			     struct opencl_program **out)
{
	struct opencl_program *p;
	u64 before, after;
	mill_err err;

	for (u32 i = 0; i < o->n_programs; i++)
		if (o->program[i]->source == source) {
			*out = o->program[i];
			return MILL_OK;
		}
	before = memory_rss();
	TRY(make_room(o));
	TRY(memory_new(&p, NULL, 1, sizeof(*p), "a program"));
	p->source = source;
	err = build(o, p);
	if (!err)
		err = make_kernels(o, p);
	if (!err)
		err = warm_all(o, p);
	if (err) {
		release(p);
		return err;
	}
	o->program[o->n_programs++] = p;
	after = memory_rss();
	o->device.driver += after > before ? after - before : 0;
	*out = p;
	return MILL_OK;
}

mill_err opencl_prepare(struct device *d, const struct kernel_source *source)
{
	struct opencl_program *p;

	return find_program(opencl_of(d), source, &p);
}

/* ---- Launching ---- */

static mill_err find_kernel(struct opencl *o, const struct launch *l, struct opencl_kernel **out)
{
	struct opencl_program *p = NULL;

	TRY(find_program(o, l->source, &p));
	for (u32 i = 0; i < p->n_kernels; i++)
		if (!strcmp(p->kernel[i].name, l->entry)) {
			*out = &p->kernel[i];
			return MILL_OK;
		}
	return fail(MILL_EDEVICE, "the device has no kernel %s in '%s'", l->entry, l->source->name);
}

/* Sets the arguments. Fails if local memory is too small: PoCL would end the process. */
static mill_err set_args(struct opencl *o, const struct opencl_kernel *k, const struct launch *l)
{
	u64 local = k->local;

	for (u32 i = 0; i < l->n_args; i++) {
		const struct launch_arg *a = &l->arg[i];
		cl_mem mem = a->buffer ? a->buffer->handle : NULL;
		cl_int code;

		if (!a->buffer && !a->value)
			local += a->size;
		if (!a->buffer && a->size)	/* a scalar, or local memory */
			code = cl.clSetKernelArg(k->kernel, i, a->size, a->value);
		else
			code = cl.clSetKernelArg(k->kernel, i, sizeof(mem), mem ? &mem : NULL);
		if (code != CL_SUCCESS)
			return fail_cl(code, k->name);
	}
	if (local > o->device.local)
		return fail(MILL_EDEVICE,
			    "%s needs %llu bytes of local memory, the device has %llu", k->name,
			    (unsigned long long)local, (unsigned long long)o->device.local);
	return MILL_OK;
}

mill_err opencl_launch(struct device *d, const struct launch *l)
{
	size_t local = d->group, global = (size_t)l->n_groups * d->group;
	struct opencl *o = opencl_of(d);
	struct command c = { .value = l->n_groups,
			     .queue = o->race_check ? 0 : l->queue,
			     .kernel = true };
	struct opencl_kernel *k = NULL;
	cl_command_queue queue = NULL;
	cl_int code;

	TRY(find_kernel(o, l, &k));
	if (d->chunked && !o->race_check && global > k->widest)
		TRY(warm_up(o, k, 2 * global));	/* twice, so that few warm-ups follow */
	TRY(set_args(o, k, l));
	TRY(opencl_enter(o, c.queue, &queue));
	code = CALL(FAULT_CL_LAUNCH, clEnqueueNDRangeKernel, queue, k->kernel, 1, NULL, &global,
		    &local, AFTER(o, c.queue), &c.event);
	if (code != CL_SUCCESS)
		return fail_cl(code, k->name);
	c.name = k->name;
	TRY(opencl_issued(o, c, false));
	if (!c.queue)
		return MILL_OK;	/* the next command that waits flushes queue 0 */
	code = CALL(FAULT_CL_FINISH, clFlush, queue);
	return code == CL_SUCCESS ? MILL_OK : fail_cl(code, k->name);
}

#endif
