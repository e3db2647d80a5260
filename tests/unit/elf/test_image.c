// SPDX-License-Identifier: Apache-2.0
#include "elffile.h"
#include "files/heldfile.h"
#include "unit.h"

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not hold \"%s\"", text, part);
}

static void assert_refused(struct elffile *f, const char *why)
{
	struct errmsg err = {0};

	assert_null(elffile_open(f, &err));
	assert_contains(err.text, why);
	assert_contains(err.text, "\"/proc/self/fd/");
	elffile_free(f);
}

/* --- what is refused --- */

static void test_paths(void **state)
{
	struct errmsg err;

	(void)state;
	assert_null(heldfile_open(NULL, "/nonexistent/x", &err));
	assert_string_equal(err.text, "\"/nonexistent/x\": No such file or directory");
	assert_null(heldfile_open(NULL, "/", &err));
	assert_string_equal(err.text, "\"/\": is a directory");
	assert_null(heldfile_open(NULL, "/dev/null", &err));
	assert_string_equal(err.text, "\"/dev/null\": not a regular file");
	assert_null(heldfile_open(NULL, "/nonexistent/x", NULL));
}

static void test_not_elf(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct errmsg err;

	(void)state;
	memcpy(f->data, "#!/bin/sh\n", 10);
	assert_null(elffile_open(f, &err));
	assert_contains(err.text, "not an ELF file");
	assert_contains(err.hint, "script");
	f->size = 0;
	assert_null(elffile_open(f, &err));
	assert_contains(err.text, "not an ELF file");
	assert_string_equal(err.hint, "");
	f->size = 3;
	assert_refused(f, "not an ELF file");
}

static void test_wrong_kind(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);

	(void)state;
	elffile_header(f)->e_ident[EI_CLASS] = ELFCLASS32;
	assert_refused(f, "32-bit programs are not supported");
	f = elffile_new(EM_X86_64);
	elffile_header(f)->e_ident[EI_DATA] = ELFDATA2MSB;
	assert_refused(f, "big-endian programs are not supported");
	f = elffile_new(EM_X86_64);
	elffile_header(f)->e_ident[EI_CLASS] = 7;
	assert_refused(f, "malformed ELF header");
	assert_refused(elffile_new(EM_RISCV), "only x86-64 and arm64");
	f = elffile_new(EM_X86_64);
	elffile_header(f)->e_type = ET_REL;
	assert_refused(f, "not a program");
	f = elffile_new(EM_X86_64);
	elffile_header(f)->e_type = ET_CORE;
	assert_refused(f, "core dump");
	f = elffile_new(EM_X86_64);
	for (int i = 0; i < 3; i++)
		elffile_segment(f, i)->p_type = PT_NOTE;
	assert_refused(f, "not a program");
}

static void test_truncated(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);

	(void)state;
	f->size = 40;
	assert_refused(f, "file is truncated: its ELF header is incomplete");
	f = elffile_new(EM_X86_64);
	f->size = 100;
	assert_refused(f, "file is truncated: it ends before its program headers do");
	f = elffile_new(EM_X86_64);
	f->size = 0x3000;
	assert_refused(f, "file is truncated: segment 1 ends past its end");
	f = elffile_new(EM_X86_64);
	elffile_segment(f, 2)->p_offset = -16;
	assert_refused(f, "file is truncated: segment 2 ends past its end");
}

/* What has nothing in the file may begin where that ends. */
static void test_nothing_in_the_file(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct errmsg err = {0};

	(void)state;
	elffile_segment(f, 2)->p_offset = f->size;
	elffile_segment(f, 2)->p_filesz = 0;

	struct image *img = elffile_open(f, &err);

	assert_string_equal(err.text, "");
	image_close(img);
	elffile_segment(f, 2)->p_offset++;
	assert_refused(f, "file is truncated: segment 2 ends past its end");
}

static void test_malformed(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);

	(void)state;
	elffile_segment(f, 1)->p_vaddr = -0x100;
	assert_refused(f, "malformed: segment 1 has an impossible size");
	f = elffile_new(EM_X86_64);
	elffile_segment(f, 0)->p_memsz = 1;
	assert_refused(f, "malformed: segment 0 has an impossible size");
	f = elffile_new(EM_X86_64);
	elffile_header(f)->e_phentsize = 32;
	assert_refused(f, "malformed program headers");
	f = elffile_new(EM_X86_64);
	elffile_header(f)->e_phoff = -1;
	assert_refused(f, "truncated");
	f = elffile_new(EM_X86_64);
	for (unsigned i = 3; i < 290; i++)
		*elffile_segment(f, i) = *elffile_segment(f, 0);
	elffile_header(f)->e_phnum = 290;
	assert_refused(f, "more than 256 segments");
}

/* --- what is read --- */

