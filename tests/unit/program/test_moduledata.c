// SPDX-License-Identifier: Apache-2.0
#include "program/moduledata.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
