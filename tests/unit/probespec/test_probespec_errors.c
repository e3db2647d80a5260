// SPDX-License-Identifier: Apache-2.0
/* What is said of PROBEs that are none, and columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "probespec/probespec.h"
#include "unit.h"

#define WORD "a PROBE is one word of the shell: 'main.add (x > 5) \"%d\", x'"
#define CTX                                                                                        \
	"$ctx(\"main.keyType\") is the context's value under a key of this type; or "              \
	"$ctx(\"main.keyType\", KEY), KEY being the key's number or string"
#define REGEX                                                                                      \
	"there are no regular expressions here: hasprefix(x, \"text\") and x == \"text\" compare " \
	"in "                                                                                      \
	"the kernel, -f TEXT looks for TEXT in what is printed"

/* clang-format off */
static const struct {
	const char *probe, *text, *hint; /* "": none */
} rows[] = {
	{"", "col 1: expected FUNCTION, found the end", ""},
	{"uprobe:/bin/x:main.f", "\"uprobe:/bin/x:main.f\" is a probe of bpftrace's", "gotrace '/bin/x:main.f'"},
	{" uretprobe:/bin/x:main.f { printf(\"%d %s\\n\", retval, comm) }", "\"uretprobe:/bin/x:main.f\" is a probe of bpftrace's", "gotrace 'r:/bin/x:main.f \"%d %s\", goret1, $comm'"},
	{"uprobe:/bin/x:\"main.(*T).f\" /arg0 > 3 && pid == 7/ { printf(\"%s\", str(sarg1)); }", "\"uprobe:/bin/x:\"main.(*T).f\"\" is a probe of bpftrace's", "gotrace '/bin/x:main.(*T).f (goarg1 > 3 && $pid == 7) \"%s\", (goarg2)'"},
	{"uprobe:/bin/x:f { printf(\"%d\", nsecs); }", "\"uprobe:/bin/x:f\" is a probe of bpftrace's", "gotrace '/bin/x:f'"},
	{"uprobe:/bin/x:f { printf(\"%d", "\"uprobe:/bin/x:f\" is a probe of bpftrace's", "gotrace '/bin/x:f'"},
	{"uprobe:/bin/x:f /arg0", "\"uprobe:/bin/x:f\" is a probe of bpftrace's", "gotrace '/bin/x:f'"},
	{"uretprobe:/bin/x:f{@[retval] = count();}", "\"uretprobe:/bin/x:f\" is a probe of bpftrace's", "gofunccount '/bin/x:f'"},
	{"uretprobe:/bin/x:f {@ = hist(nsecs - @s[tid]);}", "\"uretprobe:/bin/x:f\" is a probe of bpftrace's", "gofunclatency '/bin/x:f'"},
	{"t:syscalls:sys_enter_open \"%s\", args->x", "\"t:syscalls:sys_enter_open\" is a tracepoint", "for tracepoints use bcc's own tools"},
	{"tracepoint:syscalls:x { @ = 1 }", "\"tracepoint:syscalls:x\" is a tracepoint", "for tracepoints use bcc's own tools"},
	{"t:", "col 3: expected FUNCTION, found the end", ""},
	{"   ", "col 4: expected FUNCTION, found the end", ""},
	{"p:", "col 3: expected FUNCTION, found the end", ""},
	{"app:", "col 5: expected FUNCTION, found the end", ""},
	{"app: main.add", "col 5: expected FUNCTION, found a space", "write a space in BINARY:FUNCTION as \"\\ \""},
	{":", "col 2: expected FUNCTION, found the end", ""},
	{"\"%d\", x", "col 1: expected FUNCTION, found \"%d\"", WORD},
	{"app:\"%d\"", "col 5: expected FUNCTION, found \"%d\"", WORD},
	{" (x > 1)", "col 2: expected FUNCTION, found \"(\"", WORD},
	{"main.(*T)", "col 10: expected a method's name after \"(*T)\"", "for all of them: 'main.(*T).*'"},
	{"app:main.(*T) (x)", "col 14: expected a method's name after \"(*T)\"", "for all of them: 'app:main.(*T).*'"},
	{"main.(*T", "col 6: \"(\" is not closed", ""},
	{"main.(T x", "col 6: \"(\" is not closed", ""},
	{"main.add)", "col 9: \")\" without \"(\" before it", ""},
	{"main.add]", "col 9: \"]\" without \"[\" before it", ""},
	{"main.Map[int", "col 9: \"[\" is not closed", ""},
	{"main.add(x int", "col 9: \"(\" is not closed", ""},
	{"main.add(x > 1)", "col 9: expected a signature in Go's syntax, found \"(x > 1)\"", "write a space before a predicate"},
	{"main.add(goarg1 == 1) \"%d\", x", "col 9: expected a signature in Go's syntax, found \"(goarg1 == 1)\"", "write a space before a predicate"},
	{"main.add(err != nil)", "col 9: expected a signature in Go's syntax, found \"(err != nil)\"", "write a space before a predicate"},
	{"main.add(len(x) % 2)", "col 9: expected a signature in Go's syntax, found \"(len(x) % 2)\"", "write a space before a predicate"},
	{"main.add(<-c == 1, d <-chan int)", "col 9: expected a signature in Go's syntax, found \"(<-c == 1, d <-chan int)\"", "write a space before a predicate"},
	{"main.add(c <-chan int, x != 1)", "col 9: expected a signature in Go's syntax, found \"(c <-chan int, x != 1)\"", "write a space before a predicate"},
	{"main.add (x int)", "col 13: expected an operator or \")\", found \"int\"", "write the signature without a space before it"},
	{"main.add(x int) foo bar", "col 21: expected \"(PREDICATE)\", a format in double quotes or the end, found \"bar\"", "write the predicate in parentheses"},
	{"main.add(x int) foo)", "col 17: expected \"(PREDICATE)\", a format in double quotes or the end, found \"foo\"", "write the predicate in parentheses"},
	{"main.add %d", "col 10: expected \"(PREDICATE)\", a format in double quotes or the end, found \"%\"", ""},
	{"main.add, x", "col 9: expected \"(PREDICATE)\", a format in double quotes or the end, found \",\"", ""},
	{"main.add '%d', x", "col 10: expected one character between quotes, found '%d'", "write strings and formats in double quotes"},
	{"main.add x > 1", "col 10: expected \"(PREDICATE)\", a format in double quotes or the end, found \"x\"", "write the predicate in parentheses"},
	{"main.add (x", "col 12: expected an operator or \")\", found the end", ""},
	{"main.add (x > 1", "col 16: expected an operator or \")\", found the end", ""},
	{"main.add (x = 1)", "col 13: expected an operator or \")\", found \"=\"", "\"==\" compares"},
	{"main.add (x > 1 and y)", "col 17: expected an operator or \")\", found \"and\"", "\"&&\" and \"||\" join conditions"},
	{"main.add (not x)", "col 15: expected an operator or \")\", found \"x\"", "\"!\" negates"},
	{"main.add (x > 1) && (y > 2)", "col 18: expected a format in double quotes or the end, found \"&&\"", "write one pair of parentheses around the whole predicate"},
	{"main.add (x > 1) (y > 2)", "col 18: expected a format in double quotes or the end, found \"(\"", "write one pair of parentheses around the whole predicate"},
	{"main.add (x > 1) x", "col 18: expected a format in double quotes or the end, found \"x\"", ""},
	{"main.add ()", "col 11: expected an expression, found \")\"", ""},
	{"main.add (x +)", "col 14: expected an expression, found \")\"", ""},
	{"main.add (+x)", "col 11: expected an expression, found \"+\"", ""},
	{"main.add (&x)", "col 11: expected an expression, found \"&\"", ""},
	{"main.add (x ? 1 : 0)", "col 13: expected an operator or \")\", found \"?\"", ""},
	{"main.add (req->Method)", "col 14: expected an operator or \")\", found \"->\"", "\".\" follows pointers as well"},
	{"main.add (x[1:2:3])", "col 16: expected an operator or \"]\", found \":\"", ""},
	{"main.add (x[1:)", "col 15: expected an expression, found \")\"", ""},
	{"main.add (x[:2)", "col 15: expected an operator or \"]\", found \")\"", ""},
	{"main.add (x[::])", "col 14: expected an expression, found \":\"", ""},
	{"main.add (after(x) > 1)", "col 11: after(...) is known at return only", "begin the PROBE with r:"},
	{"r:main.add (after() > 1)", "col 19: expected an expression, found \")\"", ""},
	{"r:main.add \"%v\", after(goargs)", "col 24: \"goargs\" can be printed, but not used in an expression", "one of them is goarg1"},
	{"main.add (x[1)", "col 14: expected an operator or \"]\", found \")\"", ""},
	{"main.add (x.()", "col 14: expected a type and \")\"", "x.(*net/http.Request)"},
	{"main.add (x.( ))", "col 15: expected a type and \")\"", "x.(*net/http.Request)"},
	{"main.add (x.(T U) > 1)", "col 14: expected a type and \")\"", "x.(*net/http.Request)"},
	{"main.add (x.(*T", "col 14: expected a type and \")\"", "x.(*net/http.Request)"},
	{"main.add (x.)", "col 13: expected a field's name, found \")\"", ""},
	{"main.add (x.1)", "col 13: expected a field's name, found \"1\"", ""},
	{"main.add (x..y)", "col 13: expected a field's name, found \".\"", ""},
	{"main.add (x y)", "col 13: expected an operator or \")\", found \"y\"", "write the signature without a space before it"},
	{"main.add (1.5 > x)", "col 11: expected an integer, found \"1.5\"", "with a unit it may have a fraction: ns us ms s m h, KB MB GB, KiB MiB GiB"},
	{"main.add (1e5 > x)", "col 11: expected a number, found \"1e5\"", ""},
	{"main.add (x == 10UL)", "col 16: expected a number, found \"10UL\"", "numbers need no suffix"},
	{"main.add (x == 10sec)", "col 16: expected a number, found \"10sec\"", "units are ns us ms s m h, KB MB GB, KiB MiB GiB"},
	{"main.add (x == 1.5ns)", "col 16: \"1.5ns\" is not a whole number of ns or bytes, or too large", ""},
	{"main.add (x == 3000000h)", "col 16: \"3000000h\" is not a whole number of ns or bytes, or too large", ""},
	{"main.add (x == 010ms)", "col 16: expected a number, found \"010ms\"", ""},
	{"main.add (x == 0x)", "col 16: expected a number, found \"0x\"", ""},
	{"main.add (x == 08)", "col 16: expected a number, found \"08\"", ""},
	{"main.add (x == 1__0)", "col 16: expected a number, found \"1__0\"", ""},
	{"main.add (x == 1_)", "col 16: expected a number, found \"1_\"", ""},
	{"main.add (x == 18446744073709551616)", "col 16: \"18446744073709551616\" does not fit into 64 bits", ""},
	{"main.add (x == 'ab')", "col 16: expected one character between quotes, found 'ab'", "write strings and formats in double quotes"},
	{"main.add (x == '')", "col 16: expected one character between quotes, found ''", "write strings and formats in double quotes"},
	{"main.add (x == 'a)", "col 16: expected a closing ' before the end", "write strings and formats in double quotes"},
	{"main.add (x == '", "col 16: expected a closing ' before the end", "write strings and formats in double quotes"},
	{"main.add (x == '\\q')", "col 17: expected an escape such as \\n, \\x1b or \\u00e9, found \"\\q\"", ""},
	{"main.add (x == \"abc)", "col 16: expected a closing \" before the end", ""},
	{"main.add (x == `abc`)", "col 16: expected an expression, found \"`\"", "write strings in double quotes: \"...\""},
	{"main.add (x == \xe2\x80\x9c""abc\xe2\x80\x9d)", "col 16: expected an expression, found \"\xe2\x80\x9c\"", "write strings in plain double quotes: \"...\""},
	{"main.add (x == \"\\q\")", "col 17: expected an escape such as \\n, \\x1b or \\u00e9, found \"\\q\"", ""},
	{"main.add (x == \"\\xg\")", "col 17: expected an escape such as \\n, \\x1b or \\u00e9, found \"\\x\"", ""},
	{"main.add (x == \"\\ud800\")", "col 17: expected an escape such as \\n, \\x1b or \\u00e9, found \"\\u\"", ""},
	{"main.add (x == \"\\400\")", "col 17: expected an escape such as \\n, \\x1b or \\u00e9, found \"\\4\"", ""},
	{"main.add (goarg0 > 1)", "col 11: expected goarg1 to goarg999, found \"goarg0\"", ""},
	{"main.add (goarg01 > 1)", "col 11: expected goarg1 to goarg999, found \"goarg01\"", ""},
	{"main.add (arg1000 > 1)", "col 11: expected arg1 to arg999, found \"arg1000\"", ""},
	{"main.add (goret1 > 1)", "col 11: \"goret1\" is known at return only", "begin the PROBE with r:"},
	{"main.add (retval > 1)", "col 11: \"retval\" is known at return only", "begin the PROBE with r:"},
	{"main.add ($latency > 1)", "col 11: \"$latency\" is known at return only", "begin the PROBE with r:"},
	{"main.add ($blocked > 1)", "col 11: \"$blocked\" is known at return only", "begin the PROBE with r:"},
	{"p:main.add \"%d\", $running", "col 18: \"$running\" is known at return only", "begin the PROBE with r:"},
	{"r:main.add (goret0 > 1)", "col 13: expected goret1 to goret999, found \"goret0\"", ""},
	{"main.add (goargs)", "col 11: \"goargs\" can be printed, but not used in an expression", "one of them is goarg1"},
	{"main.add \"%v\", goargs[0]", "col 16: \"goargs\" can be printed, but not used in an expression", "one of them is goarg1"},
	{"main.add \"%v\", len(goargs)", "col 20: \"goargs\" can be printed, but not used in an expression", "one of them is goarg1"},
	{"main.add \"%v\", (goargs)", "col 17: \"goargs\" can be printed, but not used in an expression", "one of them is goarg1"},
	{"main.add \"%v\", x + goargs", "col 20: \"goargs\" can be printed, but not used in an expression", "one of them is goarg1"},
	{"main.add (goargs, x)", "col 11: \"goargs\" can be printed, but not used in an expression", "one of them is goarg1"},
	{"main.add \"%v\", gorets", "col 16: \"gorets\" is known at return only", "begin the PROBE with r:"},
	{"main.add (_ > 1)", "col 11: \"_\" has no value", "goarg1, goarg2 ... are the parameters, whatever their names"},
	{"main.add ($uid == 0)", "col 11: there is no \"$uid\"", "there are $goid $pid $tid $cpu $comm $latency $running $runnable $blocked $syscall $unknown $func $parent_goid $err $traceid $ctx(\"main.keyType\") $label(\"key\")"},
	{"main.add ($label == 0)", "col 18: expected \"(\", found \"==\"", "$label(\"key\") is the value of the goroutine's label"},
	{"main.add ($label(x) == \"\")", "col 18: expected a label's key in double quotes, found \"x\"", "$label(\"key\")"},
	{"main.add ($label(\"a\", x))", "col 21: expected an operator or \")\", found \",\"", ""},
	{"main.add ($tgid == 0)", "col 11: there is no \"$tgid\"", "$pid is the process, $tid the thread"},
	{"main.add ($traceid(x == 1)", "col 27: expected an operator or \")\", found the end", ""},
	{"main.add ($traceid() == 1)", "col 20: expected an expression, found \")\"", ""},
	{"main.add \"%s\", $ctx", "col 20: expected \"(\", found the end", CTX},
	{"main.add \"%s\", $ctx()", "col 21: expected an expression, found \")\"", ""},
	{"main.add \"%s\", $ctx(x)", "col 22: expected \",\" and the type of a key, found \")\"", CTX},
	{"main.add \"%s\", $ctx(x, y)", "col 24: expected the type of a key in double quotes, found \"y\"", CTX},
	{"main.add \"%s\", $ctx(\"k\", x)", "col 26: a key is a number or a string here", CTX},
	{"main.add \"%s\", $ctx(\"k\", -x)", "col 26: a key is a number or a string here", CTX},
	{"main.add \"%s\", $ctx(\"k\", 1, 2)", "col 27: expected an operator or \")\", found \",\"", ""},
	{"main.add ($retval == 0)", "col 11: there is no \"$retval\"", "retval is the first result"},
	{"main.add ($ == 0)", "col 11: expected an expression, found \"$\"", ""},
	{"main.add ($1 == 0)", "col 11: expected an expression, found \"$\"", ""},
	{"main.add (strlen(x) > 1)", "col 11: \"strlen(...)\" is not a function here", "there are len(x), cap(x), since(x), after(x), hasprefix(x, \"text\") and STRCMP(\"text\", x)"},
	{"main.add (x(1))", "col 11: \"x(...)\" is not a function here", "there are len(x), cap(x), since(x), after(x), hasprefix(x, \"text\") and STRCMP(\"text\", x)"},
	{"main.add (len() > 1)", "col 15: expected an expression, found \")\"", ""},
	{"main.add (len(x, y) > 1)", "col 16: expected an operator or \")\", found \",\"", ""},
	{"main.add (x =~ \"^a\")", "col 13: expected an operator or \")\", found \"=~\"", REGEX},
	{"main.add (x !~ \"^a\")", "col 13: expected an operator or \")\", found \"!\"", REGEX},
	{"main.add (hasprefix(x))", "col 22: expected an operator or \",\", found \")\"", ""},
	{"main.add (hasprefix(x, y))", "col 24: expected a string in double quotes, found \"y\"", "hasprefix(name, \"text\")"},
	{"main.add (hasprefix(\"a\", x))", "col 26: expected a string in double quotes, found \"x\"", "hasprefix(name, \"text\")"},
	{"main.add (hasprefix(x, \"\\q\"))", "col 25: expected an escape such as \\n, \\x1b or \\u00e9, found \"\\q\"", ""},
	{"main.add (hasprefix(x, \"a\", y))", "col 27: expected an operator or \")\", found \",\"", ""},
	{"main.add (hasprefix())", "col 21: expected an expression, found \")\"", ""},
	{"main.add (STRCMP(x, \"lit\"))", "col 18: expected a string in double quotes, found \"x\"", "STRCMP(\"text\", name)"},
	{"main.add (STRCMP(\"lit\"))", "col 23: expected \",\", found \")\"", ""},
	{"main.add (STRCMP(\"lit\", x, y))", "col 26: expected an operator or \")\", found \",\"", ""},
	{"main.add (STRCMP())", "col 18: expected a string in double quotes, found \")\"", "STRCMP(\"text\", name)"},
	{"main.add \"%d", "col 10: expected a closing \" before the end", ""},
	{"main.add \"%d\" x y", "col 17: expected an operator, \",\" or the end, found \"y\"", "write a comma before each EXPR"},
	{"main.add \"%d\" x,", "col 17: expected an expression, found the end", ""},
	{"main.add \"%d\" \"%d\"", "col 15: expected \",\" or the end, found \"%d\"", "write a comma before each EXPR"},
	{"main.add \"%d\" % x", "col 15: expected \",\" or the end, found \"%\"", "write a comma before each EXPR"},
	{"main.add \"%d\",", "col 15: expected an expression, found the end", ""},
	{"main.add \"%d\", x,", "col 18: expected an expression, found the end", ""},
	{"main.add \"%d\", x y", "col 18: expected an operator, \",\" or the end, found \"y\"", "write a comma before each EXPR"},
	{"main.add \"%d\", x)", "col 17: expected an operator, \",\" or the end, found \")\"", ""},
	{"main.add \"%d\", x \"%d\"", "col 18: expected an operator, \",\" or the end, found \"%d\"", ""},
	{"main.add \"%d\", , x", "col 16: expected an expression, found \",\"", ""},
	{"main.add \"\\z\"", "col 11: expected an escape such as \\n, \\x1b or \\u00e9, found \"\\z\"", ""},
	{"main.add \"%d\", x; y", "col 17: expected an operator, \",\" or the end, found \";\"", ""},
	{"main.add (x @ 1)", "col 13: expected an operator or \")\", found \"@\"", ""},
	{"main.add (x == aVeryLongNameThatGoesOnAndOnAndOnAndOn aVeryLongNameThatGoesOnAndOnAndOnAndOn)", "col 55: expected an operator or \")\", found \"aVeryLongNameThatGoesOnAndOnAndO...\"", ""},
};
/* clang-format on */

