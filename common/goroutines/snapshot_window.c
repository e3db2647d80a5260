// SPDX-License-Identifier: Apache-2.0
#include "goroutines/snapshot_window_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "goroutines/goroutine_fields_internal.h"
#include "goroutines/memory.h"
#include "goroutines/memory_pages.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_reading_internal.h"

enum { STACK_MAX = 8 << 10 }; /* bytes of a stack: a deeper one is read by itself */

struct member {
	uint64_t addr;
	struct goroutine_fields g;
	size_t len; /* of its stack */
	size_t waits, wait_count;
	/* to be read by itself; so far as one that rests; there is none */
	enum { MEMBER_ALONE, MEMBER_RESTS, MEMBER_DEAD } kind;
};

struct snapshot_window {
	const struct snapshot_source *from;
	struct snapshot_reading *r; /* during snapshot_window_read() */
	struct memory_pages *pages;
	const struct memory *mem; /* through them */
	/* The process stands still: what is read once need not be read again. */
	bool is_still;
	bool is_counted[WAIT_REASONS]; /* whoever waits so has counted it */
	struct member all[SNAPSHOT_WINDOW];
	size_t count;
	struct waits waits;
	uint8_t stacks[SNAPSHOT_WINDOW][STACK_MAX], again[STACK_MAX];
};

/* Go's src/runtime/coro.go, coroswitch_m, and preempt.go, suspendG, change states without
 * casgstatus, which counts. */
static bool is_counted(const char *reason)
{
	return reason && strcmp(reason, "coroutine") != 0 && strcmp(reason, "preempted") != 0;
}

struct snapshot_window *snapshot_window_new(const struct snapshot_source *from,
					    const struct snapshot *snap)
{
	struct snapshot_window *w = mem_alloc(sizeof(*w));

	w->from = from;
	w->pages = memory_pages_new(from->mem);
	w->mem = memory_pages_memory(w->pages);
	w->is_still = from->registers;
	w->waits = (struct waits){0};
	for (size_t i = 0; i < WAIT_REASONS; i++)
		w->is_counted[i] = is_counted(snap->reasons[i]);
	return w;
}

void snapshot_window_free(struct snapshot_window *w)
{
	if (!w)
		return;
	memory_pages_free(w->pages);
	free(w->waits.all);
	free(w);
}

/* Could it be told if it ran? */
static bool is_told(const struct snapshot_window *w, const struct goroutine_fields *g)
{
	if (w->is_still)
		return goroutine_fields_has_stack(g);
	return w->from->g_tracking_seq && g->status == GOROUTINE_WAITING &&
	       g->reason < WAIT_REASONS && w->is_counted[g->reason];
}

static bool has_short_stack(const struct goroutine_fields *g)
{
	uint64_t sp = goroutine_fields_sp(g);

	return sp % 8 == 0 && sp >= g->stack_lo && sp < g->stack_hi &&
	       g->stack_hi - sp <= STACK_MAX;
}

/* --- steps, each of all members that are left --- */

static void look(struct snapshot_window *w, struct member *m)
{
	bool is_one = goroutine_fields_read(w->from, w->mem, m->addr, &m->g) &&
		      !goroutine_fields_wild(&m->g);

	if (is_one && goroutine_fields_dead(&m->g))
		m->kind = MEMBER_DEAD;
	else if (!is_one || !is_told(w, &m->g) || !has_short_stack(&m->g))
		m->kind = MEMBER_ALONE;
	m->len = m->g.stack_hi - goroutine_fields_sp(&m->g);
}

static void take_bytes(struct snapshot_window *w, struct member *m)
{
	if (w->r->bytes_left < 2 * m->len)
		m->kind = MEMBER_ALONE;
	else
		w->r->bytes_left -= 2 * m->len;
}

static void read_stack(struct snapshot_window *w, struct member *m)
{
	if (!w->mem->read(w->mem->ctx, goroutine_fields_sp(&m->g), w->stacks[m - w->all], m->len))
		m->kind = MEMBER_ALONE;
}

