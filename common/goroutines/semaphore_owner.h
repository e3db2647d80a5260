/* SPDX-License-Identifier: Apache-2.0 */
/* What a semaphore belongs to, by who waits for it. */
#ifndef SEMAPHORE_OWNER_H
#define SEMAPHORE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "goroutines/wait.h"

struct frame;

struct semaphore_owner { /* at first: .kind = WAIT_SEMAPHORE */
	enum wait_kind kind;
	uint32_t before; /* bytes from its beginning to the semaphore */
	bool found;
	bool is_mutex; /* the semaphore is a Mutex's, which the RWMutex has for its writers */
	bool reads;    /* of an RWMutex: by RLock */
};

enum { SEMAPHORE_OWNER_READERS = 12 }; /* bytes from an RWMutex to what its readers wait for */

/* To be told all frames of the stack that waits, innermost first; `ctx` is the owner. */
void semaphore_owner_frame(void *ctx, const struct frame *frame);
/* Where it is, that has its semaphore at this address. */
uint64_t semaphore_owner_addr(const struct semaphore_owner *owner, uint64_t semaphore);

#endif
