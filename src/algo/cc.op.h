/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak components by linking trees: what happens at one edge. Device dialect.
 *
 * parent[v] <= v always, and v is a root if parent[v] = v. A link puts the larger of two
 * roots under the smaller. So there are no circles, and the last root of a component is its
 * smallest vertex for any order of links.
 */
#define CC_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, parent) \
	SCALAR(u32, largest) \
	SCALAR(u32, round)

#define CC_NONE 0xffffffffu

/*
 * largest: a vertex of the tree in which no list need be read, or CC_NONE. round: the number
 * of the round of hooking.
 */

STATE(cc, CC_FIELDS);

/* Links the trees of u and v. Returns true if they were two. */
DEVICE bool cc_edge(struct cc s, vid u, vid v, u32 w)
{
	u32 a = dev_load_u32(&s.parent[u]), b = dev_load_u32(&s.parent[v]);

	(void)w;
	/* Climb from the larger: parents are smaller, so the two meet, or the larger is a root. */
	while (a != b) {
		u32 high = a > b ? a : b, up = dev_load_u32(&s.parent[high]), above;

		b = a > b ? b : a;
		if (up == high) {
			up = dev_cas_u32(s.shared, &s.parent[high], high, b);
			if (up == high)
				return true;
		}
		/*
		 * Halve the path for later links. A vertex that is not a root moves only to
		 * an ancestor.
		 */
		above = dev_load_u32(&s.parent[up]);
		if (above != up)
			dev_store_u32(&s.parent[high], above);
		a = above;
	}
	return false;
}

/* Climbs a few steps towards v's root, and makes the place that it reaches v's parent. */
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

/* Returns true if u is not in the tree of `largest`. Once false, it stays false. */
DEVICE bool cc_cond(struct cc s, vid u)
{
	return s.largest == CC_NONE || cc_climb(s, u) != cc_climb(s, s.largest);
}

/* Makes v a tree of its own. */
DEVICE f64 cc_alone(struct cc s, vid v)
{
	s.parent[v] = v;
	return 0;
}

/*
 * Moves v up towards its root, at most 64 steps: on a device all vertices of a long chain
 * move at once, so the chain gets shorter fast. Returns not 0 if v is not under its root
 * yet. It returns a difference, because PoCL makes a masked load of a choice between two
 * constants, which takes 70 ns on some processors.
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
 * Hooking (Soman, Kishore, Narayanan 2010). All trees are flat when a round begins. The
 * root of one end goes under the root of the other: the larger under the smaller in even
 * rounds, the smaller under the larger in odd rounds, so that no shape is slow in both. If
 * one root is hooked several times, the last hook stays, and the edges of the others stay
 * active and try again. Within a round all hooks go the same way, so there are no circles.
 * Returns false if both ends have the same root: then the edge is done.
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

/* ---- Labels ---- */

/* The smallest label spreads from neighbour to neighbour. parent[v] is the label of v. */

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

/* ---- The roots of a sample of vertices ---- */

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
