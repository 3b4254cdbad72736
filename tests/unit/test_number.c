/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and sizes as text: parsed, printed, printed and parsed again, in any locale. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "unit.h"

static void test_u64(void **state)
{
	static const struct {
		const char *text;
		bool good;
		u64 value;
	} cases[] = {
		{ "0", true, 0 },
		{ "007", true, 7 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "99999999999999999999", false, 0 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ "+1", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
		{ "1.0", false, 0 },
		{ "0x10", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *text = cases[i].text;
		u64 value = 77;

		assert_int_equal(number_u64(&value, text, text + strlen(text)), cases[i].good);
		assert_true(value == (cases[i].good ? cases[i].value : 77));
	}
}

static void test_f64(void **state)
{
	static const char *const good[] = {
		"0", "-0", "1", "+1.5", ".5", "5.", "1e3", "1E-3", "1e+3", "0.1",
		"3.14159265358979", "9007199254740993", "123456789012345678901234567890",
		"1e22", "1e23", "4.9e-324",
		"2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308",
		"1e-400", "0e999999999999999999999", "0.000000000000000000000000000000000001e36",
		"8.442911973260991817129021e-309", "5e-324", "1e-99999999999999999999",
		"9007199254740992.9999999999999999999999999",
	};
	static const char *const bad[] = {
		"", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "0x1p3", " 1", "1 ", "1,5", "--1",
		"1e5.", "infin", "nano", "nan(1)", "1e309", "-1e400", "1e99999999999999999999",
		"1f",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		f64 value, want = strtod(good[i], NULL);

		assert_true(number_f64(&value, good[i], good[i] + strlen(good[i])));
		if (memcmp(&value, &want, sizeof(want)))
			fail_msg("%s reads as %.17g", good[i], value);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		f64 value = 77;

		if (number_f64(&value, bad[i], bad[i] + strlen(bad[i])) || value != 77)
			fail_msg("'%s' is accepted as %.17g", bad[i], value);
	}
}

static f64 read_f64(const char *text)
{
	f64 value = -77;

	assert_true(number_f64(&value, text, text + strlen(text)));
	return value;
}

static void test_f64_special(void **state)
{
	static char text[5000];

	(void)state;
	assert_true(isinf(read_f64("inf")) && read_f64("inf") > 0);
	assert_true(isinf(read_f64("-INF")) && read_f64("-Infinity") < 0);
	assert_true(isnan(read_f64("nan")) && isnan(read_f64("-NaN")));

	/* Just above the middle between 1 and the next double: the last of 5000 digits decides. */
	memset(text, '0', sizeof(text));
	memcpy(text, "1.00000000000000011102230246251565404236316680908203125", 55);
	text[sizeof(text) - 1] = '\0';
	assert_true(read_f64(text) == 1.0);
	text[sizeof(text) - 2] = '1';
	assert_true(read_f64(text) == 1.0 + DBL_EPSILON);

	memset(text, '9', sizeof(text) - 1);
	assert_false(number_f64(&(f64){ 0 }, text, text + sizeof(text) - 1));
	memcpy(text + 4500, "e-4499", 6);
	assert_true(number_f64(&(f64){ 0 }, text, text + 4506));
	assert_true(read_f64("9.9999999999999999999e0") == 10.0);
}

static void test_put(void **state)
{
	static const struct {
		f64 value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 1, "1" },
		{ -3, "-3" },
		{ 0.1, "0.1" },
		{ 0.3, "0.3" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1e-9, "1e-09" },
		{ 123456.5, "123456.5" },
		{ 1e15, "1e+15" },
		{ 123456789012345, "123456789012345" },
		{ 1e300, "1e+300" },
		{ 5e-324, "5e-324" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ NAN, "nan" },
		{ 1 / 3.0, "0.3333333333333333" },
	};
	char text[NUMBER_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		text[number_put_f64(text, cases[i].value)] = '\0';
		assert_string_equal(text, cases[i].text);
	}
	text[number_put_f32(text, 0.1f)] = '\0';
	assert_string_equal(text, "0.1");
	text[number_put_f32(text, -FLT_MAX)] = '\0';
	assert_string_equal(text, "-3.4028235e+38");
	text[number_put_f32(text, 1e-45f)] = '\0';
	assert_string_equal(text, "1e-45");
	text[number_put_f32(text, 16777216.0f)] = '\0';
	assert_string_equal(text, "16777216");
	text[number_put_u64(text, UINT64_MAX)] = '\0';
	assert_string_equal(text, "18446744073709551615");
	assert_int_equal(number_put_u64(text, 0), 1);
}

static void test_round_trip(void **state)
{
	char text[NUMBER_TEXT];

	(void)state;
	for (u64 i = 0; i < 100000; i++) {
		u64 bits = random_at(7, i);
		u32 half = (u32)bits;
		f64 wide, back;
		f32 narrow;
		size_t len;

		memcpy(&wide, &bits, sizeof(wide));
		if (i % 3 == 0)
			wide = random_unit(8, i);
		len = number_put_f64(text, wide);
		assert_true(len < NUMBER_TEXT);
		assert_true(number_f64(&back, text, text + len));
		assert_true(isnan(wide) ? isnan(back) : back == wide);

		memcpy(&narrow, &half, sizeof(narrow));
		len = number_put_f32(text, narrow);
		assert_true(len < NUMBER_TEXT);
		text[len] = '\0';
		assert_true(number_f64(&back, text, text + len));
		assert_true(isnan(narrow) ? isnan(back)
					  : (f32)back == narrow && strtof(text, NULL) == narrow);
	}
}

/* The same text in a locale with a decimal comma. Skipped if no such locale is installed. */
static void test_locale(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(names) && !found; i++)
		found = setlocale(LC_ALL, names[i]) != NULL;
	if (!found)
		skip();
	test_put(state);
	test_f64_special(state);
	setlocale(LC_ALL, "C");
}

