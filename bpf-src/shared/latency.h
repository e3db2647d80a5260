/* SPDX-License-Identifier: Apache-2.0 */
/* What gofunclatency.bpf.c keeps and the tools read. Fixed widths, the same on both sides. */
#ifndef LATENCY_SHARED_H
#define LATENCY_SHARED_H

#define CALLS_INLINE 16 /* a power of two */

/* A process, while it runs one program: fields of the kernel's struct task_struct; 0: not known. */
struct process_key {
	unsigned long long start_ns; /* CLOCK_BOOTTIME: IDs are used again */
	unsigned int tgid;
	unsigned int exec; /* differs before and after an execve */
};

struct goroutine_key {
	unsigned long long id; /* goid, or GOROUTINE_SYSTEM and the address of g */
	struct process_key process;
};

#define GOROUTINE_SYSTEM (1ULL << 63)    /* bit of an id that is a g's address */
#define GOROUTINE_ELSEWHERE (1ULL << 62) /* beside it: on a stack that is not this g's */

enum ending { /* how calls end that do not return */
	      PANICKED,
	      EXITED,   /* by runtime.Goexit */
	      SWITCHED, /* left on a system stack that has been reused */
	      LOST,     /* found to be over, but not how it ended */
};

enum latency_loss { /* what map `losses` counts: calls that are not in the sums below */
		    LOSS_GOROUTINES, /* map `goroutines` was full */
		    LOSS_PROCESSES,  /* map `processes` was */
		    LOSS_DEEP,       /* map `deep_calls` was */
		    LOSS_MEMORY, /* the kernel had no memory for an entry of any of these maps */
		    LOSS_UNREADABLE, /* the goroutine could not be read */
		    LOSS_PLACES,     /* the call ended, but map `places` was full */
		    LOSSES,
};

struct call {                        /* one call that is going on */
	unsigned long long depth;    /* bytes from the stack's high end */
	unsigned long long start_ns; /* CLOCK_MONOTONIC */
	unsigned int row;
	/* as cookie.h says; of calls that leave by a jump, instead: see tail.h */
	unsigned int copy;
};

struct deep_key { /* of a call beyond the first CALLS_INLINE of its goroutine */
	struct goroutine_key who;
	unsigned long long index;
};

/* Of a goroutine (gccgo: of a segment) whose calls ended otherwise than by a panic, more at once
 * than could be counted then. */
struct end_mark {
	unsigned long long count; /* stale entries with an index below this that did not begin after
				     at_ns ended so */
	unsigned long long at_ns;
	unsigned long long how; /* enum ending */
};

struct calls { /* of one goroutine (gccgo: on one segment of its stack), outermost first */
	unsigned long long count;
	/* gccgo: 1 + enum ending if a hook on another segment has ended all of these; else 0 */
	unsigned long long ended;
	unsigned long long probes_ns; /* with NET, its clock: see latency_net.bpf.c */
	struct call call[CALLS_INLINE];
};

struct only_call { /* the beginning of struct calls, for goroutines with one call at a time */
	unsigned long long count; /* 1 */
	unsigned long long ended, probes_ns;
	struct call call;
};

struct call_sums { /* for each row, on each CPU; only ever added to */
	unsigned long long count;
	unsigned long long total_ns;
	unsigned long long panicked; /* this and the next in the order of enum ending */
	unsigned long long exited;
	unsigned long long switched;
	unsigned long long lost;
	unsigned long long jumped;    /* left by a jump to a function whose ends are not probed */
	unsigned long long errors;    /* of `count`: the last result was an error that is not nil */
	unsigned long long unread;    /* of `count`: the last result could not be read */
	unsigned long long probes_ns; /* of `total_ns`: what probes took, about */
	unsigned long long unpriced;  /* of `count`: what its probes took is not in that */
};

/* What a hit of a row's probes costs beside the time that the kernel side is seen to take */
struct net_price {
	unsigned int entry_ns, end_ns;
};

enum error_where { ERROR_NOWHERE, ERROR_IN_REGISTER, ERROR_ON_STACK };

struct error_place {        /* of the first word of a function's last result */
	unsigned int where; /* enum error_where */
	/* the how manieth of the registers for integers, from 0; or bytes above the place of the
	 * first argument */
	unsigned int n;
};

/* key of map `places`, which counts the calls in one slot of one row's histogram */
static inline unsigned long long latency_place(unsigned int row, unsigned int slot)
{
	return (unsigned long long)row << 32 | slot;
}

struct call_extremes { /* for each row and epoch; min is kept as its complement, so 0 is none */
	unsigned long long max_ns;
	unsigned long long not_min_ns;
};

#endif
