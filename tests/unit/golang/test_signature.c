// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/signature_internal.h"
#include "unit.h"

/* A program that has main.Opts (24 bytes) and io.Writer. */
static const struct gotype *find(void *ctx, const char *name)
{
	static struct gotype opts = {
		.kind = GOTYPE_STRUCT, .defined = true, .align = 8, .size = 24};
	static struct gotype writer = {.kind = GOTYPE_INTERFACE,
				       .defined = true,
				       .has_methods = true,
				       .align = 8,
				       .size = 16};
	static struct gotype list = {.kind = GOTYPE_STRUCT, .defined = true, .align = 8, .size = 8};

	(void)ctx;
	opts.name = "main.Opts";
	writer.name = "io.Writer";
	list.name = "main.List[string,int]";
	if (!strcmp(name, "main.Opts") || !strcmp(name, "github.com/a-b/c.v2.Opts"))
		return &opts;
	if (!strcmp(name, "main.List[string,int]"))
		return &list;
	return strcmp(name, "io.Writer") ? NULL : &writer;
}

static const struct signature_names NAMES = {.find = find, .release = 24};

static void check_type(const char *text, const char *name, unsigned size, unsigned align)
{
	struct gotypes *types = gotypes_new();
	struct errmsg err = {0};
	size_t pos = 0;
	const struct gotype *type = signature_type(types, &NAMES, text, &pos, &err);

	if (!type)
		fail_msg("\"%s\": at %zu: %s", text, pos, err.text);
	else if (strcmp(type->name, name) || type->size != size || type->align != align)
		fail_msg("\"%s\": %s, size %u, align %u", text, type->name, (unsigned)type->size,
			 type->align);
	gotypes_free(types);
}

