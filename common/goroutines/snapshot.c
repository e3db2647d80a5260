// SPDX-License-Identifier: Apache-2.0
#include "goroutines/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot_stacks.h"
#include "goroutines/unwinder.h"

enum {
	G_MAX = 512,           /* bytes of struct g that are read */
	STACK_MAX = 256 << 10, /* bytes of a stack */
	TRIES = 8,             /* to read a goroutine that changes, or the list that grows */
	CHUNK = 512,           /* entries of the list read at once */
	STATUS_SCAN = 0x1000,  /* beside another state: the garbage collector looks at the stack */
};

#define STACK_BYTES_MAX (16ULL << 30) /* of all stacks together: what takes seconds to copy */

struct reading {
	const struct snapshot_source *from;
	struct snapshot *out;
	uint64_t bytes_left;
	uint8_t bytes[STACK_MAX];
	struct unwound_frames walks[2]; /* as read at first, and again */
	struct snapshot_args args[2];   /* the same of arguments */
};

struct slice { /* a Go slice */
	uint64_t data, len, cap;
};

/* --- one goroutine --- */

struct fields { /* what tells that a goroutine has not moved, and where its stack is */
	uint64_t stack_lo, stack_hi, sp, pc, syscall_sp, syscall_pc, goid;
	uint64_t waitsince, parent, created_by, start;
	uint64_t waiting, timer, sleep_when, m;
	uint32_t status;
	uint8_t reason;
	bool locked;
	bool interrupted; /* pc is not a return address, but has been made to look like one */
};

static uint64_t word(const uint8_t *g, uint32_t at)
{
	uint64_t value = 0;

	if (at + sizeof(value) <= G_MAX)
		memcpy(&value, g + at, sizeof(value));
	return value;
}

static bool read_fields(const struct snapshot_source *from, uint64_t addr, struct fields *out)
{
	const struct goruntime *rt = from->rt;
	uint32_t size = rt->g_gopc ? rt->g_gopc + 88 : rt->g_waitreason + 8;
	const struct wait_layout *waits = from->waits;
	uint8_t g[G_MAX] = {0};

	/* all in one go: the kernel copies it while the program runs on */
	if (size > G_MAX || addr % 8 || !from->mem->read(from->mem->ctx, addr, g, size))
		return false;
	*out = (struct fields){
		.stack_lo = word(g, rt->g_stack_hi - 8),
		.stack_hi = word(g, rt->g_stack_hi),
		.sp = word(g, rt->g_sched_sp),
		.pc = word(g, rt->g_sched_sp + 8),
		.syscall_sp = word(g, rt->g_syscall_sp),
		.syscall_pc = word(g, rt->g_syscall_sp + 8),
		.goid = word(g, rt->g_goid),
		.waitsince = word(g, rt->g_waitsince),
		.parent = rt->g_parent_goid ? word(g, rt->g_parent_goid) : 0,
		.created_by = rt->g_gopc ? word(g, rt->g_gopc) : 0,
		/* gopc, ancestors, startpc */
		.start = rt->g_gopc ? word(g, rt->g_gopc + 16) : 0,
		.status = (uint32_t)word(g, rt->g_status) & ~(uint32_t)STATUS_SCAN,
		.reason = (uint8_t)word(g, rt->g_waitreason),
		.locked = rt->g_lockedm && word(g, rt->g_lockedm),
		.waiting = waits ? word(g, waits->g_waiting) : 0,
		.m = word(g, rt->g_m),
		.timer = waits ? word(g, waits->g_timer) : 0,
		.sleep_when = waits && waits->g_sleep_when ? word(g, waits->g_sleep_when) : 0,
	};
	return true;
}

