/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Covering arrays: rows of values of factors, such that any two values of different factors that may meet do meet in some row. The rows come
 * in groups: those of a group differ in the last factor only, so that what the others describe is made once a group.
 */
#ifndef COVER_H
#define COVER_H

#include "base/types.h"

#define COVER_FACTORS 16u
#define COVER_VALUES 64u	/* of one factor */

struct cover {
	u32 n_factors;
	u32 n_values[COVER_FACTORS];
	/* Returns false if value i of factor a and value j of factor b cannot be in one row; a < b. NULL: all can. */
	bool (*may_meet)(u32 a, u32 i, u32 b, u32 j);
};

struct cover_row {
	u8 value[COVER_FACTORS];
};

/*
 * Makes the rows, always the same ones, and returns how many; free *out. every: each group has all values of the last factor that it may meet,
 * otherwise those that make a new pair.
 */
u32 cover_make(const struct cover *c, bool every, struct cover_row **out);
/* Returns the number of pairs that may meet and do not. */
u64 cover_missing(const struct cover *c, const struct cover_row *row, u32 n);

#endif