static void test_types(void **state)
{
	static const struct {
		const char *text, *name;
		unsigned size, align;
	} rows[] = {
		{"int", "int", 8, 8},
		{" byte ", "uint8", 1, 1},
		{"rune", "int32", 4, 4},
		{"any", "interface {}", 16, 8},
		{"error", "error", 16, 8},
		{"unsafe.Pointer", "unsafe.Pointer", 8, 8},
		{"(int)", "int", 8, 8},
		{"**int", "**int", 8, 8},
		{"*main.T", "*main.T", 8, 8},
		{"[]*net/http.Request", "[]*net/http.Request", 24, 8},
		{"[]byte", "[]uint8", 24, 8},
		{"[3]uint16", "[3]uint16", 6, 2},
		{"[0]int", "[0]int", 0, 8},
		{"[2][3]int32", "[2][3]int32", 24, 4},
		{"[2]complex64", "[2]complex64", 16, 4},
		{"map[string]int", "map[string]int", 8, 8},
		{"map[main.Key]main.Value", "map[main.Key]main.Value", 8, 8},
		{"chan int", "chan int", 8, 8},
		{"chan<- int", "chan<- int", 8, 8},
		{"<-chan int", "<-chan int", 8, 8},
		{"chan (<-chan int)", "chan (<-chan int)", 8, 8},
		{"chan<- chan int", "chan<- chan int", 8, 8},
		{"func()", "func()", 8, 8},
		{"func(a, b int, c ...string) (n int, err error)",
		 "func(int, int, ...string) (int, error)", 8, 8},
		{"func(main.T) other.U", "func(main.T) other.U", 8, 8},
		{"interface{}", "interface {}", 16, 8},
		{"interface { }", "interface {}", 16, 8},
		{"interface{ Len() int; Less(i, j int) bool }",
		 "interface { Len() int; Less(int, int) bool }", 16, 8},
		{"interface{io.Writer\nClose() error}", "interface { io.Writer; Close() error }",
		 16, 8},
		{"struct{}", "struct {}", 0, 1},
		{"struct{a int8; b int64; c int8}", "struct { a int8; b int64; c int8 }", 24, 8},
		{"struct{a, b int16}", "struct { a int16; b int16 }", 4, 2},
		{"struct{a int32; b struct{}}", "struct { a int32; b struct {} }", 8, 4},
		{"struct{a struct{}; b int32}", "struct { a struct {}; b int32 }", 4, 4},
		{"struct{a [0]int64; b [0]byte}", "struct { a [0]int64; b [0]uint8 }", 0, 8},
		{"struct{\n\ta int `json:\"a;}\"`\n\t_ int \"x\\\"}\"\n}",
		 "struct { a int; _ int }", 16, 8},
		{"struct{main.Opts; *http.Request; io.Writer `tag`}",
		 "struct { main.Opts; *http.Request; io.Writer }", 48, 8},
		{"struct{error}", "struct { error }", 16, 8},
		{"main.Opts", "main.Opts", 24, 8},
		{"github.com/a-b/c.v2.Opts", "main.Opts", 24, 8},
		{"main.List[string, int]", "main.List[string,int]", 8, 8},
		{"*main.Pair[[]int,map[string]int]", "*main.Pair[[]int,map[string]int]", 8, 8},
		{"time.Duration", "time.Duration", 8, 8},
		{"time.Time", "time.Time", 24, 8},
		{"open.Flags", "open.Flags", 8, 8},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_type(rows[i].text, rows[i].name, rows[i].size, rows[i].align);
}

/* "a int, b int -> string" */
static char *describe(const struct gofunc *fn)
{
	char *text = mem_strdup("");

	for (size_t i = 0; i < fn->param_count + fn->result_count; i++) {
		bool is_result = i >= fn->param_count;
		const struct goparam *param =
			is_result ? &fn->results[i - fn->param_count] : &fn->params[i];
		const char *lead = i == fn->param_count ? " -> " : i ? ", " : "";
		char *longer = mem_printf("%s%s%s%s%s", text, lead, param->name,
					  *param->name ? " " : "", param->type->name);

		free(text);
		text = longer;
	}
	return text;
}

static void test_signatures(void **state)
{
	static const char *const rows[][2] = {
		{"()", ""},
		{" ( ) ", ""},
		{"(int)", "int"},
		{"(x int)", "x int"},
		{"(x int,)", "x int"},
		{"(a, b int, c string)", "a int, b int, c string"},
		{"(a int, b, c, d string)", "a int, b string, c string, d string"},
		{"(int, string)", "int, string"},
		{"(int, *int, []int)", "int, *int, []int"},
		{"(*main.T, ...int)", "*main.T, []int"},
		{"(a ...interface{})", "a []interface {}"},
		{"(w io.Writer, a ...any) (n int, err error)",
		 "w io.Writer, a []interface {} -> n int, err error"},
		{"(x int) error", "x int -> error"},
		{"(x int) (error)", "x int -> error"},
		{"() (int, error)", " -> int, error"},
		{"() *main.T", " -> *main.T"},
		{"() <-chan int", " -> <-chan int"},
		{"(f func(int) error, c <-chan int)", "f func(int) error, c <-chan int"},
		{"(func(int) error, chan int)", "func(int) error, chan int"},
		{"(a [3]int, b []int, c map[string]int)", "a [3]int, b []int, c map[string]int"},
		{"(_ int, _ string)", "_ int, _ string"},
		{"(s struct{a int; b string}) bool", "s struct { a int; b string } -> bool"},
		{"(größe int)", "größe int"},
		{"(d time.Duration, t time.Time)", "d time.Duration, t time.Time"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gotypes *types = gotypes_new();
		struct errmsg err = {0};
		struct gofunc fn;
		size_t pos = 0;

		if (signature_parse(types, &NAMES, rows[i][0], &fn, &pos, &err))
			fail_msg("\"%s\": at %zu: %s", rows[i][0], pos, err.text);
		char *said = describe(&fn);

		assert_string_equal(said, rows[i][1]);
		assert_int_equal(fn.dictionary, -1);
		assert_int_equal(fn.source, GOFUNC_SIGNATURE);
		free(said);
		gotypes_free(types);
	}
}

static const struct {
	const char *text;
	size_t pos;
	const char *message;
} ERRORS[] = {
	{"", 0, "\"(\" expected"},
	{"x", 0, "\"(\" expected, not \"x\""},
	{"(", 1, "\")\" expected"},
	{"(x int", 6, "\",\" or \")\" expected"},
	{"(x int y int)", 7, "\",\" or \")\" expected, not \"y\""},
	{"(x int) int int", 12, "the signature's end expected, not \"int\""},
	{"(x int) 5", 8, "the signature's end expected, not \"5\""},
	{"(,)", 1, "\")\" expected, not \",\""},
	{"(a, b int, c)", 11, "\"c\" has no type"},
	{"(a int, []int)", 8, "a parameter without name among named ones"},
	{"(a, b ...int)", 1, "\"...\" is for the last parameter alone"},
	{"(a ...int, b int)", 6, "\"...\" is for the last parameter alone"},
	{"() (a ...int)", 9, "\"...\" is for parameters, not for results"},
	{"(a int, a string)", 8, "a second parameter is called \"a\""},
	{"(a int) (b, a int)", 12, "a second parameter is called \"a\""},
	{"(r strings.Reader)", 3, "nothing is known of the type \"strings.Reader\""},
	{"(x int, Opts)", 8, "\"Opts\" has no type"},
	{"(Opts)", 1, "nothing is known of the type \"Opts\""},
	{"(x [3]pkg.T)", 6, "nothing is known of the type \"pkg.T\""},
	{"(x struct{a int; b pkg.T})", 19, "nothing is known of the type \"pkg.T\""},
	{"(x struct{pkg.T})", 10, "nothing is known of the type \"pkg.T\""},
	{"() pkg.T", 3, "nothing is known of the type \"pkg.T\""},
	{"(x [n]int)", 4, "an array's length or \"]\" expected, not \"n\""},
	{"(x [...]int)", 4, "an array's length or \"]\" expected, not \"...\""},
	{"(x [3x]int)", 4, "\"3x\" is not the length of an array"},
	{"(x [99999999999999]int)", 4, "an array of this length is too large"},
	{"(x [99999999999999999999]int)", 4,
	 "\"99999999999999999999\" is not the length of an array"},
	{"(x map[string)", 13, "\"]\" expected, not \")\""},
	{"(x map string)", 7, "\"[\" expected, not \"string\""},
	{"(x <-int)", 5, "\"chan\" expected, not \"int\""},
	{"(x *)", 4, "a type expected, not \")\""},
	{"(x struct{a})", 10, "nothing is known of the type \"a\""},
	{"(x struct{a int b int})", 16, "\";\" or \"}\" expected, not \"b\""},
	{"(x struct{a, 5 int})", 13, "a field's name expected, not \"5\""},
	{"(x struct{a [9999999999999]int; b [9999999999999]int})", 9, "the struct is too large"},
	{"(x interface{M() 5})", 17, "\";\" or \"}\" expected, not \"5\""},
	{"(x interface{int})", 13, "\"int\" is not an interface"},
	{"(x interface{~int})", 13, "a method expected, not \"~\""},
	{"(x int) (", 9, "\")\" expected"},
	{"(x $)", 3, "a type expected, not \"$\""},
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ERRORS) / sizeof(ERRORS[0]); i++) {
		struct gotypes *types = gotypes_new();
		struct errmsg err = {0};
		struct gofunc fn;
		size_t pos = 12345;

		if (!signature_parse(types, &NAMES, ERRORS[i].text, &fn, &pos, &err))
			fail_msg("\"%s\": no error", ERRORS[i].text);
		if (pos != ERRORS[i].pos || strcmp(err.text, ERRORS[i].message))
			fail_msg("\"%s\": at %zu: %s", ERRORS[i].text, pos, err.text);
		gotypes_free(types);
	}
}

