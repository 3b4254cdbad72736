/* SPDX-License-Identifier: Apache-2.0 */
/* Writing stores: a whole store or none, locks, leftovers, --force, limits, every fault. */
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

/* Returns the number of entries of a directory; -1 if it is no directory. */
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
	u8 *data = slurp(path_in(store, name), &size);
	u64 hash = checksum(data, size);

	free(data);
	return hash;
}

static void existing_target(void **state)
{
	const char *path = in_scratch("target");
	u64 before;

	(void)state;
	OK(write_small(path, 1, false));
	before = hash_of(path, "manifest");
	/* The files before STORE_NAMES, sums and manifest; no mark of an unfinished store. */
	assert_int_equal(entries(path), STORE_NAMES + 2);
	assert_int_equal(write_small(path, 2, false), MILL_EUSAGE);
	assert_int_equal(hash_of(path, "manifest"), before);
	OK(write_small(path, 2, true));
	assert_int_not_equal(hash_of(path, "manifest"), before);
	OK(open_and_verify(path));
	assert_int_equal(entries(path), STORE_NAMES + 2);
	assert_false(path_exists(in_scratch("target.new")));
	assert_int_equal(entries(scratch), 1);
	OK(write_small(path, 1, true));
	assert_int_equal(hash_of(path, "manifest"), before);	/* the same bytes again */
}

static void force_replaces_only_stores(void **state)
{
	const char *dir = in_scratch("precious"), *plain = in_scratch("file");
	const char *link = in_scratch("link");

	(void)state;
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(write_small(dir, 1, true), MILL_EUSAGE);
	put_file(path_in(dir, "manifest"), "package 1\n", 10);
	assert_int_equal(write_small(dir, 1, true), MILL_EUSAGE);
	put_file(plain, "x", 1);
	assert_int_equal(write_small(plain, 1, true), MILL_EUSAGE);
	assert_int_equal(write_small(plain, 1, false), MILL_EUSAGE);
	assert_true(path_exists(path_in(dir, "manifest")));

	/* A store with a file of the user in it, and a store behind a symbolic link. */
	unlink(path_in(dir, "manifest"));
	rmdir(dir);
	OK(write_small(dir, 1, false));
	put_file(path_in(dir, "notes.txt"), "x", 1);
	assert_int_equal(write_small(dir, 2, true), MILL_EUSAGE);
	assert_non_null(strstr(mill_error(), "notes.txt"));
	unlink(path_in(dir, "notes.txt"));
	assert_int_equal(symlink(dir, link), 0);
	assert_int_equal(write_small(link, 2, true), MILL_EUSAGE);
	OK(open_and_verify(link));
	OK(write_small(dir, 2, true));
}

static void paths(void **state)
{
	char with_slashes[300];

	(void)state;
	snprintf(with_slashes, sizeof(with_slashes), "%s///", in_scratch("slashes"));
	OK(write_small(with_slashes, 1, false));
	OK(open_and_verify(in_scratch("slashes")));
	OK(open_and_verify(with_slashes));
	assert_int_equal(write_small("", 1, false), MILL_EUSAGE);
	assert_int_equal(write_small("//", 1, false), MILL_EUSAGE);
	assert_int_equal(write_small(in_scratch("no/such/parent"), 1, false), MILL_EIO);
	assert_int_equal(chdir(scratch), 0);
	OK(write_small("relative", 1, false));
	OK(open_and_verify("./relative"));
	assert_int_equal(chdir("/"), 0);
}