static void test_addresses(void **state)
{
	struct elffile *f = elffile_new(EM_AARCH64);
	uint64_t word, off = 0;
	uint32_t half;

	(void)state;
	elffile_segment(f, 2)->p_memsz += 0x1000; /* .bss: not in the file */
	elffile_u64(f, ELFFILE_DATA_END - 8, 0x1122334455667788);

	struct image *img = elffile_open(f, NULL);

	assert_non_null(img);
	assert_int_equal(image_arch(img), ARCH_ARM64);
	assert_false(image_is_pie(img));
	assert_string_equal(image_path(img), f->path);
	assert_non_null(image_at(img, ELFFILE_TEXT, 0x1000));
	assert_null(image_at(img, ELFFILE_TEXT, 0x1001));
	assert_null(image_at(img, ELFFILE_TEXT - 1, 1));
	assert_null(image_at(img, ELFFILE_TEXT, SIZE_MAX));
	assert_null(image_at(img, ELFFILE_DATA_END, 1));
	assert_int_equal(image_left(img, ELFFILE_DATA_END - 8), 8);
	assert_int_equal(image_left(img, ELFFILE_DATA_END), 0);
	assert_true(image_u64(img, ELFFILE_DATA_END - 8, &word));
	assert_int_equal(word, 0x1122334455667788);
	assert_false(image_u64(img, ELFFILE_DATA_END - 7, &word));
	assert_true(image_u32(img, ELFFILE_DATA_END - 4, &half));
	assert_int_equal(half, 0x11223344);
	assert_false(image_u32(img, ELFFILE_DATA_END - 3, &half));
	assert_true(image_is_text(img, ELFFILE_RODATA - 1));
	assert_false(image_is_text(img, ELFFILE_RODATA));
	assert_true(image_addr_to_off(img, ELFFILE_DATA + 5, &off));
	assert_int_equal(off, ELFFILE_DATA + 5 - 0x400000);
	assert_false(image_addr_to_off(img, ELFFILE_DATA_END, &off));
	image_close(img);
	elffile_free(f);
}

static void test_segments(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	size_t count;

	(void)state;
	elffile_header(f)->e_type = ET_DYN;

	struct image *img = elffile_open(f, NULL);
	const struct image_segment *segs = image_segments(img, &count);

	assert_true(image_is_pie(img));
	assert_int_equal(count, 3);
	assert_int_equal(segs[2].addr, ELFFILE_DATA);
	assert_int_equal(segs[2].off, ELFFILE_DATA - 0x400000);
	assert_true(segs[2].write && !segs[2].exec && segs[0].exec && !segs[0].write);
	image_close(img);
	image_close(NULL);
	elffile_free(f);
}

/* --- relocations --- */

static void add_relocations(struct elffile *f, unsigned type)
{
	const Elf64_Dyn dyn[] = {
		{DT_RELA, {ELFFILE_RODATA}}, {DT_RELASZ, {3 * 24}}, {DT_NULL, {0}}};
	const Elf64_Rela rela[] = {
		{ELFFILE_DATA + 0x100, ELF64_R_INFO(0, type), 0x401234},
		{ELFFILE_DATA + 0x108, ELF64_R_INFO(1, R_X86_64_64), 0x55},
		{ELFFILE_DATA_END - 4, ELF64_R_INFO(0, type), -1}, /* ends past the segment */
	};

	elffile_bytes(f, ELFFILE_DATA, dyn, sizeof(dyn));
	elffile_bytes(f, ELFFILE_RODATA, rela, sizeof(rela));
	*elffile_segment(f, elffile_header(f)->e_phnum++) = (Elf64_Phdr){
		.p_type = PT_DYNAMIC,
		.p_offset = ELFFILE_DATA - 0x400000,
		.p_vaddr = ELFFILE_DATA,
		.p_filesz = sizeof(dyn),
		.p_memsz = sizeof(dyn),
	};
}

static void check_relocated(unsigned machine, unsigned type)
{
	struct elffile *f = elffile_new(machine);
	uint64_t word;

	add_relocations(f, type);

	struct image *img = elffile_open(f, NULL);

	assert_true(image_u64(img, ELFFILE_DATA + 0x100, &word));
	assert_int_equal(word, 0x401234);
	assert_true(image_u64(img, ELFFILE_DATA + 0x108, &word));
	assert_int_equal(word, 0);
	assert_true(image_u64(img, ELFFILE_DATA_END - 8, &word));
	assert_int_equal(word, 0);
	image_close(img);
	/* the file itself is as it was */
	assert_int_equal(pread(f->fd, &word, 8, ELFFILE_DATA + 0x100 - 0x400000), 8);
	assert_int_equal(word, 0);
	elffile_free(f);
}

static void test_relocations(void **state)
{
	(void)state;
	check_relocated(EM_X86_64, R_X86_64_RELATIVE);
	check_relocated(EM_AARCH64, R_AARCH64_RELATIVE);
}

/* Words that hold a symbol's address: of symbols that this file defines, with an address of their
 * own. */
