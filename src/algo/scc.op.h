/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strong components: what happens at one edge. Device dialect.
 *
 * root[v] is NO_ROOT while v is open, then a vertex of its component, the same one for all
 * of its vertices. Open vertices of different colours are in different components. Edges
 * between them, and edges of closed vertices, no longer count. mark[v] is scratch of a
 * step: flags, or a label.
 */
#define NO_ROOT 0xffffffffu

#define SCC_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, root) \
	ARRAY(u32, colour) \
	ARRAY(u32, mark) \
	SCALAR(u32, pivot) \
	SCALAR(u32, flag) \
	SCALAR(u32, within)

/* Flags of mark[v]: reached from the pivot, reaches the pivot; has an out-edge, has an in-edge. */
#define SCC_FORWARD 1u
#define SCC_BACKWARD 2u
#define SCC_OUT 1u
#define SCC_IN 2u
#define SCC_BOTH 3u

#define SCC_OPEN(s, v) (dev_load_u32(&(s).root[v]) == NO_ROOT)

STATE(scc, SCC_FIELDS);

/* ---- Search from the pivot ---- */

/*
 * Sets `flag` in the vertices that the pivot reaches or, along in-edges, in the vertices
 * that reach the pivot. Vertices without the flags `within` are left out.
 */
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

/*
 * Vertices with both flags are the pivot's component. All vertices of another component
 * have the same flags, so these become its colour.
 */
DEVICE f64 scc_settle(struct scc s, vid v)
{
	u32 mark = s.mark[v];

	s.mark[v] = 0;
	if (mark == SCC_BOTH)
		s.root[v] = s.pivot;
	s.colour[v] = mark;
	return mark == SCC_BOTH;
}

/* ---- Trimming ---- */

/* A vertex without an out-edge or without an in-edge is a component of its own. */

STATE(scc_live, SCC_FIELDS);

/* Returns true if the edge still counts. */
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

/* ---- Colouring ---- */

/*
 * The label of v is the smallest vertex that reaches it. If v also reaches that vertex,
 * both are in one component.
 */

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

/* A vertex that is its own label is the first of its component. */
DEVICE f64 scc_found(struct scc s, vid v)
{
	bool first = s.root[v] == NO_ROOT && s.mark[v] == v;

	if (first)
		s.root[v] = v;
	return first;
}

STATE(scc_claim, SCC_FIELDS);

/* Over in-edges: v leads to u. If u's component was found in this round, v joins it. */
DEVICE bool scc_claim_edge(struct scc_claim s, vid u, vid v, u32 w)
{
	u32 root = dev_load_u32(&s.root[u]);

	(void)w;
	if (root == NO_ROOT || root != s.mark[u] || s.mark[v] != root ||
	    s.colour[u] != s.colour[v] || !SCC_OPEN(s, v))
		return false;
	return dev_cas_u32(s.shared, &s.root[v], NO_ROOT, root) == NO_ROOT;
}

DEVICE bool scc_claim_cond(struct scc_claim s, vid v) { return SCC_OPEN(s, v); }

/* Makes the label of each vertex its colour. Counts the vertices that are still open. */
DEVICE f64 scc_divide(struct scc s, vid v)
{
	s.colour[v] = s.mark[v];
	s.mark[v] = 0;
	return s.root[v] == NO_ROOT;
}
