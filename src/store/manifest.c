/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and parses the manifest. A parsed manifest is written again and compared. */
#include "store/manifest.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/number.h"

static const char *const file_name[STORE_FILES] = {
	[STORE_OUT_PAGES] = "out.pages", [STORE_OUT_INDEX] = "out.index",
	[STORE_OUT_DEGREES] = "out.degrees", [STORE_IN_PAGES] = "in.pages",
	[STORE_IN_INDEX] = "in.index", [STORE_IN_DEGREES] = "in.degrees",
	[STORE_IDS] = "ids", [STORE_ORDER] = "order", [STORE_RANK] = "rank",
	[STORE_NAMES] = "names", [STORE_NAMES_INDEX] = "names.index",
};

static const struct {
	const char *name;
	size_t size;
} weights[] = {
	[MILL_WEIGHT_NONE] = { "none", 0 }, [MILL_WEIGHT_U32] = { "u32", 4 },
	[MILL_WEIGHT_I32] = { "i32", 4 },   [MILL_WEIGHT_F32] = { "f32", 4 },
	[MILL_WEIGHT_F64] = { "f64", 8 },
};

/* The last line. Manifests of all versions have it. */
#define CHECKSUM_KEY "checksum "
#define CHECKSUM_LINE (sizeof(CHECKSUM_KEY) - 1 + 16 + 1)
#define VERSION_KEY "millrace-store "
#define PAGED "paged"

size_t weight_size(enum mill_weight w) { return weights[w].size; }
const char *weight_name(enum mill_weight w) { return weights[w].name; }
const char *codec_name(enum page_codec c) { return c == PAGE_PACKED ? "packed" : "raw"; }
const char *store_file_name(enum store_file f) { return file_name[f]; }

bool manifest_has(const struct manifest *m, enum store_file f)
{
	if (f == STORE_NAMES || f == STORE_NAMES_INDEX)
		return m->names;
	return m->in_pages || (f != STORE_IN_PAGES && f != STORE_IN_INDEX && f != STORE_IN_DEGREES);
}

void uuid_show(char *to, const u8 *uuid)
{
	static const char digit[] = "0123456789abcdef";

	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		*to++ = digit[uuid[i] >> 4];
		*to++ = digit[uuid[i] & 15];
	}
	*to = '\0';
}

/* ---- Writing ---- */

/* The length of every line is bounded, and MANIFEST_MAX is more than their sum. */

struct text {
	char *to;
	size_t size;
};

static void line(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->to + t->size, MANIFEST_MAX - t->size, format, args);
	va_end(args);
	t->size += (size_t)n;
}

static void line_f64(struct text *t, const char *key, f64 value)
{
	char number[NUMBER_TEXT];
	size_t n = number_put_f64(number, value);

	line(t, "%s %.*s\n", key, (int)n, number);
}

size_t manifest_format(char *text, const struct manifest *m)
{
	struct text t = { .to = text };
	char uuid[37];

	uuid_show(uuid, m->uuid);
	line(&t, VERSION_KEY "%u\n", m->version);
	line(&t, "uuid %s\n", uuid);
	line(&t, "origin %s\n", m->origin);
	line(&t, "fingerprint %016" PRIx64 "\n", m->fingerprint);
	line(&t, "vid_bits %d\n", MILL_VID_BITS);
	line(&t, "codec %s\n", codec_name(m->codec));
	line(&t, "page_size %u\n", m->page_size);
	if (m->version > 1)
		line(&t, "stripes %u\n", m->stripes);
	if (m->version > 2) {
		line(&t, "addressing %s\n", PAGED);
		line(&t, "out_slots %u\n", m->slots[0]);
		line(&t, "in_slots %u\n", m->slots[1]);
	}
	line(&t, "directed %s\n", m->directed ? "yes" : "no");
	line(&t, "in_pages %s\n", m->in_pages ? "yes" : "no");
	line(&t, "weight %s\n", weight_name(m->weight));
	line(&t, "names %s\n", m->names ? "yes" : "no");
	line(&t, "vertices %" PRIu64 "\n", m->vertices);
	line(&t, "sources %" PRIu64 "\n", m->sources);
	if (m->version > 1)
		line(&t, "connected %" PRIu64 "\n", m->n_linked);
	line(&t, "edges %" PRIu64 "\n", m->edges);
	line(&t, "stored_edges %" PRIu64 "\n", m->stored_edges);
	line(&t, "in_rows %" PRIu64 "\n", m->in_rows);
	line(&t, "self_loops %" PRIu64 "\n", m->self_loops);
	line(&t, "parallel_edges %" PRIu64 "\n", m->parallel_edges);
	line(&t, "max_degree %" PRIu64 "\n", m->max_degree);
	line(&t, "min_id %" PRIu64 "\n", m->min_id);
	line(&t, "max_id %" PRIu64 "\n", m->max_id);
	line_f64(&t, "min_weight", m->min_weight);
	line_f64(&t, "max_weight", m->max_weight);
	line_f64(&t, "sum_weight", m->sum_weight);
	for (enum store_file f = 0; f < STORE_FILES; f++)
		if (manifest_has(m, f))
			line(&t, "file %s %" PRIu64 "\n", file_name[f], m->size[f]);
	line(&t, "sums %016" PRIx64 "\n", m->sums);
	line(&t, CHECKSUM_KEY "%016" PRIx64 "\n", checksum(text, t.size));
	return t.size;
}

