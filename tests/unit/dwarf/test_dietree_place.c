// SPDX-License-Identifier: Apache-2.0
/* Where location expressions say that a variable is: from bytes, and from operations. */
#include <stdio.h>

#include "dwarf/dietree_place_internal.h"
#include "steps.h"
#include "unit.h"

enum {
	REG0 = 0x50,
	REG31 = 0x6f,
	REGX = 0x90,
	FBREG = 0x91,
	PIECE = 0x93,
	CFA = 0x9c,
	LIT0 = 0x30
};

static size_t bytes_of(const char *hex, uint8_t *out)
{
	size_t len = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[len++] = (uint8_t)byte;
	return len;
}

static void say_place(bool is_known, const struct die_place *place)
{
	if (is_known)
		steps_are("%s %ld%s size %lx", place->in_register ? "r" : "slot", place->n,
			  place->is_fixed ? " fixed" : "", place->size);
	else
		steps_are("-");
}

static void test_bytes(void **state)
{
	static const char *const rows[] = {
		"9c",
		"50",
		"6f",
		"70",
		"4f",
		"91",
		"9108",
		"9178",
		"91ff00",
		"91807f",
		"9180",
		"9c9308",
		"50930851",
		"509308519304",
		"50930451930491109304",
		"9308",
		"9c9c",
		"30",
		"5030",
		"",
		"9c93ffffffff0f",
		"9c93feffffff0f",
		"9c93808080808001",
		"91ffffffffffffffffff00",
		"91ffffffffffffffff7f",
		"91ffffffffffffffffff7f",
		"91808080808080808040",
		"9180808080808080c000",
		"90059308",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct die_place place;
		uint8_t bytes[32];
		bool is_known = dietree_place_of_bytes(bytes, bytes_of(rows[i], bytes), &place);

		say_place(is_known, &place);
	}
	steps_expect("slot 0 fixed size ffffffffffffffff; r 0 fixed size ffffffffffffffff; "
		     "r 31 fixed size ffffffffffffffff; -; -; -; slot 8 fixed size "
		     "ffffffffffffffff; slot -8 fixed size ffffffffffffffff; slot 127 fixed "
		     "size ffffffffffffffff; slot -128 fixed size ffffffffffffffff; -; slot "
		     "0 fixed size 8; r 0 fixed size 8; r 0 fixed size c; r 0 fixed size c; "
		     "-; slot 0 fixed size ffffffffffffffff; -; r 0 fixed size "
		     "ffffffffffffffff; -; slot 0 fixed size ffffffffffffffff; slot 0 fixed "
		     "size fffffffe; slot 0 fixed size ffffffffffffffff; -; slot -1 fixed "
		     "size ffffffffffffffff; -; slot -4611686018427387904 fixed size "
		     "ffffffffffffffff; slot 36028797018963968 fixed size ffffffffffffffff; "
		     "-; ");
}

static const struct row {
	struct dietree_op ops[8];
	size_t count;
} rows[] = {
	{{{CFA, 0}}, 1},
	{{{REG0, 0}}, 1},
	{{{REG31, 0}}, 1},
	{{{REG31 + 1, 0}}, 1},
	{{{REGX, 40}}, 1},
	{{{FBREG, 24}}, 1},
	{{{FBREG, (uint64_t)-24}}, 1},
	{{{LIT0, 0}}, 1},
	{{{0}}, 0},
	{{{REG0, 0}, {PIECE, 8}}, 2},
	{{{REG0, 0}, {PIECE, 8}, {REG0 + 3, 0}, {PIECE, 4}}, 4},
	{{{PIECE, 8}, {REG0 + 3, 0}, {PIECE, 4}}, 3},
	{{{REG0, 0}, {PIECE, 8}, {PIECE, 4}}, 3},
	{{{REG0, 0}, {PIECE, 8}, {FBREG, 16}}, 3},
	{{{REG0, 0}, {REG0 + 1, 0}}, 2},
	{{{REG0, 0}, {LIT0, 0}}, 2},
	{{{REG0, 0}, {PIECE, UINT32_MAX}}, 2},
	{{{REG0, 0}, {PIECE, UINT32_MAX + 1ul}}, 2},
	{{{PIECE, 8}}, 1},
};

static void say_pieces(const struct die_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		steps_are("%s %ld off %lu size %lx", pieces->items[i].in_register ? "r" : "slot",
			  pieces->items[i].n, pieces->items[i].off, pieces->items[i].size);
	steps_are("%zu of %lx", pieces->count, pieces->size);
}

static void test_ops(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct die_pieces pieces;
		struct die_place place;

		say_place(dietree_place_of_ops(rows[i].ops, rows[i].count, &place), &place);
		dietree_pieces_of_ops(rows[i].ops, rows[i].count, &pieces);
		say_pieces(&pieces);
	}
	steps_expect("slot 0 size 0; slot 0 off 0 size ffffffffffffffff; 1 of "
		     "ffffffffffffffff; r 0 size 0; r 0 off 0 size ffffffffffffffff; 1 of "
		     "ffffffffffffffff; r 31 size 0; r 31 off 0 size ffffffffffffffff; 1 of "
		     "ffffffffffffffff; -; 0 of 0; -; r 40 off 0 size ffffffffffffffff; 1 "
		     "of ffffffffffffffff; slot 24 size 0; slot 24 off 0 size "
		     "ffffffffffffffff; 1 of ffffffffffffffff; slot -24 size 0; slot -24 "
		     "off 0 size ffffffffffffffff; 1 of ffffffffffffffff; -; 0 of 0; -; 0 "
		     "of 0; r 0 size 8; r 0 off 0 size 8; 1 of 8; r 0 size c; r 0 off 0 "
		     "size 8; r 3 off 8 size 4; 2 of c; -; r 3 off 8 size 4; 1 of c; r 0 "
		     "size c; r 0 off 0 size 8; 1 of c; r 0 size 8; 0 of 0; r 0 size 0; 0 "
		     "of 0; r 0 size 0; 0 of 0; r 0 size 0; r 0 off 0 size ffffffff; 1 of "
		     "ffffffff; r 0 size 0; 0 of 0; -; 0 of 8; ");
}

/* more pieces than there is room for */
static void test_many(void **state)
{
	struct dietree_op ops[2 * DIE_PIECES_MAX + 2];
	struct die_pieces pieces;

	(void)state;
	for (size_t i = 0; i < 2 * DIE_PIECES_MAX + 2; i += 2) {
		ops[i] = (struct dietree_op){REG0, 0};
		ops[i + 1] = (struct dietree_op){PIECE, 1};
	}
	dietree_pieces_of_ops(ops, 2ul * DIE_PIECES_MAX, &pieces);
	assert_int_equal(pieces.count, DIE_PIECES_MAX);
	assert_int_equal(pieces.size, DIE_PIECES_MAX);
	dietree_pieces_of_ops(ops, 2ul * DIE_PIECES_MAX + 2, &pieces);
	assert_int_equal(pieces.count, 0);
	assert_int_equal(pieces.size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
