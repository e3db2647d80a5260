// SPDX-License-Identifier: Apache-2.0
#include "kernel/execwatch_internal.h"
#include "unit.h"

/* What was not seen is added up over all execves. */
static void test_several(void **state)
{
	struct execwatch_report report = {0};

	(void)state;
	execwatch_note(&report, 1000, 1300);
	assert_int_equal(report.times, 1);
	assert_int_equal(report.blind_ns, 300);
	execwatch_note(&report, 2000, 2040);
	execwatch_note(&report, 3000, 3005);
	assert_int_equal(report.times, 3);
	assert_int_equal(report.blind_ns, 345);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
