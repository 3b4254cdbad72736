/* SPDX-License-Identifier: Apache-2.0 */
/* LargeGraph (Zhang et al., TACO 2021). Under construction: the row only. */
#include "policy/policy.h"

#define AT(field) offsetof(struct mill_largegraph, field)

static const char *const paths[] = { "strict", "paper", NULL };
static const char *const frequencies[] = { "exact", "updates", NULL };
static const char *const sides[] = { "both", "cpu", "device", NULL };
static const char *const masters[] = { "chunk", "round", NULL };
static const char *const baselines[] = { "none", "subway", "subway-async", "totem", "digraph",
					 NULL };

static const struct mill_option options[] = {
	{ "paths", MILL_OPTION_CHOICE, AT(paths), "strict|paper",
	  .help = "vertices through which a path goes on (default strict)", .word = paths },
	{ "chain", MILL_OPTION_TEXT, AT(chain), "N|full",
	  .help = "steps by which active paths activate the paths that follow", .usual_text = "0" },
	{ "frequency", MILL_OPTION_CHOICE, AT(frequency), "exact|updates",
	  .help = "how the use of a path is counted (default exact)", .word = frequencies },
	{ "alpha", MILL_OPTION_TEXT, AT(alpha), "SHARE",
	  .help = "share of the edges that the device gets in a round", .usual_text = "5%" },
	{ "chunk-size", MILL_OPTION_SIZE, AT(chunk_size), "SIZE",
	  .help = "bytes of a chunk on the device (default: half of its local memory)" },
	{ "sweeps", MILL_OPTION_U32, AT(sweeps), "N", .help = "the most repeats of a hot chunk",
	  .low = 1, .usual = 64 },
	{ "no-keep", MILL_OPTION_FLAG, AT(no_keep), NULL,
	  .help = "no chunk stays on the device (LargeGraph-w)" },
	{ "uvm", MILL_OPTION_FLAG, AT(uvm), NULL,
	  .help = "as with unified memory: pages of 64 KiB under LRU" },
	{ "only", MILL_OPTION_CHOICE, AT(only), "cpu|device",
	  .help = "compute on one side only (default both)", .word = sides },
	{ "masters", MILL_OPTION_CHOICE, AT(masters), "chunk|round",
	  .help = "values that a chunk begins with: the newest, or the round's (default chunk)",
	  .word = masters },
	{ "baseline", MILL_OPTION_CHOICE, AT(baseline), "subway|subway-async|totem|digraph",
	  .help = "run another system instead, for a comparison", .word = baselines },
	{ 0 },
};

const struct policy policy_largegraph = {
	.public = {
		.name = "largegraph",
		.summary = "paths on the host's threads and a device at the same time, as "
			   "LargeGraph does (TACO 2021)",
		.option = options,
		.settings = offsetof(struct mill_options, largegraph),
		.otherwise = "fifo",
	},
	.device = residency_fifo,
	.before = residency_latest,
	.cpu = residency_fifo,
};
