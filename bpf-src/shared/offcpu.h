/* SPDX-License-Identifier: Apache-2.0 */
/* What gooffcputime.bpf.c keeps and the tool reads. Fixed widths, the same on both sides. */
#ifndef OFFCPU_H
#define OFFCPU_H

struct offcpu_wait {                 /* of a goroutine, that goes on */
	unsigned long long start_ns; /* CLOCK_MONOTONIC */
	unsigned long long stack;
};

struct offcpu_key {
	unsigned long long stack;
	unsigned long long probe; /* where the process has the probe's instruction */
	unsigned int pid;         /* in the machine's own PID namespace */
	unsigned int reason;      /* Go's number of what it waits for */
};

struct offcpu_sum {
	unsigned long long waits, total_ns, max_ns;
};

enum offcpu_loss {
	OFFCPU_LOSS_WAITS,      /* map `waits` had no room, or the kernel no memory */
	OFFCPU_LOSS_SUMS,       /* ... `sums` */
	OFFCPU_LOSS_STACKS,     /* ... `stacks`: waits whose stack is not known */
	OFFCPU_LOSS_UNREADABLE, /* the goroutine could not be read */
	OFFCPU_LOSSES,
};

#endif
