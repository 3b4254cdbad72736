/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The macros that a reduction calls at a neighbour, derived from the functions of the
 * program. The native template and the kernels include it. With GIVEN the reduction is
 * the plain sum of the neighbours' elements of that array. reduce.inc undefines these
 * macros again.
 */
#ifdef GIVEN
#define START(s) ((void)(s), (SUM)0)
#define GATHER(s, u, v, w) ((void)(v), (void)(w), (SUM)(s).GIVEN[u])
#define COMBINE(a, b) ((a) + (b))
#else
#define START(s) OF(PROGRAM, start)(s)
#define GATHER(s, u, v, w) OF(PROGRAM, gather)(s, u, v, w)
#define COMBINE(a, b) OF(PROGRAM, combine)(a, b)
#endif
