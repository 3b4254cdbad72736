/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness (bc.op.h) for more paths than a double can count, as on a grid. The paths to
 * v are paths[v] x 2^exponent[v], with paths[v] in [1, 2), and shares are x 2^-exponent[v].
 * Device dialect.
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
	i64 e;	/* the exponent; WIDE_NONE if x is 0 */
};

#define WIDE_NONE (-((i64)1 << 40))
#define WIDE_APART 200	/* a number that is smaller by 2^200 adds nothing */
#define BC_EXPONENT_MOST 0xffffff00u

/* Returns 2^e, for e in -1022 .. 1023. */
DEVICE f64 bc_wide_power(i64 e) { return f64_of_bits((u64)(e + 1023) << 52); }

DEVICE struct wide bc_wide_start(struct bc_wide s)
{
	struct wide none = { 0, WIDE_NONE };

	(void)s;
	return none;
}

/*
 * While a number is 0, another worker may be writing its exponent. It is read anyway, which
 * is cheaper than a test, and not used.
 */
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

/* Adds without branches: a branch predictor could not guess which of the two is larger. */
DEVICE struct wide bc_wide_combine(struct wide a, struct wide b)
{
	i64 d = a.e - b.e, apart = d < 0 ? -d : d;
	f64 high = d < 0 ? b.x : a.x, low = d < 0 ? a.x : b.x;
	struct wide sum;

	sum.x = high + (apart < WIDE_APART ? low : 0) *
		       bc_wide_power(apart < WIDE_APART ? -apart : 0);
	sum.e = d < 0 ? b.e : a.e;
	return sum;
}

/* Return the fraction of a double, in [1, 2), and its exponent. */
DEVICE f64 bc_wide_fraction(u64 bits)
{
	return f64_of_bits((bits & 0xffffffffffffful) | (u64)1023 << 52);
}
DEVICE i64 bc_wide_exponent(u64 bits) { return (i64)(bits >> 52) - 1023; }

/* count[0]: vertices with too many paths even for this form. */
DEVICE void bc_wide_apply(struct bc_wide s, vid v, struct wide sum, u64 *count)
{
	f64 x;
	i64 e;

	if (!s.back) {
		e = sum.e + bc_wide_exponent(bits_f64(sum.x));
		s.mine[v] = bc_wide_fraction(bits_f64(sum.x));
		dev_store_u32(&s.exponent[v],
			      e < (i64)BC_EXPONENT_MOST ? (u32)e : BC_EXPONENT_MOST);
		count[0] += e >= (i64)BC_EXPONENT_MOST;
		return;
	}
	/*
	 * The dependency is at most the number of vertices. One that is too small to add to
	 * 1 may become 0.
	 */
	e = sum.e + (i64)s.exponent[v];
	x = sum.x > 0 && e > -1000 ? s.paths[v] * sum.x * bc_wide_power(e < 1000 ? e : 1000) : 0;
	s.dependency[v] = x;
	s.mine[v] = (1 + x) / s.paths[v];
	if (v != s.root)
		s.score[v] += x;
}

/* Converts the paths that bc.op.h counted. */
DEVICE f64 bc_wide_widen(struct bc_wide s, vid v)
{
	u64 bits = bits_f64(s.paths[v]);

	if (!bits)
		return 0;
	s.exponent[v] = (u32)bc_wide_exponent(bits);
	s.paths[v] = bc_wide_fraction(bits);
	return 0;
}
