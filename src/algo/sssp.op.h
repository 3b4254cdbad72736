/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-source shortest paths: what happens at one edge. Device dialect, written for several types:
 * PROGRAM names the instance, VALUE is the type of a distance (u32, u64, f64), WEIGHT that of an edge
 * (absent: every edge counts 1). Distances are kept as keys whose integer order is that of the
 * values, so that one atomic minimum serves all types.
 */
#define SSSP_FIELDS(ARRAY, SCALAR) ARRAY(OF(key, VALUE), distance)

STATE(PROGRAM, SSSP_FIELDS);

#undef WEIGHT_PARAMETER
#undef WEIGHT_VALUE
#ifdef WEIGHT
#define WEIGHT_PARAMETER , WEIGHT w
#define WEIGHT_VALUE ((VALUE)w)
#else
#define WEIGHT_PARAMETER
#define WEIGHT_VALUE ((VALUE)1)
#endif

DEVICE VALUE OF(PROGRAM, at)(struct PROGRAM s, vid v)
{
	return OF(value_of, VALUE)(OF(dev_load_key, VALUE)(&s.distance[v]));
}

/* True if the path over u is shorter than all known so far. */
DEVICE bool OF(PROGRAM, edge)(struct PROGRAM s, vid u, vid v WEIGHT_PARAMETER)
{
	return OF(dev_min, VALUE)(s.shared, &s.distance[v], OF(PROGRAM, at)(s, u) + WEIGHT_VALUE);
}

DEVICE bool OF(PROGRAM, cond)(struct PROGRAM s, vid v)
{
	(void)s;
	(void)v;
	return true;
}

DEVICE u64 OF(PROGRAM, key)(struct PROGRAM s, vid v) { return OF(dev_load_key, VALUE)(&s.distance[v]); }
