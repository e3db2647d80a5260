// SPDX-License-Identifier: Apache-2.0
#include "tracing/lock_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "goroutines/frames.h"
#include "tracing/stacks.h"

struct lock_stacks {
	const struct stacks *stacks;
	struct lock_trace *all;
	size_t count, cap;
	struct index by_stack, by_frames;
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
		struct lock_trace *trace = &stacks->all[i];

		for (size_t j = 0; j < trace->count; j++) {
			free(trace->frames[j].func);
			free(trace->frames[j].file);
		}
		free(trace->frames);
	}
	index_free(&stacks->by_stack);
	index_free(&stacks->by_frames);
	free(stacks->all);
	free(stacks);
}

static bool is_sync(const char *func)
{
	return !strncmp(func, "sync.", 5) || !strncmp(func, "internal/sync.", 14);
}

static void add_frame(void *ctx, const struct frame *frame)
{
	struct lock_trace *trace = ctx;

	if (!trace->count && is_sync(frame->func))
		return;
	trace->frames = mem_grow(trace->frames, trace->count, &trace->cap, sizeof(*trace->frames));
	trace->frames[trace->count++] =
		(struct lock_frame){.func = mem_strdup(frame->func),
				    .file = frame->file ? mem_strdup(frame->file) : NULL,
				    .line = frame->line,
				    .inlined = frame->inlined,
				    .number = frame->number};
}

static uint64_t hash_frames(const struct lock_trace *trace)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < trace->count; i++) {
		hash = index_hash_text(hash, trace->frames[i].func);
		hash = index_hash(hash, trace->frames[i].line);
	}
	return hash;
}

static bool same_frames(const struct lock_trace *a, const struct lock_trace *b)
{
	bool same = a->count == b->count;

	for (size_t i = 0; same && i < a->count; i++)
		same = a->frames[i].line == b->frames[i].line &&
		       !strcmp(a->frames[i].func, b->frames[i].func);
	return same;
}

/* Numbers of by_frames are those of all traces, as each is added to both. */
static void note_kind(struct lock_stacks *stacks, struct lock_trace *trace)
{
	uint64_t hash = hash_frames(trace);
	size_t n = index_first(&stacks->by_frames, hash);

	while (n != INDEX_NONE && !same_frames(&stacks->all[n], trace))
		n = index_next(&stacks->by_frames, n);
	trace->kind = n == INDEX_NONE ? stacks->count - 1 : stacks->all[n].kind;
	index_add(&stacks->by_frames, hash);
}

const struct lock_trace *lock_stacks_find(struct lock_stacks *stacks, struct lock_stack stack)
{
	uint64_t hash = index_hash(index_hash(0, stack.hash), stack.bias);
	size_t n = index_first(&stacks->by_stack, hash);

	while (n != INDEX_NONE && !(stacks->all[n].stack.hash == stack.hash &&
				    stacks->all[n].stack.bias == stack.bias))
		n = index_next(&stacks->by_stack, n);
	if (n != INDEX_NONE)
		return &stacks->all[n];
	index_add(&stacks->by_stack, hash);
	stacks->all = mem_grow(stacks->all, stacks->count, &stacks->cap, sizeof(*stacks->all));
	struct lock_trace *trace = &stacks->all[stacks->count++];

	*trace = (struct lock_trace){.stack = stack, .owner.kind = WAIT_SEMAPHORE};
	stacks_each(stacks->stacks, stack.hash, stack.bias, true, semaphore_owner_frame,
		    &trace->owner);
	stacks_each(stacks->stacks, stack.hash, stack.bias, false, add_frame, trace);
	note_kind(stacks, trace);
	return trace;
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
