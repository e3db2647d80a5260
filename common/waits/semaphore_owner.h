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

/* Call it for each frame of the waiting stack, innermost first; `ctx` is the owner. */
void semaphore_owner_frame(void *ctx, const struct frame *frame);

#endif
