// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "files/process_stop.h"
#include "base/errmsg.h"
#include "gostacks/groups_internal.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "frames/unwinder.h"
#include "machine/insn.h"
#include "goroutines/runtime_vars_internal.h"
#include "fakemem.h"
#include "unit.h"

/* A program's memory: the list of goroutines, goroutines, stacks, each of its own kind of page. */
enum {
	BASE = FAKEMEM_BASE,
	ALLGS = BASE,
	LIST = BASE + 0x100,
	G = BASE + 0x1000,
	STACKS = BASE + 0x8000
};
enum { G_SIZE = 0x200, STACK_SIZE = 0x1000, SIZE = 0x40000, FRAME = 16 };
enum { PLAIN = 0x1000, FIRST = 0x2000, SWITCH = 0x3000, UNKNOWN = 0x4000 }; /* of code */

static struct frame_rule fake_rule(void *ctx, uint64_t pc)
{
	struct frame_rule rule = {.sp_delta = FRAME, .args = 8, .kind = FRAME_UNKNOWN};

	(void)ctx;
	if (pc / 0x1000 == 1)
		rule.kind = FRAME_PLAIN;
	else if (pc / 0x1000 == 2)
		rule.kind = FRAME_FIRST;
	else if (pc / 0x1000 == 3)
		rule.kind = FRAME_SWITCH;
	return rule;
}

static uint64_t g_at(size_t i)
{
	return G + i * G_SIZE;
}

static uint64_t sp_at(size_t i)
{
	return STACKS + i * STACK_SIZE + STACK_SIZE / 2;
}

static void put_list(uint64_t len, uint64_t cap)
{
	fakemem_put(ALLGS, LIST);
	fakemem_put(ALLGS + 8, len);
	fakemem_put(ALLGS + 16, cap);
}

/* Goroutine i + 1 waits at `pc`, called by `caller`, which every goroutine's first function has
 * called. */
static void put_g(size_t i, uint64_t pc, uint64_t caller)
{
	fakemem_put(LIST + i * 8, g_at(i));
	fakemem_put(g_at(i), STACKS + i * STACK_SIZE);
	fakemem_put(g_at(i) + 8, STACKS + (i + 1) * STACK_SIZE);
	fakemem_put(g_at(i) + 56, sp_at(i));
	fakemem_put(g_at(i) + 64, pc);
	fakemem_put(g_at(i) + 144, GOROUTINE_WAITING);
	fakemem_put(g_at(i) + 152, i + 1);
	fakemem_put(g_at(i) + 176, 3);
	fakemem_put(g_at(i) + 288, PLAIN + 0x80);
	fakemem_put(sp_at(i) + FRAME, caller);
	fakemem_put(sp_at(i) + 2 * FRAME + 8, FIRST);
}

static void begin(size_t count)
{
	fakemem_begin(SIZE);
	put_list(count, count);
	for (size_t i = 0; i < count; i++)
		put_g(i, PLAIN, PLAIN + 0x10);
}

static int take_args(bool with_args, struct snapshot *snap)
{
	struct snapshot_source from = {.mem = &fakemem_memory,
				       .rt = &fakemem_layout,
				       .allgs = ALLGS,
				       .rule = fake_rule,
				       .with_args = with_args};
	struct errmsg err = {0};

	*snap = (struct snapshot){0};
	return snapshot_take(&from, snap, &err);
}

static int take(struct snapshot *snap)
{
	return take_args(false, snap);
}

static void test_stack(void **state)
{
	struct snapshot snap;
	size_t count;

	(void)state;
	begin(1);
	assert_int_equal(take(&snap), 0);
	assert_int_equal(snap.count, 1);
	assert_int_equal(snap.all[0].goid, 1);
	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	const uint64_t *frames = snapshot_stack(&snap, snap.all[0].stack, &count);

	assert_int_equal(count, 2);
	assert_int_equal(frames[0], PLAIN);
	assert_int_equal(frames[1], PLAIN + 0x10);
	snapshot_free(&snap);
}

