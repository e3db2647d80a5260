// SPDX-License-Identifier: Apache-2.0
#include "locks/lock_stacks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "bpf-src/shared/stack.h"
#include "frames/frames.h"
#include "waits/lock_fields.h"
#include "waits/wait_code.h"
#include "blocked/stacks.h"

struct lock_stacks {
	const struct stacks *stacks;
	struct lock_trace *all;
	size_t count, cap;
	struct index index;
};

struct lock_stacks *lock_stacks_new(const struct stacks *stacks)
{
	struct lock_stacks *locks = mem_zalloc(1, sizeof(*locks));

	locks->stacks = stacks;
	return locks;
}

void lock_stacks_free(struct lock_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->count; i++) {
		free(stacks->all[i].frames);
		free(stacks->all[i].names[false]);
		free(stacks->all[i].names[true]);
	}
	index_free(&stacks->index);
	free(stacks->all);
	free(stacks);
}

static void add_frame(struct lock_trace *trace, const struct frame *frame)
{
	trace->frames = mem_grow(trace->frames, trace->count, &trace->cap, sizeof(*trace->frames));
	trace->frames[trace->count++] = *frame;
}

static void add_outside(void *ctx, const struct frame *frame)
{
	struct lock_trace *trace = ctx;

	if (trace->count || !lock_fields_in_sync(frame->func))
		add_frame(trace, frame);
}

/* Of a goroutine that is nothing but the call: go mu.Lock() */
static void add_outermost(void *ctx, const struct frame *frame)
{
	struct lock_trace *trace = ctx;

	trace->count = 0;
	add_frame(trace, frame);
}

static bool is_wrapper(const struct frame *frame)
{
	static const char *const names[] = {"Lock", "Unlock", "RLock", "RUnlock"};
	const char *dot = strrchr(frame->func, '.');
	bool is = false;

	for (size_t i = 0; dot && i < sizeof(names) / sizeof(*names); i++)
		is |= !strcmp(dot + 1, names[i]);
	return is;
}

static size_t count_wrappers(const struct lock_trace *trace)
{
	size_t n = 0;

	while (n < trace->count && is_wrapper(&trace->frames[n]))
		n++;
	return n < trace->count ? n : 0;
}

static struct lock_trace *find(struct lock_stacks *stacks, struct lock_stack stack)
{
	uint64_t hash = index_hash(index_hash(0, stack.hash), stack.bias);
	size_t n = index_first(&stacks->index, hash);

	while (n != INDEX_NONE && !(stacks->all[n].stack.hash == stack.hash &&
				    stacks->all[n].stack.bias == stack.bias))
		n = index_next(&stacks->index, n);
	if (n != INDEX_NONE)
		return &stacks->all[n];
	index_add(&stacks->index, hash);
	stacks->all = mem_grow(stacks->all, stacks->count, &stacks->cap, sizeof(*stacks->all));
	struct lock_trace *trace = &stacks->all[stacks->count++];

	*trace = (struct lock_trace){.stack = stack, .owner.kind = WAIT_SEMAPHORE};
	stacks_each(stacks->stacks, stack.hash, stack.bias, true, semaphore_owner_frame,
		    &trace->owner);
	stacks_each(stacks->stacks, stack.hash, stack.bias, false, add_outside, trace);
	if (!trace->count)
		stacks_each(stacks->stacks, stack.hash, stack.bias, false, add_outermost, trace);
	trace->wrappers = count_wrappers(trace);
	return trace;
}

struct frames lock_stacks_frames(const struct lock_stacks *stacks, uint64_t bias)
{
	return stacks_frames(stacks->stacks, bias);
}

const struct lock_trace *lock_stacks_find(struct lock_stacks *stacks, struct lock_stack stack)
{
	return find(stacks, stack);
}

const char *lock_stacks_name(struct lock_stacks *stacks, const struct frames *frames,
			     struct lock_fields *fields, struct lock_stack stack, bool in_sync)
{
	struct lock_trace *trace = find(stacks, stack);
	struct frames here = *frames;
	uint64_t addrs[STACK_FRAMES];

	if (!trace->named[in_sync]) {
		trace->named[in_sync] = true;
		here.bias = stack.bias;
		trace->names[in_sync] = wait_code_of(
			&here, fields, addrs,
			stacks_addresses(stacks->stacks, stack.hash, addrs, STACK_FRAMES),
			trace->owner.kind, in_sync);
	}
	return trace->names[in_sync];
}

bool lock_stacks_owner(void *ctx, const struct lock_event *event, struct lock_owner *out)
{
	const struct lock_trace *trace =
		lock_stacks_find(ctx, (struct lock_stack){event->stack, event->probe});
	const struct semaphore_owner *owner = &trace->owner;

	out->before = owner->before;
	if (owner->kind == WAIT_RWMUTEX) {
		out->op = owner->is_mutex ? LOCK_OP_WRITER
			  : owner->reads  ? LOCK_OP_READ
					  : LOCK_OP_WRITE;
		return true;
	}
	/* of a stack that could not be kept it is known that it is in lockSlow() */
	out->op = LOCK_OP_MUTEX;
	out->before = LOCK_MUTEX_SEMA;
	return event->is_mutex;
}
