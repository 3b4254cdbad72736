/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parents of a search. Of the edges on shortest paths to v, the parent is the source
 * with the smallest original id. Parents are ranks: places in the order of ids. Device
 * dialect, written for the types of sssp.op.h. Breadth-first depths are u32 distances over
 * edges that count 1.
 *
 * An edge u -> v is tight if distance[u] + weight = distance[v]. Tight edges from a smaller
 * distance cannot form a cycle: round 0 takes those. If an edge adds nothing (weight 0, or
 * a float too small to change the sum), both distances are equal and a cycle is possible.
 * Then the parent must have been settled in an earlier round than the child. hop[v] is the
 * round that settled v. A sum of reals that is infinite is no path: `over - over == 0` is
 * false for infinity.
 */
#define TREE_FIELDS(ARRAY, SCALAR) \
	ARRAY(OF(key, VALUE), distance) \
	ARRAY(vid, rank) \
	ARRAY(u32, parent) \
	ARRAY(u32, hop) \
	SCALAR(u32, round)

STATE(PROGRAM, TREE_FIELDS);

/* Returns true if this edge settled v in a round after round 0. */
DEVICE bool OF(PROGRAM, edge)(struct PROGRAM s, vid u, vid v, VALUE w)
{
	OF(key, VALUE) from = s.distance[u], to = s.distance[v];
	VALUE over = OF(value_of, VALUE)(from) + w;

	/* An unreached distance is the largest key: it is smaller than none. */
	if (s.round == 0) {
		if (from < to && over == OF(value_of, VALUE)(to) && over - over == 0)
			dev_min_u32(s.shared, &s.parent[v], s.rank[u]);
		return false;
	}
	if (from != to || over != OF(value_of, VALUE)(to) ||
	    dev_load_u32(&s.hop[u]) != s.round - 1 || dev_load_u32(&s.hop[v]) < s.round)
		return false;
	dev_min_u32(s.shared, &s.parent[v], s.rank[u]);
	dev_store_u32(&s.hop[v], s.round);
	return true;
}
