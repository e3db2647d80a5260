/* SPDX-License-Identifier: Apache-2.0 */
/* What runqslower.bpf.c tells of a long wait. Fixed widths, the same on both sides. */
#ifndef RUNQSLOWER_SHARED_H
#define RUNQSLOWER_SHARED_H

#define RUNQ_TURNS 32 /* that are kept of a processor; a power of two */

struct runq_turn {                /* of a goroutine on a processor of Go's (a P) */
	unsigned long long g;     /* address of its struct g */
	unsigned long long goid;  /* 0: not known */
	unsigned long long start; /* address of the function that its go statement called */
	unsigned long long from_ns, to_ns; /* CLOCK_MONOTONIC; to_ns 0: goes on */
};

struct runq_slow { /* an event in the ring buffer, when the wait is over */
	unsigned long long time_ns, wait_ns;
	unsigned long long goid, start;
	unsigned long long probe; /* address of the probe in the process */
	unsigned int pid, tid, cpu;
	unsigned int count;                 /* how many of the turns are filled */
	struct runq_turn turns[RUNQ_TURNS]; /* the P's, a ring: in no order */
	char comm[16];
};

enum runq_loss {
	RUNQ_LOSS_WAITS,      /* no room for who waits */
	RUNQ_LOSS_UNREADABLE, /* the goroutine could not be read */
	RUNQ_LOSS_EVENTS,     /* the ring buffer was full */
	RUNQ_LOSSES,
};

#endif
