// SPDX-License-Identifier: Apache-2.0
/* Tells who waits for which contended lock and who lets go of it, by events in the order of time:
 * the tool does the accounts (common/tracing/locks.c).
 *
 *   -DATTEMPTS=n      goroutines that want a lock at a time
 *   -DRING_PAGES=n    size of the ring buffer, a power of two
 *
 * A goroutine that does not get a mutex at once is in lockSlow() until it has it; what it waits in
 * there is in semacquire1(), with the mutex's semaphore. A mutex that somebody waits for is always
 * let go of by unlockSlow(). An RWMutex has a mutex for its writers, and two more semaphores, whose
 * waits are semacquire1() outside of lockSlow().
 */
#include "goroutine.h"
#include "goarg.h"
#include "frame_link.h"
#include "shared/locks.h"
#include "shared/stack.h"

#define RING_BYTES (RING_PAGES * 4096ULL)
#define LOSS_KINDS LOCK_LOSSES
#define NOTES 4096 /* goroutines that are in unlockSlow() at a time, and some more */

/* What is noted of a goroutine otherwise: it wants a mutex, for which map `attempts` had no room,
 * and has waited for it or not. */
enum { NOT_TRACKED = 1, NOT_TRACKED_WAITED };

BPF_ARRAY(active, u32, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);
BPF_PERCPU_ARRAY(sent, u64, 1); /* bytes since the reader was woken */
BPF_ARRAY(lost, u64, 1);
BPF_F_TABLE("hash", struct goroutine_key, struct lock_attempt, attempts, ATTEMPTS,
	    BPF_F_NO_PREALLOC);
/* The semaphore of the mutex that it let go of last: an entry too few costs an event, no more. */
BPF_TABLE("lru_hash", struct goroutine_key, u64, notes, NOTES);

/* file: cost.bpf.c */
/* file: find_cookie.bpf.c */
/* file: follow_exec.bpf.c */
/* file: descendants.bpf.c */
/* file: processes.bpf.c */
/* file: stacks.bpf.c */
/* file: losses.bpf.c */

/* Events are read some times a second anyway. */
static inline u64 wakeup(void)
{
	u32 zero = 0;
	u64 *bytes = sent.lookup(&zero);

	if (!bytes)
		return BPF_RB_NO_WAKEUP;
	*bytes += sizeof(struct lock_event);
	if (*bytes < RING_BYTES / 8)
		return BPF_RB_NO_WAKEUP;
	*bytes = 0;
	return BPF_RB_FORCE_WAKEUP;
}

/* Of the frames from this frame pointer on: what is above their return addresses. */
static inline void read_words(u64 bp, u64 words[LOCK_WORDS])
{
	struct {
		u64 caller, ret, word;
	} frame = {};
	u32 i;

#pragma unroll
	for (i = 0; i < LOCK_WORDS; i++) {
#ifdef __aarch64__
		words[i] = 0; /* they are not where the frame pointer is */
#else
		read_user(&frame, sizeof(frame), bp);
		words[i] = frame.word;
		bp = frame.caller;
#endif
	}
}

/* `sp`: of LOCK_PARKS, the stack pointer at the function's first instruction */
static inline void send(struct pt_regs *ctx, struct goroutine_key *who, struct lock_attempt *it,
			u64 now, u64 addr, u32 kind, u64 sp)
{
	struct frames_link link = {};
	struct lock_event *event = events.ringbuf_reserve(sizeof(*event));
	u32 zero = 0;
	u64 *before = lost.lookup(&zero), i;

	if (!event) {
		if (before)
			__sync_fetch_and_add(before, 1);
		count_loss(kind == LOCK_SPUN  ? LOCK_LOSS_SPINS
			   : kind != LOCK_GOT ? LOCK_LOSS_EVENTS
			   : it->mutex        ? LOCK_LOSS_WAITS
					      : LOCK_LOSS_OTHERS);
		return;
	}
	event->time_ns = now;
	event->lost = before ? *before : 0;
	event->who = *who;
	event->addr = addr;
	event->begin_ns = it->begin_ns;
	event->parked_ns = it->parked_ns;
	event->stack = it->stack;
	event->probe = it->probe;
	event->pid = probe_ids() >> 32;
	event->kind = kind;
	event->func = kind == LOCK_UNLOCKS    ? LOCK_FUNC_UNLOCK
		      : kind == LOCK_RELEASES ? LOCK_FUNC_RELEASE
		      : kind == LOCK_SPUN     ? LOCK_FUNC_LOCK
					      : LOCK_FUNC_ACQUIRE;
	event->readers = 0;
	event->is_mutex = it->mutex != 0;
	if (kind == LOCK_PARKS) {
		read_user(&event->readers, sizeof(event->readers), addr + LOCK_READER_WAIT);
		frames_first(ctx, sp, &link);
		read_words(link.caller, event->words);
	} else {
#pragma unroll
		for (i = 0; i < LOCK_WORDS; i++)
			event->words[i] = 0;
	}
	events.ringbuf_submit(event, wakeup());
}