static bool is_same(const struct fields *a, const struct fields *b)
{
	return a->goid == b->goid && a->status == b->status && a->reason == b->reason &&
	       a->sp == b->sp && a->pc == b->pc && a->syscall_sp == b->syscall_sp &&
	       a->syscall_pc == b->syscall_pc && a->stack_lo == b->stack_lo &&
	       a->stack_hi == b->stack_hi && a->created_by == b->created_by &&
	       a->waiting == b->waiting;
}

/* Reads and unwinds a stack: the first time, or again. */
static enum unwound unwind(struct reading *r, const struct fields *g, bool again)
{
	bool calls = g->status == GOROUTINE_SYSCALL;
	uint64_t sp = calls ? g->syscall_sp : g->sp;
	uint64_t left = g->stack_hi - sp;
	const struct memory *mem = r->from->mem;

	if (sp % 8 || sp < g->stack_lo || sp >= g->stack_hi)
		return UNWOUND_NOT;
	struct stack_bytes stack = {.addr = sp,
				    .bytes = r->bytes,
				    .len = left > STACK_MAX ? STACK_MAX : left,
				    .cut = left > STACK_MAX};

	if (r->bytes_left < stack.len || !mem->read(mem->ctx, sp, r->bytes, stack.len))
		return UNWOUND_NOT;
	r->bytes_left -= stack.len;
	enum unwound how = unwinder_walk(&stack, calls ? g->syscall_pc : g->pc, r->from->rule,
					 r->from->rule_ctx, &r->walks[again]);

	/* as if it were a return address, which is behind the instruction that is meant */
	if (g->interrupted && how != UNWOUND_NOT)
		r->walks[again].pc[0]++;
	r->args[again].len = 0;
	if (r->from->with_args && how != UNWOUND_NOT)
		snapshot_args_note(&r->args[again], r->bytes, &r->walks[again]);
	return how;
}

/* --- one that runs, in a process that does not --- */

static bool is_on(const struct memory *mem, const struct goruntime *rt, uint64_t g, uint64_t sp)
{
	uint64_t lo, hi;

	return memory_u64(mem, g + rt->g_stack_hi - 8, &lo) &&
	       memory_u64(mem, g + rt->g_stack_hi, &hi) && sp >= lo && sp < hi;
}

/* Makes its registers what they were if it had been preempted: those of its thread, or, while that
 * is on the system stack, those saved when it went there. False: it is in C, or in a signal
 * handler.
 */
static bool freeze(const struct snapshot_source *from, struct fields *g)
{
	const struct goruntime *rt = from->rt;
	uint64_t tid, pc, sp, g0;

	if (!from->registers || !g->m || !memory_u64(from->mem, g->m + rt->m_procid, &tid) ||
	    tid > INT32_MAX || !from->registers(from->registers_ctx, (pid_t)tid, &pc, &sp))
		return false;
	if (sp >= g->stack_lo && sp < g->stack_hi) {
		g->pc = pc;
		g->sp = sp;
		g->interrupted = true;
		return true;
	}
	return memory_u64(from->mem, g->m + rt->m_g0, &g0) && is_on(from->mem, rt, g0, sp);
}

static bool has_stack(uint32_t status)
{
	return status == GOROUTINE_RUNNABLE || status == GOROUTINE_SYSCALL ||
	       status == GOROUTINE_WAITING || status == GOROUTINE_PREEMPTED ||
	       status == GOROUTINE_LEAKED;
}

static bool is_same_stack(const struct reading *r)
{
	const struct unwound_frames *a = &r->walks[0], *b = &r->walks[1];

	return a->count == b->count && !memcmp(a->pc, b->pc, a->count * sizeof(*a->pc)) &&
	       r->args[0].len == r->args[1].len &&
	       (!r->args[0].len || !memcmp(r->args[0].bytes, r->args[1].bytes, r->args[0].len));
}

static bool has_reason(const struct reading *r, const struct fields *g, const char *reason)
{
	return g->reason < WAIT_REASONS && r->out->reasons[g->reason] &&
	       !strcmp(r->out->reasons[g->reason], reason);
}

