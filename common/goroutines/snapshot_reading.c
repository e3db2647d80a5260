// SPDX-License-Identifier: Apache-2.0
#include "goroutines/snapshot_reading_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "files/process_stop.h"
#include "goroutines/goroutine_fields_internal.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "goroutines/snapshot_args_internal.h"
#include "goroutines/wait_internal.h"

#define STACK_BYTES_MAX (16ULL << 30) /* of all stacks together: what takes seconds to copy */

struct snapshot_reading *snapshot_reading_new(const struct snapshot_source *from,
					      struct snapshot *out)
{
	struct snapshot_reading *r = mem_alloc(sizeof(*r));

	r->from = from;
	r->out = out;
	r->bytes_left = STACK_BYTES_MAX;
	r->args[0] = r->args[1] = (struct snapshot_args){0};
	return r;
}

void snapshot_reading_free(struct snapshot_reading *r)
{
	free(r->args[0].bytes);
	free(r->args[1].bytes);
	free(r);
}

static bool read_fields(const struct snapshot_reading *r, uint64_t addr,
			struct goroutine_fields *out)
{
	return goroutine_fields_read(r->from, r->from->mem, addr, out);
}

/* --- parts --- */

struct goroutine snapshot_reading_described(uint64_t addr, const struct goroutine_fields *g)
{
	return (struct goroutine){.goid = g->goid,
				  .waitsince = g->waitsince,
				  .parent = g->parent,
				  .created_by = g->created_by,
				  .start = g->start,
				  .status = g->status,
				  .reason = g->reason,
				  .locked = g->locked,
				  .bubble = g->bubble,
				  .labels = g->labels,
				  .args = SNAPSHOT_NO_ARGS,
				  .addr = addr,
				  .sp = goroutine_fields_sp(g),
				  .link = g->link,
				  .stack_hi = g->stack_hi};
}

enum unwound snapshot_reading_unwind(struct snapshot_reading *r, const struct goroutine_fields *g,
				     const uint8_t *bytes, size_t len, bool again)
{
	uint64_t sp = goroutine_fields_sp(g);
	struct stack_bytes stack = {.addr = sp,
				    .bytes = bytes,
				    .len = len,
				    .cut = g->stack_hi - sp > len,
				    .link = g->status == GOROUTINE_SYSCALL ? 0 : g->link};
	enum unwound how =
		unwinder_walk(&stack, g->status == GOROUTINE_SYSCALL ? g->syscall_pc : g->pc,
			      r->from->rule, r->from->rule_ctx, &r->walks[again]);

	/* as if it were a return address, which is behind the instruction that is meant */
	if (g->interrupted && how != UNWOUND_NOT)
		r->walks[again].pc[0]++;
	r->args[again].len = 0;
	if (r->from->with_args && how != UNWOUND_NOT)
		snapshot_args_note(&r->args[again], bytes, &r->walks[again]);
	return how;
}

static bool has_reason(const struct snapshot_reading *r, const struct goroutine_fields *g,
		       const char *reason)
{
	return g->reason < WAIT_REASONS && r->out->reasons[g->reason] &&
	       !strcmp(r->out->reasons[g->reason], reason);
}

void snapshot_reading_waits(const struct snapshot_reading *r, const struct memory *mem,
			    uint64_t addr, const struct goroutine_fields *g, const uint8_t *bytes,
			    size_t len, struct waits *waits)
{
	struct wait_source from = {.g = addr,
				   .waiting = g->waiting,
				   .timer = g->timer,
				   .sleep_when = g->sleep_when,
				   .m = g->m,
				   .calls = g->status == GOROUTINE_SYSCALL,
				   .sleeps = has_reason(r, g, "sleep"),
				   .polls = has_reason(r, g, "IO wait"),
				   .stack = bytes,
				   .stack_len = len};

	if (r->from->waits && (g->status == GOROUTINE_WAITING || g->status == GOROUTINE_SYSCALL))
		wait_read(mem, r->from->waits, &from, waits);
}

bool snapshot_reading_keep(struct snapshot_reading *r, enum unwound how, struct goroutine *g)
{
	const struct unwound_frames *walk = &r->walks[0];

	if (how == UNWOUND_NOT ||
	    !snapshot_stacks_add(r->out->stacks, walk->pc, walk->count, &g->stack))
		return false;
	g->stack_state = how == UNWOUND_WHOLE ? STACK_READ : STACK_CUT;
	g->args = snapshot_args_add(&r->out->args, &r->args[0]);
	return true;
}

void snapshot_reading_add(struct snapshot_reading *r, const struct goroutine *g)
{
	struct snapshot *out = r->out;

	out->all = mem_grow(out->all, out->count, &out->cap, sizeof(*out->all));
	out->all[out->count++] = *g;
}

/* --- alone --- */

