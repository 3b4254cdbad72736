/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of worker threads. Idle workers sleep after about 10 microseconds: on a shared machine
 * spinning threads take the core that others need. The calling thread is worker 0 and works too.
 * Spans of the workers go to the caller's trace (base/trace.h).
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/error.h"
#include "base/types.h"

struct pool;

/* n = 0: one worker for each CPU that the process may run on. */
mill_err pool_new(struct pool **out, unsigned n);
void pool_free(struct pool *p);
unsigned pool_size(const struct pool *p);

/*
 * Runs work(arg, worker) once on every worker and waits for all. If several fail, the error of
 * the lowest-numbered worker is returned.
 */
mill_err pool_run(struct pool *p, mill_err (*work)(void *arg, unsigned worker), void *arg);

/*
 * Cuts 0..n into chunks [begin, end) of at most `grain` and calls work for each. Chunks are
 * handed out in ascending order to workers as they become free. If there is only one chunk, or
 * only one worker, the caller does all the work and wakes no other thread. After a failure no
 * further chunk begins; the error of the lowest failing chunk is returned.
 */
mill_err pool_for(struct pool *p, u64 n, u64 grain,
		  mill_err (*work)(void *arg, u64 begin, u64 end, unsigned worker), void *arg);

#endif
