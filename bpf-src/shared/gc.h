/* SPDX-License-Identifier: Apache-2.0 */
/* What gogc.bpf.c tells of collections and of stops of the world, and common/collections puts
 * together. Fixed widths, the same on both sides. */
#ifndef GC_SHARED_H
#define GC_SHARED_H

#include "latency.h"

enum gc_func {                /* what is probed: the row of its cookie */
	       GC_FUNC_STOP,  /* runtime.stopTheWorldWithSema, and its returns */
	       GC_FUNC_START, /* runtime.startTheWorldWithSema, and its returns */
	       GC_FUNC_LAST,  /* runtime.gcstopm, where it tells who waits that all have stopped */
	       /* where a goroutine gives up its processor because it is asked to: at a function's
		* stack check, or by a signal */
	       GC_FUNC_YIELD,
	       GC_FUNC_YIELD_ASYNC,
	       /* these only where that is asked for: */
	       GC_FUNC_ASSIST, /* runtime.gcAssistAlloc1, and its returns */
	       /* runtime.deductSweepCredit, where it is about to sweep a span, and where it has: it
		* does so only for who allocates while too little is swept */
	       GC_FUNC_SWEEP,
	       GC_FUNC_SWEPT,
	       GC_FUNCS,
};

enum gc_kind {
	GC_STOP,    /* begins to stop the world */
	GC_LAST,    /* the last one has stopped, and the event is about it */
	GC_STOPPED, /* has stopped it */
	GC_START,   /* is about to start it again */
	GC_STARTED, /* has started it */
};

/* What the runtime has noted itself; that of GC_STARTED. All zero: not known. */
struct gc_numbers {
	unsigned long long sweep_term_ns, mark_ns, mark_term_ns, end_ns; /* CLOCK_MONOTONIC */
	unsigned long long heap0, heap1, heap2, goal, assist_ns, cycle;
};

struct gc_event {
	unsigned long long time_ns; /* CLOCK_MONOTONIC */
	struct process_key process;
	unsigned long long probe; /* where the process has the probe's instruction */
	unsigned long long g;     /* address and goid of the goroutine that asks for it */
	unsigned long long goid;
	unsigned long long stack; /* of that goroutine, but for GC_START and later; 0: not kept */
	/* GC_STOP: why, where the runtime has numbers for that. GC_START:
	 * when the stop began and was there, GC_STARTED: when the world ran again; where it tells
	 */
	unsigned long long told[2];
	unsigned int pid;  /* in the machine's own PID namespace */
	unsigned int kind; /* enum gc_kind */
	struct gc_numbers numbers;
};

struct gc_assist_key {
	unsigned long long stack; /* of the goroutine that has to mark or sweep */
	unsigned long long probe; /* as above, of where it begins */
	unsigned int pid, func;   /* GC_FUNC_ASSIST or GC_FUNC_SWEEP */
};

struct gc_assist_sum {
	unsigned long long assists, total_ns, max_ns; /* or spans swept */
};

struct gc_layout { /* addresses with load bias 0: the tool tells before the first event */
	unsigned long long start; /* of the probe at GC_FUNC_START's entry */
	/* struct gc_vars of common/gostat */
	unsigned long long cycles, times, heap, goal, assist;
};

enum gc_loss {
	GC_LOSS_EVENTS,     /* the ring buffer was full */
	GC_LOSS_UNREADABLE, /* the goroutine could not be read */
	GC_LOSS_STACKS,     /* stacks that could not be kept */
	GC_LOSS_ASSISTS,    /* the maps of assists had no room */
	GC_LOSSES,
};

#endif
