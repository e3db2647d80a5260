// SPDX-License-Identifier: Apache-2.0
#include "sites/prologue.h"

/* The longest check seen has 7 instructions; 9 integer and 15 vector registers may be spilled. */
enum { CHECK_MAX = 10, SPILLS_MAX = 32 };

/* Skips moves and nops from `addr` on, at most SPILLS_MAX; *out is the instruction after them. */
static bool skip_moves(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		       struct insn *out)
{
	for (int i = 0; i <= SPILLS_MAX; i++) {
		if (!insn_decode(dec, code, addr, out))
			return false;
		if (out->kind != INSN_MOVE && out->kind != INSN_NOP)
			return true;
		addr += out->size;
	}
	return false;
}

static bool is_detour(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr)
{
	struct insn call, back;

	return skip_moves(dec, code, addr, &call) && call.kind == INSN_CALL && call.target &&
	       skip_moves(dec, code, call.addr + call.size, &back) && back.kind == INSN_JUMP &&
	       back.target == code->addr;
}

bool prologue_find(const struct insn_decoder *dec, const struct insn_code *code,
		   struct prologue *out)
{
	uint64_t addr = code->addr;
	struct insn in;
	bool found = false;

	for (int i = 0; i < CHECK_MAX && insn_decode(dec, code, addr, &in); i++) {
		addr += in.size;
		if (in.kind == INSN_JUMP_IF) {
			if (in.target < addr || !is_detour(dec, code, in.target))
				break;
			out->branch = in;
			found = true;
		} else if (in.kind != INSN_OTHER && in.kind != INSN_MOVE && in.kind != INSN_NOP) {
			break;
		}
	}
	return found && insn_decode(dec, code, out->branch.addr + out->branch.size, &out->after);
}