static void read_stack_again(struct snapshot_window *w, struct member *m)
{
	if (!w->mem->read(w->mem->ctx, goroutine_fields_sp(&m->g), w->again, m->len) ||
	    memcmp(w->again, w->stacks[m - w->all], m->len) != 0)
		m->kind = MEMBER_ALONE;
}

static void check(struct snapshot_window *w, struct member *m)
{
	struct goroutine_fields now;

	if (!goroutine_fields_read(w->from, w->mem, m->addr, &now) ||
	    !goroutine_fields_same(&m->g, &now) || now.tracking_seq != m->g.tracking_seq)
		m->kind = MEMBER_ALONE;
}

static void read_waits(struct snapshot_window *w, struct member *m)
{
	struct waits *all = &w->r->out->waits;

	m->waits = w->waits.count;
	w->waits.reads = all->reads;
	snapshot_reading_waits(w->r, w->mem, m->addr, &m->g, w->stacks[m - w->all], m->len,
			       &w->waits);
	all->reads = w->waits.reads;
	m->wait_count = w->waits.count - m->waits;
}

static void each(struct snapshot_window *w, void (*step)(struct snapshot_window *, struct member *))
{
	memory_pages_forget(w->pages);
	for (size_t i = 0; i < w->count; i++)
		if (w->all[i].kind == MEMBER_RESTS)
			step(w, &w->all[i]);
}

/* --- what is found --- */

static void add_waits(struct waits *to, const struct wait *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to->all = mem_grow(to->all, to->count, &to->cap, sizeof(*to->all));
		to->all[to->count++] = from[i];
	}
}

static void keep(struct snapshot_window *w, struct member *m)
{
	struct snapshot_reading *r = w->r;
	struct waits *waits = &r->out->waits;
	struct goroutine g = snapshot_reading_described(m->addr, &m->g);
	enum unwound how = snapshot_reading_unwind(r, &m->g, w->stacks[m - w->all], m->len, false);

	if (!snapshot_reading_keep(r, how, &g)) {
		m->kind = MEMBER_ALONE;
		return;
	}
	g.waits = waits->count;
	if (m->wait_count <= WAIT_COUNT_MAX - waits->count)
		add_waits(waits, w->waits.all + m->waits, m->wait_count);
	g.wait_count = waits->count - g.waits;
	snapshot_reading_add(r, &g);
}

static void begin(struct snapshot_window *w, uint64_t addr)
{
	w->all[w->count] = (struct member){.addr = addr, .kind = MEMBER_RESTS};
}

void snapshot_window_read(struct snapshot_window *w, struct snapshot_reading *r,
			  const uint64_t *addrs, size_t count)
{
	w->r = r;
	w->waits.count = 0;
	for (w->count = 0; w->count < count; w->count++)
		begin(w, addrs[w->count]);
	each(w, look);
	each(w, take_bytes);
	each(w, read_stack);
	if (!w->is_still) {
		each(w, check);
		each(w, read_stack_again);
	}
	each(w, read_waits);
	if (!w->is_still)
		each(w, check);
	each(w, keep);
	for (size_t i = 0; i < count; i++)
		if (w->all[i].kind == MEMBER_ALONE)
			snapshot_reading_goroutine(r, addrs[i]);
}

void snapshot_window_stacks(struct snapshot_window *w, struct snapshot_window_stack *stacks,
			    size_t count)
{
	for (w->count = 0; w->count < count; w->count++)
		begin(w, stacks[w->count].g->addr);
	each(w, look);
	for (size_t i = 0; i < count; i++)
		if (!goroutine_fields_match(&w->all[i].g, stacks[i].g))
			w->all[i].kind = MEMBER_ALONE;
	each(w, read_stack);
	if (!w->is_still)
		each(w, check);
	for (size_t i = 0; i < count; i++) {
		stacks[i].bytes = w->all[i].kind == MEMBER_RESTS ? w->stacks[i] : NULL;
		stacks[i].len = w->all[i].len;
	}
}
