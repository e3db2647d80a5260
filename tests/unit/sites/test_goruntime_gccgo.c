// SPDX-License-Identifier: Apache-2.0
/* libgo's runtime in a program and in a library, and a program linked with that. Symbols and what
 * the dynamic linker is to do are of this test's own. */
#include <elf.h>
#include <string.h>

#include "elf/dynlink.h"
#include "elf/image.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/goruntime_internal.h"
#include "sites/splitstack_internal.h"
#include "steps.h"
#include "unit.h"

enum {
	HEADER = 0x1000,
	GOEXIT1 = 0x2000,
	GOEXIT = 0x3000,
	CHECKDEFER = 0x4000,
	PANIC = 0x5000,
	PLAIN = 0x6000,
	CHECKED = 0x7000,
	MORESTACK = 0x8000,
	ODD = 0x9000,
	FUNCS = 70
};

static struct world {
	bool has_runtime, inlined_goexit, is_library;
	uint32_t backoff; /* in the code of __morestack */
	unsigned add_at;  /* where in it */
	size_t checked;   /* which function checks its stack */
	const struct image_symbol *symbols;
	size_t symbol_count;
	const struct dynlink_reloc *relocs;
	size_t reloc_count;
} world;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

const void *image_at(const struct image *img, uint64_t addr, uint64_t len)
{
	/* mov 0x80(%rbx), %rdi; call */
	static const uint8_t header[0x40] = {0x48, 0x8b, 0xbb, 0x80, 0, 0, 0, 0xe8};
	static const uint8_t add[] = {0x49, 0x81, 0xc2};
	static const uint8_t others[] = {0x49, 0x81, 0xc3, 1, 1, 0, 0, 0x48, 0x81, 0xc2};
	static uint8_t plain[0x40], morestack[0x40];

	if (addr == HEADER)
		return header;
	if (addr != MORESTACK)
		return plain;
	memset(morestack, 0x90, sizeof(morestack));
	/* add with r11 and to memory, which are others; then with r10 */
	memcpy(morestack, others, sizeof(others));
	memcpy(morestack + world.add_at, add, sizeof(add));
	memcpy(morestack + world.add_at + 3, &world.backoff, 4);
	return morestack;
}

enum arch image_arch(const struct image *img)
{
	return ARCH_AMD64;
}

uint64_t image_tls_size(const struct image *img)
{
	return 0x40;
}

void image_each_symbol(const struct image *img, bool (*fn)(const struct image_symbol *, void *),
		       void *ctx)
{
	for (size_t i = 0; i < world.symbol_count; i++)
		if (!fn(&world.symbols[i], ctx))
			return;
}

void dynlink_each(const struct image *img, bool (*fn)(const struct dynlink_reloc *, void *ctx),
		  void *ctx)
{
	for (size_t i = 0; i < world.reloc_count; i++)
		if (!fn(&world.relocs[i], ctx))
			return;
}

bool functab_named(const struct functab *tab, const char *name, struct functab_func *out)
{
	static const struct {
		const char *name;
		uint64_t addr;
	} funcs[] = {{"runtime.checkdefer", CHECKDEFER},
		     {"runtime.startpanic_m", PANIC},
		     {"runtime.goexit1", GOEXIT1},
		     {"runtime.Goexit", GOEXIT},
		     {"runtime.goroutineheader", HEADER}};

	for (size_t i = 0; world.has_runtime && i < sizeof(funcs) / sizeof(*funcs); i++) {
		if (strcmp(funcs[i].name, name) != 0)
			continue;
		*out = (struct functab_func){.addr = funcs[i].addr, .end = funcs[i].addr + 0x40};
		return true;
	}
	return false;
}

size_t functab_count(const struct functab *tab)
{
	return FUNCS;
}

bool functab_func(const struct functab *tab, size_t index, struct functab_func *out)
{
	uint64_t addr = index == world.checked ? CHECKED : PLAIN;

	*out = (struct functab_func){.addr = addr, .end = addr + 0x40};
	return index != 1;
}

