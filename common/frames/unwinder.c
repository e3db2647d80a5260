// SPDX-License-Identifier: Apache-2.0
#include "frames/unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "frames/frame_args_internal.h"
#include "frames/frames.h"
#include "program/functab.h"

enum { RULES = 1 << 15 }; /* entries of a cache: a rule gives way to another with its hash */

struct remembered {
	uint64_t pc; /* 0: nothing */
	struct frame_rule rule;
};

struct unwinder {
	const struct frames *frames;
	struct remembered *rules;
	size_t lookups_left;
	bool gave_up;
};

struct unwinder *unwinder_new(const struct frames *frames)
{
	struct unwinder *uw = mem_zalloc(1, sizeof(*uw));

	uw->frames = frames;
	uw->rules = mem_zalloc(RULES, sizeof(*uw->rules));
	return uw;
}

void unwinder_free(struct unwinder *uw)
{
	if (!uw)
		return;
	free(uw->rules);
	free(uw);
}

void unwinder_begin(struct unwinder *uw, size_t lookups)
{
	uw->lookups_left = lookups;
	uw->gave_up = false;
}

void unwinder_allow(struct unwinder *uw, size_t lookups)
{
	uw->lookups_left += lookups;
}

bool unwinder_gave_up(const struct unwinder *uw)
{
	return uw->gave_up;
}

enum { FLAG_SPWRITE = 2 }; /* functab_func.flags */

static struct frame_rule look_up(const struct unwinder *uw, uint64_t pc)
{
	struct frame_rule rule = {.kind = FRAME_UNKNOWN};
	uint64_t addr = pc - uw->frames->bias;
	struct functab_func fn;

	if (!functab_find(uw->frames->tab, addr, &fn))
		return rule;
	rule.args = frame_args_size(uw->frames, &fn);
	if (!strcmp(fn.name, "runtime.goexit"))
		rule.kind = FRAME_FIRST;
	else if (functab_sp_delta(uw->frames->tab, &fn, addr, &rule.sp_delta))
		rule.kind = fn.flags & FLAG_SPWRITE ? FRAME_SWITCH : FRAME_PLAIN;
	return rule;
}

struct frame_rule unwinder_rule(void *ctx, uint64_t pc)
{
	struct unwinder *uw = ctx;
	struct remembered *slot = &uw->rules[index_hash(0, pc) % RULES];

	if (slot->pc == pc)
		return slot->rule;
	if (!uw->lookups_left) {
		uw->gave_up = true; /* for now: this is not remembered */
		return (struct frame_rule){.kind = FRAME_UNKNOWN};
	}
	uw->lookups_left--;
	*slot = (struct remembered){.pc = pc, .rule = look_up(uw, pc)};
	return slot->rule;
}

enum unwound unwinder_walk(const struct stack_bytes *stack, uint64_t pc,
			   struct frame_rule (*rule)(void *ctx, uint64_t pc), void *ctx,
			   struct unwound_frames *out)
{
	size_t at = 0;

	for (out->count = 0;; out->count++) {
		struct frame_rule here = rule(ctx, pc);

		if (here.kind == FRAME_FIRST && out->count)
			return UNWOUND_WHOLE;
		if (out->count == UNWINDER_FRAMES)
			return UNWOUND_CUT;
		if (here.kind == FRAME_UNKNOWN || (here.kind == FRAME_SWITCH && out->count) ||
		    here.kind == FRAME_FIRST || here.sp_delta < 0 || here.sp_delta % 8)
			return UNWOUND_NOT;
		out->pc[out->count] = pc;
		out->args_len[out->count] = 0;
		/* each step goes up by a word at least: no circle is possible */
		if (stack->len < 8 || (size_t)here.sp_delta > stack->len - 8 ||
		    at > stack->len - 8 - here.sp_delta) {
			out->count++;
			return stack->cut ? UNWOUND_CUT : UNWOUND_NOT;
		}
		memcpy(&pc, stack->bytes + at + here.sp_delta, sizeof(pc));
		at += here.sp_delta + 8;
		out->args[out->count] = at;
		out->args_len[out->count] =
			here.args < stack->len - at ? here.args : stack->len - at;
	}
}
