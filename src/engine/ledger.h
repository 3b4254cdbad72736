/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: every byte, page, edge and update, counted per superstep. */
#ifndef ENGINE_LEDGER_H
#define ENGINE_LEDGER_H

#include <millrace.h>

#include "base/memory.h"
#include "device/device.h"
#include "stream/stream.h"

#define LEDGER_STEPS 1000	/* of which the last sums up all that follow */
#define LEDGER_RUNS 1000

struct ledger {
	struct mill_step step[LEDGER_STEPS];
	u64 n_steps;		/* recorded */
	struct mill_step total;	/* total.step: how many there were */
	u64 edges_traversed;
	f64 run[LEDGER_RUNS];
	u32 n_runs;
	f64 load, parents, output;
	struct mill_cost cost;	/* where the time of the run went, on a device */
	unsigned threads;	/* that compute */
	bool paused;		/* what happens now is reported apart */
};

void ledger_clear(struct ledger *l);	/* all but the run times, the load and the renaming */
/*
 * The run is over: adds where its time went on this device (of several: of each) to the cost, by GTS's terms. Attributes and stream are
 * the device's own seconds of transfers, calls the host's in launches, and kernel what else the host waited for.
 */
void ledger_add_device(struct ledger *l, const struct device *d);
/* After them: what it waited for besides, for pages and for merging (t_sync). */
void ledger_end(struct ledger *l, f64 merging);
/* A superstep that began then is over. */
void ledger_add(struct ledger *l, struct mill_step *s, f64 began);

#endif
