/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room locks uses of lock_stacks. */
#ifndef LOCK_STACKS_INTERNAL_H
#define LOCK_STACKS_INTERNAL_H

#include "frames/frames.h"
#include "locks/lock_stacks.h"

/* The program, as the process with this load bias has it. */
struct frames lock_stacks_frames(const struct lock_stacks *stacks, uint64_t bias);
/* Never NULL; valid until the next. */
const struct lock_trace *lock_stacks_find(struct lock_stacks *stacks, struct lock_stack stack);
/* What the code calls the lock that it waits for: see wait_code_of(). `frames` has the program. */
const char *lock_stacks_name(struct lock_stacks *stacks, const struct frames *frames,
			     struct lock_fields *fields, struct lock_stack stack, bool in_sync);

#endif
