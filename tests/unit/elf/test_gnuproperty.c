// SPDX-License-Identifier: Apache-2.0
#include "elf/gnuproperty.h"
#include "elf/image.h"
#include "elffile.h"
#include "unit.h"

enum { GNU_PROPERTY = 0x6474e553, X86_FEATURES = 0xc0000002, X86_USED = 0xc0010002 };
enum { SHADOW_STACK = 2, BRANCH_TRACKING = 1 };

struct note { /* a note with two properties */
	Elf64_Nhdr head;
	char name[4];
	uint32_t first, first_len, first_value, first_padding;
	uint32_t type, len, value, padding;
};

/* A file whose segment `type` says that it has `len` bytes; they begin with `have` that are given,
 * and zeroes follow. */
static bool answer_of(uint32_t type, const void *bytes, size_t have, uint64_t len, uint64_t align)
{
	struct elffile *f = elffile_new(EM_X86_64);

	*elffile_segment(f, elffile_header(f)->e_phnum++) = (Elf64_Phdr){
		.p_type = type,
		.p_offset = ELFFILE_DATA - 0x400000,
		.p_vaddr = ELFFILE_DATA,
		.p_filesz = len,
		.p_align = align,
	};
	elffile_bytes(f, ELFFILE_DATA, bytes, len < have ? len : have);
	struct image *img = elffile_open(f, NULL);

	assert_non_null(img);
	bool got = gnuproperty_shadow_stack(img);

	image_close(img);
	elffile_free(f);
	return got;
}

static bool answer(uint32_t type, const struct note *note, uint64_t len, uint64_t align)
{
	return answer_of(type, note, sizeof(*note), len, align);
}

static struct note note_with(uint32_t features)
{
	return (struct note){
		.head = {4, 32, NT_GNU_PROPERTY_TYPE_0},
		.name = "GNU",
		.first = X86_USED,
		.first_len = 4,
		.first_value = SHADOW_STACK,
		.type = X86_FEATURES,
		.len = 4,
		.value = features,
	};
}

static void test_features(void **state)
{
	struct note note = note_with(BRANCH_TRACKING);

	(void)state;
	assert_false(answer(GNU_PROPERTY, &note, sizeof(note), 8));
	assert_false(answer(PT_NOTE, &note, sizeof(note), 8));
	note = note_with(SHADOW_STACK | BRANCH_TRACKING);
	assert_true(answer(GNU_PROPERTY, &note, sizeof(note), 8));
	assert_true(answer(PT_NOTE, &note, sizeof(note), 8));
	/* other segments are no notes, and nobody's notes but GNU's say it */
	assert_false(answer(PT_GNU_STACK, &note, sizeof(note), 8));
	note.name[2] = 'V';
	assert_false(answer(PT_NOTE, &note, sizeof(note), 8));
	note = note_with(SHADOW_STACK);
	note.head.n_type = NT_GNU_BUILD_ID;
	assert_false(answer(PT_NOTE, &note, sizeof(note), 8));
	assert_false(answer(PT_NOTE, &note, 0, 8));
}

/* A build ID of an odd length before it, aligned as the segment says */
static void test_second(void **state)
{
	struct {
		Elf64_Nhdr head;
		char name[4], id[8];
		struct note note;
	} notes = {.head = {4, 5, NT_GNU_BUILD_ID}, .name = "GNU"};

	(void)state;
	notes.note = note_with(SHADOW_STACK);
	assert_true(answer_of(PT_NOTE, &notes, sizeof(notes), sizeof(notes), 8));
	assert_true(answer_of(PT_NOTE, &notes, sizeof(notes), sizeof(notes), 4));
	notes.note = note_with(0);
	assert_false(answer_of(PT_NOTE, &notes, sizeof(notes), sizeof(notes), 8));
	assert_false(answer_of(PT_NOTE, &notes, sizeof(notes), sizeof(notes), 4));
}

/* What cannot be read may say it. */
static void test_hostile(void **state)
{
	struct note note = note_with(0);

	(void)state;
	for (uint64_t len = 1; len < sizeof(note) - sizeof(note.padding); len++)
		assert_true(answer(GNU_PROPERTY, &note, len, 8));
	assert_false(answer(GNU_PROPERTY, &note, sizeof(note), 8));
	note.len = UINT32_MAX;
	assert_true(answer(GNU_PROPERTY, &note, sizeof(note), 8));
	note.len = 2; /* too short for its bits */
	assert_true(answer(GNU_PROPERTY, &note, sizeof(note), 8));
	note = note_with(0);
	note.head.n_descsz = UINT32_MAX;
	assert_true(answer(GNU_PROPERTY, &note, sizeof(note), 8));
	note = note_with(0);
	note.head.n_namesz = UINT32_MAX - 2;
	assert_true(answer(GNU_PROPERTY, &note, sizeof(note), 8));
	note = note_with(0);
	/* beyond the file, more than is read of any file's notes, and without an end */
	assert_true(answer(GNU_PROPERTY, &note, ELFFILE_SIZE, 8));
	assert_true(answer(GNU_PROPERTY, &note, (1 << 16) + 1, 8));
	assert_true(answer(PT_NOTE, &note, UINT64_MAX, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_second),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
