// SPDX-License-Identifier: Apache-2.0
#include "waits/semaphore_owner_internal.h"

#include <stddef.h>
#include <string.h>

#include "frames/frames.h"

void semaphore_owner_frame(void *ctx, const struct frame *frame)
{
	static const struct {
		const char *func;
		enum wait_kind kind;
		uint32_t before;
		bool reads;
	} known[] = {{"sync.(*Mutex).lockSlow", WAIT_MUTEX, 4, false},
		     {"internal/sync.(*Mutex).lockSlow", WAIT_MUTEX, 4, false},
		     {"sync.(*RWMutex).RLock", WAIT_RWMUTEX, SEMAPHORE_OWNER_READERS, true},
		     {"sync.(*RWMutex).Lock", WAIT_RWMUTEX, 8, false},
		     {"sync.(*WaitGroup).Wait", WAIT_WAITGROUP, 0, false},
		     {"sync.(*Cond).Wait", WAIT_COND, 16, false}};
	struct semaphore_owner *owner = ctx;

	/* an RWMutex begins with the Mutex that writers wait for */
	if (owner->is_mutex && !strcmp(frame->func, "sync.(*RWMutex).Lock"))
		owner->kind = WAIT_RWMUTEX;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !owner->found; i++) {
		if (strcmp(frame->func, known[i].func) != 0)
			continue;
		owner->found = true;
		owner->kind = known[i].kind;
		owner->before = known[i].before;
		owner->reads = known[i].reads;
		owner->is_mutex = owner->kind == WAIT_MUTEX;
	}
}

/* Before Go 1.18, where the semaphore is depends on whether the counters before or behind it are
 * aligned; it has always been 8 bytes from the beginning since. */
static uint64_t wait_group(uint64_t semaphore)
{
	return semaphore % 8 == 0 ? semaphore - 8 : semaphore;
}

uint64_t semaphore_owner_addr(const struct semaphore_owner *owner, uint64_t semaphore)
{
	return owner->kind == WAIT_WAITGROUP ? wait_group(semaphore) : semaphore - owner->before;
}
