/* SPDX-License-Identifier: Apache-2.0 */
/* The stream under algorithms: reads that repeat, parts of pages, damage to pages in use. */
#include "expect.h"

#include <fcntl.h>
#include <unistd.h>

enum { BFS, SSSP, PAGERANK };
static const char *const algorithms[] = { "bfs", "sssp", "pagerank" };

static mill_run *open_run(mill_store *store, const char *io, const char *policy, u32 threads,
			  u32 frames)
{
	struct mill_options o = { .memory = GIB, .io = io, .policy = policy, .threads = threads };
	mill_run *run;

	OK(mill_run_new(&run, store, &o));
	run->hook.only_frames = frames;
	return run;
}

static void call(mill_run *run, size_t algorithm)
{
	if (algorithm == BFS)
		OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
	else if (algorithm == SSSP)
		OK(mill_sssp(run, &(struct mill_sssp){ .source = "max-degree" }));
	else
		OK(mill_pagerank(run, &(struct mill_pagerank){ .tolerance = -1, .iterations = 4 }));
}

/* Returns a hash of what a run read in each step. */
static u64 reads_of(const mill_run *run)
{
	struct mill_report report;
	u64 sum = 14695981039346656037u;

	mill_run_report(run, &report);
	for (u64 i = 0; i < report.n_steps; i++) {
		struct mill_step s;

		mill_run_step(run, i, &s);
		assert_true(s.pages_read + s.pages_reused == s.pages_active);
		sum = (sum ^ s.pages_read) * 1099511628211u;
		sum = (sum ^ s.disk_read) * 1099511628211u;
	}
	return sum;
}

/*
 * Checks that each policy reads the same pages in each step with any I/O and number of
 * threads, and that all results are the same.
 */
static void test_same_reads(void **state)
{
	static const struct {
		const char *io;
		u32 threads;
	} ways[] = { { "uring", 1 }, { "uring", 2 }, { "pread", 1 }, { "pread", 2 } };
	struct graph g;

	(void)state;
	if (!shape_make(&g, shape_named("hubs")))
		return;
	graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
	for (u32 codec = 0; codec < CODEC_LAST; codec++) {
		mill_store *store = graph_store(&g);

		for (size_t a = 0; a < ARRAY_LEN(algorithms); a++) {
			u64 hash = 0;

			/* A sanitizer sees each algorithm with one codec. */
			if (is_sanitized() && a != codec)
				continue;
			for (size_t k = 0; mill_policies()[k].name; k++) {
				const char *policy = mill_policies()[k].name;
				u64 reads = 0;

				for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
					mill_run *run = open_run(store, ways[i].io, policy,
								 ways[i].threads, 3);

					call(run, a);
					call(run, a);
					/* sssp: reads depend on the order of the threads. */
					if (i && a != SSSP && reads_of(run) != reads)
						fail_msg("%s, %s, way %zu: the reads differ",
							 algorithms[a], policy, i);
					if (hash && hash_of(run) != hash)
						fail_msg("%s, %s, way %zu: the hash differs",
							 algorithms[a], policy, i);
					reads = reads_of(run);
					hash = hash_of(run);
					mill_run_free(run);
				}
			}
		}
		graph_store_drop(store);
	}
	graph_release(&g);
}

#define TEETH 12u
#define TOOTH 30u

/*
 * Makes a graph in which a search continues at a few distant places in each step: vertex 0
 * leads to the starts of paths, and all other vertices point anywhere, which makes their
 * lists long on disk.
 */
static void make_comb(struct graph *g, u32 n)
{
	u32 random = 1;

	graph_init(g, "comb", n);
	g->page_size = 1 * MIB;
	for (u32 i = 0; i < TEETH; i++)
		graph_add(g, 0, 1 + n / TEETH * i);
	for (u32 v = 1; v < n; v++) {
		bool on = (v - 1) % (n / TEETH) < TOOTH && v < n - TOOTH;

		random = random * 1664525 + 1013904223;
		graph_add(g, v, on ? v + 1 : n - 1 - random % (n / 2));
	}
}

