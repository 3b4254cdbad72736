/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strong components: what happens at one edge. Device dialect.
 *
 * root[v] is NO_ROOT while v is open, then a vertex of its component, the same for all. Open vertices of different
 * colours are known to be in different components; edges between them, and those of closed vertices, no longer count.
 * mark[v] is scratch of the step: flags, or a label.
 */
#define NO_ROOT 0xffffffffu

#define SCC_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, root) \
	ARRAY(u32, colour) \
	ARRAY(u32, mark) \
	SCALAR(u32, pivot) \
	SCALAR(u32, flag) \
	SCALAR(u32, within)

/* Flags: reached from the pivot, reaches it; has an edge to somebody, from somebody. */
#define SCC_FORWARD 1u
#define SCC_BACKWARD 2u
#define SCC_OUT 1u
#define SCC_IN 2u
#define SCC_BOTH 3u

#define SCC_OPEN(s, v) (dev_load_u32(&(s).root[v]) == NO_ROOT)

STATE(scc, SCC_FIELDS);

/* ---- What a pivot reaches, and what of that reaches it: `flag` says which, and who has not the flags `within` is left out ---- */

DEVICE bool scc_edge(struct scc s, vid u, vid v, u32 w)
{
	u32 old = dev_load_u32(&s.mark[v]);

	(void)u;
	(void)w;
	if ((old & (s.flag | s.within)) != s.within || !SCC_OPEN(s, v))
		return false;
	return dev_cas_u32(s.shared, &s.mark[v], old, old | s.flag) == old;
}

DEVICE bool scc_cond(struct scc s, vid v)
{
	return (dev_load_u32(&s.mark[v]) & (s.flag | s.within)) == s.within && SCC_OPEN(s, v);
}

/* Who has both is in the pivot's component; of the others no component has vertices with different flags. */
DEVICE f64 scc_settle(struct scc s, vid v)
{
	u32 mark = s.mark[v];

	s.mark[v] = 0;
	if (mark == SCC_BOTH)
		s.root[v] = s.pivot;
	s.colour[v] = mark;
	return mark == SCC_BOTH;
}

/* ---- Trimming: who has no edge out or none in is alone ---- */

STATE(scc_live, SCC_FIELDS);

/* True if the edge still counts. */
DEVICE bool scc_live_edge(struct scc_live s, vid u, vid v, u32 w)
{
	(void)w;
	if (u == v || !SCC_OPEN(s, v) || s.colour[u] != s.colour[v])
		return false;
	dev_or_u32(s.shared, &s.mark[u], SCC_OUT);
	dev_or_u32(s.shared, &s.mark[v], SCC_IN);
	return true;
}

DEVICE bool scc_live_cond(struct scc_live s, vid u) { return SCC_OPEN(s, u); }

DEVICE f64 scc_trim(struct scc s, vid v)
{
	bool alone = s.mark[v] != SCC_BOTH && s.root[v] == NO_ROOT;

	s.mark[v] = 0;
	if (alone)
		s.root[v] = v;
	return alone;
}

/* ---- Colouring: the smallest vertex that reaches v is its label; who also reaches that one is with it ---- */

DEVICE f64 scc_paint(struct scc s, vid v)
{
	s.mark[v] = v;
	return 0;
}

STATE(scc_spread, SCC_FIELDS);

DEVICE bool scc_spread_edge(struct scc_spread s, vid u, vid v, u32 w)
{
	(void)w;
	if (!SCC_OPEN(s, u) || !SCC_OPEN(s, v) || s.colour[u] != s.colour[v])
		return false;
	return dev_min_u32(s.shared, &s.mark[v], dev_load_u32(&s.mark[u]));
}

DEVICE bool scc_spread_cond(struct scc_spread s, vid v) { return SCC_OPEN(s, v); }

/* The label itself is the first of its component. */
DEVICE f64 scc_found(struct scc s, vid v)
{
	bool first = s.root[v] == NO_ROOT && s.mark[v] == v;

	if (first)
		s.root[v] = v;
	return first;
}

STATE(scc_claim, SCC_FIELDS);

/* Over in-edges: v leads to u, whose component is known in this round. */
DEVICE bool scc_claim_edge(struct scc_claim s, vid u, vid v, u32 w)
{
	u32 root = dev_load_u32(&s.root[u]);

	(void)w;
	if (root == NO_ROOT || root != s.mark[u] || s.mark[v] != root || s.colour[u] != s.colour[v] || !SCC_OPEN(s, v))
		return false;
	return dev_cas_u32(s.shared, &s.root[v], NO_ROOT, root) == NO_ROOT;
}

DEVICE bool scc_claim_cond(struct scc_claim s, vid v) { return SCC_OPEN(s, v); }

/* What is left has the labels for colours. Counts it. */
DEVICE f64 scc_divide(struct scc s, vid v)
{
	s.colour[v] = s.mark[v];
	s.mark[v] = 0;
	return s.root[v] == NO_ROOT;
}