bool splitstack_find(const struct insn_decoder *dec, const struct insn_code *code,
		     struct splitstack *out)
{
	out->morestack = MORESTACK;
	return code->addr == CHECKED;
}

int site_call(struct site_finder *finder, const struct functab_func *fn, const char *callee,
	      struct site *out)
{
	if (!world.inlined_goexit || fn->addr != GOEXIT || strcmp(callee, "runtime.mcall") != 0)
		return -1;
	*out = (struct site){.addr = GOEXIT + 8, .kind = SITE_CALL};
	return 0;
}

/* NOLINTEND(misc-unused-parameters) */

static void dump(const struct goruntime *rt)
{
	steps_are("goid at %u, g at fs%+d or by %lx%+ld, main %lx, backoff %x of %lx, "
		  "split %d, runtime %d, library %d, recovered %lx/%d, goexit %lx/%d, fatal %lx/%d",
		  rt->g_goid, rt->tls_g, rt->tls_word, rt->tls_delta, rt->main_word,
		  rt->split_backoff, rt->morestack, rt->split_stack, rt->has_runtime,
		  rt->is_library, rt->recovered.addr, rt->recovered.kind, rt->goexit.addr,
		  rt->goexit.kind, rt->fatal.addr, rt->fatal.kind);
}

static void read_it(void)
{
	const struct program prog = {0};
	struct goruntime rt;

	goruntime_read_gccgo(&prog, NULL, &rt);
	dump(&rt);
}

static const struct image_symbol symbols[] = {
	{"runtime.g", 0x500, 8, false, false},
	{"runtime.other", 0x10, 8, false, true},
	{"runtime.g", 0x18, 8, false, true},
	{"runtime.g", 0x20, 8, false, true},
};

static const struct dynlink_reloc relocs[] = {
	{0xa000, R_X86_64_DTPOFF64, 0, {"runtime.g", 0, 8, true}},
	{0xa008, R_X86_64_DTPMOD64, 0, {"runtime.h", 0, 8, true}},
	{0xa010, R_X86_64_DTPMOD64, 0, {"runtime.g", 0, 8, true}},
	{0xa020, R_X86_64_64, 8, {"main.main", 0, 8, false}},
	{0xa028, R_X86_64_RELATIVE, 0, {"main.main", 0, 8, false}},
	{0xa030, R_X86_64_GLOB_DAT, 0, {"main.mail", 0, 8, false}},
	{0xa038, R_X86_64_GLOB_DAT, 0, {"main.main", 0, 8, false}},
	{0xa040, R_X86_64_64, 0, {"main.main", 0, 8, false}},
};

static void begin(void)
{
	memset(&steps, 0, sizeof(steps));
	world = (struct world){.has_runtime = true,
			       .checked = 2,
			       .backoff = 0xf00,
			       .add_at = 12,
			       .symbols = symbols,
			       .symbol_count = 4};
}

static void test_program(void **state)
{
	(void)state;
	begin();
	read_it();
	world.inlined_goexit = true;
	read_it();
	world.has_runtime = false;
	read_it();
	steps_expect("goid at 128, g at fs-40 or by 0+0, main 0, backoff f00 of 8000, split 1, "
		     "runtime 1, library 0, recovered 4000/0, goexit 2000/0, fatal 5000/0; goid at "
		     "128, g at fs-40 or by 0+0, main 0, backoff f00 of 8000, split 1, runtime 1, "
		     "library 0, recovered 4000/0, goexit 3008/9, fatal 5000/0; goid at 0, g at "
		     "fs+0 or by 0+0, main 0, backoff f00 of 8000, split 1, runtime 0, library 0, "
		     "recovered 0/0, goexit 0/0, fatal 0/0; ");
}