/* In a system call, the stack is the caller's; a running one has none that could be read. */
static void test_states(void **state)
{
	struct snapshot snap;

	(void)state;
	begin(4);
	fakemem_put(g_at(0) + 144, GOROUTINE_SYSCALL);
	fakemem_put(g_at(0) + 104, sp_at(0) + FRAME + 8);
	fakemem_put(g_at(0) + 112, PLAIN + 0x30);
	fakemem_put(g_at(1) + 144, GOROUTINE_RUNNING);
	fakemem_put(g_at(2) + 144, GOROUTINE_DEAD);
	fakemem_put(g_at(3) + 144, 0x1000 | GOROUTINE_WAITING); /* the garbage collector looks on */
	assert_int_equal(take(&snap), 0);
	assert_int_equal(snap.count, 3);
	size_t count;
	const uint64_t *frames = snapshot_stack(&snap, snap.all[0].stack, &count);

	assert_int_equal(count, 1);
	assert_int_equal(frames[0], PLAIN + 0x30);
	assert_string_equal(snapshot_state(&snap, &snap.all[0]), "syscall");
	assert_int_equal(snap.all[1].stack_state, STACK_RUNNING);
	assert_int_equal(snap.all[2].stack_state, STACK_READ);
	assert_string_equal(snapshot_state(&snap, &snap.all[2]), "waiting");
	snapshot_free(&snap);
}

static void test_groups(void **state)
{
	struct snapshot snap;
	size_t count;

	(void)state;
	begin(6);
	put_g(0, PLAIN + 0x20, PLAIN + 0x10);     /* elsewhere */
	put_g(1, PLAIN, PLAIN + 0x18);            /* called from elsewhere */
	fakemem_put(g_at(2) + 176, 4);            /* for another reason */
	fakemem_put(g_at(3) + 288, PLAIN + 0x90); /* of another go statement */
	assert_int_equal(take(&snap), 0);
	struct group *groups = groups_make(&snap, NULL, &count);

	assert_int_equal(count, 5);
	assert_int_equal(groups[0].count, 2);
	assert_int_equal(groups[0].first->goid, 5);
	for (size_t i = 1; i < count; i++) {
		assert_int_equal(groups[i].count, 1);
		assert_int_equal(groups[i].first->goid, i);
	}
	free(groups);
	snapshot_free(&snap);
}

/* --- while it runs --- */

/* The caller is another one at each look. */
static void run_always(void)
{
	fakemem_put(sp_at(0) + FRAME, PLAIN + 0x10 + fakemem.reads);
}

/* It moves on while it is read first, and stays then. */
static void run_once(void)
{
	if (fakemem.reads == 6)
		fakemem_put(sp_at(0) + FRAME, PLAIN + 0x40);
}

/* Its fields change, but what is on its stack is the same. */
static void run_fields(void)
{
	fakemem_put(g_at(0) + 64, PLAIN + fakemem.reads);
}

static void test_changing(void **state)
{
	static void (*const runs[])(void) = {run_always, run_fields};
	struct snapshot snap;
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		begin(1);
		fakemem.before_read = runs[i];
		assert_int_equal(take(&snap), 0);
		assert_int_equal(snap.count, 1);
		assert_int_equal(snap.all[0].stack_state, STACK_CHANGED);
		snapshot_stack(&snap, snap.all[0].stack, &count);
		assert_int_equal(count, 0);
		assert_true(fakemem.reads < 100);
		snapshot_free(&snap);
	}
}

static void test_changed_once(void **state)
{
	struct snapshot snap;
	size_t count;

	(void)state;
	begin(1);
	fakemem.before_read = run_once;
	assert_int_equal(take(&snap), 0);
	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	const uint64_t *frames = snapshot_stack(&snap, snap.all[0].stack, &count);

	assert_int_equal(count, 2);
	assert_int_equal(frames[1], PLAIN + 0x40);
	snapshot_free(&snap);
}

/* --- arguments --- */

/* They are behind the return address, of the first frame that of FRAME + 8 bytes. */
static void put_args(size_t i, uint64_t first, uint64_t second)
{
	fakemem_put(sp_at(i) + FRAME + 8, first);
	fakemem_put(sp_at(i) + 2 * FRAME + 16, second);
}

static void assert_args(const struct snapshot *snap, size_t i, size_t number, uint64_t value)
{
	size_t len;
	const uint8_t *bytes = snapshot_args(snap, &snap->all[i], number, &len);

	assert_non_null(bytes);
	assert_int_equal(len, 8);
	assert_memory_equal(bytes, &value, 8);
}

