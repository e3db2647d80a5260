// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "coredump.h"
#include "elf/corefile_internal.h"
#include "elf/corefile_program.h"
#include "elffile.h"
#include "files/heldfile.h"
#include "unit.h"

static struct corefile *open_bytes(const void *data, size_t size, struct errmsg *err)
{
	int fd = memfd_create("core", MFD_CLOEXEC);
	char path[32];

	assert_int_equal(write(fd, data, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	struct corefile *core = corefile_open(heldfile_open(NULL, path, err), err);

	close(fd);
	return core;
}

static struct corefile *open_core(struct coredump *dump, struct errmsg *err)
{
	struct corefile *core = open_bytes(dump->data, dump->size, err);

	free(dump);
	return core;
}

static struct corefile *whole(void)
{
	struct errmsg err = {0};
	struct corefile *core = open_core(coredump_new(), &err);

	assert_string_equal(err.text, "");
	assert_non_null(core);
	return core;
}

static void refused_hint(struct coredump *dump, const char *why, const char *hint)
{
	struct errmsg err = {0};

	assert_null(open_core(dump, &err));
	if (!strstr(err.text, why))
		fail_msg("\"%s\", not \"%s\"", err.text, why);
	assert_string_equal(err.hint, hint);
}

static void refused(struct coredump *dump, const char *why)
{
	refused_hint(dump, why, "");
}

/* --- what it holds --- */

static void test_notes(void **state)
{
	struct corefile *core = whole();
	size_t count;
	const struct corefile_thread *all = corefile_threads(core, &count);
	uint64_t value, addr, off;

	(void)state;
	assert_int_equal(corefile_pid(core), COREDUMP_PID);
	assert_int_equal(count, COREDUMP_THREADS);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(all[i].tid, COREDUMP_PID + i);
		assert_int_equal(all[i].call, i);
		assert_int_equal(all[i].pc, 0x1000 + i);
		assert_int_equal(all[i].sp, 0x2000 + i);
		assert_int_equal(all[i].tls, 0x3000 + i);
	}
	assert_true(corefile_auxv(core, AT_ENTRY, &value));
	assert_int_equal(value, COREDUMP_BIAS + 0x401000);
	assert_false(corefile_auxv(core, AT_BASE, &value));
	assert_true(corefile_mapping(core, 0, &addr, &off));
	assert_int_equal(addr, COREDUMP_BIAS + 0x401000);
	assert_int_equal(off, 0x1000);
	assert_false(corefile_mapping(core, 1, &addr, &off));
	corefile_close(core);
}

static void test_memory(void **state)
{
	struct corefile *core = whole();
	uint64_t words[4], size;

	(void)state;
	assert_int_equal(corefile_read(core, COREDUMP_LOW_ADDR + 8, words, 8), 8);
	assert_int_equal(words[0], COREDUMP_LOW + 8);
	/* from one segment into the next */
	assert_int_equal(corefile_read(core, COREDUMP_HIGH_ADDR - 16, words, 32), 32);
	assert_int_equal(words[1], COREDUMP_HIGH - 8);
	assert_int_equal(words[3], COREDUMP_HIGH + 8);
	/* and into one that is not there */
	assert_int_equal(corefile_read(core, COREDUMP_GAP_ADDR - 8, words, 32), 8);
	assert_int_equal(corefile_read(core, COREDUMP_GAP_ADDR, words, 8), 0);
	assert_int_equal(corefile_read(core, COREDUMP_LOW_ADDR - 1, words, 8), 0);
	assert_int_equal(corefile_read(core, UINT64_MAX - 3, words, 8), 0);
	assert_int_equal(corefile_missing(core, &size), 0);
	assert_int_equal(size, 0x2000);
	corefile_close(core);
}

/* --- cut off --- */

static void test_cut(void **state)
{
	struct coredump *dump = coredump_new();
	struct errmsg err = {0};
	uint64_t words[2], size;

	(void)state;
	dump->size = COREDUMP_HIGH + 0x123;
	struct corefile *core = open_core(dump, &err);

	assert_int_equal(corefile_missing(core, &size), 0x1000 - 0x123);
	assert_int_equal(size, 0x2000);
	assert_int_equal(corefile_read(core, COREDUMP_HIGH_ADDR + 0x120, words, 8), 3);
	corefile_close(core);
	dump = coredump_new();
	uint64_t notes = coredump_segment(dump, 0)->p_filesz;

	dump->size = COREDUMP_NOTES + 400; /* in the second note */
	core = open_core(dump, &err);
	corefile_threads(core, &size);
	assert_int_equal(size, 1);
	/* what is left of the notes counts as read */
	assert_int_equal(corefile_missing(core, &size), 0x2000 + notes - 400);
	assert_int_equal(size, 0x2000 + notes - 400);
	assert_non_null(strstr(corefile_path(core), "/fd/"));
	corefile_close(core);
	dump = coredump_new();
	dump->size = sizeof(Elf64_Ehdr) + 10;
	refused(dump, "ends before its program headers do");
	dump = coredump_new();
	dump->size = sizeof(Elf64_Ehdr) - 1;
	refused(dump, "its ELF header is incomplete");
}

/* --- not what it should be --- */

static void test_other_files(void **state)
{
	static const struct {
		uint8_t bytes[16];
		const char *hint;
	} packed[] = {
		{{0x28, 0xb5, 0x2f, 0xfd}, "it is compressed: unpack it with zstd -d"},
		{{0x04, 0x22, 0x4d, 0x18}, "it is compressed: unpack it with lz4 -d"},
		{{0xfd, '7', 'z', 'X', 'Z'}, "it is compressed: unpack it with xz -d"},
		{{0x1f, 0x8b, 0x08}, "it is compressed: unpack it with gzip -d"},
		{{0x28, 0xb5, 0x2f, 0xfe}, ""},
		{{0x04, 0x22, 0x4d, 0x19}, ""},
		{{0xfd, '7', 'z', 'Y'}, ""},
		{{0x1f, 0x8c}, ""},
	};
	struct coredump *dump = coredump_new();
	struct errmsg err = {0};

	(void)state;
	coredump_header(dump)->e_type = ET_DYN;
	refused_hint(dump, "not a core file, but a program",
		     "the core file comes first, then the program");
	dump = coredump_new();
	coredump_header(dump)->e_machine = EM_AARCH64;
	refused(dump, "only core files of x86-64 programs");
	dump = coredump_new();
	dump->data[1] = 'e';
	refused(dump, "not a core file");
	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++) {
		err = (struct errmsg){0};
		assert_null(open_bytes(packed[i].bytes, sizeof(packed[i].bytes), &err));
		assert_string_equal(err.hint, packed[i].hint);
	}
	assert_null(open_bytes(packed, 0, &err));
}

