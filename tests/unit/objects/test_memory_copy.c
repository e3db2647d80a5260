// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "fakemem.h"
#include "objects/memory_copy_internal.h"
#include "unit.h"

enum { A = FAKEMEM_BASE, B = FAKEMEM_BASE + 0x100, LEN = 0x20, SIZE = 0x1000 };

static void test_parts(void **state)
{
	struct memory_copy *copy = memory_copy_new();
	uint64_t word;

	(void)state;
	fakemem_begin(SIZE);
	fakemem_put(A + 8, 1);
	fakemem_put(B + LEN - 8, 2);
	assert_false(memory_copy_read(copy, A, &word, 8));
	memory_copy_add(copy, &fakemem_memory, B, LEN);
	memory_copy_add(copy, &fakemem_memory, A, LEN);
	memory_copy_add(copy, &fakemem_memory, FAKEMEM_BASE + SIZE - 8, LEN); /* not all there */
	fakemem_put(A + 8, 3);                                                /* later */
	assert_true(memory_copy_read(copy, A + 8, &word, 8));
	assert_int_equal(word, 1);
	assert_true(memory_copy_read(copy, B + LEN - 8, &word, 8));
	assert_int_equal(word, 2);
	assert_false(memory_copy_read(copy, B + LEN - 4, &word, 8));
	assert_false(memory_copy_read(copy, A - 1, &word, 8));
	assert_false(memory_copy_read(copy, A + LEN, &word, 1));
	assert_false(memory_copy_read(copy, UINT64_MAX, &word, 8));
	assert_false(memory_copy_read(copy, FAKEMEM_BASE + SIZE - 8, &word, 8));
	memory_copy_free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
