// SPDX-License-Identifier: Apache-2.0
#include "bpf-src/shared/cookie.h"
#include "unit.h"

static void test_round_trip(void **state)
{
	static const struct {
		unsigned row, kind;
		int adjust;
		unsigned copy;
	} rows[] = {
		{0, COOKIE_CALL, 0, 0},
		{1, COOKIE_CALL_IF_CHECKED, 8, 1},
		{COOKIE_ROWS - 1, COOKIE_NONE, COOKIE_ADJUST_MAX, COOKIE_COPIES - 1},
		{COOKIE_ROWS - 1, COOKIE_CALL, COOKIE_ADJUST_MIN, 0},
		{0, COOKIE_RETURN, -8, 0},
		{0x123456, COOKIE_RECOVERED, -4096, 0xabcd},
		{0, COOKIE_GOEXIT, 65536, 0x8000},
		{7, COOKIE_FATAL, 0, 0xffff},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t cookie =
			cookie_make(rows[i].row, rows[i].kind, rows[i].adjust, rows[i].copy);

		assert_int_equal(cookie_row(cookie), rows[i].row);
		assert_int_equal(cookie_kind(cookie), rows[i].kind);
		assert_int_equal(cookie_adjust(cookie), rows[i].adjust);
		assert_int_equal(cookie_copy(cookie), rows[i].copy);
	}
}

/* of a RET: all else is as it was */
static void test_ret(void **state)
{
	static const int adjusts[] = {0, 8, -8, COOKIE_RET_ADJUST_MAX, -COOKIE_RET_ADJUST_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(adjusts) / sizeof(adjusts[0]); i++) {
		uint64_t before = cookie_make(0x123456, COOKIE_RETURN, adjusts[i], 0xabcd);
		uint64_t cookie = cookie_of_ret(before, 0x7f1234567fed);

		assert_false(cookie_is_ret(before));
		assert_true(cookie_is_ret(cookie));
		assert_int_equal(cookie_low(cookie), 0xfed);
		assert_int_equal(cookie_adjust(cookie), adjusts[i]);
		assert_int_equal(cookie_row(cookie), 0x123456);
		assert_int_equal(cookie_kind(cookie), COOKIE_RETURN);
		assert_int_equal(cookie_copy(cookie), 0xabcd);
	}
	/* there is no room for this adjustment */
	uint64_t wide = cookie_make(1, COOKIE_RETURN, COOKIE_RET_ADJUST_MAX + 8, 0);

	assert_int_equal(cookie_of_ret(wide, 0xfed), wide);
}

/* the layout that cookie.h tells */
static void test_layout(void **state)
{
	(void)state;
	assert_int_equal(cookie_make(1, 0, 0, 0), 1);
	assert_int_equal(cookie_make(0, 0, 8, 0), 1 << 24);
	assert_int_equal(cookie_make(0, 0, -8, 0), 0xfffffULL << 24);
	assert_int_equal(cookie_make(0, 1, 0, 0), 1ULL << 44);
	assert_int_equal(cookie_make(0, 0, 0, 1), 1ULL << 48);
	assert_int_equal(cookie_of_ret(0, 1), 1ULL << 47 | 1 << 24);
	assert_int_equal(cookie_of_ret(cookie_make(0, 0, 8, 0), 0), 1ULL << 47 | 1ULL << 36);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_ret),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
