/* SPDX-License-Identifier: Apache-2.0 */
/* The queue: a ring under one lock, with a condition for each side. */
#include "base/queue.h"

#include <pthread.h>

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, drained;
	u32 capacity, size, head;	/* head: place of the oldest value in the ring */
	bool closed;
	u64 ring[];
};

mill_err queue_new(struct queue **out, struct budget *budget, u32 capacity)
{
	struct queue *q;

	if (!capacity)
		capacity = 1;
	TRY(memory_new(&q, budget, 1, sizeof(*q) + capacity * sizeof(q->ring[0]), "a queue"));
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->filled, NULL);
	pthread_cond_init(&q->drained, NULL);
	q->capacity = capacity;
	*out = q;
	return MILL_OK;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	pthread_cond_destroy(&q->drained);
	pthread_cond_destroy(&q->filled);
	pthread_mutex_destroy(&q->lock);
	memory_free(q);
}

bool queue_push(struct queue *q, u64 value)
{
	bool open;

	pthread_mutex_lock(&q->lock);
	while (q->size == q->capacity && !q->closed)
		pthread_cond_wait(&q->drained, &q->lock);
	open = !q->closed;
	if (open) {
		q->ring[((u64)q->head + q->size) % q->capacity] = value;
		q->size++;
		pthread_cond_signal(&q->filled);
	}
	pthread_mutex_unlock(&q->lock);
	return open;
}

bool queue_pop(struct queue *q, u64 *value)
{
	bool some;

	pthread_mutex_lock(&q->lock);
	while (!q->size && !q->closed)
		pthread_cond_wait(&q->filled, &q->lock);
	some = q->size != 0;
	if (some) {
		*value = q->ring[q->head];
		q->head = (q->head + 1) % q->capacity;
		q->size--;
		pthread_cond_signal(&q->drained);
	}
	pthread_mutex_unlock(&q->lock);
	return some;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->filled);
	pthread_cond_broadcast(&q->drained);
	pthread_mutex_unlock(&q->lock);
}
