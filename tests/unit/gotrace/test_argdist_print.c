// SPDX-License-Identifier: Apache-2.0
/* goargdist's output: values with their counts, and histograms with rows below 0. */
#include "unit.h"

#include "gotrace/argdist_internal.h"
#include "printed.h"

enum { MOST = 3 };

static char *probes[] = {"main.f a\x1b, b", "main.g n"};
static const bool histograms[] = {false, true};

static struct argdist_config config_of(uint64_t top, bool json)
{
	return (struct argdist_config){.probes = probes,
				       .histograms = histograms,
				       .probe_count = 1,
				       .top = top,
				       .json = json};
}

static void expect_values(const struct argdist_config *config, const char *want)
{
	/* in no order */
	struct argdist_value values[MOST] = {
		{"a = 3, b = 1", "{\"a\":3,\"b\":1}\n", 7},
		{"", "{\"a\":1}\n", 20},
		{"a = 2, b = 1", "{\"a\":2,\"b\":1}\n", 7},
	};
	struct argdist_counts counts = {.values = values, .count = MOST};

	printed_begin();
	argdist_print(config, 0, "a", &counts);
	printed_expect(want);
}

#define HEAD "main.f a\\x1b, b\n\tCOUNT      EVENT\n"

/* The most frequent last, equal ones by text; -T leaves out those that are counted least. */
static void test_values(void **state)
{
	struct argdist_config config = config_of(0, false);

	(void)state;
	expect_values(&config, HEAD "\t7          a = 2, b = 1\n"
				    "\t7          a = 3, b = 1\n"
				    "\t20         total calls\n");
	config.top = MOST;
	expect_values(&config, HEAD "\t7          a = 2, b = 1\n"
				    "\t7          a = 3, b = 1\n"
				    "\t20         total calls\n");
	config.top = 2;
	expect_values(&config, HEAD "\t7          (1 other value)\n"
				    "\t7          a = 3, b = 1\n"
				    "\t20         total calls\n");
	config.top = 1;
	expect_values(&config, HEAD "\t14         (2 other values)\n"
				    "\t20         total calls\n");
}

static void test_no_values(void **state)
{
	const struct argdist_config config = config_of(1, false);
	struct argdist_counts counts = {0};

	(void)state;
	printed_begin();
	argdist_print(&config, 0, "a", &counts);
	printed_expect(HEAD);
}

static void test_values_json(void **state)
{
	struct argdist_config config = config_of(2, true);

	(void)state;
	expect_values(&config, "{\"type\":\"argdist\",\"values\":{\"a\":3,\"b\":1},\"count\":7}\n"
			       "{\"type\":\"argdist\",\"values\":{\"a\":1},\"count\":20}\n");
	config.top = 1;
	config.probe_count = 2; /* then each says of which it is */
	expect_values(&config, "{\"type\":\"argdist\",\"values\":{\"a\":1},\"count\":20,"
			       "\"probe\":\"main.f a\\u001b, b\"}\n");
}

static void expect_histogram(const struct argdist_config *config, struct argdist_counts *counts,
			     const char *want)
{
	printed_begin();
	argdist_print(config, 1, "n", counts);
	printed_expect(want);
}

/* 0 and 1 have a row, as bcc's log2 histograms; the bar is of the highest row. */
static void test_histogram(void **state)
{
	struct argdist_counts counts = {.rows = {[1] = 4, [2] = 1, [4] = 3}};
	const struct argdist_config config = config_of(0, false);

	(void)state;
	expect_histogram(
		&config, &counts,
		"main.g n\n"
		"     n                   : count     distribution\n"
		"         0 -> 1          : 4        |****************************************|"
		"\n"
		"         2 -> 3          : 1        |**********                              |"
		"\n"
		"         4 -> 7          : 0        |                                        |"
		"\n"
		"         8 -> 15         : 3        |******************************          |"
		"\n");
}

static void test_below_zero(void **state)
{
	struct argdist_counts counts = {.rows = {[1] = 1}, .below = {[1] = 2, [3] = 1}};
	const struct argdist_config config = config_of(0, false);

	(void)state;
	expect_histogram(
		&config, &counts,
		"main.g n\n"
		"     n                   : count     distribution\n"
		"        -7 -> -4         : 1        |********************                    |"
		"\n"
		"        -3 -> -2         : 0        |                                        |"
		"\n"
		"        -1 -> -1         : 2        |****************************************|"
		"\n"
		"         0 -> 1          : 1        |********************                    |"
		"\n");
}

/* Numbers of more than 32 bits need wider columns; below them, they do not. */
static void test_wide(void **state)
{
	struct argdist_counts counts = {.rows = {[64] = 1}}, below = {.below = {[64] = 1}},
			      last_narrow = {.rows = {[32] = 2}}, first_wide = {.rows = {[33] = 2}},
			      low_narrow = {.below = {[32] = 2}};
	const struct argdist_config config = config_of(0, false);

	(void)state;
	expect_histogram(&config, &counts,
			 "main.g n\n"
			 "               n                             : count     distribution\n"
			 " 9223372036854775808 -> 18446744073709551615 : 1        "
			 "|********************|\n");
	expect_histogram(&config, &below,
			 "main.g n\n"
			 "               n                             : count     distribution\n"
			 "-9223372036854775808 -> -9223372036854775808 : 1        "
			 "|********************|\n");
	expect_histogram(
		&config, &last_narrow,
		"main.g n\n"
		"     n                   : count     distribution\n"
		"2147483648 -> 4294967295 : 2        |****************************************|"
		"\n");
	expect_histogram(&config, &first_wide,
			 "main.g n\n"
			 "               n                             : count     distribution\n"
			 "          4294967296 -> 8589934591           : 2        "
			 "|********************|\n");
	expect_histogram(&config, &low_narrow,
			 "main.g n\n"
			 "     n                   : count     distribution\n"
			 "-4294967295 -> -2147483648 : 2        "
			 "|****************************************|\n");
}

static void test_histogram_json(void **state)
{
	struct argdist_counts counts = {.rows = {[1] = 4, [4] = 3}, .below = {[1] = 2}}, none = {0};
	struct argdist_config config = config_of(0, true);

	(void)state;
	expect_histogram(&config, &counts,
			 "{\"type\":\"argdist\",\"expr\":\"n\",\"count\":9,"
			 "\"buckets\":[[-1,-1,2],[0,1,4],[8,15,3]]}\n");
	config.probe_count = 2;
	expect_histogram(&config, &counts,
			 "{\"type\":\"argdist\",\"expr\":\"n\",\"count\":9,"
			 "\"buckets\":[[-1,-1,2],[0,1,4],[8,15,3]],\"probe\":\"main.g n\"}\n");
	expect_histogram(&config, &none, "");
	config.json = false;
	expect_histogram(&config, &none, "main.g n\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),         cmocka_unit_test(test_no_values),
		cmocka_unit_test(test_values_json),    cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_below_zero),     cmocka_unit_test(test_wide),
		cmocka_unit_test(test_histogram_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
