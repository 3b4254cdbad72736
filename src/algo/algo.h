/* SPDX-License-Identifier: Apache-2.0 */
/* What the algorithms share. */
#ifndef ALGO_ALGO_H
#define ALGO_ALGO_H

#include "algo/tree.h"
#include "engine/sources.h"
#include "op/op.h"

/* What an algorithm needs with these options (NULL: the defaults); fails where it cannot run at all. */
mill_err bfs_need(const struct mill_run *r, const struct mill_bfs *how, struct need *out);
mill_err sssp_need(const struct mill_run *r, const struct mill_sssp *how, struct need *out);
mill_err pagerank_need(const struct mill_run *r, const struct mill_pagerank *how, struct need *out);
mill_err cc_need(const struct mill_run *r, const struct mill_cc *how, struct need *out);
mill_err bc_need(const struct mill_run *r, const struct mill_bc *how, struct need *out);
mill_err triangles_need(const struct mill_run *r, const struct mill_triangles *how, struct need *out);
mill_err cdlp_need(const struct mill_run *r, const struct mill_cdlp *how, struct need *out);
mill_err kcore_need(const struct mill_run *r, const void *how, struct need *out);
mill_err degrees_need(const struct mill_run *r, const void *how, struct need *out);
mill_err scc_need(const struct mill_run *r, const void *how, struct need *out);

/* How far a search came: vertices, and the stored edges out of them. */
struct reach {
	u64 reached, edges;
};

mill_err count_reached(struct mill_run *r, const void *data, bool (*reached)(const void *data, u64 v),
		       struct reach *out);

/* Certificates: MILL_ECHECK, with the vertex by its id and what is wrong there. */
mill_err check_wrong(const struct mill_run *r, u64 v, const char *what);

#endif