static void test_headers_lie(void **state)
{
	struct coredump *dump = coredump_new();

	(void)state;
	coredump_header(dump)->e_phnum = 0;
	refused(dump, "malformed program headers");
	dump = coredump_new();
	coredump_header(dump)->e_phnum = PN_XNUM; /* and no section header has the number */
	coredump_header(dump)->e_shoff = UINT64_MAX - 8;
	refused(dump, "malformed program headers");
	dump = coredump_new();
	coredump_header(dump)->e_phnum = PN_XNUM - 1;
	refused(dump, "ends before its program headers do");
	dump = coredump_new();
	coredump_header(dump)->e_phoff = UINT64_MAX - 8;
	refused(dump, "ends before its program headers do");
	dump = coredump_new();
	coredump_segment(dump, 1)->p_vaddr = UINT64_MAX - 0xf;
	refused(dump, "a segment has an impossible size");
	dump = coredump_new();
	coredump_segment(dump, 1)->p_filesz = 0x2000;
	refused(dump, "a segment has an impossible size");
	dump = coredump_new();
	coredump_segment(dump, 1)->p_offset = UINT64_MAX - 0xf;
	refused(dump, "a segment has an impossible size");
	dump = coredump_new();
	coredump_segment(dump, 1)->p_filesz = coredump_segment(dump, 1)->p_memsz = INT64_MAX;
	coredump_segment(dump, 2)->p_filesz = coredump_segment(dump, 2)->p_memsz = INT64_MAX;
	coredump_segment(dump, 3)->p_filesz = coredump_segment(dump, 3)->p_memsz = INT64_MAX;
	refused(dump, "a segment has an impossible size");
}

/* Segments of notes that lie on one another, each as long as it may be. */
static void test_notes_without_end(void **state)
{
	struct coredump *dump = coredump_new();

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		*coredump_segment(dump, i) = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_offset = COREDUMP_NOTES, .p_filesz = 100 << 20};
	refused(dump, "more notes than a process can");
}

/* With more segments than e_phnum can tell */
static void test_many_headers(void **state)
{
	struct coredump *dump = coredump_new();
	const Elf64_Shdr first = {.sh_info = 4};
	struct errmsg err = {0};
	size_t count;

	(void)state;
	coredump_header(dump)->e_phnum = PN_XNUM;
	coredump_header(dump)->e_shoff = 0x1f00;
	memcpy(dump->data + 0x1f00, &first, sizeof(first));
	struct corefile *core = open_core(dump, &err);

	corefile_threads(core, &count);
	assert_int_equal(count, COREDUMP_THREADS);
	corefile_close(core);
}

