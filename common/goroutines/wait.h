/* SPDX-License-Identifier: Apache-2.0 */
/* What goroutines wait for, as it is found in memory: a runtime.sudog for each channel or
 * semaphore, a timer, a file descriptor that is polled. */
#ifndef WAIT_H
#define WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/arch.h"

struct goruntime;
struct memory;

enum wait_kind {
	WAIT_CHANNEL,
	WAIT_SEMAPHORE,
	WAIT_TIMER,
	WAIT_FD,
	WAIT_SYSCALL,
	/* what a semaphore belongs to, by who waits on it: see wait_objects.h */
	WAIT_MUTEX,
	WAIT_RWMUTEX,
	WAIT_WAITGROUP,
	WAIT_COND,
};

struct wait {
	uint64_t object;    /* address of the channel, semaphore, mutex...; TIMER: when, in ns of
			     * CLOCK_MONOTONIC; FD: its number; SYSCALL: the thread */
	uint64_t sudog;     /* its address; 0: there is none */
	uint64_t semaphore; /* from MUTEX on: its address, that of the object being another */
	uint8_t kind;
	bool writes; /* FD: not reads */
};

struct waits {
	struct wait *all; /* the owner frees */
	size_t count, cap;
	size_t reads; /* of memory, those for goroutines that were read again, too */
};

enum {
	WAIT_CASES_MAX = 1024,    /* of a goroutine's select */
	WAIT_COUNT_MAX = 1 << 22, /* of all goroutines */
	WAIT_READS_MAX = 1 << 23  /* for all of them: more than any real program needs */
};

/* Byte offsets in a release's struct g, sudog, hchan and timer (Go's src/runtime/runtime2.go,
 * chan.go, time.go), and pollDesc (netpoll.go). */
struct wait_layout {
	bool known;
	enum arch arch;
	uint32_t g_waiting, g_timer, g_sleep_when; /* sleep_when 0: there is none */
	uint32_t g_m, m_procid;
	uint32_t sudog_elem, sudog_link, sudog_channel, sudog_len;
	uint32_t timer_when;
	uint32_t channel_type;
	uint32_t poll_fd, poll_reader, poll_writer;
	bool semaphores; /* sudogs of semaphores are listed in g, too */
};

struct wait_layout wait_layout(enum arch arch, const struct goruntime *rt, int release, bool told);

struct wait_source {                            /* a goroutine that waits */
	uint64_t g, waiting, timer, sleep_when; /* address; fields */
	uint64_t m;
	bool sleeps, polls, calls;
	const uint8_t *stack; /* from its stack pointer on */
	size_t stack_len;
};

#endif
