/* SPDX-License-Identifier: Apache-2.0 */
/* The stream under algorithms: the same reads again, parts of pages, and pages that are damaged while they are used. */
#include "expect.h"

#include <fcntl.h>
#include <unistd.h>

static mill_run *open_run(mill_store *store, const char *io, const char *policy, u32 threads, u32 frames)
{
	struct mill_options o = { .memory = GIB, .io = io, .policy = policy, .threads = threads };
	mill_run *run;

	OK(mill_run_new(&run, store, &o));
	run->hook.only_frames = frames;
	return run;
}

static void call(mill_run *run, size_t algorithm)
{
	if (algorithm == 0)
		OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
	else if (algorithm == 1)
		OK(mill_sssp(run, &(struct mill_sssp){ .source = "max-degree" }));
	else
		OK(mill_pagerank(run, &(struct mill_pagerank){ .tolerance = -1, .iterations = 4 }));
}

/* What a run read, step by step, as one number. */
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

/* Each policy reads the same pages in each step, by any way and number of threads; results do not change at all. */
static void test_again(void **state)
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

		for (size_t algorithm = 0; algorithm < 3; algorithm++) {
			u64 hash = 0;

			/* A sanitizer sees each algorithm with one codec. */
			if (is_sanitized() && algorithm != codec)
				continue;
			for (size_t k = 0; mill_policies()[k].name; k++) {
				u64 reads = 0;

				for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
					mill_run *run = open_run(store, ways[i].io, mill_policies()[k].name, ways[i].threads, 3);

					call(run, algorithm);
					call(run, algorithm);
					/* Which vertices sssp improves twice depends on the threads, so what it reads does. */
					if (i && algorithm != 1 && reads_of(run) != reads)
						fail_msg("%zu, %s, way %zu: other reads", algorithm, mill_policies()[k].name, i);
					if (hash && hash_of(run) != hash)
						fail_msg("%zu, %s, way %zu: other bits", algorithm, mill_policies()[k].name, i);
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
 * A search that in each step goes on at a few places far apart: vertex 0 leads to the beginnings of paths, all
 * other vertices point anywhere, which makes their lists long on disk.
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

static void test_parts(void **state)
{
	struct mill_report report;
	struct mill_info info;
	struct graph g;
	u32 tried = 0;

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		mill_store *store;
		mill_run *run;
		u64 hash;

		make_comb(&g, 400000);
		if (!graph_fits(&g)) {
			graph_release(&g);
			return;
		}
		graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
		g.codec = i % 2 ? CODEC_RAW : CODEC_PACKED;
		store = graph_store(&g);
		mill_store_info(store, &info);
		run = open_run(store, "uring", NULL, 2, 0);
		call(run, i / 2);
		hash = hash_of(run);
		mill_run_free(run);
		run = open_run(store, i % 2 ? "pread" : "uring", NULL, 2, 1);
		for (int k = 0; k < 2; k++) {
			if (i / 2)
				OK(mill_sssp(run, &(struct mill_sssp){ .source = "max-degree", .delta = 1000 }));
			else
				OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
			assert_true(hash_of(run) == hash);
		}
		mill_run_report(run, &report);
		assert_false(report.resident);
		assert_true(report.decode > 0 && report.compute > 0);
		if (!strcmp(info.codec, "packed")) {
			if (report.disk_read * (i / 2 ? 2 : 3) > report.pages_read * info.page_size)
				fail_msg("%u: %llu bytes of %llu pages are too many", i, (unsigned long long)report.disk_read,
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

/* A byte of a page changes between two runs, and back: what is resident is not read again, what is read is verified. */
static void test_damage(void **state)
{
	struct graph g;

	(void)state;
	if (!shape_make(&g, shape_named("hubs")))
		return;
	for (int i = 0; i < 4; i++) {
		mill_store *store = graph_store(&g);
		mill_run *run = open_run(store, i / 2 ? "pread" : "uring", NULL, 2, 3);
		struct mill_info info;
		char path[256], byte;
		u64 hash;
		int fd;

		run->options.direction = MILL_DIRECTION_PUSH;	/* whoever is reached is looked at: also pages with one hub alone */
		mill_store_info(store, &info);
		snprintf(path, sizeof(path), "%s/out.pages", info.path);
		call(run, 2);
		hash = hash_of(run);
		fd = open(path, O_RDWR);
		assert_int_equal(pread(fd, &byte, 1, (off_t)(info.page_bytes / 3)), 1);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)(info.page_bytes / 3)), 1);
		assert_int_equal(fsync(fd), 0);
		REFUSED(MILL_ECORRUPT, mill_bfs(run, &(struct mill_bfs){ "max-degree" }), "damaged");
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)(info.page_bytes / 3)), 1);
		assert_int_equal(fsync(fd), 0);
		call(run, 2);
		assert_true(hash_of(run) == hash);
		/* Cut short. */
		assert_int_equal(ftruncate(fd, (off_t)info.page_size), 0);
		close(fd);
		REFUSED(MILL_ECORRUPT, mill_bfs(run, &(struct mill_bfs){ "max-degree" }), "cut");
		mill_run_free(run);
		graph_store_drop(store);
	}
	graph_release(&g);
}

/* Resident runs wait for nothing; the workers' time is no more than there was. */
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

		call(run, 2);
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
	cmocka_unit_test(test_again),
	cmocka_unit_test(test_parts),
	cmocka_unit_test(test_damage),
	cmocka_unit_test(test_times),
};

SUITE(stream, tests, .setup = scratch_make, .teardown = scratch_remove);
