// SPDX-License-Identifier: Apache-2.0
/* The part of gotrace.bpf.c that reads arguments and results by tables of steps: where many
 * functions are traced, code for each kind of them would take the compiler longer than all else
 * takes. Inserted there.
 *
 *   -DTABLES=n   number of tables; 0: no such part
 *   -DTABLE_ENTRIES=n -DTABLE_BEGINS=n -DTABLE_ENDS=n   numbers of the programs that serve PROBEs
 *                without r:, and beginnings and ends of calls for the others; ~0: there is none.
 *                Each has the loop over steps once: the verifier follows no more.
 *   -DSTEPS=n    steps of them all
 *   -DSTEPS_ENTRY=n -DSTEPS_SAVED=n -DSTEPS_RETURN=n   the most of one table: of PROBEs without r:,
 *                and of the others what is kept with a call, and what is read at its end
 *   -DSTEPS_DYNAMIC=n   the most of one table that are put off
 *   -DROOMS=n    hits that can read at a time */

/* Places and sizes are masked instead of compared: the verifier would follow both ways. So a record
 * has room behind its end. */
#define TABLE_MASK (TRACE_STEP_PLACES - 1)
#define TABLE_SIZE_MASK (2 * TRACE_STEP_PLACES - 1)
#define TABLE_RECORD (2 * TRACE_STEP_PLACES + FRAMES_SIZE)

/* A hit that waits for a page keeps its room, whatever runs on the CPU meanwhile. */
struct trace_room {
	u64 busy;
	s64 bad;
	u64 regs[TRACE_STEP_REGISTERS];
	u32 dynamics[TRACE_STEP_DYNAMICS]; /* steps that are put off */
	struct trace_event event;
	char record[TABLE_RECORD];
};

BPF_ARRAY(tables, struct trace_table, TABLES);
BPF_ARRAY(steps, struct trace_step, STEPS);
BPF_ARRAY(rooms, struct trace_room, ROOMS);

/* NULL: all are in use, by hits that wait for memory */
static inline struct trace_room *room_take(void)
{
	u64 at = bpf_get_smp_processor_id();
	struct trace_room *room;
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < ROOMS; i = loop_next(i)) {
		at &= ROOMS - 1;
		room = rooms.lookup(KEY(at));
		if (!room)
			break;
		if (!extremes_exchange(&room->busy, 0, 1))
			return room;
		at += 7;
	}
	return 0;
}

static inline void room_give(struct trace_room *room)
{
	extremes_exchange(&room->busy, 1, 0);
}

static inline void room_registers(struct pt_regs *ctx, struct trace_room *room)
{
	u64 *to = room->regs;

	/* by their numbers in instructions */
#ifdef __aarch64__
#pragma unroll
	for (int i = 0; i < TRACE_STEP_REGISTERS; i++)
		to[i] = probe_register(ctx, 8 * i);
#else
	to[0] = probe_register(ctx, REGISTER_AX);
	to[1] = probe_register(ctx, REGISTER_CX);
	to[2] = probe_register(ctx, REGISTER_DX);
	to[3] = probe_register(ctx, REGISTER_BX);
	to[6] = probe_register(ctx, REGISTER_SI);
	to[7] = probe_register(ctx, REGISTER_DI);
	to[8] = probe_register(ctx, REGISTER_R8);
	to[9] = probe_register(ctx, REGISTER_R9);
	to[10] = probe_register(ctx, REGISTER_R10);
	to[11] = probe_register(ctx, REGISTER_R11);
#endif
}

static inline void step_register(struct trace_room *room, struct trace_step *step, char *at)
{
	u64 value = room->regs[step->how & (TRACE_STEP_REGISTERS - 1)] >> (step->n & 63);

	switch (step->max) {
	case 1:
		*(u8 *)at = value;
		break;
	case 2:
		*(u16 *)at = value;
		break;
	case 4:
		*(u32 *)at = value;
		break;
	default:
		*(u64 *)at = value;
	}
}

static inline void room_must(struct trace_room *room, s64 state)
{
	s64 bad = room->bad;

	must(&bad, state);
	room->bad = bad;
}

/* Does one step, the one of index `index`, and tells how many are to be skipped. `dynamics`: how
 * many were put off. */
static inline u32 step_do(struct pt_regs *ctx, struct hit *hit, struct trace_room *room,
			  struct trace_step *step, u32 index, u32 *dynamics)
{
	char *rec = room->record, *at = rec + (step->at & TABLE_MASK);
	char *own = rec + (step->own & TABLE_MASK), *state = rec + (step->state & TABLE_MASK);
	u32 max = step->max & TABLE_MASK;
	s64 bad = 0;

