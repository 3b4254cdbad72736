/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of integers between threads. Producers and consumers wait without spinning. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include "base/memory.h"

struct queue;

mill_err queue_new(struct queue **out, struct budget *budget, u32 capacity);
void queue_free(struct queue *q);
/* Waits for room. Returns false if the queue was closed. */
bool queue_push(struct queue *q, u64 value);
/* Waits for a value. Returns false if the queue is closed and empty. */
bool queue_pop(struct queue *q, u64 *value);
/*
 * Wakes all waiting threads. Nothing can be pushed after this; values in the queue can still be
 * popped.
 */
void queue_close(struct queue *q);

#endif
