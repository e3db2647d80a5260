// SPDX-License-Identifier: Apache-2.0
#include "files/process_usage.h"
#include "latency/cpu_waits_internal.h"
#include "unit.h"

static void test_percent(void **state)
{
	static const struct {
		struct process_turns before, after;
		unsigned percent;
	} rows[] = {
		{{1000, 500}, {1000, 500}, 0},
		{{1000, 500}, {1280, 1220}, 72},
		{{0, 0}, {0, 7}, 100},
		{{0, 0}, {7, 0}, 0},
		{{1000, 500}, {999, 900}, 0},
		{{1000, 500}, {1100, 499}, 0},
		{{0, 0}, {UINT64_MAX, UINT64_MAX}, 50},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (cpu_waits_percent(&rows[i].before, &rows[i].after) != rows[i].percent)
			fail_msg("row %zu: %u", i,
				 cpu_waits_percent(&rows[i].before, &rows[i].after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