static void test_args(void **state)
{
	struct snapshot snap;
	size_t len;

	(void)state;
	begin(2);
	put_args(0, 11, 12);
	put_args(1, 21, 22);
	assert_int_equal(take_args(true, &snap), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_args(&snap, i, 0, 10 * (i + 1) + 1);
		assert_args(&snap, i, 1, 10 * (i + 1) + 2);
	}
	snapshot_free(&snap);
	assert_int_equal(take(&snap), 0); /* not asked for */
	assert_null(snapshot_args(&snap, &snap.all[0], 0, &len));
	snapshot_free(&snap);
}

/* The stack ends where they would be. */
static void test_args_cut(void **state)
{
	struct snapshot snap;
	size_t len;

	(void)state;
	begin(1);
	fakemem_put(g_at(0) + 8, sp_at(0) + 2 * FRAME + 16);
	assert_int_equal(take_args(true, &snap), 0);
	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	assert_non_null(snapshot_args(&snap, &snap.all[0], 1, &len));
	assert_int_equal(len, 0);
	snapshot_free(&snap);
}

static void run_args(void)
{
	put_args(0, fakemem.reads < 9 ? fakemem.reads : 9, 5);
}

static void test_args_changing(void **state)
{
	struct snapshot snap;

	(void)state;
	begin(1);
	fakemem.before_read = run_args;
	assert_int_equal(take_args(true, &snap), 0);
	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	assert_args(&snap, 0, 0, 9);
	snapshot_free(&snap);
}

/* --- what is no goroutine --- */

static void test_wild_list(void **state)
{
	static const struct {
		uint64_t len, cap;
	} wild[] = {{5, 4}, {1ULL << 40, 1ULL << 40}, {UINT64_MAX, UINT64_MAX}, {SIZE, SIZE}};
	struct snapshot snap;

	(void)state;
	for (size_t i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
		begin(1);
		put_list(wild[i].len, wild[i].cap);
		assert_int_equal(take(&snap), -1);
		assert_true(fakemem.reads < 100);
		snapshot_free(&snap);
	}
}

static void test_wild_pointers(void **state)
{
	struct snapshot snap;

	(void)state;
	begin(4);
	fakemem_put(LIST, 0);
	fakemem_put(LIST + 8, UINT64_MAX - 7);
	fakemem_put(LIST + 16, g_at(2) + 1);
	fakemem_put(g_at(3) + 144, 77);
	assert_int_equal(take(&snap), 0);
	assert_int_equal(snap.count, 0);
	assert_int_equal(snap.unread, 4);
	snapshot_free(&snap);
}

static void test_wild_stacks(void **state)
{
	struct snapshot snap;
	size_t count;

	(void)state;
	begin(8);
	fakemem_put(g_at(0) + 56, 8);         /* outside its stack */
	fakemem_put(g_at(1) + 8, UINT64_MAX); /* most of it is not there */
	fakemem_put(g_at(2) + 56, sp_at(2) + 4);
	fakemem_put(sp_at(3) + FRAME, UNKNOWN); /* leads nowhere */
	fakemem_put(sp_at(4) + FRAME, SWITCH);
	fakemem_put(sp_at(5) + 2 * FRAME + 8, 0);
	fakemem_put(g_at(6) + 64, FIRST);
	fakemem_put(g_at(7) + 8, sp_at(7) + FRAME + 8); /* ends too early */
	assert_int_equal(take(&snap), 0);
	assert_int_equal(snap.count, 8);
	for (size_t i = 0; i < snap.count; i++) {
		assert_int_equal(snap.all[i].stack_state, STACK_UNKNOWN);
		snapshot_stack(&snap, snap.all[i].stack, &count);
		assert_int_equal(count, 0);
	}
	assert_true(fakemem.reads < 1000);
	snapshot_free(&snap);
}

/* A stack without an end is cut; goroutines of a list that names one again and again are one stack.
 */
