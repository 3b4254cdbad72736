/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a skeleton calls at an edge, derived from what the program gives; included by native templates and kernels alike, which say
 * what WEIGHTS are. A program has one of these forms:
 *
 *	WRITES array	typedef given; given value(s, u): what source u gives; bool relax(s, x, v, w): what an edge does with it, true if
 *			v changed; bool idle(s, x): a source that has x gives nothing now. relax touches only the array, at v.
 *	otherwise	bool edge(s, u, v, w); with EDGE_KEY 1 instead u64 edge_key(s, u, v, w): the key that v has from now on, NO_KEY if nothing
 *			becomes of it. For programs whose keys fall more than once in a step, where `edge` may be true once only.
 *	EDGE_AT 1	bool edge_at(s, u, v, e, w) instead: e (u32) is the edge's number, the same in every list that shows it
 *			(transfer/number.h), by which declare_edge_state makes state. OWNED 1: each edge comes once, from the vertex that owns it;
 *			that needs 4 bytes a vertex and no table, and its state by edge may be streamed (BESIDE). Not for an advance.
 *
 * LEVEL scalar: in steps every active source has this value, so it is not read, and the first value of a vertex is final (s.ordered).
 * COND 1: the program gives bool cond(s, v), v still wants something; otherwise all do. PREFETCH array: what edges look at, at v;
 * otherwise what they write. op/undef.inc ends it all.
 */
#ifndef COND
#define COND 0
#endif
#ifndef EDGE_AT
#define EDGE_AT 0
#endif
#ifndef OWNED
#define OWNED 0
#endif
#ifdef LEVEL
#define ORDERED 1
#else
#define ORDERED 0
#endif

#ifdef WEIGHT
#define WEIGHT_AT(i) WEIGHTS[i]
#else
#define WEIGHT_AT(i) 1
#endif

/* Calls a function of the program at edge i of u's list. */
#if EDGE_AT && OWNED
#define CALL_EDGE(f, s, u, v, i) (OWNS(u, v) && f(s, u, v, OWN_NUMBER(u, i), WEIGHT_AT(i)))
#elif EDGE_AT
#define CALL_EDGE(f, s, u, v, i) f(s, u, v, NUMBER_AT(i), WEIGHT_AT(i))
#else
#define CALL_EDGE(f, s, u, v, i) f(s, u, v, WEIGHT_AT(i))
#endif
#define TAKES_NUMBERS (!EDGE_AT ? NUMBERS_NONE : OWNED ? NUMBERS_OWNED : NUMBERS_BOTH)

#ifdef WRITES
#define HELD OF(PROGRAM, given)
#define AT_EDGE(s, x, v, i) OF(PROGRAM, relax)(s, x, v, WEIGHT_AT(i))
#ifdef LEVEL
#define HELD_BY(s, u) ((s).ordered ? (s).LEVEL : OF(PROGRAM, value)(s, u))
#else
#define HELD_BY(s, u) OF(PROGRAM, value)(s, u)
#endif
#else
#define HELD vid
#define HELD_BY(s, u) (u)
#ifdef EDGE_KEY
#define AT_EDGE(s, x, v, i) (OF(PROGRAM, edge_key)(s, x, v, WEIGHT_AT(i)) != NO_KEY)
#elif EDGE_AT
#define AT_EDGE(s, x, v, i) CALL_EDGE(OF(PROGRAM, edge_at), s, x, v, i)
#else
#define AT_EDGE(s, x, v, i) CALL_EDGE(OF(PROGRAM, edge), s, x, v, i)
#endif
#endif

/* The same, and what v then has as a key. */
#ifdef EDGE_KEY
#define AT_EDGE_KEY(s, x, v, i, key_) (((key_) = OF(PROGRAM, edge_key)(s, x, v, WEIGHT_AT(i))) != NO_KEY)
#elif defined(NEAR_FAR) && NEAR_FAR
#define AT_EDGE_KEY(s, x, v, i, key_) (AT_EDGE(s, x, v, i) && ((key_) = OF(PROGRAM, key)(s, v), true))
#else
#define AT_EDGE_KEY(s, x, v, i, key_) AT_EDGE(s, x, v, i)
#endif

#if COND
#define WANTS(s, v) OF(PROGRAM, cond)(s, v)
#else
#define WANTS(s, v) ((void)(s), (void)(v), true)
#endif

#ifdef PREFETCH
#define FETCH(s, v) dev_prefetch(&(s).PREFETCH[v])
#elif defined(WRITES)
#define FETCH(s, v) dev_prefetch(&(s).WRITES[v])
#else
#define FETCH(s, v) ((void)(s), (void)(v))
#endif
