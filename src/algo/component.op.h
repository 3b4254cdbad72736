/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of components, weak or strong. root[v] is a vertex of v's component, the same
 * one for all of its vertices. A component's name is the smallest original id in it, as a
 * rank. Device dialect.
 */
#define COMPONENT_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, root) \
	ARRAY(u32, least) \
	ARRAY(vid, rank)

STATE(component, COMPONENT_FIELDS);

/* Finds the smallest rank of each component. Counts components: each has one root. */
DEVICE f64 component_least(struct component s, vid v)
{
	u32 root = s.root[v];

	/*
	 * dev_min reads before it writes: most vertices are in one component, and few lower
	 * its minimum.
	 */
	dev_min_u32(true, &s.least[root], s.rank[v]);
	return root == v;
}

DEVICE f64 component_name(struct component s, vid v)
{
	s.root[v] = s.least[s.root[v]];
	return 0;
}
