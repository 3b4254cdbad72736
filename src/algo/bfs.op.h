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

/* True for the one edge that discovers v. */
DEVICE bool bfs_edge(struct bfs s, vid u, vid v, u32 w)
{
	(void)u;
	(void)w;
	if (dev_load_u32(&s.depth[v]) != UNREACHED)
		return false;	/* spares most edges the costlier swap */
	return dev_cas_u32(s.shared, &s.depth[v], UNREACHED, s.level + 1) == UNREACHED;
}

DEVICE bool bfs_cond(struct bfs s, vid v) { return dev_load_u32(&s.depth[v]) == UNREACHED; }

DEVICE void bfs_touch(struct bfs s, vid v) { dev_prefetch(&s.depth[v]); }
