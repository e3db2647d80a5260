// SPDX-License-Identifier: Apache-2.0
/* What is said of PROBEs that do not fit their function; and that nothing of what users or programs
 * name gets into the generated text. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/arch.h"
#include "genprobe.h"
#include "unit.h"

static const struct genprobe_how registers = {.arch = ARCH_AMD64, .convention = ABI_REGISTERS};
static const struct genprobe_how unknown_copy = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .is_copy = true, .unknown = true};
static const struct genprobe_how without_first = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .is_copy = true, .absent = 1};
static const struct genprobe_how unknown = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .unknown = true};

/* clang-format off */
static const struct {
	const char *probe, *text, *hint; /* "": none */
} rows[] = {
	{"main.f(x int, y string) \"%d\", z", "col 31: no parameter or result is called \"z\"", "it has x int, y string"},
	{"r:main.f(x int) \"%d\", latency", "col 23: no parameter or result is called \"latency\"", "write $latency"},
	{"main.f(x int) (elapsed > 1ms)", "col 16: no parameter or result is called \"elapsed\"", "write $latency, and begin the PROBE with r:"},
	{"main.f(x int) \"%d\", goid", "col 21: no parameter or result is called \"goid\"", "write $goid"},
	{"main.f(goid int) \"%d\", tid", "col 24: no parameter or result is called \"tid\"", "write $tid"},
	{"r:main.f(x int) error (err != nil)", "col 24: no parameter or result is called \"err\"", "write $err, which is the last result"},
	{"main.f(x int) error (err != nil)", "col 22: no parameter or result is called \"err\"", "write $err, which is the last result, and begin the PROBE with r:"},
	{"r:main.f(x int) int (err != nil)", "col 22: no parameter or result is called \"err\"", "it has x int, goret1 int"},
	{"main.f() \"%s\", $label(\"k\")", "col 16: where goroutines have labels is not known in this program", ""},
	{"main.f(x int) \"%d\", since(x)", "col 27: int is not a time", "since(x) takes a time.Time"},
	{"main.f(x main.Deep) \"%d\", since(x)", "col 33: main.Deep is not a time", "since(x) takes a time.Time"},
	{"main.f(x int) (since(x + 1) > 0)", "col 24: this is not a time", ""},
	{"main.f(x *main.T) \"%d\", since(x)", "col 31: *main.T is not a time", "since(x) takes a time.Time"},
	{"main.f(x **time.Time) \"%d\", since(x)", "col 35: **time.Time is not a time", "since(x) takes a time.Time"},
	{"main.f() \"%d\", z", "col 16: no parameter or result is called \"z\"", ""},
	{"main.f(x int) \"%d\", goarg2", "col 21: the function has 1 parameter", ""},
	{"r:main.f(x int) (a, b int) \"%d\", goret3", "col 34: the function has 2 results", ""},
	{"main.f(x int) (goarg3 > 1)", "col 16: the function has 1 parameter", ""},
	{"main.f(x int) (n int) \"%d\", n", "col 29: results are known at return only: use r:", ""},
	{"main.f(x int) (n int) (n > 1)", "col 24: results are known at return only: use r:", ""},
	{"r:main.f(a []int) (i int) \"%d\", a[i]", "col 33: arguments are read at entry, when results are not known yet", "after(EXPR) reads them at return"},
	{"r:main.f(s string) (i int) (s[i] > 1)", "col 29: arguments are read at entry, when results are not known yet", "after(EXPR) reads them at return"},
	{"r:main.f(s string) (len(s) > 1 && s[$latency] > 1)", "col 35: arguments are read at entry, when results are not known yet", "after(EXPR) reads them at return"},
	{"r:main.f(x int) (n int) \"%v\", x[:n]", "col 32: int cannot be sliced", ""},
	{"r:main.f(x []int) (n int) \"%v\", x[n:]", "col 33: arguments are read at entry, when results are not known yet", "after(EXPR) reads them at return"},
	{"r:main.f(a [4]int8, i int) \"%d\", after(a[i])", "col 42: only a constant can be the index of a parameter that is an array itself, in after()", ""},
	{"r:main.f(a [4]int8) \"%d\", after(a[4])", "col 35: [4]int8 has no element 4", ""},
	{"r:main.f(a [4]int8) \"%v\", after(a[1:])", "col 34: [4]int8 cannot be sliced", ""},
	{"r:main.f(m map[string]int) \"%v\", after(m[1:])", "col 41: map[string]int cannot be sliced", ""},
	{"r:main.f(p *int) \"%s\", after(*p)", "col 19: %s does not print an integer (after(*p) is an int)", "use %d or %v"},
	{"main.f(x int) \"%v\", x.(*main.T)", "col 23: int is not an interface", ""},
	{"main.f(x error) \"%v\", x.(*main.U)", "col 26: nothing holds a *main.U", "main.T is held"},
	{"main.f(x error) (x.(main.T) == 1)", "col 20: main.T is not a number", ""},
	{"main.f(x error) (x.(main.T) > nil)", "col 29: nil can only be compared with == and !=", ""},
	{"main.f(x error) \"%d\", x.(*main.T).zz", "col 35: main.T has no field \"zz\"", "it has a, b, name, next, one"},
	{"main.f(x int) \"%d\", x.a", "col 23: int has no fields", ""},
	{"main.f(p *main.T) \"%d\", p.zz", "col 27: main.T has no field \"zz\"", "it has a, b, name, next, one"},
	{"main.f(p **main.T) \"%d\", p.a", "col 28: *main.T has no fields", ""},
	{"main.f(b main.Box) \"%d\", b.next.T", "col 33: main.T has no field \"T\"", "it has a, b, name, next, one"},
	{"main.f(a [4]int8) \"%d\", a[4]", "col 27: [4]int8 has no element 4", ""},
	{"main.f(a [0]int, i int) \"%d\", a[i]", "col 33: [0]int has no elements", ""},
	{"main.f(x int) \"%d\", x[0]", "col 22: int cannot be indexed", ""},
	{"main.f(m map[string]int) (m[1] > 0)", "col 28: map[string]int cannot be indexed", ""},
	{"main.f(x int) \"%d\", *x", "col 21: int is not a pointer", ""},
	{"main.f(p unsafe.Pointer) (*p == 1)", "col 27: what unsafe.Pointer points to is not known", ""},
	{"main.f(f float64) (f > 1)", "col 20: float64 is not a number", ""},
	{"main.f(b main.Box) (b.f == 1)", "col 23: float64 is not a number", ""},
	{"main.f(t main.T) (t > 1)", "col 19: main.T is not a number", ""},
	{"main.f(s string) (s == 1)", "col 19: string is not a number", ""},
	{"main.f(s string) (s)", "col 19: string is not a number", ""},
	{"main.f(e error) (!e)", "col 19: error is not a number", ""},
	{"main.f(s string) (s > \"a\")", "col 21: strings can only be compared with == and !=", ""},
	{"main.f(x int) (x == \"s\")", "col 21: int is not a string", ""},
	{"main.f(e error) (e == \"x\")", "col 23: error is not a string", ""},
	{"main.f(s string, t string) (s == t)", "col 29: string is not a number", ""},
	{"main.f(x int) (x + 1 == \"s\")", "col 18: this is not a string", ""},
	{"main.f(s string) (STRCMP(\"x\", 5))", "col 31: STRCMP takes a string", ""},
	{"main.f(s string) (hasprefix(5, \"x\"))", "col 29: hasprefix takes a string", ""},
	{"main.f(x int) (hasprefix(x, \"x\"))", "col 16: int is not a string", ""},
	{"main.f(x int) (STRCMP(\"x\", x))", "col 16: int is not a string", ""},
	{"main.f(x int) ($comm == \"x\")", "col 16: $comm is not compared in the kernel: use -n or -f", ""},
	{"main.f(x int) ($func > 1)", "col 16: $func is text, not a number", ""},
	{"main.f(x int) (x == nil)", "col 16: int cannot be nil", ""},
	{"main.f(x int) (5 == nil)", "col 16: this cannot be nil", ""},
	{"main.f(p *int) (p > nil)", "col 19: nil can only be compared with == and !=", ""},
	{"main.f(x int) (nil)", "col 16: nil can only be compared", ""},
	{"main.f(x int) (nil == nil)", "col 23: this cannot be nil", ""},
	{"main.f(x int) (\"a\")", "col 16: a string is not a number", ""},
	{"main.f(x int) (len(x) > 0)", "col 16: int has no length", ""},
	{"main.f(s string) (cap(s) > 0)", "col 19: string has no capacity", ""},
	{"main.f(a [2]int) \"%d\", 5[0]", "col 24: this has no fields and no elements", ""},
	{"main.f(x int) \"%s\", x", "col 16: %s does not print an integer (x is an int)", "use %d or %v"},
	{"main.f(x int) \"%d\"", "col 18: the format takes 1 arguments, there are 0", ""},
	{"main.f(x int) \"\", x", "col 16: the format takes 0 arguments, there are 1", ""},
};
/* clang-format on */

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct genprobe gp;
		struct errmsg err = {0};

		if (!genprobe_make(&gp, rows[i].probe, &registers, &err))
			fail_msg("%s: no error", rows[i].probe);
		assert_string_equal(err.text, rows[i].text);
		assert_string_equal(err.hint, rows[i].hint);
		genprobe_free(&gp);
	}
}

