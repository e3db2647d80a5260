// SPDX-License-Identifier: Apache-2.0
/* Tells who waits for which contended lock and who lets go of it, by events in the order of time:
 * the tool does the accounts (common/locks/locks.c).
 *
 *   -DATTEMPTS=n      goroutines that want a lock at a time
 *   -DRING_PAGES=n    size of the ring buffer, a power of two
 *
 * A goroutine that does not get a mutex at once is in lockSlow() until it has it; what it waits in
 * there is in semacquire1(), with the mutex's semaphore. A mutex that somebody waits for is always
 * let go of by unlockSlow(). An RWMutex has a mutex for its writers, and two more semaphores, whose
 * waits are semacquire1() outside of lockSlow().
 *
 * Not all who call semacquire1() sleep: the semaphore may be let go of meanwhile. Those who do are
 * put into its queue first, which semaRoot.queue() does, and nothing else calls it.
 */
#include "parts/goroutine.h"
#include "parts/goarg.h"
#include "parts/frame_link.h"
#include "shared/locks.h"
#include "shared/stack.h"

#define RING_BYTES (RING_PAGES * 4096ULL)
#define LOSS_KINDS LOCK_LOSSES
#define NOTES 4096 /* goroutines that are in unlockSlow() at a time, and some more */

/* Bits of a sync.Mutex's state: it is held, or is to go to who waits longest. In Go's
 * src/sync/mutex.go, since 1.24 src/internal/sync/mutex.go */
#define MUTEX_TAKEN (1 | 4)

/* What is noted of a goroutine otherwise: map `attempts` had no room for what it wants, which is a
 * mutex, that it has waited for or not, or another semaphore. */
enum { NOT_TRACKED = 1, NOT_TRACKED_WAITED, NOT_TRACKED_OTHER };

BPF_ARRAY(active, u32, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);
BPF_ARRAY(lost, u64, 1);
BPF_F_TABLE("hash", struct goroutine_key, struct lock_attempt, attempts, ATTEMPTS,
	    BPF_F_NO_PREALLOC);
/* The semaphore of the mutex that it let go of last: an entry too few costs an event, no more. */
BPF_TABLE("lru_hash", struct goroutine_key, u64, notes, NOTES);

#include "parts/every_program.bpf.c"
#include "parts/processes.bpf.c"
#include "parts/stacks.bpf.c"
#include "parts/wakeup.bpf.c"
#include "parts/losses.bpf.c"

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

static inline u32 loss_of(const struct lock_attempt *it, u32 kind)
{
	if (kind == LOCK_SPUN || kind == LOCK_WAS_FREE)
		return LOCK_LOSS_SPINS;
	if (kind != LOCK_GOT)
		return LOCK_LOSS_EVENTS;
	return it->mutex ? LOCK_LOSS_WAITS : LOCK_LOSS_OTHERS;
}

static inline void send(struct goroutine_key *who, struct lock_attempt *it, u64 now, u64 addr,
			u32 kind)
{
	struct lock_event *event = events.ringbuf_reserve(sizeof(*event));
	u32 zero = 0;
	u64 *before = lost.lookup(&zero), i;

	if (!event) {
		if (before)
			__sync_fetch_and_add(before, 1);
		count_loss(loss_of(it, kind));
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
	event->func = it->func;
	event->is_mutex = it->mutex != 0;
	event->none = 0;
	event->readers = 0;
	event->sleeps = it->sleeps;
	if (kind == LOCK_PARKS)
		read_user(&event->readers, sizeof(event->readers), addr + LOCK_READER_WAIT);
#pragma unroll
	for (i = 0; i < LOCK_WORDS; i++)
		event->words[i] = it->words[i];
	events.ringbuf_submit(event, wakeup(sizeof(*event)));
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
				  .probe = probe_register(ctx, REGISTER_PC),
				  .func = LOCK_FUNC_LOCK};
	u64 note = NOT_TRACKED;
	u32 state = 0;

	it.was_free = !read_user(&state, sizeof(state), mutex) && !(state & MUTEX_TAKEN);
	if (process_note(who) || attempts.update(who, &it))
		notes.update(who, &note);
}

/* What is told of a wait, should it come to one. */
static inline void note_caller(struct pt_regs *ctx, struct goroutine_key *who,
			       struct lock_attempt *it, u64 sp)
{
	struct frames_link link = {};

	it->probe = probe_register(ctx, REGISTER_PC);
	it->func = LOCK_FUNC_ACQUIRE;
	it->stack = keep_stack(ctx, who, sp);
	frames_first(ctx, sp, &link);
	read_words(link.caller, it->words);
}

