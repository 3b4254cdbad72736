/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PageRank by pulling: what a neighbour contributes, and what a vertex makes of it. Device
 * dialect, written for VALUE f32, f64 and u64 (fixed point: sums of integers have the same bits in any order).
 *
 * share[u] is score[u] / out-degree of u: what u gives to each of its neighbours, and next[u] the same of the next
 * iteration. So one pass gathers the old and makes the new. IN_PLACE: the two are one array, so that scores are used as
 * soon as they are new (Gauss-Seidel), and workers meet in it.
 */
#ifndef IN_PLACE
#define IN_PLACE 0
#endif

#define PAGERANK_FIELDS(ARRAY, SCALAR) \
	ARRAY(VALUE, score) \
	ARRAY(VALUE, share) \
	ARRAY(VALUE, next) \
	ARRAY(VALUE, teleport) \
	ARRAY(VALUE, loop) \
	ARRAY(u32, degree) \
	SCALAR(f64, damping) \
	SCALAR(f64, base) \
	SCALAR(f64, jump) \
	SCALAR(u32, sources) \
	SCALAR(u32, personal) \
	SCALAR(u32, loops)

STATE(PROGRAM, PAGERANK_FIELDS);

#if IN_PLACE
DEVICE OF(sum, VALUE) OF(PROGRAM, start)(struct PROGRAM s)
{
	(void)s;
	return 0;
}

DEVICE OF(sum, VALUE) OF(PROGRAM, gather)(struct PROGRAM s, vid u, vid v, u32 w)
{
	(void)v;
	(void)w;
	return OF(dev_load, VALUE)(&s.share[u]);
}

DEVICE OF(sum, VALUE) OF(PROGRAM, combine)(OF(sum, VALUE) a, OF(sum, VALUE) b) { return a + b; }
#endif

/*
 * score = jump + damping x (incoming + what dangling vertices give). Jumps and dangling mass go to all alike
 * (base holds both), or to the personalisation vector (teleport, in units of jump). The degree of those that give
 * nothing is 1, so that nothing here depends on the vertex.
 */
DEVICE void OF(PROGRAM, settle)(struct PROGRAM s, vid v, OF(sum, VALUE) incoming)
{
	OF(sum, VALUE) rank = OF(scale, VALUE)(incoming, OF(factor, VALUE)(s.damping));

#if IN_PLACE
	/* What v gives itself is solved for, not waited for: loop[v] is that part of its score. */
	if (s.loops)
		rank -= s.loop[v] * s.score[v];
#endif
	rank += s.personal ? OF(scale, VALUE)((OF(sum, VALUE))s.teleport[v], OF(factor, VALUE)(s.jump)) : OF(of_real, VALUE)(s.base);
#if IN_PLACE
	if (s.loops)
		rank /= 1 - s.loop[v];
#endif
	s.score[v] = (VALUE)rank;
#if IN_PLACE
	OF(dev_store, VALUE)(&s.next[v], (VALUE)(rank / s.degree[v]));
#else
	s.next[v] = (VALUE)(rank / s.degree[v]);
#endif
}

/* Counts the change and the dangling mass, in units of 1 / FIXED_ONE; in place also all mass, which is not always 1 then. */
DEVICE void OF(PROGRAM, apply)(struct PROGRAM s, vid v, OF(sum, VALUE) sum, u64 *count)
{
	f64 old = OF(real, VALUE)(s.score[v]);

	OF(PROGRAM, settle)(s, v, sum);
	count[0] += fixed_f64(dev_abs(OF(real, VALUE)(s.score[v]) - old));
	count[1] += OF(fixed, VALUE)(s.score[v]) & (v < s.sources ? 0 : ~(u64)0);
#if IN_PLACE
	count[2] += OF(fixed, VALUE)(s.score[v]);
#endif
}

/* The scores before the first iteration are what jumps alone give. */
DEVICE f64 OF(PROGRAM, first)(struct PROGRAM s, vid v)
{
	OF(PROGRAM, settle)(s, v, 0);
	return 0;
}

#if IN_PLACE
/* Of the edges only self-loops are wanted. */
DEVICE bool OF(PROGRAM, edge)(struct PROGRAM s, vid u, vid v, u32 w)
{
	(void)w;
	if (u == v)
		OF(dev_store, VALUE)(&s.loop[v], OF(dev_load, VALUE)(&s.loop[v]) + (VALUE)(s.damping / s.degree[v]));
	return u == v;
}
#endif

/* What was made in place does not sum to 1 before its fixed point: damping is the factor that it lacks. */
DEVICE f64 OF(PROGRAM, fill)(struct PROGRAM s, vid v)
{
	s.score[v] = (VALUE)OF(scale, VALUE)((OF(sum, VALUE))s.score[v], OF(factor, VALUE)(s.damping));
	return 0;
}

DEVICE f64 OF(PROGRAM, mass)(struct PROGRAM s, vid v) { return OF(real, VALUE)(s.score[v]); }
