// SPDX-License-Identifier: Apache-2.0
#include "objects/retained_roots_internal.h"

#include <string.h>

#include "frames/frame_maps.h"
#include "frames/frames.h"
#include "frames/unwinder.h"
#include "goroutines/goroutine_frames.h"
#include "goroutines/snapshot.h"
#include "objects/object_walk_internal.h"
#include "objects/objects_still_internal.h"
#include "program/functab.h"

enum { LOOKUPS = 1 << 22 };

struct stack {
	const struct retained_roots *roots;
	struct unwinder *uw;
	const struct goroutine *g;
	struct retained_root root;
	uint64_t ret; /* where the return address of the last frame is */
	bool saved;   /* the frame further in holds registers of this one: anything may be in use */
};

struct range {
	uint64_t from, to;
};

static void add_word(const struct stack *stack, uint64_t addr)
{
	const struct retained_roots *roots = stack->roots;
	uint64_t value = object_walk_word(roots->walk, addr);

	if (value)
		roots->found(roots->ctx, &stack->root, value);
}

static void add_all(const struct stack *stack, struct range range)
{
	for (uint64_t at = range.from; at < range.to && object_walk_spend(stack->roots->walk);
	     at += 8)
		add_word(stack, at);
}

/* Within the stack, whatever the tables say */
static void add_inside(const struct stack *stack, struct range range)
{
	if (range.from < stack->g->sp / 8 * 8 || range.from > range.to)
		return;
	if (range.to > stack->g->stack_hi)
		range.to = stack->g->stack_hi;
	add_all(stack, range);
}

static void add_map(const struct stack *stack, const struct frame_map *map, uint64_t begin)
{
	for (uint32_t i = 0; i < map->count && object_walk_spend(stack->roots->walk); i++) {
		uint64_t at = begin + (uint64_t)i * 8;

		if (frame_maps_bit(map, i))
			add_inside(stack, (struct range){at, at + 8});
	}
}

/* Its locals are before the caller's frame pointer, where it ends at `top`. */
static void add_frame(const struct stack *stack, uint64_t at, uint64_t sp, uint64_t top)
{
	uint64_t end = top > sp ? top - 8 : top, args = top + 8;
	const struct frames *frames = stack->roots->frames;
	struct frame_maps maps;
	struct frame_object object;

	frame_maps_at(frames, at, &maps);
	add_map(stack, &maps.locals, end - (uint64_t)maps.locals.count * 8);
	add_map(stack, &maps.args, args);
	for (uint32_t i = 0; i < maps.object_count; i++) {
		if (!frame_maps_object(frames, &maps, i, &object))
			return;
		uint64_t from = (object.off < 0 ? end : args) + (int64_t)object.off;

		add_inside(stack, (struct range){from, from + object.size});
	}
}

/* The frame of the call that stands at `pc`, up to its end: where its caller's
 * begins; 0: that is not known. */
static uint64_t add_call(struct stack *stack, uint64_t pc, uint64_t sp, bool stopped)
{
	static const char saves[] = "runtime.asyncPreempt";
	const struct frames *frames = stack->roots->frames;
	struct frame_rule rule = unwinder_rule(stack->uw, pc);
	struct functab_func fn;
	uint64_t top = sp + (uint64_t)(rule.sp_delta > 0 ? rule.sp_delta : 0);

	if ((rule.kind != FRAME_PLAIN && rule.kind != FRAME_SWITCH) || rule.sp_delta < 0 ||
	    rule.sp_delta % 8 || top + 8 > stack->g->stack_hi ||
	    !functab_find(frames->tab, pc - frames->bias, &fn))
		return 0;
	bool saved = !strncmp(fn.name, saves, sizeof(saves) - 1);

	stack->root.addr = fn.addr;
	stack->root.name = fn.name;
	if (stopped || saved || stack->saved)
		add_all(stack, (struct range){sp, top});
	else
		add_frame(stack, pc - 1 - frames->bias, sp, top);
	stack->saved = saved;
	stack->ret = sp + (uint64_t)unwinder_return_at(&rule);
	return sp + (uint64_t)unwinder_caller(&rule) + unwinder_injected(&rule);
}

static void add_stack(struct stack *stack)
{
	const struct goroutine *g = stack->g;
	bool whole = g->stack_state == STACK_READ || g->stack_state == STACK_CUT;
	uint64_t sp = g->sp / 8 * 8, next;
	size_t count = 0;
	const uint64_t *pcs =
		whole ? snapshot_stack(&stack->roots->still->snap, g->stack, &count) : NULL;

	if (!g->sp || g->sp >= g->stack_hi)
		return;
	stack->root = (struct retained_root){.how = RETAINED_STACK, .goid = g->goid};
	stack->saved = false;
	for (size_t i = 0; i < count; i++, sp = next) {
		bool stopped = !i && g->interrupted;

		next = add_call(stack, pcs[i] - (stopped ? 1 : 0), sp, stopped);
		if (!next)
			break;
		/* it is the stack of the snapshot */
		if (i + 1 < count && next > sp &&
		    object_walk_word(stack->roots->walk, stack->ret) != pcs[i + 1])
			break;
		if (i + 1 == count && g->stack_state == STACK_READ)
			return;
	}
	stack->root.addr = 0;
	stack->root.name = NULL;
	add_all(stack, (struct range){sp, g->stack_hi});
}

static bool is_system(const struct retained_roots *roots, const struct goroutine *g)
{
	bool whole = g->stack_state == STACK_READ || g->stack_state == STACK_CUT;
	size_t count = 0;
	const uint64_t *pcs = whole ? snapshot_stack(&roots->still->snap, g->stack, &count) : NULL;

	return goroutine_is_system(g, roots->frames, pcs, count);
}

void retained_roots_stacks(const struct retained_roots *roots, bool system)
{
	const struct snapshot *snap = &roots->still->snap;
	struct stack stack = {.roots = roots, .uw = unwinder_new(roots->frames)};

	unwinder_begin(stack.uw, LOOKUPS);
	for (size_t i = 0; i < snap->count; i++) {
		stack.g = &snap->all[i];
		if (is_system(roots, stack.g) == system)
			add_stack(&stack);
	}
	unwinder_free(stack.uw);
}
