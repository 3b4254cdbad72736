/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel calls: the list of arguments, and the launch. See launch.h. */
#include "transfer/launch.h"

#include <assert.h>
#include <stdio.h>

static void add(struct kernel_call *l, struct launch_arg arg)
{
	assert(l->launch.n_args < ARRAY_LEN(l->arg));
	l->arg[l->launch.n_args++] = arg;
}

void launch_buffer(struct kernel_call *l, const struct buffer *b)
{
	add(l, (struct launch_arg){ .buffer = b });
}

void launch_vec(struct kernel_call *l, const struct vec *v)
{
	launch_buffer(l, v ? &v->buffer : NULL);
}

void launch_u32(struct kernel_call *l, const u32 *value)
{
	add(l, (struct launch_arg){ .value = value, .size = sizeof(*value) });
}

void launch_u64(struct kernel_call *l, const u64 *value)
{
	add(l, (struct launch_arg){ .value = value, .size = sizeof(*value) });
}

void launch_local(struct kernel_call *l, u64 bytes)
{
	add(l, (struct launch_arg){ .size = bytes });
}

void launch_begin_kernel(struct kernel_call *l, const struct kernel_source *source,
			 const char *entry)
{
	snprintf(l->entry, sizeof(l->entry), "%s", entry);
	l->launch = (struct launch){ .source = source, .entry = l->entry, .arg = l->arg };
	l->numbers = NUMBERS_NONE;
}

void launch_begin(struct kernel_call *l, const struct program *p, const char *suffix,
		  const void *args)
{
	snprintf(l->entry, sizeof(l->entry), "%s_%s", p->name, suffix);
	l->launch = (struct launch){ .source = &p->source, .entry = l->entry, .arg = l->arg };
	l->numbers = p->numbers;
	for (u32 i = 0; args && i < p->n_fields; i++) {
		const struct field *f = &p->field[i];
		const void *at = (const char *)args + f->offset;

		if (f->array)
			launch_vec(l, *(struct vec *const *)at);
		else
			add(l, (struct launch_arg){ .value = at, .size = f->size });
	}
}

void launch_segment(struct kernel_call *l, const struct device_segment *s)
{
	launch_buffer(l, s->lists);
	launch_buffer(l, s->weights);
	launch_u32(l, &s->row_at);
	launch_u32(l, &s->neighbour_at);
	launch_u32(l, &s->weight_at);
	launch_u32(l, &s->first);
	launch_u32(l, &s->n_rows);
	launch_u32(l, &s->n_edges);
	launch_u32(l, &s->partial);
	if (l->numbers) {
		launch_buffer(l, l->numbers == NUMBERS_OWNED ? s->own_base : s->number);
		launch_u64(l, &s->first_edge);
	}
	l->launch.queue = s->queue;
}

mill_err launch_groups(struct device *d, struct kernel_call *l, u64 n_groups)
{
	l->launch.n_groups = n_groups;
	return device_launch(d, &l->launch);
}

mill_err launch_items(struct device *d, struct kernel_call *l, u64 n, u32 per_item)
{
	return launch_groups(d, l, div_up(n, (u64)per_item * d->group));
}
