// SPDX-License-Identifier: Apache-2.0
/* Times calls from entry to return. Besides the defines of probe.h and goroutine.h:
 *
 *   -DROWS=n         functions
 *   -DINFLIGHT=n     calls that may be running at a time
 *   -DUNIT=n         ns that one unit of the histograms has
 *   -DHISTOGRAMS=n   1, or ROWS: one for each row; or
 *   -DSLOTS=n        ... in a hash of so many slots, where ROWS is large
 *   -DG_M=, -DM_CURG=, -DG_SCHED_SP=   byte offsets in structs g and m, for COOKIE_RECOVERED
 *   -DCMPXCHG        the kernel has it (5.12): extremes are exact
 */
#include "probe.h"
#include "goroutine.h"
#include "histogram_index.h"
#include "latency.h"

BPF_ARRAY(control, struct latency_control, 1);
BPF_F_TABLE("hash", struct latency_key, struct latency_value, inflight, INFLIGHT,
	    BPF_F_NO_PREALLOC);
BPF_PERCPU_ARRAY(outcomes, struct latency_outcome, ROWS);
BPF_ARRAY(extremes, struct latency_extremes, 2 * ROWS);
BPF_PERCPU_ARRAY(tallies, u64, LATENCY_TALLIES);
BPF_RINGBUF_OUTPUT(ends, 256);

#ifdef SLOTS
BPF_F_TABLE("hash", u32, u64, slots, SLOTS, BPF_F_NO_PREALLOC);
#else
BPF_PERCPU_ARRAY(slots, u64, HISTOGRAMS *HISTOGRAM_SLOTS);
#endif

/* wake the tool for every so many records of a CPU; else it looks from time to time */
#define WAKE_EVERY 1024

/* Counts one; returns the count before, as far as this CPU's threads do not interrupt each other.
 */
static inline u64 tally(u32 what)
{
	u64 *count = tallies.lookup(&what);
	u64 before;

	if (!count)
		return 0;
	before = *(volatile u64 *)count;
	__sync_fetch_and_add(count, 1);
	return before;
}

/* Stores `value` if *slot still is `old`; returns what it was. LLVM's default BPF has no word for
 * this instruction, so its bytes are given: BPF_STX | BPF_ATOMIC | BPF_DW, r8 and r9, BPF_CMPXCHG.
 * It wants `old` in r0. libbcc's front end takes us for the host, so that only register names of
 * x86 and BPF both can be asked for: r0 is set aside by hand. */
static inline u64 exchange(u64 *slot, u64 old, u64 value)
{
#ifdef CMPXCHG
	register u64 *where asm("r8") = slot;
	register u64 with asm("r9") = value;
	u64 was = old, aside;

	asm volatile(".ifnc %[was], r0\n"
		     "%[aside] = r0\n"
		     "r0 = %[was]\n"
		     ".endif\n"
		     ".byte 0xdb, 0x98, 0, 0, 0xf1, 0, 0, 0\n"
		     ".ifnc %[was], r0\n"
		     "%[was] = r0\n"
		     "r0 = %[aside]\n"
		     ".endif\n"
		     : [was] "+r"(was), [aside] "=&r"(aside)
		     : "r"(where), "r"(with)
		     : "memory");
	return was;
#else
	*(volatile u64 *)slot = value;
	return old;
#endif
}

static inline void raise(u64 *slot, u64 value)
{
	u64 now = *(volatile u64 *)slot;

#pragma unroll
	for (int i = 0; i < 8; i++) {
		if (value <= now)
			return;
		u64 was = exchange(slot, now, value);

		if (was == now)
			return;
		now = was;
	}
}

static inline void note_slot(u32 row, u64 ns)
{
	u32 index = histogram_index(ns / UNIT);
	u64 *count;

#ifdef SLOTS
	u64 none = 0;

	index |= row << LATENCY_SLOT_BITS;
	count = slots.lookup(&index);
	if (!count) {
		slots.insert(&index, &none);
		count = slots.lookup(&index);
	}
	if (!count)
		tally(LATENCY_LOST_SLOT);
#else
	if (HISTOGRAMS > 1)
		index += row * HISTOGRAM_SLOTS;
	count = slots.lookup(&index);
#endif
	if (count)
		__sync_fetch_and_add(count, 1);
}

