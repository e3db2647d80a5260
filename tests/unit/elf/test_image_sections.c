// SPDX-License-Identifier: Apache-2.0
#include "elffile.h"
#include "unit.h"

static void test_sections(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct image_section sec;

	(void)state;
	elffile_section(f, ".gopclntab", ELFFILE_RODATA, 0x100);
	elffile_section(f, ".noptrdata", ELFFILE_DATA, 0x200);

	struct image *img = elffile_open(f, NULL);

	assert_true(image_section(img, ".noptrdata", &sec));
	assert_int_equal(sec.addr, ELFFILE_DATA);
	assert_int_equal(sec.size, 0x200);
	assert_int_equal(sec.off, ELFFILE_DATA - 0x400000);
	assert_false(image_section(img, ".gopclnta", &sec));
	assert_false(image_has_symtab(img));
	image_close(img);
	elffile_free(f);
}

static void test_unusable_sections(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct image_section sec;

	(void)state;
	elffile_section(f, ".text", ELFFILE_TEXT, 0x100);
	elffile_header(f)->e_shoff = 0x123456789;

	struct image *img = elffile_open(f, NULL);

	assert_non_null(img);
	assert_false(image_section(img, ".text", &sec));
	assert_false(image_has_symtab(img));
	assert_non_null(image_at(img, ELFFILE_TEXT, 16));
	image_close(img);
	elffile_free(f);
}

/* --- symbols --- */

struct seen {
	unsigned count, limit;
	char names[64];
	uint64_t addr, size; /* of the last */
	bool is_func;
};

static bool see(const struct image_symbol *sym, void *ctx)
{
	struct seen *seen = ctx;

	snprintf(seen->names + strlen(seen->names), sizeof(seen->names) - strlen(seen->names),
		 "%s ", sym->name);
	seen->addr = sym->addr;
	seen->size = sym->size;
	seen->is_func = sym->is_func;
	return ++seen->count < seen->limit;
}

/* symbols of RODATA and their names at RODATA + 0x200 */
static void add_symbols(struct elffile *f, unsigned type)
{
	static const char names[] = "\0main.a\0main.b\0lost"; /* the last one lacks its NUL */
	static const Elf64_Sym syms[] = {
		{0},
		{.st_name = 1, .st_info = STT_FUNC, .st_shndx = 2, .st_value = 0x10, .st_size = 4},
		{.st_name = 8, .st_info = STT_OBJECT, .st_shndx = 2, .st_value = 8, .st_size = 9},
		{.st_name = 8, .st_info = STT_FUNC, .st_shndx = SHN_UNDEF},
		{.st_name = 15, .st_info = STT_FUNC, .st_shndx = 2},
		{.st_name = 5000, .st_info = STT_FUNC, .st_shndx = 2},
	};
	Elf64_Shdr *sh = elffile_section(f, ".symtab", ELFFILE_RODATA, sizeof(syms));

	sh->sh_type = type;
	sh->sh_entsize = sizeof(*syms);
	sh->sh_link = f->nsections;
	elffile_bytes(f, ELFFILE_RODATA, syms, sizeof(syms));
	sh = elffile_section(f, ".strtab", ELFFILE_RODATA + 0x200, sizeof(names) - 1);
	sh->sh_type = SHT_STRTAB;
	elffile_bytes(f, ELFFILE_RODATA + 0x200, names, sizeof(names));
	elffile_at(f, ELFFILE_RODATA + 0x200)[sizeof(names) - 1] = 'X';
}

static void test_symbols(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct seen seen = {.limit = 10}, first = {.limit = 1};

	(void)state;
	add_symbols(f, SHT_SYMTAB);

	struct image *img = elffile_open(f, NULL);

	image_each_symbol(img, see, &seen);
	assert_string_equal(seen.names, "main.a main.b ");
	assert_int_equal(seen.addr, 8);
	assert_int_equal(seen.size, 9);
	assert_false(seen.is_func);
	image_each_symbol(img, see, &first);
	assert_string_equal(first.names, "main.a ");
	assert_true(first.is_func);
	assert_true(image_has_symtab(img));
	image_close(img);
	elffile_free(f);
}

static void test_dynamic_symbols(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct seen seen = {.limit = 10};

	(void)state;
	add_symbols(f, SHT_DYNSYM);

	struct image *img = elffile_open(f, NULL);

	image_each_symbol(img, see, &seen);
	assert_int_equal(seen.count, 2);
	assert_false(image_has_symtab(img));
	image_close(img);
	elffile_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_unusable_sections),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_dynamic_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
