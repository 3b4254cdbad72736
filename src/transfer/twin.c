/* SPDX-License-Identifier: Apache-2.0 */
/* Twin state: see twin.h. */
#include "transfer/twin.h"

#include <assert.h>
#include <string.h>

#include "base/bitmap.h"
#include "transfer/transfer.h"

static const char *const twin_text[] = {
	"device/dialect.h", DEFINE(TWIN_TILE), "transfer/twin.cl"
};
static const struct kernel_source twin_kernels = { "twin", twin_text, ARRAY_LEN(twin_text) };

#define PIECE_SHARE 32u		/* a piece takes at most 1/32 of the budget */
#define PIECE_LEAST 64u
#define FEW 16u			/* at most 1/16 differ from the rest: the rest is filled in */

static u64 words32(u64 n) { return 2 * bitmap_words(n); }
static u64 tiles_of(u64 n) { return div_up(words32(n), TWIN_TILE); }
static u64 piece_bytes(u64 most, u32 size) { return most * (sizeof(u32) + 2 * (u64)size); }

u64 twin_piece(u64 bytes, u32 size)
{
	u64 most = bytes / PIECE_SHARE / (sizeof(u32) + 2 * (u64)size);

	return min_u64(max_u64(most, PIECE_LEAST), (u64)1 << 24);
}

u64 twin_device_bytes(u64 n, u32 size, bool adds, u64 most)
{
	return round_up(n * size, 8) * (adds ? 3 : 2) + words32(n) * sizeof(u32) +
	       (tiles_of(n) + 2) * sizeof(u32) + piece_bytes(most, size) + 256;
}

u64 twin_host_bytes(u64 n, u32 size, bool adds, u64 most)
{
	(void)adds;
	return n * size + 3 * bitmap_words(n) * sizeof(u64) +
	       (tiles_of(n) + 2) * sizeof(u32) + piece_bytes(most, size);
}

static mill_err open_device(struct transfer *t, u64 n, u32 size, bool adds)
{
	struct station *s = &t->station[0];
	struct twin *w = &t->twin;
	enum traffic kind = TRAFFIC_WRITABLE;
	u64 bytes = max_u64(round_up(n * size, 8), 8);

	TRY(device_prepare(s->device, &twin_kernels));
	TRY(station_buffer(s, &w->value, bytes, "the master of the state", kind));
	TRY(station_buffer(s, &w->sent, bytes, "the master of the state", kind));
	if (adds)
		TRY(station_buffer(s, &w->factor, bytes, "factors", TRAFFIC_READ_ONLY));
	TRY(station_buffer(s, &w->changed, max_u64(words32(n), 2) * sizeof(u32),
			   "changed vertices", TRAFFIC_FLAGS));
	TRY(station_buffer(s, &w->count, (tiles_of(n) + 2) * sizeof(u32), "changed vertices",
			   TRAFFIC_FLAGS));
	for (u32 i = 0; i < 3; i++)
		TRY(station_buffer(s, &w->piece[i], w->most * (i ? size : sizeof(u32)),
				   "a piece of an exchange", kind));
	return device_fill(&w->changed, &(u32){ 0 }, sizeof(u32));
}

mill_err twin_open(struct transfer *t, u64 n, u32 size, bool adds, u64 most)
{
	struct twin *w = &t->twin;
	const char *what = "the twin state";
	u64 words = max_u64(bitmap_words(n), 1);

	*w = (struct twin){ .n = n, .most = most };
	TRY(memory_new(adds ? &w->base : &w->own_sent, t->budget, max_u64(n, 1), size, what));
	TRY(memory_new(&w->changed_bits, t->budget, words, sizeof(u64), what));
	TRY(memory_new(&w->ran, t->budget, words, sizeof(u64), what));
	TRY(memory_new(&w->ever, t->budget, words, sizeof(u64), what));
	TRY(memory_new(&w->tile, t->budget, tiles_of(n) + 2, sizeof(u32), what));
	TRY(memory_new(&w->id, t->budget, most, sizeof(u32), what));
	TRY(memory_new(&w->x, t->budget, most, size, what));
	TRY(memory_new(&w->y, t->budget, most, size, what));
	return open_device(t, n, size, adds);
}

