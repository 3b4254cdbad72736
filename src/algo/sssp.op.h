/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-source shortest paths: what happens at one edge. Device dialect, written for several types:
 * PROGRAM names the instance, VALUE is the type of a distance (u32, u64, f64). Distances are kept as
 * keys whose integer order is that of the values, so that one atomic minimum serves all types.
 */
#define SSSP_FIELDS(ARRAY, SCALAR) ARRAY(OF(key, VALUE), distance)

STATE(PROGRAM, SSSP_FIELDS);

DEVICE VALUE OF(PROGRAM, at)(struct PROGRAM s, vid v)
{
	return OF(value_of, VALUE)(OF(dev_load_key, VALUE)(&s.distance[v]));
}

/* True if the path over u is shorter than all known so far. */
DEVICE bool OF(PROGRAM, edge)(struct PROGRAM s, vid u, vid v, VALUE w)
{
	return OF(dev_min, VALUE)(s.shared, &s.distance[v], OF(PROGRAM, at)(s, u) + w);
}

/* By partitions: what a source has, and what an edge does with it, whether it has been reached or not. */
typedef VALUE OF(PROGRAM, held);
DEVICE bool OF(PROGRAM, up)(struct PROGRAM s, VALUE x, vid v, VALUE w)
{
	return !OF(unreached, VALUE)(x) && OF(dev_min, VALUE)(s.shared, &s.distance[v], x + w);
}

DEVICE bool OF(PROGRAM, idle)(struct PROGRAM s, VALUE x)
{
	(void)s;
	return OF(unreached, VALUE)(x);
}

DEVICE bool OF(PROGRAM, cond)(struct PROGRAM s, vid v)
{
	(void)s;
	(void)v;
	return true;
}

DEVICE u64 OF(PROGRAM, key)(struct PROGRAM s, vid v) { return OF(dev_load_key, VALUE)(&s.distance[v]); }

DEVICE void OF(PROGRAM, touch)(struct PROGRAM s, vid v) { dev_prefetch(&s.distance[v]); }