static void test_size_parse(void **state)
{
	static const struct {
		const char *text;
		mill_err err;
		u64 bytes;
	} cases[] = {
		{ "0", MILL_OK, 0 },
		{ "4096", MILL_OK, 4096 },
		{ "64K", MILL_OK, 65536 },
		{ "64k", MILL_OK, 65536 },
		{ "1.5G", MILL_OK, 3 * GIB / 2 },
		{ ".5M", MILL_OK, MIB / 2 },
		{ "2T", MILL_OK, 2048 * GIB },
		{ "25%", MILL_OK, 250 },
		{ "0.1%", MILL_OK, 1 },
		{ "150%", MILL_OK, 1500 },
		{ "18446744073709551615", MILL_OK, UINT64_MAX },
		{ "18446744073709551616", MILL_EUSAGE, 0 },
		{ "17179869184G", MILL_EUSAGE, 0 },
		{ "99999999999999.5G", MILL_EUSAGE, 0 },
		{ "", MILL_EUSAGE, 0 },
		{ "K", MILL_EUSAGE, 0 },
		{ "%", MILL_EUSAGE, 0 },
		{ ".", MILL_EUSAGE, 0 },
		{ "-1", MILL_EUSAGE, 0 },
		{ "+1", MILL_EUSAGE, 0 },
		{ "1e3", MILL_EUSAGE, 0 },
		{ "1E", MILL_EUSAGE, 0 },
		{ "1KB", MILL_EUSAGE, 0 },
		{ "1 K", MILL_EUSAGE, 0 },
		{ "nan", MILL_EUSAGE, 0 },
		{ "inf", MILL_EUSAGE, 0 },
		{ "1.2.3", MILL_EUSAGE, 0 },
	};
	u64 bytes = 77;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bytes = 77;
		assert_int_equal(mill_size_parse(&bytes, cases[i].text, 1000), cases[i].err);
		assert_true(bytes == (cases[i].err ? 77 : cases[i].bytes));
	}
	assert_int_equal(mill_size_parse(&bytes, "25%", 0), MILL_EUSAGE);
	assert_non_null(strstr(mill_error(), "25%"));
}

static void test_size_show(void **state)
{
	static const struct {
		u64 bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 bytes" }, { 1023, "1023 bytes" }, { 1024, "1 KiB" }, { 1536, "1.5 KiB" },
		{ MIB - 1, "1 MiB" }, { 3 * GIB / 2, "1.5 GiB" }, { 100 * MIB, "100 MiB" },
		{ GIB - 1, "1 GiB" }, { UINT64_MAX, "16 EiB" },
	};
	char text[NUMBER_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(size_show(text, cases[i].bytes), cases[i].text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_u64),	    cmocka_unit_test(test_f64),
	cmocka_unit_test(test_f64_special), cmocka_unit_test(test_put),
	cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_locale),
	cmocka_unit_test(test_size_parse),  cmocka_unit_test(test_size_show),
};

SUITE(number, tests);
