/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triangles: what happens at one triangle. Device dialect.
 *
 * count[copy * n + v] is the number of triangles through v. Each worker has a copy of the n
 * counters (`copy` is its number); on a device all share copy 0. arcs (may be null) is in
 * the same form: the arcs between two neighbours of v. The weight of an edge is its number
 * of arcs.
 */
#define TRIANGLES_FIELDS(ARRAY, SCALAR) \
	ARRAY(u64, count) \
	ARRAY(u64, arcs) \
	SCALAR(u64, n)

STATE(triangles, TRIANGLES_FIELDS);

DEVICE void triangles_found(struct triangles s, u32 copy, vid u, vid v, vid w, u32 uv, u32 uw,
			    u32 vw)
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
