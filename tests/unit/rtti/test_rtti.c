// SPDX-License-Identifier: Apache-2.0
#include "rttifile_open.h"

static void check_basic(struct opened *o)
{
	static const struct {
		enum rttifile_type type;
		const char *name;
		enum gotype_kind kind;
		unsigned size, align;
		bool defined, direct;
	} rows[] = {
		{RTTIFILE_INT, "int", GOTYPE_INT, 8, 8, false, false},
		{RTTIFILE_STRING, "string", GOTYPE_STRING, 16, 8, false, false},
		{RTTIFILE_T, "main.T", GOTYPE_STRUCT, 32, 8, true, false},
		{RTTIFILE_POINTER, "*main.T", GOTYPE_POINTER, 8, 8, false, true},
		{RTTIFILE_SLICE, "[]main.T", GOTYPE_SLICE, 24, 8, false, false},
		{RTTIFILE_ARRAY, "[4]int", GOTYPE_ARRAY, 32, 8, false, false},
		{RTTIFILE_MAP, "http.Header", GOTYPE_MAP, 8, 8, true, true},
		{RTTIFILE_CHAN, "chan int", GOTYPE_CHAN, 8, 8, false, true},
		{RTTIFILE_FUNC, "func(int) string", GOTYPE_FUNC, 8, 8, false, true},
		{RTTIFILE_INTERFACE, "main.I", GOTYPE_INTERFACE, 16, 8, true, false},
		{RTTIFILE_EMPTY, "interface {}", GOTYPE_INTERFACE, 16, 8, false, false},
		{RTTIFILE_FLOAT, "float32", GOTYPE_FLOAT, 4, 4, false, false},
		{RTTIFILE_BOX, "struct { a [4]int }", GOTYPE_STRUCT, 32, 8, false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct gotype *type = get(o, rows[i].type);

		assert_string_equal(type->name, rows[i].name);
		assert_int_equal(type->kind, rows[i].kind);
		assert_int_equal(type->size, rows[i].size);
		assert_int_equal(type->align, rows[i].align);
		assert_int_equal(type->defined, rows[i].defined);
		assert_int_equal(rtti_is_direct(o->rtti, type->rtype), rows[i].direct);
		assert_int_equal(type->has_methods, rows[i].type == RTTIFILE_INTERFACE);
	}
}

static void check_parts(struct opened *o)
{
	const struct gotype *t = get(o, RTTIFILE_T), *map = get(o, RTTIFILE_MAP);

	assert_int_equal(t->field_count, 3);
	assert_string_equal(t->fields[1].name, "B");
	assert_ptr_equal(t->fields[1].type, get(o, RTTIFILE_STRING));
	assert_int_equal(t->fields[1].off, 8);
	assert_true(t->fields[1].embedded);
	assert_string_equal(t->fields[2].name, "next");
	assert_int_equal(t->fields[2].off, 24);
	assert_false(t->fields[2].embedded);
	assert_ptr_equal(t->fields[2].type->elem, t);
	assert_ptr_equal(map->key, get(o, RTTIFILE_STRING));
	assert_ptr_equal(map->elem, get(o, RTTIFILE_SLICE));
	assert_int_equal(map->swiss, o->r.g.release >= 24);
	assert_int_equal(get(o, RTTIFILE_ARRAY)->count, 4);
	assert_ptr_equal(get(o, RTTIFILE_ARRAY)->elem, get(o, RTTIFILE_INT));
	assert_ptr_equal(get(o, RTTIFILE_CHAN)->elem, get(o, RTTIFILE_INT));
	assert_ptr_equal(get(o, RTTIFILE_BOX)->fields[0].type, get(o, RTTIFILE_ARRAY));
}

static void test_types(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES * 2; i++) {
		struct opened o;

		rttifile_make(&o.r, releases[i / 2], i & 1 ? EM_AARCH64 : EM_X86_64);
		open_it(&o);
		check_basic(&o);
		check_parts(&o);
		free_it(&o);
	}
}

/* What versions differ in is seen in the descriptors, where the version is not known. */
static void test_unknown_version(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct opened o;

		rttifile_make(&o.r, releases[i], EM_X86_64);
		assert_true(try_open(&o, -1));
		check_basic(&o);
		check_parts(&o);
		free_it(&o);
	}
}

