// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "golang/gotype_internal.h"
#include "unit.h"

static int new_types(void **state)
{
	*state = gotypes_new();
	return 0;
}

static int free_types(void **state)
{
	gotypes_free(*state);
	return 0;
}

static void test_predeclared(void **state)
{
	static const struct {
		const char *typed, *name;
		enum gotype_kind kind;
		unsigned size, align;
	} rows[] = {
		{"bool", "bool", GOTYPE_BOOL, 1, 1},
		{"int", "int", GOTYPE_INT, 8, 8},
		{"int16", "int16", GOTYPE_INT, 2, 2},
		{"rune", "int32", GOTYPE_INT, 4, 4},
		{"byte", "uint8", GOTYPE_UINT, 1, 1},
		{"uintptr", "uintptr", GOTYPE_UINT, 8, 8},
		{"float32", "float32", GOTYPE_FLOAT, 4, 4},
		{"complex64", "complex64", GOTYPE_COMPLEX, 8, 4},
		{"complex128", "complex128", GOTYPE_COMPLEX, 16, 8},
		{"string", "string", GOTYPE_STRING, 16, 8},
		{"unsafe.Pointer", "unsafe.Pointer", GOTYPE_POINTER, 8, 8},
		{"error", "error", GOTYPE_INTERFACE, 16, 8},
		{"any", "interface {}", GOTYPE_INTERFACE, 16, 8},
		{"interface {}", "interface {}", GOTYPE_INTERFACE, 16, 8},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct gotype *type = gotypes_basic(*state, rows[i].typed);

		assert_non_null(type);
		assert_string_equal(type->name, rows[i].name);
		assert_int_equal(type->kind, rows[i].kind);
		assert_int_equal(type->size, rows[i].size);
		assert_int_equal(type->align, rows[i].align);
		assert_ptr_equal(type, gotypes_basic(*state, rows[i].name));
	}
	assert_null(gotypes_basic(*state, "integer"));
	assert_null(gotypes_basic(*state, ""));
	assert_true(gotypes_basic(*state, "error")->has_methods);
	assert_true(gotypes_basic(*state, "error")->defined);
	assert_false(gotypes_basic(*state, "any")->has_methods);
	assert_false(gotypes_basic(*state, "int")->defined);
}

static void test_derived(void **state)
{
	const struct gotype *byte = gotypes_basic(*state, "byte");
	const struct gotype *pointer = gotypes_pointer(*state, gotypes_slice(*state, byte));

	assert_string_equal(pointer->name, "*[]uint8");
	assert_int_equal(pointer->size, 8);
	assert_int_equal(pointer->elem->size, 24);
	assert_ptr_equal(pointer, gotypes_pointer(*state, gotypes_slice(*state, byte)));

	const struct gotype *array = gotypes_array(*state, gotypes_basic(*state, "uint16"), 5);

	assert_string_equal(array->name, "[5]uint16");
	assert_int_equal(array->kind, GOTYPE_ARRAY);
	assert_int_equal(array->size, 10);
	assert_int_equal(array->align, 2);
	assert_int_equal(array->count, 5);
	assert_ptr_not_equal(array, gotypes_array(*state, gotypes_basic(*state, "uint16"), 6));
}

static void test_many_are_kept_apart(void **state)
{
	enum { MANY = 1000 };
	const struct gotype *arrays[MANY];
	const struct gotype *byte = gotypes_basic(*state, "byte");

	for (unsigned i = 0; i < MANY; i++)
		arrays[i] = gotypes_array(*state, byte, i);
	for (unsigned i = 0; i < MANY; i++) {
		assert_ptr_equal(arrays[i], gotypes_array(*state, byte, i));
		assert_int_equal(arrays[i]->size, i);
	}
}

static void test_hostile_sizes(void **state)
{
	const struct gotype *type = gotypes_basic(*state, "int");
	const struct gotype *huge = gotypes_array(*state, type, UINT64_MAX / 2);

	assert_int_equal(huge->kind, GOTYPE_UNKNOWN);
	assert_int_equal(huge->size, 0);
	assert_int_equal(gotypes_array(*state, type, UINT64_C(1) << 45)->kind, GOTYPE_UNKNOWN);
	for (unsigned i = 0; i < 20000; i++)
		type = gotypes_pointer(*state, type);
	assert_true(strlen(type->name) < 5000);
}

static void test_memory(void **state)
{
	static const char zeros[100000];

	for (size_t size = 1; size < sizeof(zeros); size = size * 3 / 2 + 1) {
		char *memory = gotypes_alloc(*state, size, 1);

		assert_memory_equal(memory, zeros, size);
		assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
		memset(memory, 0xff, size);
	}
	assert_string_equal(gotypes_text(*state, "abcdef", 3), "abc");
}

