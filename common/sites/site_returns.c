// SPDX-License-Identifier: Apache-2.0
#include "sites/site.h"

#include <string.h>

#include "base/mem.h"
#include "program/functab.h"
#include "sites/site_finder_internal.h"

/* what kind of end of a call the instruction is; SITE_FIRST: none */
static enum site_kind end_kind(const struct flow *flow, const struct functab_func *fn,
			       const struct insn *in)
{
	if (in->kind == INSN_RET)
		return SITE_RET;
	if (in->kind == INSN_JUMP && !flow_is_inside(flow, in->target))
		return SITE_TAIL_JUMP;
	if (in->kind == INSN_JUMP_REG && !fn->is_asm)
		return SITE_TAIL_JUMP;
	return SITE_FIRST;
}

/* ways out of the function that no site can stand for; NULL: this is none */
static const char *no_end(const struct flow *flow, const struct functab_func *fn,
			  const struct insn *in)
{
	if (in->kind == INSN_JUMP_IF && !flow_is_inside(flow, in->target))
		return "a conditional jump leaves the function";
	if (in->kind == INSN_JUMP_REG && fn->is_asm)
		return "the assembly code jumps through a register";
	return NULL;
}

static uint64_t target_of(const struct insn *in, enum site_kind kind)
{
	return kind == SITE_TAIL_JUMP && in->kind == INSN_JUMP ? in->target : 0;
}

static const char *append_ends(const struct site_finder *finder, const struct functab_func *fn,
			       struct site_list *out)
{
	const struct flow *flow = &finder->flow;

	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];
		enum site_kind kind = end_kind(flow, fn, in);
		int32_t below;

		if (no_end(flow, fn, in))
			return no_end(flow, fn, in);
		if (kind == SITE_FIRST)
			continue;
		if (in->probe == INSN_REFUSED)
			return site_refusal(in, SITE_AT_RETURN);
		if (!site_finder_sp(finder, fn, in->addr, &below))
			return "the stack pointer at the return is not known";
		out->items = mem_grow(out->items, out->count, &out->cap, sizeof(*out->items));
		out->items[out->count++] = (struct site){.addr = in->addr,
							 .kind = kind,
							 .emulated = in->probe == INSN_EMULATED,
							 .plain_ret = in->plain_ret,
							 .sp_adjust = below,
							 .target = target_of(in, kind)};
	}
	return NULL;
}

/* Their callers are resumed by other means, or never: their own RET is never reached. */
static bool is_left_otherwise(const char *name)
{
	return !strcmp(name, "runtime.mcall") || !strcmp(name, "runtime.goexit1") ||
	       !strncmp(name, "runtime.morestack", 17);
}

int site_returns(struct site_finder *finder, const struct functab_func *fn, struct site_list *out,
		 const char **reason)
{
	size_t before = out->count;
	const char *why;

	why = site_finder_never(finder, fn);
	if (why)
		return site_finder_refuse(reason, why);
	if (is_left_otherwise(fn->name))
		return site_finder_refuse(reason, "calls never return");
	if (site_finder_flow(finder, fn, reason))
		return -1;
	if (finder->split_stacks)
		why = site_split_returns(finder, fn, out);
	else
		why = append_ends(finder, fn, out);
	if (!why && out->count == before && !finder->takes_endless)
		why = "calls never return";
	if (!why)
		return 0;
	out->count = before;
	return site_finder_refuse(reason, why);
}
