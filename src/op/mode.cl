/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that find the most frequent value of each list; of several such values, the
 * smallest. mode.c says which list goes to which kernel. A list that lies whole in its
 * segment is counted in a hash table in the scratch, at an offset that follows from the
 * list's position in the segment. The table has two places for each neighbour; a place is
 * a value and the number of times that it was seen.
 */
#define NO_VALUE 0xffffffffu
/*
 * Longer lists are shared by a work-group. On a CPU its work-items take turns, so sharing
 * gains nothing: there the limit is higher, except for the race checker, which should see
 * the sharing.
 */
#if CHUNKED && !defined(RACE_CHECK)
#define MODE_LONG 8192u
#else
#define MODE_LONG MODE_LONG_LEAST
#endif

/*
 * Packs a count and a value so that the largest number is the answer: first the larger
 * count, then the smaller value. Counts only grow, so the last one of a value is its true
 * count.
 */
static inline u64 seen(u32 value, u32 count) { return (u64)count << 32 | ~value; }
#define VALUE_OF(best) (~(u32)(best))

static inline u32 place_of(u32 value, u32 places)
{
	return (u32)((u64)(value * 2654435769u) * places >> 32);
}

static inline u64 compare_few(GLOBAL const u32 *from, GLOBAL const u32 *neighbour, u32 n)
{
	u32 value[MODE_FEW];
	u64 best = 0;

	for (u32 i = 0; i < n; i++)
		value[i] = from[neighbour[i]];
	for (u32 i = 0; i < n; i++) {
		u32 count = 1;

		for (u32 j = i + 1; j < n; j++)
			count += value[j] == value[i];
		best = max(best, seen(value[i], count));
	}
	return best;
}

/* Counts a list with one work-item. */
static inline u64 count_alone(GLOBAL const u32 *from, GLOBAL const u32 *neighbour, u32 n,
			      GLOBAL u32 *table)
{
	u32 places = 2 * n, at = 0, last = NO_VALUE;
	u64 best = 0;

	for (u32 i = 0; i < places; i++)
		table[2 * i] = NO_VALUE;
	for (u32 i = 0; i < n; i++) {
		u32 value = from[neighbour[i]];

		if (value != last) {
			at = place_of(value, places);
			while (table[2 * at] != value && table[2 * at] != NO_VALUE)
				at = at + 1 == places ? 0 : at + 1;
			if (table[2 * at] == NO_VALUE) {
				table[2 * at] = value;
				table[2 * at + 1] = 0;
			}
			last = value;
		}
		best = max(best, seen(value, ++table[2 * at + 1]));
	}
	return best;
}

/*
 * Counts rows [begin, end) of the segment, which lie whole in it. Rows longer than
 * MODE_LONG go to a list behind the tables, which has n_long[window] entries.
 */
__kernel void mode_rows(GLOBAL const u32 *from, GLOBAL u32 *to, SEGMENT_PARAMS, u32 begin, u32 end,
			GLOBAL u32 *scratch, u32 list_at, GLOBAL u32 *n_long, u32 window,
			GLOBAL u64 *counts)
{
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u32 base = row[begin], changed = 0;

	FOR_MINE(i, end - begin, ITEM_ROWS) {
		u32 r = begin + i, v = first + r, at = row[r], n = row[r + 1] - at, value = from[v];

		if (n > MODE_LONG) {
			scratch[list_at + atomic_inc(&n_long[window])] = r;
			continue;
		}
		if (n > MODE_FEW)
			value = VALUE_OF(
				count_alone(from, neighbour + at, n, scratch + 4 * (at - base)));
		else if (n)
			value = VALUE_OF(compare_few(from, neighbour + at, n));
		to[v] = value;
		changed += value != from[v];
	}
	count_add(counts, COUNT_UPDATES, changed);
}

/* Adds n to the count of a value, in a table that several work-items share. */
static inline u64 count_shared(GLOBAL u32 *table, u32 places, u32 value, u32 n)
{
	u32 at = place_of(value, places);

	while (n) {
		u32 held = dev_load_u32(&table[2 * at]);

		if (held == NO_VALUE)
			held = raw_cas_u32(&table[2 * at], NO_VALUE, value);
		if (held == NO_VALUE || held == value)
			return seen(value, raw_add_u32(&table[2 * at + 1], n) + n);
		at = at + 1 == places ? 0 : at + 1;
	}
	return 0;
}

