/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs and unpacks blocks of packed pages. A block is three streams of integers: degrees, first
 * neighbours and gaps, in groups of eight. A group of width w has w bits per value and is w bytes
 * long. So groups begin at whole bytes, and a shuffle, a shift and a mask turn a group into eight
 * integers. The four-bit codes of the widths lie before the groups of their stream.
 *
 * First neighbours have a stream of their own because they are wide and gaps are narrow: a first
 * neighbour among the gaps would widen its whole group (kron 22: 1.87 bytes an edge instead of
 * 1.79 + 0.06).
 *
 * Eight values are one AVX2 vector. Bytes an edge with groups of 4, 8, 16 and 32 values:
 *	kron 22		1.81	1.79	1.82	1.86
 *	cnr-2000	0.96	1.10	1.30	1.51
 *	grid		1.22	1.08	1.06	1.04
 */
#include "store/packed.h"

#include <string.h>

#if defined(__x86_64__) && MILL_VID_BITS == 32
#define HAVE_AVX2 1
#include <immintrin.h>
#else
#define HAVE_AVX2 0
#endif

bool packed_plain;
const char packed_lacks[] = "a part of it was not read";

/* No width between 22 and 32: a value must lie within four bytes, from the byte where it begins. */
static const u8 width_of[PACKED_WIDTHS] = { 0, 2,  4,  5,  6,  7,  8,  9,
					    10, 11, 12, 14, 16, 18, 22, 32 };

/* By number of bits: the code of the narrowest width that holds them. */
static const u8 code_of[33] = { 0,  1,  1,  2,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 11, 12, 12,
				13, 13, 14, 14, 14, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15 };

static u32 n_groups(u32 n) { return (n + PACKED_GROUP - 1) / PACKED_GROUP; }
static u32 n_codes(u32 n) { return (n_groups(n) + 1) / 2; }	/* bytes */

/* Turns small differences of either sign into small numbers. Modulo 2^32, so it is reversible. */
static u32 fold(u32 difference) { return difference << 1 ^ (difference >> 31 ? ~0u : 0); }
static u32 unfold(u32 folded) { return folded >> 1 ^ (folded & 1 ? ~0u : 0); }

/* ---- Encoding ---- */

void packer_clear(struct packer *p) { p->n_rows = p->n_edges = p->n_firsts = p->n_gaps = 0; }

bool packer_takes(const struct packer *p, u32 n)
{
	return p->n_rows < PACKED_ROWS && n <= PACKED_EDGES - p->n_edges;
}

void packer_add(struct packer *p, vid v, const vid *neighbour, u32 n)
{
	u32 *gap;

	p->degree[p->n_rows++] = n;
	if (!n)
		return;
	p->first[p->n_firsts++] = fold((u32)neighbour[0] - (u32)v);
	gap = p->gap + p->n_gaps;
	for (u32 k = 0; k + 1 < n; k++)
		gap[k] = (u32)(neighbour[k + 1] - neighbour[k]);
	p->n_gaps += n - 1;
	p->n_edges += n;
}

static unsigned group_code(const u32 *value)
{
	u32 any = 0;

	for (u32 k = 0; k < PACKED_GROUP; k++)
		any |= value[k];
	return code_of[any ? 32 - __builtin_clz(any) : 0];
}

static u32 group_size(unsigned code, u32 n) { return (n * width_of[code] + 7) / 8; }

/*
 * Writes eight values of at most 16 bits, as two halves of at most 64 bits. With an odd width the
 * second half begins in the middle of a byte.
 */
static void put_narrow(u8 *to, const u32 *value, unsigned width)
{
	u64 half[2];
	u8 shared;

	for (unsigned i = 0; i < 2; i++, value += 4)
		half[i] = value[0] | (u64)value[1] << width | (u64)value[2] << 2 * width |
			  (u64)value[3] << 3 * width;
	memcpy(to, &half[0], 8);
	to += width / 2;
	shared = width % 2 ? *to : 0;
	half[1] = half[1] << 4 * width % 8 | shared;
	memcpy(to, &half[1], 8);
}

