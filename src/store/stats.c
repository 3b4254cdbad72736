/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics over lists. */
#include "store/stats.h"

#include <math.h>

/* Returns the number of neighbours that are less than v (with or_equal: not greater). */
static u64 count_below(const vid *neighbour, u64 n, vid v, bool or_equal)
{
	u64 low = 0, high = n;

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (neighbour[middle] < v || (or_equal && neighbour[middle] == v))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void widen(struct stats *s, f64 min, f64 max)
{
	if (!s->edges || min < s->min_weight)
		s->min_weight = min;
	if (!s->edges || max > s->max_weight)
		s->max_weight = max;
}

/* A piece of a list has fewer than 2^32 weights, so their sum fits 64 bits. */
static void add_u32(struct stats *s, const u32 *weight, u64 n)
{
	u32 min = UINT32_MAX, max = 0;
	u64 sum = 0;

	for (u64 k = 0; k < n; k++) {
		min = weight[k] < min ? weight[k] : min;
		max = weight[k] > max ? weight[k] : max;
		sum += weight[k];
	}
	widen(s, min, max);
	s->integer_sum += sum;
}

static void add_i32(struct stats *s, const i32 *weight, u64 n)
{
	i32 min = INT32_MAX, max = INT32_MIN;
	i64 sum = 0;

	for (u64 k = 0; k < n; k++) {
		min = weight[k] < min ? weight[k] : min;
		max = weight[k] > max ? weight[k] : max;
		sum += weight[k];
	}
	widen(s, min, max);
	s->integer_sum += sum;
}

static void add_f32(struct stats *s, const f32 *weight, u64 n)
{
	f32 min = weight[0], max = weight[0];

	for (u64 k = 0; k < n; k++) {
		min = weight[k] < min ? weight[k] : min;
		max = weight[k] > max ? weight[k] : max;
		s->not_a_number |= isnan(weight[k]);
		s->float_sum += (f64)weight[k];
	}
	widen(s, (f64)min, (f64)max);
}

static void add_f64(struct stats *s, const f64 *weight, u64 n)
{
	f64 min = weight[0], max = weight[0];

	for (u64 k = 0; k < n; k++) {
		min = weight[k] < min ? weight[k] : min;
		max = weight[k] > max ? weight[k] : max;
		s->not_a_number |= isnan(weight[k]);
		s->float_sum += weight[k];
	}
	widen(s, min, max);
}

void stats_add(struct stats *s, vid v, const vid *neighbour, const void *weight, u64 n)
{
	if (!n)
		return;
	s->parallel_edges += s->begun && s->vertex == v && s->last == neighbour[0];
	for (u64 k = 1; k < n; k++)
		s->parallel_edges += neighbour[k] == neighbour[k - 1];
	s->begun = true;
	s->vertex = v;
	s->last = neighbour[n - 1];
	s->self_loops += count_below(neighbour, n, v, true) - count_below(neighbour, n, v, false);
	switch (s->weight) {
	case MILL_WEIGHT_NONE:
		break;
	case MILL_WEIGHT_U32:
		add_u32(s, weight, n);
		break;
	case MILL_WEIGHT_I32:
		add_i32(s, weight, n);
		break;
	case MILL_WEIGHT_F32:
		add_f32(s, weight, n);
		break;
	case MILL_WEIGHT_F64:
		add_f64(s, weight, n);
		break;
	}
	s->edges += n;
}

f64 stats_sum_weight(const struct stats *s)
{
	bool integer = s->weight == MILL_WEIGHT_U32 || s->weight == MILL_WEIGHT_I32;

	return integer ? (f64)s->integer_sum : s->float_sum;
}
