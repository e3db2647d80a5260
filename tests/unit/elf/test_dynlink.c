// SPDX-License-Identifier: Apache-2.0
/* What the dynamic linker does with a file: the file is a piece of memory of this test's, with the
 * dynamic section as a table. */
#include <elf.h>
#include <string.h>

#include "elf/dynlink.h"
#include "elf/image.h"
#include "steps.h"
#include "unit.h"

enum { BASE = 0x1000, STRINGS = BASE, SYMBOLS = BASE + 0x100, RELOCS = BASE + 0x200, SIZE = 0x300 };
enum { TAGS_MAX = 10 };

static uint8_t file[SIZE];
static struct tag {
	int64_t tag;
	uint64_t value;
} tags[TAGS_MAX];
static size_t tag_count;

bool image_dynamic(const struct image *img, int64_t tag, size_t n, uint64_t *value)
{
	(void)img;
	for (size_t i = 0; i < tag_count; i++)
		if (tags[i].tag == tag && n-- == 0) {
			*value = tags[i].value;
			return true;
		}
	return false;
}

uint64_t image_left(const struct image *img, uint64_t addr)
{
	(void)img;
	return addr >= BASE && addr < BASE + SIZE ? BASE + SIZE - addr : 0;
}

const void *image_at(const struct image *img, uint64_t addr, uint64_t len)
{
	return image_left(img, addr) && len <= image_left(img, addr) ? file + (addr - BASE) : NULL;
}

static const char texts[] = "\0runtime.g\0main.main\0libgo.so.22\0libc.so.6";
enum { TEXT_G = 1, TEXT_MAIN = 11, TEXT_LIBGO = 21, TEXT_LIBC = 33 };

static void put_reloc(unsigned n, uint64_t at, uint32_t symbol, uint32_t type, int64_t addend)
{
	const Elf64_Rela entry = {at, ELF64_R_INFO((uint64_t)symbol, type), addend};

	memcpy(file + (RELOCS - BASE) + n * sizeof(entry), &entry, sizeof(entry));
}

static void put_symbol(unsigned n, uint32_t name, uint64_t value, uint64_t size, uint16_t section)
{
	const Elf64_Sym sym = {
		.st_name = name, .st_value = value, .st_size = size, .st_shndx = section};

	memcpy(file + (SYMBOLS - BASE) + n * sizeof(sym), &sym, sizeof(sym));
}

static int setup(void **state)
{
	static const struct tag all[] = {
		{DT_NEEDED, TEXT_LIBC},    {DT_NEEDED, TEXT_LIBGO},
		{DT_NEEDED, 1000},         {DT_STRTAB, STRINGS},
		{DT_STRSZ, sizeof(texts)}, {DT_SYMTAB, SYMBOLS},
		{DT_RELA, RELOCS},         {DT_RELASZ, 5 * sizeof(Elf64_Rela)}};

	(void)state;
	memset(file, 0, sizeof(file));
	memcpy(file, texts, sizeof(texts));
	memcpy(tags, all, sizeof(all));
	tag_count = sizeof(all) / sizeof(*all);
	put_symbol(1, TEXT_G, 0x10, 8, SHN_UNDEF);
	put_symbol(2, TEXT_MAIN, 0x5000, 64, 3);
	put_symbol(3, sizeof(texts), 0x20, 8, 3);
	put_reloc(0, 0xa000, 1, R_X86_64_DTPMOD64, 0);
	put_reloc(1, 0xa008, 0, R_X86_64_RELATIVE, 0x77);
	put_reloc(2, 0xa010, 2, R_X86_64_64, -16);
	put_reloc(3, 0xa018, 3, R_X86_64_64, 0);
	put_reloc(4, 0xa020, 2, R_X86_64_GLOB_DAT, 0);
	return 0;
}

static struct tag *tag_of(int64_t tag)
{
	size_t i = 0;

	while (tags[i].tag != tag)
		i++;
	return &tags[i];
}

