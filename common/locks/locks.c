// SPDX-License-Identifier: Apache-2.0
/* Time is divided by clocks: each lock has one for each stack that lets go of it, and one at a time
 * runs. Which one it was is known only when the lock is let go of. A wait's parts are what the
 * clocks show more at its end than at its beginning: that takes as long for one waiter as for ten
 * thousand. */
#include "locks/locks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"

enum {
	HELD_FREE,
	HELD_UNKNOWN,
	HELD_KNOWN
}; /* numbers of what all locks have; of the first other */
/* Each wait that goes on has a number for each of them: what this takes is in the hands of the
 * program that is traced. */
enum { HELD_MAX = 1024 };
enum { WRITER_SEMA = 8, READER_SEMA = 12 }; /* byte offsets in a sync.RWMutex */

struct locks {
	locks_owner_fn *owner;
	void *ctx;
	struct lock *all;
	size_t count, cap, max;
	struct index index;
	uint64_t lost;
	struct locks_refused refused;
};

struct locks *locks_new(size_t max, locks_owner_fn *owner, void *ctx)
{
	struct locks *locks = mem_zalloc(1, sizeof(*locks));

	locks->max = max;
	locks->owner = owner;
	locks->ctx = ctx;
	return locks;
}

static void free_wait(struct lock_wait *wait)
{
	free(wait->clocks);
	free(wait);
}

static void free_lock(struct lock *lock)
{
	while (lock->waiting) {
		struct lock_wait *next = lock->waiting->next;

		free_wait(lock->waiting);
		lock->waiting = next;
	}
	free(lock->waiters);
	free(lock->held);
}

void locks_free(struct locks *locks)
{
	if (!locks)
		return;
	for (size_t i = 0; i < locks->count; i++)
		free_lock(&locks->all[i]);
	index_free(&locks->index);
	free(locks->all);
	free(locks);
}

struct locks_refused locks_refused(const struct locks *locks)
{
	return locks->refused;
}

/* --- locks, and what is in them --- */

static uint64_t hash_of(const struct process_key *process, uint64_t addr)
{
	uint64_t hash = index_hash(index_hash(0, process->start_ns), process->tgid);

	return index_hash(index_hash(hash, process->exec), addr);
}

static bool same_process(const struct process_key *a, const struct process_key *b)
{
	return a->start_ns == b->start_ns && a->tgid == b->tgid && a->exec == b->exec;
}

static bool same_who(const struct goroutine_key *a, const struct goroutine_key *b)
{
	return a->id == b->id && same_process(&a->process, &b->process);
}

static bool same_stack(struct lock_stack a, struct lock_stack b)
{
	return a.hash == b.hash && a.bias == b.bias;
}

static struct lock *find_lock(const struct locks *locks, const struct process_key *process,
			      uint64_t addr)
{
	size_t n = index_first(&locks->index, hash_of(process, addr));

	while (n != INDEX_NONE &&
	       !(locks->all[n].addr == addr && same_process(&locks->all[n].process, process)))
		n = index_next(&locks->index, n);
	return n == INDEX_NONE ? NULL : &locks->all[n];
}

static size_t add_held(struct lock *lock, enum lock_holder how, struct lock_stack stack)
{
	size_t n = 0;

	while (n < lock->held_count &&
	       !(lock->held[n].how == how && same_stack(lock->held[n].stack, stack)))
		n++;
	if (n < lock->held_count)
		return n;
	if (n == HELD_MAX)
		return HELD_UNKNOWN;
	lock->held = mem_grow(lock->held, n, &lock->held_cap, sizeof(*lock->held));
	lock->held[n] = (struct lock_held){.how = how, .stack = stack};
	return lock->held_count++;
}

/* NULL: there is no room. */
static struct lock *add_lock(struct locks *locks, const struct lock_event *event, uint64_t addr)
{
	const struct process_key *process = &event->who.process;
	struct lock *lock = find_lock(locks, process, addr);

