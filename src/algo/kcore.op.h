/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-core decomposition by peeling: what happens at one edge. Device dialect.
 *
 * core[v] is the number of v's neighbours that are left, and no less than k: when it comes to k, v itself is peeled,
 * and what it holds is its core number.
 */
#define KCORE_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, core) \
	SCALAR(u32, k)

STATE(kcore, KCORE_FIELDS);

/* u is peeled. True for the one edge that brings v down to k. */
DEVICE bool kcore_edge(struct kcore s, vid u, vid v, u32 w)
{
	(void)u;
	(void)w;
	return dev_lower_u32(s.shared, &s.core[v], s.k) == s.k + 1;
}

DEVICE u64 kcore_key(struct kcore s, vid v) { return dev_load_u32(&s.core[v]); }
