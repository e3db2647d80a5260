/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOCKS_SHOW_INTERNAL_H
#define LOCKS_SHOW_INTERNAL_H

#include <stdbool.h>

#include "locks/lock_stacks.h"
#include "locks/locks_show.h"

/* What is the same to who reads it: stacks differ in package sync, too. */
struct lock_row {
	struct lock_stack stack;
	size_t order; /* in which they were found */
	int what;     /* enum lock_op or enum lock_holder */
	uint64_t waits, sleeps, ns, max_ns, readers;
	uint64_t goid; /* of waits that go on: who waits longest */
	bool ended;    /* ... they did until the process ended */
};

struct lock_rows {            /* the most time first */
	struct lock_row *all; /* the owner frees */
	size_t count, cap;
};

struct lock_rows locks_waiters(const struct locks_show *show, const struct lock *lock);
struct lock_rows locks_holders(const struct locks_show *show, const struct lock *lock);
struct lock_rows locks_waiting(const struct locks_show *show, const struct lock *lock);
/* Up to when who waits for the lock has waited: now, or when the process ended */
uint64_t locks_until(const struct locks_show *show, const struct lock *lock);
/* ns; 0 if it is the other way round */
uint64_t locks_between(uint64_t from_ns, uint64_t to_ns);
/* The frames that are told of a stack; *count may be 0. */
const struct frame *locks_frames(const struct locks_show *show, struct lock_stack stack,
				 size_t *count);
/* Whose time it was: "goroutine", "readers", "nobody", "unknown" */
const char *locks_holder_text(int how);
/* "Lock", "RLock" */
const char *locks_op_text(int op);
/* "sync.Mutex", "sync.RWMutex" */
const char *locks_type_text(const struct lock *lock);
/* "etcd"; "-" if it has ended. The caller frees. */
char *locks_process_text(const struct lock *lock);

#endif