/* To be called when its stack was read last: it is in r->bytes. */
static void read_waits(struct reading *r, uint64_t addr, const struct fields *g,
		       struct goroutine *out)
{
	struct waits *waits = &r->out->waits;
	uint64_t len = g->stack_hi - (g->status == GOROUTINE_SYSCALL ? g->syscall_sp : g->sp);
	struct wait_source from = {.g = addr,
				   .waiting = g->waiting,
				   .timer = g->timer,
				   .sleep_when = g->sleep_when,
				   .m = g->m,
				   .calls = g->status == GOROUTINE_SYSCALL,
				   .sleeps = has_reason(r, g, "sleep"),
				   .polls = has_reason(r, g, "IO wait"),
				   .stack = r->bytes,
				   .stack_len = len > STACK_MAX ? STACK_MAX : len};

	out->waits = waits->count;
	if (r->from->waits && (g->status == GOROUTINE_WAITING || g->status == GOROUTINE_SYSCALL))
		wait_read(r->from->mem, r->from->waits, &from, waits);
	out->wait_count = waits->count - out->waits;
}

/* Reads a stack twice, with the fields before, between and after: a goroutine that has run
 * meanwhile and waits at the same place again is seen by its other frames. */
static bool read_stack(struct reading *r, uint64_t addr, struct fields *g, struct goroutine *out)
{
	const struct unwound_frames *first = &r->walks[0];
	struct fields after;
	enum unwound how = unwind(r, g, false);

	if (!read_fields(r->from, addr, &after) || !is_same(g, &after))
		return false;
	if (unwind(r, g, true) != how)
		return false;
	if (how != UNWOUND_NOT)
		read_waits(r, addr, g, out);
	if (!read_fields(r->from, addr, &after) || !is_same(g, &after))
		return false;
	if (how == UNWOUND_NOT) {
		out->stack_state = STACK_UNKNOWN;
		return true;
	}
	if (!is_same_stack(r))
		return false;
	if (!snapshot_stacks_add(r->out->stacks, first->pc, first->count, &out->stack))
		out->stack_state = STACK_UNKNOWN;
	else
		out->stack_state = how == UNWOUND_WHOLE ? STACK_READ : STACK_CUT;
	out->args = snapshot_args_add(&r->out->args, &r->args[0]);
	return true;
}

static void read_frozen(struct reading *r, const struct fields *g, struct goroutine *out)
{
	enum unwound how = unwind(r, g, false);

	if (how == UNWOUND_NOT ||
	    !snapshot_stacks_add(r->out->stacks, r->walks[0].pc, r->walks[0].count, &out->stack))
		return;
	out->stack_state = how == UNWOUND_WHOLE ? STACK_READ : STACK_CUT;
	out->args = snapshot_args_add(&r->out->args, &r->args[0]);
	out->interrupted = g->interrupted;
}

/* Whether it is alive is known only when it was read. */
enum found { FOUND, FOUND_NONE, FOUND_CHANGED };

static enum found try_goroutine(struct reading *r, uint64_t addr, struct goroutine *out)
{
	struct fields g;

	if (!read_fields(r->from, addr, &g) || g.status > GOROUTINE_DEADEXTRA ||
	    g.stack_lo > g.stack_hi) {
		r->out->unread++;
		return FOUND_NONE;
	}
	if (g.status == GOROUTINE_IDLE || g.status == GOROUTINE_DEAD ||
	    g.status == GOROUTINE_DEADEXTRA)
		return FOUND_NONE;
	*out = (struct goroutine){.goid = g.goid,
				  .waitsince = g.waitsince,
				  .parent = g.parent,
				  .created_by = g.created_by,
				  .start = g.start,
				  .status = g.status,
				  .reason = g.reason,
				  .locked = g.locked,
				  .args = SNAPSHOT_NO_ARGS,
				  .addr = addr,
				  .sp = g.status == GOROUTINE_SYSCALL ? g.syscall_sp : g.sp,
				  .stack_hi = g.stack_hi};
	if (has_stack(g.status)) {
		out->stack_state = STACK_CHANGED;
		return read_stack(r, addr, &g, out) && out->stack_state != STACK_UNKNOWN
			       ? FOUND
			       : FOUND_CHANGED;
	}
	out->stack_state = STACK_RUNNING;
	if (g.status == GOROUTINE_RUNNING && freeze(r->from, &g)) {
		out->sp = g.sp;
		read_frozen(r, &g, out);
		return FOUND;
	}
	return g.status == GOROUTINE_COPYSTACK ? FOUND_CHANGED : FOUND;
}

