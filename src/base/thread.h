/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of worker threads that wait passively: on a shared machine spinning threads steal the
 * core that the others need. The calling thread is worker 0 and works too. Workers trace for whoever gives them work.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/error.h"
#include "base/types.h"

struct pool;

/* n = 0: as many as the process may run on. */
mill_err pool_new(struct pool **out, unsigned n);
void pool_free(struct pool *p);
unsigned pool_size(const struct pool *p);

/*
 * Runs work(arg, worker) once on every worker and waits. The failure of the lowest-numbered
 * failing worker becomes the caller's.
 */
mill_err pool_run(struct pool *p, mill_err (*work)(void *arg, unsigned worker), void *arg);

/*
 * Calls work for chunks [begin, end) of 0..n of at most `grain`, handed out in order to whichever
 * worker is free. With one chunk (or one worker) the caller does it alone, without waking anyone.
 * After a failure no further chunk begins.
 */
mill_err pool_for(struct pool *p, u64 n, u64 grain,
		  mill_err (*work)(void *arg, u64 begin, u64 end, unsigned worker), void *arg);

#endif
