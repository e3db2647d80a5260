/* SPDX-License-Identifier: Apache-2.0 */
/* What the stacks of those who wait for locks, and let go of them, tell. Each is read once. */
#ifndef LOCK_STACKS_H
#define LOCK_STACKS_H

#include "goroutines/semaphore_owner.h"
#include "tracing/locks.h"

struct frames;
struct lock_fields;
struct stacks;

struct lock_frame {
	char *func, *file; /* file NULL: not known */
	int line;
	bool inlined;
	size_t number; /* of the address that it comes from */
	uint64_t at;   /* both as struct frame's */
};

struct lock_trace {
	struct lock_stack stack;
	struct semaphore_owner owner; /* of the semaphore that it waits for */
	/* From who calls package sync on; if nobody does, what is called there. None: not known */
	struct lock_frame *frames;
	size_t count, cap;
	size_t wrappers; /* the first of them that are Lock, Unlock, ... of what has the lock inside
			  */
	char *names[2];  /* of the lock, by its code: without and with functions of package sync */
	bool named[2];   /* they have been sought */
};

struct lock_stacks;

struct lock_stacks *lock_stacks_new(const struct stacks *stacks);
void lock_stacks_free(struct lock_stacks *stacks); /* NULL is all right */
/* Never NULL; valid until the next. */
const struct lock_trace *lock_stacks_find(struct lock_stacks *stacks, struct lock_stack stack);
/* What the code calls the lock that it waits for: see wait_code_of(). `frames` has the program. */
const char *lock_stacks_name(struct lock_stacks *stacks, const struct frames *frames,
			     struct lock_fields *fields, struct lock_stack stack, bool in_sync);
/* for locks_new(), with the stacks as ctx */
bool lock_stacks_owner(void *ctx, const struct lock_event *event, struct lock_owner *out);

#endif
