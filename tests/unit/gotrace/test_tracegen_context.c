// SPDX-License-Identifier: Apache-2.0
/* What is generated for $traceid and $ctx(), word for word, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "genprobe.h"
#include "gotrace/tracegen_context_internal.h"
#include "gotrace/tracegen_uses_internal.h"
#include "unit.h"

static struct gotypes *types;
static struct program_contexts known;
static bool none;

static const struct program_contexts *find(void *ctx)
{
	(void)ctx;
	return none ? NULL : &known;
}

static const struct tracegen_contexts contexts = {find, NULL};
static const struct genprobe_how registers = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .contexts = &contexts};
static const struct genprobe_how unknown = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .contexts = &contexts, .unknown = true};

static int setup(void **state)
{
	struct gotype *id, *text;

	(void)state;
	types = gotypes_new();
	id = gotypes_add(types, GOTYPE_ARRAY, "trace.TraceID");
	id->elem = gotypes_basic(types, "uint8");
	id->count = id->size = 16;
	id->align = 1;
	text = gotypes_add(types, GOTYPE_STRING, "string");
	text->rtype = 0x3000;
	known = (struct program_contexts){0x4000, id, text};
	none = false;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gotypes_free(types);
	return 0;
}

static void expect_plan(const char *probe, const char *save, const char *wanted, const char *fill)
{
	struct errmsg err = {0};
	struct genprobe gp;

	if (genprobe_make(&gp, probe, &registers, &err))
		fail_msg("%s: %s", probe, err.text);
	/* NULL: arguments that all PROBEs print */
	if (save)
		assert_string_equal(gp.plan.save, save);
	assert_string_equal(gp.plan.wanted, wanted);
	if (fill)
		assert_string_equal(gp.plan.fill, fill);
	assert_true(gp.plan.uses & TRACEGEN_CONTEXTS);
	assert_int_equal(gp.plan.tabular, !fill || !strstr(fill, "context_trace"));
	genprobe_free(&gp);
}

#define ANY_KEY(name) "\tconst struct context_key " name " = {0x4000ULL, true, false, {0, {}}};\n"
#define AX_BX                                                                                      \
	"\tu64 v0 = (u64)probe_register(ctx, REGISTER_AX);\n"                                      \
	"\tu64 v1 = (u64)probe_register(ctx, REGISTER_BX);\n"
#define WORDS(of, a, b, c, first, second)                                                          \
	"\tu64 " a " = " of "." first ";\n\tu64 " b " = " of "." second ";\n\tu64 " c " = " of     \
	"." second ";\n"

static void test_trace(void **state)
{
	(void)state;
	expect_plan("main.f(ctx context.Context) \"%s\", $traceid", "", "",
		    "\tbad = 0;\n" AX_BX ANY_KEY(
			    "v2") "\tstruct trace_id v3 = context_trace(&bad, hit, v0, v1, &v2);\n"
				  "\tmust(&bad, v3.first | v3.last ? 0 : TRACE_NONE);\n" WORDS(
					  "v3", "v4", "v5", "v6", "first",
					  "last") "\t*(u64 *)(rec + 8) = v4;\n"
						  "\t*(u64 *)(rec + 16) = v5;\n"
						  "\t*(s64 *)(rec + 0) = bad ? bad : 16;\n");
	/* with r: as the call began */
	expect_plan("r:main.f(n int, ctx context.Context) ($traceid == "
		    "\"4bF92f3577b34da6a3ce929d0e0e4736\")",
		    NULL,
		    "\tu64 v0 = (u64)probe_register(ctx, REGISTER_BX);\n"
		    "\tu64 v1 = (u64)probe_register(ctx, REGISTER_CX);\n" ANY_KEY(
			    "v2") "\tstruct trace_id v3 = context_trace(&bad, hit, v0, v1, &v2);\n"
				  "\tu64 v4 = v3.first == 0xa64db377352ff94bULL && v3.last == "
				  "0x36470e0e9d92cea3ULL;\n"
				  "\tu64 v5 = v4;\n"
				  "\twant = v5 != 0;\n",
		    NULL);
}