static void locked_target(void **state)
{
	const char *path = in_scratch("twice");
	struct store_writer *w;
	int fd;

	(void)state;
	OK(writer_open(&w, path, false, NULL));
	assert_int_equal(write_small(path, 1, false), MILL_ELOCKED);
	assert_true(path_exists(in_scratch("twice.new")));
	place_sweep(path);	/* a reader does not remove what a writer has locked */
	assert_true(path_exists(in_scratch("twice.new")));
	writer_abandon(w);
	assert_false(path_exists(in_scratch("twice.new")));

	/* The lock of another process. */
	assert_int_equal(mkdir(in_scratch("twice.new"), 0700), 0);
	fd = open(in_scratch("twice.new"), O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(write_small(path, 1, false), MILL_ELOCKED);
	close(fd);
	OK(write_small(path, 1, false));	/* without a lock it is a leftover */
}

/* Another process makes the target while the store is written. */
static void target_appears(void **state)
{
	const char *path = in_scratch("race");
	struct store_facts facts = { .page_size = 65536, .directed = true };
	struct store_writer *w;

	(void)state;
	OK(writer_open(&w, path, false, NULL));
	OK(writer_begin(w, &facts));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(writer_commit(w), MILL_EUSAGE);
	assert_false(path_exists(in_scratch("race.new")));
	assert_int_equal(entries(path), 0);
}

/* Leftovers are removed; a store of the user with the name PATH.new is not. */
static void leftovers(void **state)
{
	const char *path = in_scratch("swept");
	char temp[300];

	(void)state;
	snprintf(temp, sizeof(temp), "%s.new", path);
	/* Killed while writing. */
	assert_int_equal(mkdir(temp, 0700), 0);
	put_file(path_in(temp, "out.pages"), "x", 1);
	put_file(path_in(temp, "making"), "swept", 5);
	OK(write_small(path, 1, false));
	assert_false(path_exists(temp));

	/* Killed between the exchange and the removal: a whole store, with the mark. */
	OK(write_small(temp, 2, false));
	put_file(path_in(temp, "making"), "swept", 5);
	OK(open_and_verify(path));
	assert_false(path_exists(temp));

	/* Half removed: no manifest, no mark. */
	assert_int_equal(mkdir(temp, 0700), 0);
	put_file(path_in(temp, "ids"), "x", 1);
	OK(open_and_verify(path));
	assert_false(path_exists(temp));

	/* A whole store without the mark belongs to the user. */
	OK(write_small(temp, 2, false));
	OK(open_and_verify(path));
	OK(open_and_verify(temp));
	assert_int_equal(write_small(path, 1, true), MILL_EUSAGE);
	OK(open_and_verify(temp));
	put_file(path_in(temp, "making"), "swept.new", 9);	/* killed just after its commit */
	OK(open_and_verify(path));
	OK(open_and_verify(temp));
	unlink(path_in(temp, "manifest"));
	unlink(path_in(temp, "making"));
	put_file(path_in(temp, "thesis.tex"), "x", 1);
	OK(open_and_verify(path));
	assert_true(path_exists(path_in(temp, "thesis.tex")));
}

static void abandoned(void **state)
{
	const char *path = in_scratch("abandoned");
	struct store_facts facts = { .page_size = 65536, .vertices = 3, .sources = 1, .edges = 1 };
	struct budget budget;
	struct store_writer *w;

	(void)state;
	budget_init(&budget, 0);
	OK(writer_open(&w, path, false, &budget));
	OK(writer_begin(w, &facts));
	writer_abandon(w);
	assert_int_equal(budget.used, 0);
	assert_false(path_exists(in_scratch("abandoned.new")));
	assert_false(path_exists(path));
	writer_abandon(NULL);

	/* The budget is too small: an error, and no store. */
	budget_init(&budget, 100 * KIB);
	OK(writer_open(&w, path, false, &budget));
	assert_int_equal(writer_begin(w, &facts), MILL_ENOMEM);
	writer_abandon(w);
	assert_false(path_exists(in_scratch("abandoned.new")));

	/* Fewer lists than announced: a bug of the caller, and no store. */
	OK(writer_open(&w, path, false, NULL));
	OK(writer_begin(w, &facts));
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
	OK(writer_open(&w, in_scratch("limits"), false, NULL));
	assert_int_equal(writer_begin(w, &facts), MILL_ELIMIT);
	writer_abandon(w);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct store_facts odd = { .page_size = sizes[i] };

		OK(writer_open(&w, in_scratch("limits"), false, NULL));
		assert_int_equal(writer_begin(w, &odd), MILL_EUSAGE);
		writer_abandon(w);
	}
	facts = (struct store_facts){ .directed = true, .vertices = 2, .sources = 1, .edges = 1 };
	OK(writer_open(&w, in_scratch("limits"), false, NULL));
	OK(writer_begin(w, &facts));
	assert_int_equal(writer_list(w, false, &v, NULL, (u64)UINT32_MAX + 1), MILL_ELIMIT);
	writer_abandon(w);
#if MILL_EID_BITS == 16
	{
		struct graph g = { .directed = true };

		graph_init(&g, 2, 2, 65536);
		for (u32 i = 0; i < 65535; i++)
			graph_add(&g, i % 2, 0, 0);
		OK(graph_write(&g, in_scratch("most"), 65536, false));
		OK(open_and_verify(in_scratch("most")));
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
		OK(open_and_verify(in_scratch("wide")));
		graph_release(&g);
	}
#endif
}

