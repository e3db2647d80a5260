// SPDX-License-Identifier: Apache-2.0
/* Sites in functions that GCC compiled with -fsplit-stack. Where the stack grows, the body runs on
 * another stack than its caller's: what a call is known by is the stack pointer at the body's first
 * instruction, which is the same again at its RETs. */
#include "site.h"

#include "mem.h"
#include "pclntab.h"
#include "site_finder.h"

enum { SWITCH_MAX = 8 }; /* instructions from loading a table's entry to jumping there */

/* push reg; sub imm, %rsp: what changes the stack pointer is in no loop */
static bool moves_stack(const struct insn_code *code, uint64_t addr)
{
	const uint8_t *at = code->bytes + (addr - code->addr);
	size_t left = code->len - (addr - code->addr);

	if (left >= 2 && at[0] == 0x41)
		return at[1] >= 0x50 && at[1] < 0x58;
	if (left >= 3 && at[0] == 0x48)
		return (at[1] == 0x81 || at[1] == 0x83) && at[2] == 0xec;
	return left && at[0] >= 0x50 && at[0] < 0x58;
}

/* Is the body's first instruction come to in other ways than the function's start? */
static bool is_jumped_to(const struct flow *flow, const struct splitstack *split)
{
	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];

		if (in->kind == INSN_JUMP_REG || in->kind == INSN_JUMP_MEM)
			return true;
		if ((in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF) &&
		    in->target == split->body.addr && in->addr != split->back &&
		    in->addr != split->branch)
			return true;
	}
	return false;
}

int site_split_entry(struct site_finder *finder, const struct pclntab_func *fn,
		     const struct insn_code *code, const struct splitstack *split, struct site *out,
		     const char **reason)
{
	if (split->body.probe == INSN_REFUSED || split->body.nop5)
		return site_finder_refuse(reason,
					  "the kernel takes no probe after its stack check");
	if (!moves_stack(code, split->body.addr)) {
		if (site_finder_flow(finder, fn, reason))
			return -1;
		if (is_jumped_to(&finder->flow, split))
			return site_finder_refuse(reason,
						  "its first instruction may also be a loop's");
	}
	*out = (struct site){.addr = split->body.addr,
			     .kind = SITE_AFTER_CHECK,
			     .emulated = split->body.probe == INSN_EMULATED,
			     .args_intact = true};
	return 0;
}

/* movslq (TABLE,INDEX,4),REG; add; jmp *REG: a switch. The first may stand some way before. */
static bool is_relative_switch(const struct insn_code *code, const struct flow *flow, size_t jump)
{
	for (size_t i = jump; i > 0 && jump - i < SWITCH_MAX; i--) {
		const struct insn *in = &flow->insns[i - 1];
		const uint8_t *at = code->bytes + (in->addr - code->addr);

		if (flow_ends_block(in) || in->kind == INSN_CALL)
			return false;
		if (in->size >= 3 && (at[0] & 0xf8) == 0x48 && at[1] == 0x63)
			return true;
	}
	return false;
}

/* jmp *TABLE(,INDEX,8) */
static bool is_absolute_switch(const struct insn_code *code, const struct insn *in)
{
	const uint8_t *at = code->bytes + (in->addr - code->addr), *end = at + in->size;

	while (at < end && *at != 0xff)
		at++;
	return end - at == 7 && at[1] == 0x24 && (at[2] & 0xc7) == 0xc5;
}

/* Ways out that no site can stand for; NULL: this is none. GCC makes no tail calls in Go, but in
 * what does nothing else: the time of the function called would be left out. */
static const char *no_end(const struct insn_code *code, const struct flow *flow, size_t index)
{
	const struct insn *in = &flow->insns[index];

	if ((in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF) &&
	    !flow_is_inside(flow, in->target))
		return "it ends in a jump to another function";
	if ((in->kind == INSN_JUMP_REG && !is_relative_switch(code, flow, index)) ||
	    (in->kind == INSN_JUMP_MEM && !is_absolute_switch(code, in)))
		return "it ends in an indirect jump";
	if (in->kind == INSN_RET && in->probe == INSN_REFUSED)
		return "the kernel takes no probe at its return";
	return NULL;
}

const char *site_split_returns(const struct site_finder *finder, const struct pclntab_func *fn,
			       struct site_list *out)
{
	const struct flow *flow = &finder->flow;
	struct splitstack split = {0};
	struct insn_code code;

	if (!site_finder_code(finder, fn, &code))
		return "its code is not in the file";
	splitstack_find(finder->dec, &code, &split);
	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];
		const char *why = no_end(&code, flow, i);

		if (why)
			return why;
		if (in->kind != INSN_RET || in->addr == split.ret)
			continue;
		out->items = mem_grow(out->items, out->count, &out->cap, sizeof(*out->items));
		out->items[out->count++] = (struct site){
			.addr = in->addr, .kind = SITE_RET, .emulated = in->probe == INSN_EMULATED};
	}
	return NULL;
}
