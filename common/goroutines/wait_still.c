// SPDX-License-Identifier: Apache-2.0
#include "goroutines/wait_still.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "goroutines/goroutine_fields_internal.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"

/* Longer than a goroutine waits for a lock that others hand on: sync.Mutex's starving mode gives it
 * to who has waited for 1 ms. */
enum { LOOKS = 6, PAUSE_NS = 50000000 };

enum { LOCKED = 1 }; /* in a sync.Mutex's state, which is its first word */

static bool is_locked(const struct memory *mem, const struct wait *wait)
{
	uint32_t state;

	return wait->kind != WAIT_MUTEX ||
	       (mem->read(mem->ctx, wait->object, &state, sizeof(state)) && state & LOCKED);
}

static bool has_sudog(const struct snapshot_source *from, const struct goroutine *g,
		      const struct wait *wait)
{
	uint64_t waiter, semaphore;

	if (wait->kind == WAIT_CHANNEL || !wait->sudog)
		return true; /* that is in struct g */
	return memory_u64(from->mem, wait->sudog, &waiter) && waiter == g->addr &&
	       memory_u64(from->mem, wait->sudog + from->waits->sudog_elem, &semaphore) &&
	       semaphore == wait->semaphore;
}

static bool waits(const struct snapshot_source *from, const struct snapshot *snap,
		  const struct goroutine *g, struct goroutine_fields *now)
{
	const struct wait *wait = &snap->waits.all[g->waits];

	return goroutine_fields_read(from, from->mem, g->addr, now) &&
	       goroutine_fields_match(now, g) && has_sudog(from, g, wait) &&
	       is_locked(from->mem, wait);
}

void wait_still_look(const struct snapshot_source *from, const struct snapshot *snap,
		     const uint32_t *goroutines, size_t count, bool *still)
{
	struct goroutine_fields *first, now;
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	bool any = count;

	for (size_t i = 0; i < count; i++)
		still[i] = true;
	if (from->registers)
		return;
	first = mem_zalloc(count + 1, sizeof(*first));
	for (size_t i = 0; i < count; i++)
		still[i] = waits(from, snap, &snap->all[goroutines[i]], &first[i]);
	for (int look = 0; look < LOOKS && any; look++) {
		nanosleep(&pause, NULL);
		any = false;
		for (size_t i = 0; i < count; i++) {
			still[i] = still[i] && waits(from, snap, &snap->all[goroutines[i]], &now) &&
				   goroutine_fields_same(&now, &first[i]) &&
				   now.tracking_seq == first[i].tracking_seq;
			any |= still[i];
		}
	}
	free(first);
}