static void put_wide(u8 *to, const u32 *value, unsigned width)
{
	unsigned fill = 0;
	u64 bits = 0;

	for (unsigned k = 0; k < PACKED_GROUP; k++) {
		bits |= (u64)value[k] << fill;
		fill += width;
		if (fill >= 32) {
			memcpy(to, &bits, 4);
			to += 4;
			bits >>= 32;
			fill -= 32;
		}
	}
	memcpy(to, &bits, 4);
}

/* Writes a stream. value has room for PACKED_GROUP more values. Returns the end. */
static u8 *put_stream(u8 *to, u32 *value, u32 n)
{
	u8 *code = to;

	memset(value + n, 0, PACKED_GROUP * sizeof(*value));
	memset(to, 0, n_codes(n));
	to += n_codes(n);
	for (u32 at = 0; at < n; at += PACKED_GROUP) {
		u32 group = at / PACKED_GROUP;
		unsigned c = group_code(value + at), width = width_of[c];

		code[group / 2] |= (u8)(group % 2 ? c << 4 : c);
		if (width <= 16)
			put_narrow(to, value + at, width);
		else
			put_wide(to, value + at, width);
		to += n - at < PACKED_GROUP ? group_size(c, n - at) : width;
	}
	return to;
}

u32 packer_put(struct packer *p, u8 *to)
{
	u8 *end = put_stream(to, p->degree, p->n_rows);

	end = put_stream(end, p->first, p->n_firsts);
	end = put_stream(end, p->gap, p->n_gaps);
	return (u32)(end - to);
}

/* ---- Decoding ---- */

/* The unpacked streams of a block, with room for whole groups. */
struct values {
	u32 degree[PACKED_ROWS];
	u32 first[PACKED_ROWS];
	u32 before;				/* sum_avx2 reads the value before the first gap */
	u32 gap[PACKED_EDGES + PACKED_GROUP];	/* lists are summed in groups, from any gap on */
};

/*
 * Finds where the groups of a stream of n values begin, and where the next stream does. Returns
 * false if the stream is longer than the page.
 */
static bool find_groups(const u8 *in, const u8 *end, u32 n, const u8 **groups, const u8 **next)
{
	u32 size = 0, full = n / PACKED_GROUP;

	if ((u64)(end - in) < n_codes(n))
		return false;
	for (u32 i = 0; i < full / 2; i++)
		size += (u32)width_of[in[i] & 15] + width_of[in[i] >> 4];
	if (full % 2)
		size += width_of[in[full / 2] & 15];
	if (n % PACKED_GROUP)
		size += group_size(full % 2 ? in[full / 2] >> 4 : in[full / 2] & 15,
				   n % PACKED_GROUP);
	*groups = in + n_codes(n);
	if ((u64)(end - *groups) < size)
		return false;
	*next = *groups + size;
	return true;
}

static void unpack_plain(const u8 *code, const u8 *in, u32 n, u32 *out)
{
	for (u32 g = 0; g < n_groups(n); g++, out += PACKED_GROUP) {
		u32 width = width_of[g % 2 ? code[g / 2] >> 4 : code[g / 2] & 15];
		u64 mask = ((u64)1 << width) - 1;

		for (u32 k = 0; k < PACKED_GROUP; k++) {
			u64 word;

			memcpy(&word, in + k * width / 8, sizeof(word));
			out[k] = (u32)(word >> k * width % 8 & mask);
		}
		in += width;
	}
}

/* Computes a list from its first neighbour and its gaps. */
static void sum_plain(u32 first, const u32 *gap, u32 n, u32 *out)
{
	*out = first;
	for (u32 k = 0; k + 1 < n; k++)
		out[k + 1] = first += gap[k];
}

#if HAVE_AVX2
#define AVX2 __attribute__((target("avx2")))

/*
 * For one width w: how a group becomes eight integers. Values 0 to 3 are loaded from byte 0 of the
 * group, values 4 to 7 from byte w / 2.
 */
struct unpack_ctx {
	u8 byte[32];
	u32 shift[8];
	u32 mask;
	u32 pad[7];
};

