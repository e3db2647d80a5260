// SPDX-License-Identifier: Apache-2.0
#include "sites/site.h"

#include "machine/arch.h"
#include "machine/graph.h"
#include "machine/insn_effects.h"
#include "program/functab.h"
#include "sites/prologue.h"
#include "sites/restart_internal.h"
#include "sites/site_finder_internal.h"
#include "sites/splitstack_internal.h"

enum {
	COND_JBE = 6,
	ENTRIES_MAX = 1 << 20, /* of a function's switch tables */
};

const char *site_kind_name(enum site_kind kind)
{
	static const char *const names[] = {
		[SITE_FIRST] = "first",
		[SITE_ENTRY_BLOCK] = "entry-block",
		[SITE_AFTER_CHECK] = "after-check",
		[SITE_CHECK_BRANCH] = "check-branch",
		[SITE_RET] = "ret",
		[SITE_TAIL_JUMP] = "tail-jump",
		[SITE_INLINED] = "inlined",
		[SITE_INLINED_CALL] = "inlined-call",
		[SITE_INLINED_EXIT] = "inlined-exit",
		[SITE_CALL] = "call",
		[SITE_BEHIND_CALL] = "behind-call",
		[SITE_LINE] = "line",
	};

	return names[kind];
}

/* Arguments are intact: a check writes no argument register. SP is what it was at entry. */
static bool check_site(const struct site_finder *finder, const struct prologue *check,
		       struct site *out)
{
	bool jbe = finder->arch == ARCH_AMD64 && check->branch.cond == COND_JBE &&
		   check->branch.probe == INSN_EMULATED;

	*out = (struct site){.addr = check->after.addr,
			     .kind = SITE_AFTER_CHECK,
			     .emulated =
				     check->after.probe == INSN_EMULATED && !check->after.long_nop,
			     .args_intact = true};
	if (!out->emulated && jbe) {
		out->addr = check->branch.addr;
		out->kind = SITE_CHECK_BRANCH;
		out->emulated = true;
		return true;
	}
	return !site_refusal(&check->after, SITE_BEHIND_CHECK);
}

/* lowers *first to a jump's target, 0 for the function's start */
static void note_target(const struct flow *flow, uint64_t target, uint64_t *first)
{
	if (target == flow->addr)
		*first = 0;
	else if (target > flow->addr && target < *first)
		*first = target;
}

/* The lowest address above the function's start that its own jumps go to: up to there, each
 * instruction of the entry block runs once a call. 0: they go to the start itself. */
static uint64_t first_jump_target(struct site_finder *finder)
{
	struct graph_source src = site_finder_source(finder);
	const struct flow *flow = &finder->flow;
	uint64_t first = flow->end;
	size_t entries = 0;

	if (finder->split_stacks) {
		first = site_split_limit(finder, &(struct splitstack){.body = flow->insns[0]});
		return first == flow->addr ? 0 : first;
	}
	for (size_t i = 0; i < flow->count && first; i++) {
		const struct insn *in = &flow->insns[i];
		uint64_t target;

		if (in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF)
			note_target(flow, in->target, &first);
		for (size_t n = 0;
		     in->kind == INSN_JUMP_MEM && graph_table_entry(flow, &src, i, n, &target);
		     n++) {
			note_target(flow, target, &first);
			if (++entries > ENTRIES_MAX)
				return 0;
		}
	}
	return first;
}

static int rank(const struct insn *in)
{
	if (in->again || in->long_nop)
		return 0;
	return in->probe == INSN_EMULATED ? 2 : in->probe == INSN_STEPPED ? 1 : 0;
}

struct entry_search {
	const struct functab_func *fn;
	const struct insn_code *code;
	uint64_t limit; /* the entry block ends here at the latest */
	bool want_args;
};

/* Are all arguments where they were, after the instruction? */
static bool keeps_args(const struct site_finder *finder, const struct entry_search *search,
		       const struct insn *in)
{
	struct insn_effects effects;
	struct insn full;
	int32_t below;

	if (!finder->stack_args)
		return insn_decode_writes(finder->dec, search->code, in->addr, &full) &&
		       !full.writes;
	if (!insn_effects(finder->dec, search->code, in->addr, &effects))
		return false;
	/* arguments lie above the return address */
	return !effects.stores || (effects.size != UINT32_MAX &&
				   site_finder_sp(finder, search->fn, in->addr, &below) &&
				   effects.disp + (int64_t)effects.size <= below + 8);
}

/* May the site be the entry block's next instruction instead of this one? An instruction that may
 * fault ends the block as a call does: what follows it may not be reached. */
static bool may_move_on(const struct site_finder *finder, const struct entry_search *search,
			const struct insn *in)
{
	if (flow_ends_block(in) || in->kind == INSN_CALL || in->may_fault)
		return false;
	return !search->want_args || keeps_args(finder, search, in);
}

/* the cheapest instruction of the entry block */
static bool entry_block_site(const struct site_finder *finder, const struct entry_search *search,
			     struct site *out)
{
	const struct flow *flow = &finder->flow;
	int best = 0;

	for (size_t i = 0; i < flow->count && flow->insns[i].addr < search->limit; i++) {
		const struct insn *in = &flow->insns[i];
		int32_t below;

		if (rank(in) > best && site_finder_sp(finder, search->fn, in->addr, &below)) {
			best = rank(in);
			*out = (struct site){.addr = in->addr,
					     .kind = i ? SITE_ENTRY_BLOCK : SITE_FIRST,
					     .emulated = in->probe == INSN_EMULATED,
					     .args_intact = !i || search->want_args,
					     .sp_adjust = below};
		}
		if (!may_move_on(finder, search, in))
			break;
	}
	return best > 0;
}

static int entry_without_check(struct site_finder *finder, const struct functab_func *fn,
			       const struct insn_code *code, bool want_args, struct site *out,
			       const char **reason)
{
	struct entry_search search = {.fn = fn, .code = code, .want_args = want_args};

	if (site_finder_flow(finder, fn, reason))
		return -1;
	search.limit = first_jump_target(finder);
	if (!search.limit)
		return site_finder_refuse(reason, "the first instruction is also part of a loop");
	if (entry_block_site(finder, &search, out))
		return 0;
	search.want_args = false;
	if (want_args && entry_block_site(finder, &search, out))
		return 0;
	return site_finder_refuse(reason, site_refusal(&finder->flow.insns[0], SITE_AT_START));
}

int site_entry(struct site_finder *finder, const struct functab_func *fn, bool want_args,
	       struct site *out, const char **reason)
{
	const char *never = site_finder_never(finder, fn);
	struct splitstack split;
	struct prologue check;
	struct insn_code code;

	if (never)
		return site_finder_refuse(reason, never);
	if (!site_finder_code(finder, fn, &code))
		return site_finder_refuse(reason, "the code is not in the file");
	if (splitstack_find(finder->dec, &code, &split))
		return site_split_entry(finder, fn, &code, &split, want_args, out, reason);
	if (!prologue_find(finder->dec, &code, &check))
		return entry_without_check(finder, fn, &code, want_args, out, reason);
	if (finder->tab && finder->arch == ARCH_ARM64 &&
	    !insn_decode(finder->dec, &code, restart_last(finder->tab, fn, check.after.addr),
			 &check.after))
		return site_finder_refuse(reason, "the code cannot be decoded completely");
	if (check_site(finder, &check, out))
		return 0;
	return site_finder_refuse(reason, site_refusal(&check.after, SITE_BEHIND_CHECK));
}
