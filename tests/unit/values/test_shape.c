// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "bpf-src/shared/trace.h"
#include "values/shape_internal.h"
#include "golang/gotype_internal.h"
#include "unit.h"

static const struct shape_limits LIMITS = {.string_max = 80, .record_max = 4096};
static const struct shape_limits FOLLOW = {.string_max = 80, .record_max = 8192, .follow = true};

static struct gotypes *types;

static int setup(void **state)
{
	(void)state;
	types = gotypes_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gotypes_free(types);
	return 0;
}

static const struct gotype *basic(const char *name)
{
	const struct gotype *type = gotypes_basic(types, name);

	assert_non_null(type);
	return type;
}

/* a struct of fields one after the other, all of 8-byte alignment */
static struct gotype *record(const char *name, size_t count, const struct gotype *const *fields)
{
	struct gotype *type = gotypes_add(types, GOTYPE_STRUCT, name);

	type->defined = true;
	type->align = 8;
	type->fields = gotypes_alloc(types, count, sizeof(*type->fields));
	type->field_count = count;
	for (size_t i = 0; i < count; i++) {
		type->fields[i] = (struct gotype_field){"f", fields[i], type->size, false};
		type->size += (fields[i]->size + 7) / 8 * 8;
	}
	return type;
}

static struct gotype *map_of(const char *key, const struct gotype *value, bool swiss)
{
	struct gotype *type = gotypes_add(types, GOTYPE_MAP, "map");

	type->size = type->align = 8;
	type->key = basic(key);
	type->elem = value;
	type->swiss = swiss;
	return type;
}

static void test_string(void **state)
{
	uint32_t end = 3;
	const struct shape *shape = shape_new(types, basic("string"), &LIMITS, &end);

	(void)state;
	assert_int_equal(shape->at, 8);
	assert_int_equal(shape->size, 16);
	assert_int_equal(shape->ref_count, 1);
	assert_int_equal(shape->refs[0].what, SHAPE_BYTES);
	assert_int_equal(shape->refs[0].state_at, 24);
	assert_int_equal(shape->refs[0].at, 32);
	assert_int_equal(shape->refs[0].max, 80);
	assert_int_equal(end, 112);
}

static void test_plain(void **state)
{
	static const char *const names[] = {"int8", "float64", "complex128", "unsafe.Pointer"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t end = 0;
		const struct shape *shape = shape_new(types, basic(names[i]), &FOLLOW, &end);

		assert_int_equal(shape->size, basic(names[i])->size);
		assert_int_equal(shape->ref_count, 0);
		assert_int_equal(end, (shape->size + 7) / 8 * 8);
	}
}