void twin_close(struct transfer *t)
{
	struct twin *w = &t->twin;
	struct buffer *all[] = { &w->value,    &w->sent,     &w->factor,  &w->changed,
				 &w->count,    &w->piece[0], &w->piece[1], &w->piece[2] };

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		device_buffer_free(all[i]);
	memory_free(w->own_sent);
	memory_free(w->base);
	memory_free(w->changed_bits);
	memory_free(w->ran);
	memory_free(w->ever);
	memory_free(w->tile);
	memory_free(w->id);
	memory_free(w->x);
	memory_free(w->y);
	*w = (struct twin){ 0 };
}

static struct vec *vec_at(const struct twin *w, u32 offset)
{
	return *(struct vec *const *)((const char *)w->args + offset);
}

void *twin_value(const struct twin *w) { return vec_at(w, w->program->writable)->buffer.host; }

void *twin_sent(const struct twin *w)
{
	return w->program->adds ? vec_at(w, w->program->sent)->buffer.host : w->own_sent;
}

void twin_restart(struct transfer *t) { t->twin.begun = false; }

/* ---- From the host to the device ---- */

static void copy_entry(void *to, u64 i, const void *from, u64 k, u32 size)
{
	memmove((char *)to + i * size, (const char *)from + k * size, size);
}

static mill_err scatter(struct transfer *t, u32 n)
{
	struct twin *w = &t->twin;
	u32 size = w->program->size;
	bool adds = w->program->adds;
	struct kernel_call l;

	if (!n)
		return MILL_OK;
	TRY(device_write(&w->piece[0], 0, w->id, n * sizeof(u32)));
	TRY(device_write(&w->piece[1], 0, w->x, (u64)n * size));
	if (adds)
		TRY(device_write(&w->piece[2], 0, w->y, (u64)n * size));
	w->exchanged += n * (sizeof(u32) + (u64)size * (adds ? 2 : 1));
	launch_begin_kernel(&l, &twin_kernels, size == 4 ? "twin_scatter_u32" : "twin_scatter_u64");
	launch_buffer(&l, &w->piece[0]);
	launch_buffer(&l, &w->piece[1]);
	launch_buffer(&l, adds ? &w->piece[2] : NULL);
	launch_u32(&l, &n);
	launch_buffer(&l, &w->value);
	launch_buffer(&l, &w->sent);
	return launch_items(t->station[0].device, &l, n, 1);
}

static mill_err put_whole(struct transfer *t)
{
	struct twin *w = &t->twin;
	u64 bytes = w->n * w->program->size;

	TRY(device_write(&w->value, 0, twin_value(w), bytes));
	w->exchanged += bytes;
	if (!w->program->adds)
		return MILL_OK;
	w->exchanged += bytes;
	return device_write(&w->sent, 0, twin_sent(w), bytes);
}

/* Writes the host's values of the vertices in the bitmap. */
static mill_err put_changed(struct transfer *t, const u64 *bits)
{
	struct twin *w = &t->twin;
	u32 size = w->program->size, n = 0;

	if (bitmap_count(bits, 0, w->n) > w->n / 2)
		return put_whole(t);
	for (u64 k = 0; k < bitmap_words(w->n); k++)
		for (u64 word = bits[k]; word; word &= word - 1) {
			u64 v = k * 64 + (u64)__builtin_ctzll(word);

			w->id[n] = (u32)v;
			copy_entry(w->x, n, twin_value(w), v, size);
			copy_entry(w->y, n, twin_sent(w), v, size);
			if (++n == w->most) {
				TRY(scatter(t, n));
				n = 0;
			}
		}
	return scatter(t, n);
}

/*
 * Gives the device the first state. If nearly all values are the same, the device fills its
 * array itself and gets only the others.
 */
