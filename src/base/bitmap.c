/* SPDX-License-Identifier: Apache-2.0 */
/* Bitmaps: the functions over ranges of bits. */
#include "base/bitmap.h"

bool bitmap_any(const u64 *bits, u64 begin, u64 end)
{
	if (begin >= end)
		return false;
	for (u64 w = begin / 64; w <= (end - 1) / 64; w++)
		if (bitmap_window(bits, w, begin, end))
			return true;
	return false;
}

u64 bitmap_count(const u64 *bits, u64 begin, u64 end)
{
	u64 n = 0;

	if (begin >= end)
		return 0;
	for (u64 w = begin / 64; w <= (end - 1) / 64; w++)
		n += (u64)__builtin_popcountll(bitmap_window(bits, w, begin, end));
	return n;
}
