/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triangles: what happens at one of them. Device dialect.
 *
 * count has n counters in each copy: the triangles through a vertex. arcs (may be null): the arcs between two of its
 * neighbours, where an edge's weight is the number of its arcs. A worker that has no copy of its own shares it.
 */
#define TRIANGLES_FIELDS(ARRAY, SCALAR) \
	ARRAY(u64, count) \
	ARRAY(u64, arcs) \
	SCALAR(u64, n)

STATE(triangles, TRIANGLES_FIELDS);

DEVICE void triangles_found(struct triangles s, u32 copy, vid u, vid v, vid w, u32 uv, u32 uw, u32 vw)
{
	u64 at = copy * s.n;

	dev_add_u64(s.shared, &s.count[at + w], 1);
	if (!s.arcs)
		return;
	dev_add_u64(s.shared, &s.arcs[at + u], vw);
	dev_add_u64(s.shared, &s.arcs[at + v], uw);
	dev_add_u64(s.shared, &s.arcs[at + w], uv);
}

DEVICE void triangles_pair(struct triangles s, u32 copy, vid u, vid v, u64 n)
{
	dev_add_u64(s.shared, &s.count[copy * s.n + u], n);
	dev_add_u64(s.shared, &s.count[copy * s.n + v], n);
}
