/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The precisions of scores: f32, f64, or 64-bit fixed point, in which sums have the same
 * bits in any order. The host handles a number of any precision as its bits, in a u64.
 * Programs compute with the types themselves (op/by_precision.inc).
 */
#ifndef ENGINE_PRECISION_H
#define ENGINE_PRECISION_H

#include <millrace.h>

#include "device/dialect.h"

/* Returns the bytes of one number. */
static inline u32 precision_size(enum mill_precision p)
{
	return p == MILL_F32 ? sizeof(f32) : sizeof(f64);
}
static inline enum mill_type precision_type(enum mill_precision p)
{
	return p == MILL_F32 ? MILL_TYPE_F32 : MILL_TYPE_F64;
}
/*
 * Returns the factor that turns a stored score into the score of the result; 0: the stored
 * score is a float already.
 */
static inline f64 precision_unit(enum mill_precision p)
{
	return p == MILL_EXACT ? 1 / (f64)FIXED_ONE : 0;
}

u64 number_of(enum mill_precision p, f64 x);
f64 number_real(enum mill_precision p, u64 number);
/* Converts to units of 1 / FIXED_ONE. */
u64 number_fixed(enum mill_precision p, u64 number);
/* Multiplies by a factor of at most 1, with the same arithmetic as programs. */
u64 number_scale(enum mill_precision p, u64 number, f64 factor);

#endif
