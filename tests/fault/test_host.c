/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation and every file operation of every command fails once, or from then on. */
#include "fault/sweep.h"

#include <sys/stat.h>

#include "base/types.h"
#include "unit/unit.h"

/* A narrow build has too few vertex numbers for page addresses. */
#if MILL_VID_BITS == 32
#define PAGED " --addressing paged"
#else
#define PAGED ""
#endif

static const struct {
	const char *path, *text;
} files[] = {
	{ "g.el", "0 1 1\n0 2 5\n1 3 1\n2 3 1\n4 0 1\n1 4 2\n" },
	{ "far.el", "0 1 1\n0 2 5\n1 3 1\n2 3 1\n4 0 1\n1 4 2\n5 5 1\n"
		    "12345678901234567890 4 2\n5 1 7\n6 2 9\n6 1 4\n" },
	{ "named.el", "b a 1\na c 5\nlonger a 2\nd \"e f\" 1\n" },
};

/* Makes the inputs, and the results without faults. */
static const char *const setup[] = {
	"import g.el --weights 3 --page-size 64K -o g.mill",
	"import g.el --weights 3 --page-size 64K" PAGED " -o paged.mill",
	"import far.el --weights 3 --order auto --page-size 64K -o far.mill",
	"import named.el --names --weights 3 --page-size 64K -o named.mill",
	"generate kron --scale 6 --seed 1 --page-size 64K -o kron.mill",
	"bfs named.mill --source b -o want.csv",
	"bfs g.mill --source 0 -o want.tsv",
	"export g.mill -o want.el",
	"triangles g.mill --lcc=directed -o triangles.tsv",
};

static int make_inputs(void **state)
{
	if (commands_begin(state))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		file_write(files[i].path, files[i].text);
	for (size_t i = 0; i < ARRAY_LEN(setup); i++)
		if (command_run(NULL, setup[i])) {
			print_error("millrace %s: %s", setup[i], printed.err);
			return -1;
		}
	return mkdir("tmp", 0700);
}

static const struct subject subjects[] = {
	{ "import g.el --weights 3 --page-size 64K -o made.mill", "made.mill", "g.mill", NULL },
	{ "generate kron --scale 6 --seed 1 --page-size 64K -o made.mill", "made.mill", "kron.mill",
	  NULL },
	/* Pages are read and written once more. */
	{ "import g.el --weights 3 --page-size 64K" PAGED " -o made.mill", "made.mill",
	  "paged.mill", NULL },
	/* Over the disk: a few edges at a time, and at last ids too far apart for a bitmap. */
	{ "import far.el --weights 3 --order auto --page-size 64K -o made.mill --tmp tmp",
	  "made.mill", "far.mill", "hold:n=6" },
	{ "import named.el --names --weights 3 --page-size 64K -o made.mill --tmp tmp", "made.mill",
	  "named.mill", "hold:n=3" },
	{ "bfs named.mill --source b -o made.csv", "made.csv", "want.csv", NULL },
	{ "bfs g.mill --source 0 --check -o made.tsv", "made.tsv", "want.tsv", NULL },
	{ "export g.mill -o made.el", "made.el", "want.el", NULL },
	/* Streamed, so that the undirected view is a temporary graph, and the oriented one another. */
	{ "triangles g.mill --lcc=directed --check -o made.tsv", "made.tsv", "triangles.tsv",
	  "hold:n=1" },

	{ "info g.mill", NULL, NULL, NULL },
	{ "verify g.mill", NULL, NULL, NULL },
	{ "verify named.mill", NULL, NULL, NULL },
	{ "verify paged.mill", NULL, NULL, NULL },
	{ "sssp g.mill --source 0 --check", NULL, NULL, NULL },
	{ "sssp paged.mill --source 0 --check", NULL, NULL, NULL },
	{ "pagerank g.mill --check", NULL, NULL, NULL },
	{ "pagerank g.mill --io pread", NULL, NULL, "hold:n=1" },
	{ "pagerank g.mill --io uring", NULL, NULL, "hold:n=1" },
	{ "cc g.mill --check", NULL, NULL, NULL },
	{ "cc g.mill --method hooking", NULL, NULL, NULL },
	{ "scc g.mill --check", NULL, NULL, NULL },
	{ "degrees g.mill --check", NULL, NULL, NULL },
	{ "kcore g.mill --check", NULL, NULL, NULL },
	{ "kcore g.mill --check", NULL, NULL, "hold:n=1" },
	{ "cdlp g.mill --check", NULL, NULL, NULL },
	{ "cdlp g.mill --check", NULL, NULL, "hold:n=1" },
	{ "bfs g.mill --source 0 --trace made.json", "made.json", NULL, NULL },
};

static void sweep_all(const struct plague *p)
{
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
		if (subjects[i].makes || !p->makers_only)
			sweep(&subjects[i], p);
}

static void test_an_allocation_fails(void **state)
{
	(void)state;
	sweep_all(&(struct plague){ .fault = "alloc:n=%u", .code = { 7 }, .every = 20000 });
}

static void test_memory_runs_out(void **state)
{
	(void)state;
	sweep_all(&(struct plague){
		.fault = "alloc:n=%u,sticky", .code = { 7 }, .every = 24, .per_cent = 25 });
}

static void test_an_operation_fails(void **state)
{
	(void)state;
	sweep_all(&(struct plague){
		.fault = "io:op=any,n=%u,err=EIO", .code = { 3, 4, 5 }, .every = 20000 });
}

static void test_the_disk_is_full(void **state)
{
	(void)state;
	sweep_all(&(struct plague){ .fault = "io:op=write,n=%u,err=ENOSPC,sticky",
				    .code = { 6 },
				    .makers_only = true,
				    .every = 20000 });
}

static void test_interrupted_calls_are_repeated(void **state)
{
	(void)state;
	sweep_all(&(struct plague){ .fault = "io:op=any,n=%u,err=EINTR", .every = 20000 });
}

static void test_short_reads_are_completed(void **state)
{
	(void)state;
	sweep_all(&(struct plague){ .fault = "io:op=read,n=%u,short=1", .every = 20000 });
}

static void test_inputs_are_unharmed(void **state)
{
	(void)state;
	command_must("verify g.mill");
	command_must("verify named.mill");
	command_must("verify paged.mill");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_an_allocation_fails),
	cmocka_unit_test(test_memory_runs_out),
	cmocka_unit_test(test_an_operation_fails),
	cmocka_unit_test(test_the_disk_is_full),
	cmocka_unit_test(test_interrupted_calls_are_repeated),
	cmocka_unit_test(test_short_reads_are_completed),
	cmocka_unit_test(test_inputs_are_unharmed),
};

SUITE(host, tests, .setup = make_inputs, .teardown = commands_end);
