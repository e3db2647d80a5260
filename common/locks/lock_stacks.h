/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that wait for locks and that release them: owners and names. Each is read once. */
#ifndef LOCK_STACKS_H
#define LOCK_STACKS_H

#include "waits/semaphore_owner.h"
#include "locks/locks.h"

struct frame;
struct frames;
struct lock_fields;
struct stacks;

struct lock_trace {
	struct lock_stack stack;
	struct semaphore_owner owner; /* of the semaphore that it waits for */
	/* From who calls package sync on; if nobody does, what is called there. None: not known */
	struct frame *frames;
	size_t count, cap;
	size_t wrappers; /* the first of them that are Lock, Unlock, ... of what has the lock inside
			  */
	char *names[2];  /* of the lock, by its code: without and with functions of package sync */
	bool named[2];   /* they have been sought */
};

struct lock_stacks;

struct lock_stacks *lock_stacks_new(const struct stacks *stacks);
void lock_stacks_free(struct lock_stacks *stacks); /* NULL is all right */
/* for locks_new(), with the stacks as ctx */
bool lock_stacks_owner(void *ctx, const struct lock_event *event, struct lock_owner *out);

#endif
