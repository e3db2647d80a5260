// SPDX-License-Identifier: Apache-2.0
#include "frames/unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "frames/frame_args_internal.h"
#include "elf/image.h"
#include "frames/frames.h"
#include "machine/calls.h"
#include "program/functab.h"

enum { WORD = 8 };
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

/* Go's src/runtime/traceback.go, injectedCall */
static bool is_injected(const char *name)
{
	return !strcmp(name, "runtime.sigpanic") || !strcmp(name, "runtime.asyncPreempt") ||
	       !strcmp(name, "runtime.debugCallV2");
}

static struct frame_rule look_up(const struct unwinder *uw, uint64_t pc)
{
	struct frame_rule rule = {.kind = FRAME_UNKNOWN};
	uint64_t addr = pc - uw->frames->bias;
	struct functab_func fn;

	if (!functab_find(uw->frames->tab, addr, &fn))
		return rule;
	rule.args = frame_args_size(uw->frames, &fn);
	rule.calls = calls_of(image_arch(uw->frames->img));
	rule.injected = is_injected(fn.name);
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

static bool has_link(const struct frame_rule *rule)
{
	return rule->calls && rule->calls->link;
}

int32_t unwinder_return_at(const struct frame_rule *rule)
{
	return has_link(rule) ? 0 : rule->sp_delta;
}

int32_t unwinder_caller(const struct frame_rule *rule)
{
	return rule->sp_delta + (has_link(rule) ? 0 : WORD);
}

uint32_t unwinder_injected(const struct frame_rule *rule)
{
	return rule->injected && has_link(rule) ? rule->calls->injected : 0;
}

struct walk {
	const struct stack_bytes *stack;
	size_t at;     /* the stack pointer, in stack->bytes */
	uint64_t link; /* 0: not known */
};

static bool read_word(const struct walk *walk, size_t off, uint64_t *out)
{
	const struct stack_bytes *stack = walk->stack;

	if (stack->len < WORD || off > stack->len - WORD || walk->at > stack->len - WORD - off)
		return false;
	memcpy(out, stack->bytes + walk->at + off, sizeof(*out));
	return true;
}

/* Goes up to the caller's frame. Each step but one that takes the register, which it does once,
 * goes up by a word at least: no circle is possible. */
static bool go_up(struct walk *walk, const struct frame_rule *rule, uint64_t *pc)
{
	bool in_link = has_link(rule) && !rule->sp_delta;
	size_t end = walk->at + (size_t)rule->sp_delta;

	if (in_link)
		*pc = walk->link;
	else if (end > walk->stack->len || !read_word(walk, (size_t)unwinder_return_at(rule), pc))
		return false;
	walk->at += (size_t)unwinder_caller(rule);
	walk->link = 0;
	uint32_t injected = unwinder_injected(rule);

	if (injected && !read_word(walk, 0, &walk->link))
		return false;
	walk->at += injected;
	return true;
}

static bool is_frame(const struct frame_rule *rule, const struct walk *walk, bool innermost)
{
	return (rule->kind == FRAME_PLAIN || (rule->kind == FRAME_SWITCH && innermost)) &&
	       rule->sp_delta >= 0 && rule->sp_delta % WORD == 0 &&
	       (rule->sp_delta || !has_link(rule) || walk->link);
}

static uint16_t args_len(const struct stack_bytes *stack, size_t args, uint16_t len)
{
	size_t left = args < stack->len ? stack->len - args : 0;

	return len < left ? len : left;
}

enum unwound unwinder_walk(const struct stack_bytes *stack, uint64_t pc,
			   struct frame_rule (*rule)(void *ctx, uint64_t pc), void *ctx,
			   struct unwound_frames *out)
{
	struct walk walk = {.stack = stack, .link = stack->link};

	for (out->count = 0;; out->count++) {
		struct frame_rule here = rule(ctx, pc);

		if (here.kind == FRAME_FIRST && out->count)
			return UNWOUND_WHOLE;
		if (out->count == UNWINDER_FRAMES)
			return UNWOUND_CUT;
		if (!is_frame(&here, &walk, !out->count))
			return UNWOUND_NOT;
		out->pc[out->count] = pc;
		out->args_len[out->count] = 0;
		size_t args = walk.at + (size_t)here.sp_delta + WORD;

		if (!go_up(&walk, &here, &pc)) {
			out->count++;
			return stack->cut ? UNWOUND_CUT : UNWOUND_NOT;
		}
		out->args[out->count] = args;
		out->args_len[out->count] = args_len(stack, args, here.args);
	}
}