	if (lock)
		return lock;
	if (locks->count == locks->max) {
		locks->refused.waits += event->kind == LOCK_GOT;
		locks->refused.unwaited += event->kind == LOCK_SPUN || event->kind == LOCK_WAS_FREE;
		return NULL;
	}
	index_add(&locks->index, hash_of(process, addr));
	locks->all = mem_grow(locks->all, locks->count, &locks->cap, sizeof(*locks->all));
	lock = &locks->all[locks->count++];
	*lock = (struct lock){
		.process = *process, .addr = addr, .pid = event->pid, .told_ns = event->time_ns};
	add_held(lock, LOCK_FREE, (struct lock_stack){0});
	add_held(lock, LOCK_UNKNOWN, (struct lock_stack){0});
	return lock;
}

static struct lock_waiter *add_waiter(struct lock *lock, enum lock_op op, struct lock_stack stack)
{
	size_t n = 0;

	while (n < lock->waiter_count &&
	       !(lock->waiters[n].op == op && same_stack(lock->waiters[n].stack, stack)))
		n++;
	if (n < lock->waiter_count)
		return &lock->waiters[n];
	lock->waiters = mem_grow(lock->waiters, n, &lock->waiter_cap, sizeof(*lock->waiters));
	lock->waiters[n] = (struct lock_waiter){.op = op, .stack = stack};
	return &lock->waiters[lock->waiter_count++];
}

static struct lock_stack stack_of(const struct lock_event *event)
{
	return (struct lock_stack){event->stack, event->probe};
}

/* --- clocks --- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void note_clocks(const struct lock *lock, struct lock_wait *wait)
{
	free(wait->clocks);
	wait->clocks = mem_alloc(lock->held_count * sizeof(*wait->clocks));
	wait->clock_count = lock->held_count;
	for (size_t i = 0; i < lock->held_count; i++)
		wait->clocks[i] = lock->held[i].clock_ns;
}

/* It has become known that nobody had the lock from told_ns to `begin`, and from then to `end` it
 * was the time of `held`. */
static void tell(struct lock *lock, size_t held, uint64_t begin, uint64_t end)
{
	uint64_t from = lock->told_ns;

	end = larger(end, from);
	begin = smaller(larger(begin, from), end);
	lock->held[HELD_FREE].clock_ns += begin - from;
	lock->held[held].clock_ns += end - begin;
	lock->told_ns = end;
	struct lock_wait *wait = lock->first_new;

	for (; wait && wait->since_ns < end; wait = wait->next) {
		uint64_t since = larger(wait->since_ns, from);

		wait->is_new = false;
		wait->before[0] = (struct lock_part){HELD_FREE, smaller(since, begin) - from};
		wait->before[1] = (struct lock_part){held, larger(since, begin) - begin};
	}
	lock->first_new = wait;
	for (; wait; wait = wait->next) /* end lies before this event: it is a late one */
		note_clocks(lock, wait);
}

/* What of the clock `held` is the wait's. */
static uint64_t part_of(const struct lock *lock, const struct lock_wait *wait, size_t held)
{
	uint64_t ns = lock->held[held].clock_ns;

	if (wait->is_new)
		return 0;
	if (held < wait->clock_count)
		ns -= wait->clocks[held];
	for (size_t i = 0; i < 2; i++)
		if (wait->before[i].held == held)
			ns -= wait->before[i].ns;
	return ns;
}

/* --- waits --- */

static struct lock_wait *find_wait(const struct lock *lock, const struct goroutine_key *who,
				   uint64_t since_ns)
{
	struct lock_wait *wait = lock->waiting;

	while (wait && !(wait->since_ns == since_ns && same_who(&wait->who, who)))
		wait = wait->next;
	return wait;
}

static void append_wait(struct lock *lock, struct lock_wait *wait)
{
	wait->prev = lock->last_waiting;
	*(wait->prev ? &wait->prev->next : &lock->waiting) = wait;
	lock->last_waiting = wait;
	if (!lock->first_new)
		lock->first_new = wait;
}

static void remove_wait(struct lock *lock, struct lock_wait *wait)
{
	*(wait->prev ? &wait->prev->next : &lock->waiting) = wait->next;
	*(wait->next ? &wait->next->prev : &lock->last_waiting) = wait->prev;
	if (lock->first_new == wait)
		lock->first_new = wait->next;
	free_wait(wait);
}

static struct lock *parks(struct locks *locks, const struct lock_event *event)
{
	struct lock_owner owner;

	if (!locks->owner(locks->ctx, event, &owner))
		return NULL;
	struct lock *lock = add_lock(locks, event, event->addr - owner.before);

