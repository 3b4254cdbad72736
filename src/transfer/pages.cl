/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels for pages and frontiers that all programs share. They unpack a packed page into
 * rows and neighbours, turn page addresses into vertex numbers, count the vertices of a
 * bitmap in each page, and list the rows of a segment that are in a bitmap.
 *
 * Pages cross to a device packed. pages_unpack has one work-item per restart block. It also
 * checks what the host cannot know without decoding, so a hostile page is an error (exit
 * code 4), never a wild write.
 */

/* ---- Packed pages: docs/format.md ---- */

/*
 * Returns the number of bits of an integer in a group with this code:
 * 0 2 4 5 6 7 8 9 10 11 12 14 16 18 22 32.
 */
DEVICE u32 width_of(u32 code)
{
	u64 widths = code < 8 ? 0x0908070605040200ul : 0x201612100e0c0b0aul;

	return (u32)(widths >> (code % 8 * 8)) & 255;
}

/* The bytes may be unaligned. Compilers turn each of these into one load. */
DEVICE u32 load_u16(GLOBAL const u8 *p) { return p[0] | (u32)p[1] << 8; }
DEVICE u32 load_u32(GLOBAL const u8 *p) { return load_u16(p) | load_u16(p + 2) << 16; }
DEVICE u64 load_u64(GLOBAL const u8 *p) { return load_u32(p) | (u64)load_u32(p + 4) << 32; }

/* A stream of n integers: the codes of its groups, then the groups. */
struct integers {
	GLOBAL const u8 *code, *group;
	u32 n;
};

DEVICE u32 integers_width(struct integers s, u32 group)
{
	return width_of(s.code[group / 2] >> (group % 2 * 4) & 15);
}

/*
 * Finds the stream of n integers at `in`. *end becomes its end. Returns false if that is
 * beyond `limit`.
 */
DEVICE bool integers_find(struct integers *s, GLOBAL const u8 *in, GLOBAL const u8 *limit, u32 n,
			  GLOBAL const u8 **end)
{
	u32 groups = (n + 7) / 8, size = 0;

	s->code = in;
	s->group = in + (groups + 1) / 2;
	s->n = n;
	if (s->group > limit)
		return false;
	for (u32 g = 0; g < groups; g++)
		size += (integers_width(*s, g) * min(8u, n - g * 8) + 7) / 8;
	*end = s->group + size;
	return *end <= limit;
}

/* Returns integer k of the group at p. */
DEVICE u32 integer_at(GLOBAL const u8 *p, u32 width, u32 k)
{
	return (u32)(load_u32(p + k * width / 8) >> k * width % 8 & (((u64)1 << width) - 1));
}

DEVICE void integers_unpack(struct integers s, GLOBAL u32 *to)
{
	GLOBAL const u8 *p = s.group;

	for (u32 at = 0; at < s.n; at += 8, to += 8) {
		u32 width = integers_width(s, at / 8), middle = 4 * width;

		if (width <= 16 && s.n - at >= 8) {	/* half a group is at most 64 bits */
			u64 low = load_u64(p), high = load_u64(p + middle / 8) >> middle % 8;
			u32 mask = (1u << width) - 1;

			for (u32 k = 0; k < 4; k++) {
				to[k] = (u32)(low >> k * width) & mask;
				to[k + 4] = (u32)(high >> k * width) & mask;
			}
		} else {
			for (u32 k = 0; k < min(8u, s.n - at); k++)
				to[k] = integer_at(p, width, k);
		}
		p += width;
	}
}

/*
 * Unpacks a page; one work-item per restart block. The host has checked the block index;
 * the blocks are checked here. For any input bytes, the rows that are written ascend within
 * the block's edges, and the neighbours are vertices. If the input breaks one of these
 * rules, *fault is set to page number + 1.
 *
 * Row offsets and neighbours begin at edge_base. partial has PARTIAL_HEAD if row 0 began in
 * an earlier page, and PARTIAL_TAIL if the last row continues in the next page; that row
 * then begins at edge tail_at. shared: the rows of several pages lie side by side, so this
 * kernel does not write the offsets that belong to another page.
 */
