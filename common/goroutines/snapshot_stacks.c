// SPDX-License-Identifier: Apache-2.0
#include "goroutines/snapshot_stacks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"

enum { FRAMES_MAX = 1 << 24 }; /* of all stacks together: 128 MB */

struct stack {
	size_t from, count; /* in frames[] */
};

struct snapshot_stacks {
	struct index index;
	struct stack *all;
	size_t count, cap;
	uint64_t *frames;
	size_t frame_count, frame_cap;
};

struct snapshot_stacks *snapshot_stacks_new(void)
{
	struct snapshot_stacks *stacks = mem_zalloc(1, sizeof(*stacks));
	uint32_t number;

	snapshot_stacks_add(stacks, NULL, 0, &number);
	return stacks;
}

void snapshot_stacks_free(struct snapshot_stacks *stacks)
{
	if (!stacks)
		return;
	index_free(&stacks->index);
	free(stacks->all);
	free(stacks->frames);
	free(stacks);
}

static bool is_same(const struct snapshot_stacks *stacks, size_t number, const uint64_t *frames,
		    size_t count)
{
	const struct stack *stack = &stacks->all[number];

	return stack->count == count &&
	       (!count || !memcmp(stacks->frames + stack->from, frames, count * sizeof(*frames)));
}

bool snapshot_stacks_add(struct snapshot_stacks *stacks, const uint64_t *frames, size_t count,
			 uint32_t *number)
{
	uint64_t hash = index_hash(0, count);

	for (size_t i = 0; i < count; i++)
		hash = index_hash(hash, frames[i]);
	size_t n = index_first(&stacks->index, hash);

	while (n != INDEX_NONE && !is_same(stacks, n, frames, count))
		n = index_next(&stacks->index, n);
	if (n == INDEX_NONE && stacks->frame_count + count > FRAMES_MAX)
		return false;
	if (n == INDEX_NONE) {
		n = index_add(&stacks->index, hash);
		stacks->all =
			mem_grow(stacks->all, stacks->count, &stacks->cap, sizeof(*stacks->all));
		stacks->all[stacks->count++] = (struct stack){stacks->frame_count, count};
		for (size_t i = 0; i < count; i++) {
			stacks->frames = mem_grow(stacks->frames, stacks->frame_count,
						  &stacks->frame_cap, sizeof(*stacks->frames));
			stacks->frames[stacks->frame_count++] = frames[i];
		}
	}
	*number = n;
	return true;
}

const uint64_t *snapshot_stacks_at(const struct snapshot_stacks *stacks, uint32_t number,
				   size_t *count)
{
	*count = stacks->all[number].count;
	return stacks->frames + stacks->all[number].from;
}

size_t snapshot_stacks_count(const struct snapshot_stacks *stacks)
{
	return stacks->count;
}
