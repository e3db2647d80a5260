/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room locks uses of locks. */
#ifndef LOCKS_INTERNAL_H
#define LOCKS_INTERNAL_H

#include "locks/locks.h"

/* Those that somebody waited or spun for, or waits for; the longest waited for last. */
void locks_each(struct locks *locks, void (*fn)(void *ctx, const struct lock *lock), void *ctx);

#endif
