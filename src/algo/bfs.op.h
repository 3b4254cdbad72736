/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search: what happens at one edge. Device dialect.
 *
 * depth[v] is UNREACHED until a search of `level` steps has come to v. Parents are no part of
 * the search: tree.op.h settles them afterwards, when they are asked for.
 */
#define UNREACHED 0xffffffffu

#define BFS_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, depth) \
	SCALAR(u32, level)

STATE(bfs, BFS_FIELDS);

/* True for the edges that discover v: all of them write the same depth. */
DEVICE bool bfs_edge(struct bfs s, vid u, vid v, u32 w)
{
	(void)u;
	(void)w;
	if (dev_load_u32(&s.depth[v]) != UNREACHED)
		return false;
	dev_store_u32(&s.depth[v], s.level + 1);
	return true;
}

DEVICE bool bfs_cond(struct bfs s, vid v) { return dev_load_u32(&s.depth[v]) == UNREACHED; }

DEVICE void bfs_touch(struct bfs s, vid v) { dev_prefetch(&s.depth[v]); }

/* Pages that are streamed past: only sources of this level give, and what they give is that they are. */
typedef u32 bfs_held;
DEVICE u32 bfs_at(struct bfs s, vid u) { return dev_load_u32(&s.depth[u]); }
DEVICE bool bfs_idle(struct bfs s, u32 x) { return x != s.level; }
DEVICE bool bfs_up(struct bfs s, u32 x, vid v, u32 w)
{
	(void)x;
	return bfs_edge(s, v, v, w);
}
