/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GOROUTINE_H
#define GOROUTINE_H

#include <stdbool.h>
#include <stdint.h>

enum goroutine_status { /* runtime2.go: _Gidle, ... */
			GOROUTINE_IDLE = 0,
			GOROUTINE_RUNNABLE = 1,
			GOROUTINE_RUNNING = 2,
			GOROUTINE_SYSCALL = 3,
			GOROUTINE_WAITING = 4,
			GOROUTINE_DEAD = 6,
			GOROUTINE_COPYSTACK = 8,
			GOROUTINE_PREEMPTED = 9,
			GOROUTINE_LEAKED = 10,
			GOROUTINE_DEADEXTRA = 11,
};

enum goroutine_stack_state {
	STACK_READ,
	STACK_CUT,     /* there are more frames, not read */
	STACK_RUNNING, /* it has none that could be read without stopping it */
	STACK_CHANGED, /* each time that it was read */
	STACK_UNKNOWN, /* it does not lead to the function that goroutines begin with */
};

struct goroutine {
	uint64_t goid;
	uint64_t waitsince;  /* ns of CLOCK_MONOTONIC, noted by the garbage collector; 0: not */
	uint64_t parent;     /* goid of the creator; 0: not known */
	uint64_t created_by; /* the address after the go statement; 0: not known */
	uint64_t start;      /* address of the function it began with; 0: not known */
	uint64_t bubble;     /* of testing/synctest, from 1 on; 0: it is in none */
	uint64_t labels;     /* which are its: snapshot_labels_next() */
	uint32_t stack;      /* number of its stack: snapshot_stack() */
	uint8_t status, reason;
	uint8_t stack_state;
	bool locked; /* to its thread */
	/* its first frame's address is one more than that of the instruction that comes next */
	bool interrupted;
	uint64_t addr; /* of its struct g */
	uint64_t sp, stack_hi;
	uint64_t link; /* where its last call returns to, if that is not on the stack; or 0 */
	uint32_t waits, wait_count; /* which of the snapshot's waits are its */
	uint64_t args;              /* where its frames' arguments are: snapshot_args() */
};

#endif
