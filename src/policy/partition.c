/* SPDX-License-Identifier: Apache-2.0 */
/* Graphie's partitions: cutting pages into units, and their ids. See partition.h. */
#include "policy/partition.h"

#define HINTS 4096u	/* the table of hints has at most about twice as many entries */

u64 partition_bytes(const struct wire_shape *w, const struct pages *p, u32 begin, u32 end)
{
	u64 bytes = 0;

	for (u32 i = begin; i < end; i++)
		bytes += w->page ? w->page :
				   (u64)w->edge * p->entry[i].n_edges +
					   (u64)w->row * p->entry[i].n_rows;
	return bytes;
}

u64 partition_size(u64 graph, u64 room, u32 queues)
{
	return max_u64(graph <= room ? div_up(graph, queues) : room / queues, 1);
}

u64 partitions_bytes(u64 n)
{
	return n * (sizeof(struct page_entry) + 5 * sizeof(u32)) + 2 * HINTS * sizeof(u32) + 256;
}

/* ---- Cutting ---- */

/* Returns the edges of a piece of a page that is larger than a partition; 0: it is not cut. */
static u32 piece_edges(const struct pages *p, u32 page, const struct wire_shape *w, u64 size)
{
	u64 bytes = partition_bytes(w, p, page, page + 1), edges = p->entry[page].n_edges;

	if (w->page || bytes <= size || edges <= 1)
		return 0;
	return (u32)min_u64(div_up(edges, min_u64(div_up(bytes, size), edges)),
			    max_u64(size / w->edge, 1));
}

/* Returns the end of the run of whole pages that begins with page `begin`. */
static u32 run_end(const struct pages *p, u32 begin, const struct wire_shape *w, u64 size)
{
	u64 bytes = partition_bytes(w, p, begin, begin + 1), edges = p->entry[begin].n_edges;
	u32 end = begin + 1;

	for (; end < p->n_pages; end++) {
		bytes += partition_bytes(w, p, end, end + 1);
		edges += p->entry[end].n_edges;
		if (bytes > size || edges >= UINT32_MAX || piece_edges(p, end, w, size))
			break;
	}
	return end;
}

static void add_run(struct partitions *out, const struct pages *p, u32 begin, u32 end)
{
	struct page_entry *e = (struct page_entry *)(uintptr_t)out->unit.entry + out->n;
	const struct page_entry *last = &p->entry[end - 1];

	*e = p->entry[begin];
	e->n_rows = last->first_vertex + last->n_rows - e->first_vertex;
	e->n_edges = (u32)(last->first_edge + last->n_edges - e->first_edge);
	out->page[out->n] = begin;
	out->page_end[out->n++] = end;
}

/* Adds the pieces of a page. partitions_place finds their rows when the page is decoded. */
static void add_pieces(struct partitions *out, const struct pages *p, u32 page, u32 edges)
{
	for (u32 at = 0; at < p->entry[page].n_edges; at += edges) {
		add_run(out, p, page, page + 1);
		((struct page_entry *)(uintptr_t)out->unit.entry)[out->n - 1].first_edge += at;
		((struct page_entry *)(uintptr_t)out->unit.entry)[out->n - 1].n_edges =
			(u32)min_u64(edges, p->entry[page].n_edges - at);
		if (p->entry[page].n_edges - at <= edges)
			break;
	}
	out->n_cut++;
}

/* Makes the partitions if out has room for them, and returns their number. */
static u64 cut(struct partitions *out, const struct pages *p, const struct wire_shape *w, u64 size)
{
	u64 n = 0;

	for (u32 i = 0; i < p->n_pages;) {
		u32 edges = piece_edges(p, i, w, size),
		    end = edges ? i + 1 : run_end(p, i, w, size);

		n += edges ? div_up(p->entry[i].n_edges, edges) : 1;
		if (out->unit.entry && edges)
			add_pieces(out, p, i, edges);
		else if (out->unit.entry)
			add_run(out, p, i, end);
		i = end;
	}
	return n;
}

u64 partitions_count(const struct pages *p, const struct wire_shape *w, u64 size)
{
	return cut(&(struct partitions){ 0 }, p, w, size);
}

mill_err partitions_cut(struct partitions *out, struct budget *budget, const struct pages *p,
			const struct wire_shape *w, u64 size)
{
	struct page_entry *entry = NULL;
	u64 n;

	*out = (struct partitions){ .unit = *p, .stored = p->address.slots && !w->page };
	out->unit.entry = NULL;
	out->unit.data = STORE_OUT_PAGES;	/* partitions have one direction only */
	n = cut(out, p, w, size);
	if (n >= UINT32_MAX / 2)
		return fail(MILL_ELIMIT,
			    "partitions of %llu bytes are too many (%llu): use a larger "
			    "--partition-size",
			    (unsigned long long)size, (unsigned long long)n);
	TRY(memory_new(&entry, budget, n + 1, sizeof(*entry), "the partitions"));
	out->unit.entry = entry;
	TRY(memory_new(&out->page, budget, n + 1, sizeof(u32), "the partitions"));
	TRY(memory_new(&out->page_end, budget, n + 1, sizeof(u32), "the partitions"));
	TRY(memory_new(&out->first, budget, n + 1, sizeof(u32), "the partitions"));
	TRY(memory_new(&out->owner, budget, n + 1, sizeof(u32), "the partitions"));
	cut(out, p, w, size);
	out->unit.n_pages = out->n;
	return MILL_OK;
}