/* Reads and unwinds a stack: the first time, or again. */
static enum unwound unwind(struct snapshot_reading *r, const struct goroutine_fields *g, bool again)
{
	uint64_t sp = goroutine_fields_sp(g), left = g->stack_hi - sp;
	const struct memory *mem = r->from->mem;
	size_t len = left > SNAPSHOT_READING_STACK_MAX ? SNAPSHOT_READING_STACK_MAX : left;

	if (sp % 8 || sp < g->stack_lo || sp >= g->stack_hi || r->bytes_left < len ||
	    !mem->read(mem->ctx, sp, r->bytes, len))
		return UNWOUND_NOT;
	r->bytes_left -= len;
	r->len = len;
	return snapshot_reading_unwind(r, g, r->bytes, len, again);
}

static bool is_same_stack(const struct snapshot_reading *r)
{
	const struct unwound_frames *a = &r->walks[0], *b = &r->walks[1];

	return a->count == b->count && !memcmp(a->pc, b->pc, a->count * sizeof(*a->pc)) &&
	       r->args[0].len == r->args[1].len &&
	       (!r->args[0].len || !memcmp(r->args[0].bytes, r->args[1].bytes, r->args[0].len));
}

/* Reads a stack twice, with the fields before, between and after: a goroutine that has run
 * meanwhile and waits at the same place again is seen by its other frames. */
static bool read_stack(struct snapshot_reading *r, uint64_t addr, const struct goroutine_fields *g,
		       struct goroutine *out)
{
	struct waits *waits = &r->out->waits;
	struct goroutine_fields after;
	enum unwound how = unwind(r, g, false);

	if (!read_fields(r, addr, &after) || !goroutine_fields_same(g, &after))
		return false;
	if (unwind(r, g, true) != how)
		return false;
	out->waits = waits->count;
	if (how != UNWOUND_NOT)
		snapshot_reading_waits(r, r->from->mem, addr, g, r->bytes, r->len, waits);
	out->wait_count = waits->count - out->waits;
	if (!read_fields(r, addr, &after) || !goroutine_fields_same(g, &after))
		return false;
	if (how != UNWOUND_NOT && !is_same_stack(r))
		return false;
	if (snapshot_reading_keep(r, how, out))
		return true;
	out->stack_state = STACK_UNKNOWN;
	return false;
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
static bool freeze(const struct snapshot_source *from, struct goroutine_fields *g)
{
	const struct goruntime *rt = from->rt;
	struct process_registers regs;
	uint64_t tid, g0;

	if (!from->registers || !g->m || !memory_u64(from->mem, g->m + rt->m_procid, &tid) ||
	    tid > INT32_MAX || !from->registers(from->registers_ctx, (pid_t)tid, &regs))
		return false;
	if (regs.sp >= g->stack_lo && regs.sp < g->stack_hi) {
		g->pc = regs.pc;
		g->sp = regs.sp;
		g->link = regs.link;
		g->interrupted = true;
		return true;
	}
	return memory_u64(from->mem, g->m + rt->m_g0, &g0) && is_on(from->mem, rt, g0, regs.sp);
}

static void read_frozen(struct snapshot_reading *r, const struct goroutine_fields *g,
			struct goroutine *out)
{
	if (snapshot_reading_keep(r, unwind(r, g, false), out))
		out->interrupted = g->interrupted;
}

/* --- either --- */

/* Whether it is alive is known only when it was read. */
enum found { FOUND, FOUND_NONE, FOUND_CHANGED };

static enum found try_goroutine(struct snapshot_reading *r, uint64_t addr, struct goroutine *out)
{
	struct goroutine_fields g;

	if (!read_fields(r, addr, &g) || goroutine_fields_wild(&g)) {
		r->out->unread++;
		return FOUND_NONE;
	}
	if (goroutine_fields_dead(&g))
		return FOUND_NONE;
	*out = snapshot_reading_described(addr, &g);
	if (goroutine_fields_has_stack(&g)) {
		out->stack_state = STACK_CHANGED;
		return read_stack(r, addr, &g, out) ? FOUND : FOUND_CHANGED;
	}
	out->stack_state = STACK_RUNNING;
	if (g.status == GOROUTINE_RUNNING && freeze(r->from, &g)) {
		out->sp = g.sp;
		out->link = g.link;
		read_frozen(r, &g, out);
		return FOUND;
	}
	return g.status == GOROUTINE_COPYSTACK ? FOUND_CHANGED : FOUND;
}

void snapshot_reading_goroutine(struct snapshot_reading *r, uint64_t addr)
{
	struct snapshot *out = r->out;
	struct goroutine g;
	enum found found = FOUND_CHANGED;
	size_t waits = out->waits.count;

	/* of a core file, what cannot be read now never can */
	int tries = r->from->timeless ? 1 : SNAPSHOT_READING_TRIES;

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
	snapshot_reading_add(r, &g);
}
