// SPDX-License-Identifier: Apache-2.0
#include "heap/heap_stacks_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "heap/heap_internal.h"
#include "profile/profile.h"
#include "program/functab.h"
#include "program/gostack_symbols.h"

struct place { /* of a return address */
	uint64_t addr;
	uint64_t func; /* the function that has the code, whatever is inlined there */
	size_t frame;
};

struct stack {
	size_t at, depth; /* in `numbers` */
};

struct heap_stacks {
	const struct frames *frames;
	struct place *places;
	size_t place_count, place_cap;
	struct index by_addr;
	struct frame *all; /* one of each function and line */
	size_t count, cap;
	struct index by_line;
	struct stack *stacks;
	size_t stack_count, stack_cap;
	struct index by_frames;
	size_t *numbers; /* of frames */
	size_t number_count, number_cap;
};

struct heap_stacks *heap_stacks_new(const struct frames *frames)
{
	struct heap_stacks *stacks = mem_zalloc(1, sizeof(*stacks));

	stacks->frames = frames;
	return stacks;
}

void heap_stacks_free(struct heap_stacks *stacks)
{
	if (!stacks)
		return;
	index_free(&stacks->by_addr);
	index_free(&stacks->by_line);
	index_free(&stacks->by_frames);
	free(stacks->places);
	free(stacks->all);
	free(stacks->stacks);
	free(stacks->numbers);
	free(stacks);
}

/* --- frames --- */

static bool is_same(const struct frame *a, const struct frame *b)
{
	bool same_file = a->file && b->file ? !strcmp(a->file, b->file) : a->file == b->file;

	return same_file && a->line == b->line && a->inlined == b->inlined &&
	       !strcmp(a->func, b->func);
}

static size_t frame_number(struct heap_stacks *stacks, const struct frame *frame)
{
	uint64_t hash = index_hash(index_hash_text(0, frame->func), (uint64_t)frame->line);
	size_t n = index_first(&stacks->by_line, hash);

	while (n != INDEX_NONE && !is_same(&stacks->all[n], frame))
		n = index_next(&stacks->by_line, n);
	if (n != INDEX_NONE)
		return n;
	stacks->all = mem_grow(stacks->all, stacks->count, &stacks->cap, sizeof(*stacks->all));
	stacks->all[stacks->count++] = *frame;
	return index_add(&stacks->by_line, hash);
}

/* The runtime notes an address for each call, inlined ones too (src/runtime/traceback.go,
 * tracebackPCs; gentraceback before Go 1.21): the innermost that is at it is meant. */
static struct place find_place(struct heap_stacks *stacks, uint64_t addr)
{
	const struct frames *frames = stacks->frames;
	struct gostack_place at = gostack_symbols_find(frames->syms, addr - frames->bias, true);
	const struct gostack_line *line = at.lines;
	struct functab_func fn = {0};
	struct frame frame = {.func = line->name ? line->name : "?",
			      .file = line->file,
			      .line = line->line,
			      .start_line = line->start_line,
			      .inlined = line->inlined};

	functab_find(frames->tab, addr - frames->bias - 1, &fn);
	return (struct place){addr, fn.addr, frame_number(stacks, &frame)};
}

static struct place place_of(struct heap_stacks *stacks, uint64_t addr)
{
	uint64_t hash = index_hash(0, addr);
	size_t n = index_first(&stacks->by_addr, hash);

	while (n != INDEX_NONE && stacks->places[n].addr != addr)
		n = index_next(&stacks->by_addr, n);
	if (n != INDEX_NONE)
		return stacks->places[n];
	struct place place = find_place(stacks, addr);

	stacks->places = mem_grow(stacks->places, stacks->place_count, &stacks->place_cap,
				  sizeof(*stacks->places));
	stacks->places[stacks->place_count++] = place;
	index_add(&stacks->by_addr, hash);
	return place;
}

/* --- stacks --- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static const char *func_at(struct heap_stacks *stacks, uint64_t addr)
{
	size_t frame = place_of(stacks, addr).frame; /* which may move them all */

	return stacks->all[frame].func;
}

/* What is shown of it, as runtime/pprof's writeHeapProto and appendLocsForStack have it. */
static struct stack shown(struct heap_stacks *stacks, const uint64_t *addrs, uint32_t depth)
{
	struct stack out = {0, depth};
	size_t first = 0;

	while (out.depth && !strcmp(func_at(stacks, addrs[out.depth - 1]), "runtime.goexit"))
		out.depth--;
	while (first < out.depth && (begins(func_at(stacks, addrs[first]), "runtime.") ||
				     begins(func_at(stacks, addrs[first]), "internal/runtime/")))
		first++;
	if (first < out.depth)
		out = (struct stack){first, out.depth - first};
	return out;
}

static bool same_stack(const struct heap_stacks *stacks, const struct stack *a, const size_t *b,
		       size_t depth)
{
	return a->depth == depth && !memcmp(stacks->numbers + a->at, b, depth * sizeof(*b));
}

static size_t stack_number(struct heap_stacks *stacks, size_t at, size_t depth, uint64_t hash)
{
	size_t n = index_first(&stacks->by_frames, hash);

	while (n != INDEX_NONE &&
	       !same_stack(stacks, &stacks->stacks[n], stacks->numbers + at, depth))
		n = index_next(&stacks->by_frames, n);
	if (n != INDEX_NONE)
		return n;
	stacks->stacks = mem_grow(stacks->stacks, stacks->stack_count, &stacks->stack_cap,
				  sizeof(*stacks->stacks));
	stacks->stacks[stacks->stack_count++] = (struct stack){at, depth};
	stacks->number_count = at + depth;
	return index_add(&stacks->by_frames, hash);
}

size_t heap_stacks_number(struct heap_stacks *stacks, const struct heap *heap,
			  const struct heap_bucket *bucket)
{
	const uint64_t *addrs = heap->words + bucket->words;
	struct stack part = shown(stacks, addrs, bucket->depth);
	size_t at = stacks->number_count;
	uint64_t hash = index_hash(0, part.depth);

	for (size_t i = 0; i < part.depth; i++) {
		size_t n = place_of(stacks, addrs[part.at + i]).frame;

		stacks->numbers = mem_grow(stacks->numbers, at + i, &stacks->number_cap,
					   sizeof(*stacks->numbers));
		stacks->numbers[at + i] = n;
		hash = index_hash(hash, n);
	}
	return stack_number(stacks, at, part.depth, hash);
}

void heap_stacks_each(const struct heap_stacks *stacks, size_t number,
		      void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	const struct stack *stack = &stacks->stacks[number];

	for (size_t i = 0; i < stack->depth; i++)
		fn(ctx, &stacks->all[stacks->numbers[stack->at + i]]);
}

/* A call that is inlined is followed by the one that it is inlined into: both are of one place. */
void heap_stacks_profile(struct heap_stacks *stacks, const struct heap *heap,
			 const struct heap_bucket *bucket, struct profile *profile)
{
	const uint64_t *addrs = heap->words + bucket->words;
	struct stack part = shown(stacks, addrs, bucket->depth);
	struct profile_at to = {profile, stacks->frames};
	struct place before = {0};
	bool inlined = false;
	size_t number = 0;

	for (size_t i = part.at; i < part.at + part.depth; i++) {
		struct place place = place_of(stacks, addrs[i]);
		struct frame frame = stacks->all[place.frame];

		if (!inlined || place.func != before.func)
			number = i;
		frame.number = number;
		frame.at = addrs[i] - stacks->frames->bias - 1;
		profile_frame(&to, &frame);
		inlined = frame.inlined;
		before = place;
	}
}
