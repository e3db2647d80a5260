// SPDX-License-Identifier: Apache-2.0
#include "elf/ehframe_internal.h"

#include <string.h>

#include "base/budget.h"
#include "elf/ehframe_bytes_internal.h"
#include "elf/image_internal.h"

/* .eh_frame_hdr as all linkers write it: the addresses in its table are 4-byte offsets from it */
enum { HEADER = 12, ENTRY = 8, ENC_PCREL_SDATA4 = 0x1b, ENC_UDATA4 = 0x03, ENC_TABLE = 0x3b };
enum { MAX_RECORD = 1 << 20, MAX_REMEMBERED = 16 };

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of addresses in FDEs */
	bool augmented;
	struct ehframe_bytes rules;
};

struct machine { /* executes the rules */
	const struct cie *cie;
	struct budget *work;
	struct ehframe_row *row, initial;
	struct ehframe_row remembered[MAX_REMEMBERED];
	unsigned depth;
	bool bad;
};

/* --- records --- */

/* What follows the length, at `addr`. */
static bool read_record(const struct image *img, uint64_t addr, struct ehframe_bytes *out)
{
	uint32_t len;
	const uint8_t *at;

	if (!image_u32(img, addr, &len) || len < 4 || len > MAX_RECORD)
		return false;
	at = image_at(img, addr + 4, len);
	*out = (struct ehframe_bytes){.at = at, .end = at ? at + len : NULL, .addr = addr + 4};
	return at;
}

static bool read_augmentation(struct ehframe_bytes *in, const char *text, struct cie *out)
{
	struct ehframe_bytes part;

	out->augmented = *text == 'z';
	if (!out->augmented)
		return !*text;
	part = ehframe_part(in, ehframe_uleb(in));
	for (text++; *text && !part.bad; text++) {
		switch (*text) {
		case 'R':
			out->encoding = ehframe_u8(&part);
			break;
		case 'P':
			ehframe_address(&part, ehframe_u8(&part));
			break;
		case 'L':
			ehframe_u8(&part);
			break;
		case 'S': /* a signal's frame: its address is no return address */
		case 'B':
			break;
		default:
			return false;
		}
	}
	return !part.bad;
}

static bool read_cie(const struct image *img, uint64_t addr, struct cie *out)
{
	struct ehframe_bytes in;
	const char *text;
	uint8_t version;

	*out = (struct cie){0};
	if (!read_record(img, addr, &in) || ehframe_u32(&in) != 0)
		return false;
	version = ehframe_u8(&in);
	text = ehframe_text(&in);
	if (!text || (version != 1 && version != 3))
		return false;
	out->code_align = ehframe_uleb(&in);
	out->data_align = ehframe_sleb(&in);
	if ((version == 1 ? ehframe_u8(&in) : ehframe_uleb(&in)) != EHFRAME_RA || in.bad)
		return false;
	if (!read_augmentation(&in, text, out))
		return false;
	out->rules = in;
	return !in.bad;
}

/* --- rules --- */

static void set_rule(struct machine *m, uint64_t reg, enum ehframe_how how, int64_t off)
{
	if (reg < EHFRAME_REGS)
		m->row->regs[reg] = (struct ehframe_rule){how, off};
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg < EHFRAME_REGS)
		m->row->regs[reg] = m->initial.regs[reg];
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->row->cfa_reg = reg < EHFRAME_RA ? (unsigned)reg : EHFRAME_RA;
	m->row->cfa_off = off;
}

static void remember(struct machine *m)
{
	if (m->depth == MAX_REMEMBERED)
		m->bad = true;
	else
		m->remembered[m->depth++] = *m->row;
}

static void recall(struct machine *m)
{
	if (!m->depth)
		m->bad = true;
	else
		*m->row = m->remembered[--m->depth];
}

static int64_t scaled(const struct machine *m, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)m->cie->data_align);
}

/* The instructions that say where a register is saved, or what the CFA is. */
static void execute_place(struct machine *m, uint8_t op, struct ehframe_bytes *in)
{
	uint64_t reg = op == 0x0e || op == 0x13 || op == 0x0f ? 0 : ehframe_uleb(in);

	switch (op) {
	case 0x05: /* DW_CFA_offset_extended */
		set_rule(m, reg, EHFRAME_SAVED, scaled(m, (int64_t)ehframe_uleb(in)));
		break;
	case 0x11: /* offset_extended_sf */
		set_rule(m, reg, EHFRAME_SAVED, scaled(m, ehframe_sleb(in)));
		break;
	case 0x06: /* restore_extended */
		restore(m, reg);
		break;
	case 0x07: /* undefined */
		set_rule(m, reg, EHFRAME_LOST, 0);
		break;
	case 0x08: /* same_value */
		set_rule(m, reg, EHFRAME_SAME, 0);
		break;
	case 0x09: /* register */
		ehframe_uleb(in);
		set_rule(m, reg, EHFRAME_LOST, 0);
		break;
	case 0x0c: /* def_cfa */
		set_cfa(m, reg, (int64_t)ehframe_uleb(in));
		break;
	case 0x12: /* def_cfa_sf */
		set_cfa(m, reg, scaled(m, ehframe_sleb(in)));
		break;
	case 0x0d: /* def_cfa_register */
		set_cfa(m, reg, m->row->cfa_off);
		break;
	case 0x0e: /* def_cfa_offset */
		m->row->cfa_off = (int64_t)ehframe_uleb(in);
		break;
	case 0x13: /* def_cfa_offset_sf */
		m->row->cfa_off = scaled(m, ehframe_sleb(in));
		break;
	case 0x0f: /* def_cfa_expression: of the PLT, which calls nobody */
		ehframe_part(in, ehframe_uleb(in));
		set_cfa(m, EHFRAME_RA, 0);
		break;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		ehframe_part(in, ehframe_uleb(in));
		set_rule(m, reg, EHFRAME_LOST, 0);
		break;
	case 0x14: /* val_offset */
		set_rule(m, reg, EHFRAME_VALUE, scaled(m, (int64_t)ehframe_uleb(in)));
		break;
	default:
		m->bad = true;
	}
}