__kernel void pages_unpack(GLOBAL const u8 *pages, u64 page_at, u32 index_at, u32 n_blocks,
			   u32 limit, u32 first, u32 n_vertices, GLOBAL u32 *lists, u32 row_at,
			   u32 neighbour_at, u32 edge_base, u32 n_rows, u32 n_edges, u32 partial,
			   u32 tail_at, u32 shared, u32 number, GLOBAL u32 *fault)
{
	u32 cap = partial & PARTIAL_TAIL ? tail_at : n_edges;
	GLOBAL u32 *row = lists + row_at, *neighbour, *from;
	u32 i = get_global_id(0);
	GLOBAL const u8 *page = pages + page_at, *entry = page + index_at + 16 * i,
			*end = page + limit, *next, *p;
	u32 first_row, first_edge, rows, edges, firsts = 0, at, width = 0;
	struct integers degree, begin, gap;
	bool good, goes_on = false;

	if (i >= n_blocks)
		return;
	first_row = load_u32(entry + 4);
	first_edge = load_u32(entry + 8);
	rows = load_u16(entry + 12);
	edges = load_u16(entry + 14);
	neighbour = lists + neighbour_at + edge_base;
	if (i)
		goes_on = load_u32(entry - 12) + load_u16(entry - 4) == first_row + 1;
	good = integers_find(&degree, page + load_u32(entry), end, rows, &next);
	at = first_edge;
	p = degree.group;
	for (u32 r = 0; r < rows; r++) {
		u32 d = 0;

		if (good && r % 8 == 0) {
			p += width;
			width = integers_width(degree, r / 8);
		}
		if (good)
			d = integer_at(p, width, r % 8);
		if (!(r == 0 && goes_on)) {
			bool last = first_row + r + 1 == n_rows && partial & PARTIAL_TAIL;

			good = good && (last ? at == cap : at <= cap) &&
			       !(first_row + r == 1 && at == 0 && partial & PARTIAL_HEAD);
			if (!(first_row + r == 0 && shared && partial & PARTIAL_HEAD))
				row[first_row + r] = edge_base + (last ? cap : min(at, cap));
		}
		if (d > first_edge + edges - at) {
			good = false;
			d = 0;
		}
		at += d;
		firsts += d != 0;
	}
	if (i + 1 == n_blocks && !(shared && partial & PARTIAL_TAIL))
		row[n_rows] = edge_base + n_edges;
	good = good && at == first_edge + edges;
	good = good && integers_find(&begin, next, end, firsts, &next);
	good = good && integers_find(&gap, next, end, edges - firsts, &next);
	good = good && next == page + load_u32(entry + 16);
	at = first_edge;
	if (good) {
		GLOBAL const u8 *q = begin.group;
		u32 k = 0, wide = 0;

		/*
		 * The gaps are unpacked to the end of the block's place. The lists are then
		 * summed from there to the beginning of the place: a write never passes the
		 * gap that is read next.
		 */
		from = neighbour + first_edge + firsts;
		integers_unpack(gap, from);
		p = degree.group;
		width = 0;
		for (u32 r = 0; r < rows; r++) {
			u32 d, folded;
			u64 vertex;

			if (r % 8 == 0) {
				p += width;
				width = integers_width(degree, r / 8);
			}
			d = integer_at(p, width, r % 8);
			if (!d)
				continue;
			if (k % 8 == 0) {
				q += wide;
				wide = integers_width(begin, k / 8);
			}
			folded = integer_at(q, wide, k++ % 8);
			vertex = (u32)(first + first_row + r +
				       (folded >> 1 ^ (folded & 1 ? 0xffffffffu : 0)));
			for (u32 stop = at + d - 1; at < stop; at++) {
				u32 gone = *from++;

				neighbour[at] = (u32)vertex;
				vertex += gone;
			}
			neighbour[at++] = (u32)vertex;
			if (vertex < n_vertices)
				continue;
			/* Lists ascend: if the last neighbour is a vertex, all are. */
			good = false;
			for (u32 j = at - d; j < at; j++)
				neighbour[j] = 0;
		}
	}
	for (; at < first_edge + edges; at++)
		neighbour[at] = 0;
	if (!good)
		dev_store_u32(fault, number + 1);
}

