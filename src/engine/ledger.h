/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: every byte, page, edge and update, counted per superstep. */
#ifndef ENGINE_LEDGER_H
#define ENGINE_LEDGER_H

#include <millrace.h>

#include "base/memory.h"
#include "device/device.h"
#include "stream/stream.h"

#define LEDGER_STEPS 1000	/* the last one sums up all later steps */
#define LEDGER_RUNS 1000

struct ledger {
	struct mill_step step[LEDGER_STEPS];
	u64 n_steps;		/* steps recorded */
	struct mill_step total;	/* total.step: number of all steps */
	u64 edges_traversed;
	f64 run[LEDGER_RUNS];	/* seconds of each run */
	u32 n_runs;
	f64 load, parents, output;	/* seconds */
	struct mill_cost cost;	/* where the time of the run went, on a device */
	unsigned threads;	/* threads that compute */
	bool paused;		/* steps are not recorded now: their time is reported apart */
};

/* Clears all but the run times and the load time. */
void ledger_clear(struct ledger *l);
/*
 * Adds the time of the run on one device to the cost, in the terms of GTS's cost model
 * (struct mill_cost). Called at the end of the run, for each device. `attributes` and
 * `stream` are seconds of transfers by the device's clock, `calls` are the host's seconds in
 * launches, and `kernel` is the rest of the time that the host waited.
 */
void ledger_add_device(struct ledger *l, const struct device *d);
/*
 * Adds the time of waiting for pages and decoding them, and the time of merging (t_sync).
 * Called last.
 */
void ledger_end(struct ledger *l, f64 merging);
/* Records a superstep that ends now. began: the time when it began. */
void ledger_add(struct ledger *l, struct mill_step *s, f64 began);

#endif
