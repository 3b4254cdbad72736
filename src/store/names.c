/* SPDX-License-Identifier: Apache-2.0 */
/* Names of vertices, read through a cache of blocks. */
#include "store/names.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"

#define FRAMES_MIN 16u	/* blocks */

/* A cache of blocks of both files. Only frame i mod n_frames can hold block i. */
struct names {
	const struct store *st;
	u64 n_frames;
	u64 name_blocks;	/* number of blocks of `names`; those of the index follow */
	u64 *held;		/* by frame: 1 + the number of its block; 0: empty */
	u8 *block;
	char name[STORE_NAME_MAX + 1];
};

mill_err names_open(struct names **out, const struct store *st, struct budget *budget, u64 most)
{
	u64 blocks = div_up(st->size[STORE_NAMES], STORE_BLOCK) +
		     div_up(st->size[STORE_NAMES_INDEX], STORE_BLOCK);
	struct names *n;
	mill_err err;

	TRY(memory_new(&n, budget, 1, sizeof(*n), "the names"));
	n->st = st;
	n->name_blocks = div_up(st->size[STORE_NAMES], STORE_BLOCK);
	n->n_frames = max_u64(1, min_u64(blocks, max_u64(FRAMES_MIN, most / STORE_BLOCK)));
	err = memory_new(&n->held, budget, n->n_frames, sizeof(*n->held), "the names");
	if (!err)
		err = memory_new(&n->block, budget, n->n_frames, STORE_BLOCK, "the names");
	if (err) {
		names_close(n);
		return err;
	}
	*out = n;
	return MILL_OK;
}

void names_close(struct names *n)
{
	if (!n)
		return;
	memory_free(n->block);
	memory_free(n->held);
	memory_free(n);
}

/* Copies bytes [at, at + size) of a file. The range lies within the file. */
static mill_err get(struct names *n, enum store_file f, void *to, u64 size, u64 at)
{
	u8 *out = to;

	while (size) {
		u64 number = at / STORE_BLOCK, in_block = at % STORE_BLOCK;
		u64 some = min_u64(size, STORE_BLOCK - in_block);
		u64 key = number + (f == STORE_NAMES ? 0 : n->name_blocks);
		u64 frame = key % n->n_frames;
		u8 *block = n->block + frame * STORE_BLOCK;

		if (n->held[frame] != key + 1) {
			n->held[frame] = 0;
			TRY(store_read(n->st, f, block,
				       min_u64(STORE_BLOCK, n->st->size[f] - number * STORE_BLOCK),
				       number * STORE_BLOCK));
			n->held[frame] = key + 1;
		}
		memcpy(out, block + in_block, some);
		out += some;
		at += some;
		size -= some;
	}
	return MILL_OK;
}

static bool is_printable(const char *text, u64 n)
{
	u8 bad = 0;

	for (u64 i = 0; i < n; i++)
		bad |= (u8)text[i] < 0x20 || text[i] == 0x7f;
	return !bad;
}

mill_err names_get(struct names *n, u64 rank, const char **text, u32 *length)
{
	const struct store *st = n->st;
	u64 begin = 0, end, last = st->size[STORE_NAMES];

	if (rank)
		TRY(get(n, STORE_NAMES_INDEX, &begin, sizeof(begin), (rank - 1) * sizeof(begin)));
	TRY(get(n, STORE_NAMES_INDEX, &end, sizeof(end), rank * sizeof(end)));
	if (end > last || begin >= end || end - begin < 2 || end - begin > STORE_NAME_MAX + 1 ||
	    (rank + 1 == st->vertices && end != last))
		return fail(MILL_ECORRUPT, "%s: entry %" PRIu64 " is impossible",
			    st->file[STORE_NAMES_INDEX].name, rank);
	TRY(get(n, STORE_NAMES, n->name, end - begin, begin));
	if (n->name[end - begin - 1] != '\n' || !is_printable(n->name, end - begin - 1))
		return fail(MILL_ECORRUPT, "%s: there is no valid name at byte %" PRIu64,
			    st->file[STORE_NAMES].name, begin);
	*text = n->name;
	*length = (u32)(end - begin - 1);
	return MILL_OK;
}

int name_compare(const char *a, size_t na, const char *b, size_t nb)
{
	int order = memcmp(a, b, na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

mill_err names_find(const struct store *st, const char *text, size_t length, vid *out)
{
	u64 low = 0, high = st->vertices;
	struct names *names;
	mill_err err = MILL_OK;

	*out = NO_VERTEX;
	TRY(names_open(&names, st, NULL, 0));
	while (!err && low < high) {
		u64 middle = low + (high - low) / 2;
		const char *name;
		int order;
		u32 n;

		err = names_get(names, middle, &name, &n);
		if (err)
			break;
		order = name_compare(text, length, name, n);
		if (!order) {
			err = store_vertex(st, middle, out);
			break;
		}
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	names_close(names);
	return err;
}

mill_err names_ends(const struct store *st, struct budget *budget, char **first, char **last)
{
	struct names *names;
	const char *text;
	mill_err err;
	u32 n;

	TRY(names_open(&names, st, NULL, 0));
	err = names_get(names, 0, &text, &n);
	if (!err)
		err = memory_printf(first, budget, "%.*s", (int)n, text);
	if (!err)
		err = names_get(names, st->vertices - 1, &text, &n);
	if (!err)
		err = memory_printf(last, budget, "%.*s", (int)n, text);
	names_close(names);
	return err;
}

static mill_err find(const struct store *st, const char *text, size_t length, vid *out, bool *is_id)
{
	u64 id;

	*out = NO_VERTEX;
	*is_id = st->named || number_u64(&id, text, text + length);
	if (st->named)
		return names_find(st, text, length, out);
	return *is_id ? store_vertex(st, id, out) : MILL_OK;
}

mill_err names_vertex(const struct store *st, const char *text, size_t length, vid *out,
		      bool *is_id)
{
	TRY(find(st, text, length, out, is_id));
	if (*out == NO_VERTEX && length > 3 && !memcmp(text, "id:", 3))
		return find(st, text + 3, length - 3, out, is_id);
	return MILL_OK;
}

size_t name_put(char *to, const char *text, u32 length, const char *separators)
{
	bool plain = text[0] != '#' && text[0] != '%';
	size_t n = 0;

	for (u32 i = 0; i < length && plain; i++)
		plain = text[i] != '"' && !strchr(separators, text[i]);
	if (plain) {
		memcpy(to, text, length);
		return length;
	}
	to[n++] = '"';
	for (u32 i = 0; i < length; i++) {
		if (text[i] == '"')
			to[n++] = '"';
		to[n++] = text[i];
	}
	to[n++] = '"';
	return n;
}

MILL_API mill_err mill_store_name(const mill_store *store, uint64_t id, char *to)
{
	const struct store *st = store->st;
	struct names *names;
	const char *text;
	mill_err err;
	u32 n;

	if (!st->named) {
		to[number_put_u64(to, id)] = '\0';
		return MILL_OK;
	}
	if (id >= st->vertices)
		return fail(MILL_EUSAGE, "%s has no vertex %" PRIu64, st->path, id);
	TRY(names_open(&names, st, NULL, 0));
	err = names_get(names, id, &text, &n);
	if (!err) {
		memcpy(to, text, n);
		to[n] = '\0';
	}
	names_close(names);
	return err;
}
