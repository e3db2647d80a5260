/* SPDX-License-Identifier: Apache-2.0 */
/* The accounts of contended locks, from the events of golocks.bpf.c: who waited how long, and whose
 * time that was. Knows nothing of programs and stacks but their numbers. */
#ifndef LOCKS_H
#define LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/locks.h"
#include "locks/lock_account.h"

/* What a wait is for, which its stack tells: the lock begins so many bytes before the semaphore.
 * False: for no lock. */
struct lock_owner {
	enum lock_op op;
	unsigned before;
};
typedef bool locks_owner_fn(void *ctx, const struct lock_event *event, struct lock_owner *out);

struct locks;

/* Room for so many locks. */
struct locks *locks_new(size_t max, locks_owner_fn *owner, void *ctx);
void locks_free(struct locks *locks); /* NULL is all right */
/* In the order of time; `probe` is the process's load bias instead. Returns the lock that it is
 * about; NULL: none. Valid until the next. */
struct lock *locks_event(struct locks *locks, const struct lock_event *event);
/* So many events were lost up to now. */
void locks_lost(struct locks *locks, uint64_t lost, uint64_t now_ns);
/* Forgets waits that fn answers false of. */
void locks_prune(struct locks *locks, bool (*fn)(void *ctx, struct lock_wait *wait), void *ctx);
/* All sums are 0 again; what goes on goes on. */
void locks_clear(struct locks *locks);
/* Waits, or what was got without one, of more locks than there was room for. */
struct locks_refused {
	uint64_t waits, unwaited;
};
struct locks_refused locks_refused(const struct locks *locks);

#endif
