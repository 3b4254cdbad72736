/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Covering arrays. A row has one value of each factor. Any two values of different factors
 * that may meet are together in some row. Rows come in groups: the rows of a group differ in
 * the last factor only, so that a test sets up the other factors once a group.
 */
#ifndef COVER_H
#define COVER_H

#include "base/types.h"

#define COVER_FACTORS 16u
#define COVER_VALUES 64u	/* the most of one factor */

struct cover {
	u32 n_factors;
	u32 n_values[COVER_FACTORS];
	/* Returns false if value i of factor a excludes value j of factor b, a < b. NULL: never. */
	bool (*may_meet)(u32 a, u32 i, u32 b, u32 j);
};

struct cover_row {
	u8 value[COVER_FACTORS];
};

/*
 * Makes the rows and returns their number; the caller frees *out. Equal arguments give equal
 * rows. every: a group has all values of the last factor that it may meet, not only those
 * that add a pair.
 */
u32 cover_make(const struct cover *c, bool every, struct cover_row **out);
/* Returns the number of pairs that may meet and are in no row. */
u64 cover_missing(const struct cover *c, const struct cover_row *row, u32 n);

#endif