static bool say_reloc(const struct dynlink_reloc *reloc, void *ctx)
{
	unsigned *left = ctx;

	steps_are("%lx type %u%+ld %s %lx/%lu%s", reloc->addr, reloc->type, reloc->addend,
		  reloc->symbol.name, reloc->symbol.value, reloc->symbol.size,
		  reloc->symbol.defined ? " defined" : "");
	return --*left > 0;
}

static void say_all(const char *what, unsigned most)
{
	steps_are("%s:", what);
	dynlink_each(NULL, say_reloc, &most);
}

static void test_relocs(void **state)
{
	(void)state;
	say_all("all", 100);
	say_all("two", 2);
	tag_of(DT_RELASZ)->value = 3 * sizeof(Elf64_Rela) + 23;
	say_all("cut", 100);
	tag_of(DT_RELASZ)->value = 1 << 20; /* up to the file's end */
	say_all("long", 100);
	tag_of(DT_RELA)->value = BASE + SIZE;
	say_all("outside", 100);
	setup(state);
	tag_of(DT_SYMTAB)->value = -8ul;
	say_all("symbols elsewhere", 100);
	tag_of(DT_SYMTAB)->value = BASE + SIZE - 2 * sizeof(Elf64_Sym);
	say_all("symbols at the end", 100);
	steps_expect("all:; a000 type 16+0 runtime.g 10/8; a010 type 1-16 main.main 5000/64 "
		     "defined; a020 type 6+0 main.main 5000/64 defined; two:; a000 type "
		     "16+0 runtime.g 10/8; a010 type 1-16 main.main 5000/64 defined; cut:; "
		     "a000 type 16+0 runtime.g 10/8; a010 type 1-16 main.main 5000/64 "
		     "defined; long:; a000 type 16+0 runtime.g 10/8; a010 type 1-16 "
		     "main.main 5000/64 defined; a020 type 6+0 main.main 5000/64 defined; "
		     "outside:; symbols elsewhere:; symbols at the end:; a000 type 16+0  "
		     "0/0; ");
}

/* Texts end where the last NUL is. */
static void test_strings(void **state)
{
	(void)state;
	tag_of(DT_STRSZ)->value = TEXT_MAIN + 3;
	say_all("without an end", 100);
	tag_of(DT_STRSZ)->value = 0;
	say_all("none", 100);
	tag_of(DT_STRSZ)->value = UINT64_MAX;
	say_all("up to the end", 100);
	tag_of(DT_STRTAB)->value = STRINGS + 1;
	tag_of(DT_STRSZ)->value = 5;
	say_all("no NUL", 100);
	tag_of(DT_STRTAB)->value = 8;
	say_all("elsewhere", 100);
	steps_expect("without an end:; a000 type 16+0 runtime.g 10/8; none:; up to the "
		     "end:; a000 type 16+0 runtime.g 10/8; a010 type 1-16 main.main 5000/64 "
		     "defined; a018 type 1+0  20/8 defined; a020 type 6+0 main.main 5000/64 "
		     "defined; no NUL:; elsewhere:; ");
}

/* each of the tags is needed */
static void test_tags(void **state)
{
	static const int64_t needed[] = {DT_STRTAB, DT_STRSZ, DT_SYMTAB, DT_RELA, DT_RELASZ};

	(void)state;
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		tag_of(needed[i])->tag = DT_NULL;
		say_all("lacks one", 100);
		setup(NULL);
	}
	steps_expect("lacks one:; lacks one:; lacks one:; lacks one:; lacks one:; ");
}

static void say_needs(const char *prefix)
{
	const char *name = dynlink_needs(NULL, prefix);

	steps_are("%s", name ? name : "-");
}

static void test_needs(void **state)
{
	(void)state;
	say_needs("libgo.so.");
	say_needs("libc");
	say_needs("lib");
	say_needs("libm");
	tag_of(DT_STRSZ)->value = TEXT_LIBGO + 4;
	say_needs("libgo.so.");
	tag_of(DT_STRTAB)->tag = DT_NULL;
	say_needs("lib");
	steps_expect("libgo.so.22; libc.so.6; libc.so.6; -; -; -; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_relocs, setup),
		cmocka_unit_test_setup(test_strings, setup),
		cmocka_unit_test_setup(test_tags, setup),
		cmocka_unit_test_setup(test_needs, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
