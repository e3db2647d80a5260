// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latency/histogram_internal.h"
#include "unit.h"

static void add(struct histogram *h, uint64_t value, uint64_t times)
{
	h->slots[histogram_index(value)] += times;
	h->min = !h->count || value < h->min ? value : h->min;
	h->max = value > h->max ? value : h->max;
	h->count += times;
	h->total += value * times;
}

static void test_slots_cover_all_values(void **state)
{
	uint64_t next = 0;

	(void)state;
	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
		uint64_t low = histogram_low(i), high = histogram_high(i);

		assert_true(low == next && high >= low);
		assert_int_equal(histogram_index(low), i);
		assert_int_equal(histogram_index(high), i);
		assert_true(high - low <= low / 16); /* the error of a percentile */
		next = high + 1;
	}
	assert_true(next == 0); /* the last one ends at 2^64 - 1 */
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_percentiles_against_sorted_values(void **state)
{
	enum { COUNT = 1000 };
	static const double percents[] = {1, 50, 90, 99, 99.9, 100};
	static struct histogram h;
	static uint64_t values[COUNT];
	uint64_t seed = 42;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		values[i] = (seed >> 20) >> (seed >> 59); /* of every size */
		add(&h, values[i], 1);
	}
	qsort(values, COUNT, sizeof(values[0]), compare);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		uint64_t exact = values[(size_t)(percents[i] * COUNT / 100 + 0.5) - 1];
		uint64_t found = histogram_percentile(&h, percents[i]);

		assert_true(found >= exact && found - exact <= exact / 16 && found <= h.max);
	}
}

static void test_percentiles_of_few(void **state)
{
	static struct histogram h;

	(void)state;
	assert_int_equal(histogram_percentile(&h, 50), 0);
	add(&h, 1000003, 1);
	assert_int_equal(histogram_percentile(&h, 1), 1000003);
	assert_int_equal(histogram_percentile(&h, 100), 1000003);
	add(&h, 0, 1);
	assert_int_equal(histogram_percentile(&h, 50), 0);
	assert_int_equal(histogram_percentile(&h, 51), 1000003);
	add(&h, UINT64_MAX, 2);
	assert_true(histogram_percentile(&h, 100) == UINT64_MAX);
}

static void check_print(const struct histogram *h, const char *unit, const char *expected)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	histogram_print_log2(out, h, unit);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_print_as_documented(void **state)
{
	static struct histogram h;

	(void)state;
	add(&h, 9000, 20);
	add(&h, 16383, 7);
	add(&h, 16384, 3);
	check_print(
		&h, "nsecs",
		"     nsecs               : count     distribution\n"
		"      8192 -> 16383      : 27       |****************************************|\n"
		"     16384 -> 32767      : 3        |****                                    |\n");
}

static void test_print_gaps_and_small(void **state)
{
	static struct histogram h;

	(void)state;
	check_print(&h, "usecs", "");
	add(&h, 0, 1);
	add(&h, 1, 1);
	add(&h, 4, 1);
	check_print(
		&h, "usecs",
		"     usecs               : count     distribution\n"
		"         0 -> 1          : 2        |****************************************|\n"
		"         2 -> 3          : 0        |                                        |\n"
		"         4 -> 7          : 1        |********************                    |\n");
}

/* as bcc's print_log2_hist does from row 33 on */
static void test_print_wide(void **state)
{
	static struct histogram h;

	(void)state;
	add(&h, UINT32_MAX, 1);
	check_print(
		&h, "nsecs",
		"     nsecs               : count     distribution\n"
		"2147483648 -> 4294967295 : 1        |****************************************|\n");
	add(&h, 1ull << 32, 2);
	check_print(
		&h, "nsecs",
		"               nsecs                         : count     distribution\n"
		"          2147483648 -> 4294967295           : 1        |**********          |\n"
		"          4294967296 -> 8589934591           : 2        |********************|\n");
}

static void test_print_the_largest(void **state)
{
	static struct histogram h;

	(void)state;
	h.slots[HISTOGRAM_SLOTS - 1] = UINT64_MAX;
	check_print(&h, "nsecs",
		    "               nsecs                         : count     distribution\n"
		    " 9223372036854775808 -> 18446744073709551615 : 18446744073709551615 "
		    "|********************|\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_cover_all_values),
		cmocka_unit_test(test_percentiles_against_sorted_values),
		cmocka_unit_test(test_percentiles_of_few),
		cmocka_unit_test(test_print_as_documented),
		cmocka_unit_test(test_print_gaps_and_small),
		cmocka_unit_test(test_print_wide),
		cmocka_unit_test(test_print_the_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
