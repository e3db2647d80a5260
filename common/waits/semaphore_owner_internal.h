/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room waits uses of semaphore_owner. */
#ifndef SEMAPHORE_OWNER_INTERNAL_H
#define SEMAPHORE_OWNER_INTERNAL_H

#include "waits/semaphore_owner.h"

/* Where it is, that has its semaphore at this address. */
uint64_t semaphore_owner_addr(const struct semaphore_owner *owner, uint64_t semaphore);

#endif
