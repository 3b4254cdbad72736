/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bc.op.h for more paths than a double can count (a grid has them): paths x 2^exponent[v], with paths in [1, 2), and
 * shares x 2^-exponent[v]. Device dialect.
 */
#define BC_WIDE_FIELDS(ARRAY, SCALAR) \
	ARRAY(f64, given) \
	ARRAY(f64, mine) \
	ARRAY(f64, paths) \
	ARRAY(f64, dependency) \
	ARRAY(f64, score) \
	ARRAY(u32, exponent) \
	SCALAR(u32, back) \
	SCALAR(u32, root)

STATE(bc_wide, BC_WIDE_FIELDS);

struct wide {
	f64 x;	/* 0, or between 2^-1 and 2^100 */
	i64 e;	/* of 0: WIDE_NONE */
};

#define WIDE_NONE (-((i64)1 << 40))
#define WIDE_APART 200	/* what is so many binary places smaller adds nothing */
#define BC_EXPONENT_MOST 0xffffff00u

/* 2^e, for e in -1022 .. 1023. */
DEVICE f64 bc_wide_power(i64 e) { return f64_of_bits((u64)(e + 1023) << 52); }

DEVICE struct wide bc_wide_start(struct bc_wide s)
{
	struct wide none = { 0, WIDE_NONE };

	(void)s;
	return none;
}

/* While a number is 0 its exponent may be under way; it is read all the same, which is cheaper than to ask. */
DEVICE struct wide bc_wide_gather(struct bc_wide s, vid u, vid v, u32 w)
{
	i64 e = (i64)dev_load_u32(&s.exponent[u]);
	struct wide a = { s.given[u], WIDE_NONE };

	(void)v;
	(void)w;
	e = s.back ? -e : e;
	a.e = a.x > 0 ? e : WIDE_NONE;
	return a;
}

/* Which of the two is larger cannot be foreseen, so nothing branches. */
DEVICE struct wide bc_wide_combine(struct wide a, struct wide b)
{
	i64 d = a.e - b.e, apart = d < 0 ? -d : d;
	f64 high = d < 0 ? b.x : a.x, low = d < 0 ? a.x : b.x;
	struct wide sum;

	sum.x = high + (apart < WIDE_APART ? low : 0) * bc_wide_power(apart < WIDE_APART ? -apart : 0);
	sum.e = d < 0 ? b.e : a.e;
	return sum;
}

/* The number in [1, 2) with the same bits behind the point, and the exponent that it leaves. */
DEVICE f64 bc_wide_fraction(u64 bits) { return f64_of_bits((bits & 0xffffffffffffful) | (u64)1023 << 52); }
DEVICE i64 bc_wide_exponent(u64 bits) { return (i64)(bits >> 52) - 1023; }

/* Counts those with too many paths even so. */
DEVICE void bc_wide_apply(struct bc_wide s, vid v, struct wide sum, u64 *count)
{
	f64 x;
	i64 e;

	if (!s.back) {
		e = sum.e + bc_wide_exponent(bits_f64(sum.x));
		s.mine[v] = bc_wide_fraction(bits_f64(sum.x));
		dev_store_u32(&s.exponent[v], e < (i64)BC_EXPONENT_MOST ? (u32)e : BC_EXPONENT_MOST);
		count[0] += e >= (i64)BC_EXPONENT_MOST;
		return;
	}
	/* At most the number of vertices; what is too small to add to 1 may vanish. */
	e = sum.e + (i64)s.exponent[v];
	x = sum.x > 0 && e > -1000 ? s.paths[v] * sum.x * bc_wide_power(e < 1000 ? e : 1000) : 0;
	s.dependency[v] = x;
	s.mine[v] = (1 + x) / s.paths[v];
	if (v != s.root)
		s.score[v] += x;
}

/* What bc.op.h counted, in this form. */
DEVICE f64 bc_wide_widen(struct bc_wide s, vid v)
{
	u64 bits = bits_f64(s.paths[v]);

	if (!bits)
		return 0;
	s.exponent[v] = (u32)bc_wide_exponent(bits);
	s.paths[v] = bc_wide_fraction(bits);
	return 0;
}
