// SPDX-License-Identifier: Apache-2.0
/* Tables of which libbcc is to make no functions that print and scan: in the compiled module they
 * have another name, by which they stand here. Without it this is not linked. */
#include "unit.h"

#include "bpf-src/parts/no_text.h"

NO_TEXT(records);
struct records_table_t {
	int value;
};
struct records_table_t records = {5}; /* as BPF_TABLE() defines it */

extern struct records_table_t compiled __asm__("table.records");

static void test_name(void **state)
{
	(void)state;
	assert_ptr_equal(&records, &compiled); /* C goes on calling it so */
	assert_int_equal(compiled.value, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_name)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
