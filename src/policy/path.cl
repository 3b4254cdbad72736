/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LargeGraph's kernels (Zhang et al., TACO 2021, section 3.2.4): a work-group takes a chunk
 * of paths (transfer/gather.h has its layout). The defines and the program stand before this
 * text. STAGED 1: the values of the chunk's vertices are copied to local memory first
 * (S'_val), and the program works on the copies (figure 7, step 1); then they are merged into
 * the device's master (step 2). STAGED 0: the program works on the master itself.
 *
 * A work-item takes a path at a time. Paths of one edge stand apart, so that neighbouring
 * work-items take neighbouring edges, and no work-item walks along a hub's list alone. A
 * chunk is repeated while one of its sources has changed, at most `sweeps` times.
 *
 * `used` is the oldest value that a source gave in the last sweep. If all of its out-edges
 * are in the chunk (the source is sole), that is what it has sent. An additive program lets
 * heads give what they have at the beginning of a sweep, and links when the path comes to
 * them: each gives the same along all its edges.
 */
#define NO_PARAM(type, name)
#define ONLY_SCALAR(type, name) type field_##name,
#define NO_ARRAY(type, name) 0,
#define SCALAR_OF(type, name) field_##name,

typedef __typeof__(+*((struct PROGRAM *)0)->WRITES) OF(PROGRAM, held);
#define KEY OF(PROGRAM, held)

#define MERGE_ADD_F64 1
#define MERGE_ADD_U64 2

/* Words of a chunk's header. */
#define CHUNK_VERTICES 0
#define CHUNK_HEADS 1
#define CHUNK_SOLE 2
#define CHUNK_SOURCES 3
#define CHUNK_PATHS 4
#define CHUNK_INDEXES 5
#define CHUNK_SINGLE 6
#define CHUNK_WIDTH 7
#define CHUNK_WEIGHTS 8
#define CHUNK_HEADER 10

typedef unsigned short u16;

/* ---- Words that several work-items touch ---- */

#define AS_KEY(space, p, call4, call8) \
	(sizeof(KEY) == 4 ? (KEY)call4((volatile space u32 *)(p), 0u) : \
			    (KEY)call8((volatile space u64 *)(p), 0ul))
#ifdef RACE_CHECK
#define LOCAL_KEY(p) AS_KEY(LOCAL, p, atomic_add, atom_add)
#define FAR_KEY(p) AS_KEY(FAR, p, atomic_add, atom_add)
#define FAR_STORE(p, x) \
	do { \
		if (sizeof(KEY) == 4) \
			atomic_xchg((volatile FAR u32 *)(p), (u32)(x)); \
		else \
			atom_xchg((volatile FAR u64 *)(p), (u64)(x)); \
	} while (0)
#define FAR_WORD(p) atomic_add((volatile FAR u32 *)(p), 0u)
#else
#define LOCAL_KEY(p) (*(volatile LOCAL KEY *)(p))
#define FAR_KEY(p) (*(const volatile FAR KEY *)(p))
#define FAR_STORE(p, x) ((void)(*(volatile FAR KEY *)(p) = (x)))
#define FAR_WORD(p) (*(const volatile FAR u32 *)(p))
#endif

/* Sets the bit of v among the vertices that changed. */
static inline void set_changed(FAR u32 *changed, u32 v)
{
	if (!(FAR_WORD(&changed[v / 32]) >> v % 32 & 1))
		atomic_or((volatile FAR u32 *)&changed[v / 32], 1u << v % 32);
}

/* Raises a local word to x. */
static inline void raise(LOCAL KEY *p, KEY x)
{
#if !ADDS
	if (LOCAL_KEY(p) >= x)
		return;
	if (sizeof(KEY) == 4)
		atomic_max((volatile LOCAL u32 *)p, (u32)x);
	else
		atom_max((volatile LOCAL u64 *)p, (u64)x);
#else
	(void)p;
	(void)x;
#endif
}

#if ADDS
static inline void far_add(FAR KEY *p, KEY x)
{
#if MERGE == MERGE_ADD_F64
	u64 old = *(volatile FAR u64 *)p, held;

	while ((held = atom_cmpxchg((volatile FAR u64 *)p, old,
				    bits_f64(f64_of_bits(old) + x))) != old)
		old = held;
#else
	atom_add((volatile FAR u64 *)p, x);
#endif
}
#else
/* Lowers a word of the master. Returns true if that changed it. */
static inline bool far_min(FAR KEY *p, KEY x)
{
	if (FAR_KEY(p) <= x)
		return false;
	return sizeof(KEY) == 4 ? atomic_min((volatile FAR u32 *)p, (u32)x) > (u32)x :
				  atom_min((volatile FAR u64 *)p, (u64)x) > (u64)x;
}
#endif

static inline void far_count(FAR u64 *counts, u32 which, u64 n)
{
	if (n)
		atom_add((volatile FAR u64 *)
				 &counts[get_group_id(0) % COUNT_COPIES * COUNT_STRIDE + which], n);
}

/* Returns weight i. Weights from 0 to 255 (65,535) take 1 (2) bytes. */
#ifdef WEIGHT
#define WEIGHT_OF(i) \
	(width == 1 ? (WEIGHT)weight[i] : \
	 width == 2 ? (WEIGHT)((FAR const u16 *)weight)[i] : \
		      ((FAR const WEIGHT *)weight)[i])
#else
#define WEIGHT_OF(i) 1
#endif

/* ---- Chunks of paths ---- */

#if STAGED
#define PLACE(i) (i)
#define KEY_OF(i) LOCAL_KEY(&loc[i])
#else
#define PLACE(i) vertex[i]
#define KEY_OF(i) FAR_KEY(&value[vertex[i]])
#endif

/*
 * Runs edge e from local vertex u to v: u gives x. Counts it, and notes whether a source of
 * the chunk has changed.
 */
#define RUN_EDGE(x, v, e) \
	do { \
		edges++; \
		if (!OF(PROGRAM, idle)(s, x) && \
		    OF(PROGRAM, relax)(s, x, PLACE(v), WEIGHT_OF(e))) { \
			updates++; \
			if ((v) < n_sources) \
				again = 1; \
			if (!STAGED) \
				set_changed(changed, vertex[v]); \
		} \
	} while (0)

#if ADDS
/* Lets local vertex u give now. */
#define TURN(u) \
	do { \
		KEY now_ = loc[u]; \
		give[u] = OF(PROGRAM, gives)(s, now_, mark[u], factor[vertex[u]]); \
		mark[u] = now_; \
	} while (0)
#endif

#define CHUNK_PARAMS \
	FIELDS(NO_PARAM, ONLY_SCALAR) \
	FAR const u32 *arena, u32 slot_words, FAR const u32 *list, u32 list_at, u32 n_list, \
	FAR KEY *value, FAR KEY *sent, FAR const KEY *factor, FAR u32 *changed, u32 sweeps, \
	FAR u64 *counts, LOCAL KEY *space, u32 most

/*
 * Local memory has `most` elements for each of: values (staged), used or `mark` (what was
 * sent), and for an additive program: values at the beginning, `give`.
 */
__kernel void OF(PROGRAM, path_chunks)(CHUNK_PARAMS)
{
	struct PROGRAM s = { FIELDS(NO_ARRAY, SCALAR_OF) true, false };
	LOCAL KEY *loc = space, *mark = space + most;
#if ADDS
	LOCAL KEY *before = space + 2 * most, *give = space + 3 * most;
#endif
	SHARED u32 any;
	u64 edges = 0, updates = 0;
	u32 me = (u32)get_local_id(0);

#if STAGED
	s.WRITES = loc;
#if ADDS
	s.SENT = mark;
#endif
#else
	s.WRITES = value;
#if ADDS
	s.SENT = sent;
#endif
#endif
	for (u32 c = (u32)get_group_id(0); c < n_list; c += (u32)get_num_groups(0)) {
		FAR const u32 *chunk = arena + (u64)list[list_at + c] * slot_words;
		u32 n_vertices = chunk[CHUNK_VERTICES], n_sole = chunk[CHUNK_SOLE],
		    n_sources = chunk[CHUNK_SOURCES], n_paths = chunk[CHUNK_PATHS],
		    n_single = chunk[CHUNK_SINGLE], n_indexes = chunk[CHUNK_INDEXES],
		    width = chunk[CHUNK_WIDTH];
		FAR const u32 *vertex = chunk + CHUNK_HEADER;
		FAR const u16 *path = (FAR const u16 *)(vertex + n_vertices),
			      *index = path + n_paths + 1, *from = index + n_indexes,
			      *to = from + n_single;
		FAR const u8 *weight = (FAR const u8 *)chunk + chunk[CHUNK_WEIGHTS];

		(void)width;
		(void)weight;
		for (u32 i = me; i < n_vertices; i += GROUP) {
			if (STAGED)
				loc[i] = FAR_KEY(&value[vertex[i]]);
#if ADDS
			before[i] = loc[i];
			mark[i] = FAR_KEY(&sent[vertex[i]]);
#endif
		}
		for (u32 sweep = 0; sweep < sweeps; sweep++) {
			u32 again = 0;

			BARRIER();
			if (me == 0)
				any = 0;
#if ADDS
			for (u32 i = me; i < chunk[CHUNK_HEADS]; i += GROUP)
				TURN(i);
#else
			for (u32 i = me; i < n_sole; i += GROUP)
				mark[i] = 0;
#endif
			BARRIER();
			for (u32 p = me; p < n_paths; p += GROUP) {
				u32 u = index[path[p]];

				for (u32 k = path[p] + 1u; k < path[p + 1]; k++) {
					u32 v = index[k];
#if ADDS
					if (u >= chunk[CHUNK_HEADS])
						TURN(u);
					RUN_EDGE(give[u], v, k - 1 - p);
#else
					if (u < n_sole)
						raise(&mark[u], KEY_OF(u));
					RUN_EDGE(OF(PROGRAM, value)(s, PLACE(u)), v, k - 1 - p);
#endif
					u = v;
				}
			}
			for (u32 k = me; k < n_single; k += GROUP) {
				u32 u = from[k], v = to[k], e = n_indexes - n_paths + k;

#if ADDS
				RUN_EDGE(give[u], v, e);
#else
				if (u < n_sole)
					raise(&mark[u], KEY_OF(u));
				RUN_EDGE(OF(PROGRAM, value)(s, PLACE(u)), v, e);
#endif
			}
			if (again)
				local_or_u32(&any, 1u);
			BARRIER();
			if (!any)
				break;
		}
		for (u32 i = me; i < n_vertices; i += GROUP) {
			u32 v = vertex[i];
#if ADDS
			if (loc[i] != before[i]) {
				far_add(&value[v], loc[i] - before[i]);
				set_changed(changed, v);
			}
			if (i < n_sole && FAR_KEY(&sent[v]) != mark[i]) {
				FAR_STORE(&sent[v], mark[i]);
				set_changed(changed, v);
			}
#else
			if (STAGED && far_min(&value[v], loc[i]))
				set_changed(changed, v);
			if (i < n_sole && FAR_KEY(&sent[v]) != mark[i]) {
				FAR_STORE(&sent[v], mark[i]);
				set_changed(changed, v);
			}
#endif
		}
		BARRIER();
	}
	far_count(counts, COUNT_EDGES, edges);
	far_count(counts, COUNT_UPDATES, updates);
}

#if !STAGED && !ADDS
/* ---- Rows, as Subway sends them ---- */

/* Words of the header of a batch of rows. PARTIAL_*: the first, or last, row is not whole. */
#define ROWS_N 0
#define ROWS_EDGES 1
#define ROWS_WIDTH 2
#define ROWS_WEIGHTS 3
#define ROWS_PARTIAL 4
#define ROWS_HEADER 6

/*
 * A work-group takes a batch: row numbers, row offsets, neighbours, weights. Work-items take
 * neighbouring edges and look up the row of each.
 */
__kernel void OF(PROGRAM, path_rows)(CHUNK_PARAMS)
{
	struct PROGRAM s = { FIELDS(NO_ARRAY, SCALAR_OF) true, false };
	LOCAL KEY *mark = space;
	SHARED u32 any;
	u64 edges = 0, updates = 0;
	u32 me = (u32)get_local_id(0);

	(void)most;
	s.WRITES = value;
	for (u32 c = (u32)get_group_id(0); c < n_list; c += (u32)get_num_groups(0)) {
		FAR const u32 *batch = arena + (u64)list[list_at + c] * slot_words;
		u32 n_rows = batch[ROWS_N], n_edges = batch[ROWS_EDGES], width = batch[ROWS_WIDTH];
		FAR const u32 *row = batch + ROWS_HEADER, *offset = row + n_rows,
			      *neighbour = offset + n_rows + 1;
		FAR const u8 *weight = (FAR const u8 *)batch + batch[ROWS_WEIGHTS];

		(void)width;
		(void)weight;
		for (u32 sweep = 0; sweep < sweeps; sweep++) {
			u32 again = 0;

			BARRIER();
			if (me == 0)
				any = 0;
			for (u32 i = me; i < n_rows; i += GROUP)
				mark[i] = 0;
			BARRIER();
			for (u32 k = me; k < n_edges; k += GROUP) {
				u32 low = 0, high = n_rows, v = neighbour[k];

				while (high - low > 1) {
					u32 middle = low + (high - low) / 2;

					if (offset[middle] <= k)
						low = middle;
					else
						high = middle;
				}
				raise(&mark[low], FAR_KEY(&value[row[low]]));
				edges++;
				if (!OF(PROGRAM, idle)(s, OF(PROGRAM, value)(s, row[low])) &&
				    OF(PROGRAM, relax)(s, OF(PROGRAM, value)(s, row[low]), v,
						       WEIGHT_OF(k))) {
					updates++;
					again = 1;
					set_changed(changed, v);
				}
			}
			if (again)
				local_or_u32(&any, 1u);
			BARRIER_GLOBAL();
			if (!any)
				break;
		}
		for (u32 i = me; i < n_rows; i += GROUP) {
			bool whole = !(i == 0 && batch[ROWS_PARTIAL] & PARTIAL_HEAD) &&
				     !(i + 1 == n_rows && batch[ROWS_PARTIAL] & PARTIAL_TAIL);

			if (whole && FAR_KEY(&sent[row[i]]) != mark[i]) {
				FAR_STORE(&sent[row[i]], mark[i]);
				set_changed(changed, row[i]);
			}
		}
		BARRIER();
	}
	far_count(counts, COUNT_EDGES, edges);
	far_count(counts, COUNT_UPDATES, updates);
}
#endif
