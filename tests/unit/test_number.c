// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "number.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