	switch (step->what) {
	case TRACE_STEP_KEPT:
		must_be_kept(&bad, ctx, hit);
		room_must(room, bad);
		break;
	case TRACE_STEP_REGISTER:
		step_register(room, step, at);
		break;
	case TRACE_STEP_STATE:
		bad = room->bad;
		*(s64 *)at = bad ? bad : step->n;
		room->bad = 0;
		break;
	case TRACE_STEP_SET:
		*(s64 *)at = (int)step->n;
		break;
	case TRACE_STEP_STACK:
		room_must(room, fetch(at, max, hit->sp + step->n));
		break;
	case TRACE_STEP_ELEMENTS:
		*(s64 *)state = fetch_elements(at, max, *(u64 *)own, *(u64 *)(own + 8), step->n);
		break;
	case TRACE_STEP_OBJECT:
		*(s64 *)state = fetch_object(at, max, *(u64 *)own);
		break;
	case TRACE_STEP_GROUP:
		*(s64 *)state = fetch_group(at, max, own, step->how);
		break;
	case TRACE_STEP_DYNAMIC:
		room->dynamics[*dynamics & (TRACE_STEP_DYNAMICS - 1)] = index;
		++*dynamics;
		break;
	case TRACE_STEP_SP:
		*(u64 *)at = hit->sp;
		break;
	case TRACE_STEP_MOVED:
		*(u64 *)at = after_move(hit, *(u64 *)state, *(u64 *)own);
		break;
	case TRACE_STEP_IF:
		return *(s64 *)state >= (s64)step->n ? 0 : step->skip;
	case TRACE_STEP_SKIP:
		return step->skip;
	}
	return 0;
}

static inline void room_dynamics(struct hit *hit, struct trace_room *room, u32 count)
{
	char *rec = room->record, *own;
	struct trace_step *step;
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < STEPS_DYNAMIC; i = loop_next(i)) {
		if (i >= count)
			break;
		step = steps.lookup(&room->dynamics[i]);
		if (!step)
			break;
		own = rec + (step->own & TABLE_MASK);
		fetch_dynamic(rec + (step->at & TABLE_MASK), *(u64 *)own, *(u64 *)(own + 8),
			      step->how, step->max & 7, hit);
	}
}

static inline void room_fill(struct pt_regs *ctx, struct hit *hit, struct trace_room *room,
			     u32 first, u32 count, const u32 most)
{
	u32 i, end = first + count, dynamics = forget_value(0, hit->sp);
	struct trace_step *step;
	u64 at = first;

	room->bad = 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < most; i = loop_next(i)) {
		if (at >= end)
			break;
		step = steps.lookup(KEY(at));
		if (!step)
			break;
		at = forget_value(at + 1 + step_do(ctx, hit, room, step, at, &dynamics), hit->sp);
	}
	room_dynamics(hit, room, dynamics);
}

static inline struct trace_table *table_of(struct hit *hit)
{
	u64 table = hit->table; /* or the compiler would keep all of the hit on the stack */

	return tables.lookup(KEY(table));
}

static inline struct trace_room *table_room(struct trace_table *table)
{
	struct trace_room *room = table ? room_take() : 0;

	if (!room)
		count(TRACE_ROOMS_FULL);
	return room;
}

/* Fills all of an event but its head; NULL: there was no room. `saved`: what was kept with the
 * call, or 0. The event is given back by table_submit(). */
static inline struct trace_event *table_report(struct pt_regs *ctx, struct hit *hit, char *saved)
{
	/* At entries all of the hit may stay on the stack, where there is room: else the verifier
	 * gives up, if frames are wanted too. */
	struct trace_table *table = saved ? table_of(hit) : tables.lookup(&hit->table);
	struct trace_room *room = table_room(table);

	if (!room)
		return 0;
	if (saved)
		probe_read_kernel(room->record, table->saved_size & TABLE_MASK, saved);
	room_registers(ctx, room);
	room_fill(ctx, hit, room, table->first + table->saved, table->count,
		  saved ? STEPS_RETURN : STEPS_ENTRY);
	hit->size = sizeof(room->event) + (table->record_size & TABLE_SIZE_MASK);
	return &room->event;
}

#ifdef RETURNS
/* Reads what is kept with a call that begins. False: there was no room. */
static inline bool table_save(struct pt_regs *ctx, struct hit *hit, char *to)
{
	struct trace_table *table = table_of(hit);
	struct trace_room *room = table_room(table);
	u64 size;

	if (!room)
		return false;
	room_registers(ctx, room);
	room_fill(ctx, hit, room, table->first, table->saved, STEPS_SAVED);
	size = table->saved_size;
	asm volatile("" : "+r"(size));
	if (size <= SAVED_ROOM)
		probe_read_kernel(to, size, room->record);
	room_give(room);
	return true;
}
#endif

static inline void table_submit(struct trace_event *event, u64 size)
{
	if (events.ringbuf_output(event, size, wakeup_flags(size)))
		count(TRACE_LOST);
	room_give((void *)event - __builtin_offsetof(struct trace_room, event));
}
