/* SPDX-License-Identifier: Apache-2.0 */
/* Policies: look-up by name, the table of options, options that are refused, options left out. */
#include "helpers.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "policy/policy.h"

static void test_find(void **state)
{
	static const char *const names[] = { "auto", "fifo", "lru", "frequency", "pinned",
					     "graphie", "gts", "largegraph" };
	const struct mill_policy *shown = mill_policies();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct policy *p = policy_find(names[i]);

		assert_non_null(p);
		assert_string_equal(p->public.name, names[i]);
		assert_string_equal(shown[i].name, names[i]);
		assert_true(shown[i].summary && *shown[i].summary);
		assert_true(p->device && p->before && p->cpu);
		assert_ptr_equal(mill_policy(names[i]), &shown[i]);
		assert_true(shown[i].several == (p == &policy_gts));
		/* A policy that owns some runs names a policy with the same keys for the others. */
		assert_true(!shown[i].otherwise == !p->takes);
		if (p->takes) {
			const struct policy *as = policy_find(p->public.otherwise);

			assert_non_null(as);
			assert_true(as->device == p->device && as->cpu == p->cpu && !as->takes);
		}
	}
	assert_null(shown[ARRAY_LEN(names)].name);
	assert_ptr_equal(policy_find(NULL), &policy_auto);
	assert_ptr_equal(mill_policy(NULL), shown);
	assert_null(policy_find("GTS"));
	assert_null(policy_find(""));
	assert_null(mill_policy("latest"));
	assert_ptr_equal(policy_several(), &policy_gts);
}

/* ---- The table of options ---- */

struct row {
	const char *policy, *option;
	size_t at, size;	/* in struct mill_options */
};

#define AT(policy, member) \
	(offsetof(struct mill_options, policy) + offsetof(struct mill_##policy, member))
#define FIELD(name, policy, member) \
	{ #policy, name, AT(policy, member), sizeof(((struct mill_##policy *)0)->member) }

static const struct row fields[] = {
	FIELD("wire", graphie, wire),
	FIELD("partition-size", graphie, partition_size),
	FIELD("no-staging", graphie, no_staging),
	FIELD("strategy", gts, strategy),
	FIELD("chunks", gts, chunks),
	FIELD("device-cache", gts, device_cache),
	FIELD("main-buffer", gts, main_buffer),
	FIELD("warp", gts, warp),
	FIELD("scan", gts, scan),
	FIELD("paths", largegraph, paths),
	FIELD("chain", largegraph, chain),
	FIELD("alpha", largegraph, alpha),
	FIELD("chunk-size", largegraph, chunk_size),
	FIELD("sweeps", largegraph, sweeps),
	FIELD("no-keep", largegraph, no_keep),
	FIELD("only", largegraph, only),
	FIELD("baseline", largegraph, baseline),
};

/* The size of an option's field by its kind. */
static const size_t sizes[] = {
	[MILL_OPTION_FLAG] = sizeof(bool),
	[MILL_OPTION_U32] = sizeof(uint32_t),
	[MILL_OPTION_SIZE] = sizeof(uint64_t),
	[MILL_OPTION_CHOICE] = sizeof(int),
	[MILL_OPTION_TEXT] = sizeof(const char *),
};

static void check_row(const struct mill_policy *p, const struct mill_option *o,
		      const struct row *want)
{
	assert_string_equal(p->name, want->policy);
	assert_string_equal(o->name, want->option);
	assert_int_equal(p->settings + o->at, want->at);
	assert_int_equal(sizes[o->kind], want->size);
	assert_true(o->help && *o->help);
	assert_true(!o->argument == (o->kind == MILL_OPTION_FLAG));
	assert_true(!o->word == (o->kind != MILL_OPTION_CHOICE));
	assert_true(!o->only || o->kind == MILL_OPTION_U32);
	assert_true(!o->zero || o->kind == MILL_OPTION_SIZE);
	assert_true(!(o->usual > 0) || o->kind == MILL_OPTION_U32 || o->kind == MILL_OPTION_CHOICE);
	for (u32 i = 0; o->kind == MILL_OPTION_CHOICE && i <= (u32)o->usual; i++)
		assert_non_null(o->word[i]);
}

static void test_rows(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct mill_policy *p = mill_policies(); p->name; p++)
		for (const struct mill_option *o = p->option; o && o->name; o++) {
			assert_true(n < ARRAY_LEN(fields));
			check_row(p, o, &fields[n++]);
		}
	assert_int_equal(n, ARRAY_LEN(fields));
}

/* ---- Refused options ---- */

/* Sets the option's field to its first value that is not 0. */
static void set(struct mill_options *o, const struct row *f)
{
	u32 value = strcmp(f->option, "warp") ? 1 : 8;

	memcpy((char *)o + f->at, &value, f->size < sizeof(value) ? f->size : sizeof(value));
}

/* Options of another policy are refused, and policy_leave_others sets them to 0. */
static void test_options_of_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		struct mill_options o = { .threads = 3 }, none = o;
		char want[96];

		set(&o, &fields[i]);
		snprintf(want, sizeof(want),
			 "--%s is for --policy %s: leave it out, or choose that policy",
			 fields[i].option, fields[i].policy);
		for (const struct mill_policy *p = mill_policies(); p->name; p++) {
			struct mill_options left = o;
			bool own = !strcmp(p->name, fields[i].policy);

			assert_int_equal(policy_check(policy_find(p->name), &o),
					 own ? MILL_OK : MILL_EUSAGE);
			if (!own)
				assert_string_equal(mill_error(), want);
			policy_leave_others(policy_find(p->name), &left);
			assert_memory_equal(&left, own ? &o : &none, sizeof(o));
		}
	}
}

