/* SPDX-License-Identifier: Apache-2.0 */
/* Making stores: all or nothing, locks, leftovers, --force, limits, every fault. */
#include "store_model.h"

#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "store/place.h"

extern char **environ;

static void small(struct graph *g, u64 seed)
{
	*g = (struct graph){ .directed = true, .weight = MILL_WEIGHT_F32 };
	graph_random(g, 30, 20, 100, seed);
}

static mill_err write_small(const char *path, u64 seed, bool force)
{
	struct graph g;
	mill_err err;

	small(&g, seed);
	err = graph_write(&g, path, 65536, force);
	graph_release(&g);
	return err;
}

/* How many entries a directory has; -1 if it is none. */
static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static u64 hash_of(const char *store, const char *name)
{
	size_t size;
	u8 *data = slurp(part_path(store, name), &size);
	u64 hash = checksum(data, size);

	free(data);
	return hash;
}

static void existing_target(void **state)
{
	const char *path = in_scratch("target");
	u64 before;

	(void)state;
	assert_ok(write_small(path, 1, false));
	before = hash_of(path, "manifest");
	assert_int_equal(entries(path), STORE_NAMES + 2);	/* sums and manifest; no mark, no names */
	assert_int_equal(write_small(path, 2, false), MILL_EUSAGE);
	assert_int_equal(hash_of(path, "manifest"), before);
	assert_ok(write_small(path, 2, true));
	assert_int_not_equal(hash_of(path, "manifest"), before);
	assert_ok(open_and_verify(path));
	assert_int_equal(entries(path), STORE_NAMES + 2);
	assert_false(path_exists(in_scratch("target.new")));
	assert_int_equal(entries(scratch), 1);
	assert_ok(write_small(path, 1, true));
	assert_int_equal(hash_of(path, "manifest"), before);	/* the same bytes again */
}

static void force_spares_others(void **state)
{
	const char *dir = in_scratch("precious"), *plain = in_scratch("file");
	const char *link = in_scratch("link");

	(void)state;
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(write_small(dir, 1, true), MILL_EUSAGE);
	spill(part_path(dir, "manifest"), "package 1\n", 10);
	assert_int_equal(write_small(dir, 1, true), MILL_EUSAGE);
	spill(plain, "x", 1);
	assert_int_equal(write_small(plain, 1, true), MILL_EUSAGE);
	assert_int_equal(write_small(plain, 1, false), MILL_EUSAGE);
	assert_true(path_exists(part_path(dir, "manifest")));

	/* A store with a foreign file in it, and one behind a symbolic link. */
	unlink(part_path(dir, "manifest"));
	rmdir(dir);
	assert_ok(write_small(dir, 1, false));
	spill(part_path(dir, "notes.txt"), "x", 1);
	assert_int_equal(write_small(dir, 2, true), MILL_EUSAGE);
	assert_non_null(strstr(mill_error(), "notes.txt"));
	unlink(part_path(dir, "notes.txt"));
	assert_int_equal(symlink(dir, link), 0);
	assert_int_equal(write_small(link, 2, true), MILL_EUSAGE);
	assert_ok(open_and_verify(link));
	assert_ok(write_small(dir, 2, true));
}

static void paths(void **state)
{
	char with_slashes[300];

	(void)state;
	snprintf(with_slashes, sizeof(with_slashes), "%s///", in_scratch("slashes"));
	assert_ok(write_small(with_slashes, 1, false));
	assert_ok(open_and_verify(in_scratch("slashes")));
	assert_ok(open_and_verify(with_slashes));
	assert_int_equal(write_small("", 1, false), MILL_EUSAGE);
	assert_int_equal(write_small("//", 1, false), MILL_EUSAGE);
	assert_int_equal(write_small(in_scratch("no/such/parent"), 1, false), MILL_EIO);
	assert_int_equal(chdir(scratch), 0);
	assert_ok(write_small("relative", 1, false));
	assert_ok(open_and_verify("./relative"));
	assert_int_equal(chdir("/"), 0);
}

