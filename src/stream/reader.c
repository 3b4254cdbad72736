/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous reads: requests, and the choice between io_uring and pread. */
#include "stream/reader.h"

#include <assert.h>
#include <errno.h>

static mill_err open_way(struct reader *r, enum reader_way way)
{
	r->way = way;
	r->ops = way == READER_URING ? &reader_uring : &reader_pread;
	return r->ops->open(r);
}

mill_err reader_open(struct reader **out, struct budget *budget, enum reader_way way)
{
	struct reader *r;
	mill_err err;

	TRY(memory_new(&r, budget, 1, sizeof(*r), "the reader"));
	for (u32 i = 0; i < READER_DEPTH; i++)
		reader_give_back(r, &r->request[i]);
	err = open_way(r, way);
	if (!err && r->refused)
		err = open_way(r, READER_PREAD);
	if (err) {
		memory_free(r);
		return err;
	}
	*out = r;
	return MILL_OK;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	assert(!r->busy);
	r->ops->close(r);
	memory_free(r);
}

enum reader_way reader_way(const struct reader *r) { return r->way; }

const char *reader_name(enum reader_way way) { return way == READER_URING ? "uring" : "pread"; }

/* The ring of READER_DEPTH entries takes two or three memory pages. */
u64 reader_bytes(void) { return sizeof(struct reader) + 32 * KIB; }

struct request *reader_get(struct reader *r)
{
	struct request *q = r->unused;

	if (!q)
		return NULL;
	r->unused = q->next;
	*q = (struct request){ 0 };
	return q;
}

void reader_give_back(struct reader *r, struct request *q)
{
	q->next = r->unused;
	r->unused = q;
}

void request_add(struct request *q, void *to, u64 size)
{
	assert(q->n_iovs < READER_IOVS);
	q->iov[q->n_iovs++] = (struct iovec){ to, size };
	q->size += size;
}

mill_err request_next(struct request *q, struct iovec *out, u32 *n)
{
	u64 some;

	*n = 0;
	if (!file_admit_read(q->file, q->size - q->done, &some))
		return file_took(q->file, q->size, q->offset, -errno, &q->done);
	for (; some; ++*n) {
		out[*n] = q->iov[*n];
		out[*n].iov_len = min_u64(out[*n].iov_len, some);
		some -= out[*n].iov_len;
	}
	return MILL_OK;
}

/* Removes the iovecs that are full now, and the full part of the next one. bytes: new bytes. */
static void advance(struct request *q, u64 bytes)
{
	u32 from = 0;

	while (from < q->n_iovs && bytes >= q->iov[from].iov_len)
		bytes -= q->iov[from++].iov_len;
	for (u32 i = from; i < q->n_iovs; i++)
		q->iov[i - from] = q->iov[i];
	q->n_iovs -= from;
	if (bytes) {
		q->iov[0].iov_base = (char *)q->iov[0].iov_base + bytes;
		q->iov[0].iov_len -= bytes;
	}
}

mill_err request_took(struct request *q, i64 got)
{
	u64 before = q->done;

	TRY(file_took(q->file, q->size, q->offset, got, &q->done));
	advance(q, q->done - before);
	return MILL_OK;
}

mill_err reader_submit(struct reader *r, struct request *q)
{
	mill_err err;

	__atomic_add_fetch(&r->busy, 1, __ATOMIC_RELAXED);
	err = r->ops->submit(r, q);
	if (err)
		__atomic_sub_fetch(&r->busy, 1, __ATOMIC_RELAXED);
	return err;
}

mill_err reader_take(struct reader *r, struct request **out)
{
	mill_err err = r->ops->take(r, out);

	__atomic_sub_fetch(&r->busy, 1, __ATOMIC_RELAXED);
	if (!err)
		file_forget_read((*out)->file, (*out)->offset, (*out)->size);
	return err;
}

u32 reader_busy(const struct reader *r) { return __atomic_load_n(&r->busy, __ATOMIC_RELAXED); }

void reader_help(struct reader *r)
{
	if (r->way == READER_PREAD)
		reader_pread_help(r);
}

void reader_dismiss(struct reader *r)
{
	if (r->way == READER_PREAD)
		reader_pread_dismiss(r, true);
}

void reader_welcome(struct reader *r)
{
	if (r->way == READER_PREAD)
		reader_pread_dismiss(r, false);
}
