/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness: Brandes' two sums of a search from one source, level by level. Device
 * dialect.
 *
 * Forward, over in-neighbours: paths of v = sum of paths of u. Backward, over
 * out-neighbours: dependency of u = paths of u x sum of the shares of v, with share of v =
 * (1 + dependency of v) / paths of v. Both read one number per edge (`given`) and do not
 * test the neighbour's level. Even and odd levels have an array each (`mine` is the array
 * of v's level), and a number is 0 until it is made. An edge leads at most one level down.
 * So of the neighbours in the other array, only those of the wanted level have a number
 * yet.
 */
#define BC_FIELDS(ARRAY, SCALAR) \
	ARRAY(f64, given) \
	ARRAY(f64, mine) \
	ARRAY(f64, paths) \
	ARRAY(f64, dependency) \
	ARRAY(f64, score) \
	SCALAR(u32, back) \
	SCALAR(u32, root)

/* Above this the next sums could be infinite. bc_wide.op.h continues then. */
#define BC_MOST 0x1p1000

STATE(bc, BC_FIELDS);

/* count[0]: vertices with too many paths. */
DEVICE void bc_apply(struct bc s, vid v, f64 sum, u64 *count)
{
	f64 x;

	if (!s.back) {
		s.mine[v] = sum;
		count[0] += !(sum < BC_MOST);
		return;
	}
	x = s.paths[v] * sum;
	s.dependency[v] = x;
	s.mine[v] = (1 + x) / s.paths[v];
	if (v != s.root)
		s.score[v] += x;
}