	if (!lock)
		return NULL;
	lock->is_rw |= owner.op != LOCK_OP_MUTEX;
	struct lock_wait *wait = mem_zalloc(1, sizeof(*wait));

	if (!lock->waiting)
		lock->is_certain = false;
	wait->who = event->who;
	wait->stack = stack_of(event);
	wait->op = owner.op;
	wait->since_ns = event->time_ns;
	wait->readers = owner.op == LOCK_OP_WRITE ? event->readers : 0;
	wait->is_new = true;
	note_clocks(lock, wait);
	append_wait(lock, wait);
	return lock;
}

static void count_wait(struct lock *lock, enum lock_op op, const struct lock_event *event,
		       uint64_t ns)
{
	struct lock_waiter *waiter = add_waiter(lock, op, stack_of(event));

	waiter->waits++;
	waiter->sleeps += event->sleeps;
	waiter->total_ns += ns;
	waiter->max_ns = larger(waiter->max_ns, ns);
	lock->waits++;
	lock->sleeps += event->sleeps;
	lock->total_ns += ns;
	lock->max_ns = larger(lock->max_ns, ns);
}

/* Divides its time: what is left nobody had, unless whoever had it says so yet. */
static void divide(struct lock *lock, const struct lock_wait *wait, uint64_t ns)
{
	uint64_t left = ns;

	for (size_t i = 0; i < lock->held_count; i++) {
		uint64_t part = smaller(part_of(lock, wait, i), left);

		lock->held[i].ns += part;
		left -= part;
	}
	lock->held[HELD_FREE].ns += left;
	lock->late_ns = left;
}

static void note_holder(struct lock *lock, const struct lock_event *event)
{
	lock->holder = event->who.id;
	lock->holder_ns = event->time_ns;
	lock->holder_stack = stack_of(event);
	lock->holder_waited = event->kind == LOCK_GOT;
	lock->is_certain = true;
}

static struct lock *got(struct locks *locks, const struct lock_event *event)
{
	uint64_t ns = event->time_ns - event->parked_ns;
	struct lock_owner owner;

	if (!locks->owner(locks->ctx, event, &owner))
		return NULL;
	struct lock *lock = add_lock(locks, event, event->addr - owner.before);

	if (!lock)
		return NULL;
	struct lock_wait *wait = find_wait(lock, &event->who, event->parked_ns);

	lock->is_rw |= owner.op != LOCK_OP_MUTEX;
	count_wait(lock, owner.op, event, ns);
	lock->late_ns = 0;
	if (wait)
		divide(lock, wait, ns);
	else
		lock->held[HELD_UNKNOWN].ns += ns;
	if (owner.op != LOCK_OP_READ)
		note_holder(lock, event);
	if (wait)
		remove_wait(lock, wait);
	return lock;
}

static struct lock *got_unwaited(struct locks *locks, const struct lock_event *event)
{
	struct lock *lock = add_lock(locks, event, event->addr);

	if (!lock)
		return NULL;
	struct lock_unwaited *sum = event->kind == LOCK_WAS_FREE ? &lock->found_free : &lock->spun;

	sum->count++;
	sum->ns += event->time_ns - event->begin_ns;
	lock->late_ns = 0;
	note_holder(lock, event);
	return lock;
}

/* --- the lock is let go of --- */

static struct lock *unlocks(struct lock *lock, const struct lock_event *event)
{
	bool is_other = lock->holder && lock->holder != event->who.id;
	size_t held = add_held(lock, LOCK_HELD, stack_of(event));

	if (is_other && lock->is_certain) {
		/* another one has it already: a lock is free a moment before this event */
		lock->held[HELD_FREE].ns -= lock->late_ns;
		lock->held[held].ns += lock->late_ns;
		tell(lock, held, lock->told_ns, lock->holder_ns);
	} else {
		tell(lock, held, lock->holder && !is_other ? lock->holder_ns : lock->told_ns,
		     event->time_ns);
		lock->holder = 0;
	}
	lock->late_ns = 0;
	return lock;
}

/* The last reader that a writer waited for is done. */
static struct lock *readers_leave(struct lock *lock, const struct lock_event *event)
{
	size_t held = add_held(lock, LOCK_READERS, stack_of(event));
	uint64_t begin = lock->holder ? lock->holder_ns : lock->told_ns;

