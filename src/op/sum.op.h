/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reduction as a push: the value of a source is added to the sum of each of its neighbours
 * (op/sum.c). Device dialect, written for VALUE f32, f64 and u64. Sums have 64 bits.
 */
#define SUM_FIELDS(ARRAY, SCALAR) ARRAY(OF(sum, VALUE), sum)

STATE(PROGRAM, SUM_FIELDS);

#define dev_add_sum_f32 dev_add_f64
#define dev_add_sum_f64 dev_add_f64
#define dev_add_sum_u64 dev_add_u64

typedef VALUE OF(PROGRAM, given);

/* Never called: the values of sources are always sent beside the page. */
DEVICE VALUE OF(PROGRAM, value)(struct PROGRAM s, vid u)
{
	(void)s;
	(void)u;
	return 0;
}

DEVICE bool OF(PROGRAM, idle)(struct PROGRAM s, VALUE x)
{
	(void)s;
	return x == 0;
}

DEVICE bool OF(PROGRAM, relax)(struct PROGRAM s, VALUE x, vid v, u32 w)
{
	(void)w;
	OF(dev_add_sum, VALUE)(s.shared, &s.sum[v], (OF(sum, VALUE))x);
	return true;
}