/* a regular expression's parentheses are its own */
static void test_regex(void **state)
{
	static const struct {
		const char *probe, *target;
		bool predicate, format;
	} rows[] = {
		{"main\\.(a|b)", "main\\.(a|b)", false, false},
		{"r:app:(main|fmt)\\.[^(]* (n > 1) \"%d\", n", "app:(main|fmt)\\.[^(]*", true,
		 true},
		{"p:main\\.\\(\\*T\\)\\.f$ \"x\"", "main\\.\\(\\*T\\)\\.f$", false, true},
		{"main.add(x int) (x)", "main.add(x", false, false},
		{":a{2,3}\\\"b\\ c (d)", ":a{2,3}\\\"b c", true, false},
	};
	struct errmsg err = {0};
	struct probespec spec;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int ret = probespec_parse(rows[i].probe, true, &spec, &err);

		if (i == 3) {
			assert_int_equal(ret, -1);
			continue;
		}
		if (ret)
			fail_msg("%s: %s", rows[i].probe, err.text);
		assert_string_equal(spec.target, rows[i].target);
		assert_null(spec.signature);
		assert_int_equal(!!spec.predicate, rows[i].predicate);
		assert_int_equal(!!spec.format, rows[i].format);
		probespec_free(&spec);
	}
	assert_int_equal(probespec_parse(" r: (x)", true, &spec, &err), -1);
}

