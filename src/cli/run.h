/* SPDX-License-Identifier: Apache-2.0 */
/* The common work of runs, plans and labs: from the options to an open store and a run. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/command.h"

struct work {
	const struct mill_algorithm *algorithm;
	mill_store *store;
	struct mill_info info;	/* valid if store is not NULL */
	struct mill_options options;
	mill_run *run;
};

/*
 * Checks the options, opens the store, and converts sizes and defaults in the options (the report
 * shows them). work_open also makes the run. The caller calls work_close(), also after a failure.
 */
mill_err work_prepare(struct work *w, struct call *call, const char *algorithm, const char *path);
mill_err work_open(struct work *w, struct call *call, const char *algorithm, const char *path);
/* Returns true if the algorithm has frontiers with these options (for --mapping, --filter). */
bool work_has_frontiers(const struct options *o);
/*
 * Returns MILL_EUSAGE for --mapping or --mappings (`option`): only frontiers and policies with
 * their own mappings use it. The message names policy_option, which chooses such a policy.
 */
mill_err refuse_mapping(const struct mill_algorithm *a, const char *option,
			const char *policy_option);
/* Returns true if the text may name more than one device. "opencl:0/2:1" names one. */
bool several_devices(const char *device);
/* Writes the values that the run chose (budgets, policy) back to the options, for the report. */
void work_update_options(const struct mill_report *r, struct options *o);
void work_close(struct work *w);

#endif