static inline u64 keep_stack(struct pt_regs *ctx, struct goroutine_key *who, u64 sp)
{
	u64 hash = stack_keep_caller(ctx, who, sp, ~0ULL);

	if (!hash)
		count_loss(LOCK_LOSS_STACKS);
	return hash;
}

static inline void begin_lock(struct pt_regs *ctx, struct goroutine_key *who, u64 mutex, u64 now)
{
	struct lock_attempt it = {.mutex = mutex,
				  .semaphore = mutex + LOCK_MUTEX_SEMA,
				  .begin_ns = now,
				  .probe = probe_register(ctx, REGISTER_PC)};

	u64 note = NOT_TRACKED;

	if (process_note(who) || attempts.update(who, &it))
		notes.update(who, &note);
}

static inline void begin_waiting(struct pt_regs *ctx, struct goroutine_key *who, u64 semaphore,
				 u64 sp, u64 now)
{
	struct lock_attempt *known = attempts.lookup(who), it = {};
	u64 *note = notes.lookup(who);

	if (note && *note <= NOT_TRACKED_WAITED) {
		*note = NOT_TRACKED_WAITED;
		return;
	}
	if (known && known->mutex && known->semaphore == semaphore)
		it = *known;
	else
		it.begin_ns = now;
	if (it.parked_ns) /* the lock went to another one */
		return;
	it.semaphore = semaphore;
	it.parked_ns = now;
	it.probe = probe_register(ctx, REGISTER_PC);
	it.stack = keep_stack(ctx, who, sp);
	if (process_note(who) || attempts.update(who, &it)) {
		count_loss(it.mutex ? LOCK_LOSS_ROOM_WAITS : LOCK_LOSS_ROOM_OTHERS);
		attempts.delete(who);
		return;
	}
	send(ctx, who, &it, now, semaphore, LOCK_PARKS, sp);
}

static inline void has_locked_untracked(struct goroutine_key *who)
{
	u64 *note = notes.lookup(who);

	if (!note || *note > NOT_TRACKED_WAITED) {
		count_loss(LOCK_LOSS_BEFORE);
		return;
	}
	count_loss(*note == NOT_TRACKED ? LOCK_LOSS_ROOM_SPINS : LOCK_LOSS_ROOM_WAITS);
	notes.delete(who);
}

static inline void has_locked(struct pt_regs *ctx, struct goroutine_key *who, u64 now)
{
	struct lock_attempt *known = attempts.lookup(who), it;

	if (!known || !known->mutex) {
		has_locked_untracked(who);
		return;
	}
	it = *known;
	attempts.delete(who);
	if (it.parked_ns)
		send(ctx, who, &it, now, it.semaphore, LOCK_GOT, 0);
	else
		send(ctx, who, &it, now, it.mutex, LOCK_SPUN, 0);
}

static inline void has_waited(struct pt_regs *ctx, struct goroutine_key *who, u64 now)
{
	struct lock_attempt *known = attempts.lookup(who), it;

	if (!known || known->mutex)
		return;
	it = *known;
	attempts.delete(who);
	send(ctx, who, &it, now, it.semaphore, LOCK_GOT, 0);
}

/* `func`: LOCK_FUNC_UNLOCK or LOCK_FUNC_RELEASE */
static inline void lets_go(struct pt_regs *ctx, struct goroutine_key *who, u64 addr, u64 sp,
			   u64 now, u32 func)
{
	struct lock_attempt it = {.probe = probe_register(ctx, REGISTER_PC)};
	u64 semaphore = addr + LOCK_MUTEX_SEMA, *its = notes.lookup(who);

	if (func == LOCK_FUNC_UNLOCK)
		notes.update(who, &semaphore);
	else if (its && *its == addr)
		return; /* that has been told */
	it.stack = keep_stack(ctx, who, sp);
	send(ctx, who, &it, now, addr, func == LOCK_FUNC_UNLOCK ? LOCK_UNLOCKS : LOCK_RELEASES, 0);
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns(), addr, depth;
	u64 sp = probe_sp(ctx) + cookie_adjust(cookie);
	u32 zero = 0, func = cookie_row(cookie), kind = cookie_kind(cookie), *on;
	struct goroutine_key who = {};

	on = active.lookup(&zero);
	if (!on || !*on || !probe_wanted())
		return 0;
	if (kind != COOKIE_RETURN && !probe_is_call(ctx, cookie))
		return 0;
	if (!goroutine_here(ctx, sp, &who, &depth) ||
	    (kind != COOKIE_RETURN && goarg(ctx, cookie, GOARG_1, 0, 8, &addr))) {
		count_loss(LOCK_LOSS_UNREADABLE);
		return 0;
	}
	if (kind == COOKIE_RETURN && func == LOCK_FUNC_LOCK)
		has_locked(ctx, &who, now);
	else if (kind == COOKIE_RETURN)
		has_waited(ctx, &who, now);
	else if (func == LOCK_FUNC_LOCK)
		begin_lock(ctx, &who, addr, now);
	else if (func == LOCK_FUNC_ACQUIRE)
		begin_waiting(ctx, &who, addr, sp, now);
	else
		lets_go(ctx, &who, addr, sp, now, func);
	return 0;
}