static void test_overlap(void **state)
{
	struct coredump *dump = coredump_new();
	struct errmsg err = {0};
	uint64_t word, words[2];

	(void)state;
	coredump_segment(dump, 2)->p_vaddr = COREDUMP_LOW_ADDR + 0x800;
	struct corefile *core = open_core(dump, &err);

	assert_int_equal(corefile_read(core, COREDUMP_LOW_ADDR + 0x7f8, &word, 8), 8);
	assert_int_equal(word, COREDUMP_LOW + 0x7f8);
	assert_int_equal(corefile_read(core, COREDUMP_LOW_ADDR + 0x800, &word, 8), 8);
	assert_int_equal(word, COREDUMP_HIGH);
	assert_int_equal(corefile_read(core, COREDUMP_LOW_ADDR + 0x7f8, words, 16), 16);
	assert_int_equal(words[1], COREDUMP_HIGH);
	corefile_close(core);
}

/* Sizes of a note that go beyond the notes, or wrap. */
static void test_notes_lie(void **state)
{
	const uint32_t sizes[] = {0x7fffffff, UINT32_MAX, UINT32_MAX - 2, 0x10000};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		struct coredump *dump = coredump_new();
		struct errmsg err = {0};
		size_t count;

		memcpy(dump->data + COREDUMP_NOTES + i % 2 * 4, &sizes[i / 2], 4);
		struct corefile *core = open_core(dump, &err);

		assert_non_null(core);
		corefile_threads(core, &count);
		assert_int_equal(count, 0);
		corefile_close(core);
	}
}

/* --- of which program --- */

/* Its ID stands where the core file's low segment has it in memory. */
static struct image *program(struct elffile *f, const char *id, unsigned type)
{
	struct {
		Elf64_Nhdr head;
		char name[4], desc[8];
	} note = {{4, 8, 4}, "Go", ""};
	struct errmsg err = {0};

	memcpy(note.name, type == 3 ? "GNU" : "Go\0", 4);
	note.head.n_type = type;
	memcpy(note.desc, id, 8);
	elffile_bytes(f, ELFFILE_RODATA + 0x100, &note, sizeof(note));
	*elffile_segment(f, elffile_header(f)->e_phnum++) =
		(Elf64_Phdr){.p_type = PT_NOTE,
			     .p_offset = ELFFILE_RODATA - 0x400000 + 0x100,
			     .p_vaddr = ELFFILE_RODATA + 0x100,
			     .p_filesz = sizeof(note)};
	return elffile_open(f, &err);
}

static enum corefile_match match(const char *id, const char *other, unsigned type, uint16_t elf,
				 uint64_t entry, uint64_t *bias)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct coredump *dump = coredump_new();
	struct errmsg err = {0};

	elffile_header(f)->e_type = elf;
	elffile_header(f)->e_entry = entry;
	struct image *img = program(f, id, type);

	coredump_segment(dump, 1)->p_vaddr = ELFFILE_RODATA + (elf == ET_DYN ? COREDUMP_BIAS : 0);
	memcpy(dump->data + COREDUMP_LOW + 0x100, elffile_at(f, ELFFILE_RODATA + 0x100), 24);
	memcpy(dump->data + COREDUMP_LOW + 0x110, other, 8);
	struct corefile *core = open_core(dump, &err);
	enum corefile_match found = corefile_program(core, img, bias);

	corefile_close(core);
	image_close(img);
	elffile_free(f);
	return found;
}

static void test_program(void **state)
{
	enum { PIE = 0x401000, FIXED = COREDUMP_BIAS + PIE, OTHER = 0x402345 };
	uint64_t bias;

	(void)state;
	assert_int_equal(match("12345678", "12345678", 4, ET_EXEC, FIXED, &bias), COREFILE_SAME);
	assert_int_equal(bias, 0);
	assert_int_equal(match("12345678", "12345679", 4, ET_EXEC, FIXED, &bias), COREFILE_OTHER);
	assert_int_equal(match("12345678", "12345678", 3, ET_DYN, PIE, &bias), COREFILE_SAME);
	assert_int_equal(bias, COREDUMP_BIAS);
	assert_int_equal(match("12345678", "12345679", 3, ET_DYN, PIE, &bias), COREFILE_OTHER);
	/* the entry was the dynamic linker's, which was called by its name */
	assert_int_equal(match("12345678", "12345678", 3, ET_DYN, OTHER, &bias), COREFILE_SAME);
	assert_int_equal(bias, COREDUMP_BIAS);
	/* a note of another kind tells nothing: but the entry does */
	assert_int_equal(match("12345678", "12345678", 1, ET_DYN, PIE, &bias), COREFILE_UNTOLD);
	assert_int_equal(bias, COREDUMP_BIAS);
	assert_int_equal(match("12345678", "12345678", 1, ET_DYN, OTHER, &bias), COREFILE_OTHER);
	assert_int_equal(match("12345678", "12345678", 1, ET_EXEC, FIXED, &bias), COREFILE_UNTOLD);
	assert_int_equal(match("12345678", "12345678", 1, ET_EXEC, PIE, &bias), COREFILE_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_headers_lie),
		cmocka_unit_test(test_many_headers),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_notes_lie),
		cmocka_unit_test(test_notes_without_end),
		cmocka_unit_test(test_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
