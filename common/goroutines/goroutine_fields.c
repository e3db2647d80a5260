// SPDX-License-Identifier: Apache-2.0
#include "goroutines/goroutine_fields_internal.h"

#include <string.h>

#include "goroutines/memory.h"
#include "goroutines/snapshot.h"

enum {
	G_MAX = 512,          /* bytes of struct g that are read */
	LOWEST = 4096,        /* address */
	STATUS_SCAN = 0x1000, /* beside another state: the garbage collector looks at the stack */
};

static uint64_t word(const uint8_t *g, uint32_t at)
{
	uint64_t value = 0;

	if (at + sizeof(value) <= G_MAX)
		memcpy(&value, g + at, sizeof(value));
	return value;
}

bool goroutine_fields_read(const struct snapshot_source *from, const struct memory *mem,
			   uint64_t addr, struct goroutine_fields *out)
{
	const struct goruntime *rt = from->rt;
	uint32_t size = rt->g_gopc ? rt->g_gopc + 88 : rt->g_waitreason + 16;
	const struct wait_layout *waits = from->waits;

	if (from->g_bubble + 8 > size)
		size = from->g_bubble + 8;
	uint8_t g[G_MAX] = {0};

	/* All in one go: the kernel copies it while the program runs on. Nothing is ever at the
	 * lowest addresses: a list that pretends to be of millions has mostly zeros. */
	if (size > G_MAX || addr % 8 || addr < LOWEST || !mem->read(mem->ctx, addr, g, size))
		return false;
	*out = (struct goroutine_fields){
		.stack_lo = word(g, rt->g_stack_hi - 8),
		.stack_hi = word(g, rt->g_stack_hi),
		.sp = word(g, rt->g_sched_sp),
		.pc = word(g, rt->g_sched_sp + 8),
		.link = rt->g_sched_link ? word(g, rt->g_sched_link) : 0,
		.syscall_sp = word(g, rt->g_syscall_sp),
		.syscall_pc = word(g, rt->g_syscall_sp + 8),
		.goid = word(g, rt->g_goid),
		.waitsince = word(g, rt->g_waitsince),
		.parent = rt->g_parent_goid ? word(g, rt->g_parent_goid) : 0,
		.created_by = rt->g_gopc ? word(g, rt->g_gopc) : 0,
		/* gopc, ancestors, startpc */
		.start = rt->g_gopc ? word(g, rt->g_gopc + 16) : 0,
		.status = (uint32_t)word(g, rt->g_status) & ~(uint32_t)STATUS_SCAN,
		.reason = (uint8_t)word(g, rt->g_waitreason),
		.tracking_seq = from->g_tracking_seq ? (uint8_t)word(g, from->g_tracking_seq) : 0,
		.locked = rt->g_lockedm && word(g, rt->g_lockedm),
		.waiting = waits ? word(g, waits->g_waiting) : 0,
		.m = word(g, rt->g_m),
		.bubble = from->g_bubble ? word(g, from->g_bubble) : 0,
		.labels = from->g_labels ? word(g, from->g_labels) : 0,
		.timer = waits ? word(g, waits->g_timer) : 0,
		.sleep_when = waits && waits->g_sleep_when ? word(g, waits->g_sleep_when) : 0,
	};
	return true;
}

bool goroutine_fields_same(const struct goroutine_fields *a, const struct goroutine_fields *b)
{
	return a->goid == b->goid && a->status == b->status && a->reason == b->reason &&
	       a->sp == b->sp && a->pc == b->pc && a->syscall_sp == b->syscall_sp &&
	       a->syscall_pc == b->syscall_pc && a->stack_lo == b->stack_lo &&
	       a->stack_hi == b->stack_hi && a->created_by == b->created_by &&
	       a->waiting == b->waiting;
}

bool goroutine_fields_match(const struct goroutine_fields *now, const struct goroutine *before)
{
	return now->goid == before->goid && now->status == before->status &&
	       now->reason == before->reason && now->sp == before->sp;
}

bool goroutine_fields_has_stack(const struct goroutine_fields *g)
{
	return g->status == GOROUTINE_RUNNABLE || g->status == GOROUTINE_SYSCALL ||
	       g->status == GOROUTINE_WAITING || g->status == GOROUTINE_PREEMPTED ||
	       g->status == GOROUTINE_LEAKED;
}

bool goroutine_fields_wild(const struct goroutine_fields *g)
{
	return g->status > GOROUTINE_DEADEXTRA || g->stack_lo > g->stack_hi;
}

bool goroutine_fields_dead(const struct goroutine_fields *g)
{
	return g->status == GOROUTINE_IDLE || g->status == GOROUTINE_DEAD ||
	       g->status == GOROUTINE_DEADEXTRA;
}

uint64_t goroutine_fields_sp(const struct goroutine_fields *g)
{
	return g->status == GOROUTINE_SYSCALL ? g->syscall_sp : g->sp;
}
