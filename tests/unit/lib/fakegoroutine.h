/* SPDX-License-Identifier: Apache-2.0 */
/* Goroutines in the memory of the program that fakekernel.h's is traced in: numbers below 16, each
 * with an m of its own. These are the names that a tool would define; a test may have others. */
#ifndef FAKEGOROUTINE_H
#define FAKEGOROUTINE_H

#include "fakekernel.h"
#include "fakelayout.h"

#include <uapi/linux/ptrace.h>

enum {
	FAKEGOROUTINE_PID = 77,
	FAKEGOROUTINE_TID = 78,
	FAKEGOROUTINE_STEP = 10,     /* ns that pass when the time is looked at */
	FAKEGOROUTINE_SIZE = 0x1000, /* of a stack, and of what belongs to one of them */
	FAKEGOROUTINE_STACKS = FAKEMEM_BASE + 0x20000,
	FAKEGOROUTINE_FREE = FAKEMEM_BASE + 0x40000, /* for the test */
};

static struct pt_regs regs; /* at the probe */
static struct fakegoroutine_signal fake_signal;
static struct fakegoroutine_task fake_leader, fake_task; /* the latter runs */

static inline u64 fakegoroutine_g(unsigned n)
{
	return FAKEMEM_BASE + 0x1000 + n * FAKEGOROUTINE_SIZE;
}

static inline u64 fakegoroutine_m(unsigned n)
{
	return fakegoroutine_g(n) + 0x800;
}

static inline u64 fakegoroutine_hi(unsigned n)
{
	return FAKEGOROUTINE_STACKS + (n + 1) * FAKEGOROUTINE_SIZE;
}

static inline void fakegoroutine_make(unsigned n, u64 goid)
{
	u64 g = fakegoroutine_g(n), hi = fakegoroutine_hi(n);

	fakemem_put(g, hi - FAKEGOROUTINE_SIZE);
	fakemem_put(g + 8, hi);
	fakemem_put(g + GOID_OFF, goid);
	fakemem_put(g + G_M, fakegoroutine_m(n));
	fakemem_put(fakegoroutine_m(n) + M_CURG, g);
}

/* All is empty; a process with goroutines 1 to `count` begins to be traced: these
 * are their goids, and 0 is a system stack. */
static inline void fakegoroutine_begin(unsigned count)
{
	fakekernel_begin();
	fake_signal = (struct fakegoroutine_signal){.live = 1};
	fake_leader = (struct fakegoroutine_task){.start_ns = 5000};
	fake_task = (struct fakegoroutine_task){
		.leader = &fake_leader, .signal = &fake_signal, .exec = 3};
	fakekernel.task = &fake_task;
	fakekernel.ids = (u64)FAKEGOROUTINE_PID << 32 | FAKEGOROUTINE_TID;
	fakekernel.ns = 1000;
	fakekernel.ns_step = FAKEGOROUTINE_STEP;
	memcpy(fakekernel.comm, "bank", 5);
	memset(&regs, 0, sizeof(regs));
	for (unsigned n = 0; n <= count; n++)
		fakegoroutine_make(n, n);
}

/* It runs, with so many bytes of stack. */
static inline void fakegoroutine_runs(unsigned n, u64 depth)
{
	regs.r14 = fakegoroutine_g(n);
	regs.sp = fakegoroutine_hi(n) - depth;
}

#endif