/*
 * Counts the long lists that mode_rows left: a work-group takes one list after the other.
 * Consecutive neighbours with the same value are added at once.
 */
__kernel void mode_long(GLOBAL const u32 *from, GLOBAL u32 *to, SEGMENT_PARAMS, u32 begin,
			GLOBAL u32 *scratch, u32 list_at, GLOBAL const u32 *n_long, u32 window,
			GLOBAL u64 *counts)
{
	SHARED u64 bests[GROUP];
	GLOBAL const u32 *row = ROWS;
	u32 id = get_local_id(0);

	for (u32 k = get_group_id(0); k < n_long[window]; k += get_num_groups(0)) {
		u32 r = scratch[list_at + k], at = row[r], n = row[r + 1] - at, value = NO_VALUE,
		    times = 0;
		GLOBAL u32 *table = scratch + 4 * (at - row[begin]);
		GLOBAL const u32 *neighbour = NEIGHBOURS + at;
		u32 each = CHUNKED ? (n + GROUP - 1) / GROUP : 1, step = CHUNKED ? 1 : GROUP;
		u64 best = 0;

		for (u32 i = id; i < 4 * n; i += GROUP)
			table[i] = i % 2 ? 0 : NO_VALUE;
		BARRIER_GLOBAL();
		for (u32 i = id * each; i < (CHUNKED ? min(n, (id + 1) * each) : n); i += step) {
			u32 next = from[neighbour[i]];

			if (next != value) {
				best = max(best, count_shared(table, 2 * n, value, times));
				value = next;
				times = 0;
			}
			times++;
		}
		bests[id] = max(best, count_shared(table, 2 * n, value, times));
		BARRIER();
		if (id == 0) {
			for (u32 i = 1; i < GROUP; i++)
				best = max(best, bests[i]);
			best = max(best, bests[0]);
			to[first + r] = VALUE_OF(best);
			count_add(counts, COUNT_UPDATES, to[first + r] != from[first + r]);
		}
	}
}

/*
 * Adds n to the count of a value in the array with a counter for each value. Lists come one
 * after the other, and each counts from a base that no counter has reached yet, so nothing
 * is cleared between them.
 */
static inline u64 count_on(GLOBAL u32 *counter, u32 base, u32 value, u32 n)
{
	if (!n)
		return 0;
	if (dev_load_u32(&counter[value]) < base)
		atomic_max(&counter[value], base);
	return seen(value, raw_add_u32(&counter[value], n) + n - base);
}

/*
 * Counts row r, a piece of a list that spans segments or windows. which: the number of the
 * cut list.
 */
__kernel void mode_piece(GLOBAL const u32 *from, SEGMENT_PARAMS, u32 r, GLOBAL u32 *counter,
			 u32 base, GLOBAL u64 *best, u32 which)
{
	GLOBAL const u32 *neighbour = NEIGHBOURS + ROWS[r];
	u32 n = ROWS[r + 1] - ROWS[r], value = NO_VALUE, times = 0;
	u64 mine = 0;

	for (u64 done = 0; done < n; done += get_num_groups(0) * GROUP * ITEM_EDGES)
		FOR_MINE(i, n - (u32)done, ITEM_EDGES) {
			u32 next = from[neighbour[done + i]];

			if (next != value) {
				mine = max(mine, count_on(counter, base, value, times));
				value = next;
				times = 0;
			}
			times++;
		}
	mine = max(mine, count_on(counter, base, value, times));
	if (mine > dev_load_u64(&best[which]))
		atom_max(&best[which], mine);
}

/* Stores the results of the cut lists, a work-item each. */
__kernel void mode_finish(GLOBAL const u32 *from, GLOBAL u32 *to, GLOBAL const u32 *vertex,
			  GLOBAL u64 *best, u32 n, GLOBAL u64 *counts)
{
	u32 i = get_global_id(0), v;

	if (i >= n)
		return;
	v = vertex[i];
	to[v] = best[i] ? VALUE_OF(best[i]) : from[v];
	best[i] = 0;
	count_add(counts, COUNT_UPDATES, to[v] != from[v]);
}