static void test_slices(void **state)
{
	static const struct {
		const char *elem;
		uint32_t string_max, max;
	} rows[] = {
		{"uint8", 80, 80},    {"uint8", 13, 16},      {"int", 80, 80},
		{"int", 8, 64},       {"int16", 17, 24},      {"string", 80, 128},
		{"string", 800, 128}, {"complex128", 8, 128}, {"uint8", 2000, 2000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shape_limits limits = {.string_max = rows[i].string_max,
					      .record_max = 1 << 16};
		const struct gotype *slice = gotypes_slice(types, basic(rows[i].elem));
		uint32_t end = 0;
		const struct shape *shape = shape_new(types, slice, &limits, &end);

		assert_int_equal(shape->ref_count, 1);
		assert_int_equal(shape->refs[0].max, rows[i].max);
		assert_int_equal(shape->refs[0].at, 32);
	}
}

static void test_elements(void **state)
{
	uint32_t end = 0;
	const struct gotype *slice = gotypes_slice(types, basic("string"));
	const struct shape *shape = shape_new(types, slice, &LIMITS, &end);
	const struct shape_ref *ref = &shape->refs[0];

	(void)state;
	assert_int_equal(ref->elem_count, 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(ref->elems[i].at, 32 + 16 * i);
		assert_int_equal(ref->elems[i].size, 16);
		assert_int_equal(ref->elems[i].ref_count, 1);
		assert_int_equal(ref->elems[i].refs[0].state_at, 160 + 88 * i);
	}
	assert_int_equal(end, 160 + 8 * 88);
}

static unsigned depth_of(const struct shape *shape)
{
	unsigned most = 0;

	for (size_t i = 0; i < shape->ref_count; i++)
		for (size_t n = 0; n < shape->refs[i].elem_count; n++) {
			unsigned depth = depth_of(&shape->refs[i].elems[n]);

			most = depth > most ? depth : most;
		}
	return most + 1;
}

static void test_depth(void **state)
{
	const struct shape_limits limits = {.string_max = 16, .record_max = 1 << 20};
	const struct gotype *type = basic("string");
	uint32_t end = 0;

	(void)state;
	for (int i = 0; i < 6; i++)
		type = gotypes_slice(types, type);
	assert_int_equal(depth_of(shape_new(types, type, &limits, &end)), SHAPE_DEPTH + 1);
}

static void test_struct(void **state)
{
	const struct gotype *pair[] = {basic("int"), basic("string")};
	const struct gotype *outer[] = {gotypes_array(types, record("main.P", 2, pair), 2),
					basic("error"), gotypes_pointer(types, basic("int"))};
	uint32_t end = 0;
	const struct shape *shape = shape_new(types, record("main.T", 3, outer), &LIMITS, &end);

	(void)state;
	assert_int_equal(shape->size, 48 + 16 + 8);
	assert_int_equal(shape->ref_count, 3); /* the pointer is not followed */
	assert_int_equal(shape->refs[0].off, 8);
	assert_int_equal(shape->refs[1].off, 32);
	assert_int_equal(shape->refs[2].off, 48);
	assert_int_equal(shape->refs[2].what, SHAPE_DYNAMIC);
	assert_int_equal(shape->refs[2].at, 72 + 2 * 88);
	assert_int_equal(shape->refs[2].max, shape_dynamic_size(&LIMITS, 6));
	assert_int_equal(end, 72 + 2 * 88 + shape_dynamic_size(&LIMITS, 6));
}

/* a struct that points to itself, and one that contains itself, which only a malformed file has */
static void test_recursive(void **state)
{
	struct gotype *node = gotypes_add(types, GOTYPE_STRUCT, "main.Node");
	struct gotype_field fields[2] = {{"next", gotypes_pointer(types, node), 0, false},
					 {"name", basic("string"), 8, false}};
	uint32_t end = 0;

	(void)state;
	node->size = 24;
	node->align = 8;
	node->fields = fields;
	node->field_count = 2;
	const struct shape *shape = shape_new(types, node, &FOLLOW, &end);

	assert_int_equal(shape->ref_count, 2);
	assert_int_equal(shape->refs[0].what, SHAPE_POINTEE);
	assert_int_equal(shape->refs[0].max, 24);
	assert_int_equal(shape->refs[0].elems[0].at, shape->refs[0].at);
	assert_int_equal(shape->refs[0].elems[0].ref_count, 1); /* the next one's name alone */
	fields[0].type = node;
	shape = shape_new(types, node, &FOLLOW, &end);
	assert_true(shape->ref_count > 0 && shape->ref_count <= 48);
}

static void test_full(void **state)
{
	uint32_t missing = 0;
	struct shape_limits limits = {.string_max = 80, .record_max = 200, .missing = &missing};
	const struct gotype *strings[] = {basic("string"), basic("string"), basic("string")};
	uint32_t end = 0;
	const struct shape *shape = shape_new(types, record("main.T", 3, strings), &limits, &end);

	(void)state;
	assert_int_equal(shape->ref_count, 1); /* 48 + 88; no room for another 88 */
	assert_int_equal(missing, 2);
	shape = shape_new(types, basic("string"), &limits, &end);
	assert_int_equal(shape->size, 16);
	assert_int_equal(shape->ref_count, 0);
	limits.record_max = end;
	shape = shape_new(types, basic("string"), &limits, &end);
	assert_int_equal(shape->size, 0);
	assert_int_equal(end, limits.record_max);
}

static void test_large(void **state)
{
	uint32_t end = 0;
	const struct gotype *array = gotypes_array(types, basic("string"), 1ull << 40);
	const struct shape *shape = shape_new(types, array, &LIMITS, &end);

	(void)state;
	assert_int_equal(shape->size, 512);
	assert_true(shape->ref_count <= 16);
	const struct gotype *pointers[60];

	for (size_t i = 0; i < 60; i++)
		pointers[i] = gotypes_pointer(types, basic("int"));
	end = 0;
	shape = shape_new(types, record("main.T", 60, pointers), &FOLLOW, &end);
	assert_int_equal(shape->ref_count, 48);
}

static void test_swiss_map(void **state)
{
	uint32_t end = 0;
	const struct shape *shape =
		shape_new(types, map_of("uint8", basic("int32"), true), &FOLLOW, &end);
	const struct shape_ref *group = shape->refs[0].group;
	const struct gotype *unit = record("struct {}", 0, NULL);

	(void)state;
	assert_int_equal(shape->refs[0].what, SHAPE_MAP);
	assert_int_equal(shape->refs[0].max, 48);
	assert_non_null(group);
	assert_int_equal(group->max, 8 + 8 * 8);
	assert_int_equal(group->elem_count, 16);
	assert_int_equal(group->elems[0].at, group->at + 8);
	assert_int_equal(group->elems[1].at, group->at + 12);
	assert_int_equal(group->elems[15].at, group->at + 8 + 7 * 8 + 4);
	shape = shape_new(types, map_of("uint32", unit, true), &FOLLOW, &end);
	assert_int_equal(shape->refs[0].group->elems[2].at, shape->refs[0].group->at + 8 + 16);
}

static void test_old_map(void **state)
{
	uint32_t end = 0;
	const struct gotype *large = gotypes_array(types, basic("int"), 17);
	const struct shape *shape = shape_new(types, map_of("uint8", large, false), &FOLLOW, &end);
	const struct shape_ref *group = shape->refs[0].group;

	(void)state;
	assert_int_equal(group->max, 8 + 8 + 64);
	assert_int_equal(group->elems[2].at, group->at + 9);
	assert_int_equal(group->elems[3].size, 0); /* behind a pointer */
	shape = shape_new(types, map_of("string", basic("string"), false), &FOLLOW, &end);
	group = shape->refs[0].group;
	assert_int_equal(group->elems[1].at, group->at + 8 + 8 * 16);
	assert_int_equal(group->elems[1].ref_count, 1);
	end = 0;
	shape = shape_new(types, map_of("string", basic("int"), true), &LIMITS, &end);
	assert_null(shape->refs[0].group);
}

static void test_dyntype(void **state)
{
	const struct gotype *op[] = {basic("string"), basic("string"), basic("error"),
				     basic("error")};
	const struct gotype *path = record("fs.PathError", 3, op);
	struct trace_dyntype dyn;

	(void)state;
	shape_dyntype(gotypes_pointer(types, path), true, &LIMITS, &dyn);
	assert_int_equal(dyn.size, 48);
	assert_int_equal(dyn.direct, 0);
	assert_int_equal(dyn.refs, 2);
	assert_int_equal(dyn.ref[1].off, 16);
	assert_int_equal(dyn.ref[1].elem, 1);
	assert_int_equal(dyn.inner, 32);
	struct gotype other = *basic("error");
	const struct gotype *both[] = {&other, basic("error"), &other};

	other.name = "net.Addr";
	shape_dyntype(record("main.E", 3, both), false, &LIMITS, &dyn);
	assert_int_equal(dyn.inner, 16);
	both[1] = basic("any");
	shape_dyntype(record("main.E", 3, both), false, &LIMITS, &dyn);
	assert_int_equal(dyn.inner, 32); /* the last that has methods */
	shape_dyntype(gotypes_slice(types, basic("int32")), false, &LIMITS, &dyn);
	assert_int_equal(dyn.size, 24);
	assert_int_equal(dyn.ref[0].elem, 4);
	assert_int_equal(dyn.inner, -1);
	shape_dyntype(basic("unsafe.Pointer"), true, &LIMITS, &dyn);
	assert_int_equal(dyn.size, 0);
	assert_int_equal(dyn.direct, 1);
	shape_dyntype(map_of("int", basic("int"), true), true, &LIMITS, &dyn);
	assert_int_equal(dyn.size, 8);
	assert_int_equal(dyn.direct, 0);
}

static void test_of_dynamic(void **state)
{
	const struct gotype *op[] = {basic("string"), basic("string"), basic("error")};
	const struct gotype *path = gotypes_pointer(types, record("fs.PathError", 3, op));
	const struct shape *shape = shape_of_dynamic(types, path, true, 2, &LIMITS, 1000);
	const uint32_t refs = 1000 + sizeof(struct trace_dynamic);

	(void)state;
	assert_string_equal(shape->type->name, "fs.PathError");
	assert_int_equal(shape->at, 1000 + offsetof(struct trace_dynamic, object));
	assert_int_equal(shape->size, 48);
	assert_int_equal(shape->ref_count, 3);
	assert_int_equal(shape->refs[1].state_at, refs + 88);
	assert_int_equal(shape->refs[2].at, refs + 3 * 88);
	assert_int_equal(shape->refs[2].levels, 1);
	shape = shape_of_dynamic(types, path, true, 1, &LIMITS, refs + 3 * 88);
	assert_int_equal(shape->size, 48);
	assert_int_equal(shape->ref_count, 2); /* and no interface inside */
	assert_true(shape->refs[1].at + shape->refs[1].max <=
		    1000 + shape_dynamic_size(&LIMITS, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_string),     cmocka_unit_test(test_plain),
		cmocka_unit_test(test_slices),     cmocka_unit_test(test_elements),
		cmocka_unit_test(test_depth),      cmocka_unit_test(test_struct),
		cmocka_unit_test(test_recursive),  cmocka_unit_test(test_full),
		cmocka_unit_test(test_large),      cmocka_unit_test(test_swiss_map),
		cmocka_unit_test(test_old_map),    cmocka_unit_test(test_dyntype),
		cmocka_unit_test(test_of_dynamic),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