#define S(w, k) (u8)((k) * (w) / 8 - ((k) >= 4 ? (w) / 2 : 0))
#define BYTES(w, k) S(w, k), S(w, k) + 1, S(w, k) + 2, S(w, k) + 3
#define WIDTH(w) { \
	{ BYTES(w, 0), BYTES(w, 1), BYTES(w, 2), BYTES(w, 3), \
	  BYTES(w, 4), BYTES(w, 5), BYTES(w, 6), BYTES(w, 7) }, \
	{ 0, (w) % 8, 2 * (w) % 8, 3 * (w) % 8, \
	  4 * (w) % 8, 5 * (w) % 8, 6 * (w) % 8, 7 * (w) % 8 }, \
	(u32)(((u64)1 << (w)) - 1), { 0 } }

static const struct unpack_ctx unpack_of[PACKED_WIDTHS] = {
	WIDTH(0),  WIDTH(2),  WIDTH(4),  WIDTH(5),  WIDTH(6),  WIDTH(7),  WIDTH(8),  WIDTH(9),
	WIDTH(10), WIDTH(11), WIDTH(12), WIDTH(14), WIDTH(16), WIDTH(18), WIDTH(22), WIDTH(32),
};

AVX2 static inline const u8 *unpack_group(unsigned code, const u8 *in, u32 *out)
{
	const struct unpack_ctx *u = &unpack_of[code];
	__m128i low = _mm_loadu_si128((const __m128i *)in);
	__m128i high = _mm_loadu_si128((const __m128i *)(in + width_of[code] / 2));
	__m256i x = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);

	x = _mm256_shuffle_epi8(x, _mm256_loadu_si256((const __m256i *)u->byte));
	x = _mm256_srlv_epi32(x, _mm256_loadu_si256((const __m256i *)u->shift));
	x = _mm256_and_si256(x, _mm256_set1_epi32((int)u->mask));
	_mm256_storeu_si256((__m256i *)out, x);
	return in + width_of[code];
}

AVX2 static void unpack_avx2(const u8 *code, const u8 *in, u32 n, u32 *out)
{
	u32 groups = n_groups(n);

	for (u32 g = 0; g + 1 < groups; g += 2, code++, out += 2 * PACKED_GROUP) {
		in = unpack_group(*code & 15, in, out);
		in = unpack_group(*code >> 4, in, out + PACKED_GROUP);
	}
	if (groups % 2)
		unpack_group(*code & 15, in, out);
}

/* Returns the prefix sums of eight integers. */
AVX2 static inline __m256i sums(__m256i x)
{
	__m256i low;

	x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
	x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
	low = _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(3));
	return _mm256_add_epi32(x, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0));
}

/*
 * Computes a list in whole groups; the next list overwrites the values beyond its end. The first
 * neighbour takes the place before the gaps, so a list of up to eight neighbours is one group.
 */
AVX2 static inline void sum_avx2(u32 first, const u32 *gap, u32 n, u32 *out)
{
	__m256i x = _mm256_loadu_si256((const __m256i *)(gap - 1));

	x = sums(_mm256_blend_epi32(x, _mm256_castsi128_si256(_mm_cvtsi32_si128((int)first)), 1));
	_mm256_storeu_si256((__m256i *)out, x);
	for (u32 k = PACKED_GROUP; k < n; k += PACKED_GROUP) {
		__m256i last = _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(7));

		x = sums(_mm256_loadu_si256((const __m256i *)(gap - 1 + k)));
		x = _mm256_add_epi32(x, last);
		_mm256_storeu_si256((__m256i *)(out + k), x);
	}
}

AVX2 static void sum_lists_avx2(const struct values *v, u32 n_rows, u32 vertex, u32 *out)
{
	const u32 *first = v->first, *gap = v->gap;

	for (u32 r = 0; r < n_rows; r++) {
		u32 n = v->degree[r];

		if (!n)
			continue;
		sum_avx2(vertex + r + unfold(*first++), gap, n, out);
		gap += n - 1;
		out += n;
	}
}

AVX2 static u32 largest_avx2(const u32 *value, u32 n)
{
	u32 max = 0;

	for (u32 k = 0; k < n; k++)
		max = value[k] > max ? value[k] : max;
	return max;
}

