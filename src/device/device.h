/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: where vertex state lives and programs run. One table of operations per kind; cpu.c
 * is the host itself, opencl.c the only file that calls OpenCL (which it loads when asked for).
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "base/error.h"
#include "base/memory.h"
#include "base/types.h"

struct device;

/*
 * A buffer of device memory. On a native device `host` is the memory itself; elsewhere it is NULL and
 * bytes travel by device_read and device_write.
 */
struct buffer {
	struct device *owner;
	u64 size;
	void *host;
	void *handle;
};

/*
 * The text of a kernel program: pieces in order, each the path of an embedded text (text_find) or itself #define
 * lines. All are string literals: nothing that a user or a store says ever becomes kernel source.
 */
struct kernel_source {
	const char *name;	/* identity in the program cache */
	const char *const *piece;
	u32 n_pieces;
};

struct launch_arg {
	const struct buffer *buffer;	/* or NULL: a scalar */
	const void *value;
	size_t size;
};

struct launch {
	const struct kernel_source *source;
	const char *entry;
	const struct launch_arg *arg;
	u32 n_args;
	u64 n_items;		/* rounded up to the work-group: kernels check their index */
};

struct device_ops {
	void (*close)(struct device *d);
	mill_err (*buffer_new)(struct device *d, struct buffer *b, u64 size, const char *what);
	void (*buffer_free)(struct device *d, struct buffer *b);
	mill_err (*write)(struct device *d, struct buffer *b, u64 at, const void *from, u64 size);
	mill_err (*read)(struct device *d, const struct buffer *b, u64 at, void *to, u64 size);
	mill_err (*fill)(struct device *d, struct buffer *b, const void *pattern, size_t size);
	/* Builds the programs now rather than at their first launch. Absent on a native device. */
	mill_err (*prepare)(struct device *d, const struct kernel_source *source);
	/* In order after everything given to the device before. Absent on a native device. */
	mill_err (*launch)(struct device *d, const struct launch *l);
};

struct device {
	const struct device_ops *ops;
	bool native;		/* programs run as host code on the run's threads */
	struct budget *memory;	/* what buffers count against */
	struct budget own;	/* ... unless it is the host's */
	u64 to_device, from_device;	/* bytes moved */
	u64 driver;		/* resident bytes that opening the driver cost */
};

/* name: "cpu", "opencl", "opencl:N". memory: the device's budget, 0 for 90 % of what it has. */
mill_err device_open(struct device **out, const char *name, struct budget *host, u64 memory);
void device_close(struct device *d);

mill_err device_buffer(struct device *d, struct buffer *b, u64 size, const char *what);
void device_buffer_free(struct buffer *b);	/* a zeroed struct is fine */
mill_err device_write(struct buffer *b, u64 at, const void *from, u64 size);
mill_err device_read(const struct buffer *b, u64 at, void *to, u64 size);
/* Repeats the pattern (1, 2, 4 or 8 bytes) over the whole buffer. */
mill_err device_fill(struct buffer *b, const void *pattern, size_t size);
mill_err device_prepare(struct device *d, const struct kernel_source *source);
mill_err device_launch(struct device *d, const struct launch *l);

/* The text of a file below src/ that was embedded at build time ("op/advance.cl"); NULL if there is none. */
const char *text_find(const char *path);

/* Per kind. */
mill_err cpu_open(struct device **out, struct budget *host);
mill_err opencl_open(struct device **out, unsigned number, u64 memory);
size_t cpu_list(struct mill_device *out, size_t n);
size_t opencl_list(struct mill_device *out, size_t n);

#endif
