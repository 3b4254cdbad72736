/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the pages that have a row for which the program's cond holds. A program without
 * cond has no such kernel. A work-group takes a page. range: the first vertex and the
 * number of rows of each page.
 */
#if COND
__kernel void OF(PROGRAM, wanted)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL const u32 *range,
				  u32 n_pages, GLOBAL u32 *counts)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	u32 page = get_group_id(0), begin, n;

	if (page >= n_pages)
		return;
	begin = range[2 * page];
	n = range[2 * page + 1];
	for (u32 i = get_local_id(0); i < n; i += GROUP)
		if (WANTS(s, begin + i)) {
			dev_store_u32(&counts[PAGE_COUNTS + page], 1);
			break;
		}
}
#endif