#define SUITS(...) policy_suits(&policy_gts, &(struct mill_options){ __VA_ARGS__ }, "bfs")
#define CHECK(policy, ...) policy_check(&policy_##policy, &(struct mill_options){ __VA_ARGS__ })

static void test_mappings(void **state)
{
	(void)state;
	for (int m = MILL_MAPPING_AUTO; m <= MILL_MAPPING_HYBRID; m++) {
		struct mill_options o = { .mapping = (enum mill_mapping)m }, left = o;
		/* only_gts: of no other policy; has: gts has it too */
		bool only_gts = m >= MILL_MAPPING_WARP, has = only_gts || m <= MILL_MAPPING_THREAD;

		assert_int_equal(policy_check(&policy_lru, &o), only_gts ? MILL_EUSAGE : MILL_OK);
		if (m == MILL_MAPPING_WARP)
			assert_non_null(strstr(mill_error(), "--mapping warp is for"));
		else if (only_gts)
			assert_non_null(strstr(mill_error(), "--mapping hybrid is for"));
		OK(policy_check(&policy_gts, &o));
		assert_int_equal(policy_suits(&policy_gts, &o, "bfs"), has ? MILL_OK : MILL_EUSAGE);
		OK(policy_suits(&policy_graphie, &o, "bfs"));
		policy_leave_others(&policy_lru, &left);
		assert_int_equal(left.mapping, only_gts ? MILL_MAPPING_AUTO : m);
		left = o;
		policy_leave_others(&policy_gts, &left);
		assert_int_equal(left.mapping, has ? m : MILL_MAPPING_AUTO);
	}
	assert_int_equal(SUITS(.mapping = MILL_MAPPING_INPUT), MILL_EUSAGE);
	assert_string_equal(mill_error(), "--policy gts has no --mapping input for bfs: "
					  "leave it out, or choose another policy");
	assert_int_equal(SUITS(.filter = MILL_FILTER_EXACT), MILL_EUSAGE);
	assert_non_null(strstr(mill_error(), "--filter exact for bfs"));
	OK(SUITS(.direction = MILL_DIRECTION_PUSH));
	assert_int_equal(SUITS(.direction = MILL_DIRECTION_PULL), MILL_EUSAGE);
	assert_non_null(strstr(mill_error(), "--direction pull for bfs"));
}

static void test_values(void **state)
{
	(void)state;
	for (u32 warp = 0; warp < 70; warp++) {
		bool fine = !warp || warp == 4 || warp == 8 || warp == 16 || warp == 32;

		assert_int_equal(CHECK(gts, .gts.warp = warp), fine ? MILL_OK : MILL_EUSAGE);
	}
	assert_string_equal(mill_error(), "--warp 69: takes 4, 8, 16 or 32");
	assert_int_equal(CHECK(gts, .gts.scan = (enum mill_scan)2), MILL_EUSAGE);
	assert_int_equal(CHECK(graphie, .graphie.wire = (enum mill_wire)4), MILL_EUSAGE);
	assert_int_equal(CHECK(auto, .mapping = (enum mill_mapping)40), MILL_EUSAGE);
	OK(CHECK(gts, .gts.device_cache = MILL_SIZE_NONE, .gts.chunks = 1));
}

/* ---- Variants and defaults ---- */

static void test_merge(void **state)
{
	struct mill_options o = { .graphie = { .partition_size = 5, .wire = MILL_WIRE_CSR },
				  .gts = { .chunks = 2, .device_cache = 7 } };
	struct mill_variant v = {
		.graphie = { .no_staging = true, .wire = MILL_WIRE_PACKED },
		.gts = { .warp = 8, .strategy = MILL_STRATEGY_S, .device_cache = MILL_SIZE_NONE }
	};

	(void)state;
	policy_merge(&o, &v);
	assert_int_equal(o.graphie.partition_size, 5);
	assert_int_equal(o.graphie.wire, MILL_WIRE_PACKED);
	assert_true(o.graphie.no_staging);
	assert_int_equal(o.gts.chunks, 2);
	assert_int_equal(o.gts.warp, 8);
	assert_int_equal(o.gts.strategy, MILL_STRATEGY_S);
	assert_true(o.gts.device_cache == MILL_SIZE_NONE && size_bytes(o.gts.device_cache) == 0);
	policy_merge(&o, &(struct mill_variant){ .name = "nothing" });
	assert_int_equal(o.gts.warp, 8);
}

static void test_settle(void **state)
{
	struct mill_options o = { .gts.warp = 4 };

	(void)state;
	policy_settle(&o);
	assert_int_equal(o.gts.warp, 4);
	assert_int_equal(o.graphie.wire, MILL_WIRE_EDGES);
	assert_int_equal(o.gts.strategy, MILL_STRATEGY_AUTO);
	o.gts.warp = 0;
	policy_settle(&o);
	assert_int_equal(o.gts.warp, 32);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_find),   cmocka_unit_test(test_rows),
	cmocka_unit_test(test_values), cmocka_unit_test(test_mappings),
	cmocka_unit_test(test_merge),  cmocka_unit_test(test_options_of_others),
	cmocka_unit_test(test_settle),
};

SUITE(policy, tests);
