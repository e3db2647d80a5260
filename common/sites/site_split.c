// SPDX-License-Identifier: Apache-2.0
/* Sites in functions that GCC compiled with -fsplit-stack. Where the stack grows, the body runs on
 * another stack than its caller's: what a call is known by is the stack pointer at the body's first
 * instruction, which is the same again at its RETs. */
#include "sites/site.h"

#include <string.h>

#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "elf/image.h"
#include "machine/insn_effects.h"
#include "machine/registers.h"
#include "program/functab.h"
#include "sites/site_finder_internal.h"
#include "sites/splitstack_internal.h"

enum {
	SWITCH_MAX = 8,     /* instructions from loading a table's entry to jumping there */
	ENTRY_MAX = 12,     /* instructions looked at for one that the kernel emulates */
	TABLE_MAX = 1 << 16 /* entries of a function's switch tables */
};

/* bits of the general registers with arguments of the C ABI, and of r10, a closure's context */
static uint32_t argument_bits(void)
{
	uint32_t bits = 1u << AMD64_R10;
	const struct registers_general *reg;

	for (unsigned n = 0; (reg = registers_nth(ARCH_AMD64, REGISTERS_C, n)); n++)
		bits |= 1u << reg->dwarf;
	return bits;
}

/* How many bytes `push reg` or `sub imm, %rsp` lowers the stack pointer; 0: `in` is neither. */
static int32_t pushes(const struct insn_code *code, const struct insn *in)
{
	const uint8_t *at = code->bytes + (in->addr - code->addr);
	int32_t imm;

	if ((in->size == 1 && (at[0] & 0xf8) == 0x50) ||
	    (in->size == 2 && at[0] == 0x41 && (at[1] & 0xf8) == 0x50))
		return 8;
	if (in->size == 4 && at[0] == 0x48 && at[1] == 0x83 && at[2] == 0xec)
		return (int8_t)at[3];
	if (in->size != 7 || at[0] != 0x48 || at[1] != 0x81 || at[2] != 0xec)
		return 0;
	memcpy(&imm, at + 3, sizeof(imm));
	return imm;
}

/* --- where the entry block ends --- */

static void lower(uint64_t *limit, uint64_t target, uint64_t body)
{
	if (target >= body && target < *limit)
		*limit = target;
}

/* Lowers *limit to the targets of a switch, whose table of distances from the table itself a lea
 * loads. If another table follows, its targets count as well. Returns how many there are. */
static size_t read_jump_table(const struct site_finder *finder, uint64_t table, uint64_t body,
			      uint64_t *limit, size_t max)
{
	uint32_t distance;
	size_t n = 0;

	while (n < max && finder->img && image_u32(finder->img, table + n * 4, &distance)) {
		uint64_t target = table + (uint64_t)(int64_t)(int32_t)distance;

		if (flow_at(&finder->flow, target) == FLOW_NONE)
			break;
		lower(limit, target, body);
		n++;
	}
	return n;
}

uint64_t site_split_limit(const struct site_finder *finder, const struct splitstack *split)
{
	const struct flow *flow = &finder->flow;
	uint64_t body = split->body.addr, limit = flow->end;
	size_t entries = 0, found;
	bool indirect = false;

	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];

		indirect |= in->kind == INSN_JUMP_REG || in->kind == INSN_JUMP_MEM;
		if ((in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF) &&
		    in->addr != split->back && in->addr != split->branch)
			lower(&limit, in->target, body);
		if (in->kind != INSN_MOVE || !in->target)
			continue;
		found = read_jump_table(finder, in->target, body, &limit, TABLE_MAX - entries);
		entries += found;
	}
	return indirect && !entries ? body : limit;
}

/* --- the site --- */

struct entry_walk {
	const struct site_finder *finder;
	const struct insn_code *code;
	bool want_args;
	int32_t below; /* bytes that SP has been lowered at the instruction looked at */
};

