/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking reads: helper threads do them, or the thread that waits for a request. */
#include <pthread.h>

#include "stream/reader.h"

struct list {
	struct request *first, **end;
};

struct preads {
	pthread_mutex_t lock;
	pthread_cond_t asked, ended;
	struct list wanted, ready;
	struct error error[READER_DEPTH];	/* of each request */
	bool dismissed;		/* there are no helpers: the thread that waits reads itself */
};

static void put(struct list *l, struct request *q)
{
	q->next = NULL;
	*l->end = q;
	l->end = &q->next;
}

static struct request *get(struct list *l)
{
	struct request *q = l->first;

	if (!q)
		return NULL;
	l->first = q->next;
	if (!q->next)
		l->end = &l->first;
	return q;
}

static mill_err pread_open(struct reader *r)
{
	struct preads *p;

	TRY(memory_new(&p, NULL, 1, sizeof(*p), "the reader"));
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->asked, NULL);
	pthread_cond_init(&p->ended, NULL);
	p->wanted.end = &p->wanted.first;
	p->ready.end = &p->ready.first;
	p->dismissed = true;
	r->own = p;
	return MILL_OK;
}

static void pread_close(struct reader *r)
{
	struct preads *p = r->own;

	pthread_cond_destroy(&p->ended);
	pthread_cond_destroy(&p->asked);
	pthread_mutex_destroy(&p->lock);
	memory_free(p);
}

static mill_err pread_submit(struct reader *r, struct request *q)
{
	struct preads *p = r->own;

	pthread_mutex_lock(&p->lock);
	put(&p->wanted, q);
	pthread_cond_signal(&p->asked);
	pthread_mutex_unlock(&p->lock);
	return MILL_OK;
}

static mill_err read_all(struct request *q)
{
	while (q->done < q->size) {
		struct iovec iov[READER_IOVS];
		u32 n;

		TRY(request_next(q, iov, &n));
		TRY(request_took(q, file_readv(q->file, iov, n, q->offset + q->done)));
	}
	return MILL_OK;
}

/* Reads a request. The lock is held at the call and at the return. */
static void serve(struct reader *r, struct request *q)
{
	struct preads *p = r->own;
	mill_err err;

	pthread_mutex_unlock(&p->lock);
	err = read_all(q);
	error_save(&p->error[q - r->request], err);
	pthread_mutex_lock(&p->lock);
	put(&p->ready, q);
	pthread_cond_signal(&p->ended);
}

static mill_err pread_take(struct reader *r, struct request **out)
{
	struct preads *p = r->own;
	struct request *q;

	pthread_mutex_lock(&p->lock);
	while (!(*out = get(&p->ready))) {
		q = p->dismissed ? get(&p->wanted) : NULL;
		if (q)
			serve(r, q);
		else
			pthread_cond_wait(&p->ended, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return p->error[*out - r->request].code ? error_restore(&p->error[*out - r->request]) :
						  MILL_OK;
}

void reader_pread_help(struct reader *r)
{
	struct preads *p = r->own;

	pthread_mutex_lock(&p->lock);
	while (!p->dismissed) {
		struct request *q = get(&p->wanted);

		if (q)
			serve(r, q);
		else
			pthread_cond_wait(&p->asked, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
}

void reader_pread_dismiss(struct reader *r, bool dismissed)
{
	struct preads *p = r->own;

	pthread_mutex_lock(&p->lock);
	p->dismissed = dismissed;
	pthread_cond_broadcast(&p->asked);
	pthread_cond_broadcast(&p->ended);
	pthread_mutex_unlock(&p->lock);
}

const struct reader_ops reader_pread = { pread_open, pread_close, pread_submit, pread_take };
