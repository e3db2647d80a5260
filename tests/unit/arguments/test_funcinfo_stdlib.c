// SPDX-License-Identifier: Apache-2.0
/* What is known of functions of Go's standard library, and the names that it gives to parameters
 * that run-time type information has without. */
#include <string.h>

#include "arguments/funcinfo_stdlib_internal.h"
#include "golang/gotype.h"
#include "golang/signature.h"
#include "program/functab.h"
#include "steps.h"
#include "unit.h"

static const struct gotype *find_none(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

static const struct signature_names names = {find_none, NULL, 27};

static void say(const struct gofunc *sig)
{
	steps_are("%s%d, source %d", sig->receiver ? "method " : "", sig->dictionary, sig->source);
	for (size_t i = 0; i < sig->param_count; i++)
		steps_are("%s %s", sig->params[i].name, sig->params[i].type->name);
	for (size_t i = 0; i < sig->result_count; i++)
		steps_are("-> %s %s", sig->results[i].name, sig->results[i].type->name);
}

static void test_known(void **state)
{
	static const struct functab_func fns[] = {
		{.name = "io.CopyN"},
		{.name = "net/http.(*Client).Head"},
		{.name = "io.CopyN", .is_asm = true},
		{.name = "io.CopyN", .is_wrapper = true},
		{.name = "io.CopyNothing"},
		{.name = "os.FileMode"}, /* a type */
	};
	struct gotypes *types = gotypes_new();
	struct gofunc sig;

	(void)state;
	for (size_t i = 0; i < sizeof(fns) / sizeof(*fns); i++) {
		sig = (struct gofunc){0};
		if (funcinfo_stdlib(types, &names, &fns[i], &sig))
			say(&sig);
		else
			steps_are("-");
	}
	gotypes_free(types);
	steps_expect("-1, source 5; dst io.Writer; src io.Reader; n int64; -> written "
		     "int64; -> err error; method -1, source 5; c *net/http.Client; url "
		     "string; -> resp *net/http.Response; -> err error; -; -; -; -; ");
}

/* They are taken where all is alike. */
static void say_names(const char *text, const char *name)
{
	struct gotypes *types = gotypes_new();
	const struct functab_func fn = {.name = name};
	struct gofunc sig;

	assert_int_equal(signature_parse(types, &names, text, &sig, NULL, NULL), 0);
	for (size_t i = 0; i < sig.param_count; i++)
		if (!strcmp(sig.params[i].name, "_"))
			sig.params[i].name = "";
	funcinfo_stdlib_names(types, &names, &fn, &sig);
	steps_are("%s", text);
	for (size_t i = 0; i < sig.param_count; i++)
		steps_are("%s", sig.params[i].name);
	for (size_t i = 0; i < sig.result_count; i++)
		steps_are("-> %s", sig.results[i].name);
	gotypes_free(types);
}

static void test_names(void **state)
{
	static const char index[] = "strings.Replace";

	(void)state;
	say_names("(string, string, string, int) string", index);
	say_names("(s string, _ string, _ string, mine int) (theirs string)", index);
	say_names("(string, string, string, int32) string", index);
	say_names("(string, string, string, uint) string", index);
	say_names("(string, string, string, int) []int", index);
	say_names("(string, string, string) string", index);
	say_names("(string, string, string, int)", index);
	say_names("(string, string, string, int) string", "strings.Unknown");
	say_names("(string) (string, error)", "os.Readlink");
	steps_expect("(string, string, string, int) string; s; old; new; n; -> ; (s string, "
		     "_ string, _ string, mine int) (theirs string); s; old; new; mine; -> "
		     "theirs; (string, string, string, int32) string; ; ; ; ; -> ; (string, "
		     "string, string, uint) string; ; ; ; ; -> ; (string, string, string, "
		     "int) []int; ; ; ; ; -> ; (string, string, string) string; ; ; ; -> ; "
		     "(string, string, string, int); ; ; ; ; (string, string, string, int) "
		     "string; ; ; ; ; -> ; (string) (string, error); name; -> ; -> ; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
