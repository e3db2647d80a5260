/* SPDX-License-Identifier: Apache-2.0 */
/* What gotree.bpf.c keeps and gotree reads. Fixed widths, the same on both sides. */
#ifndef TREE_SHARED_H
#define TREE_SHARED_H

#include "latency.h"

#define TREE_CALLS 2048   /* of one tree that are kept; the others are counted */
#define TREE_CUT_FUNCS 8  /* so many functions are told of which calls were not kept */
#define TREE_PIECE 32     /* calls in one event; divides TREE_CALLS */
#define TREE_NONE 0xffffU /* no call */

enum tree_how {               /* how a call ended */
		TREE_RUNNING, /* it goes on */
		TREE_RETURNED,
		TREE_PANICKED,
		TREE_EXITED, /* by runtime.Goexit */
		TREE_JUMPED, /* left by a jump to a function whose end is not probed */
		TREE_UNSEEN, /* found to be over, but not how it ended */
		TREE_HOWS,
};

enum tree_counter {                  /* of map `losses`: calls of ROOT without a tree */
		    TREE_FASTER,     /* than --slower */
		    TREE_ROOM,       /* too many at a time */
		    TREE_MEMORY,     /* the kernel had none */
		    TREE_SYSTEM,     /* on a system stack */
		    TREE_UNREADABLE, /* the goroutine could not be read: of any function */
		    TREE_EVENTS,     /* trees lost: the ring buffer was full */
		    TREE_COUNTERS,
};

struct tree_call {
	unsigned long long start_ns;   /* CLOCK_MONOTONIC */
	unsigned long long latency_ns; /* 0 while it goes on */
	unsigned int row, copy;        /* as in struct call */
	unsigned int depth;            /* words from the stack's high end */
	unsigned short parent;         /* its caller's index; of the first: TREE_NONE */
	unsigned short how;            /* enum tree_how */
};

struct tree_cut { /* calls that were not kept */
	unsigned int row, calls;
};

struct tree_head {
	struct goroutine_key who;
	unsigned int pid;   /* as the tool sees it */
	unsigned int count; /* calls kept: the first ones that began */
	unsigned int last;  /* index of the innermost one that goes on; TREE_NONE: none */
	unsigned int zero;
	unsigned long long cut;                    /* calls that were not kept, */
	struct tree_cut cut_funcs[TREE_CUT_FUNCS]; /* and of which functions, as far as there is
						      room */
	char comm[16];
};

/* Of a call of ROOT that goes on, or ends just now: ROOT's call, and what it called, in the order
 * in which they began. A caller stands before what it calls. */
struct tree {
	struct tree_head head;
	struct tree_call calls[TREE_CALLS];
};

struct tree_event { /* a piece of a tree; its pieces come in order */
	unsigned long long time_ns;
	struct tree_head head;
	unsigned int first; /* index of the first of these calls */
	unsigned int zero;
	struct tree_call calls[TREE_PIECE];
};

#endif