/* ---- Parsing ---- */

/* All take_* functions return false if the text has the wrong form. */

/* The text that is not parsed yet. */
struct cursor {
	const char *at, *end;
};

/* Takes the value of the next line, which must have this key. */
static bool take(struct cursor *c, const char *key, const char **value, const char **end)
{
	size_t n = strlen(key);
	const char *stop = memchr(c->at, '\n', (size_t)(c->end - c->at));

	if (!stop || (size_t)(stop - c->at) < n + 1 || memcmp(c->at, key, n) || c->at[n] != ' ')
		return false;
	*value = c->at + n + 1;
	*end = stop;
	c->at = stop + 1;
	return true;
}

static bool take_u64(struct cursor *c, const char *key, u64 *out)
{
	const char *value, *end;

	return take(c, key, &value, &end) && number_u64(out, value, end);
}

static bool take_u32(struct cursor *c, const char *key, u32 *out)
{
	u64 wide;

	if (!take_u64(c, key, &wide) || wide > UINT32_MAX)
		return false;
	*out = (u32)wide;
	return true;
}

static bool take_f64(struct cursor *c, const char *key, f64 *out)
{
	const char *value, *end;

	return take(c, key, &value, &end) && number_f64(out, value, end);
}

static bool hex_digits(u64 *out, const char *at, const char *end)
{
	u64 value = 0;

	for (; at < end; at++) {
		if (*at >= '0' && *at <= '9')
			value = value << 4 | (u64)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			value = value << 4 | (u64)(*at - 'a' + 10);
		else
			return false;
	}
	*out = value;
	return true;
}

static bool take_hex(struct cursor *c, const char *key, u64 *out)
{
	const char *value, *end;

	return take(c, key, &value, &end) && end - value == 16 && hex_digits(out, value, end);
}

static bool equals(const char *value, const char *end, const char *word)
{
	return (size_t)(end - value) == strlen(word) && !memcmp(value, word, strlen(word));
}

static bool take_bool(struct cursor *c, const char *key, bool *out)
{
	const char *value, *end;

	if (!take(c, key, &value, &end))
		return false;
	*out = equals(value, end, "yes");
	return *out || equals(value, end, "no");
}

static bool take_weight(struct cursor *c, enum mill_weight *out)
{
	const char *value, *end;

	if (!take(c, "weight", &value, &end))
		return false;
	for (size_t w = 0; w < ARRAY_LEN(weights); w++) {
		if (equals(value, end, weights[w].name)) {
			*out = (enum mill_weight)w;
			return true;
		}
	}
	return false;
}

static bool take_codec(struct cursor *c, enum page_codec *out)
{
	const char *value, *end;

	if (!take(c, "codec", &value, &end))
		return false;
	*out = equals(value, end, codec_name(PAGE_PACKED)) ? PAGE_PACKED : PAGE_RAW;
	return equals(value, end, codec_name(*out));
}

/* A dense store has a version before 3, and no lines about addressing. */
static bool take_addressing(struct cursor *c, struct manifest *m)
{
	const char *value, *end;

	if (m->version < 3)
		return true;
	m->paged = true;
	return take(c, "addressing", &value, &end) && equals(value, end, PAGED) &&
	       take_u32(c, "out_slots", &m->slots[0]) && take_u32(c, "in_slots", &m->slots[1]);
}