static void test_endless(void **state)
{
	struct snapshot snap;
	size_t count;

	(void)state;
	begin(20);
	put_list(100, 100);
	for (size_t i = 0; i < 100; i++)
		fakemem_put(LIST + i * 8, g_at(0));
	for (uint64_t at = STACKS; at < BASE + SIZE; at += 8)
		fakemem_put(at, PLAIN);
	fakemem_put(g_at(0) + 8, BASE + SIZE);
	assert_int_equal(take(&snap), 0);
	assert_int_equal(snap.count, 100);
	assert_int_equal(snap.all[99].stack_state, STACK_CUT);
	assert_int_equal(snap.all[99].stack, snap.all[0].stack);
	snapshot_stack(&snap, snap.all[0].stack, &count);
	assert_int_equal(count, UNWINDER_FRAMES);
	snapshot_free(&snap);
}

/* --- one that runs, while its process does not --- */

enum { M = BASE + 0x800, G0 = BASE + 0x900, TID = 77 };

struct stopped {
	uint64_t pc, sp, tid;
};

static bool fake_registers(const void *ctx, pid_t tid, struct process_registers *out)
{
	const struct stopped *stopped = ctx;

	*out = (struct process_registers){.pc = stopped->pc, .sp = stopped->sp};
	return (uint64_t)tid == (stopped->tid);
}

/* The stack is deeper by a word behind the instruction, which is of a single byte, than before it.
 */
static struct frame_rule push_rule(void *ctx, uint64_t pc)
{
	struct frame_rule rule = fake_rule(ctx, pc);

	if (pc == PLAIN + 0x51)
		rule.sp_delta = FRAME + 8;
	return rule;
}

static void take_running(const struct stopped *stopped, struct snapshot *snap)
{
	struct goruntime rt = fakemem_layout;
	struct snapshot_source from = {.mem = &fakemem_memory,
				       .rt = &rt,
				       .allgs = ALLGS,
				       .rule = push_rule,
				       .registers = fake_registers,
				       .registers_ctx = stopped};
	struct errmsg err = {0};

	rt.m_procid = 64;
	fakemem_put(g_at(0) + 48, M);
	fakemem_put(g_at(0) + 144, GOROUTINE_RUNNING);
	fakemem_put(M, G0);
	fakemem_put(M + 64, stopped->tid);
	*snap = (struct snapshot){0};
	assert_int_equal(snapshot_take(&from, snap, &err), 0);
}

/* The rule for its frame is that of the instruction which comes next, which has not been executed.
 */
static void test_interrupted(void **state)
{
	const struct stopped stopped = {PLAIN + 0x50, sp_at(0), TID};
	struct snapshot snap;
	size_t count;

	(void)state;
	begin(1);
	fakemem_put(sp_at(0) + FRAME + 8, UNKNOWN);
	fakemem_put(sp_at(0) + 2 * FRAME + 8, FIRST);
	take_running(&stopped, &snap);
	const uint64_t *stack = snapshot_stack(&snap, snap.all[0].stack, &count);

	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	assert_true(snap.all[0].interrupted);
	assert_int_equal(count, 2);
	assert_int_equal(stack[0], PLAIN + 0x51);
	assert_int_equal(stack[1], PLAIN + 0x10);
	snapshot_free(&snap);
}

/* On another stack than its own and the system's, it has none that could be read. */
static void test_elsewhere(void **state)
{
	const struct stopped stopped = {PLAIN + 0x50, STACKS + 0x10000, TID};
	struct snapshot snap;

	(void)state;
	begin(1);
	take_running(&stopped, &snap);
	assert_int_equal(snap.all[0].stack_state, STACK_RUNNING);
	snapshot_free(&snap);
}

