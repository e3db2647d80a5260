// SPDX-License-Identifier: Apache-2.0
/* Tells of each collection and of each stop of the world, by events in the order of time: the tool
 * puts them together (common/collections). What takes time is done before the world begins to stop,
 * or after it has been started again.
 *
 *   -DRING_PAGES=n        size of the ring buffer, a power of two
 *   -DSTOP_REASONS        stopTheWorldWithSema(reason)
 *   -DWORLD_STOP          startTheWorldWithSema(now, worldStop), and what that has: 1 when the
 *                         stop began, 2 when it was there as well
 *
 * Both functions run on the system stack: the goroutine that asks is this thread's m's.
 */
#include "parts/goarg.h"
#include "parts/goroutine.h"
#include "shared/gc.h"

#define LOSS_KINDS GC_LOSSES
#define STOPS 4096 /* processes whose world is stopped at a time */

BPF_ARRAY(active, u32, 1);
BPF_ARRAY(layout, struct gc_layout, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);
/* the load bias of processes that start their world */
BPF_TABLE("lru_hash", struct process_key, u64, biases, STOPS);

#include "parts/every_program.bpf.c"
#include "parts/stacks.bpf.c"
#include "parts/losses.bpf.c"

/* The goroutine that this thread works for; 0: none */
static inline u64 asking(struct pt_regs *ctx, struct gc_event *event)
{
	u64 m = 0;

	if (read_user(&m, sizeof(m), goroutine_g(ctx) + G_M) ||
	    read_user(&event->g, sizeof(event->g), m + M_CURG) || !event->g)
		return 0;
	read_user(&event->goid, sizeof(event->goid), event->g + GOID_OFF);
	return event->g;
}

/* stopTheWorldWithSema(reason): a byte */
static inline void read_told(struct pt_regs *ctx, u64 cookie, struct gc_event *event)
{
#ifdef STOP_REASONS
	if (event->kind == GC_STOP) {
		goarg(ctx, cookie, GOARG_1, 0, 4, &event->told[0]);
		event->told[0] &= 255;
	}
#endif
#ifdef WORLD_STOP
	if (event->kind == GC_START) {
		goarg(ctx, cookie, GOARG_3, 16, 8, &event->told[0]);
		if (WORLD_STOP > 1)
			goarg(ctx, cookie, GOARG_4, 24, 8, &event->told[1]);
	}
#endif
#ifdef ARGS_IN_REGISTERS
	if (event->kind == GC_STARTED) /* the result */
		event->told[0] = probe_register(ctx, GOARG_1);
#endif
}

static inline void note_bias(struct gc_event *event)
{
	u32 zero = 0;
	struct gc_layout *at = layout.lookup(&zero);
	u64 bias;

	if (!at)
		return;
	bias = event->probe - at->start;
	biases.update(&event->process, &bias);
}

static inline void read_numbers(struct gc_event *event)
{
	u32 zero = 0;
	struct gc_layout *at = layout.lookup(&zero);
	u64 *bias = biases.lookup(&event->process);
	struct gc_numbers *to = &event->numbers;

	if (!at || !bias)
		return;
	if (at->times)
		read_user(&to->sweep_term_ns, 4 * sizeof(u64), at->times + *bias);
	if (at->heap)
		read_user(&to->heap0, 3 * sizeof(u64), at->heap + *bias);
	if (at->goal)
		read_user(&to->goal, sizeof(u64), at->goal + *bias);
	if (at->assist)
		read_user(&to->assist_ns, sizeof(u64), at->assist + *bias);
	if (at->cycles)
		read_user(&to->cycle, sizeof(u32), at->cycles + *bias);
}

static inline void keep_stack(struct gc_event *event)
{
	struct goroutine_key who = {.process = event->process, .id = event->g};

	event->stack = stack_keep_switched(&who, event->g);
	if (!event->stack)
		count_loss(GC_LOSS_STACKS);
}

static inline u32 kind_of(u64 cookie)
{
	bool returns = cookie_kind(cookie) == COOKIE_RETURN;

	if (cookie_row(cookie) == GC_FUNC_STOP)
		return returns ? GC_STOPPED : GC_STOP;
	return returns ? GC_STARTED : GC_START;
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx);
	struct gc_event event = {.time_ns = bpf_ktime_get_ns()};
	struct goroutine_key who = {};
	u32 zero = 0, *on = active.lookup(&zero);

	if (!on || !*on || !probe_wanted() ||
	    (cookie_kind(cookie) != COOKIE_RETURN && !probe_is_call(ctx, cookie)))
		return 0;
	event.kind = kind_of(cookie);
	event.pid = probe_ids() >> 32;
	event.probe = probe_register(ctx, REGISTER_PC);
	goroutine_process(&who);
	event.process = who.process;
	if (!asking(ctx, &event)) {
		count_loss(GC_LOSS_UNREADABLE);
		return 0;
	}
	read_told(ctx, cookie, &event);
	if (event.kind == GC_STOP)
		keep_stack(&event);
	else if (event.kind == GC_START)
		note_bias(&event);
	else if (event.kind == GC_STARTED)
		read_numbers(&event);
	if (events.ringbuf_output(&event, sizeof(event), BPF_RB_NO_WAKEUP))
		count_loss(GC_LOSS_EVENTS);
	return 0;
}
