// SPDX-License-Identifier: Apache-2.0
/* Tells of each collection and of each stop of the world, by events in the order of time: the tool
 * puts them together (common/collections). What takes time is done before the world begins to stop,
 * or after it has been started again.
 *
 *   -DRING_PAGES=n        size of the ring buffer, a power of two
 *   -DSTOP_REASONS        stopTheWorldWithSema(reason)
 *   -DWORLD_STOP          startTheWorldWithSema(now, worldStop), and what that has: 1 when the
 *                         stop began, 2 when it was there as well
 *   -DM_P=n -DP_TICK=n    byte offsets in Go's struct m and struct p
 *   -DASSISTS=n           room for stacks with assists
 *
 * Both functions run on the system stack: the goroutine that asks is this thread's m's.
 */
#include "parts/extremes.h"
#include "parts/goarg.h"
#include "parts/goroutine.h"
#include "shared/gc.h"

#define LOSS_KINDS GC_LOSSES
#define STOPS 4096    /* processes whose world is stopped at a time */
#define THREADS 65536 /* that give up a goroutine while it is, or assist, at a time */

struct world { /* of a process */
	u64 bias;
	u32 known; /* the bias is */
	u32 stops; /* it is being stopped */
};

struct yielded { /* the goroutine that a thread has run last, while the world is being stopped */
	u64 g, goid, stack, p;
	u32 tick, none;
};

struct assisting { /* a thread, for a goroutine */
	u64 start_ns;
	struct gc_assist_key key;
};

BPF_ARRAY(active, u32, 1);
BPF_ARRAY(layout, struct gc_layout, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);
BPF_TABLE("lru_hash", struct process_key, struct world, worlds, STOPS);
BPF_TABLE("lru_hash", u64, struct yielded, yields, THREADS); /* by thread */
BPF_F_TABLE("hash", u64, struct assisting, assisting, THREADS, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", struct gc_assist_key, struct gc_assist_sum, assists, ASSISTS,
	    BPF_F_NO_PREALLOC);

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

static inline void note_stopping(struct gc_event *event, u32 stops)
{
	struct world none = {.stops = stops}, *world = worlds.lookup(&event->process);

	if (world)
		world->stops = stops;
	else
		worlds.update(&event->process, &none);
}

static inline void note_bias(struct gc_event *event)
{
	u32 zero = 0;
	struct gc_layout *at = layout.lookup(&zero);
	struct world *world = worlds.lookup(&event->process);

	if (!at || !world)
		return;
	world->bias = event->probe - at->start;
	world->known = 1;
}

static inline void read_numbers(struct gc_event *event)
{
	u32 zero = 0;
	struct gc_layout *at = layout.lookup(&zero);
	struct world *world = worlds.lookup(&event->process);
	struct gc_numbers *to = &event->numbers;

	if (!at || !world || !world->known)
		return;
	if (at->times)
		read_user(&to->sweep_term_ns, 4 * sizeof(u64), at->times + world->bias);
	if (at->heap)
		read_user(&to->heap0, 3 * sizeof(u64), at->heap + world->bias);
	if (at->goal)
		read_user(&to->goal, sizeof(u64), at->goal + world->bias);
	if (at->assist)
		read_user(&to->assist_ns, sizeof(u64), at->assist + world->bias);
	if (at->cycles)
		read_user(&to->cycle, sizeof(u32), at->cycles + world->bias);
}

static inline void keep_stack(struct gc_event *event)
{
	struct goroutine_key who = {.process = event->process, .id = event->g};

	event->stack = stack_keep_switched(&who, event->g);
	if (!event->stack)
		count_loss(GC_LOSS_STACKS);
}

static inline void send(struct gc_event *event)
{
	if (events.ringbuf_output(event, sizeof(*event), BPF_RB_NO_WAKEUP))
		count_loss(GC_LOSS_EVENTS);
}

/* --- who stops last --- */

/* How many goroutines a processor has run */
static inline u32 tick_of(u64 p)
{
	u32 tick = 0;

	read_user(&tick, sizeof(tick), p + P_TICK);
	return tick;
}

/* On the system stack: the goroutine has stopped, and has its processor yet. */
static inline void note_yield(struct pt_regs *ctx, struct gc_event *event)
{
	struct world *world = worlds.lookup(&event->process);
	struct goroutine_key who = {.process = event->process};
	struct yielded yielded = {};
	u64 thread = bpf_get_current_pid_tgid(), m = 0;

	if (!world || !world->stops)
		return;
	read_user(&m, sizeof(m), goroutine_g(ctx) + G_M);
	read_user(&yielded.g, sizeof(yielded.g), m + M_CURG);
	read_user(&yielded.p, sizeof(yielded.p), m + M_P);
	read_user(&yielded.goid, sizeof(yielded.goid), yielded.g + GOID_OFF);
	yielded.tick = tick_of(yielded.p);
	who.id = yielded.g;
	yielded.stack = stack_keep_parked(&who, yielded.g);
	yields.update(&thread, &yielded);
}

/* This thread's processor is the last to stop. If it has run nothing since this thread gave up a
 * goroutine, that one has stopped last. */
