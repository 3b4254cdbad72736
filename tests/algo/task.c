/* SPDX-License-Identifier: Apache-2.0 */
#include "task.h"

static mill_err call_bfs(mill_run *r, const void *how) { return mill_bfs(r, how); }
static mill_err call_sssp(mill_run *r, const void *how) { return mill_sssp(r, how); }
static mill_err call_pagerank(mill_run *r, const void *how) { return mill_pagerank(r, how); }
static mill_err call_cc(mill_run *r, const void *how) { return mill_cc(r, how); }
static mill_err call_bc(mill_run *r, const void *how) { return mill_bc(r, how); }

static mill_err call_kcore(mill_run *r, const void *how)
{
	(void)how;
	return mill_kcore(r);
}

static mill_err call_scc(mill_run *r, const void *how)
{
	(void)how;
	return mill_scc(r);
}

static mill_err call_degrees(mill_run *r, const void *how)
{
	(void)how;
	return mill_degrees(r);
}

const struct task tasks[N_TASKS] = {
	{ "bfs", "bfs", call_bfs, &(struct mill_bfs){ "max-degree" }, false, true, BITS },
	{ "sssp", "sssp", call_sssp, &(struct mill_sssp){ .source = "max-degree" }, true, true, BITS },
	{ "kcore", "kcore", call_kcore, NULL, false, true, BITS },
	{ "sssp, narrow steps", "sssp", call_sssp, &(struct mill_sssp){ .source = "max-degree", .delta = 0.5 }, true, false, BITS },
	{ "sssp, unit weights", "sssp", call_sssp, &(struct mill_sssp){ "max-degree", 0, true }, false, false, BITS },
	{ "cc, afforest", "cc", call_cc, &(struct mill_cc){ MILL_CC_AFFOREST }, false, false, BITS },
	{ "cc, hooking", "cc", call_cc, &(struct mill_cc){ MILL_CC_HOOKING }, false, false, BITS },
	{ "cc, labels", "cc", call_cc, &(struct mill_cc){ MILL_CC_LABELS }, false, false, BITS },
	{ "scc", "scc", call_scc, NULL, false, false, BITS },
	{ "degrees", "degrees", call_degrees, NULL, false, false, BITS },
	{ "pagerank, exact", "pagerank", call_pagerank, &(struct mill_pagerank){ .iterations = 4, .precision = MILL_EXACT }, false,
	  false, BITS },
	{ "pagerank", "pagerank", call_pagerank, &(struct mill_pagerank){ .iterations = 4 }, false, false, F32 },
	{ "bc", "bc", call_bc, &(struct mill_bc){ .sources = "random:2" }, false, false, F64 },
};
