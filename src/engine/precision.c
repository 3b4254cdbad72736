/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between the precisions of scores; precision.h has the contract. */
#include "engine/precision.h"

#include <string.h>

static f32 f32_of(u64 number)
{
	f32 x;

	memcpy(&x, &number, sizeof(x));
	return x;
}

static u64 bits_of(f32 x)
{
	u64 number = 0;

	memcpy(&number, &x, sizeof(x));
	return number;
}

u64 number_of(enum mill_precision p, f64 x)
{
	return p == MILL_F32 ? bits_of((f32)x) : p == MILL_F64 ? bits_f64(x) : of_real_u64(x);
}

f64 number_real(enum mill_precision p, u64 number)
{
	return p == MILL_F32   ? (f64)f32_of(number)
	       : p == MILL_F64 ? f64_of_bits(number)
			       : (f64)number * precision_unit(p);
}

u64 number_fixed(enum mill_precision p, u64 number)
{
	return p == MILL_EXACT ? number : fixed_f64(number_real(p, number));
}

u64 number_scale(enum mill_precision p, u64 number, f64 factor)
{
	if (p == MILL_EXACT)
		return scale_u64(number, fixed_factor(factor));
	return number_of(p, number_real(p, number) * factor);
}
