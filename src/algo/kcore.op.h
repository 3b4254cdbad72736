/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-core decomposition by peeling: what happens at one edge. Device dialect.
 *
 * core[v] is the number of v's neighbours that are left, and no less than k: when it comes to k, v itself is peeled,
 * and what it holds is its core number. Vertices of `far` and more neighbours wait together: only those with less change their bucket.
 */
#define KCORE_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, core) \
	SCALAR(u32, k) \
	SCALAR(u32, far)

STATE(kcore, KCORE_FIELDS);

/* u is peeled. One edge only brings v down to k. */
DEVICE u64 kcore_edge_key(struct kcore s, vid u, vid v, u32 w)
{
	u32 before = dev_lower_u32(s.shared, &s.core[v], s.k);

	(void)u;
	(void)w;
	return before > s.k && before <= s.far ? before - 1 : NO_KEY;
}

DEVICE u64 kcore_key(struct kcore s, vid v) { return dev_load_u32(&s.core[v]); }
