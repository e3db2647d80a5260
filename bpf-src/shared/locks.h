/* SPDX-License-Identifier: Apache-2.0 */
/* What golocks.bpf.c sends and counts, and common/locks/locks.h adds up. Fixed widths, the same
 * on both sides. */
#ifndef LOCKS_SHARED_H
#define LOCKS_SHARED_H

#include "latency.h"

enum lock_func {                    /* what is probed, as the tool numbers it */
		 LOCK_FUNC_LOCK,    /* sync.(*Mutex).lockSlow, and its returns */
		 LOCK_FUNC_ACQUIRE, /* runtime.semacquire1, and its returns */
		 LOCK_FUNC_UNLOCK,  /* sync.(*Mutex).unlockSlow */
		 LOCK_FUNC_RELEASE, /* runtime.semrelease1 */
		 LOCK_FUNC_QUEUE,   /* runtime.(*semaRoot).queue */
		 LOCK_FUNCS,
};

enum lock_event_kind {
	LOCK_PARKS,    /* is about to wait for the semaphore at `addr` */
	LOCK_GOT,      /* has waited for it, and has the lock */
	LOCK_SPUN,     /* has got the mutex at `addr` without waiting; it was taken at first */
	LOCK_WAS_FREE, /* ... and it was free at first, though others wait for it or just did */
	LOCK_UNLOCKS,  /* lets go of the mutex at `addr`, which others want */
	LOCK_RELEASES, /* ... of the semaphore at `addr` */
};

#define LOCK_WORDS 5        /* frames whose first argument is told */
#define LOCK_MUTEX_SEMA 4   /* byte offset of the semaphore in a sync.Mutex */
#define LOCK_READER_WAIT 12 /* ... of readerWait in a sync.RWMutex, from its writers' semaphore */

struct lock_event {
	unsigned long long time_ns; /* CLOCK_MONOTONIC */
	unsigned long long lost;    /* events that were lost before, of all kinds */
	struct goroutine_key who;
	unsigned long long addr;
	unsigned long long begin_ns;  /* LOCK_GOT and without a wait: when it first wanted it */
	unsigned long long parked_ns; /* LOCK_GOT: when it first waited */
	unsigned long long stack;     /* hash; 0: not kept, or it has not waited */
	unsigned long long probe;     /* where the process has the entry probe of function `func` */
	unsigned int pid;             /* in the tool's PID namespace */
	unsigned char kind, func;
	unsigned char is_mutex; /* LOCK_PARKS, LOCK_GOT: the semaphore is a mutex's */
	unsigned char none;     /* 0 */
	unsigned int readers; /* LOCK_PARKS: if it is an RWMutex's writer, how many it waits for */
	unsigned int sleeps;  /* LOCK_GOT: one, and each after it was woken in vain */
	/* LOCK_PARKS: of the first frames of the stack, where the function has its first argument,
	 * or saves it if it likes */
	unsigned long long words[LOCK_WORDS];
};

struct lock_attempt {             /* of a goroutine, that goes on */
	unsigned long long mutex; /* 0: it waits for a semaphore that is no mutex's */
	unsigned long long semaphore;
	unsigned long long begin_ns, parked_ns; /* the latter 0: it has not waited yet */
	unsigned long long stack, probe;
	unsigned long long words[LOCK_WORDS];
	unsigned int sleeps;
	unsigned char func;     /* enum lock_func: whose probe `probe` is */
	unsigned char was_free; /* the mutex, when it first looked */
	unsigned short none;    /* 0 */
};

enum lock_loss {
	/* the ring buffer was full: */
	LOCK_LOSS_WAITS,  /* LOCK_GOT events of mutexes */
	LOCK_LOSS_OTHERS, /* ... of other semaphores */
	LOCK_LOSS_SPINS,  /* LOCK_SPUN and LOCK_WAS_FREE events */
	LOCK_LOSS_EVENTS, /* of other kinds */
	/* map `attempts` was full, or the kernel had no memory: */
	LOCK_LOSS_ROOM_WAITS,
	LOCK_LOSS_ROOM_OTHERS,
	LOCK_LOSS_ROOM_SPINS,
	LOCK_LOSS_UNREADABLE, /* the goroutine could not be read */
	LOCK_LOSS_STACKS, /* map `stacks` was full: waits and releases whose stack is not known */
	LOCK_LOSS_BEFORE, /* waits that had begun before the probes were there: no loss */
	LOCK_LOSSES,
};

#endif
