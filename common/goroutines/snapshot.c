// SPDX-License-Identifier: Apache-2.0
#include "goroutines/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "goroutines/goroutine_fields_internal.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot_reading_internal.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "goroutines/snapshot_window_internal.h"
#include "goroutines/snapshot_args_internal.h"
#include "goroutines/snapshot_labels_internal.h"

enum {
	BUBBLE_NUMBER = 72,    /* struct synctestBubble's id */
	BUBBLES_MAX = 1 << 16, /* that are looked at */
};

struct slice { /* a Go slice */
	uint64_t data, len, cap;
};

static bool read_slice(const struct snapshot_source *from, struct slice *out)
{
	return from->mem->read(from->mem->ctx, from->allgs, out, sizeof(*out));
}

/* The addresses of the goroutines. The list moves when it grows; what is in it stays for ever. */
static uint64_t *read_list(const struct snapshot_source *from, size_t *count, size_t *left_out)
{
	const struct memory *mem = from->mem;
	struct slice before, after;

	for (int i = 0; i < SNAPSHOT_READING_TRIES; i++) {
		if (!read_slice(from, &before) || before.len > before.cap)
			continue;
		*count = before.len > SNAPSHOT_MAX ? SNAPSHOT_MAX : before.len;
		*left_out = before.len - *count;
		uint64_t *list = mem_alloc((*count + 1) * sizeof(*list));

		if (mem->read(mem->ctx, before.data, list, *count * sizeof(*list)) &&
		    read_slice(from, &after) && after.data == before.data)
			return list;
		free(list);
	}
	return NULL;
}

static uint64_t latest_noted(const struct snapshot *snap)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < snap->count; i++)
		if (snap->all[i].waitsince > latest)
			latest = snap->all[i].waitsince;
	return latest;
}

static int by_goid(const void *a, const void *b)
{
	const struct goroutine *x = a, *y = b;

	return (x->goid > y->goid) - (x->goid < y->goid);
}

static void read_all(struct snapshot_reading *r, const uint64_t *list, size_t count)
{
	struct snapshot_window *window = snapshot_window_new(r->from, r->out);
	const struct snapshot_source *from = r->from;
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		if (from->until_ns && clock_ns() > from->until_ns) {
			r->out->left_out += count - i;
			break;
		}
		n = count - i < SNAPSHOT_WINDOW ? count - i : SNAPSHOT_WINDOW;
		snapshot_window_read(window, r, list + i, n);
	}
	snapshot_window_free(window);
}

/* Bubbles by their numbers, where there were addresses (src/runtime/synctest.go, synctestBubble):
 * its own lock, and its timers, come before that. */
static void number_bubbles(const struct snapshot_source *from, struct snapshot *out)
{
	uint64_t last = 0, number = 0;
	size_t reads = 0;

	for (size_t i = 0; i < out->count; i++) {
		uint64_t addr = out->all[i].bubble;

		if (addr && addr != last) {
			last = addr;
			if (reads++ >= BUBBLES_MAX || addr > UINT64_MAX - BUBBLE_NUMBER ||
			    !memory_u64(from->mem, addr + BUBBLE_NUMBER, &number))
				number = 0;
		}
		out->all[i].bubble = addr ? number : 0;
	}
}

int snapshot_take(const struct snapshot_source *from, struct snapshot *out, struct errmsg *err)
{
	struct snapshot_reading *r = snapshot_reading_new(from, out);
	size_t count;

	out->args = (struct snapshot_args){0};
	out->labels = (struct snapshot_labels){0};
	out->waits = (struct waits){0};
	out->all = NULL;
	out->count = out->cap = out->unread = 0;
	out->stacks = snapshot_stacks_new();
	out->when_ns = clock_ns();
	uint64_t *list = read_list(from, &count, &out->left_out);

	if (list && from->listed)
		from->listed(from->listed_ctx, count);
	if (list)
		read_all(r, list, count);
	if (out->count)
		qsort(out->all, out->count, sizeof(*out->all), by_goid);
	number_bubbles(from, out);
	if (from->g_labels)
		snapshot_labels_read(from, out);
	out->timeless = from->timeless;
	if (from->timeless)
		out->when_ns = latest_noted(out);
	snapshot_reading_free(r);
	free(list);
	return list ? 0 : errmsg_set(err, "the list of goroutines cannot be read");
}