/*
 * Copies the rows and neighbours of a raw page to their place among those of all pages. The
 * host has checked the page.
 */
__kernel void pages_place(GLOBAL const u32 *page, u32 page_row_at, u32 page_neighbour_at,
			  GLOBAL u32 *lists, u32 row_at, u32 neighbour_at, u32 edge_base,
			  u32 n_rows, u32 n_edges, u32 partial)
{
	u32 row_end = n_rows + (partial & PARTIAL_TAIL ? 0 : 1);
	/*
	 * neighbour_at + edge_base may exceed 2^32, so they are added to the pointer one by
	 * one.
	 */
	GLOBAL u32 *row = lists + row_at, *neighbour = lists + neighbour_at + edge_base;

	FOR_MINE(i, n_edges + n_rows + 1, ITEM_ROWS) {
		u32 r = i - n_edges;

		if (i < n_edges)
			neighbour[i] = page[page_neighbour_at + i];
		else if (r < row_end && !(r == 0 && partial & PARTIAL_HEAD))
			row[r] = edge_base + page[page_row_at + r];
	}
}

/*
 * Replaces the page addresses in a raw page by vertex numbers. first: see store/address.h.
 * An address that no vertex has becomes 0, and *fault is set to page number + 1.
 */
__kernel void pages_number(GLOBAL u32 *page, u32 neighbour_at, u32 n_edges, GLOBAL const u32 *first,
			   u32 n_pages, u32 slots, u32 number, GLOBAL u32 *fault)
{
	bool good = true;

	FOR_MINE(i, n_edges, ITEM_ROWS) {
		u32 id = page[neighbour_at + i], to = min(id / slots, n_pages),
		    v = id - to * slots + first[to];
		bool exists = v < first[to + 1];

		good = good && exists;
		page[neighbour_at + i] = exists ? v : 0;
	}
	if (!good)
		dev_store_u32(fault, number + 1);
}

/* ---- Frontiers ---- */

/*
 * Counts the active vertices of each page; one work-item per page. range: first vertex and
 * number of rows of each page.
 */
__kernel void pages_census(GLOBAL const u32 *bits, GLOBAL const u32 *range, u32 n_pages,
			   GLOBAL u32 *counts)
{
	u32 page = get_global_id(0), begin, end, n = 0;

	if (page >= n_pages)
		return;
	begin = range[2 * page];
	end = begin + range[2 * page + 1];
	for (u32 w = begin / 32; w < (end + 31) / 32; w++)
		n += popcount(window(bits, w, begin, end));
	counts[PAGE_COUNTS + page] = n;
}

/*
 * Counts the active edges of each page. begin: the number of each page's first edge, then
 * the number of all edges.
 */
__kernel void pages_census_edges(GLOBAL const u32 *bits, GLOBAL const u64 *begin, u32 n_pages,
				 GLOBAL u32 *counts)
{
	u32 page = get_global_id(0), n = 0;

	if (page >= n_pages)
		return;
	for (u64 w = begin[page] / 32; w < (begin[page + 1] + 31) / 32; w++)
		n += popcount(window(bits, w, begin[page], begin[page + 1]));
	counts[PAGE_COUNTS + page] = n;
}

/*
 * Marks in `next` the far ends of a segment's active edges. Work-items take words of the
 * edge bitmap; rows are not needed.
 */