static void second_maker(void **state)
{
	const char *path = in_scratch("twice");
	struct store_writer *w;
	int fd;

	(void)state;
	assert_ok(writer_open(&w, path, false, NULL));
	assert_int_equal(write_small(path, 1, false), MILL_ELOCKED);
	assert_true(path_exists(in_scratch("twice.new")));
	place_sweep(path);	/* a reader leaves it alone */
	assert_true(path_exists(in_scratch("twice.new")));
	writer_abandon(w);
	assert_false(path_exists(in_scratch("twice.new")));

	/* Any holder of the lock. */
	assert_int_equal(mkdir(in_scratch("twice.new"), 0700), 0);
	fd = open(in_scratch("twice.new"), O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(write_small(path, 1, false), MILL_ELOCKED);
	close(fd);
	assert_ok(write_small(path, 1, false));	/* empty: a leftover */
}

/* Somebody else makes the target while we write. */
static void target_appears(void **state)
{
	const char *path = in_scratch("race");
	struct store_facts facts = { .page_size = 65536, .directed = true };
	struct store_writer *w;

	(void)state;
	assert_ok(writer_open(&w, path, false, NULL));
	assert_ok(writer_begin(w, &facts));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(writer_commit(w), MILL_EUSAGE);
	assert_false(path_exists(in_scratch("race.new")));
	assert_int_equal(entries(path), 0);
}

/* A leftover is swept; a store of the user's own that is called PATH.new is not. */
static void leftovers(void **state)
{
	const char *path = in_scratch("swept");
	char temp[300];

	(void)state;
	snprintf(temp, sizeof(temp), "%s.new", path);
	/* Killed while writing. */
	assert_int_equal(mkdir(temp, 0700), 0);
	spill(part_path(temp, "out.pages"), "x", 1);
	spill(part_path(temp, "making"), "swept", 5);
	assert_ok(write_small(path, 1, false));
	assert_false(path_exists(temp));

	/* Killed between the exchange and the removal: a whole store, with the mark. */
	assert_ok(write_small(temp, 2, false));
	spill(part_path(temp, "making"), "swept", 5);
	assert_ok(open_and_verify(path));
	assert_false(path_exists(temp));

	/* Half removed: no manifest, no mark. */
	assert_int_equal(mkdir(temp, 0700), 0);
	spill(part_path(temp, "ids"), "x", 1);
	assert_ok(open_and_verify(path));
	assert_false(path_exists(temp));

	/* Not ours. */
	assert_ok(write_small(temp, 2, false));
	assert_ok(open_and_verify(path));
	assert_ok(open_and_verify(temp));
	assert_int_equal(write_small(path, 1, true), MILL_EUSAGE);
	assert_ok(open_and_verify(temp));
	spill(part_path(temp, "making"), "swept.new", 9);	/* killed just after its commit */
	assert_ok(open_and_verify(path));
	assert_ok(open_and_verify(temp));
	unlink(part_path(temp, "manifest"));
	unlink(part_path(temp, "making"));
	spill(part_path(temp, "thesis.tex"), "x", 1);
	assert_ok(open_and_verify(path));
	assert_true(path_exists(part_path(temp, "thesis.tex")));
}

static void abandoned(void **state)
{
	const char *path = in_scratch("abandoned");
	struct store_facts facts = { .page_size = 65536, .vertices = 3, .sources = 1, .edges = 1 };
	struct budget budget;
	struct store_writer *w;

	(void)state;
	budget_init(&budget, 0);
	assert_ok(writer_open(&w, path, false, &budget));
	assert_ok(writer_begin(w, &facts));
	writer_abandon(w);
	assert_int_equal(budget.used, 0);
	assert_false(path_exists(in_scratch("abandoned.new")));
	assert_false(path_exists(path));
	writer_abandon(NULL);

	/* Too small a budget is an error, not a store. */
	budget_init(&budget, 100 * KIB);
	assert_ok(writer_open(&w, path, false, &budget));
	assert_int_equal(writer_begin(w, &facts), MILL_ENOMEM);
	writer_abandon(w);
	assert_false(path_exists(in_scratch("abandoned.new")));

	/* Lists that are not what was announced are a bug of the caller, and no store. */
	assert_ok(writer_open(&w, path, false, NULL));
	assert_ok(writer_begin(w, &facts));
	assert_int_equal(writer_commit(w), MILL_EBUG);
	assert_false(path_exists(path));
	assert_false(path_exists(in_scratch("abandoned.new")));
}

static void limits(void **state)
{
	struct store_facts facts = { .directed = true, .vertices = MAX_VERTICES + 1 };
	static const u32 sizes[] = { 1, 65535, 32768, 98304, 1 << 27 };
	struct store_writer *w;
	vid v = 0;

	(void)state;
	assert_ok(writer_open(&w, in_scratch("limits"), false, NULL));
	assert_int_equal(writer_begin(w, &facts), MILL_ELIMIT);
	writer_abandon(w);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct store_facts odd = { .page_size = sizes[i] };

		assert_ok(writer_open(&w, in_scratch("limits"), false, NULL));
		assert_int_equal(writer_begin(w, &odd), MILL_EUSAGE);
		writer_abandon(w);
	}
	facts = (struct store_facts){ .directed = true, .vertices = 2, .sources = 1, .edges = 1 };
	assert_ok(writer_open(&w, in_scratch("limits"), false, NULL));
	assert_ok(writer_begin(w, &facts));
	assert_int_equal(writer_list(w, false, &v, NULL, (u64)UINT32_MAX + 1), MILL_ELIMIT);
	writer_abandon(w);
#if MILL_EID_BITS == 16
	{
		struct graph g = { .directed = true };

		graph_init(&g, 2, 2, 65536);
		for (u32 i = 0; i < 65535; i++)
			graph_add(&g, i % 2, 0, 0);
		assert_ok(graph_write(&g, in_scratch("most"), 65536, false));
		assert_ok(open_and_verify(in_scratch("most")));
		graph_add(&g, 0, 0, 0);
		assert_int_equal(graph_write(&g, in_scratch("more"), 65536, false), MILL_ELIMIT);
		graph_release(&g);
	}
#endif
#if MILL_VID_BITS == 8
	for (u32 n = 254; n <= 256; n++) {
		struct graph g = { .directed = true };
		mill_err err;

		graph_random(&g, n, 10, 300, 1);
		err = graph_write(&g, in_scratch("wide"), 65536, true);
		assert_int_equal(err, n <= MAX_VERTICES ? MILL_OK : MILL_ELIMIT);
		assert_ok(open_and_verify(in_scratch("wide")));
		graph_release(&g);
	}
#endif
}

