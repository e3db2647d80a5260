// SPDX-License-Identifier: Apache-2.0
/* Whole shapes as text: where in a record a value lies, and all that it refers to. */
#include <stdio.h>
#include <string.h>

#include "bpf-src/shared/trace.h"
#include "golang/gotype_internal.h"
#include "steps.h"
#include "unit.h"
#include "values/shape_internal.h"

static const struct shape_limits LIMITS = {.string_max = 80, .record_max = 4096};
static const struct shape_limits FOLLOW = {.string_max = 40, .record_max = 8192, .follow = true};
static const struct shape_limits NARROW = {
	.string_max = 16, .record_max = 900, .follow = true, .dynamic_max = 24};

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

static const struct gotype *map_of(const char *key, const struct gotype *value, bool swiss)
{
	struct gotype *type = gotypes_add(types, GOTYPE_MAP, "map");

	type->size = type->align = 8;
	type->key = basic(key);
	type->elem = value;
	type->swiss = swiss;
	return type;
}

static const struct gotype *fn(void)
{
	struct gotype *type = gotypes_add(types, GOTYPE_FUNC, "func()");

	type->size = type->align = 8;
	return type;
}

static void say(const struct shape *shape, const char *before);

static void say_ref(const struct shape_ref *ref, const char *before)
{
	static const char *const whats[] = {"bytes", "pointee", "code", "map", "group", "dynamic"};
	char deeper[32];

	snprintf(deeper, sizeof(deeper), "%s.", before);
	steps_are("%s%s of %s off %u state %u at %u max %u levels %u", before, whats[ref->what],
		  ref->type ? ref->type->name : "none", ref->off,
		  ref->what == SHAPE_DYNAMIC ? 0 : ref->state_at, ref->at, ref->max, ref->levels);
	for (size_t i = 0; i < ref->elem_count && i < 2; i++)
		say(&ref->elems[i], deeper);
	if (ref->elem_count > 2)
		say(&ref->elems[ref->elem_count - 1], deeper);
	if (ref->group)
		say_ref(ref->group, deeper);
}

/* Of many elements the first two and the last one */
static void say(const struct shape *shape, const char *before)
{
	steps_are("%s%s at %u size %u", before, shape->type->name, shape->at, shape->size);
	for (size_t i = 0; i < shape->ref_count; i++)
		say_ref(&shape->refs[i], before);
}

static void expect_shape(const struct gotype *type, const struct shape_limits *limits,
			 const char *want)
{
	uint32_t end = 8;
	const struct shape *shape = shape_new(types, type, limits, &end);

	say(shape, "");
	steps_are("to %u", end);
	steps_expect(want);
}

static void test_bytes(void **state)
{
	(void)state;
	expect_shape(basic("string"), &LIMITS,
		     "string at 8 size 16; bytes of string off 0 state 24 at 32 max 80 "
		     "levels 0; to 112; ");
	expect_shape(gotypes_slice(types, basic("int16")), &LIMITS,
		     "[]int16 at 8 size 24; bytes of []int16 off 0 state 32 at 40 max 80 "
		     "levels 0; to 120; ");
	expect_shape(gotypes_slice(types, basic("string")), &LIMITS,
		     "[]string at 8 size 24; bytes of []string off 0 state 32 at 40 max 128 "
		     "levels 0; .string at 40 size 16; .bytes of string off 0 state 168 at "
		     "176 max 80 levels 0; .string at 56 size 16; .bytes of string off 0 "
		     "state 256 at 264 max 80 levels 0; .string at 152 size 16; .bytes of "
		     "string off 0 state 784 at 792 max 80 levels 0; to 872; ");
	expect_shape(gotypes_array(types, basic("string"), 3), &NARROW,
		     "[3]string at 8 size 48; bytes of string off 0 state 56 at 64 max 16 "
		     "levels 0; bytes of string off 16 state 80 at 88 max 16 levels 0; "
		     "bytes of string off 32 state 104 at 112 max 16 levels 0; to 128; ");
	expect_shape(gotypes_array(types, basic("uint8"), 2000), &NARROW,
		     "[2000]uint8 at 8 size 512; to 520; ");
}

static void test_pointers(void **state)
{
	const struct gotype *fields[] = {basic("int"), basic("string"), fn()};
	const struct gotype *t = record("main.T", 3, fields);

	(void)state;
	expect_shape(gotypes_pointer(types, t), &LIMITS, "*main.T at 8 size 8; to 16; ");
	expect_shape(gotypes_pointer(types, t), &FOLLOW,
		     "*main.T at 8 size 8; pointee of *main.T off 0 state 16 at 24 max 32 "
		     "levels 0; .main.T at 24 size 32; .bytes of string off 8 state 56 at "
		     "64 max 40 levels 0; .code of func() off 24 state 104 at 112 max 8 "
		     "levels 0; to 120; ");
	expect_shape(gotypes_pointer(types, gotypes_pointer(types, t)), &FOLLOW,
		     "**main.T at 8 size 8; pointee of **main.T off 0 state 16 at 24 max 8 "
		     "levels 0; .*main.T at 24 size 8; to 32; ");
	expect_shape(gotypes_slice(types, t), &FOLLOW,
		     "[]main.T at 8 size 24; bytes of []main.T off 0 state 32 at 40 max 256 "
		     "levels 0; .main.T at 40 size 32; .bytes of string off 8 state 296 at "
		     "304 max 40 levels 0; .code of func() off 24 state 344 at 352 max 8 "
		     "levels 0; .main.T at 72 size 32; .bytes of string off 8 state 360 at "
		     "368 max 40 levels 0; .code of func() off 24 state 408 at 416 max 8 "
		     "levels 0; .main.T at 264 size 32; .bytes of string off 8 state 744 at "
		     "752 max 40 levels 0; .code of func() off 24 state 792 at 800 max 8 "
		     "levels 0; to 808; ");
}

