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

/* --- several of what the program has one of --- */

/* *main.T has two methods, which stand among the links: `words` are name, type and two times code
 */
static void put_methods(struct rttifile *r, const uint32_t words[2][4])
{
	const uint64_t at = RTTIFILE_LINKS + 0x80;

	elffile_bytes(r->g.f, at, words, 2 * sizeof(*words));
	elffile_u32(r->g.f, r->uncommon + 4, 2);
	elffile_u32(r->g.f, r->uncommon + 8, at - r->uncommon);
}

static void test_two_methods(void **state)
{
	(void)state;
	for (unsigned twice = 0; twice < 2; twice++) {
		uint32_t words[2][4];
		struct gofunc fn;
		struct opened o;

		rttifile_make(&o.r, 25, EM_X86_64);
		memcpy(words[1], elffile_at(o.r.g.f, o.r.method), sizeof(words[1]));
		memcpy(words[0], words[1], sizeof(words[0]));
		if (!twice) {
			words[0][0] = rttifile_name(&o.r, 0, "c") - RTTIFILE_TYPES;
			words[0][2] = words[0][3] = o.r.g.starts[2] - ELFFILE_TEXT;
		}
		put_methods(&o.r, words);
		open_it(&o);
		assert_int_equal(rtti_func(o.rtti, o.r.g.starts[1], &fn), 0);
		assert_int_equal(rtti_func(o.rtti, o.r.g.starts[2], &fn), twice ? -1 : 0);
		free_it(&o);
	}
}

/* the second one's type is referred to by nothing else */
static void test_two_itabs(void **state)
{
	struct opened o;

	(void)state;
	rttifile_make(&o.r, 27, EM_X86_64);
	elffile_u64(o.r.g.f, RTTIFILE_ITAB + 32, o.r.addr[RTTIFILE_INTERFACE]);
	elffile_u64(o.r.g.f, RTTIFILE_ITAB + 40, o.r.addr[RTTIFILE_FLOAT]);
	gofile_put_word(&o.r.g, 41, 64);
	open_it(&o);
	assert_int_equal(rttifile_walk(o.rtti, o.tab), RTTIFILE_EMPTY + 1);
	free_it(&o);
}

