// SPDX-License-Identifier: Apache-2.0
#include "gostacks/groups_internal.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/mem.h"

static bool is_same(const struct goroutine *a, const struct goroutine *b)
{
	return a->stack == b->stack && a->created_by == b->created_by && a->status == b->status &&
	       a->reason == b->reason && a->stack_state == b->stack_state;
}

/* A channel, or a lock: of a timer or a file descriptor nobody else is told. */
static bool waits_alike(const struct snapshot *snap, const struct goroutine *a,
			const struct goroutine *b)
{
	if (a->wait_count != 1 || b->wait_count != 1)
		return false;
	const struct wait *x = &snap->waits.all[a->waits], *y = &snap->waits.all[b->waits];

	return x->object == y->object && x->kind == y->kind && x->kind != WAIT_TIMER &&
	       x->kind != WAIT_FD && x->kind != WAIT_SYSCALL;
}

static uint64_t hash_of(const struct goroutine *g)
{
	return index_hash(index_hash(g->created_by, g->stack),
			  (uint64_t)g->status << 16 | (uint64_t)g->reason << 8 | g->stack_state);
}

static void note_since(const struct snapshot *snap, const struct goroutine *g, struct group *group)
{
	uint64_t ns;

	if (!snapshot_since(snap, g, &ns))
		return;
	if (!group->noted || ns < group->shortest)
		group->shortest = ns;
	if (ns > group->longest)
		group->longest = ns;
	group->noted++;
}

static int most_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->first->goid > y->first->goid) - (x->first->goid < y->first->goid);
}

struct group *groups_make(const struct snapshot *snap, const unsigned char *picked, size_t *count)
{
	struct group *groups = NULL;
	struct index index = {0};
	size_t cap = 0;

	*count = 0;
	for (size_t i = 0; i < snap->count; i++) {
		const struct goroutine *g = &snap->all[i];
		uint64_t hash = hash_of(g);

		if (picked && !picked[i])
			continue;
		size_t n = index_first(&index, hash);

		while (groups && n != INDEX_NONE && !is_same(groups[n].first, g))
			n = index_next(&index, n);
		if (!groups || n == INDEX_NONE) {
			n = index_add(&index, hash);
			groups = mem_grow(groups, *count, &cap, sizeof(*groups));
			groups[(*count)++] = (struct group){.first = g, .waits_alike = true};
		}
		groups[n].count++;
		groups[n].waits_alike &= waits_alike(snap, groups[n].first, g);
		note_since(snap, g, &groups[n]);
	}
	index_free(&index);
	if (*count)
		qsort(groups, *count, sizeof(*groups), most_first);
	return groups;
}
