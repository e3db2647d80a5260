/* SPDX-License-Identifier: Apache-2.0 */
/* What latency.bpf.c keeps and the tools read. Fixed widths, the same on both sides. */
#ifndef LATENCY_SHARED_H
#define LATENCY_SHARED_H

#define CALLS_INLINE 16 /* a power of two */

struct goroutine_key {
	unsigned long long id; /* goid, or GOROUTINE_SYSTEM and the address of g */
	unsigned int tgid;
	unsigned int image; /* differs before and after an execve; 0: not known */
};

#define GOROUTINE_SYSTEM (1ULL << 63)    /* bit of an id that is a g's address */
#define GOROUTINE_ELSEWHERE (1ULL << 62) /* beside it: on a stack that is not this g's */

enum ending { PANICKED, EXITED, SWITCHED }; /* how calls end that do not return */

struct call {                        /* one call that is going on */
	unsigned long long depth;    /* bytes from the stack's high end */
	unsigned long long start_ns; /* CLOCK_MONOTONIC */
	unsigned int row;
	unsigned int copy; /* see cookie.h */
};

struct deep_key { /* of a call beyond the first CALLS_INLINE of its goroutine */
	struct goroutine_key who;
	unsigned long long index;
};

struct exit_mark {                /* of a goroutine (gccgo: of a segment) that Goexit ended */
	unsigned long long count; /* of calls that it was in */
	unsigned long long at_ns;
};

struct calls { /* of one goroutine (gccgo: on one segment of its stack), outermost first */
	unsigned long long count;
	/* gccgo: a hook on another segment told that all of these are over; 1 + enum ending */
	unsigned long long ended;
	struct call call[CALLS_INLINE];
};

struct call_sums { /* for each row, on each CPU; only ever added to */
	unsigned long long count;
	unsigned long long total_ns;
	unsigned long long panicked;
	unsigned long long exited;    /* by runtime.Goexit */
	unsigned long long switched;  /* left on a system stack that was used anew */
	unsigned long long untracked; /* no room to remember the call */
	unsigned long long unplaced;  /* ended, but no room in the histogram */
};

struct call_extremes { /* for each row and epoch; min is kept as its complement, so 0 is none */
	unsigned long long max_ns;
	unsigned long long not_min_ns;
};

#endif
