/* SPDX-License-Identifier: Apache-2.0 */
/* What gocancels.bpf.c tells of contexts that are cancelled. Fixed widths, the same on both sides.
 */
#ifndef CANCELS_SHARED_H
#define CANCELS_SHARED_H

#include "latency.h"

enum cancel_func {                    /* what is probed, as the tool numbers it */
		   CANCEL_FUNC_JOIN,  /* propagateCancel: a new context and its parent */
		   CANCEL_FUNC_CALL,  /* (*cancelCtx).cancel, and its returns */
		   CANCEL_FUNC_READY, /* runtime.ready: a goroutine goes on */
		   CANCEL_FUNCS,
};

#define CANCEL_WOKEN 8 /* goroutines that are told of one cancellation; a power of two */
#define CANCEL_TEXT 128

struct cancel_error {
	unsigned long long type; /* address of the descriptor in the process; 0: nil, or not read */
	/* what a string has at the beginning of the value that it points to: a text if the type has
	 * one there */
	unsigned long long len; /* of all of it, in bytes */
	char text[CANCEL_TEXT];
};

struct cancel_woken {
	unsigned long long goid;  /* 0: not known */
	unsigned long long stack; /* hash, as below */
};

struct cancel_event {               /* a call of cancel() that was not made by another one */
	unsigned long long time_ns; /* when it returned; CLOCK_MONOTONIC, as all times */
	unsigned long long begin_ns;
	struct goroutine_key who; /* calls */
	unsigned long long depth; /* bytes from its stack's high end to the call */
	/* of the context: address, and when and by which goroutine it was created; 0: not seen */
	unsigned long long context, created_ns, created_goid, created_stack;
	unsigned long long last;  /* the context that this call has begun to cancel last */
	unsigned long long stack; /* hash of the caller's; 0: not kept */
	unsigned long long probe; /* where the process has cancel()'s entry probe */
	unsigned int pid;         /* in the tool's PID namespace */
	unsigned int children;    /* contexts that it has cancelled beside this one */
	unsigned int woken;       /* goroutines that waited for any of them */
	unsigned int contested;   /* another goroutine called cancel() for it meanwhile */
	struct cancel_error error, cause;
	struct cancel_woken by[CANCEL_WOKEN]; /* the first ones */
};

struct cancel_birth { /* of a context */
	unsigned long long time_ns, goid, stack;
};

struct cancel_frame { /* of a call of cancel() */
	struct goroutine_key who;
	unsigned long long depth;
};

enum cancel_loss {
	CANCEL_LOSS_EVENTS,     /* the ring buffer was full */
	CANCEL_LOSS_ROOM,       /* no room for a call */
	CANCEL_LOSS_UNREADABLE, /* the goroutine or an argument could not be read */
	CANCEL_LOSS_ENDS,       /* calls that did not return */
	CANCEL_LOSS_STACKS,     /* stacks that could not be kept */
	CANCEL_LOSSES,
};

#endif
