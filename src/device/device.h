/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: where vertex state lives and programs run. One table of operations per kind; cpu.c
 * is the host itself, opencl*.c the only files that call OpenCL (which they load when asked for).
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "base/error.h"
#include "base/memory.h"
#include "base/types.h"

struct device;

/* What moves between host and device, by kind. */
enum traffic { TRAFFIC_WRITABLE, TRAFFIC_TOPOLOGY, TRAFFIC_READ_ONLY, TRAFFIC_FLAGS, TRAFFIC_KINDS };

/*
 * A buffer of device memory. On a native device `host` is the memory itself; elsewhere it is NULL and
 * bytes travel by device_read and device_write.
 */
struct buffer {
	struct device *owner;
	u64 size;
	void *host;
	void *handle;
	void *backing;		/* the driver's own: memory of ours that it uses */
	enum traffic kind;	/* what its bytes count as; set by who makes it, else writable state */
};


/*
 * The text of a kernel program: pieces in order, each the path of an embedded text (text_find) or a text itself, as #define lines are. All are in the binary: nothing that a user or a store says ever becomes kernel source.
 */
struct kernel_source {
	const char *name;	/* identity in the program cache */
	const char *const *piece;
	u32 n_pieces;
};

/* A buffer, a scalar (value), local memory of `size` bytes (neither), or a null pointer (nor that). */
struct launch_arg {
	const struct buffer *buffer;
	const void *value;
	size_t size;
};

struct launch {
	const struct kernel_source *source;
	const char *entry;
	const struct launch_arg *arg;
	u32 n_args;
	u64 n_groups;		/* work-groups of device->group work-items: kernels check their index */
	u32 queue;
};

/* A transfer, or what a queue was given, under way. A zeroed struct is none. */
struct ticket {
	struct device *device;
	void *handle;
};

/* Where the time of a device went, since who owns it set this to zero. */
struct device_time {
	f64 transfer[TRAFFIC_KINDS];	/* seconds of transfers by the device's own clock; 0 where it has none */
	f64 launch;		/* the host's seconds in launches ... */
	f64 wait;		/* ... and in all that transfers or waits */
	u64 launches;
};

struct device_ops {
	void (*close)(struct device *d);
	mill_err (*buffer_new)(struct device *d, struct buffer *b, u64 size, const char *what);
	void (*buffer_free)(struct device *d, struct buffer *b);
	mill_err (*write)(struct device *d, struct buffer *b, u64 at, const void *from, u64 size);
	mill_err (*read)(struct device *d, const struct buffer *b, u64 at, void *to, u64 size);
	mill_err (*fill)(struct device *d, struct buffer *b, const void *pattern, size_t size);
	/* The rest is absent on a native device. */
	mill_err (*prepare)(struct device *d, const struct kernel_source *source);
	mill_err (*launch)(struct device *d, const struct launch *l);
	mill_err (*send)(struct device *d, struct buffer *b, u64 at, const void *from, u64 size, u32 queue,
			 struct ticket *out);
	mill_err (*wait)(struct device *d, struct ticket *t);
	mill_err (*fork)(struct device *d);
	mill_err (*join)(struct device *d);
	void (*after)(struct device *d, u32 queue, const struct ticket *t);
	void (*mark)(struct device *d, u32 queue, struct ticket *out);
	void (*drain)(struct device *d);
};

#define DEVICE_NAME 48

struct device {
	const struct device_ops *ops;
	char name[DEVICE_NAME];	/* a single one: "cpu", "opencl:0", "opencl:0/2:1" */
	bool native;		/* programs run as host code on the run's threads */
	struct budget *memory;	/* what buffers count against */
	struct budget own;	/* ... unless it is the host's */
	u64 to_device[TRAFFIC_KINDS], from_device[TRAFFIC_KINDS];	/* bytes moved */
	struct device_time time;
	u32 n_queues;		/* besides queue 0 */
	u32 group;		/* work-items of a work-group; GROUP in kernels */
	bool chunked;		/* a CPU: work-items take runs of neighbours, not every n-th; CHUNKED in kernels */
	u64 largest;		/* bytes of a buffer at most */
	u64 local;		/* bytes of local memory of a work-group at most */
	u64 driver;		/* resident bytes that opening the driver and building kernels cost */
};

