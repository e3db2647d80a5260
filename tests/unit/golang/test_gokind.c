// SPDX-License-Identifier: Apache-2.0
#include "golang/gokind.h"
#include "unit.h"

/* src/reflect/type.go's numbers, as they are in programs */
static void test_types(void **state)
{
	static const enum gotype_kind types[] = {
		GOTYPE_UNKNOWN,   GOTYPE_BOOL,    GOTYPE_INT,     GOTYPE_INT,     GOTYPE_INT,
		GOTYPE_INT,       GOTYPE_INT,     GOTYPE_UINT,    GOTYPE_UINT,    GOTYPE_UINT,
		GOTYPE_UINT,      GOTYPE_UINT,    GOTYPE_UINT,    GOTYPE_FLOAT,   GOTYPE_FLOAT,
		GOTYPE_COMPLEX,   GOTYPE_COMPLEX, GOTYPE_ARRAY,   GOTYPE_CHAN,    GOTYPE_FUNC,
		GOTYPE_INTERFACE, GOTYPE_MAP,     GOTYPE_POINTER, GOTYPE_SLICE,   GOTYPE_STRING,
		GOTYPE_STRUCT,    GOTYPE_POINTER, GOTYPE_UNKNOWN, GOTYPE_UNKNOWN,
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		assert_int_equal(gokind_type((enum gokind)i), types[i]);
	assert_int_equal(gokind_type((enum gokind)GOKIND_MASK), GOTYPE_UNKNOWN);
}

static void test_sizes(void **state)
{
	static const uint8_t sizes[] = {0, 1, 8,  1, 2, 4, 8,  8, 1, 2,  4,  8, 8, 4,
					8, 8, 16, 0, 8, 8, 16, 8, 8, 24, 16, 0, 8};

	(void)state;
	for (unsigned i = 0; i <= GOKIND_MASK; i++)
		for (uint64_t size = 0; size < 40; size++) {
			bool any = i == GOKIND_ARRAY || i == GOKIND_STRUCT;
			bool fits = any || (i && i < sizeof(sizes) && size == sizes[i]);

			assert_int_equal(gokind_fits((enum gokind)i, size, 1), fits);
		}
	assert_true(gokind_fits(GOKIND_STRUCT, GOTYPE_SIZE_MAX, 1));
	assert_false(gokind_fits(GOKIND_STRUCT, GOTYPE_SIZE_MAX + 1, 1));
}

static void test_alignments(void **state)
{
	(void)state;
	for (uint32_t align = 0; align < 1000; align++) {
		bool power = align && !(align & (align - 1));

		assert_int_equal(gokind_fits(GOKIND_BOOL, 1, align), power && align <= 128);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_alignments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