static void test_maps(void **state)
{
	(void)state;
	expect_shape(map_of("string", basic("int"), true), &LIMITS,
		     "map at 8 size 8; map of map off 0 state 16 at 24 max 48 levels 0; to "
		     "72; ");
	expect_shape(map_of("string", basic("int"), true), &FOLLOW,
		     "map at 8 size 8; map of map off 0 state 16 at 24 max 48 levels 0; "
		     ".group of map off 0 state 72 at 80 max 200 levels 0; ..string at 88 "
		     "size 16; ..bytes of string off 0 state 280 at 288 max 40 levels 0; "
		     "..int at 104 size 8; ..int at 272 size 8; to 664; ");
	expect_shape(map_of("int32", basic("string"), false), &FOLLOW,
		     "map at 8 size 8; map of map off 0 state 16 at 24 max 48 levels 0; "
		     ".group of map off 0 state 72 at 80 max 168 levels 0; ..int32 at 88 "
		     "size 4; ..string at 120 size 16; ..bytes of string off 0 state 248 at "
		     "256 max 40 levels 0; ..string at 232 size 16; ..bytes of string off 0 "
		     "state 584 at 592 max 40 levels 0; to 632; ");
}

static void test_interfaces(void **state)
{
	(void)state;
	expect_shape(basic("error"), &LIMITS,
		     "error at 8 size 16; dynamic of error off 0 state 0 at 24 max 2496 "
		     "levels 6; to 2520; ");
	expect_shape(basic("any"), &NARROW, "interface {} at 8 size 16; to 24; ");
	expect_shape(gotypes_slice(types, basic("error")), &LIMITS,
		     "[]error at 8 size 24; bytes of []error off 0 state 32 at 40 max 128 "
		     "levels 0; .error at 40 size 16; .dynamic of error off 0 state 0 at "
		     "168 max 832 levels 2; .error at 56 size 16; .dynamic of error off 0 "
		     "state 0 at 1000 max 832 levels 2; .error at 152 size 16; to 3496; ");
}

/* What is read of an interface's value: structs with an interface inside, or a pointer, or neither
 */
static void test_of_dynamic(void **state)
{
	const struct gotype *plain[] = {basic("string"), basic("int"), basic("string"),
					basic("string"), basic("string")};
	struct gotype *inner = record("url.URL", 5, plain);
	struct gotype pointer = *gotypes_pointer(types, inner);
	const struct gotype *pointing[] = {basic("string"), &pointer};
	const struct gotype *holding[] = {basic("error"), basic("string"),
					  gotypes_slice(types, basic("error"))};
	const struct {
		const struct gotype *type;
		const char *want;
	} rows[] = {
		{inner, "url.URL at 1056 size 72; bytes of string off 0 state 1152 at 1160 max "
			"80 levels 0; bytes of string off 24 state 1240 at 1248 max 80 levels "
			"0; bytes of string off 40 state 1328 at 1336 max 80 levels 0; size 72 "
			"direct 0 inner -1 by 0; 0 of 1; 24 of 1; 40 of 1; "},
		{record("main.P", 2, pointing),
		 "main.P at 1056 size 24; bytes of string off 0 state 1152 at 1160 max "
		 "80 levels 0; pointee of *url.URL off 16 state 1432 at 1472 max 96 "
		 "levels 2; .url.URL at 1472 size 72; .bytes of string off 0 state 1568 "
		 "at 1576 max 80 levels 0; .bytes of string off 24 state 1656 at 1664 "
		 "max 80 levels 0; .bytes of string off 40 state 1744 at 1752 max 80 "
		 "levels 0; size 24 direct 0 inner 16 by 2; 0 of 1; "},
		{record("main.E", 2, holding),
		 "main.E at 1056 size 32; dynamic of error off 0 state 0 at 1416 max "
		 "832 levels 2; bytes of string off 16 state 1152 at 1160 max 80 levels "
		 "0; size 32 direct 0 inner 0 by 0; 16 of 1; "},
		{record("main.L", 3, holding),
		 "main.L at 1056 size 56; dynamic of error off 0 state 0 at 1416 max "
		 "832 levels 2; bytes of string off 16 state 1152 at 1160 max 80 levels "
		 "0; bytes of []error off 32 state 1240 at 1248 max 80 levels 0; size "
		 "56 direct 0 inner 0 by 0; 16 of 1; 32 of 16; "},
		{gotypes_slice(types, basic("uint64")),
		 "[]uint64 at 1056 size 24; bytes of []uint64 off 0 state 1152 at 1160 "
		 "max 80 levels 0; size 24 direct 0 inner -1 by 0; 0 of 8; "},
	};

	(void)state;
	inner->rtype = 0x5000; /* types that programs may hold have descriptors */
	pointer.rtype = 0x6000;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trace_dyntype dyn;

		say(shape_of_dynamic(types, rows[i].type, false, 3, &LIMITS, 1000), "");
		shape_dyntype(rows[i].type, false, &LIMITS, &dyn);
		steps_are("size %u direct %u inner %d by %d", dyn.size, dyn.direct, dyn.inner,
			  dyn.inner_type == TRACE_DYN_LIST ? 1
			  : dyn.inner_type                 ? 2
							   : 0);
		for (unsigned k = 0; k < dyn.refs; k++)
			steps_are("%u of %u", dyn.ref[k].off, dyn.ref[k].elem);
		steps_expect(rows[i].want);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pointers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_maps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interfaces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_dynamic, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
