// SPDX-License-Identifier: Apache-2.0
#include "golang/gotype.h"
#include "objects/object_kinds_internal.h"
#include "unit.h"

static const struct gotype word = {.kind = GOTYPE_UINT, .size = 8, .name = "uint"};
static const struct gotype none = {.kind = GOTYPE_ARRAY, .elem = &word, .name = "[0]uint"};
static struct gotype_field inner_fields[] = {{"n", &none, 0, false}, {"w", &word, 0, false}};
static const struct gotype inner = {.kind = GOTYPE_STRUCT,
				    .size = 8,
				    .name = "inner",
				    .fields = inner_fields,
				    .field_count = 2};
static struct gotype_field outer_fields[] = {{"i", &inner, 0, false}, {"b", &word, 8, false}};
static const struct gotype outer = {.kind = GOTYPE_STRUCT,
				    .size = 16,
				    .name = "outer",
				    .fields = outer_fields,
				    .field_count = 2};
static const struct gotype array = {
	.kind = GOTYPE_ARRAY, .size = 32, .name = "[2]outer", .elem = &outer, .count = 2};
static const struct gotype other = {.kind = GOTYPE_STRUCT, .size = 16, .name = "other"};

static struct object_kinds kinds;

static uint16_t number(enum object_role role, const struct gotype *type)
{
	return object_kinds_number(&kinds, role, type, type, type->name);
}

static void test_numbers(void **state)
{
	(void)state;
	uint16_t a = number(OBJECT_VALUE, &inner), b = number(OBJECT_ARRAY, &inner);

	assert_int_equal(a, OBJECT_FIRST);
	assert_int_equal(b, OBJECT_FIRST + 1);
	assert_int_equal(number(OBJECT_VALUE, &inner), a);
	assert_string_equal(object_kinds_get(&kinds, b)->name, "[]inner");
	assert_string_equal(object_kinds_get(&kinds, number(OBJECT_BUFFER, &inner))->name,
			    "chan inner (buffer)");
	object_kinds_free(&kinds);
}

static void expect_name(enum gotype_kind kind, bool defined, enum object_role role,
			const char *want)
{
	const struct gotype type = {.kind = kind, .defined = defined, .name = "t"};

	assert_string_equal(object_kinds_get(&kinds, number(role, &type))->name, want);
	object_kinds_free(&kinds);
}

/* No two rows have the same name: a map's header and a pointer to it, elements and a slice. */
static void test_variables(void **state)
{
	(void)state;
	expect_name(GOTYPE_SLICE, false, OBJECT_VALUE, "t (variable)");
	expect_name(GOTYPE_MAP, false, OBJECT_VALUE, "t (variable)");
	expect_name(GOTYPE_CHAN, false, OBJECT_VALUE, "t (variable)");
	expect_name(GOTYPE_SLICE, true, OBJECT_VALUE, "t");
	expect_name(GOTYPE_POINTER, false, OBJECT_VALUE, "t");
	expect_name(GOTYPE_SLICE, false, OBJECT_ARRAY, "[]t");
	expect_name(GOTYPE_MAP, false, OBJECT_MAP, "t");
}

/* An object that is one type and begins with the other is the one. */
static void test_merge(void **state)
{
	(void)state;
	uint16_t in = number(OBJECT_VALUE, &inner), out = number(OBJECT_VALUE, &outer),
		 ins = number(OBJECT_ARRAY, &inner), pair = number(OBJECT_VALUE, &array),
		 outs = number(OBJECT_ARRAY, &outer), strange = number(OBJECT_VALUE, &other),
		 chan = number(OBJECT_CHAN, &outer), map = number(OBJECT_MAP, &outer);
	const uint16_t merges[][3] = {
		{in, in, in},
		{in, out, out},
		{out, in, out},
		{in, ins, ins},
		{ins, in, ins},
		{outs, in, outs},
		{pair, outs, pair},
		{outs, pair, pair},
		{pair, in, pair},
		{out, strange, OBJECT_SEVERAL},
		{OBJECT_SEVERAL, out, OBJECT_SEVERAL},
		{out, OBJECT_SEVERAL, OBJECT_SEVERAL},
		{OBJECT_UNKNOWN, OBJECT_SEVERAL, OBJECT_SEVERAL},
		{OBJECT_UNKNOWN, in, in},
		{OBJECT_STRING, in, in},
		{in, OBJECT_TINY, in},
		{OBJECT_TINY, OBJECT_STRING, OBJECT_STRING},
		{chan, out, chan},
		{in, chan, chan},
		{chan, map, OBJECT_SEVERAL},
	};

	for (size_t i = 0; i < sizeof(merges) / sizeof(*merges); i++)
		assert_int_equal(object_kinds_merge(&kinds, merges[i][0], merges[i][1]),
				 merges[i][2]);
	object_kinds_free(&kinds);
}

/* A program may tell of any number of types. */
static void test_too_many(void **state)
{
	static char places[UINT16_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(places); i++)
		object_kinds_number(&kinds, OBJECT_FUNC, &places[i], NULL, "f");
	assert_true(kinds.full);
	assert_int_equal(kinds.count, UINT16_MAX - OBJECT_FIRST);
	assert_int_equal(
		object_kinds_number(&kinds, OBJECT_FUNC, &places[UINT16_MAX - 1], NULL, "f"),
		OBJECT_UNKNOWN);
	object_kinds_free(&kinds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