/* Directories for two stripes; the list is kept for graph_write. */
static void use_stripes(const char *name)
{
	static char list[600];
	char dir[2][300];

	for (int i = 0; i < 2; i++) {
		snprintf(dir[i], sizeof(dir[i]), "%s.dir%d", in_scratch(name), i);
		mkdir(dir[i], 0700);
	}
	snprintf(list, sizeof(list), "%s,%s", dir[0], dir[1]);
	stripe_list = list;
}

/* How many folders there are in them. */
static int n_folders(void)
{
	const char *comma = strchr(stripe_list, ',');
	char first[300];

	snprintf(first, sizeof(first), "%.*s", (int)(comma - stripe_list), stripe_list);
	return entries(first) + entries(comma + 1);
}

/* Killed at any moment of making or replacing: the next command removes the folders of the dead, and no others. */
static void striped_leftovers(void **state)
{
	struct store_facts facts = { .page_size = 65536, .vertices = 3, .sources = 1, .edges = 1 };
	const char *path = in_scratch("striped");
	char temp[300], link[320], keep[300];
	struct store_writer *w;
	pid_t pid;

	(void)state;
	use_stripes("striped");
	snprintf(keep, sizeof(keep), "%s.keep", path);
	assert_ok(write_small(keep, 1, false));
	assert_ok(write_small(path, 1, false));
	assert_int_equal(n_folders(), 4);

	/* Killed while writing. */
	pid = fork();
	if (!pid)
		_exit(writer_open(&w, path, true, NULL) || writer_stripe(w, stripe_list) || writer_begin(w, &facts));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(temp, sizeof(temp), "%s.new", path);
	assert_true(path_exists(temp));
	assert_int_equal(n_folders(), 6);
	assert_ok(open_and_verify(path));
	assert_false(path_exists(temp));
	assert_int_equal(n_folders(), 4);

	/* Killed between the exchange and the removal. */
	assert_ok(write_small(temp, 2, false));
	spill(part_path(temp, "making"), "striped", 7);
	assert_int_equal(n_folders(), 6);
	assert_ok(open_and_verify(path));
	assert_false(path_exists(temp));
	assert_int_equal(n_folders(), 4);

	/* A link to what was made for another store is only a link. */
	assert_int_equal(mkdir(temp, 0700), 0);
	spill(part_path(temp, "making"), "striped", 7);
	snprintf(link, sizeof(link), "%s/stripe.0", temp);
	assert_int_equal(symlink(part_path(keep, "stripe.0"), link), 0);
	assert_ok(open_and_verify(path));
	assert_false(path_exists(temp));
	assert_int_equal(n_folders(), 4);
	assert_ok(open_and_verify(keep));

	/* Replaced by one without stripes, they go; renamed before, too. */
	snprintf(link, sizeof(link), "%s.renamed", path);
	assert_int_equal(rename(path, link), 0);
	stripe_list = NULL;
	assert_ok(write_small(link, 1, true));
	use_stripes("striped");
	assert_int_equal(n_folders(), 2);
	stripe_list = NULL;
}

/* Makes or replaces a store under a fault, and uses it. The arguments are those of run_child. */
static int child(int argc, char **argv)
{
	const char *path = argv[0];
	char letter = argc > 1 ? argv[1][0] : 'n', list[600];
	bool force = strchr("Ff", letter);
	mill_store *store;
	mill_err err;

	snprintf(list, sizeof(list), "%s.dir0,%s.dir1", path, path);
	if (strchr("FN", letter))
		stripe_list = list;
	err = write_small(path, 2, force);
	if (err)
		return (int)err;
	err = mill_store_open(&store, path);
	if (err)
		return (int)err;
	err = mill_store_verify(store, NULL);
	mill_store_close(store);
	return (int)err;
}

