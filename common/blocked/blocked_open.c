// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "kernel/processes.h"
#include "blocked/blocked_internal.h"

enum { ENDED_MAX = 1 << 16 }; /* rows */

/* The key begins with the address of g. What it had waited for before stands in the wait, where
 * that was not told yet. */
static unsigned reason_of(const struct blocked *blocked, const void *key,
			  const struct wait_begun *wait)
{
	uint64_t g;
	uint8_t now;

	memcpy(&g, key, sizeof(g));
	if (blocked->memory < 0 || wait->reason == WAIT_RUNNABLE ||
	    pread(blocked->memory, &now, 1, (off_t)(g + blocked->reason_at)) != 1)
		return wait->reason;
	return now;
}

/* A row of one wait that goes on until `end`; false: it is not asked for. */
static bool make_row(const struct blocked *blocked, const void *key, const void *value,
		     uint64_t end, struct blocked_row *row)
{
	struct wait_begun wait;

	memcpy(&wait, value, sizeof(wait));
	wait.reason = reason_of(blocked, key, &wait);
	uint64_t ns = end > wait.start_ns ? end - wait.start_ns : 0;

	if (ns < blocked->min_ns || ns > blocked->max_ns ||
	    !(blocked->reasons_wanted >> (wait.reason & 63) & 1))
		return false;
	*row = (struct blocked_row){.open.ns = ns};
	row->key.stack = wait.stack;
	row->key.labels = wait.labels;
	row->key.probe = wait.probe;
	row->key.pid = wait.pid;
	row->key.reason = wait.reason;
	return true;
}

void blocked_open_add(struct blocked_open *to, const struct blocked_open *more)
{
	to->waiting += more->waiting;
	to->process_ended += more->process_ended;
	to->ns += more->ns;
}

/* --- of processes that have ended --- */

static int by_key(const void *a, const void *b)
{
	const struct blocked_row *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* Rows of the same key become one. Those that there is no room for are in no row then, but are
 * counted in all. */
static void make_room(struct blocked *blocked)
{
	struct blocked_row *rows = blocked->ended;
	size_t kept = 0, room = bpfmap_room(ENDED_MAX);

	qsort(rows, blocked->ended_count, sizeof(*rows), by_key);
	for (size_t i = 0; i < blocked->ended_count; i++)
		if (kept && !by_key(&rows[kept - 1], &rows[i]))
			blocked_open_add(&rows[kept - 1].open, &rows[i].open);
		else
			rows[kept++] = rows[i];
	blocked->ended_count = kept < room ? kept : room;
}

static int note_ended(const void *key, const void *value, void *arg)
{
	struct blocked *blocked = arg;
	struct goroutine_key who;
	struct blocked_row row;

	memcpy(&who, key, sizeof(who));
	if (!make_row(blocked, key, value, processes_ended(blocked->procs, &who.process), &row))
		return 0;
	row.open.process_ended = 1;
	blocked_open_add(&blocked->open, &row.open);
	if (!blocked->tool->open_rows)
		return 0;
	blocked->ended = mem_grow(blocked->ended, blocked->ended_count, &blocked->ended_cap,
				  sizeof(*blocked->ended));
	blocked->ended[blocked->ended_count++] = row;
	return 0;
}

void blocked_sweep(struct blocked *blocked)
{
	if (!processes_look(blocked->procs))
		return;
	processes_sweep(blocked->procs, blocked->waits, note_ended, blocked);
	processes_forget(blocked->procs);
	if (blocked->ended_count > 2 * (size_t)bpfmap_room(ENDED_MAX))
		make_room(blocked);
}

/* --- at the end, and of an interval --- */

static int add_waiting(const void *key, const void *value, void *arg)
{
	struct blocked *blocked = arg;
	struct blocked_row row;

	if (!make_row(blocked, key, value, blocked->stopped_ns, &row))
		return 0;
	row.open.waiting = 1;
	blocked_open_add(&blocked->open, &row.open);
	if (blocked->tool->open_rows)
		blocked_add_row(blocked, &row);
	return 0;
}

/* One that waits again does so by what was seen of it; the key begins with the goroutine's address.
 */
static int add_seen(const void *key, const void *value, void *arg)
{
	const struct blocked *blocked = arg;

	if (blocked->parked >= 0)
		bpfmap_delete(blocked->parked, key);
	return add_waiting(key, value, arg);
}

int blocked_add_open(struct blocked *blocked)
{
	if (blocked->ended_count)
		make_room(blocked);
	for (size_t i = 0; i < blocked->ended_count; i++)
		blocked_add_row(blocked, &blocked->ended[i]);
	if (bpfmap_each(blocked->waits, sizeof(struct goroutine_key), sizeof(struct wait_begun),
			add_seen, blocked))
		return -1;
	if (blocked->parked < 0)
		return 0;
	return bpfmap_each(blocked->parked, sizeof(uint64_t), sizeof(struct wait_begun),
			   add_waiting, blocked);
}