static void check_error(const char *probe, const struct genprobe_how *how, const char *text,
			const char *hint)
{
	struct genprobe gp;
	struct errmsg err = {0};

	assert_int_equal(genprobe_make(&gp, probe, how, &err), -1);
	assert_string_equal(err.text, text);
	assert_string_equal(err.hint, hint);
	genprobe_free(&gp);
}

/* Of an inlined copy some arguments are optimised out: as values they are said to be, computed with
 * they are not. */
static void test_absent(void **state)
{
	static const char *const values[] = {"main.f(x int, y int)",
					     "main.f(x int, y int) \"%d %v\", x, goarg2",
					     "main.f(t *main.T, y int) \"%d %d\", t.a, *t.p",
					     "main.f(x [1]int, y int) \"%d %d\", x[0], x[y]"};
	struct genprobe gp;
	struct errmsg err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		assert_int_equal(genprobe_make(&gp, values[i], &without_first, &err), 0);
		const struct tracegen_arg *arg = &gp.plan.args[0];

		assert_int_equal((arg->kind == TRACEGEN_LIST ? &arg->items[0] : arg)->kind,
				 TRACEGEN_ABSENT);
		genprobe_free(&gp);
	}
	check_error("main.f(x int, y int) (y > 0 && x > 0)", &without_first,
		    "col 32: it is optimised out in this inlined copy", "");
	check_error("main.f(x int, y int) \"%d\", y + x", &without_first,
		    "col 32: it is optimised out in this inlined copy", "");
	check_error("main.f(x int, y int) \"%s\", x", &without_first,
		    "col 23: %s does not print an integer (x is an int)", "use %d or %v");
}

