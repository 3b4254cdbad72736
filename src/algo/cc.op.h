/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak components by linking trees: what happens at one edge. Device dialect.
 *
 * parent[v] <= v always, and parent[v] = v is a root. A link puts the larger of two roots under the smaller, so nothing
 * can form a circle and the last root of a component is its smallest vertex, whatever the order of links.
 */
#define CC_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, parent) \
	SCALAR(u32, largest) \
	SCALAR(u32, round)

#define CC_NOBODY 0xffffffffu

/* largest: a vertex of the tree that need not be looked at, or CC_NOBODY. round: of hooking. */

STATE(cc, CC_FIELDS);

/* True if two trees became one. */
DEVICE bool cc_edge(struct cc s, vid u, vid v, u32 w)
{
	u32 a = dev_load_u32(&s.parent[u]), b = dev_load_u32(&s.parent[v]);

	(void)w;
	while (a != b) {	/* climb from the larger: parents are smaller, so the two meet or a root is found */
		u32 high = a > b ? a : b, up = dev_load_u32(&s.parent[high]), above;

		b = a > b ? b : a;
		if (up == high) {
			up = dev_cas_u32(s.shared, &s.parent[high], high, b);
			if (up == high)
				return true;
		}
		/* Halving the way for those who come after; what is no root moves only to its ancestors. */
		above = dev_load_u32(&s.parent[up]);
		if (above != up)
			dev_store_u32(&s.parent[high], above);
		a = above;
	}
	return false;
}

/* Climbs a few steps towards v's root, and leaves v there. */
DEVICE u32 cc_climb(struct cc s, u32 v)
{
	u32 first = dev_load_u32(&s.parent[v]), at = first, up = dev_load_u32(&s.parent[at]);

	for (u32 steps = 0; up != at && steps < 8; steps++) {
		at = up;
		up = dev_load_u32(&s.parent[at]);
	}
	if (at != first)
		dev_store_u32(&s.parent[v], at);
	return at;
}

/* What is in one tree with `largest` stays there: once false, this is false for ever. */
DEVICE bool cc_cond(struct cc s, vid u)
{
	return s.largest == CC_NOBODY || cc_climb(s, u) != cc_climb(s, s.largest);
}

DEVICE f64 cc_alone(struct cc s, vid v)
{
	s.parent[v] = v;
	return 0;
}

/*
 * Moves v up to its root, but not too far in one go: on a device a long chain is halved for all of its vertices at once.
 * Not 0 for those that are not there yet: a number rather than a choice of two, which PoCL makes a masked load that takes 70 ns
 * on some processors.
 */
DEVICE f64 cc_flat(struct cc s, vid v)
{
	u32 at = dev_load_u32(&s.parent[v]), up = dev_load_u32(&s.parent[at]), steps = 0;

	if (up == at)
		return 0;
	for (; up != at && steps < 64; steps++) {
		at = up;
		up = dev_load_u32(&s.parent[at]);
	}
	dev_store_u32(&s.parent[v], at);
	return up ^ at;
}

/*
 * Hooking (Soman, Kishore, Narayanan 2010): all trees are flat when a round begins, and the root of one end goes under that of the
 * other, the larger under the smaller in even rounds and the other way in odd ones, so that no shape is slow in both.
 * Of several hooks of one root the last stays; the others' edges stay active and try again. Within a round all go
 * the same way, so nothing forms a circle. An edge whose ends agree is done.
 */
DEVICE bool cc_hook(struct cc s, vid u, vid v, u32 w)
{
	u32 a = dev_load_u32(&s.parent[u]), b = dev_load_u32(&s.parent[v]);
	u32 low = a < b ? a : b, high = a < b ? b : a;

	(void)w;
	if (a == b)
		return false;
	if (s.round % 2)
		dev_store_u32(&s.parent[low], high);
	else
		dev_store_u32(&s.parent[high], low);
	return true;
}

/* Labels: the smallest spreads from neighbour to neighbour. */
STATE(cc_label, CC_FIELDS);

typedef u32 cc_label_given;

DEVICE u32 cc_label_value(struct cc_label s, vid u) { return dev_load_u32(&s.parent[u]); }

DEVICE bool cc_label_idle(struct cc_label s, u32 x)
{
	(void)s;
	(void)x;
	return false;
}

DEVICE bool cc_label_relax(struct cc_label s, u32 x, vid v, u32 w)
{
	(void)w;
	return dev_min_u32(s.shared, &s.parent[v], x);
}

/* ---- A sample of the roots, in one go ---- */

#define CC_SAMPLE_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, parent) \
	ARRAY(u32, chosen) \
	ARRAY(u32, root)

STATE(cc_sample, CC_SAMPLE_FIELDS);

DEVICE f64 cc_sample_take(struct cc_sample s, vid i)
{
	s.root[i] = s.parent[s.chosen[i]];
	return 0;
}