static void test_library(void **state)
{
	(void)state;
	begin();
	world.relocs = relocs;
	world.reloc_count = 7;
	read_it();
	world.relocs++;
	world.reloc_count = 1;
	read_it();
	steps_expect("goid at 128, g at fs+0 or by a010+0, main a038, backoff f00 of 8000, split "
		     "1, runtime 1, library 1, recovered 4000/0, goexit 2000/0, fatal 5000/0; goid "
		     "at 128, g at fs-40 or by 0+0, main 0, backoff f00 of 8000, split 1, runtime "
		     "1, library 0, recovered 4000/0, goexit 2000/0, fatal 5000/0; ");
}

static void test_morestack(void **state)
{
	static const struct {
		uint32_t backoff;
		unsigned at;
		size_t checked;
	} rows[] = {{0xf00, 25, 0},  {0xf00, 26, 0},  {0, 12, 0},    {65535, 12, 63},
		    {65536, 12, 63}, {0xf00, 12, 64}, {0xf00, 12, 1}};

	(void)state;
	begin();
	world.has_runtime = false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct program prog = {0};
		struct goruntime rt;

		world.backoff = rows[i].backoff;
		world.add_at = rows[i].at;
		world.checked = rows[i].checked;
		goruntime_read_gccgo(&prog, NULL, &rt);
		steps_are("%zu: %x of %lx", i, rt.morestack ? rt.split_backoff : 0, rt.morestack);
	}
	steps_expect("0: f00 of 8000; 1: 0 of 0; 2: 0 of 0; 3: ffff of 8000; 4: 0 of 0; 5: 0 of 0; "
		     "6: 0 of 0; ");
}

static void link_with(const struct dynlink_reloc *links, size_t count, uint64_t word)
{
	static const struct image_symbol library[] = {{"runtime.x", 0x100, 8, false, true},
						      {"runtime.x", 0x700, 8, false, false},
						      {"runtime.y", 0x800, 8, true, false},
						      {"runtime.x", 0x900, 8, false, false}};
	const struct goruntime library_rt = {.g_goid = 0x80, .tls_word = word};
	struct goruntime rt = {0};

	begin();
	world.symbols = library;
	world.symbol_count = 4;
	world.relocs = links;
	world.reloc_count = count;
	goruntime_link_gccgo(NULL, NULL, &library_rt, &rt);
	memset(&steps, 0, sizeof(steps));
	steps_are("goid at %u, by %lx%+ld", rt.g_goid, rt.tls_word, rt.tls_delta);
}

static void test_link(void **state)
{
	static const struct dynlink_reloc links[] = {
		{0xb000, R_X86_64_64, 0, {"runtime.x", 0, 8, true}},
		{0xb008, R_X86_64_64, 8, {"runtime.x", 0, 8, false}},
		{0xb010, R_X86_64_64, 0, {"puts", 0, 8, false}},
		{0xb018, R_X86_64_RELATIVE, 0, {"runtime.x", 0, 8, false}},
		{0xb020, R_X86_64_GLOB_DAT, 0, {"runtime.none", 0, 8, false}},
		{0xb028, R_X86_64_GLOB_DAT, 0, {"runtime.x", 0, 8, false}},
		{0xb030, R_X86_64_64, 0, {"runtime.y", 0, 8, false}}};
	struct dynlink_reloc many[17];

	(void)state;
	link_with(links, 7, 0xa010);
	steps_expect("goid at 128, by b028+39184; ");
	link_with(links + 6, 1, 0xa010);
	steps_expect("goid at 128, by b030+38928; ");
	link_with(links, 5, 0xa010);
	steps_expect("goid at 0, by 0+0; ");
	link_with(links, 7, 0);
	steps_expect("goid at 0, by 0+0; ");
	for (int i = 0; i < 17; i++)
		many[i] = links[i < 16 ? 4 : 5];
	link_with(many, 17, 0xa010);
	steps_expect("goid at 0, by 0+0; ");
	link_with(many + 1, 16, 0xa010);
	steps_expect("goid at 128, by b028+39184; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_morestack),
		cmocka_unit_test(test_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
