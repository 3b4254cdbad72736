/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads by io_uring. Workers submit and take themselves: no thread stands between them and
 * the kernel.
 */
#include <errno.h>
#include <liburing.h>
#include <pthread.h>

#include "base/fault.h"
#include "stream/reader.h"

struct uring {
	struct io_uring ring;
	/*
	 * Protects the submission queue and requests. The taking thread holds it to access
	 * a request.
	 */
	pthread_mutex_t lock;
	/*
	 * A submit failed and left an entry in the queue. The entry must never reach the
	 * kernel, because its request was given back: nothing more is submitted.
	 */
	bool broken;
};

/*
 * For race checkers. liburing maps a ring with raw system calls, so a checker does not see
 * that the memory of a closed ring is unmapped and mapped again for another ring. This
 * lock, taken before one ring ends and after the next begins, orders the two.
 */
static pthread_mutex_t between_rings = PTHREAD_MUTEX_INITIALIZER;

static void pass_between(void)
{
	pthread_mutex_lock(&between_rings);
	pthread_mutex_unlock(&between_rings);
}

/*
 * An old kernel, a container or a limit of locked memory may refuse a ring: then pread is
 * used.
 */
static mill_err uring_open(struct reader *r)
{
	struct uring *u;

	TRY(memory_new(&u, NULL, 1, sizeof(*u), "the ring"));
	if (fault_io(FAULT_RING, NULL) || io_uring_queue_init(READER_DEPTH, &u->ring, 0) < 0) {
		memory_free(u);
		r->refused = true;
		return MILL_OK;
	}
	pass_between();
	pthread_mutex_init(&u->lock, NULL);
	r->own = u;
	return MILL_OK;
}

static void uring_close(struct reader *r)
{
	struct uring *u = r->own;

	pass_between();
	io_uring_queue_exit(&u->ring);
	pthread_mutex_destroy(&u->lock);
	memory_free(u);
}

static mill_err enter(struct uring *u)
{
	int n = -EIO;

	while (!u->broken &&
	       (n = io_uring_submit(&u->ring), n == -EINTR || n == -EAGAIN || n == -EBUSY))
		;
	if (n >= 0)
		return MILL_OK;
	u->broken = true;
	errno = -n;
	return fail_errno("cannot submit a read");
}

/*
 * Submits what is left of the request. The lock is held. When `enter` returns, the kernel
 * has copied the iovecs.
 */
static mill_err submit_rest(struct uring *u, struct request *q)
{
	struct iovec iov[READER_IOVS];
	struct io_uring_sqe *sqe;
	u32 n;

	TRY(request_next(q, iov, &n));
	sqe = io_uring_get_sqe(&u->ring);	/* never NULL: there is an entry for each request */
	io_uring_prep_readv(sqe, q->file->fd, iov, n, q->offset + q->done);
	io_uring_sqe_set_data(sqe, q);
	return enter(u);
}

static mill_err uring_submit(struct reader *r, struct request *q)
{
	struct uring *u = r->own;
	mill_err err;

	pthread_mutex_lock(&u->lock);
	err = submit_rest(u, q);
	pthread_mutex_unlock(&u->lock);
	return err;
}

static mill_err wait_one(struct uring *u, struct request **q, i64 *got)
{
	struct io_uring_cqe *cqe;
	int n;

	do
		n = io_uring_wait_cqe(&u->ring, &cqe);
	while (n == -EINTR || n == -EAGAIN);
	if (n < 0) {
		errno = -n;
		return fail_errno("cannot wait for a read");
	}
	*q = io_uring_cqe_get_data(cqe);
	*got = cqe->res;
	io_uring_cqe_seen(&u->ring, cqe);
	return MILL_OK;
}

static mill_err uring_take(struct reader *r, struct request **out)
{
	struct uring *u = r->own;
	mill_err err;
	bool whole;

	*out = NULL;
	do {
		struct request *q = NULL;
		i64 got = 0;

		TRY(wait_one(u, &q, &got));
		pthread_mutex_lock(&u->lock);
		err = request_took(q, got);
		whole = q->done == q->size;
		if (!err && !whole)
			err = submit_rest(u, q);
		pthread_mutex_unlock(&u->lock);
		*out = q;
	} while (!err && !whole);
	return err;
}

const struct reader_ops reader_uring = { uring_open, uring_close, uring_submit, uring_take };