/* A struct of the fields named; a name in upper case is embedded. */
static struct gotype *structure(struct gotypes *types, size_t count, const char *const *names,
				const struct gotype *const *members)
{
	struct gotype *type = gotypes_add(types, GOTYPE_STRUCT, "main.T");

	type->fields = gotypes_alloc(types, count, sizeof(*type->fields));
	type->field_count = count;
	for (size_t i = 0; i < count; i++) {
		type->fields[i] = (struct gotype_field){
			.name = names[i],
			.type = members[i],
			.off = type->size,
			.embedded = names[i][0] >= 'A' && names[i][0] <= 'Z',
		};
		type->size += members[i]->size;
	}
	return type;
}

#define STRUCT(types, a, x, b, y)                                                                  \
	structure(types, 2, (const char *const[]){a, b}, (const struct gotype *const[]){x, y})

static void check_field(const struct gotype *type, const char *name, uint64_t off)
{
	uint64_t got = 12345;
	const struct gotype_field *through;
	const struct gotype_field *field = gotype_field(type, name, &got, &through);

	assert_non_null(field);
	assert_null(through);
	assert_string_equal(field->name, name);
	assert_int_equal(got, off);
}

static void test_promoted_fields(void **state)
{
	const struct gotype *word = gotypes_basic(*state, "int");
	const struct gotype *inner = STRUCT(*state, "a", word, "b", word);
	const struct gotype *other = STRUCT(*state, "c", word, "b", word);
	const struct gotype *outer = STRUCT(*state, "a", word, "Inner", inner);
	const struct gotype *both = STRUCT(*state, "Inner", inner, "Other", other);
	const struct gotype *deep = STRUCT(*state, "Both", both, "b", word);
	uint64_t off;

	check_field(outer, "a", 0);
	check_field(outer, "b", 16);
	check_field(outer, "Inner", 8);
	check_field(both, "c", 16);
	check_field(deep, "b", 32);
	check_field(deep, "c", 16);
	assert_null(gotype_field(both, "b", &off, NULL)); /* ambiguous */
	assert_null(gotype_field(both, "x", &off, NULL));
	assert_null(gotype_field(word, "x", &off, NULL));
	assert_null(gotype_field(STRUCT(*state, "_", word, "b", word), "_", &off, NULL));
}

static void test_through_pointers(void **state)
{
	const struct gotype *word = gotypes_basic(*state, "int");
	const struct gotype *inner = STRUCT(*state, "a", word, "b", word);
	const struct gotype *pointer = gotypes_pointer(*state, inner);
	const struct gotype *middle = STRUCT(*state, "c", word, "Inner", pointer);
	const struct gotype *outer = STRUCT(*state, "d", word, "Middle", middle);
	const struct gotype_field *through;
	uint64_t off;

	const struct gotype_field *field = gotype_field(outer, "b", &off, &through);

	assert_ptr_equal(field, &inner->fields[1]);
	assert_ptr_equal(through, &middle->fields[1]);
	assert_int_equal(off, 16);
	assert_null(gotype_field(outer, "b", &off, NULL));
	check_field(outer, "c", 8);
}

static void test_endless_embedding(void **state)
{
	const struct gotype *word = gotypes_basic(*state, "int");
	struct gotype *type = STRUCT(*state, "Left", word, "Right", word);
	const struct gotype_field *through;
	uint64_t off;

	type->fields[0].type = type; /* no compiler makes this */
	type->fields[1].type = gotypes_pointer(*state, type);
	assert_null(gotype_field(type, "x", &off, &through));
	for (unsigned i = 0; i < 64; i++) {
		const struct gotype *next = STRUCT(*state, "Left", type, "Right", type);

		type = (struct gotype *)next;
	}
	assert_null(gotype_field(type, "x", &off, &through));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_predeclared, new_types, free_types),
		cmocka_unit_test_setup_teardown(test_derived, new_types, free_types),
		cmocka_unit_test_setup_teardown(test_many_are_kept_apart, new_types, free_types),
		cmocka_unit_test_setup_teardown(test_hostile_sizes, new_types, free_types),
		cmocka_unit_test_setup_teardown(test_memory, new_types, free_types),
		cmocka_unit_test_setup_teardown(test_promoted_fields, new_types, free_types),
		cmocka_unit_test_setup_teardown(test_through_pointers, new_types, free_types),
		cmocka_unit_test_setup_teardown(test_endless_embedding, new_types, free_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