/* Does the instruction after `in` run whenever `in` does, and may it be the site as well? */
static bool walk_on(struct entry_walk *walk, const struct insn *in)
{
	int32_t bytes = pushes(walk->code, in);
	struct insn_effects effects;

	if (flow_ends_block(in) || in->kind == INSN_CALL || in->may_fault || bytes < 0)
		return false;
	walk->below += bytes;
	if (bytes)
		return walk->below <= COOKIE_ADJUST_MAX && walk->below % 8 == 0;
	if (!insn_effects(walk->finder->dec, walk->code, in->addr, &effects) ||
	    effects.writes & 1 << AMD64_RSP)
		return false;
	return !walk->want_args || (!(effects.writes & argument_bits()) && !effects.stores);
}

/* the first instruction from the body's start on that the kernel emulates, or the very first */
static void cheapest(struct entry_walk *walk, uint64_t body, uint64_t limit, struct site *out)
{
	const struct flow *flow = &walk->finder->flow;
	long first = flow_at(flow, body);

	for (size_t i = first; i < flow->count && i - first < ENTRY_MAX; i++) {
		const struct insn *in = &flow->insns[i];

		if (in->addr >= limit)
			break;
		if (in->probe == INSN_EMULATED && !in->long_nop) {
			out->addr = in->addr;
			out->emulated = true;
			out->kind = in->addr == body ? SITE_AFTER_CHECK : SITE_ENTRY_BLOCK;
			out->sp_adjust = walk->below;
			out->args_intact = in->addr == body || walk->want_args;
		}
		if (out->emulated || !walk_on(walk, in))
			break;
	}
}

int site_split_entry(struct site_finder *finder, const struct functab_func *fn,
		     const struct insn_code *code, const struct splitstack *split, bool want_args,
		     struct site *out, const char **reason)
{
	struct entry_walk walk = {finder, code, want_args, 0};
	bool refused = site_refusal(&split->body, SITE_BEHIND_CHECK);
	uint64_t limit;

	*out = (struct site){.addr = split->body.addr,
			     .kind = SITE_AFTER_CHECK,
			     .emulated = split->body.probe == INSN_EMULATED && !refused,
			     .args_intact = true};
	/* what changes the stack pointer is in no loop */
	if (out->emulated && pushes(code, &split->body))
		return 0;
	if (site_finder_flow(finder, fn, reason))
		return -1;
	limit = site_split_limit(finder, split);
	if (limit == split->body.addr && !pushes(code, &split->body))
		return site_finder_refuse(reason,
					  "the first instruction may also be part of a loop");
	if (flow_at(&finder->flow, split->body.addr) != FLOW_NONE)
		cheapest(&walk, split->body.addr, limit, out);
	if (!refused || out->addr != split->body.addr)
		return 0;
	return site_finder_refuse(reason, site_refusal(&split->body, SITE_BEHIND_CHECK));
}

/* --- returns --- */

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

/* Ways out that no site can stand for; NULL: this is none. In Go, GCC makes tail calls only in
 * functions that do nothing else: a site there would leave out the callee's time. */
static const char *no_end(const struct insn_code *code, const struct flow *flow, size_t index)
{
	const struct insn *in = &flow->insns[index];

	if ((in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF) &&
	    !flow_is_inside(flow, in->target))
		return "the call ends with a jump to another function";
	if ((in->kind == INSN_JUMP_REG && !is_relative_switch(code, flow, index)) ||
	    (in->kind == INSN_JUMP_MEM && !is_absolute_switch(code, in)))
		return "the call ends with an indirect jump";
	if (in->kind == INSN_RET && in->probe == INSN_REFUSED)
		return "the kernel cannot probe the return";
	return NULL;
}

const char *site_split_returns(const struct site_finder *finder, const struct functab_func *fn,
			       struct site_list *out)
{
	const struct flow *flow = &finder->flow;
	struct splitstack split = {0};
	struct insn_code code;

	if (!site_finder_code(finder, fn, &code))
		return "the code is not in the file";
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
