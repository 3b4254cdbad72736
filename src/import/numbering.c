/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the bitmaps, counts their bits, and writes the files of ids, order and rank. */
#include "import/numbering.h"

#include <string.h>

#include "import/sparse.h"

#define BUFFER 4096u	/* elements on their way to a file */

mill_err numbering_init(struct numbering *num, struct budget *budget, u64 all, bool undirected)
{
	*num = (struct numbering){ .budget = budget, .limit = all };
	TRY(memory_new(&num->source, budget, bitmap_words(max_u64(all, 1)), sizeof(u64),
		       "the vertices"));
	if (!undirected)
		TRY(memory_new(&num->linked, budget, bitmap_words(max_u64(all, 1)), sizeof(u64),
			       "the vertices"));
	if (all)
		return MILL_OK;
	return memory_new(&num->exists, budget, 1, sizeof(u64), "the vertices");
}

void numbering_release(struct numbering *num)
{
	memory_free(num->exists);
	memory_free(num->source);
	memory_free(num->linked);
	memory_free(num->linked_before);
	memory_free(num->exists_before);
	memory_free(num->source_before);
	memory_free(num->place);
	*num = (struct numbering){ .limit = 0 };
}

static mill_err grow(struct numbering *num, u64 **bits, u64 limit)
{
	u64 *more;

	TRY(memory_new(&more, num->budget, bitmap_words(limit), sizeof(u64), "the vertices"));
	memcpy(more, *bits, bitmap_words(num->limit) * sizeof(u64));
	memory_free(*bits);
	*bits = more;
	return MILL_OK;
}

mill_err numbering_grow(struct numbering *num, u64 limit)
{
	TRY(grow(num, &num->exists, limit));
	TRY(grow(num, &num->source, limit));
	if (num->linked)
		TRY(grow(num, &num->linked, limit));
	num->limit = limit;
	return MILL_OK;
}

static mill_err count_before(struct numbering *num, const u64 *bits, u32 **out, u64 *total)
{
	u64 words = bitmap_words(num->limit), n = 0;

	TRY(memory_new(out, num->budget, words, sizeof(u32), "the vertices"));
	for (u64 w = 0; w < words; w++) {
		(*out)[w] = (u32)n;
		n += (u64)__builtin_popcountll(bits[w]);
	}
	*total = n;
	return MILL_OK;
}

mill_err numbering_close(struct numbering *num)
{
	num->n = num->limit;
	if (num->exists)
		TRY(count_before(num, num->exists, &num->exists_before, &num->n));
	if (num->n > MAX_VERTICES)
		return ids_too_many(num->n);
	TRY(count_before(num, num->source, &num->source_before, &num->sources));
	num->n_linked = num->sources;
	if (!num->linked)
		return MILL_OK;
	for (u64 w = 0; w < bitmap_words(num->limit); w++)
		num->linked[w] |= num->source[w];
	return count_before(num, num->linked, &num->linked_before, &num->n_linked);
}

u64 numbering_id(const struct numbering *num, u64 rank)
{
	u64 low = 0, high = bitmap_words(num->limit), word;

	if (!num->exists)
		return rank;
	/* Finds the last word before which at most `rank` bits are set. */
	while (high - low > 1) {
		u64 middle = low + (high - low) / 2;

		if (num->exists_before[middle] <= rank)
			low = middle;
		else
			high = middle;
	}
	word = num->exists[low];
	for (rank -= num->exists_before[low]; rank; rank--)
		word &= word - 1;
	return low * 64 + (u64)__builtin_ctzll(word);
}

/* A buffer of elements of a file. */
struct vector {
	struct store_writer *w;
	enum store_file file;
	u64 n;
	union {
		u64 id[BUFFER];
		vid v[BUFFER];
	} buffer;
};

static mill_err flush(struct vector *to)
{
	u64 n = to->n;

	to->n = 0;
	return writer_append(to->w, to->file, &to->buffer,
			     n * (to->file == STORE_IDS ? sizeof(u64) : sizeof(vid)));
}

static inline mill_err put(struct vector *to, u64 value)
{
	if (to->file == STORE_IDS)
		to->buffer.id[to->n++] = value;
	else
		to->buffer.v[to->n++] = (vid)value;
	return to->n == BUFFER ? flush(to) : MILL_OK;
}

enum kind { SOURCES, SINKS, ISOLATED, ALL };
enum number { THE_ID, THE_VID, THE_RANK };

static enum kind kind_of(const struct numbering *num, u64 id)
{
	if (bitmap_get(num->source, id))
		return SOURCES;
	return num->linked && bitmap_get(num->linked, id) ? SINKS : ISOLATED;
}

/* Puts the id, vid or rank of each vertex of a kind, in the order of the ids. */
static mill_err put_all(const struct numbering *num, struct vector *to, enum kind kind,
			enum number number)
{
	u64 rank = 0;

	for (u64 id = 0; id < num->limit; id++) {
		if (num->exists && !bitmap_get(num->exists, id))
			continue;
		if (kind == ALL || kind_of(num, id) == kind)
			TRY(put(to, number == THE_RANK ? rank
				    : number == THE_VID ? numbering_vid(num, id)
							: id));
		rank++;
	}
	return flush(to);
}

/* Writes the rank of each vertex number: the inverse of `place`. */
static mill_err put_ranks(const struct numbering *num, struct vector *to)
{
	vid *rank;
	mill_err err;

	TRY(memory_new(&rank, num->budget, num->n, sizeof(*rank), "the vertices"));
	for (u64 r = 0; r < num->n; r++)
		rank[num->place[r]] = (vid)r;
	err = writer_append(to->w, STORE_RANK, rank, num->n * sizeof(*rank));
	memory_free(rank);
	return err;
}

mill_err numbering_write(const struct numbering *num, struct store_writer *w, struct sparse *sparse)
{
	struct vector *to;
	mill_err err;

	TRY(memory_new(&to, num->budget, 1, sizeof(*to), "a file buffer"));
	to->w = w;
	to->file = STORE_IDS;
	err = sparse ? sparse_write_ids(sparse, w) : put_all(num, to, ALL, THE_ID);
	to->file = STORE_ORDER;
	if (!err)
		err = put_all(num, to, ALL, THE_VID);
	to->file = STORE_RANK;
	if (!err && num->place)
		err = put_ranks(num, to);
	for (enum kind kind = SOURCES; !err && !num->place && kind < ALL; kind++)
		err = put_all(num, to, kind, THE_RANK);
	memory_free(to);
	return err;
}
