/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: every byte, page, edge and update, counted per superstep. */
#ifndef ENGINE_LEDGER_H
#define ENGINE_LEDGER_H

#include <millrace.h>

#include "base/memory.h"
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
	f64 renaming, edges_made;	/* partitions: of making them, and of making what crosses */
	unsigned threads;	/* that compute */
	bool paused;		/* what happens now is reported apart */
};

void ledger_clear(struct ledger *l);	/* all but the run times, the load and the renaming */
/* What a pass of the stream cost. */
void step_add_pass(struct mill_step *to, const struct stream_pass *p);
/* A superstep that began then is over. */
void ledger_add(struct ledger *l, struct mill_step *s, f64 began);

#endif
