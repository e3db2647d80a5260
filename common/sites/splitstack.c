// SPDX-License-Identifier: Apache-2.0
#include "sites/splitstack_internal.h"

enum {
	BEFORE_MAX = 3, /* endbr64, and of a large frame: lea -FRAME(%rsp),%r11 */
	DETOUR_MAX = 4, /* the moves to r10 and r11, and of a closure's context */
	BELOW = 2,      /* condition codes: jb */
	NOT_BELOW = 3,  /* and jae */
};

static bool is_guard_compare(const struct insn_code *code, uint64_t addr)
{
	struct insn_operands op;

	return insn_operands(code, addr, &op) && op.what == INSN_COMPARE && op.fs && op.no_base &&
	       !op.addr && op.value == SPLITSTACK_GUARD;
}

/* the branch after the comparison */
static bool find_branch(const struct insn_decoder *dec, const struct insn_code *code,
			struct insn *out)
{
	uint64_t addr = code->addr;

	for (int i = 0; i <= BEFORE_MAX && insn_decode(dec, code, addr, out); i++) {
		addr += out->size;
		if (is_guard_compare(code, out->addr))
			return insn_decode(dec, code, addr, out) && out->kind == INSN_JUMP_IF &&
			       (out->cond == BELOW || out->cond == NOT_BELOW);
		if (out->kind != INSN_OTHER && out->kind != INSN_MOVE && out->kind != INSN_NOP)
			return false;
	}
	return false;
}

/* Reads the code at `addr`, which runs if the stack has no room; `body` runs if it has. */
static bool read_detour(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
			uint64_t body, struct splitstack *out)
{
	struct insn in;
	int i = 0;

	while (insn_decode(dec, code, addr, &in) && in.kind != INSN_CALL) {
		if ((in.kind != INSN_OTHER && in.kind != INSN_MOVE) || ++i > DETOUR_MAX)
			return false;
		addr += in.size;
	}
	if (in.kind != INSN_CALL || !in.target)
		return false;
	out->morestack = in.target;
	if (!insn_decode(dec, code, in.addr + in.size, &in) || in.kind != INSN_RET)
		return false;
	out->ret = in.addr;
	out->back = 0;
	if (in.addr + in.size == body)
		return true;
	out->back = in.addr + in.size;
	return insn_decode(dec, code, out->back, &in) && in.kind == INSN_JUMP && in.target == body;
}

bool splitstack_find(const struct insn_decoder *dec, const struct insn_code *code,
		     struct splitstack *out)
{
	uint64_t next, body;
	struct insn branch;

	if (!find_branch(dec, code, &branch))
		return false;
	next = branch.addr + branch.size;
	out->branch = branch.addr;
	body = branch.cond == BELOW ? next : branch.target;
	if (!read_detour(dec, code, branch.cond == BELOW ? branch.target : next, body, out))
		return false;
	return insn_decode(dec, code, body, &out->body);
}
