/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitmaps of 64-bit words. The unused bits of the last word stay zero. Atomic accesses are
 * relaxed: they do not order other memory.
 */
#ifndef BASE_BITMAP_H
#define BASE_BITMAP_H

#include "base/types.h"

static inline u64 bitmap_words(u64 n_bits) { return div_up(n_bits, 64); }

static inline bool bitmap_get(const u64 *bits, u64 i)
{
	return (__atomic_load_n(&bits[i / 64], __ATOMIC_RELAXED) >> (i % 64)) & 1;
}

/* Sets bit i. Not atomic: each word may have one writer only. */
static inline void bitmap_put(u64 *bits, u64 i) { bits[i / 64] |= (u64)1 << (i % 64); }

/*
 * Sets bit i; several threads may write. Returns true if the bit was clear before. Reads the
 * word first, since most bits are set already and a read is cheaper than an atomic OR.
 */
static inline bool bitmap_claim(u64 *bits, u64 i)
{
	u64 mask = (u64)1 << (i % 64);

	if (__atomic_load_n(&bits[i / 64], __ATOMIC_RELAXED) & mask)
		return false;
	return !(__atomic_fetch_or(&bits[i / 64], mask, __ATOMIC_RELAXED) & mask);
}

/* Sets the bits of `word` in word w; several threads may write. */
static inline void bitmap_merge(u64 *bits, u64 w, u64 word)
{
	if (word)
		__atomic_fetch_or(&bits[w], word, __ATOMIC_RELAXED);
}

/* Returns the bits of word w that lie in [begin, end). */
static inline u64 bitmap_window(const u64 *bits, u64 w, u64 begin, u64 end)
{
	u64 word = __atomic_load_n(&bits[w], __ATOMIC_RELAXED);

	if (w == begin / 64)
		word &= ~(u64)0 << (begin % 64);
	if (end < (w + 1) * 64)
		word &= ((u64)1 << (end % 64)) - 1;
	return word;
}

/*
 * Returns the bits of word w that lie in [begin, end), and clears them. Other threads may
 * write other bits of the word at the same time.
 */
static inline u64 bitmap_take(u64 *bits, u64 w, u64 begin, u64 end)
{
	u64 word = bitmap_window(bits, w, begin, end);

	if (word)
		__atomic_fetch_and(&bits[w], ~word, __ATOMIC_RELAXED);
	return word;
}

/* Returns the number of set bits. Plain C: not every processor has a POPCNT instruction. */
static inline u32 bits_in(u32 word)
{
	word -= word >> 1 & 0x55555555;
	word = (word & 0x33333333) + (word >> 2 & 0x33333333);
	word = (word + (word >> 4)) & 0x0f0f0f0f;
	return word * 0x01010101 >> 24;
}

/* Returns true if any bit of [begin, end) is set. */
bool bitmap_any(const u64 *bits, u64 begin, u64 end);
/* Returns the number of set bits in [begin, end). */
u64 bitmap_count(const u64 *bits, u64 begin, u64 end);

#endif
