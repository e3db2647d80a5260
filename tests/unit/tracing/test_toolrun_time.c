// SPDX-License-Identifier: Apache-2.0
/* How tools write the time: with a clock of this test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "printed.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"
#include "unit.h"

static long nanoseconds;

/* in place of the C library's, whose header names its parameters otherwise */
int clock_of_test(clockid_t clock, struct timespec *now) __asm__("clock_gettime");

int clock_of_test(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){.tv_sec = 1700000000, .tv_nsec = nanoseconds};
	return 0;
}

/* In UTC, wherever the tool runs */
static void expect_json(long ns, const char *want)
{
	struct json json;

	nanoseconds = ns;
	printed_begin();
	json_init(&json, stdout);
	json_object(&json);
	toolrun_json_time(&json);
	json_object_end(&json);
	printed_expect(want);
}

static void test_json(void **state)
{
	(void)state;
	setenv("TZ", "XYZ-5:30", 1);
	tzset();
	expect_json(12345678, "{\"time\":\"2023-11-14T22:13:20.012345Z\"}\n");
	expect_json(999999999, "{\"time\":\"2023-11-14T22:13:20.999999Z\"}\n");
	expect_json(999, "{\"time\":\"2023-11-14T22:13:20.000000Z\"}\n");
}

/* The time of day, if it is asked for; an empty line stands before it. */
static void test_summaries(void **state)
{
	const struct options without = {0}, with = {.timestamp = true};
	unsigned hours, minutes, seconds;
	int len = 0;

	(void)state;
	printed_begin();
	toolrun_print_time(&without);
	printed_expect("\n");
	printed_begin();
	toolrun_print_time(&with);
	char *text = printed_end();

	assert_int_equal(strlen(text), CLOCK_TEXT + 1);
	assert_int_equal(sscanf(text, "\n%2u:%2u:%2u%n", &hours, &minutes, &seconds, &len), 3);
	assert_int_equal(len, CLOCK_TEXT);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_summaries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
