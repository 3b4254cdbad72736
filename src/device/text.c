/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded texts by path. A new kernel file is one line here and one in text.S. */
#include <string.h>

#include "device/device.h"

#define TEXTS(X)                          \
	X(dialect, "device/dialect.h")    \
	X(pages, "transfer/pages.cl")       \
	X(wanted, "op/wanted.cl")         \
	X(graphie, "policy/graphie.cl")       \
	X(join, "policy/join.cl")             \
	X(sum, "op/sum.op.h")             \
	X(page, "op/page.cl")             \
	X(edge, "op/edge.op.h")           \
	X(advance, "op/advance.cl")       \
	X(reduce, "op/reduce.cl")         \
	X(compute, "op/compute.cl")       \
	X(scan, "op/scan.cl")             \
	X(filter, "op/filter.cl")         \
	X(mode, "op/mode.cl")             \
	X(intersect, "op/intersect.cl")   \
	X(bfs, "algo/bfs.op.h")           \
	X(sssp, "algo/sssp.op.h")         \
	X(tree, "algo/tree.op.h")         \
	X(pagerank, "algo/pagerank.op.h") \
	X(component, "algo/component.op.h") \
	X(cc, "algo/cc.op.h")             \
	X(scc, "algo/scc.op.h")           \
	X(bc, "algo/bc.op.h")             \
	X(bc_wide, "algo/bc_wide.op.h")   \
	X(kcore, "algo/kcore.op.h")       \
	X(triangles, "algo/triangles.op.h")

#define DECLARE(name, path) extern const char text_##name[];
#define ENTRY(name, path) { path, text_##name },

TEXTS(DECLARE)

const char *text_find(const char *path)
{
	static const struct {
		const char *path, *text;
	} table[] = { TEXTS(ENTRY) };

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strcmp(table[i].path, path))
			return table[i].text;
	return NULL;
}
