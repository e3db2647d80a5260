/* SPDX-License-Identifier: Apache-2.0 */
/* What waits.bpf.c keeps and common/blocked/blocked.c reads. Fixed widths, the same on both sides.
 */
#ifndef WAITS_H
#define WAITS_H

#include "profile.h"

struct wait_begun {                      /* of a goroutine, that goes on */
	unsigned long long start_ns;     /* CLOCK_MONOTONIC */
	unsigned long long stack, probe; /* as struct wait_key's, and the others */
	unsigned long long labels;
	unsigned int pid, reason;
};

#define WAIT_RUNNABLE 256 /* in place of a reason, of which Go has fewer: for a processor */

enum waker {
	WAKER_UNASKED,
	WAKER_GOROUTINE,
	WAKER_SCHEDULER, /* the runtime, on a thread without a goroutine */
	WAKERS,
};

struct wait_key {
	unsigned long long stack;  /* of the goroutine that waits */
	unsigned long long probe;  /* where the process has the probe's instruction */
	unsigned int pid;          /* in the machine's own PID namespace */
	unsigned int reason;       /* Go's number of what it waits for */
	unsigned long long waker;  /* stack of what has ended the wait */
	unsigned int by;           /* enum waker */
	unsigned int none;         /* 0 */
	unsigned long long labels; /* of the goroutine that waits: in map `label_sets`; 0: none */
};

#define WAIT_LABELS_LOST (~0ULL) /* in place of these: they were not kept */
#define WAIT_LABEL_WORDS 1024    /* a power of two; they take half of that */

struct wait_labels { /* as a sample has them, of which this is nothing else */
	struct profile_sample sample;
	unsigned long long words[WAIT_LABEL_WORDS + PROFILE_LABEL_TEXT / 8];
};

struct wait_sum {
	unsigned long long waits, total_ns, max_ns;
};

enum wait_loss {
	WAIT_LOSS_WAITS,      /* map `waits` had no room, or the kernel no memory */
	WAIT_LOSS_SUMS,       /* ... `sums` */
	WAIT_LOSS_STACKS,     /* ... `stacks`: waits of which a stack is not known */
	WAIT_LOSS_UNREADABLE, /* the goroutine could not be read */
	WAIT_LOSS_LABELS, /* map `label_sets` had no room: waits of which labels are not known */
	WAIT_LOSSES,
};

#endif
