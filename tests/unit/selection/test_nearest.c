// SPDX-License-Identifier: Apache-2.0
#include "selection_open.h"

#include "base/errmsg.h"
#include "selection/nearest_internal.h"

enum { NAME_OFF = 4 }; /* of the name in a function's record, from Go 1.18 on */

/* main.a, main.b, main.c are functions of the program, main.inl1 and main.inl2 inlined in it. */
static void test_names(void **state)
{
	static const struct {
		const char *typed, *hint;
	} cases[] = {
		{"main.b", "near names: main.b, main.a, main.c"},
		{"main.inl2", "near names: main.inl2, main.inl1"},
		{"main.inl", "near names: main.inl1, main.inl2"},
		{"nain.c", "near names: main.c"},
		/* the path is another one */
		{"example.com/some/where/main.c", "near names: main.c, main.a, main.b"},
		{"example.com/some/where/other.Thing",
		 "gofuncs lists the names, as in gofuncs 'BINARY:*/other.Thing'; a function that "
		 "was inlined may leave no code: go build -gcflags=-l keeps it"},
		{"fmt.Fprintln*", "gofuncs lists the names, as in gofuncs 'BINARY:main.*'"},
	};
	const struct selection_want want = {0};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct errmsg err = {0};

		nearest_hint(s.o.tab, NULL, cases[i].typed, &err);
		assert_string_equal(err.hint, cases[i].hint);
	}
	subject_drop(&s);
}

/* A line of a file is no function, but there is a way to trace it. */
static void test_line(void **state)
{
	const struct selection_want want = {0};
	struct errmsg err = {0};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	nearest_hint_of(&s.prog, "main.go:47", &err);
	assert_string_equal(err.hint, "gotrace '@main.go:47' traces a line of a file");
	nearest_hint_of(&s.prog, "main.go:4x", &err);
	assert_null(strstr(err.hint, "gotrace"));
	nearest_hint_of(&s.prog, "main.go:", &err);
	assert_null(strstr(err.hint, "gotrace"));
	nearest_hint_of(&s.prog, "main.b", &err);
	assert_string_equal(err.hint, "near names: main.b, main.a, main.c");
	subject_drop(&s);
}

/* Names that end in the word typed: those of the program itself first, the runtime's last. */
static void test_last_part(void **state)
{
	static const struct {
		const char *typed, *module, *hint;
	} cases[] = {
		{"Put", "b/m", "'*.Put' matches b/m.Put, c.d/.Put, os/v.Put"},
		{"Put", NULL, "'*.Put' matches c.d/.Put, os/v.Put, b/m.Put"},
		{"Put", "b", "'*.Put' matches b/m.Put, c.d/.Put, os/v.Put"},
		{"Put", "b/", "'*.Put' matches c.d/.Put, os/v.Put, b/m.Put"},
		{"m.Put", "b/m", "near names: b/m.Put"},
	};
	static const char names[] = "os/v.Put\0b/m.Put\0c.d/.Put";
	static const uint32_t places[] = {0x40, 0x49, 0x51};
	const struct selection_want want = {0};
	struct subject s;

	(void)state;
	subject_write(&s);
	elffile_bytes(s.o.g.f, GOFILE_TAB + GOFILE_NAMES + places[0], names, sizeof(names));
	for (unsigned i = 0; i < 3; i++)
		elffile_u32(s.o.g.f, gofile_record(&s.o.g, i) + NAME_OFF, places[i]);
	subject_open(&s, &want);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct errmsg err = {0};

		nearest_hint(s.o.tab, cases[i].module, cases[i].typed, &err);
		assert_string_equal(err.hint, cases[i].hint);
	}
	subject_drop(&s);
}

/* Functions without names, of a function that is inlined or not */
static void test_closures(void **state)
{
	static const struct {
		const char *typed, *hint;
	} cases[] = {
		{"m.f.func1", "'*.f.func*' matches m.g.f.func2, m.h.f.func1"},
		{"b/m.f.func9", "'*.f.func*' matches m.g.f.func2, m.h.f.func1"},
		{"m.k.l.func1", "near names: m.l.func3, m.h.f.func1"},
		{"m.abcdefghijklmnopqrstuvw.f.funcs",
		 "gofuncs lists the names, as in gofuncs 'BINARY:main.*'; a function that "
		 "was inlined may leave no code: go build -gcflags=-l keeps it"},
	};
	static const char names[] = "m.g.f.func2\0m.h.f.func1\0m.l.func3";
	static const uint32_t places[] = {0x40, 0x4c, 0x58};
	const struct selection_want want = {0};
	struct subject s;

	(void)state;
	subject_write(&s);
	elffile_bytes(s.o.g.f, GOFILE_TAB + GOFILE_NAMES + places[0], names, sizeof(names));
	for (unsigned i = 0; i < 3; i++)
		elffile_u32(s.o.g.f, gofile_record(&s.o.g, i) + NAME_OFF, places[i]);
	subject_open(&s, &want);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct errmsg err = {0};

		nearest_hint(s.o.tab, NULL, cases[i].typed, &err);
		assert_string_equal(err.hint, cases[i].hint);
	}
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_last_part),
		cmocka_unit_test(test_closures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
