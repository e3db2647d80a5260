// SPDX-License-Identifier: Apache-2.0
/* Fields of struct g and m from the runtime's arm64 code. Encodings: Arm ARM, C4.1 (loads and
 * stores, C4.1.94; logical, shifted register, C4.1.93). */
#include "sites/goruntime_internal.h"

#include <string.h>

#include "machine/insn.h"

enum {
	REGS = 32,
	G = 28,
	SP = 31,
	SLOTS = 64,           /* 8-byte words from SP up */
	SYSTEMSTACK_MAX = 16, /* instructions until it has compared g with m.curg */
	LOADS_UP_TO_CURG = 3, /* of fields of m: gsignal, g0, curg */
};

/* Which field of an object, as a displacement, each register and stack slot was loaded from. */
struct origins {
	int32_t reg[REGS];
	int32_t slot[SLOTS];
};

/* ldr x, [base, #disp], or with `store` str */
static bool is_access(uint32_t word, bool store, unsigned *reg, unsigned *base, int32_t *disp)
{
	*reg = word & 31;
	*base = word >> 5 & 31;
	*disp = (int32_t)(word >> 10 & 4095) * 8;
	return (word & 0xffc00000) == (store ? 0xf9000000 : 0xf9400000);
}

static void follow(struct origins *from, uint32_t word)
{
	unsigned reg, base;
	int32_t disp;

	if (is_access(word, true, &reg, &base, &disp)) {
		if (base == SP && disp < SLOTS * 8)
			from->slot[disp / 8] = from->reg[reg];
	} else if (is_access(word, false, &reg, &base, &disp)) {
		from->reg[reg] = base != SP ? disp : disp < SLOTS * 8 ? from->slot[disp / 8] : 0;
	} else if ((word & 0xffe0ffe0) == 0xaa0003e0) { /* mov */
		from->reg[reg] = from->reg[word >> 16 & 31];
	} else {
		from->reg[reg] = 0; /* most write it; of those that do not, none is before a call */
	}
	from->reg[SP] = 0;
}

static bool read_word(const struct insn_code *code, size_t at, uint32_t *word)
{
	if (at + sizeof(*word) > code->len)
		return false;
	memcpy(word, code->bytes + at, sizeof(*word));
	return true;
}

bool goruntime_parse_header_arm64(const struct insn_code *code, bool in_register,
				  bool (*is_print)(uint64_t addr, void *ctx), void *ctx,
				  uint32_t *goid)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_ARM64);
	struct origins from = {0};
	bool found = false;
	struct insn in;
	uint32_t word;

	for (size_t at = 0; !found && read_word(code, at, &word); at += sizeof(word)) {
		if (!insn_decode(dec, code, code->addr + at, &in))
			break;
		if (in.kind == INSN_CALL && in.target && is_print(in.target, ctx)) {
			*goid = in_register ? from.reg[0] : from.slot[1];
			found = true;
		} else if (in.kind == INSN_CALL) {
			memset(from.reg, 0, sizeof(from.reg));
		} else {
			follow(&from, word);
		}
	}
	insn_decoder_free(dec);
	return found && *goid > 0;
}

/* ldr m, [g, #g_m] -- ldr x, [m, ..] (gsignal) -- ldr x, [m, #m_g0] -- ldr x, [m, #m_curg] */
bool goruntime_parse_systemstack_arm64(const struct insn_code *code, struct goruntime *out)
{
	unsigned reg, base, m = SP, loads = 0;
	int32_t disp, g_m = 0, m_g0 = 0;
	uint32_t word;

	for (size_t i = 0; i < SYSTEMSTACK_MAX && read_word(code, i * sizeof(word), &word); i++) {
		if (!is_access(word, false, &reg, &base, &disp))
			continue;
		if (base == G && m == SP) {
			m = reg;
			g_m = disp;
		} else if (base == m && m != SP && ++loads == LOADS_UP_TO_CURG) {
			out->g_m = g_m;
			out->m_g0 = m_g0;
			out->m_curg = disp;
			return true;
		} else if (base == m) {
			m_g0 = disp;
		}
	}
	return false;
}