static void test_columns(void **state)
{
	struct probespec spec;

	(void)state;
	assert_int_equal(probespec_parse(" r:f(x int) (a.b[1] + *c) \"a\\n\\u00e9b\", x  * y ,z",
					 false, &spec, NULL),
			 0);
	assert_int_equal(spec.target_col, 4);
	assert_int_equal(spec.signature_col, 5);
	assert_int_equal(spec.predicate->col, 21);
	assert_int_equal(spec.predicate->a->col, 17);    /* [ */
	assert_int_equal(spec.predicate->a->a->col, 16); /* b */
	assert_int_equal(spec.predicate->a->a->a->col, 14);
	assert_int_equal(spec.predicate->a->b->col, 18);
	assert_int_equal(spec.predicate->b->col, 23);
	static const unsigned cols[] = {28, 29, 31, 31, 37, 38};

	assert_int_equal(spec.format_len + 1, sizeof(cols) / sizeof(cols[0]));
	assert_memory_equal(spec.format_cols, cols, sizeof(cols));
	assert_int_equal(spec.arg_count, 2);
	assert_string_equal(spec.arg_texts[0], "x  * y");
	assert_string_equal(spec.arg_texts[1], "z");
	probespec_free(&spec);
	assert_int_equal(probespec_parse("f (STRCMP(\"a\", b))", false, &spec, NULL), 0);
	assert_int_equal(spec.predicate->col, 4);
	assert_int_equal(spec.predicate->a->col, 16);
	probespec_free(&spec);
}

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probespec spec;
		struct errmsg err = {0};

		if (!probespec_parse(rows[i].probe, false, &spec, &err))
			fail_msg("%s: no error", rows[i].probe);
		if (strcmp(err.text, rows[i].text) || strcmp(err.hint, rows[i].hint))
			fail_msg("%s\n%s (%s)\ninstead of\n%s (%s)", rows[i].probe, err.text,
				 err.hint, rows[i].text, rows[i].hint);
	}
}

