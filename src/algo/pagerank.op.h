/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PageRank by pulling: the contribution of a neighbour, and the score that a vertex gets
 * from all contributions. Device dialect, written for VALUE f32, f64 and u64 (fixed point:
 * sums of integers have the same bits in any order).
 *
 * share[u] is score[u] / out-degree of u, the contribution of u to each neighbour. next[u]
 * is the share of the next iteration. So one pass gathers old shares and makes new ones.
 * IN_PLACE: both are one array, so new scores are used at once (Gauss-Seidel), and several
 * workers read and write it.
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
 * score = jump + damping x (incoming + dangling mass). Jumps and dangling mass go to all
 * vertices equally (base holds both), or to the personalization vector (teleport, in units
 * of jump). Vertices without out-edges have degree 1, so no branch depends on the vertex.
 */
DEVICE void OF(PROGRAM, settle)(struct PROGRAM s, vid v, OF(sum, VALUE) incoming)
{
	OF(sum, VALUE) rank = OF(scale, VALUE)(incoming, OF(factor, VALUE)(s.damping));

#if IN_PLACE
	/*
	 * Solves for v's contribution to itself. loop[v] is that contribution, as a share
	 * of v's score.
	 */
	if (s.loops)
		rank -= s.loop[v] * s.score[v];
#endif
	rank += s.personal ?
			OF(scale, VALUE)((OF(sum, VALUE))s.teleport[v], OF(factor, VALUE)(s.jump)) :
			OF(of_real, VALUE)(s.base);
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

/*
 * Counts the change and the dangling mass, in units of 1 / FIXED_ONE. In place it also
 * counts the mass of all vertices, which need not be 1 then.
 */
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

/* Makes the scores before the first iteration: jumps only. */
DEVICE f64 OF(PROGRAM, first)(struct PROGRAM s, vid v)
{
	OF(PROGRAM, settle)(s, v, 0);
	return 0;
}

#if IN_PLACE
/* Adds up the self-loops of v. Other edges do nothing. */
DEVICE bool OF(PROGRAM, edge)(struct PROGRAM s, vid u, vid v, u32 w)
{
	(void)w;
	if (u == v)
		OF(dev_store, VALUE)(&s.loop[v], OF(dev_load, VALUE)(&s.loop[v]) +
						 (VALUE)(s.damping / s.degree[v]));
	return u == v;
}
#endif

/*
 * Multiplies a score by a factor, which `damping` holds here. Scores that were made in
 * place do not sum to 1 before their fixed point.
 */
DEVICE f64 OF(PROGRAM, fill)(struct PROGRAM s, vid v)
{
	s.score[v] = (VALUE)OF(scale, VALUE)((OF(sum, VALUE))s.score[v],
					     OF(factor, VALUE)(s.damping));
	return 0;
}

DEVICE f64 OF(PROGRAM, mass)(struct PROGRAM s, vid v) { return OF(real, VALUE)(s.score[v]); }
