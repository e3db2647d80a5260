// SPDX-License-Identifier: Apache-2.0
/* Call frame information that a test makes up: what each rule says, and what is malformed. */
#include <string.h>

#include "base/budget.h"
#include "elf/ehframe_internal.h"
#include "elf/unwind.h"
#include "elffile.h"
#include "framefile.h"
#include "unit.h"

enum { RULES = 100000 };

/* CFA is rsp + 8, and there is the return address */
#define FIRST FRAMEFILE_RULES("\x0c\x07\x08\x90\x01")

/* The row of an address in main.a, which has these rules. */
static bool row_at(struct framefile_rules rules, bool large, uint64_t off, struct ehframe_row *row)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct budget work = {RULES};
	struct framefile w;

	framefile_make(&w, f, large, FIRST);
	framefile_func(&w, rules);

	struct image *img = elffile_open(f, NULL);
	bool found = ehframe_row(img, ELFFILE_TEXT + off, &work, row);

	image_close(img);
	elffile_free(f);
	return found;
}

#define ROW(text, off, row) row_at(FRAMEFILE_RULES(text), false, off, row)

static void expect_rule(const struct ehframe_row *row, unsigned reg, enum ehframe_how how,
			int64_t off)
{
	assert_int_equal(row->regs[reg].how, how);
	assert_int_equal(row->regs[reg].off, off);
}

static void expect_cfa(const struct ehframe_row *row, unsigned reg, int64_t off)
{
	assert_int_equal(row->cfa_reg, reg);
	assert_int_equal(row->cfa_off, off);
}

/* push %rbp; mov %rsp,%rbp; and a return in the middle */
static void test_frame_pointer(void **state)
{
	const struct framefile_rules rules =
		FRAMEFILE_RULES("\x41\x0e\x10\x86\x02\x43\x0d\x06\x60\x0a\xc6\x0c\x07\x08\x41\x0b");
	struct ehframe_row row;

	(void)state;
	for (int large = 0; large < 2; large++) {
		assert_true(row_at(rules, large, 0, &row));
		assert_int_equal(row.func, ELFFILE_TEXT);
		expect_cfa(&row, AMD64_RSP, 8);
		expect_rule(&row, EHFRAME_RA, EHFRAME_SAVED, -8);
		expect_rule(&row, AMD64_RBP, EHFRAME_SAME, 0);
		assert_true(row_at(rules, large, 1, &row));
		expect_cfa(&row, AMD64_RSP, 16);
		expect_rule(&row, AMD64_RBP, EHFRAME_SAVED, -16);
		assert_true(row_at(rules, large, 4, &row));
		expect_cfa(&row, AMD64_RBP, 16);
		assert_true(row_at(rules, large, 0x24, &row));
		expect_cfa(&row, AMD64_RSP, 8);
		expect_rule(&row, AMD64_RBP, EHFRAME_SAME, 0);
		assert_true(row_at(rules, large, 0x25, &row));
		expect_cfa(&row, AMD64_RBP, 16);
		expect_rule(&row, AMD64_RBP, EHFRAME_SAVED, -16);
		assert_true(row_at(rules, large, FRAMEFILE_FUNCTION - 1, &row));
		assert_false(row_at(rules, large, FRAMEFILE_FUNCTION, &row));
		assert_false(row_at(rules, large, UINT64_MAX, &row));
	}
}

static void test_places(void **state)
{
	struct ehframe_row row;

	(void)state;
	/* offset_extended, with a sign, val_offset; a register's number is any */
	assert_true(ROW("\x05\x0c\x02\x11\x0d\x7f\x14\x0e\x03\x05\x80\x01\x02", 0, &row));
	expect_rule(&row, AMD64_R12, EHFRAME_SAVED, -16);
	expect_rule(&row, AMD64_R13, EHFRAME_SAVED, 8);
	expect_rule(&row, AMD64_R14, EHFRAME_VALUE, -24);
	/* undefined, in another register, by expressions: passed over whole */
	assert_true(
		ROW("\x07\x0c\x09\x0d\x01\x10\x0e\x02\x77\x08\x16\x0f\x01\x9c\x0e\x20", 0, &row));
	for (unsigned reg = AMD64_R12; reg <= AMD64_R15; reg++)
		expect_rule(&row, reg, EHFRAME_LOST, 0);
	expect_cfa(&row, AMD64_RSP, 32);
	/* same_value; restore_extended and restore are what they were at first */
	assert_true(ROW("\x8c\x02\x08\x0c\x07\x10\x06\x10\x8d\x02\xcd", 0, &row));
	expect_rule(&row, AMD64_R12, EHFRAME_SAME, 0);
	expect_rule(&row, AMD64_R13, EHFRAME_SAME, 0);
	expect_rule(&row, EHFRAME_RA, EHFRAME_SAVED, -8);
}