static bool take_origin(struct cursor *c, char *out)
{
	const char *value, *end;
	size_t n;

	if (!take(c, "origin", &value, &end))
		return false;
	n = (size_t)(end - value);
	if (n > ORIGIN_MAX || memchr(value, '\0', n))
		return false;
	memcpy(out, value, n);
	out[n] = '\0';
	return true;
}

/* Checks the digits. The dashes are checked when the manifest is written again and compared. */
static bool take_uuid(struct cursor *c, u8 *out)
{
	const char *value, *end;

	if (!take(c, "uuid", &value, &end) || end - value != 36)
		return false;
	for (unsigned i = 0; i < 16; i++) {
		u64 byte;

		if (i == 4 || i == 6 || i == 8 || i == 10)
			value++;
		if (!hex_digits(&byte, value, value + 2))
			return false;
		out[i] = (u8)byte;
		value += 2;
	}
	return true;
}

static bool take_file(struct cursor *c, enum store_file f, u64 *out)
{
	char key[32];

	snprintf(key, sizeof(key), "file %s", file_name[f]);
	return take_u64(c, key, out);
}

static bool take_body(struct cursor *c, struct manifest *m)
{
	if (!take_codec(c, &m->codec) || !take_u32(c, "page_size", &m->page_size) ||
	    (m->version > 1 && !take_u32(c, "stripes", &m->stripes)) || !take_addressing(c, m) ||
	    !take_bool(c, "directed", &m->directed) || !take_bool(c, "in_pages", &m->in_pages) ||
	    !take_weight(c, &m->weight) || !take_bool(c, "names", &m->names) ||
	    !take_u64(c, "vertices", &m->vertices) ||
	    !take_u64(c, "sources", &m->sources) ||
	    (m->version > 1 && !take_u64(c, "connected", &m->n_linked)) ||
	    !take_u64(c, "edges", &m->edges) ||
	    !take_u64(c, "stored_edges", &m->stored_edges) ||
	    !take_u64(c, "in_rows", &m->in_rows) || !take_u64(c, "self_loops", &m->self_loops) ||
	    !take_u64(c, "parallel_edges", &m->parallel_edges) ||
	    !take_u64(c, "max_degree", &m->max_degree) || !take_u64(c, "min_id", &m->min_id) ||
	    !take_u64(c, "max_id", &m->max_id) || !take_f64(c, "min_weight", &m->min_weight) ||
	    !take_f64(c, "max_weight", &m->max_weight) ||
	    !take_f64(c, "sum_weight", &m->sum_weight))
		return false;
	for (enum store_file f = 0; f < STORE_FILES; f++)
		if (manifest_has(m, f) && !take_file(c, f, &m->size[f]))
			return false;
	return take_hex(c, "sums", &m->sums) && c->at == c->end;
}

/* Returns true if the sizes of a direction's files agree on the number of pages. */
static bool pages_agree(const struct manifest *m, enum store_file data, u64 rows, u64 degrees)
{
	u64 n = m->size[data] / m->page_size;

	return m->size[data] % m->page_size == 0 && n <= UINT32_MAX &&
	       m->size[data + 1] == n * sizeof(struct page_entry) &&
	       m->size[data + 2] == degrees * 4 && (n == 0) == (m->stored_edges == 0) &&
	       (n == 0) == (rows == 0);
}

/* Returns true if every vertex can have an id in a direction. Empty directions have slots too. */
static bool slots_agree(const struct manifest *m, enum store_file data, u64 rows, u32 slots)
{
	return slots && addresses_fit(m->size[data] / m->page_size, slots, m->n_linked - rows);
}

/*
 * Returns what is wrong with the numbers, or NULL if they agree. The sizes of files limit every
 * later allocation.
 */
