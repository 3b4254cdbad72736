/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The macros that every skeleton calls at an edge, derived from the functions of the
 * program. Native templates and kernels include this file; they define WEIGHTS before. A
 * program has one of these forms:
 *
 *	WRITES array	typedef ... given: the type of the value that a source gives;
 *			given value(s, u): the value that source u gives to all its edges;
 *			bool relax(s, x, v, w): applies a source's value x at v, along an edge of
 *			weight w. True if v changed: then v is active next. The only array that it
 *			may touch is WRITES, at v;
 *			bool idle(s, x): true if a source with value x gives nothing now
 *	without WRITES	bool edge(s, u, v, w): true if v changed and is active next
 *	EDGE_KEY 1	u64 edge_key(s, u, v, w) in place of edge: the key that v has from now on,
 *			or NO_KEY if v is not activated. For programs in which v's key may fall
 *			more than once in a step.
 *	EDGE_AT 1	bool edge_at(s, u, v, e, w) in place of edge: e (u32) is the edge's
 *			number, the same in every list that shows the edge (transfer/number.h).
 *			declare_edge_state makes arrays by that number. The numbers come from both
 *			sides of an edge and need a table of 4 bytes per stored edge.
 *	OWNED 1		with EDGE_AT, in scans and edge filters, not in an advance: each edge
 *			comes once, from the vertex that owns it. Numbers then need 4 bytes per
 *			vertex and no table, and state by edge may be streamed beside the pages
 *			(BESIDE).
 *
 * From value, relax and idle come the advance in steps, the asynchronous advance, Graphie's
 * kernels (policy/graphie.cl) and GTS's join (op/join.inc). So a program with WRITES runs
 * under every policy; other programs run over pages, and the report says so.
 *
 * A program may also define
 *
 *	WEIGHT type	the type of the store's weights; without it every weight is 1
 *	VALUE type	the type for which a program of several types is instantiated
 *			(by_weight.inc and by_precision.inc make all instances with one include)
 *	LEVEL scalar	in steps all active sources have this value, so value is not called, and
 *			the first value of a vertex is final (s.ordered)
 *	COND 1		bool cond(s, v): true while v still wants edges; without it always true
 *	PREFETCH array	the array that edges look at, at v; without it the array WRITES
 *
 * Two fields of the state are constants after inlining, so tests of them cost nothing.
 * s.shared is false where one worker owns the vertex that is written (pull): one relax then
 * compiles to a locked operation in a push and to a plain store in a pull. s.ordered is
 * true level by level (LEVEL, in steps) and false where values may fall again (asynchronous
 * runs, Graphie).
 *
 * op/undef.inc removes all of these defines.
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

/*
 * Calls function f of the program at edge i of u's list, with the edge's number if it takes
 * one.
 */
#if EDGE_AT && OWNED
#define CALL_EDGE(f, s, u, v, i) (OWNS(u, v) && f(s, u, v, OWN_NUMBER(u, i), WEIGHT_AT(i)))
#elif EDGE_AT
#define CALL_EDGE(f, s, u, v, i) f(s, u, v, NUMBER_AT(i), WEIGHT_AT(i))
#else
#define CALL_EDGE(f, s, u, v, i) f(s, u, v, WEIGHT_AT(i))
#endif
#define TAKES_NUMBERS (!EDGE_AT ? NUMBERS_NONE : OWNED ? NUMBERS_OWNED : NUMBERS_BOTH)

/*
 * HELD: the type of the value that an edge gets from its source. HELD_BY: the value that it
 * gets from source u. AT_EDGE: calls the program at edge i to v; true if v changed.
 */
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

/* Does the same, and sets key_ to the key that v has then (programs with keys only). */
#ifdef EDGE_KEY
#define AT_EDGE_KEY(s, x, v, i, key_) \
	(((key_) = OF(PROGRAM, edge_key)(s, x, v, WEIGHT_AT(i))) != NO_KEY)
#elif defined(NEAR_FAR) && NEAR_FAR
#define AT_EDGE_KEY(s, x, v, i, key_) \
	(AT_EDGE(s, x, v, i) && ((key_) = OF(PROGRAM, key)(s, v), true))
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
