// SPDX-License-Identifier: Apache-2.0
#include "locks/locks_show_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "files/process.h"
#include "frames/frames.h"
#include "locks/lock_stacks_internal.h"

const struct frame *locks_frames(const struct locks_show *show, struct lock_stack stack,
				 size_t *count)
{
	const struct lock_trace *trace = lock_stacks_find(show->stacks, stack);
	size_t first = show->frames == SIZE_MAX ? 0 : trace->wrappers;

	*count = trace->count - first;
	if (*count > show->frames)
		*count = show->frames;
	return *count ? &trace->frames[first] : NULL;
}

/* Are they the same to who sees no more frames than these? */
static bool same_shown(const struct locks_show *show, struct lock_stack one,
		       struct lock_stack other)
{
	size_t count, other_count, n = 0;
	const struct frame *frames = locks_frames(show, one, &count);
	const struct frame *others = locks_frames(show, other, &other_count);

	if (count != other_count)
		return false;
	while (n < count && frames[n].line == others[n].line &&
	       !strcmp(frames[n].func, others[n].func))
		n++;
	return n == count;
}

static struct lock_row *add_row(const struct locks_show *show, struct lock_rows *rows,
				struct lock_stack stack, int what)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->all[i].what == what && same_shown(show, rows->all[i].stack, stack))
			return &rows->all[i];
	rows->all = mem_grow(rows->all, rows->count, &rows->cap, sizeof(*rows->all));
	rows->all[rows->count] =
		(struct lock_row){.stack = stack, .what = what, .order = rows->count};
	return &rows->all[rows->count++];
}

static int by_time(const void *a, const void *b)
{
	const struct lock_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static struct lock_rows sorted(struct lock_rows rows)
{
	if (rows.count)
		qsort(rows.all, rows.count, sizeof(*rows.all), by_time);
	return rows;
}

static int said_op(enum lock_op op)
{
	return op == LOCK_OP_READ ? LOCK_OP_READ : LOCK_OP_MUTEX;
}

struct lock_rows locks_waiters(const struct locks_show *show, const struct lock *lock)
{
	struct lock_rows rows = {0};

	for (size_t i = 0; i < lock->waiter_count; i++) {
		const struct lock_waiter *waiter = &lock->waiters[i];
		struct lock_row *row = add_row(show, &rows, waiter->stack, said_op(waiter->op));

		row->waits += waiter->waits;
		row->sleeps += waiter->sleeps;
		row->ns += waiter->total_ns;
		if (waiter->max_ns > row->max_ns)
			row->max_ns = waiter->max_ns;
	}
	return sorted(rows);
}

struct lock_rows locks_holders(const struct locks_show *show, const struct lock *lock)
{
	struct lock_rows rows = {0};

	for (size_t i = 0; i < lock->held_count; i++) {
		const struct lock_held *held = &lock->held[i];

		if (!held->ns)
			continue;
		struct lock_row *row = add_row(show, &rows, held->stack, held->how);

		row->ns += held->ns;
		row->readers += held->readers;
	}
	return sorted(rows);
}

/* They are of one process: if one has ended with it, all have. */
uint64_t locks_until(const struct locks_show *show, const struct lock *lock)
{
	const struct lock_wait *wait = lock->waiting;

	while (wait && !wait->ended_ns)
		wait = wait->next;
	return wait ? wait->ended_ns : show->now_ns;
}

uint64_t locks_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

struct lock_rows locks_waiting(const struct locks_show *show, const struct lock *lock)
{
	uint64_t until = locks_until(show, lock);
	struct lock_rows rows = {0};

	for (const struct lock_wait *wait = lock->waiting; wait; wait = wait->next) {
		struct lock_row *row = add_row(show, &rows, wait->stack, said_op(wait->op));
		uint64_t ns = locks_between(wait->since_ns, until);

		row->waits++;
		row->ns += ns;
		row->ended = wait->ended_ns;
		if (ns < row->max_ns)
			continue;
		row->max_ns = ns;
		row->goid = wait->who.id;
	}
	return sorted(rows);
}

const char *locks_holder_text(int how)
{
	static const char *const texts[] = {[LOCK_HELD] = "goroutine",
					    [LOCK_READERS] = "readers",
					    [LOCK_FREE] = "nobody",
					    [LOCK_UNKNOWN] = "unknown"};

	return texts[how];
}

const char *locks_op_text(int op)
{
	return op == LOCK_OP_READ ? "RLock" : "Lock";
}

const char *locks_type_text(const struct lock *lock)
{
	return lock->is_rw ? "sync.RWMutex" : "sync.Mutex";
}

char *locks_process_text(const struct lock *lock)
{
	char *name = process_name_of((pid_t)lock->pid);

	return name ? name : mem_strdup("-");
}
