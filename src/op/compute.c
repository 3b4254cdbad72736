/* SPDX-License-Identifier: Apache-2.0 */
/* Compute at vertices: drives compute.inc and compute.cl. Sums of blocks are added in order. */
#include "op/op.h"

struct computing {
	const struct compute_program *program;
	const void *args;
	u64 begin, end;
	f64 *sum;
};

/* One after the other has the same room. */
static void add_bytes(const struct declaration *d, const struct declared *x, struct need *n)
{
	for (const struct declared *before = d->item; before < x; before++)
		if (before->bytes == add_bytes)
			return;
	n->state += (div_up(d->run->store->connected, COMPUTE_BLOCK) + 1) * sizeof(f64);
}

void declare_compute(struct declaration *d, const struct compute_program *p, u32 flags)
{
	declare_program(d, &p->program, NULL, flags);
	declare_item(d, (struct declared){ .bytes = add_bytes });
}

static mill_err compute_blocks(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct computing *c = arg;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		u64 from = c->begin + i * COMPUTE_BLOCK;

		c->sum[i] = c->program->vertices(c->args, from, min_u64(c->end, from + COMPUTE_BLOCK));
	}
	return MILL_OK;
}

static mill_err compute_device(struct mill_run *r, struct computing *c, struct vec *sums, u32 n_blocks)
{
	struct kernel_call l;

	launch_begin(&l, &c->program->program, "blocks", c->args);
	launch_u64(&l, &c->begin);
	launch_u64(&l, &c->end);
	launch_vec(&l, sums);
	launch_u32(&l, &n_blocks);
	return launch_items(r->device, &l, n_blocks, 1);
}

mill_err op_compute(struct mill_run *r, const struct compute_program *p, const void *args, u64 begin,
		    u64 end, f64 *sum)
{
	struct computing c = { p, args, begin, end, NULL };
	u64 n_blocks = div_up(end - begin, COMPUTE_BLOCK);
	struct vec *sums;

	*sum = 0;
	if (!n_blocks)
		return MILL_OK;
	TRY(program_fetch(&p->program, args));
	TRY(run_vec(r, &sums, "block sums", n_blocks, sizeof(f64), NULL));
	if (!r->device->native)
		TRY(compute_device(r, &c, sums, (u32)n_blocks));
	TRY(vec_map(r, sums, &c.sum));
	if (r->device->native)
		TRY(pool_for(r->pool, n_blocks, 16, compute_blocks, &c));
	for (u64 i = 0; i < n_blocks; i++)
		*sum += c.sum[i];
	vec_unmap(sums, c.sum);
	run_vec_free(r, sums);
	return MILL_OK;
}
