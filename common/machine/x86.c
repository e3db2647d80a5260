// SPDX-License-Identifier: Apache-2.0
#include "machine/x86.h"

#include <string.h>

enum { MAX_SIZE = 15 };

/* What follows each opcode byte: n nothing; m modrm; B, Z modrm and an immediate of 8 or 32 bits;
 * b, w, z, v an immediate of 8, 16, 32 (16 under 66), 32 or 64 bits; j a 32-bit relative target;
 * o an absolute address; e enter's three bytes; T, U test's: an immediate only for /0 and /1;
 * p prefix or escape, taken before the table is asked; x not in 64-bit mode. */
static const char one_byte[] = "mmmmbzxxmmmmbzxp" /* 00 */
			       "mmmmbzxxmmmmbzxx"
			       "mmmmbzpxmmmmbzpx"
			       "mmmmbzpxmmmmbzpx"
			       "pppppppppppppppp" /* 40 */
			       "nnnnnnnnnnnnnnnn"
			       "xxpmppppzZbBnnnn"
			       "bbbbbbbbbbbbbbbb"
			       "BZxBmmmmmmmmmmmm" /* 80 */
			       "nnnnnnnnnnxnnnnn"
			       "oooonnnnbznnnnnn"
			       "bbbbbbbbvvvvvvvv"
			       "BBwnppBZenwnnbxn" /* c0 */
			       "mmmmxxxnmmmmmmmm"
			       "bbbbbbbbjjxbnnnn"
			       "pnppnnTUnnnnnnmm";

static const char two_byte[] = "mmmmxnnnnnxnxmnx" /* 0f 00 */
			       "mmmmmmmmmmmmmmmm"
			       "mmmmxxxxmmmmmmmm"
			       "nnnnnnxnpxpxxxxx"
			       "mmmmmmmmmmmmmmmm" /* 0f 40 */
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "BBBBmmmnmmxxmmmm"
			       "jjjjjjjjjjjjjjjj" /* 0f 80 */
			       "mmmmmmmmmmmmmmmm"
			       "nnnmBmxxnnnmBmmm"
			       "mmmmmmmmmmBmmmmm"
			       "mmBmBBBmnnnnnnnn" /* 0f c0 */
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm";

struct cursor {
	const uint8_t *code;
	size_t len, at;
};

static bool next(struct cursor *c, uint8_t *byte)
{
	if (c->at >= c->len || c->at >= MAX_SIZE)
		return false;
	*byte = c->code[c->at++];
	return true;
}

static uint8_t prefix_bit(uint8_t byte)
{
	switch (byte) {
	case 0xf0:
		return X86_LOCK;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		return X86_SEG_OLD;
	case 0x64:
	case 0x65:
		return X86_SEG;
	case 0x66:
		return X86_OPSIZE;
	case 0x67:
		return X86_ADDRSIZE;
	case 0xf2:
	case 0xf3:
		return X86_REP;
	default:
		return 0;
	}
}

static bool parse_vex(struct cursor *c, struct x86_op *op, uint8_t first)
{
	uint8_t b = 0, skipped = 0;

	op->form = first == 0x62 ? X86_EVEX : X86_VEX;
	if (!next(c, &b))
		return false;
	op->map = 1;
	if (first == 0xc4)
		op->map = b & 0x1f;
	if (first == 0x62)
		op->map = b & 7;
	for (int more = first == 0x62 ? 2 : first == 0xc4; more; more--)
		if (!next(c, &skipped))
			return false;
	if (op->map == 0 || op->map == 4 || op->map > (first == 0x62 ? 6 : 3))
		return false;
	return next(c, &op->opcode);
}

