/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search: what happens at one edge. Device dialect.
 *
 * depth[v] is UNREACHED until the search reaches v. Level by level (s.ordered) the first
 * depth is final, and all edges that discover v write the same depth. In other orders
 * depths may fall again. The search keeps no parents: tree.op.h finds them afterwards, if
 * they are asked for.
 */
#define UNREACHED 0xffffffffu

#define BFS_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, depth) \
	SCALAR(u32, level)

STATE(bfs, BFS_FIELDS);
typedef u32 bfs_given;

DEVICE u32 bfs_value(struct bfs s, vid u) { return dev_load_u32(&s.depth[u]); }

DEVICE bool bfs_idle(struct bfs s, u32 x) { return s.ordered ? x != s.level : x == UNREACHED; }

DEVICE bool bfs_relax(struct bfs s, u32 x, vid v, u32 w)
{
	if (!s.ordered)
		return dev_min_u32(s.shared, &s.depth[v], x + w);
	if (dev_load_u32(&s.depth[v]) != UNREACHED)
		return false;
	dev_store_u32(&s.depth[v], x + w);
	return true;
}

DEVICE bool bfs_cond(struct bfs s, vid v) { return dev_load_u32(&s.depth[v]) == UNREACHED; }