/* `count` times `part` in the midst of a predicate; is it taken? */
static bool takes(const char *before, const char *part, size_t count, const char *after,
		  const char *error)
{
	struct probespec spec;
	struct errmsg err = {0};
	char *probe = NULL;
	size_t len;
	FILE *out = open_memstream(&probe, &len);

	fputs(before, out);
	for (size_t i = 0; i < count; i++)
		fputs(part, out);
	fputs(after, out);
	fclose(out);
	bool taken = !probespec_parse(probe, false, &spec, &err);

	if (taken)
		probespec_free(&spec);
	else if (!strstr(err.text, error))
		fail_msg("%s", err.text);
	free(probe);
	return taken;
}

static void test_bounds(void **state)
{
	(void)state;
	assert_false(takes("f (", "(", 60, "x", "\")\""));
	assert_false(takes("f (", "(", 100000, "x", "nested more than 64 deep"));
	assert_true(takes("f (", "!", 63, "x)", ""));
	assert_false(takes("f (", "!", 64, "x)", "nested more than 64 deep"));
	assert_false(takes("f (", "-", 100000, "x)", "nested more than 64 deep"));
	assert_false(takes("f (", "len(", 100000, "x)", "nested more than 64 deep"));
	assert_false(takes("f (", "a[", 100000, "x)", "nested more than 64 deep"));
	assert_true(takes("f (x", "+x", 127, ")", ""));
	assert_false(takes("f (x", "+x", 128, ")", "more than 256 parts"));
	assert_false(takes("f (x", ".x", 100000, ")", "more than 256 parts"));
	assert_false(takes("f(", "(", 100000, "x", "is not closed"));
	assert_false(takes("f[", "[", 100000, "x", "is not closed"));
	assert_true(takes("f \"\"", ",x", 10000, "", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_regex),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
