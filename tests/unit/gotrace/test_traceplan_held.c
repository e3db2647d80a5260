// SPDX-License-Identifier: Apache-2.0
/* Which type x.(T) means: with a program of this test's own. */
#include <stdio.h>
#include <string.h>

#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "golang/gotype.h"
#include "golang/signature.h"
#include "gotrace/traceplan_held_internal.h"
#include "unit.h"

static int program;

/* T, what is no pointer to it, one, a pointer to that, a type that has no descriptor, and another
 * pointer to T: the first counts */
static const struct gotype types[] = {
	{.kind = GOTYPE_STRUCT, .name = "main.T", .rtype = 0x100},
	{.kind = GOTYPE_SLICE, .name = "[]main.T", .elem = &types[0], .rtype = 0x200},
	{.kind = GOTYPE_POINTER, .name = "unsafe.Pointer", .rtype = 0x250},
	{.kind = GOTYPE_POINTER, .name = "*int", .elem = &types[6], .rtype = 0x280},
	{.kind = GOTYPE_POINTER, .name = "*main.T", .elem = &types[0], .rtype = 0x300},
	{.kind = GOTYPE_POINTER, .name = "**main.T", .elem = &types[4], .rtype = 0x400},
	{.kind = GOTYPE_STRUCT, .name = "main.None"},
	{.kind = GOTYPE_POINTER, .name = "main.P", .elem = &types[0], .rtype = 0x500},
};

enum { TYPES = sizeof(types) / sizeof(*types) };

/* --- of arguments/ --- */

static const struct gotype *find(void *ctx, const char *name)
{
	assert_ptr_equal(ctx, &program);
	for (size_t i = 0; i < TYPES; i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

struct signature_names funcinfo_names(struct funcinfo *info)
{
	return (struct signature_names){.find = find, .ctx = info};
}

void funcinfo_each_rtype(struct funcinfo *info,
			 bool (*fn)(const struct gotype *type, bool direct, void *ctx), void *ctx)
{
	assert_ptr_equal(info, &program);
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].rtype && !fn(&types[i], false, ctx))
			return;
}

const struct gotype *funcinfo_rtype(struct funcinfo *info, uint64_t addr, bool *direct)
{
	assert_ptr_equal(info, &program);
	*direct = addr >= 0x300;
	return NULL;
}

/* --- */

static void expect(const char *name, const struct gotype *want, bool is_direct)
{
	struct errmsg err = {0};
	bool direct = !is_direct;

	assert_ptr_equal(traceplan_held_type(&program, name, &direct, &err), want);
	assert_int_equal(direct, is_direct);
	assert_string_equal(err.text, "");
}

static void test_found(void **state)
{
	(void)state;
	expect("main.T", &types[0], false);
	expect("*main.T", &types[4], true);
	expect("**main.T", &types[5], true);
}

static void test_not_held(void **state)
{
	static const char *const names[] = {"main.U",    "main.None", "*main.None",
					    "***main.T", "*",         ""};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct errmsg err = {0};
		char want[64];
		bool direct;

		snprintf(want, sizeof(want), "no interface of the program holds a \"%s\"",
			 names[i]);
		assert_null(traceplan_held_type(&program, names[i], &direct, &err));
		assert_string_equal(err.text, want);
		assert_string_equal(err.hint, "write the whole import path of the type, as in "
					      "*net/http.Request");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_not_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