/* At the entry of semacquire1(): what takes time is done here, as who goes to sleep has one of the
 * runtime's own locks. */
static inline void begin_acquiring(struct pt_regs *ctx, struct goroutine_key *who, u64 semaphore,
				   u64 sp, u64 now)
{
	struct lock_attempt *known = attempts.lookup(who),
			    it = {.semaphore = semaphore, .begin_ns = now};
	u64 *note = notes.lookup(who), other = NOT_TRACKED_OTHER;

	if (note && (*note == NOT_TRACKED || *note == NOT_TRACKED_WAITED))
		return;
	if (known && known->mutex && known->semaphore == semaphore) {
		if (!known->parked_ns)
			note_caller(ctx, who, known, sp);
		return;
	}
	note_caller(ctx, who, &it, sp);
	if (process_note(who) || attempts.update(who, &it))
		notes.update(who, &other);
}

static inline void begin_waiting_untracked(struct goroutine_key *who)
{
	u64 *note = notes.lookup(who);

	if (note && *note == NOT_TRACKED)
		*note = NOT_TRACKED_WAITED;
	if (!note || *note != NOT_TRACKED_OTHER)
		return;
	count_loss(LOCK_LOSS_ROOM_OTHERS);
	notes.delete(who);
}

/* In the queue of the semaphore: it will sleep. */
static inline void begin_waiting(struct goroutine_key *who, u64 now)
{
	struct lock_attempt *it = attempts.lookup(who);

	if (!it || it->func != LOCK_FUNC_ACQUIRE) {
		begin_waiting_untracked(who);
		return;
	}
	it->sleeps++;
	if (it->parked_ns) /* it was woken, but the lock went to another one */
		return;
	it->parked_ns = now;
	send(who, it, now, it->semaphore, LOCK_PARKS);
}

static inline void has_locked_untracked(struct goroutine_key *who)
{
	u64 *note = notes.lookup(who);

	if (!note || (*note != NOT_TRACKED && *note != NOT_TRACKED_WAITED)) {
		count_loss(LOCK_LOSS_BEFORE);
		return;
	}
	count_loss(*note == NOT_TRACKED ? LOCK_LOSS_ROOM_SPINS : LOCK_LOSS_ROOM_WAITS);
	notes.delete(who);
}

static inline void has_locked(struct goroutine_key *who, u64 now)
{
	struct lock_attempt *known = attempts.lookup(who), it;

	if (!known || !known->mutex) {
		has_locked_untracked(who);
		return;
	}
	it = *known;
	attempts.delete(who);
	if (it.parked_ns) {
		send(who, &it, now, it.semaphore, LOCK_GOT);
		return;
	}
	it.stack = 0;
	send(who, &it, now, it.mutex, it.was_free ? LOCK_WAS_FREE : LOCK_SPUN);
}

static inline void has_acquired(struct goroutine_key *who, u64 now)
{
	struct lock_attempt *known = attempts.lookup(who), it;
	u64 *note;

	if (!known) {
		note = notes.lookup(who);
		if (note && *note == NOT_TRACKED_OTHER)
			notes.delete(who);
		return;
	}
	if (known->mutex)
		return;
	it = *known;
	attempts.delete(who);
	if (it.parked_ns)
		send(who, &it, now, it.semaphore, LOCK_GOT);
}

/* `func`: LOCK_FUNC_UNLOCK or LOCK_FUNC_RELEASE */
static inline void lets_go(struct pt_regs *ctx, struct goroutine_key *who, u64 addr, u64 sp,
			   u64 now, u32 func)
{
	struct lock_attempt it = {.probe = probe_register(ctx, REGISTER_PC), .func = func};
	u64 semaphore = addr + LOCK_MUTEX_SEMA, *its = notes.lookup(who);

	if (func == LOCK_FUNC_UNLOCK)
		notes.update(who, &semaphore);
	else if (its && *its == addr)
		return; /* that has been told */
	it.stack = keep_stack(ctx, who, sp);
	send(who, &it, now, addr, func == LOCK_FUNC_UNLOCK ? LOCK_UNLOCKS : LOCK_RELEASES);
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
		has_locked(&who, now);
	else if (kind == COOKIE_RETURN)
		has_acquired(&who, now);
	else if (func == LOCK_FUNC_LOCK)
		begin_lock(ctx, &who, addr, now);
	else if (func == LOCK_FUNC_ACQUIRE)
		begin_acquiring(ctx, &who, addr, sp, now);
	else if (func == LOCK_FUNC_QUEUE)
		begin_waiting(&who, now);
	else
		lets_go(ctx, &who, addr, sp, now, func);
	return 0;
}
