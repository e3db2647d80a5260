// SPDX-License-Identifier: Apache-2.0
/* Which words of a gccgo program are filled with types of its library: relocations and symbols are
 * this test's. */
#include <elf.h>
#include <stdlib.h>

#include "elf/dynlink.h"
#include "elf/image.h"
#include "rtti/rtti_internal.h"
#include "steps.h"
#include "unit.h"

static const struct dynlink_reloc relocs[] = {
	{0x300, R_X86_64_64, 8, {"T..d", 0, 0, false}},
	{0x100, R_X86_64_64, 0, {"U..d", 0, 0, false}},
	{0x200, R_X86_64_64, 0, {"own..d", 0x900, 8, true}}, /* the program has it */
	{0x210, R_X86_64_GLOB_DAT, 0, {"T..d", 0, 0, false}},
	{0x400, R_X86_64_COPY, 0, {"V..d", 0x400, 24, true}},
	{0x310, R_X86_64_64, -8, {"T..d", 0, 0, false}},
	{0x500, R_X86_64_64, 0, {"none..d", 0, 0, false}},
	{0x600, R_X86_64_64, 0, {"f", 0, 0, false}},
	{0x608, R_X86_64_64, 0, {"tls", 0, 0, false}},
};

static const struct image_symbol symbols[] = {
	{"V..d", 0x3000, 24, false, false},     {"T..d", 0x1000, 8, false, false},
	{"own..d", 0x4000, 8, false, false},    {"U..d", 0x2000, 8, false, false},
	{"unused..d", 0x5000, 8, false, false}, {"f", 0x6000, 8, true, false},
	{"tls", 0x7000, 8, false, true},        {"A", 0x8000, 8, false, false},
};

static struct image *const program = (struct image *)&relocs, *const library =
								      (struct image *)&symbols;
static size_t reloc_count;

void dynlink_each(const struct image *img, bool (*fn)(const struct dynlink_reloc *, void *ctx),
		  void *ctx)
{
	assert_ptr_equal(img, program);
	for (size_t i = 0; i < reloc_count && fn(&relocs[i], ctx); i++)
		;
}

void image_each_symbol(const struct image *img, bool (*fn)(const struct image_symbol *, void *ctx),
		       void *ctx)
{
	assert_ptr_equal(img, library);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		assert_true(fn(&symbols[i], ctx));
}

static void expect_links(size_t count, const char *want)
{
	struct rtti rtti = {.mod.img = program};

	reloc_count = count;
	rtti_link(&rtti, library);
	assert_ptr_equal(rtti.mod.library, &rtti.library);
	assert_ptr_equal(rtti.library.img, library);
	for (size_t i = 0; i < rtti.library.link_count; i++) {
		const struct typedesc_link *link = &rtti.library.links[i];

		steps_are("%x to %x copied %u", (unsigned)link->addr,
			  (unsigned)(link->to - TYPEDESC_LIBRARY), (unsigned)link->copied);
	}
	free(rtti.library.links);
	steps_expect(want);
}

static void test_links(void **state)
{
	(void)state;
	expect_links(0, "");
	expect_links(1, "300 to 1008 copied 0; ");
	expect_links(sizeof(relocs) / sizeof(*relocs),
		     "100 to 2000 copied 0; 300 to 1008 copied 0; 310 to ff8 copied 0; 400 "
		     "to 3000 copied 24; ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
