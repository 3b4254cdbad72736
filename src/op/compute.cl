/* SPDX-License-Identifier: Apache-2.0 */
/* Compute at vertices, as a kernel: one work-item per block of vertices, summed in order as on the host. */
__kernel void OF(VERTEX, blocks)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) u64 begin, u64 end, GLOBAL f64 *sums,
				 u32 n_blocks)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	u32 block = get_global_id(0);
	u64 from = begin + (u64)block * COMPUTE_BLOCK;
	u64 to = min(end, from + COMPUTE_BLOCK);
	f64 sum = 0;

	if (block >= n_blocks)
		return;
	for (u64 v = from; v < to; v++)
		sum += VERTEX(s, (vid)v);
	sums[block] = sum;
}