/* of functions without debug information only words are known, of such copies nothing */
static void test_unknown(void **state)
{
	struct genprobe gp;
	struct errmsg err = {0};

	(void)state;
	check_error("main.f(x int) \"%d\", goarg2", &unknown_copy,
		    "col 21: the arguments of this inlined copy are not known", "");
	assert_int_equal(genprobe_make(&gp, "main.f(x int)", &unknown_copy, &err), 0);
	assert_string_equal(gp.plan.fill, "");
	genprobe_free(&gp);
	check_error("main.f(goarg1 int) \"%d\", name", &unknown,
		    "col 26: no parameter or result is called \"name\"",
		    "the program has no debug information: give a SIGNATURE, or use goarg1, "
		    "goarg2, ...");
	check_error("r:main.f(goarg1 int) \"%d\", retval", &unknown,
		    "col 28: the function's results are not known", "give a SIGNATURE");
}

static void test_long_literals(void **state)
{
	char text[140];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[129] = 0;
	char *probe = mem_printf("main.f(s string) (s == \"%s\")", text);

	check_error(probe, &registers, "col 24: strings of more than 128 bytes are not compared",
		    "");
	free(probe);
	text[128] = 0;
	probe = mem_printf("main.f(s string) (s == \"%s\")", text);
	struct genprobe gp;
	struct errmsg err = {0};

	assert_int_equal(genprobe_make(&gp, probe, &registers, &err), 0);
	assert_non_null(strstr(gp.plan.wanted, "fetch(text, 32, v0 + 96)"));
	genprobe_free(&gp);
	free(probe);
}

/* clang-format off */
/* "#if" and quotes, names that are C's or ours: in all places where a name or text may stand */
static const char *const hostile[] = {
	"main.f(zqname int) (zqname > 1) \"zqtext %d\", zqname",
	"main.f(zqname string) (zqname == \"zq*/\\\"zq\\nzq\") \"zq\\\"zq\\n%s\", zqname",
	"main.f(zqname string) (STRCMP(\"zq\\x00zq\", zqname)) \"%s\", \"zq*/ zq\"",
	"main.zq*(zqname *zqpkg.zqType) (zqname != nil) \"%p\", zqname",
	"r:main.f(zqname struct{zqfield int; zqother string}) (zqresult error) (zqname.zqfield > 1 && zqresult != nil) \"zq%s\", zqname.zqother",
	"r:main.f(zqm map[string]int, zqf func(zqx int)) \"%+v %v zq\", zqm, zqf",
	"main.\"zq(zqname int)",
	"main.f(\u4e16zq int) (\u4e16zq > 1) \"\u4e16zq %d\", \u4e16zq",
};
/* clang-format on */

static void check_text(const char *text)
{
	assert_null(strstr(text, "zq"));
	assert_null(strchr(text, '"'));
	assert_null(strchr(text, '#'));
	assert_null(strstr(text, "/*"));
	for (; *text; text++)
		assert_true((*text >= ' ' && *text < 0x7f) || *text == '\n' || *text == '\t');
}

static void test_hostile_names(void **state)
{
	size_t made = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct genprobe gp;
		struct errmsg err = {0};

		if (!genprobe_make(&gp, hostile[i], &registers, &err)) {
			made++;
			check_text(gp.plan.save);
			check_text(gp.plan.wanted);
			check_text(gp.plan.fill);
		}
		genprobe_free(&gp);
	}
	assert_true(made >= 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),        cmocka_unit_test(test_absent),
		cmocka_unit_test(test_unknown),       cmocka_unit_test(test_long_literals),
		cmocka_unit_test(test_hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
