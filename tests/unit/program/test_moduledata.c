// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "program/moduledata.h"
#include "steps.h"
#include "unit.h"

static void test_layouts(void **state)
{
	(void)state;
	for (int release = 15; release < 40; release++) {
		const struct moduledata_layout *at = moduledata_layout(release);

		assert_true(at->first <= release && release <= at->last);
		/* the fields of one release are in the order of its table */
		assert_true(at->names <= at->records && at->records < at->functab);
		assert_true(at->functab < at->text && at->text < at->types);
		assert_true(at->types_len < at->types_end && at->types < at->types_end);
		assert_true(!at->typelinks == !!at->types_len);
		assert_true(!at->itabs_off == !!at->itablinks && !at->itabs_len == !at->itabs_off);
		assert_true(!at->gofunc || at->gofunc > at->types_end);
	}
	assert_ptr_equal(moduledata_layout(-1), moduledata_layout(15));
	assert_ptr_equal(moduledata_layout(16), moduledata_layout(17));
	assert_int_equal(moduledata_layout(19)->gofunc, 38);
	assert_int_equal(moduledata_layout(25)->typelinks, 44);
	assert_int_equal(moduledata_layout(26)->typelinks, 45);
	assert_int_equal(moduledata_layout(27)->types_len, 38);
}

static void test_table(void **state)
{
	(void)state;
	memset(&steps, 0, sizeof(steps));
	for (int release = 15; release < 29; release++) {
		const struct moduledata_layout *at = moduledata_layout(release);

		if (at == moduledata_layout(release - 1) && release > 15)
			continue;
		steps_are("1.%d to %d: %u %u %u %u, types %u %u %u, itabs %u %u, %u, %u %u, %u",
			  at->first, at->last, at->names, at->records, at->functab, at->text,
			  at->types, at->types_len, at->types_end, at->itabs_off, at->itabs_len,
			  at->gofunc, at->typelinks, at->itablinks, at->masks);
	}
	steps_expect(
		"1.15 to 15: 0 0 3 12, types 25 0 26, itabs 0 0, 0, 30 33, 50; 1.16 to 17: 1 13 16 "
		"22, types 35 0 36, itabs 0 0, 0, 40 43, 60; 1.18 to 19: 1 13 16 22, types 35 0 "
		"36, itabs 0 0, 38, 42 45, 62; 1.20 to 20: 1 13 16 22, types 37 0 38, itabs 0 0, "
		"40, 44 47, 64; 1.21 to 25: 1 13 16 22, types 37 0 38, itabs 0 0, 40, 44 47, 67; "
		"1.26 to 26: 1 13 16 22, types 37 0 38, itabs 0 0, 40, 45 48, 68; 1.27 to "
		"2147483647: 1 13 16 22, types 37 38 39, itabs 40 41, 43, 0 0, 65; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
