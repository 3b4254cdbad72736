/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous reads: a request is submitted now and taken when it is complete. There are
 * two ways behind one table of operations: io_uring, and pread by helper threads. Both
 * retry and check as file_read_at does: an interrupted read continues, a short read
 * continues at the start of a sector, a file that ends too early is MILL_ECORRUPT, and the
 * fault layer (base/fault.h) counts each transfer.
 */
#ifndef STREAM_READER_H
#define STREAM_READER_H

#include "base/file.h"
#include "base/memory.h"

/* Most requests under way at once. Requests of 1 MiB come near the disk's best rate at 8. */
#define READER_DEPTH 32u
#define READER_IOVS 16u		/* most places in memory that one request fills */
#define READER_THREADS 4u	/* helper threads of pread: more gain nothing */

enum reader_way { READER_URING, READER_PREAD };

/* A range of a file, and the places in memory that it fills, one after the other. */
struct request {
	const struct file *file;
	u64 offset, size;
	u32 n_iovs;
	struct iovec iov[READER_IOVS];	/* what is left to fill */
	u32 first, n;			/* for the caller: its items */
	f64 began;			/* for the caller: when it made the request */
	u64 done;			/* bytes that have arrived */
	struct request *next;		/* in the list of requests that it is in */
};

struct reader;

/* Opens a reader. If the kernel refuses io_uring, the reader uses pread. */
mill_err reader_open(struct reader **out, struct budget *budget, enum reader_way way);
void reader_close(struct reader *r);	/* no request may be under way */
enum reader_way reader_way(const struct reader *r);
const char *reader_name(enum reader_way way);
/* Returns the bytes of a reader, with the memory that the kernel uses for it. */
u64 reader_bytes(void);

/*
 * Returns an empty request, or NULL if all READER_DEPTH are in use. Only one thread at a
 * time may get or give back requests.
 */
struct request *reader_get(struct reader *r);
void request_add(struct request *q, void *to, u64 size);
/*
 * Submits a request; does not wait. Only one thread at a time may submit. On failure the
 * request belongs to the caller again.
 */
mill_err reader_submit(struct reader *r, struct request *q);
/*
 * Waits until any request is complete. Only one thread at a time may take; others may
 * submit in the meantime. On failure *out is the request that failed.
 */
mill_err reader_take(struct reader *r, struct request **out);
void reader_give_back(struct reader *r, struct request *q);
u32 reader_busy(const struct reader *r);	/* requests submitted and not yet taken */

/* pread: a helper thread calls reader_help, which reads until reader_dismiss is called. */
void reader_help(struct reader *r);
void reader_dismiss(struct reader *r);
void reader_welcome(struct reader *r);	/* call it before helpers call reader_help again */

/* The operations of a way of reading. */
struct reader_ops {
	/* Sets r->refused if the system does not allow it. */
	mill_err (*open)(struct reader *r);
	void (*close)(struct reader *r);
	mill_err (*submit)(struct reader *r, struct request *q);
	mill_err (*take)(struct reader *r, struct request **out);
};

struct reader {
	const struct reader_ops *ops;
	enum reader_way way;
	bool refused;
	void *own;			/* data of the way */
	struct request *unused;
	u32 busy;			/* atomic: requests submitted and not yet taken */
	struct request request[READER_DEPTH];
};

/* Returns the number of a request, below READER_DEPTH. Only one request at a time has it. */
static inline u32 request_number(const struct reader *r, const struct request *q)
{
	return (u32)(q - r->request);
}

extern const struct reader_ops reader_uring, reader_pread;
/*
 * request_next returns the iovecs of the request's next transfer, with fewer bytes than are
 * left if the fault layer wants that (out has room for READER_IOVS). Call request_took with
 * the result of the transfer: bytes, or a negative errno. Afterwards done == size, or the
 * request needs another transfer.
 */
mill_err request_next(struct request *q, struct iovec *out, u32 *n);
mill_err request_took(struct request *q, i64 got);
void reader_pread_help(struct reader *r);
void reader_pread_dismiss(struct reader *r, bool dismissed);

#endif