/* Where its thread's stack pointer is: on its own stack, on that of g0, in C; and which thread */
static void test_where_it_runs(void **state)
{
	enum { LO = STACKS, HI = STACKS + STACK_SIZE, LO0 = STACKS + 0x10000, HI0 = LO0 + 0x100 };
	static const struct {
		uint64_t sp, tid;
		unsigned found; /* STACK_READ, ... */
		bool interrupted;
	} rows[] = {
		{LO, TID, STACK_READ, true},       {LO - 8, TID, STACK_RUNNING, false},
		{HI - 32, TID, STACK_READ, true},  {HI, TID, STACK_RUNNING, false},
		{LO0, TID, STACK_READ, false},     {LO0 - 8, TID, STACK_RUNNING, false},
		{HI0 - 8, TID, STACK_READ, false}, {HI0, TID, STACK_RUNNING, false},
		{LO, INT32_MAX, STACK_READ, true}, {LO, INT32_MAX + 1ULL, STACK_RUNNING, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct stopped stopped = {PLAIN + 0x50, rows[i].sp, rows[i].tid};
		struct snapshot snap;
		size_t count;

		begin(1);
		fakemem_put(G0, LO0);
		fakemem_put(G0 + 8, HI0);
		fakemem_put(rows[i].sp + FRAME, FIRST);
		take_running(&stopped, &snap);
		assert_int_equal(snap.all[0].stack_state, rows[i].found);
		assert_int_equal(snap.all[0].interrupted, rows[i].interrupted);
		const uint64_t *stack = snapshot_stack(&snap, snap.all[0].stack, &count);

		/* or what it had when it went to the system stack */
		assert_int_equal(count, rows[i].found == STACK_RUNNING ? 0
					: rows[i].interrupted          ? 1
								       : 2);
		if (count)
			assert_int_equal(stack[0], rows[i].interrupted ? PLAIN + 0x51 : PLAIN);
		snapshot_free(&snap);
	}
}

/* Without a clock, it is as late as the latest that was noted. */
static void test_timeless(void **state)
{
	struct snapshot_source from = {.mem = &fakemem_memory,
				       .rt = &fakemem_layout,
				       .allgs = ALLGS,
				       .rule = fake_rule,
				       .timeless = true};
	struct snapshot snap = {0};
	struct errmsg err = {0};
	uint64_t ns;

	(void)state;
	begin(3);
	fakemem_put(g_at(0) + 168, 5000);
	fakemem_put(g_at(1) + 168, 7000);
	fakemem_put(g_at(2) + 64, UNKNOWN);
	assert_int_equal(snapshot_take(&from, &snap, &err), 0);
	assert_true(snap.timeless);
	assert_int_equal(snap.all[2].stack_state, STACK_UNKNOWN);
	assert_true(fakemem.reads < 30); /* the third one is not read again and again */
	assert_true(snapshot_since(&snap, &snap.all[0], &ns));
	assert_int_equal(ns, 2000);
	assert_true(snapshot_since(&snap, &snap.all[1], &ns));
	assert_int_equal(ns, 0);
	snapshot_free(&snap);
}

/* --- the list, by code --- */

static void test_allgs(void **state)
{
	static const uint8_t bytes[] = "\x48\x8b\x05\x00\x10\x00\x00"  /* mov rax, [rip+0x1000] */
				       "\x48\x8b\x1d\x0a\x20\x00\x00"  /* mov rbx, [rip+0x200a] */
				       "\x48\x8b\x0d\x0b\x20\x00\x00"  /* mov rcx, [rip+0x200b] */
				       "\x48\x89\x05\xf4\x1f\x00\x00"; /* mov [rip+0x1ff4], rax */
	struct insn_code code = {bytes, sizeof(bytes) - 1, 0x401000};
	uint64_t addr;

	(void)state;
	assert_true(runtime_vars_parse_allgs(ARCH_AMD64, &code, &addr));
	assert_int_equal(addr, 0x403010);
	code.len -= 7; /* two words in a row are no slice */
	assert_false(runtime_vars_parse_allgs(ARCH_AMD64, &code, &addr));
}

/* As src/runtime/runtime2.go numbers them */
static void test_status_numbers(void **state)
{
	static const char *const names[] = {"???",       "runnable",  "running", "syscall",
					    "waiting",   "???",       "???",     "???",
					    "copystack", "preempted", "leaked",  "???"};
	const struct snapshot none = {.when_ns = 0};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct goroutine g = {.status = (uint8_t)i};

		assert_string_equal(snapshot_state(&none, &g), names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_numbers), cmocka_unit_test(test_stack),
		cmocka_unit_test(test_states),         cmocka_unit_test(test_groups),
		cmocka_unit_test(test_changing),       cmocka_unit_test(test_changed_once),
		cmocka_unit_test(test_wild_list),      cmocka_unit_test(test_wild_pointers),
		cmocka_unit_test(test_wild_stacks),    cmocka_unit_test(test_endless),
		cmocka_unit_test(test_allgs),          cmocka_unit_test(test_args),
		cmocka_unit_test(test_args_cut),       cmocka_unit_test(test_args_changing),
		cmocka_unit_test(test_interrupted),    cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_timeless),       cmocka_unit_test(test_where_it_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