static void test_remedy(void **state)
{
	struct gotypes *types = gotypes_new();
	struct errmsg err = {0};

	(void)state;
	assert_null(signature_type(types, NULL, "pkg.T", NULL, &err));
	assert_non_null(strstr(err.hint, "pointer"));
	struct gofunc fn;

	assert_int_equal(signature_parse(types, &NAMES, "(int a, int b)", &fn, NULL, &err), -1);
	assert_string_equal(err.hint, "Go has a parameter's name first: (a int)");
	gotypes_free(types);
}

static void test_what_is_known_of_types(void **state)
{
	struct gotypes *types = gotypes_new();
	const struct gotype *type;

	(void)state;
	type = signature_type(types, &NAMES, "map[string]bool", NULL, NULL);
	assert_true(type->swiss);
	assert_string_equal(type->key->name, "string");
	assert_string_equal(type->elem->name, "bool");
	assert_false(signature_type(types, NULL, "map[string]bool", NULL, NULL)->swiss);
	type = signature_type(types, &NAMES, "interface{io.Writer}", NULL, NULL);
	assert_true(type->has_methods);
	assert_true(signature_type(types, NULL, "interface{M()}", NULL, NULL)->has_methods);
	assert_false(signature_type(types, NULL, "interface{}", NULL, NULL)->has_methods);
	assert_ptr_equal(signature_type(types, NULL, "interface{}", NULL, NULL),
			 gotypes_basic(types, "any"));
	type = signature_type(types, NULL, "time.Time", NULL, NULL);
	assert_int_equal(type->field_count, 3);
	assert_string_equal(type->fields[2].type->name, "*time.Location");
	assert_int_equal(type->fields[2].off, 16);
	type = signature_type(types, NULL, "struct{a int8; *net/http.Request}", NULL, NULL);
	assert_int_equal(type->fields[1].off, 8);
	assert_string_equal(type->fields[1].name, "Request");
	assert_true(type->fields[1].embedded);
	gotypes_free(types);
}

static void test_nesting_is_bounded(void **state)
{
	static const char *const units[] = {"*",         "[]",           "(",    "func(",
					    "struct{a ", "interface{M(", "map[", "chan ",
					    "<-chan ",   "func() "};
	struct gotypes *types = gotypes_new();

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		char *text = mem_zalloc(10000, strlen(units[i]) + 1);
		struct errmsg err = {0};

		for (unsigned n = 0; n < 10000; n++)
			memcpy(text + n * strlen(units[i]), units[i], strlen(units[i]));
		assert_null(signature_type(types, NULL, text, NULL, &err));
		assert_string_equal(err.text, "types are nested too deep");
		free(text);
	}
	gotypes_free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_remedy),
		cmocka_unit_test(test_what_is_known_of_types),
		cmocka_unit_test(test_nesting_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