static bool use_avx2(void) { return !packed_plain && __builtin_cpu_supports("avx2"); }
#else
static bool use_avx2(void) { return false; }
#define unpack_avx2 unpack_plain
#define sum_lists_avx2 sum_lists_plain
#define largest_avx2 largest_plain
#endif

static void sum_lists_plain(const struct values *v, u32 n_rows, u32 vertex, u32 *out)
{
	const u32 *first = v->first, *gap = v->gap;

	for (u32 r = 0; r < n_rows; r++) {
		u32 n = v->degree[r];

		if (!n)
			continue;
		sum_plain(vertex + r + unfold(*first++), gap, n, out);
		gap += n - 1;
		out += n;
	}
}

static u32 largest_plain(const u32 *value, u32 n)
{
	u32 max = 0;

	for (u32 k = 0; k < n; k++)
		max = value[k] > max ? value[k] : max;
	return max;
}

static bool take_stream(const u8 **in, const u8 *end, u32 n, u32 *out, bool avx2)
{
	const u8 *code = *in, *groups;

	if (!find_groups(*in, end, n, &groups, in))
		return false;
	if (avx2)
		unpack_avx2(code, groups, n, out);
	else
		unpack_plain(code, groups, n, out);
	return true;
}

/* Computes row offsets from degrees. Returns false if the degrees do not add up to n_edges. */
static bool put_rows(const struct values *v, const struct packed_block *b, u32 *row, u32 *n_firsts)
{
	u64 at = b->first_edge;
	u32 some = 0;

	row += b->first_row;
	for (u32 r = 0; r < b->n_rows; r++) {
		row[r] = (u32)at;
		at += v->degree[r];
		some += v->degree[r] != 0;
	}
	*n_firsts = some;
	return at == (u64)b->first_edge + b->n_edges;
}

/* Checks an entry of the block index against the end of the block before: at, rows, edges. */
static const char *block_fault(const struct packed_page *p, const struct packed_block *b, u64 at,
			       u64 rows, u64 edges)
{
	if (b->at != at || b->first_edge != edges)
		return "a block is not where the one before ends";
	if (b->first_row != rows && (!rows || b->first_row != rows - 1))
		return "the rows of blocks do not follow each other";
	if (!b->n_rows || b->n_rows > PACKED_ROWS || b->n_edges > PACKED_EDGES ||
	    (u64)b->first_row + b->n_rows > p->n_rows || edges + b->n_edges > p->n_edges)
		return "a block has more rows or edges than its page";
	return NULL;
}

/* Decodes the lists of a block. Its degrees are decoded already. */
static const char *decode_lists(const struct packed_page *p, const struct packed_block *b,
				struct values *v, u32 n_firsts, const u8 **in, vid *neighbour,
				bool avx2)
{
	const u8 *end = p->page + p->end;
	u32 vertex = p->first_vertex + b->first_row, max;
#if MILL_VID_BITS == 32
	u32 *out = neighbour + b->first_edge;
#else
	u32 out[PACKED_EDGES + PACKED_GROUP];
#endif

	if (!take_stream(in, end, n_firsts, v->first, avx2) ||
	    !take_stream(in, end, b->n_edges - n_firsts, v->gap, avx2))
		return "the lists of a block end too late";
	if (!b->n_edges)
		return NULL;
	if (avx2) {
		sum_lists_avx2(v, b->n_rows, vertex, out);
		max = largest_avx2(out, b->n_edges);
	} else {
		sum_lists_plain(v, b->n_rows, vertex, out);
		max = largest_plain(out, b->n_edges);
	}
	if (max >= p->n_vertices)
		return "a neighbour that does not exist";
#if MILL_VID_BITS != 32
	for (u32 k = 0; k < b->n_edges; k++)
		neighbour[b->first_edge + k] = (vid)out[k];
#endif
	return NULL;
}

void packed_block_at(const struct packed_page *p, u32 i, struct packed_block *out)
{
	memcpy(out, p->page + p->index_at + (u64)i * sizeof(*out), sizeof(*out));
}

