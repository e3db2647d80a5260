/* SPDX-License-Identifier: Apache-2.0 */
/* One hit of a probe: who runs, where and since when.
 *
 *   -DPARENT                         who created the goroutine is wanted
 *   -DONLY_TID=n -DONLY_GOID=n
 *   -DROOTS                          calls below a call of ROOT are wanted
 */
#ifndef HIT_H
#define HIT_H

#include "parts/goroutine.h"
#include "parts/frames.h"
#include "shared/trace.h"

struct hit {          /* of a probe */
	u64 sp;       /* identifies the call: of a function, the stack pointer at entry */
	u64 entry_sp; /* of the function that the probe stands in; 0: not known */
	u64 depth;    /* bytes from sp to its stack's high end; -sp where that is not known */
	/* latency: with -DROOTS, where a call begins, as struct trace_event's `root`, or 0: it is
	 * below none. There is no room for both on the stack */
	u64 now, latency;
	u64 site; /* address of the probe; of a hook 0 */
	u64 goid, parent_goid, created_by;
	u64 bias;
	u64 tls_g; /* of gccgo: where the library's struct split_index of g is */
	u32 tgid, tid, cpu;
	u32 item, plan, program;
	u32 restart;  /* as in struct trace_place */
	u32 returned; /* probe_returned() */
	u64 size;     /* bytes of the event without frames; 0: there is none */
	union {       /* there is no room for both on the stack */
		/* what is to be read yet, see shared/later.h; 0: nothing */
		u64 later[TRACE_LATER];
		u32 table; /* in programs that read by tables: as in struct trace_place */
	};
};

static inline void find_parent(struct pt_regs *ctx, struct hit *hit)
{
#ifdef PARENT
	/* not into the hit, all of which the compiler would have to keep on the stack then */
	u64 created_by = 0, parent_goid = 0;

	frames_creator(goroutine_g(ctx), &created_by, &parent_goid);
	hit->created_by = created_by;
	hit->parent_goid = parent_goid;
#endif
}

static inline void find_thread(struct hit *hit)
{
	u64 ids = probe_ids();

	hit->tgid = ids >> 32;
	hit->tid = ids;
	hit->cpu = bpf_get_smp_processor_id();
}

static inline bool only_these(struct hit *hit)
{
#ifdef ONLY_TID
	if (hit->tid != ONLY_TID)
		return false;
#endif
#ifdef ONLY_GOID
	if (hit->goid != ONLY_GOID)
		return false;
#endif
	return true;
}

static inline u64 probe_address(struct pt_regs *ctx)
{
	return probe_register(ctx, REGISTER_PC);
}

/* Fills in the head of an event. */
static inline void hit_describe(struct hit *hit, struct trace_event *event, u32 how)
{
	event->time_ns = hit->now;
	event->latency_ns = hit->latency;
	event->goid = hit->goid;
	event->parent_goid = hit->parent_goid;
	event->created_by = hit->created_by;
	event->bias = hit->bias;
	event->tgid = hit->tgid;
	event->tid = hit->tid;
	event->cpu = hit->cpu;
	event->item = hit->item;
	event->how = how;
	event->user_frames = 0;
	event->kernel_frames = 0;
	event->root = 0;
	bpf_get_current_comm(event->comm, sizeof(event->comm));
}

static inline u64 hit_goid(struct hit *hit, struct goroutine_key *who)
{
	if (who->id & GOROUTINE_SYSTEM)
		return 0;
#ifdef SPLIT_STACK
	return split_goid(hit->tls_g);
#else
	return who->id;
#endif
}

/* Fills in who runs here and when, if only the event needs it. False: the goroutine could not be
 * read, and is 0. */
static inline bool hit_identify(struct pt_regs *ctx, struct hit *hit)
{
	struct goroutine_key who = {};
	bool known;
	u64 depth;

	hit->now = bpf_ktime_get_ns();
	known = goroutine_here(ctx, hit->sp, &who, &depth);
	if (known)
		hit->goid = hit_goid(hit, &who);
	find_thread(hit);
	find_parent(ctx, hit);
	return known;
}

/* A hit shows that calls of its goroutine at this depth or deeper are over. At entries and returns
 * not those at the call's own depth: calls of other PROBEs and of inlined copies may share it. */
static inline u64 hit_ends(u32 kind, u64 depth)
{
	if (kind >= COOKIE_GOEXIT)
		return 0;
	return kind == COOKIE_RECOVERED ? depth : depth + 1;
}

#endif
