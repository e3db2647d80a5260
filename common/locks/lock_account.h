/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of one contended lock. */
#ifndef LOCK_ACCOUNT_H
#define LOCK_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/latency.h"
#include "locks/lock_wait.h"

enum lock_holder {
	LOCK_HELD,    /* by whoever released it with this stack */
	LOCK_READERS, /* by readers: the last of them released it with this stack */
	LOCK_FREE,    /* by nobody: it was released, and the waiter did not have it yet */
	LOCK_UNKNOWN, /* events were lost, or too many stacks released it to tell them apart */
};

struct lock_waiter { /* those that waited with one stack */
	struct lock_stack stack;
	enum lock_op op;
	uint64_t waits, total_ns, max_ns;
	uint64_t sleeps; /* one for each wait, and for each time that one was woken in vain */
};

struct lock_unwaited { /* what was got without a wait */
	uint64_t count, ns;
};

struct lock_held {
	struct lock_stack stack;
	enum lock_holder how;
	uint64_t ns;       /* of the waits that are over */
	uint64_t clock_ns; /* of all time */
	uint64_t readers;  /* LOCK_READERS: that writers waited for, added up */
};

struct lock {
	struct process_key process;
	uint64_t addr;
	uint32_t pid;
	bool is_rw;
	uint64_t waits, total_ns, max_ns, sleeps;
	struct lock_unwaited spun, found_free;
	struct lock_waiter *waiters;
	struct lock_held *held;
	size_t waiter_count, waiter_cap, held_count, held_cap;
	struct lock_wait *waiting, *last_waiting; /* oldest first */
	struct lock_wait *first_new;
	/* The goroutine that got it last, if that was seen, and it was not seen to release it; 0:
	 * none. If it is not certain, it may have done so while nobody waited. */
	uint64_t holder, holder_ns;
	struct lock_stack holder_stack; /* that it waited with */
	bool holder_waited, is_certain;
	uint64_t told_ns; /* whose time it was is known up to here */
	uint64_t late_ns; /* of the last wait, as long as it is not known whose it was */
};

#endif
