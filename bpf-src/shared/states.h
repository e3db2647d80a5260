/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of calls went, by their goroutine's state: what states.bpf.c keeps and the tools
 * read. Fixed widths, the same on both sides. */
#ifndef STATES_SHARED_H
#define STATES_SHARED_H

enum state {
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_SYSCALL,
	STATE_UNKNOWN,
	STATE_WAITING, /* and above: this plus Go's number of what it waits for */
};

#define STATE_REASONS 52 /* more than any release has */

enum state_work { /* waits of which Go before 1.20 does not note what they are for */
		  STATE_STOP_WORLD = STATE_WAITING + STATE_REASONS,
		  STATE_MARK_DONE,
		  STATE_DUMP_HEAP,
		  STATE_OTHER_WORK,
		  /* running, but its thread was not on a CPU: a part of its own if threads are
		   * watched, see threads.bpf.c */
		  STATE_OFF_CPU,
		  STATES = 64, /* a power of two */
};

enum state_change { /* what the hit of a probe in the scheduler means: its cookie's copy */
		    CHANGE_NONE,
		    CHANGE_CAS,        /* casgstatus(g, from, to) */
		    CHANGE_PARK,       /* f(g): it will wait */
		    CHANGE_SWITCHED,   /* m.curg runs again, that waited */
		    CHANGE_SYSCALL,    /* who runs enters a system call */
		    CHANGE_RETURNED,   /* who runs has returned from one */
		    CHANGE_STOP_WORLD, /* what m.curg's wait is for */
		    CHANGE_MARK_DONE,
		    CHANGE_DUMP_HEAP,
};

struct state_clock { /* of a goroutine with calls, or what it was when a call began */
	unsigned long long since_ns; /* up to when it is added up; CLOCK_MONOTONIC */
	unsigned int state;          /* enum state */
	unsigned int early; /* casgstatus may come yet for the change that led to this state */
	unsigned long long ns[STATES]; /* since began_ns */
	unsigned long long began_ns;   /* with the outermost call */
	unsigned long long work;       /* enum state_work of the wait that goes on; 0: none */
	/* if threads are watched: what thread turned the clock last (0: not known), and how long it
	 * had been off its CPU then */
	unsigned long long thread, off_ns;
};

struct thread_switches { /* on one CPU */
	unsigned long long count, last_ns;
};

struct thread_time {
	unsigned long long out_ns; /* since when it is off its CPU; 0: it is not; CLOCK_MONOTONIC */
	unsigned long long in_ns;  /* when it came back last */
	unsigned long long off_ns, before_ns; /* how long it was off in all; before it came back */
};

/* How long one call was in each state, where waits are not told apart. With -DSTATES_WANTED the
 * record of gotrace's return probes begins with it. */
#define STATES_BRIEF (STATE_WAITING + 1)
struct state_times {
	unsigned long long ns[STATES_BRIEF];
};

struct state_sum { /* of one state and row; key of their map: latency_place() */
	unsigned long long calls, total_ns;
};

enum state_loss {
	STATE_LOSS_ROOM,       /* calls whose states are unknown: no room or memory in a map */
	STATE_LOSS_UNSEEN,     /* changes that another one shows not to have been seen */
	STATE_LOSS_UNREADABLE, /* changes of who knows which goroutine */
	STATE_LOSS_SUMS,       /* parts of calls for which there was no room */
	STATE_LOSS_THREADS,    /* turns of clocks by threads for which there was no room */
	STATE_LOSSES,
};

#endif
