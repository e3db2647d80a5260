// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/number_internal.h"
#include "unit.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		uint64_t max, value;
		bool good;
	} rows[] = {
		{"0", 10, 0, true},
		{"10", 10, 10, true},
		{"007", 10, 7, true},
		{"11", 10, 0, false},
		{"100", 10, 0, false},
		{"5", 4, 0, false},
		{"18446744073709551615", UINT64_MAX, UINT64_MAX, true},
		{"18446744073709551616", UINT64_MAX, 0, false},
		{"99999999999999999999", UINT64_MAX, 0, false},
		{"", UINT64_MAX, 0, false},
		{"-1", UINT64_MAX, 0, false},
		{"+1", UINT64_MAX, 0, false},
		{" 1", UINT64_MAX, 0, false},
		{"1 ", UINT64_MAX, 0, false},
		{"10x", UINT64_MAX, 0, false},
		{"0x10", UINT64_MAX, 0, false},
		{"1.5", UINT64_MAX, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;
		bool good = number_parse(rows[i].text, rows[i].max, &value);

		if (good != rows[i].good || (good && value != rows[i].value))
			fail_msg("\"%s\": %d %ju", rows[i].text, good, (uintmax_t)value);
	}
}

static void test_seconds(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns; /* 0: refused */
	} rows[] = {
		{"1", 1000000000},
		{"10", 10000000000},
		{"0.5", 500000000},
		{".25", 250000000},
		{"1.000000001", 1000000001},
		{"1.0000000019", 1000000001},
		{"99999999", 99999999000000000},
		{"9223372035", 9223372035000000000},
		{"9223372036", 0},
		{"18446744073709551617", 0},
		{"0", 0},
		{"0.0", 0},
		{"0.0000000001", 0},
		{"-1", 0},
		{"", 0},
		{".", 0},
		{"1.", 0},
		{"1.x", 0},
		{"1.5s", 0},
		{"1e3", 0},
		{"nan", 0},
		{"1,5", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t ns = 0;
		bool good = number_parse_seconds(rows[i].text, &ns);

		if (good != !!rows[i].ns || (good && ns != rows[i].ns))
			fail_msg("\"%s\": %d %ju", rows[i].text, good, (uintmax_t)ns);
	}
}

static void test_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
		enum number_unit is;
	} rows[] = {
		{"1ns", 1, NUMBER_TIME},
		{"100us", 100000, NUMBER_TIME},
		{"100\u00b5s", 100000, NUMBER_TIME},
		{"2\u03bcs", 2000, NUMBER_TIME},
		{"10ms", 10000000, NUMBER_TIME},
		{"1.5s", 1500000000, NUMBER_TIME},
		{"0.000000001s", 1, NUMBER_TIME},
		{"2m", 120000000000, NUMBER_TIME},
		{"1h", 3600000000000, NUMBER_TIME},
		{"1m30.5s", 90500000000, NUMBER_TIME},
		{"1_000ms", 1000000000, NUMBER_TIME},
		{"4KB", 4000, NUMBER_SIZE},
		{"4kB", 4000, NUMBER_SIZE},
		{"3MB", 3000000, NUMBER_SIZE},
		{"2GB", 2000000000, NUMBER_SIZE},
		{"4KiB", 4096, NUMBER_SIZE},
		{"1.5KiB", 1536, NUMBER_SIZE},
		{"1MiB", 1048576, NUMBER_SIZE},
		{"1GiB", 1073741824, NUMBER_SIZE},
		{"2562047h", 9223369200000000000, NUMBER_TIME},
		{"9223372036854775807ns", INT64_MAX, NUMBER_TIME},
		{"9223372036854775808ns", 0, NUMBER_UNFIT},
		{"2562048h", 0, NUMBER_UNFIT},
		{"2562047h3600s", 0, NUMBER_UNFIT},
		{"1.5ns", 0, NUMBER_UNFIT},
		{"0.0000000001s", 0, NUMBER_UNFIT},
		{"10000000000000000000000ms", 0, NUMBER_NONE},
		{"10", 0, NUMBER_NONE},
		{"", 0, NUMBER_NONE},
		{"ms", 0, NUMBER_NONE},
		{".5s", 0, NUMBER_NONE},
		{"1.s", 0, NUMBER_NONE},
		{"1.5.5s", 0, NUMBER_NONE},
		{"1__0s", 0, NUMBER_NONE},
		{"_1s", 0, NUMBER_NONE},
		{"10x", 0, NUMBER_NONE},
		{"10MS", 0, NUMBER_NONE},
		{"10 ms", 0, NUMBER_NONE},
		{"10ms ", 0, NUMBER_NONE},
		{"-1s", 0, NUMBER_NONE},
		{"1s2", 0, NUMBER_NONE},
		{"1KiB1s", 0, NUMBER_NONE},
		{"1s1KiB", 0, NUMBER_NONE},
		{"1KiB1KiB", 0, NUMBER_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;
		enum number_unit is = number_parse_unit(rows[i].text, strlen(rows[i].text), &value);
		bool good = is == NUMBER_TIME || is == NUMBER_SIZE;

		if (is != rows[i].is || (good && value != rows[i].value))
			fail_msg("\"%s\": %d %ju", rows[i].text, is, (uintmax_t)value);
	}
}

static void test_with_or_without(void **state)
{
	uint64_t value;

	(void)state;
	assert_true(number_parse_duration("2", &value));
	assert_int_equal(value, 2000000000);
	assert_true(number_parse_duration("2ms", &value));
	assert_int_equal(value, 2000000);
	assert_false(number_parse_duration("0s", &value));
	assert_false(number_parse_duration("2KiB", &value));
	assert_false(number_parse_duration("2x", &value));
	assert_true(number_parse_size("4096", 4096, &value));
	assert_true(number_parse_size("4KiB", 4096, &value));
	assert_int_equal(value, 4096);
	assert_false(number_parse_size("4KiB", 4095, &value));
	assert_false(number_parse_size("4ms", 4096, &value));
}

static void test_hex_digit(void **state)
{
	(void)state;
	assert_int_equal(number_hex_digit('0'), 0);
	assert_int_equal(number_hex_digit('9'), 9);
	assert_int_equal(number_hex_digit('a'), 10);
	assert_int_equal(number_hex_digit('F'), 15);
	assert_int_equal(number_hex_digit('g'), -1);
	assert_int_equal(number_hex_digit('\0'), -1);
	assert_int_equal(number_hex_digit('/'), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hex_digit),       cmocka_unit_test(test_parse),
		cmocka_unit_test(test_seconds),         cmocka_unit_test(test_units),
		cmocka_unit_test(test_with_or_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
