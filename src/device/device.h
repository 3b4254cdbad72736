/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: where vertex state lives and programs run. Each kind has a table of operations
 * (struct device_ops). cpu.c is the host itself. opencl*.c are the only files that call
 * OpenCL; they load the library when an OpenCL device is asked for.
 *
 * A work area is device memory for the work on one page; it has a queue (there are --queues
 * at most). The kernels of a page go, in order, into the queue of its slot's work area;
 * transfers go into another queue. A transfer waits only for the last kernels that used its
 * slot (device_mark), and kernels wait on the device for their transfer (device_after). The
 * host waits for neither. device_fork and device_join are the borders of a pass.
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "base/error.h"
#include "base/memory.h"
#include "base/types.h"

struct device;

/* The kinds of bytes that move between host and device. */
enum traffic {
	TRAFFIC_WRITABLE,	/* vertex state that edges write */
	TRAFFIC_TOPOLOGY,
	TRAFFIC_READ_ONLY,	/* vertex state that edges only read */
	TRAFFIC_FLAGS,		/* flags and counters */
	TRAFFIC_KINDS
};

/*
 * A buffer of device memory. On a native device `host` is the memory itself; elsewhere it
 * is NULL and bytes travel by device_read and device_write.
 */
struct buffer {
	struct device *owner;
	u64 size;
	void *host;
	void *handle;
	void *backing;		/* OpenCL only: our memory that the driver uses for the buffer */
	enum traffic kind;	/* under which its bytes are counted; set by the creator */
};

/*
 * The text of a kernel program: pieces in order. A piece is the path of an embedded text
 * (text_find) or a text itself, such as #define lines. All pieces are in the binary: no
 * input of a user or a store ever becomes kernel source.
 */
struct kernel_source {
	const char *name;	/* identity in the program cache */
	const char *const *piece;
	u32 n_pieces;
};

/*
 * An argument of a kernel: a buffer (buffer not NULL), a scalar of `size` bytes (value not
 * NULL), local memory of `size` bytes (both NULL), or a null pointer (both NULL, size 0).
 */
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
	u64 n_groups;		/* of device->group work-items each: kernels check their index */
	u32 queue;
};

/*
 * A handle to wait for: of a transfer under way, or of the commands given to a queue. A
 * zeroed struct is no ticket.
 */
struct ticket {
	struct device *device;
	void *handle;
};

/* Where the time of a device went, since its owner set this struct to zero. In seconds. */
struct device_time {
	f64 transfer[TRAFFIC_KINDS];	/* transfers, by the device's own clock; 0 if it has none */
	f64 launch;		/* spent by the host in launches */
	f64 wait;		/* spent by the host in transfers and waits */
	u64 launches;		/* their number */
};

struct device_ops {
	void (*close)(struct device *d);
	mill_err (*buffer_new)(struct device *d, struct buffer *b, u64 size, const char *what);
	void (*buffer_free)(struct device *d, struct buffer *b);
	mill_err (*write)(struct device *d, struct buffer *b, u64 at, const void *from, u64 size);
	mill_err (*read)(struct device *d, const struct buffer *b, u64 at, void *to, u64 size);
	mill_err (*fill)(struct device *d, struct buffer *b, const void *pattern, size_t size);
	/* A native device lacks the following. */
	mill_err (*prepare)(struct device *d, const struct kernel_source *source);
	mill_err (*launch)(struct device *d, const struct launch *l);
	mill_err (*send)(struct device *d, struct buffer *b, u64 at, const void *from, u64 size,
			 u32 queue, struct ticket *out);
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
	char name[DEVICE_NAME];	/* of one device: "cpu", "opencl:0", "opencl:0/2:1" */
	bool native;		/* programs run as host code on the run's threads */
	struct budget *memory;	/* the budget of its buffers: the host's, or `own` */
	struct budget own;
	u64 to_device[TRAFFIC_KINDS], from_device[TRAFFIC_KINDS];	/* bytes moved */
	struct device_time time;
	u32 n_queues;		/* besides queue 0 */
	u32 group;		/* work-items of a work-group; GROUP in kernels */
	bool chunked;		/* a CPU: work-items take runs of rows; CHUNKED in kernels */
	u64 largest;		/* most bytes of a buffer */
	u64 local;		/* most bytes of local memory of a work-group */
	u64 driver;		/* resident bytes of the driver and of building kernels */
};

