/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers by counter. The i-th number is a function of the seed and i alone, so the same
 * graph is made by any number of threads.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include "base/types.h"

/* Mixes 64 bits (Stafford's variant 13). */
static inline u64 random_mix(u64 x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* Returns the i-th number of a seed: two rounds of the mixer over seed and counter. */
static inline u64 random_at(u64 seed, u64 i)
{
	return random_mix(random_mix(seed + 0x9e3779b97f4a7c15u) ^
			  random_mix(i * 0x9e3779b97f4a7c15u + 1));
}

/* Returns a number in [0, n), without noticeable bias. */
static inline u64 random_below(u64 seed, u64 i, u64 n)
{
	return (u64)(((unsigned __int128)random_at(seed, i) * n) >> 64);
}

/* Returns a number in [0, 1). */
static inline f64 random_unit(u64 seed, u64 i) { return (f64)(random_at(seed, i) >> 11) * 0x1p-53; }

#endif