static void test_values(void **state)
{
	(void)state;
	expect_plan("main.f(ctx context.Context) ($ctx(\"int8\", -2) != nil)", "",
		    "\tconst struct context_key v0 = {0x1000ULL, false, false, {1, {0xfeULL}}};\n"
		    "\tu64 v1 = (u64)probe_register(ctx, REGISTER_AX);\n"
		    "\tu64 v2 = (u64)probe_register(ctx, REGISTER_BX);\n"
		    "\tstruct go_interface v3 = context_value(&bad, hit, v1, v2, &v0);\n" WORDS(
			    "v3", "v4", "v5", "v6", "type", "data") "\tu64 v7 = v4 != 0;\n"
								    "\twant = v7 != 0;\n",
		    NULL);
	/* a number of eight bytes */
	expect_plan("main.f(ctx context.Context) ($ctx(\"int\", -2) != nil)", "",
		    "\tconst struct context_key v0 = {0x1000ULL, false, false, {8, "
		    "{0xfffffffffffffffeULL}}};\n"
		    "\tu64 v1 = (u64)probe_register(ctx, REGISTER_AX);\n"
		    "\tu64 v2 = (u64)probe_register(ctx, REGISTER_BX);\n"
		    "\tstruct go_interface v3 = context_value(&bad, hit, v1, v2, &v0);\n" WORDS(
			    "v3", "v4", "v5", "v6", "type", "data") "\tu64 v7 = v4 != 0;\n"
								    "\twant = v7 != 0;\n",
		    NULL);
	/* a string, of the context in what a parameter points to; the receiver would be last */
	expect_plan("main.f(r *main.Request) (hasprefix($ctx(\"string\", \"request_id\"), \"ab\"))",
		    "",
		    "\tconst struct context_key v0 = {0x1000ULL, false, true, {10, "
		    "{0x5f74736575716572ULL, 0x6469ULL}}};\n"
		    "\tu64 v1 = (u64)probe_register(ctx, REGISTER_AX);\n"
		    "\tmust_not_be_nil(&bad, v1);\n"
		    "\tu64 v2 = fetch_word(&bad, 8, v1 + 16);\n"
		    "\tu64 v3 = fetch_word(&bad, 8, v1 + 24);\n"
		    "\tstruct go_interface v4 = context_value(&bad, hit, v2, v3, &v0);\n"
		    "\tstruct go_interface v5 = held_string(&bad, hit, v4.type, v4.data, "
		    "0x3000ULL);\n" WORDS("v5", "v6", "v7", "v8", "type",
					  "data") "\tu64 v9 = v7 >= 2;\n"
						  "\tif (v9) {\n"
						  "\t\tu64 text[1] = {};\n"
						  "\t\tmust(&bad, fetch(text, 2, v6 + 0));\n"
						  "\t\tv9 &= text[0] == 0x6261ULL;\n"
						  "\t}\n"
						  "\twant = v9 != 0;\n",
		    NULL);
}

/* clang-format off */
static const struct {
	const char *probe, *text, *hint; /* "": none */
} refused[] = {
	{"main.f(n int) \"%s\", $traceid", "col 21: the function is called with no context", "say where one is: $traceid(EXPR), $ctx(EXPR, \"main.keyType\")"},
	{"main.f(n int) \"%s\", $traceid(n)", "col 30: int is no context", "a context.Context, or a pointer to a struct with one"},
	{"main.f(e any) \"%s\", $traceid(e)", "col 30: interface {} is no context", "a context.Context, or a pointer to a struct with one"},
	{"main.f(c context.Context) ($traceid == \"4bf9\")", "col 40: a trace's ID has 32 hexadecimal digits", "$traceid == \"\" is a call without a trace"},
	{"main.f(c context.Context) ($traceid == \"4bf92f3577b34da6a3ce929d0e0e473g\")", "col 40: a trace's ID has 32 hexadecimal digits", "$traceid == \"\" is a call without a trace"},
	{"main.f(c context.Context) \"%v\", $ctx(\"main.U\")", "col 33: nothing holds a main.U", "main.T is held"},
	{"main.f(c context.Context) \"%v\", $ctx(\"int8\", \"a\")", "col 46: a key of type int8 is no string", ""},
	{"main.f(c context.Context) \"%v\", $ctx(\"string\", 5)", "col 48: a key of type string is no number", ""},
	{"main.f(c context.Context) \"%v\", $ctx(\"main.Wide\", 5)", "col 51: a key of type main.Wide is no number", ""},
	{"main.f(c context.Context) \"%v\", $ctx(\"main.T\", -5)", "col 48: a key of type main.T is no number", ""},
	{"main.f(c context.Context) \"%v\", $ctx(\"string\", \"0123456789012345678901234567890123456789012345678901234567890123x\")", "col 48: keys of more than 64 bytes are not compared", ""},
	{"r:main.f(c context.Context) (n int) \"%v\", $ctx(\"main.T\")", "", ""},
};
/* clang-format on */

static void expect_refused(const char *probe, const struct genprobe_how *how, const char *text,
			   const char *hint)
{
	struct errmsg err = {0};
	struct genprobe gp;
	int ret = genprobe_make(&gp, probe, how, &err);

	assert_int_equal(ret, *text ? -1 : 0);
	assert_string_equal(err.text, text);
	assert_string_equal(err.hint, hint);
	genprobe_free(&gp);
}

static void test_refused(void **state)
{
	static const char trace[] = "main.f(c context.Context) \"%s\", $traceid";

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		expect_refused(refused[i].probe, &registers, refused[i].text, refused[i].hint);
	expect_refused("main.f() \"%s\", $traceid", &unknown,
		       "col 16: it is not known which parameter is the context",
		       "give a SIGNATURE: (ctx context.Context)");
	known.trace_id = NULL;
	expect_refused(trace, &registers, "col 33: the layout of this program's spans is not known",
		       "other values of contexts: $ctx(\"main.keyType\")");
	known.trace_key = 0;
	expect_refused(trace, &registers, "col 33: the program does not use OpenTelemetry",
		       "other values of contexts: $ctx(\"main.keyType\")");
	known.text = NULL;
	expect_refused("main.f(c context.Context) ($ctx(\"main.T\") == \"x\")", &registers,
		       "col 28: no interface of the program holds a string", "");
	none = true;
	expect_refused(trace, &registers, "col 33: no context of this program carries a value", "");
	expect_refused("main.f(c context.Context) \"%v\", $ctx(\"main.T\")", &registers,
		       "col 33: no context of this program carries a value", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