/* Checks that searches in packed pages read parts of pages, and in raw pages whole ones. */
static void test_parts(void **state)
{
	static const struct {
		size_t algorithm;
		u32 codec;
		const char *io;
		u64 saving;	/* packed: reads at most 1 / saving of the pages' bytes */
	} cases[] = {
		{ BFS, CODEC_PACKED, "uring", 3 },
		{ BFS, CODEC_RAW, "pread", 0 },
		{ SSSP, CODEC_PACKED, "uring", 2 },
		{ SSSP, CODEC_RAW, "pread", 0 },
	};
	struct mill_report report;
	struct mill_info info;
	struct graph g;
	u32 tried = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		mill_store *store;
		mill_run *run;
		u64 hash;

		make_comb(&g, 400000);
		if (!graph_fits(&g)) {
			graph_release(&g);
			return;
		}
		graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
		g.codec = cases[i].codec;
		store = graph_store(&g);
		mill_store_info(store, &info);
		run = open_run(store, "uring", NULL, 2, 0);
		call(run, cases[i].algorithm);
		hash = hash_of(run);
		mill_run_free(run);
		run = open_run(store, cases[i].io, NULL, 2, 1);
		for (int k = 0; k < 2; k++) {
			if (cases[i].algorithm == SSSP)
				OK(mill_sssp(run, &(struct mill_sssp){ .source = "max-degree",
								       .delta = 1000 }));
			else
				OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
			assert_true(hash_of(run) == hash);
		}
		mill_run_report(run, &report);
		assert_false(report.resident);
		assert_true(report.decode > 0 && report.compute > 0);
		if (!strcmp(info.codec, "packed")) {
			if (report.disk_read * cases[i].saving > report.pages_read * info.page_size)
				fail_msg("case %zu: read %llu bytes of %llu pages, too many", i,
					 (unsigned long long)report.disk_read,
					 (unsigned long long)report.pages_read);
			tried++;
		} else {
			assert_int_equal(report.disk_read, report.pages_read * info.page_size);
		}
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
	assert_int_equal(tried, 2);
}

/* Checks that damaged pages and truncated files are found, and restored pages are read. */
static void test_damage(void **state)
{
	static const char *const ios[] = { "uring", "uring", "pread", "pread" };
	struct graph g;

	(void)state;
	if (!shape_make(&g, shape_named("hubs")))
		return;
	for (size_t i = 0; i < ARRAY_LEN(ios); i++) {
		mill_store *store = graph_store(&g);
		mill_run *run = open_run(store, ios[i], NULL, 2, 3);
		struct mill_info info;
		char path[256], byte;
		u64 hash;
		int fd;

		/* A push reads the lists of all vertices reached, also a page with one hub. */
		run->options.direction = MILL_DIRECTION_PUSH;
		mill_store_info(store, &info);
		snprintf(path, sizeof(path), "%s/out.pages", info.path);
		call(run, PAGERANK);
		hash = hash_of(run);
		fd = open(path, O_RDWR);
		assert_int_equal(pread(fd, &byte, 1, (off_t)(info.page_bytes / 3)), 1);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)(info.page_bytes / 3)), 1);
		assert_int_equal(fsync(fd), 0);
		REFUSED(MILL_ECORRUPT, mill_bfs(run, &(struct mill_bfs){ "max-degree" }),
			"damaged");
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)(info.page_bytes / 3)), 1);
		assert_int_equal(fsync(fd), 0);
		call(run, PAGERANK);
		assert_true(hash_of(run) == hash);
		assert_int_equal(ftruncate(fd, (off_t)info.page_size), 0);
		close(fd);
		REFUSED(MILL_ECORRUPT, mill_bfs(run, &(struct mill_bfs){ "max-degree" }),
			"truncated");
		mill_run_free(run);
		graph_store_drop(store);
	}
	graph_release(&g);
}

/* Checks that resident runs never wait, and that the workers' times fit the steps. */
static void test_times(void **state)
{
	struct mill_report report;
	mill_store *store;
	struct graph g;

	(void)state;
	if (!shape_make(&g, shape_named("hubs")))
		return;
	store = graph_store(&g);
	for (u32 frames = 0; frames < 3; frames++) {
		mill_run *run = open_run(store, NULL, NULL, 2, frames);
		f64 seconds = 0;

		call(run, PAGERANK);
		mill_run_report(run, &report);
		for (u64 i = 0; i < report.n_steps; i++) {
			struct mill_step s;

			mill_run_step(run, i, &s);
			seconds += s.seconds;
			assert_true(s.wait + s.decode + s.compute <= 2 * s.seconds + 1e-6);
		}
		assert_true(report.compute > 0 && seconds > 0);
		assert_true(frames || (report.wait == 0 && report.decode == 0));
		assert_true(!strcmp(report.io, "uring") || !strcmp(report.io, "pread"));
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_same_reads),
	cmocka_unit_test(test_parts),
	cmocka_unit_test(test_damage),
	cmocka_unit_test(test_times),
};

SUITE(stream, tests, .setup = scratch_make, .teardown = scratch_remove);
