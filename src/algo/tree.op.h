/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parents of a search: of all edges on shortest paths that lead to v, the one from the vertex with the smallest
 * original id. Parents are ranks: the places of the ids among all.
 * Device dialect, written for the types of sssp.op.h; breadth-first depths are u32 distances with edges that
 * count 1.
 *
 * An edge u -> v is tight if distance[u] + weight = distance[v]. Tight edges from a smaller distance
 * cannot form a cycle; round 0 takes those. Where an edge adds nothing (weight 0, or a float too small
 * to count), distances are equal and a cycle is possible: there the parent must have been settled in
 * an earlier round than the child. hop[v] is the round that settled v. A sum of reals that is beyond all
 * numbers leads nowhere: infinity - infinity is not 0.
 */
#define TREE_FIELDS(ARRAY, SCALAR) \
	ARRAY(OF(key, VALUE), distance) \
	ARRAY(vid, rank) \
	ARRAY(u32, parent) \
	ARRAY(u32, hop) \
	SCALAR(u32, round)

STATE(PROGRAM, TREE_FIELDS);

/* True if v was settled by this edge in a round after the first. */
DEVICE bool OF(PROGRAM, edge)(struct PROGRAM s, vid u, vid v, VALUE w)
{
	OF(key, VALUE) from = s.distance[u], to = s.distance[v];
	VALUE over = OF(value_of, VALUE)(from) + w;

	/* An unreached distance is the largest key: it lies below none, and is equal only to its like. */
	if (s.round == 0) {
		if (from < to && over == OF(value_of, VALUE)(to) && over - over == 0)
			dev_min_u32(s.shared, &s.parent[v], s.rank[u]);
		return false;
	}
	if (from != to || over != OF(value_of, VALUE)(to) || dev_load_u32(&s.hop[u]) != s.round - 1 ||
	    dev_load_u32(&s.hop[v]) < s.round)
		return false;
	dev_min_u32(s.shared, &s.parent[v], s.rank[u]);
	dev_store_u32(&s.hop[v], s.round);
	return true;
}
