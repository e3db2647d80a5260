/* SPDX-License-Identifier: Apache-2.0 */
/* A wait for a lock that has not ended. */
#ifndef LOCK_WAIT_H
#define LOCK_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/latency.h"

enum lock_op {                 /* what is waited in */
	       LOCK_OP_MUTEX,  /* sync.(*Mutex).Lock */
	       LOCK_OP_WRITER, /* sync.(*RWMutex).Lock, for another writer */
	       LOCK_OP_WRITE,  /* ... for readers */
	       LOCK_OP_READ,   /* sync.(*RWMutex).RLock */
};

struct lock_stack {
	uint64_t hash, bias;
};

struct lock_wait { /* that goes on */
	struct goroutine_key who;
	struct lock_stack stack;
	enum lock_op op;
	uint64_t since_ns, readers;
	struct lock_part {
		size_t held; /* its number */
		uint64_t ns;
	} before[2];      /* what of clocks is of the time before it */
	uint64_t *clocks; /* as they were when it began */
	size_t clock_count;
	bool is_new;        /* the lock has not been released since */
	uint64_t missed_ns; /* for who prunes: when it was first found to be over; 0: it was not */
	uint64_t ended_ns;  /* for who prunes: when its process ended; 0: it has not */
	struct lock_wait *next, *prev;
};

#endif