static void read_goroutine(struct reading *r, uint64_t addr)
{
	struct snapshot *out = r->out;
	struct goroutine g;
	enum found found = FOUND_CHANGED;

	size_t waits = out->waits.count;

	/* of a core file, what cannot be read now never can */
	int tries = r->from->timeless ? 1 : TRIES;

	for (int i = 0; i < tries && found == FOUND_CHANGED; i++) {
		out->waits.count = waits; /* those of a try that failed are not its */
		found = try_goroutine(r, addr, &g);
	}
	if (found == FOUND_NONE)
		return;
	if (found == FOUND_CHANGED) {
		out->waits.count = waits;
		g.wait_count = 0;
	}
	out->all = mem_grow(out->all, out->count, &out->cap, sizeof(*out->all));
	out->all[out->count++] = g;
}

/* --- all --- */

static bool read_slice(const struct snapshot_source *from, struct slice *out)
{
	return from->mem->read(from->mem->ctx, from->allgs, out, sizeof(*out));
}

/* The addresses of the goroutines. The list moves when it grows; what is in it stays for ever. */
static uint64_t *read_list(const struct snapshot_source *from, size_t *count, size_t *left_out)
{
	const struct memory *mem = from->mem;
	struct slice before, after;

	for (int i = 0; i < TRIES; i++) {
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

int snapshot_take(const struct snapshot_source *from, struct snapshot *out, struct errmsg *err)
{
	struct reading *r = mem_alloc(sizeof(*r));
	size_t count;

	r->args[0] = r->args[1] = (struct snapshot_args){0};
	out->args = (struct snapshot_args){0};
	out->waits = (struct waits){0};

	out->all = NULL;
	out->count = out->cap = out->unread = 0;
	out->stacks = snapshot_stacks_new();
	out->when_ns = clock_ns();
	r->from = from;
	r->out = out;
	r->bytes_left = STACK_BYTES_MAX;
	uint64_t *list = read_list(from, &count, &out->left_out);

	for (size_t i = 0; list && i < count; i++) {
		if (from->until_ns && clock_ns() > from->until_ns) {
			out->left_out += count - i;
			break;
		}
		read_goroutine(r, list[i]);
	}
	if (out->count)
		qsort(out->all, out->count, sizeof(*out->all), by_goid);
	out->timeless = from->timeless;
	if (from->timeless)
		out->when_ns = latest_noted(out);
	free(r->args[0].bytes);
	free(r->args[1].bytes);
	free(r);
	free(list);
	return list ? 0 : errmsg_set(err, "the list of goroutines cannot be read");
}

bool snapshot_is_still(const struct snapshot_source *from, const struct goroutine *g)
{
	struct fields now;

	return read_fields(from, g->addr, &now) && now.goid == g->goid && now.status == g->status &&
	       now.reason == g->reason && now.sp == g->sp;
}

void snapshot_free(struct snapshot *snap)
{
	free(snap->all);
	snapshot_stacks_free(snap->stacks);
	free(snap->args.bytes);
	free(snap->waits.all);
	for (size_t i = 0; i < WAIT_REASONS; i++)
		free(snap->reasons[i]);
	*snap = (struct snapshot){0};
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
		return snap->reasons[g->reason];
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