	for (const struct lock_wait *wait = lock->waiting; wait; wait = wait->next)
		if (wait->op == LOCK_OP_WRITE) /* the last may have left as it was read */
			lock->held[held].readers += larger(wait->readers, 1);
	tell(lock, held, begin, event->time_ns);
	lock->holder_ns = event->time_ns;
	return lock;
}

static struct lock *releases(struct locks *locks, const struct lock_event *event)
{
	const struct process_key *process = &event->who.process;
	struct lock *lock = find_lock(locks, process, event->addr - READER_SEMA);

	if (lock && lock->is_rw)
		return unlocks(lock, event);
	lock = find_lock(locks, process, event->addr - WRITER_SEMA);
	return lock && lock->is_rw ? readers_leave(lock, event) : NULL;
}

void locks_lost(struct locks *locks, uint64_t lost, uint64_t now_ns)
{
	if (lost <= locks->lost)
		return;
	locks->lost = lost;
	for (size_t i = 0; i < locks->count; i++) {
		struct lock *lock = &locks->all[i];

		tell(lock, HELD_UNKNOWN, lock->told_ns, now_ns);
		lock->holder = 0;
		lock->late_ns = 0;
	}
}

struct lock *locks_event(struct locks *locks, const struct lock_event *event)
{
	struct lock *lock;

	locks_lost(locks, event->lost, event->time_ns);
	switch ((enum lock_event_kind)event->kind) {
	case LOCK_PARKS:
		return parks(locks, event);
	case LOCK_GOT:
		return got(locks, event);
	case LOCK_SPUN:
	case LOCK_WAS_FREE:
		return got_unwaited(locks, event);
	case LOCK_UNLOCKS:
		lock = find_lock(locks, &event->who.process, event->addr);
		return lock ? unlocks(lock, event) : NULL;
	case LOCK_RELEASES:
		return releases(locks, event);
	}
	return NULL;
}

/* --- to be shown --- */

void locks_prune(struct locks *locks, bool (*fn)(void *ctx, struct lock_wait *wait), void *ctx)
{
	for (size_t i = 0; i < locks->count; i++) {
		struct lock_wait *wait = locks->all[i].waiting, *next;

		for (; wait; wait = next) {
			next = wait->next;
			if (!fn(ctx, wait))
				remove_wait(&locks->all[i], wait);
		}
	}
}

/* Of locks that took no time, in an order that is the same again. */
static int by_time(const void *a, const void *b)
{
	const struct lock *x = *(struct lock *const *)a, *y = *(struct lock *const *)b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? -1 : 1;
	if (x->spun.ns != y->spun.ns)
		return x->spun.ns < y->spun.ns ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool was_used(const struct lock *lock)
{
	return lock->waits || lock->spun.count || lock->found_free.count || lock->waiting;
}

void locks_each(struct locks *locks, void (*fn)(void *ctx, const struct lock *lock), void *ctx)
{
	struct lock **sorted = mem_alloc((locks->count + 1) * sizeof(struct lock *));
	size_t count = 0;

	for (size_t i = 0; i < locks->count; i++)
		if (was_used(&locks->all[i]))
			sorted[count++] = &locks->all[i];
	qsort(sorted, count, sizeof(struct lock *), by_time);
	for (size_t i = 0; i < count; i++)
		fn(ctx, sorted[i]);
	free(sorted);
}

static void clear_lock(struct lock *lock)
{
	lock->waits = lock->total_ns = lock->max_ns = lock->sleeps = lock->late_ns = 0;
	lock->spun = lock->found_free = (struct lock_unwaited){0};
	lock->waiter_count = 0;
	for (size_t i = 0; i < lock->held_count; i++)
		lock->held[i].ns = lock->held[i].readers = 0;
}

void locks_clear(struct locks *locks)
{
	size_t count = locks->count;

	index_free(&locks->index);
	locks->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct lock *lock = &locks->all[i];

		if (!lock->waiting) {
			free_lock(lock);
			continue;
		}
		clear_lock(lock);
		index_add(&locks->index, hash_of(&lock->process, lock->addr));
		locks->all[locks->count++] = *lock;
	}
}