static mill_err put_first(struct transfer *t)
{
	struct twin *w = &t->twin;
	u32 size = w->program->size;
	const char *value = twin_value(w), *last = value + (w->n - 1) * size;
	u64 differ = 0;

	memset(w->changed_bits, 0, bitmap_words(w->n) * sizeof(u64));
	for (u64 v = 0; v < w->n; v++)
		if (memcmp(value + v * size, last, size)) {
			bitmap_put(w->changed_bits, v);
			differ++;
		}
	if (w->program->adds || differ > w->n / FEW) {
		TRY(put_whole(t));
	} else {
		TRY(device_fill(&w->value, last, size));
		TRY(put_changed(t, w->changed_bits));
	}
	if (!w->program->adds)
		TRY(device_fill(&w->sent, &(u64){ UINT64_MAX }, sizeof(u64)));
	else
		TRY(device_write(&w->factor, 0, vec_at(w, w->program->factor)->buffer.host,
				 w->n * size));
	return device_fill(&w->changed, &(u32){ 0 }, sizeof(u32));
}

mill_err twin_begin(struct transfer *t, const struct device_pass *p)
{
	struct twin *w = &t->twin;
	u64 words = bitmap_words(w->n) * sizeof(u64);

	w->program = p->forms->path;
	w->args = p->args;
	assert(vec_at(w, w->program->writable)->n == w->n);
	if (w->begun || !w->n)
		return MILL_OK;
	if (w->own_sent)
		memset(w->own_sent, 0xff, w->n * w->program->size);
	TRY(put_first(t));
	if (w->base)
		memcpy(w->base, twin_value(w), w->n * w->program->size);
	memset(w->changed_bits, 0, words);
	memset(w->ran, 0, words);
	memset(w->ever, 0, words);
	w->begun = true;
	return MILL_OK;
}

/* ---- From the device to the host ---- */

/* Merges entry i of a piece into the host's master. Notes if the device's is then older. */
static void merge_entry(struct twin *w, u64 i)
{
	u32 v = w->id[i], size = w->program->size;
	bool host_ran = bitmap_get(w->ran, v), newer = true;

	if (w->program->adds) {
		if (w->program->real) {
			f64 *to = (f64 *)twin_value(w) + v;

			*to += ((f64 *)w->x)[i] - ((f64 *)w->base)[v];
		} else {
			u64 *to = (u64 *)twin_value(w) + v;

			*to += ((u64 *)w->x)[i] - ((u64 *)w->base)[v];
		}
		if (!host_ran)
			copy_entry(twin_sent(w), v, w->y, i, size);
		/* The device lacks what the host added, or gave. */
		newer = bitmap_get(w->changed_bits, v);
	} else if (size == sizeof(u32)) {
		u32 *value = (u32 *)twin_value(w) + v, *sent = (u32 *)twin_sent(w) + v;

		newer = *value < ((u32 *)w->x)[i];
		*value = newer ? *value : ((u32 *)w->x)[i];
		*sent = ((u32 *)w->y)[i] < *sent ? ((u32 *)w->y)[i] : *sent;
	} else {
		u64 *value = (u64 *)twin_value(w) + v, *sent = (u64 *)twin_sent(w) + v;

		newer = *value < ((u64 *)w->x)[i];
		*value = newer ? *value : ((u64 *)w->x)[i];
		*sent = ((u64 *)w->y)[i] < *sent ? ((u64 *)w->y)[i] : *sent;
	}
	bitmap_put(w->ever, v);
	if (newer)
		bitmap_put(w->changed_bits, v);
	else
		w->changed_bits[v / 64] &= ~((u64)1 << (v % 64));
}

/* Reads the changed vertices of tiles [begin, end), of which there are n, and merges them. */
static mill_err get_tiles(struct transfer *t, u32 begin, u32 end, u32 n)
{
	struct twin *w = &t->twin;
	u32 size = w->program->size, first = begin * TWIN_TILE,
	    last = (u32)min_u64((u64)end * TWIN_TILE, words32(w->n));
	struct kernel_call l;

	TRY(device_fill(&w->count, &(u32){ 0 }, sizeof(u32)));
	launch_begin_kernel(&l, &twin_kernels, size == 4 ? "twin_collect_u32" : "twin_collect_u64");
	launch_buffer(&l, &w->changed);
	launch_u32(&l, &first);
	launch_u32(&l, &last);
	launch_buffer(&l, &w->value);
	launch_buffer(&l, &w->sent);
	launch_buffer(&l, &w->count);
	for (u32 i = 0; i < 3; i++)
		launch_buffer(&l, &w->piece[i]);
	TRY(launch_items(t->station[0].device, &l, last - first, 1));
	TRY(device_read(&w->piece[0], 0, w->id, n * sizeof(u32)));
	TRY(device_read(&w->piece[1], 0, w->x, (u64)n * size));
	TRY(device_read(&w->piece[2], 0, w->y, (u64)n * size));
	w->exchanged += n * (sizeof(u32) + 2 * (u64)size);
	for (u32 i = 0; i < n; i++)
		merge_entry(w, i);
	return MILL_OK;
}