/* Makes directories for two stripes and sets stripe_list to them. */
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

/* Returns the number of folders in the directories of stripe_list: one for each stripe. */
static int n_folders(void)
{
	const char *comma = strchr(stripe_list, ',');
	char first[300];

	snprintf(first, sizeof(first), "%.*s", (int)(comma - stripe_list), stripe_list);
	return entries(first) + entries(comma + 1);
}

/* A writer is killed at any moment: the next command removes its folders, and no others. */
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
	OK(write_small(keep, 1, false));
	OK(write_small(path, 1, false));
	assert_int_equal(n_folders(), 4);

	/* Killed while writing. */
	pid = fork();
	if (!pid)
		_exit(writer_open(&w, path, true, NULL) || writer_stripe(w, stripe_list) ||
		      writer_begin(w, &facts));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(temp, sizeof(temp), "%s.new", path);
	assert_true(path_exists(temp));
	assert_int_equal(n_folders(), 6);
	OK(open_and_verify(path));
	assert_false(path_exists(temp));
	assert_int_equal(n_folders(), 4);

	/* Killed between the exchange and the removal. */
	OK(write_small(temp, 2, false));
	put_file(path_in(temp, "making"), "striped", 7);
	assert_int_equal(n_folders(), 6);
	OK(open_and_verify(path));
	assert_false(path_exists(temp));
	assert_int_equal(n_folders(), 4);

	/* A link to a stripe of another store is removed; the stripe stays. */
	assert_int_equal(mkdir(temp, 0700), 0);
	put_file(path_in(temp, "making"), "striped", 7);
	snprintf(link, sizeof(link), "%s/stripe.0", temp);
	assert_int_equal(symlink(path_in(keep, "stripe.0"), link), 0);
	OK(open_and_verify(path));
	assert_false(path_exists(temp));
	assert_int_equal(n_folders(), 4);
	OK(open_and_verify(keep));

	/* A renamed store is replaced by one without stripes: its folders are removed. */
	snprintf(link, sizeof(link), "%s.renamed", path);
	assert_int_equal(rename(path, link), 0);
	stripe_list = NULL;
	OK(write_small(link, 1, true));
	use_stripes("striped");
	assert_int_equal(n_folders(), 2);
	stripe_list = NULL;
}

/* Writes a store under a fault and verifies it. argv: the path, the letter of run_child. */
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

/* Runs child() in a new process under a fault. Letters: f (force) or n; F or N with stripes. */
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
	mill_err err;		/* the only error allowed; MILL_OK: none */
	bool stripes;		/* try it with stripes too; not all, as syncs are slow */
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
 * Lets call n fail, for n = 1, 2, ... After each failure PATH is the old store or the new one,
 * whole; the next command that opens it removes all leftovers.
 */
static void sweep_faults(bool force)
{
	const char *path = in_scratch("made");
	u64 old, new;

	OK(write_small(path, 2, false));
	new = hash_of(path, "manifest");
	OK(write_small(path, 1, true));
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
				OK(write_small(path, 1, true));
			else if (!force && path_exists(path))
				OK(dir_remove(path));
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
			OK(open_and_verify(path));
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
	cmocka_unit_test_setup_teardown(force_replaces_only_stores, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(paths, scratch_make, scratch_remove),
	cmocka_unit_test_setup_teardown(locked_target, scratch_make, scratch_remove),
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