static inline void tell_last(struct gc_event *event)
{
	u64 thread = bpf_get_current_pid_tgid();
	struct yielded *yielded = yields.lookup(&thread);

	if (!yielded)
		return;
	event->g = yielded->g;
	event->goid = yielded->goid;
	event->stack = yielded->stack;
	if (yielded->p && tick_of(yielded->p) == yielded->tick)
		send(event);
	yields.delete(&thread);
}

/* --- assists --- */

static inline void begin_assist(struct gc_event *event, u32 func)
{
	struct assisting it = {.key = {.stack = event->stack,
				       .probe = event->probe,
				       .pid = event->pid,
				       .func = func}};
	u64 thread = bpf_get_current_pid_tgid();

	if (!event->stack)
		count_loss(GC_LOSS_STACKS);
	it.start_ns = bpf_ktime_get_ns();
	if (assisting.update(&thread, &it))
		count_loss(GC_LOSS_ASSISTS);
}

/* gcAssistAlloc1(gp, scanWork), on the system stack, which nobody else gets meanwhile */
static inline void begin_marking(struct pt_regs *ctx, u64 cookie, struct gc_event *event)
{
	struct goroutine_key who = {.process = event->process};

	if (goarg(ctx, cookie, GOARG_1, 0, 8, &who.id))
		return;
	event->stack = stack_keep_switched(&who, who.id);
	begin_assist(event, GC_FUNC_ASSIST);
}

/* On the stack of who allocates, and so keeps its thread: the runtime preempts nobody there. */
static inline void begin_sweeping(struct pt_regs *ctx, u64 cookie, struct gc_event *event)
{
	struct goroutine_key who = {.process = event->process, .id = goroutine_g(ctx)};

	event->stack = stack_keep_caller(ctx, &who, probe_sp(ctx) + cookie_adjust(cookie), ~0ULL);
	begin_assist(event, GC_FUNC_SWEEP);
}

/* The result of sweepone(): how many pages it has freed; all bits: there was no span to sweep */
static inline bool has_swept(struct pt_regs *ctx)
{
	return goarg_result(ctx) != ~0ULL;
}

static inline void end_assist(u64 now, bool counts)
{
	u64 thread = bpf_get_current_pid_tgid(), ns;
	struct assisting *it = assisting.lookup(&thread);
	struct gc_assist_sum none = {}, *sum;
	struct gc_assist_key key;

	if (!it)
		return;
	key = it->key;
	ns = now - it->start_ns;
	assisting.delete(&thread);
	sum = assists.lookup(&key);
	if (!sum) {
		/* several CPUs may try: the first one inserts it */
		assists.insert(&key, &none);
		sum = assists.lookup(&key);
	}
	if (!sum) {
		count_loss(GC_LOSS_ASSISTS);
		return;
	}
	__sync_fetch_and_add(&sum->assists, counts);
	__sync_fetch_and_add(&sum->total_ns, ns);
	extremes_raise(&sum->max_ns, ns);
}

/* --- stops --- */

static inline void tell_stop(struct pt_regs *ctx, u64 cookie, struct gc_event *event)
{
	if (!asking(ctx, event)) {
		count_loss(GC_LOSS_UNREADABLE);
		return;
	}
	read_told(ctx, cookie, event);
	if (event->kind == GC_STOP) {
		keep_stack(event);
		note_stopping(event, 1);
	} else if (event->kind == GC_START) {
		note_bias(event);
	} else if (event->kind == GC_STARTED) {
		note_stopping(event, 0);
		read_numbers(event);
	}
	send(event);
}

static inline u32 kind_of(u64 cookie)
{
	bool returns = cookie_kind(cookie) == COOKIE_RETURN;

	if (cookie_row(cookie) == GC_FUNC_LAST)
		return GC_LAST;
	if (cookie_row(cookie) == GC_FUNC_STOP)
		return returns ? GC_STOPPED : GC_STOP;
	return returns ? GC_STARTED : GC_START;
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx);
	struct gc_event event = {.time_ns = bpf_ktime_get_ns()};
	struct goroutine_key who = {};
	u32 zero = 0, *on = active.lookup(&zero), func = cookie_row(cookie);
	bool returns = cookie_kind(cookie) == COOKIE_RETURN;

	if (!on || !*on || !probe_wanted() || (!returns && !probe_is_call(ctx, cookie)))
		return 0;
	event.kind = kind_of(cookie);
	event.pid = probe_ids() >> 32;
	event.probe = probe_register(ctx, REGISTER_PC);
	goroutine_process(&who);
	event.process = who.process;
	if (func == GC_FUNC_YIELD || func == GC_FUNC_YIELD_ASYNC)
		note_yield(ctx, &event);
	else if (func == GC_FUNC_LAST)
		tell_last(&event);
	else if (func == GC_FUNC_ASSIST && returns)
		end_assist(event.time_ns, true);
	else if (func == GC_FUNC_SWEPT)
		end_assist(event.time_ns, has_swept(ctx));
	else if (func == GC_FUNC_ASSIST)
		begin_marking(ctx, cookie, &event);
	else if (func == GC_FUNC_SWEEP)
		begin_sweeping(ctx, cookie, &event);
	else
		tell_stop(ctx, cookie, &event);
	return 0;
}