void partitions_release(struct partitions *p)
{
	memory_free((void *)(uintptr_t)p->unit.entry);
	memory_free(p->page);
	memory_free(p->page_end);
	memory_free(p->first);
	memory_free(p->owner);
	memory_free(p->pre_sum);
	memory_free(p->hint);
	*p = (struct partitions){ 0 };
}

/* Returns the first partition that has edges of the page. */
static u32 find_page(const struct partitions *p, u32 page)
{
	u32 low = 0, high = p->n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (p->page_end[middle] <= page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool partitions_is_cut(const struct partitions *p, u32 page)
{
	u32 i = find_page(p, page);

	return i + 1 < p->n && p->page[i + 1] == page && p->page_end[i] == page + 1;
}

void partitions_place(struct partitions *p, u32 page, const struct segment *seg)
{
	u32 row = 0;

	for (u32 i = find_page(p, page); i < p->n && p->page[i] == page; i++) {
		struct page_entry *e = (struct page_entry *)(uintptr_t)&p->unit.entry[i];
		u32 begin = (u32)(e->first_edge - seg->first_edge), end = begin + e->n_edges;

		while (row + 1 < seg->n_rows && seg->row[row + 1] <= begin)
			row++;
		e->first_vertex = seg->first + row;
		e->skip = begin - seg->row[row] + (row ? 0 : seg->skip);
		while (row + 1 < seg->n_rows && seg->row[row + 1] < end)
			row++;
		e->n_rows = seg->first + row - e->first_vertex + 1;
	}
}

/* ---- Numbers ---- */

static mill_err make_hints(struct partitions *p, struct budget *budget)
{
	u64 sources = p->first[p->n];
	u32 at = 0;

	while (sources >> p->shift > HINTS)
		p->shift++;
	TRY(memory_new(&p->hint, budget, (sources >> p->shift) + 2, sizeof(u32), "the partitions"));
	for (u64 i = 0; i <= sources >> p->shift; i++) {
		while (at + 1 < p->n && i << p->shift >= p->first[at + 1])
			at++;
		p->hint[i] = at;
	}
	return MILL_OK;
}

static void measure(struct partitions *p, const struct wire_shape *w)
{
	for (u32 i = 0; i < p->n; i++) {
		const struct page_entry *e = &p->unit.entry[i];
		u64 bytes = (u64)w->edge * e->n_edges + (u64)w->row * e->n_rows;

		if (w->page)
			bytes = w->page * (p->page_end[i] - p->page[i]);
		p->largest = max_u64(p->largest, bytes);
		p->edges = max_u64(p->edges, e->n_edges);
		p->rows = max_u64(p->rows, e->n_rows);
	}
}

static mill_err make_ids(struct partitions *p, u64 sinks, struct budget *budget)
{
	for (u32 i = 0; i < p->n; i++)
		p->range = (u32)max_u64(p->range, partitions_sources(p, i));
	if (__builtin_mul_overflow((u64)p->n, (u64)p->range, &p->ids) ||
	    __builtin_add_overflow(p->ids, sinks, &p->ids) || p->ids > (u64)1 << 32)
		return fail(MILL_ELIMIT,
			    "%u partitions of up to %u sources and %llu vertices without out-edges "
			    "need more than 2^32 ids: use a larger --partition-size",
			    p->n, p->range, (unsigned long long)sinks);
	p->n_ranges = p->n;
	TRY(memory_new(&p->pre_sum, budget, p->n + 1ull, sizeof(u32), "the partitions"));
	/* An inclusive scan of SZ_max - SZ, with a 0 in front. */
	for (u32 i = 0; i < p->n; i++)
		p->pre_sum[i + 1] = p->pre_sum[i] + (p->range - partitions_sources(p, i));
	return MILL_OK;
}

/*
 * Takes the ids of a paged store. The virtual ids before a page are the slots that the
 * pages before it do not use.
 */
static mill_err take_ids(struct partitions *p, struct budget *budget)
{
	const struct addresses *a = &p->unit.address;

	p->n_ranges = a->n_pages;
	p->range = a->slots;
	p->ids = (u64)a->n_pages * a->slots + (a->first[a->n_pages + 1] - a->first[a->n_pages]);
	TRY(memory_new(&p->pre_sum, budget, a->n_pages + 1ull, sizeof(u32), "the partitions"));
	for (u32 i = 0; i <= a->n_pages; i++)
		p->pre_sum[i] = i * a->slots - a->first[i];
	return MILL_OK;
}

mill_err partitions_number(struct partitions *p, const struct wire_shape *w, u64 n_vertices,
			   struct budget *budget)
{
	const struct page_entry *e = p->unit.entry;

	for (u32 i = 0; i < p->n; i++)
		p->first[i] = i ? e[i].first_vertex + (e[i].skip != 0) : 0;
	p->first[p->n] = p->unit.n_rows;
	TRY(p->stored ? take_ids(p, budget) : make_ids(p, n_vertices - p->unit.n_rows, budget));
	TRY(make_hints(p, budget));
	for (u32 i = 0; i < p->n; i++)
		p->owner[i] = e[i].skip ? partitions_find(p, (vid)e[i].first_vertex) : i;
	measure(p, w);
	return MILL_OK;
}