/* Returns where the streams of block i end, by the entry of the next block. */
static const u8 *skip_lists(const struct packed_page *p, u32 i, const u8 *in)
{
	struct packed_block next;

	packed_block_at(p, i + 1, &next);
	return next.at < p->end && p->page + next.at >= in ? p->page + next.at : p->page + p->end;
}

static bool is_wanted(const struct packed_page *p, const struct packed_block *b,
		      const struct row_filter *only)
{
	u64 first = (u64)p->first_vertex + b->first_row;

	return !only || only->wanted(only->arg, first, first + b->n_rows);
}

/*
 * Returns true if the streams of block i were read; *weights: its weights were read. Trusts the
 * index: if it is wrong, decoding finds that later.
 */
static bool is_here(const struct packed_page *p, u32 i, const struct packed_block *b, bool *weights)
{
	u64 weight = p->weight_at + (u64)p->weight_size * b->first_edge;
	struct packed_block next;

	packed_block_at(p, i + 1, &next);
	*weights = packed_has(p, weight, weight + (u64)p->weight_size * b->n_edges);
	return packed_has(p, b->at, min_u64(max_u64(next.at, b->at), p->end));
}

/* Makes row offsets for a block that was not read: its first row gets all its edges. */
static void skip_rows(const struct packed_block *b, u32 *row)
{
	for (u32 r = 0; r < b->n_rows; r++)
		row[b->first_row + r] = r ? b->first_edge + b->n_edges : b->first_edge;
}

const char *packed_decode(const struct packed_page *p, const struct row_filter *only, u32 *row,
			  vid *neighbour)
{
	const u8 *in = p->page + p->index_at + ((u64)p->n_blocks + 1) * sizeof(struct packed_block);
	bool avx2 = use_avx2();
	u64 rows = 0, edges = 0;
	struct values v;

	for (u32 i = 0; i < p->n_blocks; i++) {
		struct packed_block b;
		const char *fault;
		bool wanted, here = true, weights = true;
		u32 n_firsts = 0, begin;

		packed_block_at(p, i, &b);
		fault = block_fault(p, &b, (u64)(in - p->page), rows, edges);
		if (fault)
			return fault;
		wanted = is_wanted(p, &b, only);
		if (p->slice_bits)
			here = is_here(p, i, &b, &weights);
		if (wanted && !(here && weights))
			return packed_lacks;
		begin = b.first_row != rows ? row[b.first_row] : b.first_edge;
		if (!here)
			skip_rows(&b, row);
		else if (!take_stream(&in, p->page + p->end, b.n_rows, v.degree, avx2))
			return "the degrees of a block end too late";
		else if (!put_rows(&v, &b, row, &n_firsts))
			return "the degrees of a block do not add up to its edges";
		row[b.first_row] = begin;	/* the first list may begin in an earlier block */
		if (wanted)
			fault = decode_lists(p, &b, &v, n_firsts, &in, neighbour, avx2);
		else
			in = skip_lists(p, i, in);
		if (fault)
			return fault;
		rows = (u64)b.first_row + b.n_rows;
		edges += b.n_edges;
	}
	if (rows != p->n_rows || edges != p->n_edges || in != p->page + p->end)
		return "the blocks are not all of the page";
	row[p->n_rows] = p->n_edges;
	return NULL;
}

const char *packed_index_fault(const struct packed_page *p)
{
	u64 at = p->index_at + ((u64)p->n_blocks + 1) * sizeof(struct packed_block);
	u64 rows = 0, edges = 0;

	for (u32 i = 0; i < p->n_blocks; i++) {
		struct packed_block b;
		const char *fault;

		packed_block_at(p, i, &b);
		fault = b.at < at || b.at > p->end || (!i && b.at != at)
				? "a block is not where the one before ends"
				: block_fault(p, &b, b.at, rows, edges);
		if (fault)
			return fault;
		at = b.at;
		rows = (u64)b.first_row + b.n_rows;
		edges += b.n_edges;
	}
	return rows == p->n_rows && edges == p->n_edges ? NULL :
							  "the blocks are not all of the page";
}