struct device_how {
	u64 memory;		/* its budget; 0: 90 % of what it has, of a part of a device its share of that */
	u32 queues;		/* 0: 32 */
	u32 group;		/* work-items of a work-group; 0: chosen by the kind of device */
	bool count_lanes;	/* kernels count SIMD slots and atomics too: LANES in kernels */
	u32 place;		/* among the devices of a trace, from 0 */
};

/*
 * The single names that a list of names means: "opencl:all" and "opencl:N/K" are several, and so is whatever has commas. At most
 * MILL_DEVICES_MOST, and the cpu only alone. Looks at the devices only where it must: a name that comes out may be of none.
 */
mill_err device_names_expand(char (*out)[DEVICE_NAME], u32 *n, const char *list);
/* name: "cpu" (NULL too), "opencl", "opencl:N", "opencl:N/K:I". */
mill_err device_open(struct device **out, const char *name, struct budget *host, const struct device_how *how);
void device_close(struct device *d);

mill_err device_buffer(struct device *d, struct buffer *b, u64 size, const char *what);
void device_buffer_free(struct buffer *b);	/* a zeroed struct is fine */
mill_err device_write(struct buffer *b, u64 at, const void *from, u64 size);
mill_err device_read(const struct buffer *b, u64 at, void *to, u64 size);
/* Repeats the pattern (1, 2, 4 or 8 bytes) over the whole buffer. */
mill_err device_fill(struct buffer *b, const void *pattern, size_t size);
/* Builds the kernels and launches each once on nothing, so that no run pays for that. */
mill_err device_prepare(struct device *d, const struct kernel_source *source);

/*
 * Queues: what is given to one is done in order, what is given to different ones at the same time. Writes, reads and fills
 * are in queue 0; from device_fork to device_join launches and device_send may use the others, 1 .. n_queues, which begin after
 * all that queue 0 had, and after device_join queue 0 goes on after all that they had.
 */
mill_err device_launch(struct device *d, const struct launch *l);
mill_err device_fork(struct device *d);
mill_err device_join(struct device *d);
/*
 * A write that goes on when this returns: `from` stays as it is until device_wait, which is also fine for none. That holds also where one of
 * them failed, for all transfers that are not waited for yet; or device_drain is called.
 */
mill_err device_send(struct buffer *b, u64 at, const void *from, u64 size, u32 queue, struct ticket *out);
mill_err device_wait(struct ticket *t);
/* What this queue, not 0, is given from now on begins after a transfer of another; fine for none. */
void device_after(struct device *d, u32 queue, const struct ticket *t);
/* A ticket for all that this queue has been given since the fork. */
void device_mark(struct device *d, u32 queue, struct ticket *out);
/* After a failure: waits for all that is under way, forgets what became of it, and ends a fork. Transfers can still be waited for. */
void device_drain(struct device *d);

/* The text of a file below src/ that was embedded at build time ("op/advance.cl"); NULL if there is none. */
const char *text_find(const char *path);

/* Per kind. */
mill_err cpu_open(struct device **out, struct budget *host);
/* parts 0: the device itself, else part number `part` of so many equal ones. */
mill_err opencl_open(struct device **out, u32 number, u32 parts, u32 part, const struct device_how *how);
mill_err opencl_count(u32 *out);	/* none is an error */
/* Can it be divided so? */
mill_err opencl_divides(u32 number, u32 parts);
size_t cpu_list(struct mill_device *out, size_t n);
size_t opencl_list(struct mill_device *out, size_t n);

#endif
