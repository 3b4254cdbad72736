/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The precisions in which scores are kept: f32, f64, or 64-bit fixed point, in which sums have the same bits in any order. A number of one is
 * handled as its bits, in a u64; programs compute with the types themselves (op/by_precision.inc).
 */
#ifndef ENGINE_PRECISION_H
#define ENGINE_PRECISION_H

#include <millrace.h>

#include "device/dialect.h"

static inline u32 precision_size(enum mill_precision p) { return p == MILL_F32 ? sizeof(f32) : sizeof(f64); }
static inline enum mill_type precision_type(enum mill_precision p) { return p == MILL_F32 ? MILL_TYPE_F32 : MILL_TYPE_F64; }
/* Of a score on its way out; 0: it is a float. */
static inline f64 precision_unit(enum mill_precision p) { return p == MILL_EXACT ? 1 / (f64)FIXED_ONE : 0; }

u64 number_of(enum mill_precision p, f64 x);
f64 number_real(enum mill_precision p, u64 number);
/* In units of 1 / FIXED_ONE. */
u64 number_fixed(enum mill_precision p, u64 number);
/* Multiplies by a factor of at most 1, as programs do. */
u64 number_scale(enum mill_precision p, u64 number, f64 factor);

#endif
