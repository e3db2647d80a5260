// SPDX-License-Identifier: Apache-2.0
/* since(x): times of all kinds as ns since 1970, and how long ago that was. */
#define STRING_MAX 16
#define SAVED_MAX 8
#define RING_PAGES 16
#define PLACES 24
#define USER_FRAMES 0
#define KERNEL_FRAMES 0
#define SINCE

#include "traceplans.h"

#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */

#include "tracehits.h"

static const u64 both = 1ULL << 63; /* clocks */
static const u64 second = 1000000000;

static void expect_time(u64 wall, u64 ext, s64 want, s64 want_bad)
{
	s64 bad = 0, got = time_unix(&bad, wall, ext);

	assert_int_equal(bad, want_bad);
	if (!bad)
		assert_int_equal(got, want);
}

static void test_kinds(void **state)
{
	const s64 year_1 = -62135596800LL, year_1885 = -2682288000LL;

	(void)state;
	/* with the monotonic clock: 33 bits of seconds since 1885, 30 of ns */
	expect_time(both | 5, 77, year_1885 * (s64)second + 5, 0);
	expect_time(both | 1ULL << 30, 77, (year_1885 + 1) * (s64)second, 0);
	expect_time(both | (u64)-year_1885 << 30 | 999999999, 0, 999999999, 0);
	expect_time(both | 0x1ffffffffULL << 30, 0, (year_1885 + 0x1ffffffffLL) * (s64)second, 0);
	/* without: seconds since the year 1 */
	expect_time(7, -year_1, 7, 0);
	expect_time(999999999, -year_1 - 3, -3 * (s64)second + 999999999, 0);
	expect_time(0, -year_1 + 9000000000LL, 9000000000LL * (s64)second, 0);
	expect_time(0, -year_1 - 9000000000LL, -9000000000LL * (s64)second, 0);
}

static void test_none(void **state)
{
	const s64 year_1 = -62135596800LL;
	s64 bad = TRACE_NIL;

	(void)state;
	expect_time(0, 0, 0, TRACE_NONE);
	expect_time(1, 0, 0, TRACE_BOUNDS);
	expect_time(0, -year_1 + 9000000001LL, 0, TRACE_BOUNDS);
	expect_time(0, -year_1 - 9000000001LL, 0, TRACE_BOUNDS);
	expect_time(0, 1ULL << 63, 0, TRACE_BOUNDS);
	time_unix(&bad, 0, 0); /* stays */
	assert_int_equal(bad, TRACE_NIL);
}

static void test_since(void **state)
{
	struct hit now = {.now = 500};
	u32 zero = 0;
	u64 apart = 100 * second;

	(void)state;
	assert_int_equal(time_since(&now, 200), 300);
	to_unix.update(&zero, &apart);
	assert_int_equal(time_since(&now, 100 * (s64)second), 500);
	assert_int_equal(time_since(&now, 100 * (s64)second + 501), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kinds, begin),
		cmocka_unit_test_setup(test_none, begin),
		cmocka_unit_test_setup(test_since, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
