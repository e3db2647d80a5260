/* SPDX-License-Identifier: Apache-2.0 */
/* What gotree.bpf.c keeps and gotree reads. Fixed widths, the same on both sides. */
#ifndef TREE_SHARED_H
#define TREE_SHARED_H

#include "latency.h"
#include "starts.h"

#define TREE_CALLS 2048         /* of one tree that are kept; the others are counted */
#define TREE_CUT_FUNCS 8        /* so many functions are told of which calls were not kept */
#define TREE_PIECE 32           /* calls in one event; divides TREE_CALLS */
#define TREE_NONE 0xffffU       /* no call */
#define TREE_NO_ROW 0xffffffffU /* of no function */
#define TREE_GOROUTINES 256     /* that are followed of one call of ROOT */

enum tree_how {               /* how a call ended */
		TREE_RUNNING, /* it goes on */
		TREE_RETURNED,
		TREE_PANICKED,
		TREE_EXITED,  /* by runtime.Goexit */
		TREE_JUMPED,  /* left by a jump to a function whose end is not probed */
		TREE_UNSEEN,  /* found to be over, but not how it ended */
		TREE_STARTED, /* no call: a goroutine was started here */
		TREE_HOWS,
};

enum tree_counter {                  /* of map `losses`: calls of ROOT without a tree */
		    TREE_FASTER,     /* than --slower */
		    TREE_ROOM,       /* too many at a time */
		    TREE_MEMORY,     /* the kernel had none */
		    TREE_SYSTEM,     /* on a system stack */
		    TREE_UNREADABLE, /* the goroutine could not be read: of any function */
		    TREE_EVENTS,     /* trees lost: the ring buffer was full */
		    TREE_FOLLOWED,   /* goroutines not followed: too many at a time, */
		    TREE_NEWBORN,    /* or they could not be read */
		    TREE_VALUES,     /* values that were sent below: no room, */
		    TREE_CHANNELS,   /* or who sends or receives could not be read */
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

/* Of TREE_STARTED: which goroutine, and the function that it begins with: its address, less that of
 * the probe in runtime.newproc1. */
static inline unsigned long long tree_started_goid(const struct tree_call *call)
{
	return (unsigned long long)call->depth << 32 | call->copy;
}

static inline unsigned long long tree_started_func(const struct tree_call *call)
{
	return call->latency_ns;
}

struct tree_cut { /* calls that were not kept */
	unsigned int row, calls;
};

/* A call of ROOT that is followed into goroutines. Map `requests` has it from the first one on
 * until the tool deletes it. */
struct tree_request {
	struct goroutine_key who;
	unsigned long long start_ns;
};

struct tree_followed {
	unsigned long long end_ns; /* when ROOT's call ended; 0: it goes on */
	unsigned long long newest; /* then: as in struct tree_head, of ROOT's goroutine */
	unsigned long long count;  /* goroutines that are followed: branches of the tree */
	unsigned long long number; /* of the call, from 1 on; 0: it has none, see tree_given_id() */
};

/* Trees of goroutines that were started below ROOT are in map `trees` by their goid and this bit:
 * their goroutines may have a tree as ROOT's later. Their first call is of no function: it is the
 * goroutine itself, from the go statement on. */
#define GOROUTINE_STARTED (1ULL << 61)

/* So is what a goroutine calls after it has received a value which one below ROOT has sent, by an
 * id of its own: the goroutine may receive others later. */
#define GOROUTINE_GIVEN (1ULL << 60)

/* Of request `number` the branch `n`, as tree_followed.count was then */
static inline unsigned long long tree_given_id(unsigned long long number, unsigned long long n)
{
	return GOROUTINE_GIVEN | number << 16 | n;
}

struct tree_head {
	struct goroutine_key who;
	struct tree_request request; /* start_ns 0: none has been started yet */
	/* Goids. Who has started it, 0: it is ROOT's; of those that it has started itself the last
	 * one that has a tree; and the one that was started before it by the same one. 0: none. */
	unsigned long long by, newest, before;
	/* Of a goroutine that was started, or of what began with a value: 0 while it goes on */
	unsigned long long end_ns;
	/* Of what began with a value, else 0: its id in map `trees`; who sent it is `by`: the id of
	 * that tree, as by tree_id(), and in which of its calls. */
	unsigned long long given, from;
	unsigned int call, zero;
	unsigned int pid;         /* as the tool sees it */
	unsigned int count;       /* calls kept: the first ones that began */
	unsigned int last;        /* index of the innermost one that goes on; TREE_NONE: none */
	unsigned int cut_started; /* go statements that were not kept */
	unsigned long long cut;   /* calls that were not kept, */
	struct tree_cut cut_funcs[TREE_CUT_FUNCS]; /* and of which functions, as far as there is
						      room */
	char comm[16];
};

/* By what map `trees` has it, within the process */
static inline unsigned long long tree_id(const struct tree_head *head)
{
	if (head->given)
		return head->given;
	return head->by ? head->who.id | GOROUTINE_STARTED : head->who.id;
}

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