bool snapshot_is_still(const struct snapshot_source *from, const struct memory *mem,
		       const struct goroutine *g)
{
	struct goroutine_fields now;

	return goroutine_fields_read(from, mem, g->addr, &now) && goroutine_fields_match(&now, g);
}

void snapshot_free(struct snapshot *snap)
{
	free(snap->all);
	snapshot_stacks_free(snap->stacks);
	free(snap->args.bytes);
	free(snap->labels.bytes);
	free(snap->waits.all);
	for (size_t i = 0; i < WAIT_REASONS; i++)
		free(snap->reasons[i]);
	*snap = (struct snapshot){0};
}

const struct goroutine *snapshot_find(const struct snapshot *snap, uint64_t goid)
{
	const struct goroutine sought = {.goid = goid};

	return snap->count ? bsearch(&sought, snap->all, snap->count, sizeof(sought), by_goid)
			   : NULL;
}

const uint64_t *snapshot_stack(const struct snapshot *snap, uint32_t stack, size_t *count)
{
	return snapshot_stacks_at(snap->stacks, stack, count);
}

size_t snapshot_stack_count(const struct snapshot *snap)
{
	return snapshot_stacks_count(snap->stacks);
}

const uint8_t *snapshot_args(const struct snapshot *snap, const struct goroutine *g, size_t number,
			     size_t *len)
{
	return snapshot_args_at(&snap->args, g->args, number, len);
}

/* Reasons for which a goroutine of a bubble waits that only the bubble can end, and whose own names
 * do not say so (runtime2.go, isIdleInSynctest). */
static const char *durable(const char *reason)
{
	static const char *const names[][2] = {
		{"chan receive (nil chan)", "chan receive (nil chan) (durable)"},
		{"chan send (nil chan)", "chan send (nil chan) (durable)"},
		{"select (no cases)", "select (no cases) (durable)"},
		{"sleep", "sleep (durable)"},
		{"sync.Cond.Wait", "sync.Cond.Wait (durable)"},
		{"coroutine", "coroutine (durable)"},
		{"synctest.Run", "synctest.Run (durable)"},
		{"synctest.Wait", "synctest.Wait (durable)"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(reason, names[i][0]))
			return names[i][1];
	return reason;
}

const char *snapshot_state(const struct snapshot *snap, const struct goroutine *g)
{
	static const char *const states[] = {
		[GOROUTINE_RUNNABLE] = "runnable",   [GOROUTINE_RUNNING] = "running",
		[GOROUTINE_SYSCALL] = "syscall",     [GOROUTINE_WAITING] = "waiting",
		[GOROUTINE_COPYSTACK] = "copystack", [GOROUTINE_PREEMPTED] = "preempted",
		[GOROUTINE_LEAKED] = "leaked",       [GOROUTINE_DEADEXTRA] = NULL,
	};
	bool waits = g->status == GOROUTINE_WAITING || g->status == GOROUTINE_LEAKED;

	if (waits && g->reason < WAIT_REASONS && snap->reasons[g->reason])
		return g->bubble && g->status == GOROUTINE_WAITING
			       ? durable(snap->reasons[g->reason])
			       : snap->reasons[g->reason];
	return states[g->status] ? states[g->status] : "???";
}

bool snapshot_is_at_channel(const struct snapshot *snap, const struct goroutine *g)
{
	return !strncmp(snapshot_state(snap, g), "chan ", strlen("chan "));
}

bool snapshot_since(const struct snapshot *snap, const struct goroutine *g, uint64_t *ns)
{
	if ((g->status != GOROUTINE_WAITING && g->status != GOROUTINE_SYSCALL) || !g->waitsince ||
	    g->waitsince > snap->when_ns)
		return false;
	*ns = snap->when_ns - g->waitsince;
	return true;
}
