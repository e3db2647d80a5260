// SPDX-License-Identifier: Apache-2.0
#include "waits/wait_targets_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "waits/release_code_internal.h"
#include "goroutines/snapshot.h"

/* 0: nobody in particular ends it, or one of several things does */
static unsigned needs_of(const struct snapshot *snap, const struct goroutine *g,
			 const struct wait *wait)
{
	switch (wait->kind) {
	case WAIT_MUTEX:
	case WAIT_RWMUTEX:
		return RELEASE_UNLOCKS;
	case WAIT_WAITGROUP:
		return RELEASE_DONE;
	case WAIT_CHANNEL:
		if (!snapshot_is_at_channel(snap, g))
			return 0;
		return strstr(snapshot_state(snap, g), "send") ? RELEASE_RECEIVES : RELEASE_SENDS;
	default:
		return 0;
	}
}

static uint32_t add(struct wait_targets *targets, struct wait_target target)
{
	uint64_t hash = index_hash(index_hash(target.kind, target.needs), target.addr);
	size_t n = index_first(&targets->index, hash);
	const struct wait_target *all = targets->all;

	while (n != INDEX_NONE && (all[n].addr != target.addr || all[n].kind != target.kind ||
				   all[n].needs != target.needs))
		n = index_next(&targets->index, n);
	if (n != INDEX_NONE)
		return n;
	n = index_add(&targets->index, hash);
	targets->all = mem_grow(targets->all, targets->count, &targets->cap, sizeof(*targets->all));
	targets->all[targets->count++] = target;
	return n;
}

void wait_targets_find(const struct snapshot *snap, struct wait_targets *out)
{
	*out = (struct wait_targets){0};
	out->of = mem_alloc((snap->count + 1) * sizeof(*out->of));
	for (size_t i = 0; i < snap->count; i++) {
		const struct goroutine *g = &snap->all[i];
		const struct wait *wait = g->wait_count == 1 ? &snap->waits.all[g->waits] : NULL;
		unsigned needs = wait ? needs_of(snap, g, wait) : 0;

		out->of[i] = WAIT_NO_TARGET;
		if (!needs)
			continue;
		out->of[i] = add(out, (struct wait_target){wait->object, needs, wait->kind, i});
		out->has_locks |= wait->kind != WAIT_CHANNEL;
	}
}

void wait_targets_free(struct wait_targets *targets)
{
	index_free(&targets->index);
	free(targets->all);
	free(targets->of);
}