/* Go 1.16 or 1.17? By the names of those that are listed, of which some may be none. */
static void test_guessed(void **state)
{
	static const struct {
		unsigned links, empty;
		bool is_wide;
	} rows[] = {{3, 0, false}, {3, 1, false}, {3, 2, true}, {4, 2, false}, {3, 3, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct opened o;

		rttifile_make(&o.r, 17, EM_X86_64);
		uint64_t none = rttifile_name(&o.r, 1, "");

		elffile_u32(o.r.g.f, RTTIFILE_LINKS + 12, o.r.addr[RTTIFILE_CHAN] - RTTIFILE_TYPES);
		gofile_put_word(&o.r.g, 41, rows[i].links);
		for (unsigned n = 0; n < rows[i].empty; n++) {
			static const enum rttifile_type listed[] = {RTTIFILE_MAP, RTTIFILE_ARRAY,
								    RTTIFILE_POINTER};

			elffile_u32(o.r.g.f, o.r.addr[listed[n]] + 40, none - RTTIFILE_TYPES);
		}
		assert_true(try_open(&o, -1));
		assert_int_equal(rtti_names(o.rtti), rows[i].is_wide ? 0 : RTTIFILE_TYPES);
		free_it(&o);
	}
}

/* --- who wrote Error --- */

enum {
	NAME_WRAPPER = 0x30, /* offsets of names that are added to the table's */
	NAME_VALUE = 0x40,
	NAME_OTHER = 0x50,
	FILE_GENERATED = 0x10,
	PCS_FREE = 0x40
};

static void set_name(struct gofile *g, unsigned func, uint32_t name, const char *text)
{
	uint32_t base = g->layout == PCLNTAB_12 ? GOFILE_NAMES : 0;
	uint64_t at = gofile_record(g, func) + (g->layout >= PCLNTAB_118 ? 4 : 8);

	elffile_bytes(g->f, GOFILE_TAB + GOFILE_NAMES + name, text, strlen(text) + 1);
	elffile_u32(g->f, at, base + name);
}

/* Of main.b and main.c, instead of "b.go"; main.a is in "a.s". */
static void set_generated(struct gofile *g)
{
	uint32_t base = g->layout == PCLNTAB_12 ? GOFILE_FILES : 0;
	unsigned first = g->layout == PCLNTAB_12 ? 1 : 3;

	elffile_bytes(g->f, GOFILE_TAB + GOFILE_FILES + FILE_GENERATED, "<autogenerated>", 16);
	elffile_u32(g->f, GOFILE_TAB + GOFILE_UNITS + first * 4, base + FILE_GENERATED);
}

/* In main.b, what is inlined is of "a.s". */
static void set_inlined_file(struct gofile *g)
{
	static const uint8_t files[] = {4, 4, 2, 20, 1, 40, 0};
	uint32_t base = g->layout == PCLNTAB_12 ? GOFILE_PCS : 0;
	uint64_t at = gofile_record(g, 1) + (g->layout >= PCLNTAB_118 ? 4 : 8) + 4 * 4;

	elffile_bytes(g->f, GOFILE_TAB + GOFILE_PCS + PCS_FREE, files, sizeof(files));
	elffile_u32(g->f, at, base + PCS_FREE);
}

struct error_case {
	const char *what, *wrapper; /* name of main.b, which is *main.T's Error */
	const char *first, *last;   /* names of main.a and main.c; NULL: as they are */
	const char *method;
	bool generated, own_inlined; /* main.b is; the user's code is inlined in it */
	bool promoted;
};

static const struct error_case error_cases[] = {
	{"the user's value method", "main.(*T).Error", "main.T.Error", NULL, "Error", true, false,
	 false},
	{"the value method is promoted itself", "main.(*T).Error", NULL, "main.T.Error", "Error",
	 true, false, true},
	{"another's value method", "main.(*T).Error", "main.U.Error", NULL, "Error", true, false,
	 true},
	{"the user's is inlined", "main.(*T).Error", NULL, NULL, "Error", true, true, false},
	{"nothing of the user's", "main.(*T).Error", NULL, NULL, "Error", true, false, true},
	{"of the user's own", "main.(*T).Error", NULL, NULL, "Error", false, false, false},
	{"of a value", "main.T.Error", "main.V.Error", NULL, "Error", true, true, true},
	{"no bracket", "main.(*T.Error", "main.T.Error", NULL, "Error", true, true, true},
	{"another method", "main.(*T).Errors", NULL, NULL, "Errors", true, false, false},
	{"another method", "main.(*T).error", NULL, NULL, "error", true, false, false},
};

static void check_error(const struct error_case *c, int release)
{
	struct opened o;
	struct gofile *g = &o.r.g;

	rttifile_make(&o.r, release, EM_X86_64);
	set_name(g, 1, NAME_WRAPPER, c->wrapper);
	if (c->first)
		set_name(g, 0, NAME_VALUE, c->first);
	if (c->last)
		set_name(g, 2, NAME_OTHER, c->last);
	if (c->generated)
		set_generated(g);
	if (c->own_inlined)
		set_inlined_file(g);
	elffile_u32(g->f, o.r.method, rttifile_name(&o.r, 1, c->method) - RTTIFILE_TYPES);
	open_it(&o);
	for (unsigned again = 0; again < 2; again++)
		if (rtti_promotes_error(o.rtti, o.r.addr[RTTIFILE_POINTER]) != c->promoted)
			fail_msg("Go 1.%d: %s: %d", release, c->what, !c->promoted);
	assert_false(rtti_promotes_error(o.rtti, o.r.addr[RTTIFILE_INT]));
	assert_false(rtti_promotes_error(o.rtti, 1));
	free_it(&o);
}

/* Is an error's text that of a field which is embedded in it? */
static void test_promoted(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++)
		for (size_t n = 0; n < sizeof(error_cases) / sizeof(*error_cases); n++)
			check_error(&error_cases[n], releases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),     cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_each),      cmocka_unit_test(test_named),
		cmocka_unit_test(test_ambiguous), cmocka_unit_test(test_func),
		cmocka_unit_test(test_promoted),  cmocka_unit_test(test_two_methods),
		cmocka_unit_test(test_two_itabs), cmocka_unit_test(test_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
