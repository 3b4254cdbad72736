/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-source shortest paths: what happens at one edge. Device dialect, written for
 * several types: PROGRAM names the instance, VALUE is the type of a distance (u32, u64,
 * f64). A distance is stored as a key, an unsigned integer. Keys have the same order as the
 * distances, so one atomic minimum serves all types.
 */
#define SSSP_FIELDS(ARRAY, SCALAR) ARRAY(OF(key, VALUE), distance)

STATE(PROGRAM, SSSP_FIELDS);
typedef VALUE OF(PROGRAM, given);

DEVICE VALUE OF(PROGRAM, value)(struct PROGRAM s, vid v)
{
	return OF(value_of, VALUE)(OF(dev_load_key, VALUE)(&s.distance[v]));
}

DEVICE bool OF(PROGRAM, idle)(struct PROGRAM s, VALUE x)
{
	(void)s;
	return OF(unreached, VALUE)(x);
}

/* Returns true if the path through the source is shorter than the shortest known. */
DEVICE bool OF(PROGRAM, relax)(struct PROGRAM s, VALUE x, vid v, VALUE w)
{
	return OF(dev_min, VALUE)(s.shared, &s.distance[v], x + w);
}

DEVICE u64 OF(PROGRAM, key)(struct PROGRAM s, vid v)
{
	return OF(dev_load_key, VALUE)(&s.distance[v]);
}