/* How far DW_CFA_advance_loc and its like move on; false: `op` is none of these. */
static bool is_advance(uint8_t op, struct ehframe_bytes *in, uint64_t *by)
{
	if (op >> 6 == 1)
		*by = op & 0x3f;
	else if (op == 0x02)
		*by = ehframe_u8(in);
	else if (op == 0x03)
		*by = ehframe_u16(in);
	else if (op == 0x04)
		*by = ehframe_u32(in);
	else
		return false;
	return true;
}

/* Executes the rules up to the row of the code `pc` bytes after the first that they are about. */
static bool execute(struct machine *m, struct ehframe_bytes in, uint64_t pc)
{
	uint64_t at = 0, by;

	while (in.at < in.end && !in.bad && !m->bad) {
		if (!budget_take(m->work, 1))
			return false;

		uint8_t op = ehframe_u8(&in);

		if (is_advance(op, &in, &by)) {
			at += by * m->cie->code_align;
			if (at > pc)
				break;
		} else if (op >> 6 == 2) {
			set_rule(m, op & 0x3f, EHFRAME_SAVED,
				 scaled(m, (int64_t)ehframe_uleb(&in)));
		} else if (op >> 6 == 3) {
			restore(m, op & 0x3f);
		} else if (op == 0x0a) { /* remember_state */
			remember(m);
		} else if (op == 0x0b) { /* restore_state */
			recall(m);
		} else if (op == 0x2e) { /* GNU_args_size */
			ehframe_uleb(&in);
		} else if (op) {
			execute_place(m, op, &in);
		}
	}
	return !in.bad && !m->bad;
}

/* --- finding --- */

/* The address of the last FDE that begins at or before pc. */
static bool find_fde(const struct image *img, uint64_t pc, uint64_t *fde)
{
	uint64_t header = image_eh_frame(img);
	const uint8_t *head = header ? image_at(img, header, HEADER) : NULL, *table;
	uint32_t low = 0, high;
	int32_t entry[2];

	if (!head || head[0] != 1 || head[1] != ENC_PCREL_SDATA4 || head[2] != ENC_UDATA4 ||
	    head[3] != ENC_TABLE)
		return false;
	memcpy(&high, head + 8, sizeof(high));
	table = image_at(img, header + HEADER, (uint64_t)high * ENTRY);
	while (table && low < high) {
		uint32_t mid = low + (high - low) / 2;

		memcpy(entry, table + (uint64_t)mid * ENTRY, sizeof(entry));
		if (header + (uint64_t)(int64_t)entry[0] <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (!table || !low)
		return false;
	memcpy(entry, table + (uint64_t)(low - 1) * ENTRY, sizeof(entry));
	*fde = header + (uint64_t)(int64_t)entry[1];
	return true;
}

bool ehframe_row(const struct image *img, uint64_t pc, struct budget *work, struct ehframe_row *out)
{
	struct machine m = {.row = out, .work = work};
	struct ehframe_bytes in;
	uint64_t fde, range;
	uint32_t to_cie;
	struct cie cie;

	*out = (struct ehframe_row){.cfa_reg = EHFRAME_RA};
	if (image_arch(img) != ARCH_AMD64 || !find_fde(img, pc, &fde) ||
	    !read_record(img, fde, &in))
		return false;
	to_cie = ehframe_u32(&in);
	if (!to_cie || !read_cie(img, fde + 4 - to_cie, &cie))
		return false;
	out->func = ehframe_address(&in, cie.encoding);
	range = ehframe_address(&in, cie.encoding & 0x0f);
	if (cie.augmented)
		ehframe_part(&in, ehframe_uleb(&in));
	if (in.bad || pc < out->func || pc - out->func >= range)
		return false;
	m.cie = &cie;
	if (!execute(&m, cie.rules, UINT64_MAX))
		return false;
	m.initial = *out;
	return execute(&m, in, pc - out->func) && out->cfa_reg < EHFRAME_RA;
}