struct device_how {
	/*
	 * Bytes of its budget; 0: 90 % of its memory, for a division of a device its share
	 * of that.
	 */
	u64 memory;
	u32 queues;		/* 0: 32 */
	u32 group;		/* work-items of a work-group; 0: chosen by the kind of device */
	bool count_lanes;	/* kernels count SIMD slots and atomics too: LANES in kernels */
	u32 place;		/* index among the devices of a trace */
};

/*
 * Expands a list of names, separated by commas, into names of single devices: "opencl:all"
 * and "opencl:N/K" mean several. Fails with MILL_EUSAGE for more than MILL_DEVICES_MOST
 * devices, or for the cpu together with others. Asks the drivers only if it must, so a name
 * may be of a device that does not exist.
 */
mill_err device_names_expand(char (*out)[DEVICE_NAME], u32 *n, const char *list);
/* Opens a device. name: "cpu" (or NULL), "opencl", "opencl:N", "opencl:N/K:I". */
mill_err device_open(struct device **out, const char *name, struct budget *host,
		     const struct device_how *how);
void device_close(struct device *d);

mill_err device_buffer(struct device *d, struct buffer *b, u64 size, const char *what);
void device_buffer_free(struct buffer *b);	/* a zeroed struct is allowed */
mill_err device_write(struct buffer *b, u64 at, const void *from, u64 size);
mill_err device_read(const struct buffer *b, u64 at, void *to, u64 size);
/* Repeats the pattern (1, 2, 4 or 8 bytes) over the whole buffer. */
mill_err device_fill(struct buffer *b, const void *pattern, size_t size);
/* Builds the kernels and launches each once without work, so that no run pays for that. */
mill_err device_prepare(struct device *d, const struct kernel_source *source);

/*
 * Queues: the commands of one queue run in order, those of different queues at the same
 * time. Writes, reads and fills are in queue 0. From device_fork to device_join, launches
 * and device_send may use queues 1 .. n_queues. These begin after all commands that queue 0
 * had at the fork. After the join, queue 0 goes on after all commands that they had.
 */
mill_err device_launch(struct device *d, const struct launch *l);
mill_err device_fork(struct device *d);
mill_err device_join(struct device *d);
/*
 * Begins a write. The caller leaves `from` unchanged until device_wait has returned for the
 * ticket, or device_drain. After a failure too, all transfers that were begun must be
 * waited for, or drained. device_wait allows a zeroed ticket.
 */
mill_err device_send(struct buffer *b, u64 at, const void *from, u64 size, u32 queue,
		     struct ticket *out);
mill_err device_wait(struct ticket *t);
/*
 * Makes the next commands of this queue (not 0) wait for the ticket, which may be of
 * another queue. A zeroed ticket is allowed.
 */
void device_after(struct device *d, u32 queue, const struct ticket *t);
/* Gives a ticket for all commands that this queue has been given since the fork. */
void device_mark(struct device *d, u32 queue, struct ticket *out);
/*
 * After a failure: waits for all commands under way, ignores how they ended, and ends a
 * fork. Tickets can still be waited for.
 */
void device_drain(struct device *d);

/*
 * Returns the text of a file below src/ that was embedded at build time ("op/advance.cl"),
 * or NULL.
 */
const char *text_find(const char *path);

/* The functions of each kind of device. */
mill_err cpu_open(struct device **out, struct budget *host);
/*
 * Opens OpenCL device `number`, or, if divisions is not 0, division number `division` of
 * its equal divisions.
 */
mill_err opencl_open(struct device **out, u32 number, u32 divisions, u32 division,
		     const struct device_how *how);
/* Counts the devices. Fails with MILL_EDEVICE if there is none. */
mill_err opencl_count(u32 *out);
/*
 * Fails with MILL_EDEVICE if the device cannot be divided into this number of equal
 * divisions.
 */
mill_err opencl_divides(u32 number, u32 divisions);
size_t cpu_list(struct mill_device *out, size_t n);
size_t opencl_list(struct mill_device *out, size_t n);

#endif
