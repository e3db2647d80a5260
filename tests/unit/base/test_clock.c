// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit.h"

/* Local time: here three and a half hours ahead of UTC. */
static void test_text(void **state)
{
	char wanted[CLOCK_TEXT], text[CLOCK_TEXT];
	time_t now;
	struct tm utc;

	(void)state;
	setenv("TZ", "<+0330>-3:30", 1);
	tzset();
	do { /* both of the same second */
		now = time(NULL);
		clock_text(text);
	} while (time(NULL) != now);
	now += 3 * 3600 + 1800;
	gmtime_r(&now, &utc);
	strftime(wanted, sizeof(wanted), "%H:%M:%S", &utc);
	assert_string_equal(text, wanted);
}

static void test_cpu(void **state)
{
	uint64_t before = clock_cpu_ns(getpid());

	(void)state;
	assert_true(before > 0);
	while (clock_cpu_ns(getpid()) == before)
		;
	assert_int_equal(clock_cpu_ns(1 << 22), 0); /* numbers end below that */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