static void check_symbolic(unsigned machine, unsigned type)
{
	enum { SYMBOLS = 5, TABLE = ELFFILE_RODATA + 0x200, WORDS = ELFFILE_DATA + 0x100 };
	static const uint64_t want[SYMBOLS] = {0, 0x402005, 0, 0, 0};
	const Elf64_Sym symbols[SYMBOLS] = {
		{.st_shndx = 1, .st_value = 0x402000}, /* number 0 is no symbol */
		{.st_shndx = 1, .st_value = 0x402000, .st_info = STT_FUNC},
		{.st_shndx = SHN_UNDEF, .st_value = 0x402000},
		{.st_shndx = SHN_ABS, .st_value = 0x402000},
		{.st_shndx = 1, .st_value = 0x402000, .st_info = STT_GNU_IFUNC},
	};
	const Elf64_Dyn dyn[] = {{DT_RELA, {ELFFILE_RODATA}},
				 {DT_RELASZ, {SYMBOLS * sizeof(Elf64_Rela)}},
				 {DT_SYMTAB, {TABLE}},
				 {DT_NULL, {0}}};
	struct elffile *f = elffile_new(machine);
	uint64_t word;

	add_relocations(f, type);
	elffile_segment(f, elffile_header(f)->e_phnum - 1)->p_filesz = sizeof(dyn);
	elffile_segment(f, elffile_header(f)->e_phnum - 1)->p_memsz = sizeof(dyn);
	elffile_bytes(f, ELFFILE_DATA, dyn, sizeof(dyn));
	elffile_bytes(f, TABLE, symbols, sizeof(symbols));
	for (uint64_t i = 0; i < SYMBOLS; i++) {
		const Elf64_Rela rela = {WORDS + 8 * i, ELF64_R_INFO(i, type), 5};

		elffile_bytes(f, ELFFILE_RODATA + i * sizeof(rela), &rela, sizeof(rela));
	}
	struct image *img = elffile_open(f, NULL);

	for (size_t i = 0; i < SYMBOLS; i++) {
		assert_true(image_u64(img, WORDS + 8 * i, &word));
		assert_int_equal(word, want[i]);
	}
	image_close(img);
	elffile_free(f);
}

static void test_symbolic_relocations(void **state)
{
	(void)state;
	check_symbolic(EM_X86_64, R_X86_64_64);
	check_symbolic(EM_AARCH64, R_AARCH64_ABS64);
}

static void test_relocations_cut(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	uint64_t word;

	(void)state;
	add_relocations(f, R_X86_64_RELATIVE);
	elffile_u64(f, ELFFILE_DATA + 0x18, UINT64_MAX); /* DT_RELASZ */

	struct image *img = elffile_open(f, NULL);

	assert_non_null(img);
	assert_true(image_u64(img, ELFFILE_DATA + 0x100, &word));
	assert_int_equal(word, 0x401234);
	image_close(img);
	elffile_segment(f, 3)->p_offset = -8;
	img = elffile_open(f, NULL);
	assert_non_null(img);
	image_close(img);
	elffile_free(f);
}

/* --- files that change while they are read --- */

static void test_cut_off(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct image *img = elffile_open(f, NULL);
	uint64_t word = 1;

	(void)state;
	assert_non_null(img);
	assert_int_equal(ftruncate(f->fd, 0), 0);
	/* it has been read with the rest of its block, or cannot be read any more */
	if (image_u64(img, ELFFILE_DATA_END - 8, &word))
		assert_int_equal(word, 0);
	else
		assert_int_equal(heldfile_check(image_file(img), NULL), -1);
	image_close(img);
	elffile_free(f);
}

static void test_written_to(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	uint64_t word, other = 2;

	(void)state;
	elffile_u64(f, ELFFILE_DATA, 1);

	struct image *img = elffile_open(f, NULL);

	assert_true(image_u64(img, ELFFILE_DATA, &word));
	assert_int_equal(word, 1);
	assert_int_equal(pwrite(f->fd, &other, sizeof(other), ELFFILE_DATA - 0x400000), 8);
	assert_true(image_u64(img, ELFFILE_DATA, &word));
	assert_int_equal(word, 1);
	image_close(img);
	elffile_free(f);
}

/* Tables as long as a sparse file says are not walked. */
static void test_sparse_relocations(void **state)
{
	enum { DYN = 0x100 };
	static const Elf64_Dyn dyn[] = {{DT_RELA, {ELFFILE_DATA}},
					{DT_RELASZ, {(uint64_t)1 << 32}}};
	struct elffile *f = elffile_new(EM_X86_64);
	struct errmsg err = {0};

	(void)state;
	elffile_segment(f, 2)->p_filesz = elffile_segment(f, 2)->p_memsz = (uint64_t)1 << 32;
	elffile_bytes(f, ELFFILE_DATA + DYN, dyn, sizeof(dyn));
	*elffile_segment(f, elffile_header(f)->e_phnum++) =
		(Elf64_Phdr){.p_type = PT_DYNAMIC,
			     .p_offset = ELFFILE_DATA + DYN - 0x400000,
			     .p_filesz = sizeof(dyn)};
	f->sparse_size = (uint64_t)1 << 33;
	assert_null(elffile_open(f, &err));
	assert_contains(err.text, "more than 384 MB of it would have to be read");
	elffile_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_written_to),
		cmocka_unit_test(test_sparse_relocations),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_wrong_kind),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_nothing_in_the_file),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_relocations),
		cmocka_unit_test(test_symbolic_relocations),
		cmocka_unit_test(test_relocations_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
