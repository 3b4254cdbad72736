/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-core decomposition by peeling: what happens at one edge. Device dialect.
 *
 * core[v] is the number of v's neighbours that are left, but at least k. When it reaches k,
 * v itself is peeled, and core[v] is its core number. Vertices with `far` neighbours or
 * more wait in one bucket, so only vertices with fewer change their bucket.
 */
#define KCORE_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, core) \
	SCALAR(u32, k) \
	SCALAR(u32, far)

STATE(kcore, KCORE_FIELDS);

/*
 * u is peeled: v has one neighbour less. Returns the new key of v, or NO_KEY if v stays in its
 * bucket or is peeled already. Exactly one edge brings v to k.
 */
DEVICE u64 kcore_edge_key(struct kcore s, vid u, vid v, u32 w)
{
	u32 before = dev_lower_u32(s.shared, &s.core[v], s.k);

	(void)u;
	(void)w;
	return before > s.k && before <= s.far ? before - 1 : NO_KEY;
}

DEVICE u64 kcore_key(struct kcore s, vid v) { return dev_load_u32(&s.core[v]); }
