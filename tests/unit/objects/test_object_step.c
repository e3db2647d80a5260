// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "golang/gotype.h"
#include "objects/object_kinds_internal.h"
#include "objects/object_step_internal.h"
#include "unit.h"

static const struct gotype word = {.kind = GOTYPE_UINT, .size = 8};
static const struct gotype pointer = {.kind = GOTYPE_POINTER, .size = 8};
static const struct gotype text = {.kind = GOTYPE_STRING, .size = 16};
static const struct gotype any = {.kind = GOTYPE_INTERFACE, .size = 16};
static struct gotype_field inner_fields[] = {{"n", &word, 0, false}, {"p", &pointer, 8, false}};
static const struct gotype inner = {
	.kind = GOTYPE_STRUCT, .size = 16, .fields = inner_fields, .field_count = 2};
static const struct gotype array = {.kind = GOTYPE_ARRAY, .size = 48, .elem = &inner, .count = 3};
static struct gotype_field outer_fields[] = {
	{"all", &array, 0, false}, {"s", &text, 48, false}, {"i", &any, 64, false}};
static const struct gotype outer = {
	.kind = GOTYPE_STRUCT, .size = 80, .fields = outer_fields, .field_count = 3};
static const struct object_kind value = {.role = OBJECT_VALUE, .type = &outer},
				elements = {.role = OBJECT_ARRAY, .type = &outer},
				map = {.role = OBJECT_MAP, .type = &outer};

static void expect_name(const struct object_kind *kind, uint64_t off, const char *want)
{
	char *name;
	size_t len;
	FILE *out = open_memstream(&name, &len);

	assert_non_null(out);
	object_step_print(out, kind, object_step(kind, off));
	fclose(out);
	assert_string_equal(name, want);
	free(name);
}

static void test_names(void **state)
{
	(void)state;
	expect_name(&value, 0, ".all[].n");
	expect_name(&value, 40, ".all[].p");
	expect_name(&value, 48, ".s");
	expect_name(&value, 72, ".i");
	expect_name(&elements, 7 * 80 + 24, ".all[].p");
	expect_name(&map, 40, "");
	expect_name(NULL, 40, "");
	assert_int_equal(object_step(&value, 8), object_step(&value, 40));
	assert_int_equal(object_step(&value, 64), object_step(&value, 72));
}

static void test_pointers(void **state)
{
	static const bool want[] = {false, true, false, true,  false,
				    true,  true, false, false, true};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_int_equal(object_step_is_pointer(&value, i * 8), want[i]);
		assert_int_equal(object_step_is_pointer(&elements, 160 + i * 8), want[i]);
		assert_true(object_step_is_pointer(&map, i * 8));
	}
	assert_true(object_step_is_pointer(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
