// SPDX-License-Identifier: Apache-2.0
/* Which symbols are names of variables, and which variable has an address. The file's symbols and
 * segments are the test's. */
#include "elf/image.h"
#include "objects/variable_names_internal.h"
#include "steps.h"
#include "unit.h"

enum { CODE = 0x1000, DATA = 0x2000, LEN = 0x100 };

static const struct image_symbol *symbols;
static size_t symbol_count;

void image_each_symbol(const struct image *img, bool (*fn)(const struct image_symbol *, void *),
		       void *ctx)
{
	(void)img;
	for (size_t i = 0; i < symbol_count; i++)
		assert_true(fn(&symbols[i], ctx));
}

const struct image_segment *image_segments(const struct image *img, size_t *count)
{
	static const struct image_segment all[] = {{.addr = CODE, .memsz = LEN},
						   {.addr = DATA, .memsz = LEN, .write = true}};

	(void)img;
	*count = 2;
	return all;
}

static void expect_at(const struct variable_names *names, uint64_t addr, const char *want)
{
	uint64_t begin = 0;
	const char *name = variable_names_at(names, addr, &begin);

	if (name)
		steps_are("%s %lx", name, begin);
	else
		steps_are("-");
	steps_expect(want);
}

static void test_names(void **state)
{
	static const struct image_symbol all[] = {
		{.name = "main.last", .addr = DATA + LEN - 8, .size = 8},
		{.name = "main.code", .addr = CODE, .size = 8},
		{.name = "main.func", .addr = DATA, .size = 8, .is_func = true},
		{.name = "main.tls", .addr = DATA, .size = 8, .is_tls = true},
		{.name = "main.behind", .addr = DATA + LEN, .size = 8},
		{.name = "main.empty", .addr = DATA + 0x18, .size = 0},
		{.name = "main.two", .addr = DATA + 0x20, .size = 8},
		{.name = "main.one", .addr = DATA + 0x10, .size = 0x10},
		{.name = "main.first", .addr = DATA, .size = 4},
	};

	(void)state;
	symbols = all;
	symbol_count = sizeof(all) / sizeof(*all);
	struct variable_names *names = variable_names_new(NULL);

	expect_at(names, CODE, "-; ");
	expect_at(names, DATA - 1, "-; ");
	expect_at(names, DATA, "main.first 2000; ");
	expect_at(names, DATA + 3, "main.first 2000; ");
	expect_at(names, DATA + 4, "-; ");
	expect_at(names, DATA + 0x10, "main.one 2010; ");
	expect_at(names, DATA + 0x1f, "main.one 2010; ");
	expect_at(names, DATA + 0x20, "main.two 2020; ");
	expect_at(names, DATA + 0x28, "-; ");
	expect_at(names, DATA + LEN - 1, "main.last 20f8; ");
	expect_at(names, DATA + LEN, "-; ");
	expect_at(names, UINT64_MAX, "-; ");
	variable_names_free(names);
}

/* Of several names of one place it is always the same, whatever order they are in. */
static void test_aliases(void **state)
{
	static const struct image_symbol all[] = {
		{.name = "main.b", .addr = DATA, .size = 8},
		{.name = "main.c", .addr = DATA, .size = 8},
		{.name = "main.a", .addr = DATA, .size = 8},
	};

	(void)state;
	symbols = all;
	for (symbol_count = 0; symbol_count <= 3; symbol_count++) {
		struct variable_names *names = variable_names_new(NULL);

		expect_at(names, DATA,
			  symbol_count > 1   ? "main.c 2000; "
			  : symbol_count > 0 ? "main.b 2000; "
					     : "-; ");
		variable_names_free(names);
	}
	variable_names_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