static inline void note_call(u32 row, u32 epoch, u64 ns)
{
	struct latency_outcome *o = outcomes.lookup(&row);
	u32 half = row + (epoch & 1) * ROWS;
	struct latency_extremes *e = extremes.lookup(&half);

	if (!o || !e)
		return;
	__sync_fetch_and_add(&o->count, 1);
	__sync_fetch_and_add(&o->total, ns);
	raise(&e->max, ns);
	raise(&e->inverted_min, ~ns);
	note_slot(row, ns);
}

/* false: the goroutine cannot be told */
static inline bool make_key(struct pt_regs *ctx, u64 cookie, struct latency_key *key)
{
	struct goroutine g = {};
	u64 id = bpf_get_current_pid_tgid();
	u64 sp = ctx->sp + cookie_adjust(cookie);

	if (!goroutine_current(ctx, &g))
		return false;
	key->tgid = id >> 32;
	key->row = cookie_row(cookie);
	key->goid = g.goid ? g.goid : (u32)id | LATENCY_THREAD;
	key->depth = g.goid ? g.hi - sp : -sp;
	key->copy = cookie_copy(cookie);
	return true;
}

/* A call that never came back left its entry here, or there is no room. */
static inline void begin_again(struct latency_key *key, struct latency_value *value, int error)
{
	u32 row = key->row;
	struct latency_outcome *o = outcomes.lookup(&row);

	if (!o)
		return;
	if (error != -17 /* EEXIST */ || inflight.update(key, value))
		__sync_fetch_and_add(&o->untracked, 1);
	else if (key->goid & LATENCY_THREAD)
		__sync_fetch_and_add(&o->switched, 1);
	else
		__sync_fetch_and_add(&o->panicked, 1);
}

static inline void begin(struct pt_regs *ctx, u64 cookie)
{
	struct latency_key key = {};
	struct latency_value value;
	int error;

	if (!make_key(ctx, cookie, &key)) {
		tally(LATENCY_LOST_GOROUTINE);
		return;
	}
	value.start = bpf_ktime_get_ns();
	error = inflight.insert(&key, &value);
	if (error)
		begin_again(&key, &value, error);
}

static inline void end(struct pt_regs *ctx, u64 cookie, u32 epoch)
{
	u64 now = bpf_ktime_get_ns();
	struct latency_key key = {};
	struct latency_value *value;
	u64 start;

	if (!make_key(ctx, cookie, &key))
		return;
	value = inflight.lookup(&key);
	if (!value) /* begun before the probes were there */
		return;
	start = value->start;
	inflight.delete(&key);
	note_call(key.row, epoch, now - start);
}

/* The stack pointer that runtime.recovery goes on with belongs to the frame that recovers: what is
 * below it is gone. */
static inline bool recovered(u64 g0, struct goroutine *g, struct latency_end *end)
{
	u64 curg = goroutine_word(goroutine_word(g0 + G_M) + M_CURG);
	u64 sp = goroutine_word(curg + G_SCHED_SP);

	if (!curg || !sp || !goroutine_read(curg, g))
		return false;
	end->depth = g->hi - sp;
	return true;
}

static inline void frames_end(struct pt_regs *ctx, u32 kind)
{
	struct goroutine g = {};
	struct latency_end end = {.kind = kind};
	u64 current = goroutine_current(ctx, &g);
	u64 flags = BPF_RB_NO_WAKEUP;

	if (!current || (kind == COOKIE_RECOVERED && !recovered(current, &g, &end))) {
		tally(LATENCY_LOST_END);
		return;
	}
	end.tgid = bpf_get_current_pid_tgid() >> 32;
	end.goid = g.goid;
	end.now = bpf_ktime_get_ns();
	if (tally(LATENCY_SENT_END) % WAKE_EVERY == WAKE_EVERY - 1)
		flags = BPF_RB_FORCE_WAKEUP;
	if (ends.ringbuf_output(&end, sizeof(end), flags))
		tally(LATENCY_LOST_END);
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	u32 kind = cookie_kind(cookie);
	u32 zero = 0;
	struct latency_control *c = control.lookup(&zero);

	if (!c || !c->active || !probe_wanted())
		return 0;
	if (kind == COOKIE_RETURN)
		end(ctx, cookie, c->epoch);
	else if (kind >= COOKIE_RECOVERED)
		frames_end(ctx, kind);
	else if (probe_is_call(ctx, cookie))
		begin(ctx, cookie);
	return 0;
}