/* Reads the arrays whole, in pieces, and merges the elements that differ from the host's. */
static mill_err get_whole(struct transfer *t)
{
	struct twin *w = &t->twin;
	u32 size = w->program->size;
	const char *was = w->program->adds ? w->base : twin_value(w);

	for (u64 at = 0, n; at < w->n; at += n) {
		u64 k = 0;

		n = min_u64(w->most, w->n - at);
		TRY(device_read(&w->value, at * size, w->x, n * size));
		TRY(device_read(&w->sent, at * size, w->y, n * size));
		w->exchanged += 2 * n * size;
		for (u64 i = 0; i < n; i++) {
			if (!memcmp((char *)w->x + i * size, was + (at + i) * size, size) &&
			    !memcmp((char *)w->y + i * size,
				    (char *)twin_sent(w) + (at + i) * size, size))
				continue;
			w->id[k] = (u32)(at + i);
			copy_entry(w->x, k, w->x, i, size);
			copy_entry(w->y, k, w->y, i, size);
			k++;
		}
		for (u64 i = 0; i < k; i++)
			merge_entry(w, i);
	}
	return device_fill(&w->changed, &(u32){ 0 }, sizeof(u32));
}

/* Counts the changed vertices of each tile. */
static mill_err count_changed(struct transfer *t, u64 *sum)
{
	struct twin *w = &t->twin;
	u32 n_words = (u32)words32(w->n), n_tiles = (u32)tiles_of(w->n);
	struct kernel_call l;

	launch_begin_kernel(&l, &twin_kernels, "twin_count");
	launch_buffer(&l, &w->changed);
	launch_u32(&l, &n_words);
	launch_buffer(&l, &w->count);
	launch_u32(&l, &n_tiles);
	TRY(launch_groups(t->station[0].device, &l, min_u64(n_tiles, 1024)));
	TRY(device_read(&w->count, 0, w->tile, n_tiles * sizeof(u32)));
	*sum = 0;
	for (u32 i = 0; i < n_tiles; i++)
		*sum += w->tile[i];
	return MILL_OK;
}

static mill_err get_changed(struct transfer *t)
{
	struct twin *w = &t->twin;
	u32 n_tiles = (u32)tiles_of(w->n), n;
	u64 sum;

	TRY(count_changed(t, &sum));
	if (!sum)
		return MILL_OK;
	/* A tile must fit a piece. */
	if (sum > w->n / 2 || w->most < min_u64(TWIN_TILE * 32, w->n))
		return get_whole(t);
	for (u32 begin = 0, end; begin < n_tiles; begin = end) {
		for (n = w->tile[begin], end = begin + 1;
		     end < n_tiles && n + w->tile[end] <= w->most; end++)
			n += w->tile[end];
		if (n)
			TRY(get_tiles(t, begin, end, n));
	}
	return MILL_OK;
}

/* Makes the host's values of all vertices that changed the base of the next round. */
static void rebase(struct twin *w)
{
	u32 size = w->program->size;

	memcpy(w->base, twin_value(w), w->n * size);
}

mill_err twin_exchange(struct transfer *t)
{
	struct twin *w = &t->twin;
	u64 words = bitmap_words(w->n);

	for (u64 k = 0; k < words; k++)
		w->ever[k] |= w->changed_bits[k];
	TRY(get_changed(t));
	TRY(put_changed(t, w->changed_bits));
	if (w->base)
		rebase(w);
	memset(w->changed_bits, 0, words * sizeof(u64));
	memset(w->ran, 0, words * sizeof(u64));
	return MILL_OK;
}
