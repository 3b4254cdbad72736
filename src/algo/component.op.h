/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of components, however they were found. root[v] is a vertex of v's component, the same for all of them;
 * the component is called after the smallest original id in it, as a rank. Device dialect.
 */
#define COMPONENT_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, root) \
	ARRAY(u32, least) \
	ARRAY(vid, rank)

STATE(component, COMPONENT_FIELDS);

/* Counts the components: each has one root. */
DEVICE f64 component_least(struct component s, vid v)
{
	u32 root = s.root[v];

	dev_min_u32(true, &s.least[root], s.rank[v]);	/* looks first: most vertices are of one component */
	return root == v;
}

DEVICE f64 component_name(struct component s, vid v)
{
	s.root[v] = s.least[s.root[v]];
	return 0;
}