__kernel void pages_ends(SEGMENT_PARAMS, GLOBAL const u32 *bits, u64 first_edge, GLOBAL u32 *next,
			 GLOBAL u64 *counts)
{
	u64 end = first_edge + n_edges;
	u32 n_words = (u32)((end + 31) / 32 - first_edge / 32), emitted = 0;

	FOR_MINE(k, n_words, ITEM_WORDS) {
		u64 w = first_edge / 32 + k;

		for (u32 word = window(bits, w, first_edge, end); word; word &= word - 1)
			emitted += set_bit(next, NEIGHBOURS[w * 32 + 31 - clz(word & -word) -
							    first_edge]);
	}
	count_add(counts, COUNT_EMITTED, emitted);
}

/*
 * Select: lists the active rows of a segment, each with the number of edges in the lists
 * before it. It is a compaction by prefix sums, in three kernels. tile has a pair of words
 * for each tile of rows: first the number of its active rows and of their edges, later the
 * sums over the tiles before it. The pairs of tiles begin at word 2; words 0 and 1 get the
 * sums over all tiles.
 */
__kernel void pages_select_count(GLOBAL const u32 *bits, SEGMENT_PARAMS, GLOBAL u32 *tile,
				 u32 n_tiles)
{
	u32 t = get_global_id(0), begin, end, n = 0, edges = 0;
	GLOBAL const u32 *row = ROWS;

	if (t >= n_tiles)
		return;
	begin = first + t * TILE_ROWS;
	end = first + min(n_rows, (t + 1) * TILE_ROWS);
	for (u32 w = begin / 32; w < (end + 31) / 32; w++)
		for (u32 word = window(bits, w, begin, end); word; word &= word - 1) {
			u32 r = w * 32 + 31 - clz(word & -word) - first;

			n++;
			edges += row[r + 1] - row[r];
		}
	tile[2 * t + 2] = n;
	tile[2 * t + 3] = edges;
}

/* Computes the prefix sums over the tiles; one work-group. */
__kernel void pages_select_scan(GLOBAL u32 *tile, u32 n_tiles)
{
	SHARED u32 sum[2 * GROUP];
	u32 mine = (n_tiles + GROUP - 1) / GROUP, id = get_local_id(0),
	    begin = min(n_tiles, id * mine);
	u32 end = min(n_tiles, begin + mine), n = 0, edges = 0;

	for (u32 t = begin; t < end; t++) {
		n += tile[2 * t + 2];
		edges += tile[2 * t + 3];
	}
	sum[2 * id] = n;
	sum[2 * id + 1] = edges;
	BARRIER();
	n = edges = 0;
	for (u32 k = 0; k < id; k++) {
		n += sum[2 * k];
		edges += sum[2 * k + 1];
	}
	for (u32 t = begin; t < end; t++) {
		u32 tile_n = tile[2 * t + 2], tile_edges = tile[2 * t + 3];

		tile[2 * t + 2] = n;
		tile[2 * t + 3] = edges;
		n += tile_n;
		edges += tile_edges;
	}
	if (id == GROUP - 1 && n_tiles) {
		tile[0] = n;
		tile[1] = edges;
	}
}

__kernel void pages_select_put(GLOBAL const u32 *bits, SEGMENT_PARAMS, GLOBAL const u32 *tile,
			       u32 n_tiles, GLOBAL u32 *list, GLOBAL u32 *offset)
{
	u32 t = get_global_id(0), begin, end, at, edges;
	GLOBAL const u32 *row = ROWS;

	if (t >= n_tiles)
		return;
	begin = first + t * TILE_ROWS;
	end = first + min(n_rows, (t + 1) * TILE_ROWS);
	at = tile[2 * t + 2];
	edges = tile[2 * t + 3];
	for (u32 w = begin / 32; w < (end + 31) / 32; w++)
		for (u32 word = window(bits, w, begin, end); word; word &= word - 1) {
			u32 r = w * 32 + 31 - clz(word & -word) - first;

			list[at] = r;
			offset[at++] = edges;
			edges += row[r + 1] - row[r];
		}
	if (t + 1 == n_tiles)
		offset[at] = edges;
}
