/* SPDX-License-Identifier: Apache-2.0 */
/* The host as a device: its memory is that of the run, its programs are native code. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"

static void cpu_close(struct device *d) { memory_free(d); }

static mill_err buffer_new(struct device *d, struct buffer *b, u64 size, const char *what)
{
	void *p = NULL;

	TRY(memory_new(&p, d->memory, size ? size : 1, 1, what));
	*b = (struct buffer){ .owner = d, .size = size, .host = p };
	return MILL_OK;
}

static void buffer_free(struct device *d, struct buffer *b)
{
	(void)d;
	memory_free(b->host);
}

static mill_err write_bytes(struct device *d, struct buffer *b, u64 at, const void *from, u64 size)
{
	(void)d;
	memcpy((char *)b->host + at, from, size);
	return MILL_OK;
}

static mill_err read_bytes(struct device *d, const struct buffer *b, u64 at, void *to, u64 size)
{
	(void)d;
	memcpy(to, (const char *)b->host + at, size);
	return MILL_OK;
}

static mill_err fill(struct device *d, struct buffer *b, const void *pattern, size_t size)
{
	(void)d;
	memory_fill(b->host, b->size, pattern, size);
	return MILL_OK;
}

static const struct device_ops cpu_ops = {
	.close = cpu_close,
	.buffer_new = buffer_new,
	.buffer_free = buffer_free,
	.write = write_bytes,
	.read = read_bytes,
	.fill = fill,
};

mill_err cpu_open(struct device **out, struct budget *host)
{
	struct device *d;

	TRY(memory_new(&d, host, 1, sizeof(*d), "the cpu device"));
	d->ops = &cpu_ops;
	snprintf(d->name, sizeof(d->name), "cpu");
	d->native = true;
	d->memory = host;
	*out = d;
	return MILL_OK;
}

size_t cpu_list(struct mill_device *out, size_t n)
{
	char line[256];
	FILE *f;

	if (!n)
		return 1;
	*out = (struct mill_device){ .name = "cpu", .model = "the host" };
	f = fopen("/proc/cpuinfo", "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !colon)
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(out->model, sizeof(out->model), "%.*s", (int)sizeof(out->model) - 1,
			 colon + 2);
		break;
	}
	if (f)
		fclose(f);
	out->memory = (u64)sysconf(_SC_PHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE);
	out->units = (u32)sysconf(_SC_NPROCESSORS_ONLN);
	return 1;
}