/* prefixes, REX and escapes, up to and including the opcode byte */
static bool parse_opcode(struct cursor *c, struct x86_op *op)
{
	uint8_t byte, bit;

	for (;;) {
		if (!next(c, &byte))
			return false;
		bit = prefix_bit(byte);
		if (!bit)
			break;
		op->prefixes |= bit;
	}
	if ((byte & 0xf0) == 0x40) {
		op->rex = byte;
		if (!next(c, &byte))
			return false;
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return !op->rex && parse_vex(c, op, byte);
	op->opcode = byte;
	if (byte != 0x0f)
		return true;
	op->map = 1;
	if (!next(c, &op->opcode))
		return false;
	if (op->opcode != 0x38 && op->opcode != 0x3a)
		return true;
	op->map = op->opcode == 0x38 ? 2 : 3;
	return next(c, &op->opcode);
}

static char follows(const struct x86_op *op)
{
	switch (op->map) {
	case 0:
		return one_byte[op->opcode];
	case 1:
		return op->form == X86_EVEX && op->opcode != 0x77 && two_byte[op->opcode] != 'B'
			       ? 'm'
			       : two_byte[op->opcode];
	case 3:
		return 'B';
	default:
		return 'm';
	}
}

static bool parse_disp(struct cursor *c, struct x86_op *op, unsigned size)
{
	int8_t small;

	if (size > c->len - c->at)
		return false;
	if (size == 1) {
		memcpy(&small, c->code + c->at, 1);
		op->disp = small;
	} else if (size == 4) {
		memcpy(&op->disp, c->code + c->at, 4);
	}
	c->at += size;
	return true;
}

/* modrm, SIB and displacement */
static bool parse_modrm(struct cursor *c, struct x86_op *op)
{
	uint8_t sib = 0x20; /* no index */
	unsigned size = 0;

	if (!next(c, &op->modrm))
		return false;
	op->has_modrm = true;
	uint8_t mod = op->modrm >> 6, rm = op->modrm & 7, high = op->rex & 1 ? 8 : 0;

	op->base = rm | high;
	if (mod == 3)
		return true;
	if (rm == 4 && !next(c, &sib))
		return false;
	if (rm == 4)
		op->base = (sib & 7) | high;
	if (mod == 0 && rm == 5)
		op->disp_at = c->at;
	if (mod == 1)
		size = 1;
	else if (mod == 2 || op->disp_at || (mod == 0 && rm == 4 && (sib & 7) == 5))
		size = 4;
	op->plain = !op->disp_at && (sib & 0x38) == 0x20 && !(op->rex & 2);
	op->absolute = op->plain && mod == 0 && rm == 4 && (sib & 7) == 5;
	return parse_disp(c, op, size);
}

static uint8_t imm_size(const struct x86_op *op, char what)
{
	bool small = op->prefixes & X86_OPSIZE, test = (op->modrm >> 3 & 7) < 2;

	switch (what) {
	case 'b':
	case 'B':
		return 1;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'j':
		return 4;
	case 'z':
	case 'Z':
		return small ? 2 : 4;
	case 'v':
		return op->rex & 8 ? 8 : small ? 2 : 4;
	case 'o':
		return op->prefixes & X86_ADDRSIZE ? 4 : 8;
	case 'T':
		return test ? 1 : 0;
	case 'U':
		return !test ? 0 : small ? 2 : 4;
	default:
		return 0;
	}
}

/* operands that an opcode byte has no instruction for: data, most likely */
static bool is_hole(const struct x86_op *op)
{
	uint8_t reg = op->modrm >> 3 & 7;

	if (op->map || op->form != X86_LEGACY)
		return false;
	switch (op->opcode) {
	case 0x8d:
		return op->modrm >> 6 == 3;
	case 0x8f:
		return reg != 0;
	case 0xc6:
	case 0xc7:
		return reg != 0 && op->modrm != 0xf8;
	case 0xfe:
		return reg > 1;
	case 0xff:
		return reg == 7;
	default:
		return false;
	}
}

bool x86_parse(const uint8_t *code, size_t len, struct x86_op *out)
{
	struct cursor c = {.code = code, .len = len};

	*out = (struct x86_op){0};
	if (!parse_opcode(&c, out))
		return false;
	char what = follows(out);

	if (what == 'x' || what == 'p')
		return false;
	if (strchr("mBZTU", what) && !parse_modrm(&c, out))
		return false;
	out->imm_size = imm_size(out, what);
	c.at += out->imm_size;
	out->size = c.at;
	return c.at <= len && c.at <= MAX_SIZE && !is_hole(out);
}

uint8_t x86_reg(const struct x86_op *op)
{
	return (op->modrm >> 3 & 7) | (op->rex & 4 ? 8 : 0);
}
