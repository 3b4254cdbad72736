/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads that are asked for now and taken later, in two ways behind one table: io_uring, and pread by threads that
 * lend themselves. Neither way retries less or checks more than file_read_at: interruptions are continued, short
 * reads go on from a whole sector, the end of the file is MILL_ECORRUPT, and the fault layer counts each transfer.
 */
#ifndef STREAM_READER_H
#define STREAM_READER_H

#include "base/file.h"
#include "base/memory.h"

#define READER_DEPTH 32u	/* requests under way at once: 1 MiB each come near the disk's best at 8 */
#define READER_PARTS 16u	/* places of memory that one request fills */
#define READER_THREADS 4u	/* that lend themselves where reads block: their gain ends there */

enum reader_way { READER_URING, READER_PREAD };

/* A piece of a file, and the places in memory, one after the other, that it goes to. */
struct request {
	const struct file *file;
	u64 offset, size;
	u32 n_parts;
	struct iovec part[READER_PARTS];	/* used up as bytes arrive */
	u32 first, n;			/* the asker's own, as is ... */
	f64 began;			/* ... when it was asked for */
	u64 done;			/* bytes that have arrived */
	struct request *next;		/* in whichever list it is */
};

struct reader;

/* Where the kernel refuses io_uring it is pread, whatever was asked for. */
mill_err reader_open(struct reader **out, struct budget *budget, enum reader_way way);
void reader_close(struct reader *r);	/* nothing is under way */
enum reader_way reader_way(const struct reader *r);
const char *reader_name(enum reader_way way);
/* Memory of a reader, the kernel's share included. */
u64 reader_bytes(void);

/* An empty request, or NULL while READER_DEPTH are taken. Only one thread at a time gets and gives back. */
struct request *reader_get(struct reader *r);
void request_add(struct request *q, void *to, u64 size);
/* Does not wait. By one thread at a time. On failure the request is the caller's again. */
mill_err reader_submit(struct reader *r, struct request *q);
/*
 * Waits for some request to be complete. By one thread at a time, while others submit. On failure *out is
 * the request that failed.
 */
mill_err reader_take(struct reader *r, struct request **out);
void reader_give_back(struct reader *r, struct request *q);
u32 reader_busy(const struct reader *r);	/* requests that were submitted and not taken */

/* Where reads block: reads for the others until reader_dismiss. */
void reader_help(struct reader *r);
void reader_dismiss(struct reader *r);
void reader_welcome(struct reader *r);	/* before the helpers come again */

/* What a way of reading is. */
struct reader_ops {
	mill_err (*open)(struct reader *r);	/* *refused: not on this system */
	void (*close)(struct reader *r);
	mill_err (*submit)(struct reader *r, struct request *q);
	mill_err (*take)(struct reader *r, struct request **out);
};

struct reader {
	const struct reader_ops *ops;
	enum reader_way way;
	bool refused;
	void *own;			/* of the way */
	struct request *unused;
	u32 busy;			/* atomic */
	struct request request[READER_DEPTH];
};

/* The number of a request, below READER_DEPTH: one at a time has it. */
static inline u32 reader_slot(const struct reader *r, const struct request *q) { return (u32)(q - r->request); }

extern const struct reader_ops reader_uring, reader_pread;
/*
 * The next transfer of a request: its parts, fewer than are left where a fault wants it so (out: READER_PARTS). And what came
 * of it, or a negative errno: afterwards done == size, or there is another.
 */
mill_err request_next(struct request *q, struct iovec *out, u32 *n);
mill_err request_took(struct request *q, i64 got);
void reader_pread_help(struct reader *r);
void reader_pread_dismiss(struct reader *r, bool dismissed);

#endif
