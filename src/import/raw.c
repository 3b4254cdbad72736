/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records without a header: two ids of --id-bits and, with --weight-type, a weight;
 * little-endian.
 */
#include <math.h>
#include <string.h>

#include "import/format.h"
#include "store/store.h"

static mill_err read_weight(struct reader *r, const u8 *from, f64 *out)
{
	enum mill_weight type = r->k->how->weight_type;
	u32 low;
	i32 integer;
	f32 narrow;

	memcpy(&low, from, sizeof(low));
	switch (type) {
	case MILL_WEIGHT_U32:
		*out = low;
		return reader_weight(r, *out, true, low);
	case MILL_WEIGHT_I32:
		memcpy(&integer, from, sizeof(integer));
		*out = integer;
		return reader_weight(r, *out, true, integer);
	case MILL_WEIGHT_F32:
		memcpy(&narrow, from, sizeof(narrow));
		*out = (f64)narrow;
		break;
	default:
		memcpy(out, from, sizeof(*out));
		break;
	}
	if (isnan(*out))
		return scan_fail(&r->scan, MILL_EINPUT, "a weight that is no number");
	return reader_weight(r, *out, false, 0);
}

static u64 read_id(const u8 *from, size_t size)
{
	u32 narrow;
	u64 wide;

	memcpy(&narrow, from, sizeof(narrow));
	memcpy(&wide, from, sizeof(wide)); /* a record is never shorter */
	return size == 4 ? narrow : wide;
}

static mill_err read_record(struct reader *r, size_t id, size_t weight)
{
	const struct mill_import *how = r->k->how;
	u8 record[3 * sizeof(u64)] = { 0 };
	u64 from, to;
	f64 value = 1;

	TRY(scan_bytes(&r->scan, record, 2 * id + weight));
	from = read_id(record, id);
	to = read_id(record + id, id);
	if (from < how->base || to < how->base)
		return scan_fail(&r->scan, MILL_EINPUT, "vertex 0, and --base is 1");
	if (weight)
		TRY(read_weight(r, record + 2 * id, &value));
	return reader_edge(r, from, to, value);
}

mill_err raw_read(struct reader *r)
{
	const struct mill_import *how = r->k->how;
	size_t id = how->id_bits / 8, weight;

	if (!id)
		return fail(MILL_EUSAGE,
			    "%s: raw edges have no header: give --id-bits 32 or 64",
			    input_name(r->in));
	if (how->weights == MILL_WEIGHTS_AUTO && !how->weight_type)
		return fail(MILL_EUSAGE,
			    "%s: raw edges have no header: give --weight-type too",
			    input_name(r->in));
	TRY(reader_scan(r, true));
	TRY(reader_settle(r, SENSE_UNSAID, how->weight_type != MILL_WEIGHT_NONE, false));
	weight = r->k->weighted ? weight_size(how->weight_type) : 0;
	while (scan_peek(&r->scan) != SCAN_END)
		TRY(read_record(r, id, weight));
	TRY(r->scan.err);
	return reader_flush(r);
}