static bool mark(const struct gotype *type, void *ctx)
{
	struct opened *o = ctx;

	for (unsigned i = 0; i < RTTIFILE_COUNT; i++)
		if (o->r.addr[i] == type->rtype)
			o->r.addr[i] = 0;
	return true;
}

static bool end_at_once(const struct gotype *type, void *ctx)
{
	(void)type;
	++*(unsigned *)ctx;
	return false;
}

/* The last three are not referred to by what is listed. */
static void test_each(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		unsigned calls = 0;
		struct opened o;

		make_and_open(&o, releases[i]);
		rtti_each(o.rtti, end_at_once, &calls);
		assert_int_equal(calls, 1);
		assert_int_equal(rttifile_walk(o.rtti, o.tab), RTTIFILE_EMPTY);
		rtti_each(o.rtti, mark, &o);
		for (unsigned t = 0; t < RTTIFILE_EMPTY; t++)
			assert_int_equal(o.r.addr[t], 0);
		free_it(&o);
	}
}

static void test_named(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct opened o;

		make_and_open(&o, releases[i]);
		assert_ptr_equal(rtti_named(o.rtti, "main.T"), get(&o, RTTIFILE_T));
		assert_ptr_equal(rtti_named(o.rtti, "net/http.Header"), get(&o, RTTIFILE_MAP));
		assert_ptr_equal(rtti_named(o.rtti, "http.Header"), get(&o, RTTIFILE_MAP));
		assert_ptr_equal(rtti_named(o.rtti, "[4]int"), get(&o, RTTIFILE_ARRAY));
		assert_null(rtti_named(o.rtti, "Header"));
		assert_null(rtti_named(o.rtti, "main.U"));
		assert_null(rtti_named(o.rtti, ""));
		free_it(&o);
	}
}

/* two types of one name, of two packages or of one */
static void test_ambiguous(void **state)
{
	struct opened o;

	(void)state;
	rttifile_make(&o.r, 22, EM_X86_64);

	uint32_t same = rttifile_name(&o.r, 1, "http.Header") - RTTIFILE_TYPES;

	elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_INTERFACE] + 40, same);
	open_it(&o);
	assert_null(rtti_named(o.rtti, "http.Header"));
	assert_ptr_equal(rtti_named(o.rtti, "net/http.Header"), get(&o, RTTIFILE_MAP));
	assert_ptr_equal(rtti_named(o.rtti, "main.Header"), get(&o, RTTIFILE_INTERFACE));
	close_it(&o);
	/* http of a package path that is just "http" is named in full */
	elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_INTERFACE] + 80,
		    rttifile_name(&o.r, 1, "http") - RTTIFILE_TYPES);
	open_it(&o);
	assert_ptr_equal(rtti_named(o.rtti, "http.Header"), get(&o, RTTIFILE_INTERFACE));
	close_it(&o);
	elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_INTERFACE] + 80,
		    rttifile_name(&o.r, 1, "net/http") - RTTIFILE_TYPES);
	open_it(&o);
	assert_null(rtti_named(o.rtti, "net/http.Header"));
	free_it(&o);
}

static void test_func(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct gofunc fn;
		struct opened o;

		make_and_open(&o, releases[i]);
		assert_int_equal(rtti_func(o.rtti, o.r.g.starts[1], &fn), 0);
		assert_int_equal(fn.param_count, 2);
		assert_int_equal(fn.result_count, 1);
		assert_true(fn.receiver);
		assert_int_equal(fn.dictionary, -1);
		assert_int_equal(fn.source, GOFUNC_RTTI);
		assert_ptr_equal(fn.params[0].type, get(&o, RTTIFILE_POINTER));
		assert_ptr_equal(fn.params[1].type, get(&o, RTTIFILE_INT));
		assert_string_equal(fn.params[1].name, "");
		assert_ptr_equal(fn.results[0].type, get(&o, RTTIFILE_STRING));
		assert_int_equal(rtti_func(o.rtti, o.r.g.starts[1] + 1, &fn), -1);
		assert_int_equal(rtti_func(o.rtti, o.r.g.starts[0], &fn), -1);
		assert_int_equal(rtti_func(o.rtti, 0, &fn), -1);
		free_it(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),     cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_each),      cmocka_unit_test(test_named),
		cmocka_unit_test(test_ambiguous), cmocka_unit_test(test_func),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