/* Letters for "force": capital ones with stripes. */
static int run_child(const char *fault, const char *path, bool force)
{
	char self[] = "/proc/self/exe", flag[] = SUITE_CHILD, suite[] = "writer";
	char setting[160], where[300], how[] = "x";
	char *argv[] = { self, flag, suite, where, how, NULL };
	char *env[] = { setting, NULL };
	int status;
	pid_t pid;

	how[0] = force ? 'f' : 'n';
	if (stripe_list)
		how[0] ^= 'a' ^ 'A';
	snprintf(setting, sizeof(setting), "MILL_FAULT=%s", fault);
	snprintf(where, sizeof(where), "%s", path);
	assert_int_equal(posix_spawn(&pid, self, NULL, NULL, argv, env), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status))
		fail_msg("%s: killed by signal %d", fault, WTERMSIG(status));
	return WEXITSTATUS(status);
}

static const struct {
	const char *format;	/* with the number of the operation */
	mill_err err;		/* or MILL_OK, or MILL_EIO where a corrupt file is meant */
	bool stripes;		/* with them too: syncs take their time */
} faults[] = {
	{ "alloc:n=%d", MILL_ENOMEM, .stripes = false },
	{ "alloc:n=%d,sticky", MILL_ENOMEM, .stripes = true },
	{ "io:op=any,n=%d,err=EIO", MILL_EIO, .stripes = true },
	{ "io:op=any,n=%d,err=EIO,sticky", MILL_EIO, .stripes = false },
	{ "io:op=any,n=%d,err=ENOSPC", MILL_ENOSPACE, .stripes = false },
	{ "io:op=any,n=%d,err=EINTR", MILL_OK, .stripes = false },
	{ "io:op=write,n=%d,short=7", MILL_OK, .stripes = false },
	{ "io:op=read,n=%d,short=3", MILL_OK, .stripes = false },
	{ "io:op=sync,n=%d,err=EIO", MILL_EIO, .stripes = false },
	{ "io:op=rename,n=%d,err=EIO,sticky", MILL_EIO, .stripes = false },
};

/*
 * Whatever fails, PATH is the old store or the new one, whole, and after the next command that
 * looks at it nothing else is left.
 */
static void sweep_faults(bool force)
{
	const char *path = in_scratch("made");
	u64 old, new;

	assert_ok(write_small(path, 2, false));
	new = hash_of(path, "manifest");
	assert_ok(write_small(path, 1, true));
	old = hash_of(path, "manifest");
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		int clean = 0;

		if (stripe_list && !faults[i].stripes)
			continue;
		for (int n = 1; clean < 3; n++) {
			char fault[128], temp[300];
			struct store *st;
			u64 found;
			int code;

			snprintf(fault, sizeof(fault), faults[i].format, n);
			snprintf(temp, sizeof(temp), "%s.new", path);
			if (force && hash_of(path, "manifest") != old)
				assert_ok(write_small(path, 1, true));
			else if (!force && path_exists(path))
				assert_ok(dir_remove(path));
			code = run_child(fault, path, force);
			if (code && code != (int)faults[i].err)
				fail_msg("%s: exit code %d", fault, code);
			clean = code ? 0 : clean + 1;

			if (!store_open(&st, path, NULL))
				store_close(st);
			if (path_exists(temp))
				fail_msg("%s: %s stays", fault, temp);
			if (stripe_list && n_folders() != (path_exists(path) ? 2 : 0))
				fail_msg("%s: %d folders of stripes", fault, n_folders());
			if (!path_exists(path)) {
				assert_true(code && !force);
				continue;
			}
			assert_ok(open_and_verify(path));
			found = hash_of(path, "manifest");
			assert_true(found == new || (code && force && found == old));
		}
	}
}

static void fault_sweep_new(void **state)
{
	(void)state;
	sweep_faults(false);
}

static void fault_sweep_force(void **state)
{
	(void)state;
	sweep_faults(true);
}

static void fault_sweep_stripes(void **state)
{
	(void)state;
	use_stripes("made");
	sweep_faults(true);
	stripe_list = NULL;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(existing_target, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(force_spares_others, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(paths, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(second_maker, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(target_appears, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(leftovers, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(abandoned, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(limits, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(fault_sweep_new, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(fault_sweep_force, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(striped_leftovers, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(fault_sweep_stripes, scratch_make, scratch_remove),
};

SUITE(writer, tests, .child = child);
