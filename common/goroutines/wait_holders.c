// SPDX-License-Identifier: Apache-2.0
#include "goroutines/wait_holders.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_window.h"
#include "goroutines/wait_objects.h"

enum { STACK_MAX = 64 << 10 }; /* bytes of a stack, the innermost */

#define ALL_MAX (1ULL << 30) /* bytes of all stacks */

static bool can_be_held(const struct wait *wait)
{
	return wait->kind == WAIT_MUTEX || wait->kind == WAIT_RWMUTEX;
}

static size_t find_lock(const struct wait_lock *locks, const struct index *index, uint64_t addr)
{
	size_t n = index_first(index, index_hash(0, addr));

	while (n != INDEX_NONE && locks[n].addr != addr)
		n = index_next(index, n);
	return n;
}

/* The lock that the goroutine itself waits for; INDEX_NONE: none. */
static size_t lock_of(const struct snapshot *snap, const struct goroutine *g,
		      const struct wait_lock *locks, const struct index *index)
{
	const struct wait *wait = g->wait_count ? &snap->waits.all[g->waits] : NULL;

	return wait && can_be_held(wait) ? find_lock(locks, index, wait->object) : INDEX_NONE;
}

static bool any_held(const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->waits.count; i++)
		if (can_be_held(&snap->waits.all[i]))
			return true;
	return false;
}

static void note(struct wait_lock *lock, uint64_t goid)
{
	if (lock->last_holder == goid)
		return; /* its address is there twice */
	if (lock->holder_count < WAIT_HOLDERS_MAX)
		lock->holders[lock->holder_count] = goid;
	lock->last_holder = goid;
	lock->holder_count++;
}

struct search { /* for the addresses of locks */
	const struct snapshot_source *from;
	const struct snapshot *snap;
	struct wait_lock *locks;
	const struct index *index; /* of them */
	uint64_t left;             /* bytes that may be read */
	uint8_t *bytes;
};

static void search_stack(const struct search *search, const struct goroutine *g,
			 const uint8_t *bytes, size_t len)
{
	const struct index *index = search->index;
	size_t own = lock_of(search->snap, g, search->locks, index);
	uint64_t word;

	for (size_t at = 0; at + sizeof(word) <= len; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		if (word < 4096)
			continue;
		size_t n = find_lock(search->locks, index, word);

		if (n != INDEX_NONE && n != own)
			note(&search->locks[n], g->goid);
	}
}

static size_t searched_len(const struct goroutine *g)
{
	uint64_t len = g->stack_hi - g->sp;

	return len > STACK_MAX ? STACK_MAX : len;
}

static void search_alone(struct search *search, const struct goroutine *g)
{
	const struct memory *mem = search->from->mem;
	size_t len = searched_len(g);

	if (mem->read(mem->ctx, g->sp, search->bytes, len) &&
	    snapshot_is_still(search->from, mem, g))
		search_stack(search, g, search->bytes, len);
}

/* Of goroutines that have one: the next of them, and what may be read of them. */
static size_t next_stacks(struct search *search, size_t *i, struct snapshot_window_stack *stacks)
{
	const struct snapshot *snap = search->snap;
	size_t count = 0;

	for (; *i < snap->count && count < SNAPSHOT_WINDOW; ++*i) {
		const struct goroutine *g = &snap->all[*i];

		if ((g->stack_state != STACK_READ && g->stack_state != STACK_CUT) ||
		    searched_len(g) > search->left)
			continue;
		search->left -= searched_len(g);
		stacks[count++].g = g;
	}
	return count;
}

void wait_holders_find(const struct snapshot_source *from, const struct snapshot *snap,
		       struct wait_lock *locks, size_t count, const struct index *index)
{
	struct search search = {from, snap, locks, index, ALL_MAX, NULL};
	struct snapshot_window_stack stacks[SNAPSHOT_WINDOW];
	struct snapshot_window *window;
	size_t i = 0, n;

	if (!count || !any_held(snap))
		return;
	search.bytes = mem_alloc(STACK_MAX);
	window = snapshot_window_new(from, snap);
	while ((n = next_stacks(&search, &i, stacks)) != 0) {
		snapshot_window_stacks(window, stacks, n);
		for (size_t k = 0; k < n; k++)
			if (stacks[k].bytes)
				search_stack(&search, stacks[k].g, stacks[k].bytes, stacks[k].len);
			else
				search_alone(&search, stacks[k].g);
	}
	snapshot_window_free(window);
	free(search.bytes);
}

/* Whom the goroutine waits for, if that is one only. */
static uint32_t next_of(const struct snapshot *snap, size_t i, const struct wait_lock *locks,
			const struct index *index)
{
	size_t n = lock_of(snap, &snap->all[i], locks, index);

	if (n == INDEX_NONE || locks[n].holder_count != 1)
		return WAIT_NOBODY;
	const struct goroutine *g = snapshot_find(snap, locks[n].holders[0]);

	return g ? g - snap->all : WAIT_NOBODY;
}

void wait_holders_circles(const struct snapshot *snap, const struct wait_lock *locks,
			  const struct index *index, uint32_t *next)
{
	uint32_t *waits_for = mem_alloc((snap->count + 1) * sizeof(*waits_for));
	uint32_t *seen = mem_zalloc(snap->count + 1, sizeof(*seen)); /* by which walk */

	for (size_t i = 0; i < snap->count; i++) {
		waits_for[i] = next_of(snap, i, locks, index);
		next[i] = WAIT_NOBODY;
	}
	for (size_t i = 0; i < snap->count; i++) {
		uint32_t at = i;

		while (at != WAIT_NOBODY && !seen[at]) {
			seen[at] = i + 1;
			at = waits_for[at];
		}
		if (at == WAIT_NOBODY || seen[at] != i + 1)
			continue;
		for (; next[at] == WAIT_NOBODY; at = waits_for[at])
			next[at] = waits_for[at];
	}
	free(waits_for);
	free(seen);
}
