/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness, Brandes' two sums of a search from one source, level by level. Device dialect.
 *
 * Forward, over in-neighbours: paths[v] = sum of paths[u]. Backward, over out-neighbours: dependency of u = paths[u] x sum of
 * share[v], with share[v] = (1 + dependency of v) / paths[v]. Both read one number an edge (`given`), without asking for the neighbour's
 * level: a number is 0 until its level is committed. Neighbours of other levels have not been reached by the sum then: an
 * in-neighbour lies at most one level before, an out-neighbour at most one behind.
 */
#define BC_FIELDS(ARRAY, SCALAR) \
	ARRAY(f64, given) \
	ARRAY(f64, paths) \
	ARRAY(f64, share) \
	ARRAY(f64, staged) \
	ARRAY(f64, score) \
	SCALAR(u32, back) \
	SCALAR(u32, root)

/* Beyond this the next sums could be infinite: counted again by bc_wide.op.h. */
#define BC_MOST 0x1p1000

STATE(bc, BC_FIELDS);

DEVICE f64 bc_start(struct bc s)
{
	(void)s;
	return 0;
}

DEVICE f64 bc_gather(struct bc s, vid u, vid v, u32 w)
{
	(void)v;
	(void)w;
	return s.given[u];
}

DEVICE f64 bc_combine(f64 a, f64 b) { return a + b; }

/* staged: paths, or the dependency. */
DEVICE void bc_apply(struct bc s, vid v, f64 sum) { s.staged[v] = s.back ? s.paths[v] * sum : sum; }

/* True: too many paths. */
DEVICE bool bc_commit(struct bc s, vid v)
{
	f64 x = s.staged[v];

	if (!s.back) {
		s.paths[v] = x;
		s.staged[v] = 0;	/* the dependency of a vertex that leads nowhere */
		return !(x < BC_MOST);
	}
	s.share[v] = (1 + x) / s.paths[v];
	if (v != s.root)
		s.score[v] += x;
	return false;
}
