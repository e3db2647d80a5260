// SPDX-License-Identifier: Apache-2.0
/* Names of the types that are allocated, of descriptors that are made up. */
#include "unit.h"

#include "blocked/alloc_types.h"
#include "golang/gotype.h"
#include "program/program.h"
#include "rtti/rtti.h"

enum { TYPE = 0x1000, NONE = 0x2000 };

static bool has_rtti;
static unsigned asked;

/* --- in place of rtti/ --- */

struct rtti *rtti_open(const struct image *img, const struct functab *tab, int release,
		       struct gotypes *types, struct errmsg *err)
{
	(void)img;
	(void)tab;
	(void)err;
	assert_int_equal(release, 27);
	assert_non_null(types);
	return has_rtti ? (struct rtti *)&has_rtti : NULL;
}

void rtti_close(struct rtti *rtti)
{
	(void)rtti;
}

const struct gotype *rtti_type(struct rtti *rtti, uint64_t addr)
{
	static const struct gotype type = {.name = "main.T"};

	assert_ptr_equal(rtti, &has_rtti);
	asked++;
	return addr == TYPE ? &type : NULL;
}

/* Each is read once, with its elements and by itself. */
static void test_names(void **state)
{
	const struct program prog = {.release = 27};
	struct alloc_types *types;

	(void)state;
	has_rtti = true;
	types = alloc_types_new(&prog);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(alloc_types_name(types, TYPE, false), "main.T");
		assert_string_equal(alloc_types_name(types, TYPE, true), "[]main.T");
		assert_string_equal(alloc_types_name(types, NONE, false), "type 0x2000");
		assert_string_equal(alloc_types_name(types, NONE, true), "[]type 0x2000");
		assert_string_equal(alloc_types_name(types, 0, false), "noscan");
		assert_string_equal(alloc_types_name(types, 0, true), "noscan");
	}
	assert_int_equal(asked, 4);
	alloc_types_free(types);
}

static void test_none_known(void **state)
{
	const struct program prog = {.release = 27};
	struct alloc_types *types;

	(void)state;
	has_rtti = false;
	types = alloc_types_new(&prog);
	assert_string_equal(alloc_types_name(types, TYPE, true), "[]type 0x1000");
	alloc_types_free(types);
}

/* What is kept of a process that lies has an end. */
static void test_many(void **state)
{
	const struct program prog = {.release = 27};
	struct alloc_types *types;

	(void)state;
	has_rtti = true;
	types = alloc_types_new(&prog);
	assert_string_equal(alloc_types_name(types, TYPE, false), "main.T");
	for (uint64_t i = 1; i < 1 << 18; i++)
		alloc_types_name(types, NONE + i, false);
	assert_string_equal(alloc_types_name(types, NONE, false), "one of too many types");
	assert_string_equal(alloc_types_name(types, NONE + 1, false), "type 0x2001");
	assert_string_equal(alloc_types_name(types, TYPE, false), "main.T");
	alloc_types_free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_none_known),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