static const char *shape_fault(const struct manifest *m)
{
	u64 once;

	if (m->page_size < PAGE_SIZE_MIN || m->page_size > PAGE_SIZE_MAX ||
	    (m->page_size & (m->page_size - 1)))
		return "impossible page size";
	if (m->stripes > STRIPES_MAX)
		return "more stripes than there can be";
	if (m->vertices > MAX_VERTICES || m->stored_edges > MAX_EDGES)
		return "more vertices or edges than there can be";
	if (m->n_linked > m->vertices || m->sources > m->n_linked || m->in_rows > m->n_linked ||
	    (m->version > 1 && !m->directed && m->n_linked != m->sources) ||
	    m->self_loops > m->stored_edges || m->parallel_edges > m->stored_edges ||
	    m->max_degree > m->stored_edges ||
	    m->max_degree > UINT32_MAX)
		return "counts contradict each other";
	if (m->in_pages ? !m->directed : m->in_rows != 0)
		return "in-pages contradict the direction";
	once = m->self_loops + (m->stored_edges - m->self_loops) / 2;
	if (m->directed ? m->edges != m->stored_edges
			: m->edges != once || (m->stored_edges - m->self_loops) % 2)
		return "edges contradict the stored edges";
	if (m->min_id > m->max_id || (!m->vertices && m->max_id) ||
	    (m->vertices && m->max_id - m->min_id < m->vertices - 1))
		return "ids contradict the number of vertices";
	if ((m->weight == MILL_WEIGHT_NONE || !m->stored_edges) &&
	    (m->min_weight != 0 || m->max_weight != 0 || m->sum_weight != 0))
		return "statistics of weights that do not exist";
	if (!pages_agree(m, STORE_OUT_PAGES, m->sources, m->sources) ||
	    (m->in_pages && !pages_agree(m, STORE_IN_PAGES, m->in_rows, m->vertices)) ||
	    m->size[STORE_IDS] != m->vertices * 8 ||
	    m->size[STORE_ORDER] != m->vertices * sizeof(vid) ||
	    m->size[STORE_RANK] != m->vertices * sizeof(vid))
		return "sizes of files contradict the counts";
	if (m->paged && (m->codec != PAGE_RAW ||
			 !slots_agree(m, STORE_OUT_PAGES, m->sources, m->slots[0]) ||
			 (m->in_pages ? !slots_agree(m, STORE_IN_PAGES, m->in_rows, m->slots[1])
				      : m->slots[1] != 0)))
		return "page addresses contradict the pages";
	if (m->names && (m->min_id || m->max_id + (m->vertices != 0) != m->vertices ||
			 m->size[STORE_NAMES_INDEX] != m->vertices * 8 ||
			 m->size[STORE_NAMES] / 2 < m->vertices))
		return "names contradict the number of vertices";
	return NULL;
}

mill_err manifest_parse(struct manifest *out, const char *text, size_t size, const char *shown)
{
	struct manifest m = { .page_size = 0 };
	struct cursor c = { .at = text };
	char again[MANIFEST_MAX];
	const char *end, *fault;
	u64 stated, version, bits;

	if (size < CHECKSUM_LINE)
		return fail(MILL_ECORRUPT, "%s ends at byte %zu", shown, size);
	c.end = text + size - CHECKSUM_LINE;
	end = c.end + sizeof(CHECKSUM_KEY) - 1;
	if (memcmp(c.end, CHECKSUM_KEY, sizeof(CHECKSUM_KEY) - 1) ||
	    !hex_digits(&stated, end, end + 16) || end[16] != '\n' ||
	    checksum(text, size - CHECKSUM_LINE) != stated)
		return fail(MILL_ECORRUPT, "%s does not match its checksum", shown);

	if (!take_u64(&c, "millrace-store", &version) || version < 1)
		return fail(MILL_ECORRUPT, "%s does not begin with a version", shown);
	if (version > STORE_FORMAT)
		return fail(MILL_EINPUT,
			    "%s: the store has format %" PRIu64
			    ", this version of millrace reads format %u: use a newer one",
			    shown, version, STORE_FORMAT);
	m.version = (u32)version;
	if (!take_uuid(&c, m.uuid) || !take_origin(&c, m.origin) ||
	    !take_hex(&c, "fingerprint", &m.fingerprint) || !take_u64(&c, "vid_bits", &bits))
		return fail(MILL_ECORRUPT, "%s is not a valid manifest", shown);
	if (bits != MILL_VID_BITS)
		return fail(MILL_EINPUT,
			    "%s: the store numbers vertices with %" PRIu64
			    " bits, this build of millrace with %d",
			    shown, bits, MILL_VID_BITS);
	if (!take_body(&c, &m))
		return fail(MILL_ECORRUPT, "%s is not a valid manifest", shown);
	if (version == 1)
		m.n_linked = m.vertices;
	fault = shape_fault(&m);
	if (fault)
		return fail(MILL_ECORRUPT, "%s: %s", shown, fault);
	if (manifest_format(again, &m) != size || memcmp(again, text, size))
		return fail(MILL_ECORRUPT, "%s is not in its canonical form", shown);
	*out = m;
	return MILL_OK;
}
