// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dietree_place_internal.h"

/* DWARF 5, 7.7.1 */
enum {
	DW_OP_reg0 = 0x50,
	DW_OP_reg31 = 0x6f,
	DW_OP_regx = 0x90,
	DW_OP_fbreg = 0x91,
	DW_OP_piece = 0x93,
	DW_OP_call_frame_cfa = 0x9c,
};

/* Reads a LEB128 number; *len: bytes that there are, then those it has; 0: it is malformed. */
static uint64_t read_leb(const uint8_t *bytes, size_t *len, bool is_signed)
{
	uint64_t value = 0;
	size_t i = 0;

	for (unsigned shift = 0; i < *len && shift < 63; shift += 7) {
		uint8_t byte = bytes[i++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40)
			value |= ~UINT64_C(0) << (shift + 7);
		*len = i;
		return value;
	}
	*len = 0;
	return 0;
}

static bool add_op(unsigned op, uint64_t number, bool is_first, struct die_place *out)
{
	if (op == DW_OP_piece)
		out->size += number < UINT32_MAX ? number : 0;
	else if (!is_first)
		return true;
	else if (op == DW_OP_fbreg)
		out->n = number;
	else if (op >= DW_OP_reg0 && op <= DW_OP_reg31)
		*out = (struct die_place){.in_register = true, .n = op - DW_OP_reg0};
	else if (op != DW_OP_call_frame_cfa)
		return false;
	return !is_first || op != DW_OP_piece;
}

/* Go writes locations outside lists as DW_FORM_block1, which libdw does not take for a location. */
bool dietree_place_of_bytes(const uint8_t *bytes, size_t left, struct die_place *out)
{
	bool is_first = true;

	*out = (struct die_place){0};
	while (left) {
		unsigned op = *bytes++;
		size_t len = --left;
		uint64_t number = 0;

		if (op == DW_OP_fbreg || op == DW_OP_piece) {
			number = read_leb(bytes, &len, op == DW_OP_fbreg);
			if (!len)
				return false;
			bytes += len;
			left -= len;
		}
		if (!add_op(op, number, is_first, out))
			return false;
		is_first = false;
	}
	if (!out->size)
		out->size = UINT64_MAX;
	out->is_fixed = true;
	return !is_first;
}

bool dietree_place_of_ops(const struct dietree_op *ops, size_t count, struct die_place *out)
{
	*out = (struct die_place){0};
	for (size_t i = 0; i < count; i++)
		if (!add_op(ops[i].atom, ops[i].number, i == 0, out))
			return false;
	return count;
}

/* false: it is of a kind that Go does not write */
static bool piece_begin(const struct dietree_op *op, struct die_piece *out)
{
	*out = (struct die_piece){.size = UINT64_MAX};
	out->in_register = op->atom != DW_OP_fbreg && op->atom != DW_OP_call_frame_cfa;
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		out->n = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_fbreg || op->atom == DW_OP_regx)
		out->n = op->number;
	else
		return op->atom == DW_OP_call_frame_cfa;
	return true;
}

/* false: it is neither one place alone nor a list of pieces, each after its place or after none */
static bool take_pieces(const struct dietree_op *ops, size_t count, struct die_pieces *out)
{
	struct die_piece piece;
	bool placed = false;

	for (size_t i = 0; i < count; i++) {
		if (ops[i].atom != DW_OP_piece) {
			if (placed || !piece_begin(&ops[i], &piece))
				return false;
			placed = true;
			continue;
		}
		if (ops[i].number > UINT32_MAX || out->count == DIE_PIECES_MAX)
			return false;
		piece.off = out->size;
		piece.size = ops[i].number;
		out->size += piece.size;
		if (placed)
			out->items[out->count++] = piece;
		placed = false;
	}
	if (!placed)
		return true;
	out->items[0] = piece;
	out->count = 1;
	bool whole = !out->size;

	out->size = UINT64_MAX;
	return whole;
}

void dietree_pieces_of_ops(const struct dietree_op *ops, size_t count, struct die_pieces *out)
{
	out->count = out->size = 0;
	if (!take_pieces(ops, count, out))
		out->count = out->size = 0;
}