static void test_frames(void **state)
{
	struct ehframe_row row;

	(void)state;
	assert_true(ROW("\x12\x06\x7d\x2e\x10", 0, &row)); /* def_cfa_sf; GNU_args_size */
	expect_cfa(&row, AMD64_RBP, 24);
	assert_true(ROW("\x13\x7b", 0, &row)); /* def_cfa_offset_sf */
	expect_cfa(&row, AMD64_RSP, 40);
	assert_false(ROW("\x0f\x02\x77\x08", 0, &row));            /* an expression is not known, */
	assert_true(ROW("\x0f\x02\x77\x08\x0c\x07\x10", 0, &row)); /* but what comes later is */
	expect_cfa(&row, AMD64_RSP, 16);
	assert_false(ROW("\x0d\x10", 0, &row)); /* of no register */
	assert_false(ROW("\x0d\x80\x80\x04", 0, &row));
}

static void test_advances(void **state)
{
	struct ehframe_row row;

	(void)state;
	for (unsigned off = 0; off < 13; off++) {
		assert_true(
			ROW("\x02\x03\x0e\x10\x03\x04\0\x0e\x18\x04\x05\0\0\0\x0e\x20", off, &row));
		expect_cfa(&row, AMD64_RSP, off < 3 ? 8 : off < 7 ? 16 : off < 12 ? 24 : 32);
	}
}

static void test_malformed(void **state)
{
	struct ehframe_row row;

	(void)state;
	assert_false(ROW("\x0b", 0, &row)); /* nothing is remembered */
	assert_true(
		ROW("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a", 0, &row));
	assert_false(ROW("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a", 0,
			 &row));
	assert_false(ROW("\x3f", 0, &row));             /* no such rule */
	assert_false(ROW("\x10\x0e\x7f\x77", 0, &row)); /* longer than the record */
	assert_false(ROW("\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 0, &row));
}

/* A function that ends beyond the end of memory has no place before its begin. */
static void test_range(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct budget work = {RULES};
	struct ehframe_row row;
	struct framefile w;

	(void)state;
	framefile_make(&w, f, true, FIRST);

	uint64_t func = framefile_func(&w, FRAMEFILE_RULES(""));

	elffile_u64(f, func + 8, ELFFILE_TEXT + 2);
	elffile_u64(f, func + 16, UINT64_MAX);

	struct image *img = elffile_open(f, NULL);

	assert_false(ehframe_row(img, ELFFILE_TEXT, &work, &row));
	assert_false(ehframe_row(img, ELFFILE_TEXT + 1, &work, &row));
	assert_true(ehframe_row(img, ELFFILE_TEXT + 2, &work, &row));
	assert_true(ehframe_row(img, ELFFILE_TEXT + 0x100, &work, &row));
	image_close(img);
	elffile_free(f);
}

/* How many frames are found of a function that calls itself for ever, with a number of rules that
 * do nothing. */
static size_t found_of(size_t rules, bool *complete)
{
	enum { FRAMES = 8192 };
	static uint64_t stack[FRAMES + 1], frames[FRAMES];
	static char bytes[0x1000]; /* DW_CFA_nop */
	struct elffile *f = elffile_new(EM_X86_64);
	struct framefile w;

	framefile_make(&w, f, false, FIRST);
	framefile_func(&w, (struct framefile_rules){bytes, rules});

	struct image *img = elffile_open(f, NULL);
	const struct unwind_module module = {img, 0, 0};
	const struct unwind_piece piece = {0x10000, sizeof(stack), (const uint8_t *)stack};
	struct unwind u = {&module, 1, &piece, 1, {0}};

	for (size_t i = 0; i <= FRAMES; i++)
		stack[i] = ELFFILE_TEXT + 8;
	u.regs[EHFRAME_RA] = ELFFILE_TEXT + 8;
	u.regs[AMD64_RSP] = piece.addr;

	size_t count = unwind(&u, frames, FRAMES, complete);

	image_close(img);
	elffile_free(f);
	return count;
}

static void test_work(void **state)
{
	bool complete;

	(void)state;
	assert_int_equal(found_of(10, &complete), 8192);
	assert_false(complete);
	assert_in_range(found_of(4000, &complete), 1000, 1100);
	assert_false(complete);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_pointer), cmocka_unit_test(test_places),
		cmocka_unit_test(test_frames),        cmocka_unit_test(test_advances),
		cmocka_unit_test(test_malformed),     cmocka_unit_test(test_range),
		cmocka_unit_test(test_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
