// SPDX-License-Identifier: Apache-2.0
/* Signatures of gccgo's functions, put together from what a user typed and what is known. */
#include <stdio.h>
#include <string.h>

#include "arguments/funcinfo_gccgo_internal.h"
#include "base/errmsg.h"
#include "elf/image.h"
#include "golang/signature.h"
#include "program/functab.h"
#include "unit.h"

static struct gofunc parsed(struct gotypes *types, const char *text, enum gofunc_source source)
{
	const struct signature_names names = {.release = 18};
	struct errmsg err = {0};
	struct gofunc fn;

	if (signature_parse(types, &names, text, &fn, NULL, &err))
		fail_msg("%s: %s", text, err.text);
	fn.source = source;
	return fn;
}

/* Is it "x *int, n int -> e error"? */
static void check_signature(const struct gofunc *fn, const char *expected)
{
	char text[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < fn->param_count + fn->result_count; i++) {
		bool is_result = i >= fn->param_count;
		const struct goparam *param =
			is_result ? &fn->results[i - fn->param_count] : &fn->params[i];

		len += snprintf(text + len, sizeof(text) - len, "%s%s %s",
				i == fn->param_count ? " -> "
				: i                  ? ", "
						     : "",
				param->name, param->type->name);
	}
	assert_string_equal(text, expected);
}

static void test_receiver(void **state)
{
	struct gotypes *types = gotypes_new();
	struct goparam receiver = {.name = "t", .type = gotypes_basic(types, "uintptr")};
	struct gofunc none = parsed(types, "()", GOFUNC_SIGNATURE);
	struct gofunc some = parsed(types, "(a int, b string) (err error)", GOFUNC_SIGNATURE);

	(void)state;
	funcinfo_add_receiver(types, &receiver, &none);
	check_signature(&none, "t uintptr");
	assert_true(none.receiver);
	funcinfo_add_receiver(types, &receiver, &some);
	check_signature(&some, "t uintptr, a int, b string -> err error");
	gotypes_free(types);
}

static void test_typed(void **state)
{
	static const struct {
		const char *name, *known, *typed, *expected;
		bool from_debuginfo, known_receiver;
	} rows[] = {
		{"main.f", "(x int) (s string)", "(y uint8)", "y uint8 -> s string", true, false},
		{"main.f", "(x int) (s string)", "(y uint8) (z bool)", "y uint8 -> z bool", true,
		 false},
		{"main.f", "(x int) (s string)", "(y uint8)", "y uint8", false, false},
		{"main.(*T).F", "(t *int, x int)", "(y uint8)", "t *int, y uint8", true, true},
		{"main.T.F", "(t int, x int)", "()", "t int", true, true},
		{"main.T.F", "(x int)", "(y uint8)", " unsafe.Pointer, y uint8", true, false},
		{"main.(*T).F", "(t *int)", "(y uint8)", " unsafe.Pointer, y uint8", false, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gotypes *types = gotypes_new();
		struct gofunc known =
			parsed(types, rows[i].known,
			       rows[i].from_debuginfo ? GOFUNC_DEBUGINFO : GOFUNC_RTTI);
		struct gofunc typed = parsed(types, rows[i].typed, GOFUNC_SIGNATURE);

		known.receiver = rows[i].known_receiver;
		funcinfo_gccgo_typed(types, rows[i].name, &known, &typed);
		check_signature(&typed, rows[i].expected);
		gotypes_free(types);
	}
}

/* Where a clone takes its arguments only debug information knows: C's rules are not for it. */
static void test_clone(void **state)
{
	struct gotypes *types = gotypes_new();
	struct gofunc fn = parsed(types, "(a int, s string) (n int)", GOFUNC_RTTI);
	const struct functab_func at = {.addr = 0x1000};
	struct abi_layout layout;

	(void)state;
	funcinfo_clone_layout(NULL, &at, &fn, &layout);
	assert_int_equal(layout.param_count, 2);
	assert_int_equal(layout.result_count, 1);
	assert_int_equal(layout.params[0].count, 0);
	assert_int_equal(layout.params[1].count, 0);
	assert_int_equal(layout.results[0].count, 0);
	abi_layout_free(&layout);
	gotypes_free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receiver),
		cmocka_unit_test(test_typed),
		cmocka_unit_test(test_clone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
