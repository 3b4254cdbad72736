/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PageRank by pulling: what a neighbour contributes, and what a vertex makes of it. Device
 * dialect, written for VALUE f32, f64 and u64 (fixed point: sums of integers have the same bits in any order).
 *
 * share[u] is score[u] / out-degree of u: what u gives to each of its neighbours.
 */
#define PAGERANK_FIELDS(ARRAY, SCALAR) \
	ARRAY(VALUE, score) \
	ARRAY(VALUE, share) \
	ARRAY(VALUE, teleport) \
	ARRAY(OF(sum, VALUE), incoming) \
	ARRAY(u32, degree) \
	SCALAR(OF(factor, VALUE), damping) \
	SCALAR(OF(sum, VALUE), base) \
	SCALAR(OF(factor, VALUE), jump) \
	SCALAR(u32, sources) \
	SCALAR(u32, personal)

STATE(PROGRAM, PAGERANK_FIELDS);

DEVICE OF(sum, VALUE) OF(PROGRAM, start)(struct PROGRAM s)
{
	(void)s;
	return 0;
}

DEVICE OF(sum, VALUE) OF(PROGRAM, gather)(struct PROGRAM s, vid u, vid v, u32 w)
{
	(void)v;
	(void)w;
	return s.share[u];
}

DEVICE void OF(PROGRAM, touch)(struct PROGRAM s, vid u) { dev_prefetch(&s.share[u]); }

DEVICE OF(sum, VALUE) OF(PROGRAM, combine)(OF(sum, VALUE) a, OF(sum, VALUE) b) { return a + b; }

DEVICE void OF(PROGRAM, apply)(struct PROGRAM s, vid v, OF(sum, VALUE) sum) { s.incoming[v] = sum; }

/*
 * score = jump + damping x (incoming + what dangling vertices give). Jumps and dangling mass go to all alike
 * (base holds both), or to the personalisation vector (teleport, in units of jump). Returns the
 * change, in units of 1.
 */
DEVICE f64 OF(PROGRAM, vertex)(struct PROGRAM s, vid v)
{
	OF(sum, VALUE) rank = OF(scale, VALUE)(s.incoming[v], s.damping);
	f64 old = OF(real, VALUE)(s.score[v]);

	rank += s.personal ? OF(scale, VALUE)((OF(sum, VALUE))s.teleport[v], s.jump) : s.base;
	s.score[v] = (VALUE)rank;
	if (v < s.sources)
		s.share[v] = (VALUE)(rank / s.degree[v]);
	return dev_abs(OF(real, VALUE)(s.score[v]) - old);
}

DEVICE f64 OF(PROGRAM, mass)(struct PROGRAM s, vid v) { return OF(real, VALUE)(s.score[v]); }
