// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "goroutines/groups.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "goroutines/unwinder.h"
#include "machine/insn.h"

/* A program's memory: the list of goroutines, goroutines, stacks, each of its own kind of page. */
enum {
	BASE = 0x10000,
	ALLGS = BASE,
	LIST = BASE + 0x100,
	G = BASE + 0x1000,
	STACKS = BASE + 0x8000
};
enum { G_SIZE = 0x200, STACK_SIZE = 0x1000, SIZE = 0x40000, FRAME = 16 };
enum { PLAIN = 0x1000, FIRST = 0x2000, SWITCH = 0x3000, UNKNOWN = 0x4000 }; /* of code */

struct fake {
	uint8_t bytes[SIZE];
	size_t reads;
	void (*before)(struct fake *fake); /* the program runs on: called before each read */
};

static bool fake_read(void *ctx, uint64_t addr, void *out, size_t len)
{
	struct fake *fake = ctx;

	fake->reads++;
	if (fake->before)
		fake->before(fake);
	if (addr < BASE || len > SIZE || addr - BASE > SIZE - len)
		return false;
	memcpy(out, fake->bytes + (addr - BASE), len);
	return true;
}

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

static const struct goruntime layout = {.g_stack_hi = 8,
					.g_m = 48,
					.g_sched_sp = 56,
					.g_goid = 152,
					.g_gopc = 288,
					.g_parent_goid = 280,
					.g_status = 144,
					.g_waitsince = 168,
					.g_waitreason = 176,
					.g_syscall_sp = 104};

static void put(struct fake *fake, uint64_t addr, uint64_t value)
{
	memcpy(fake->bytes + (addr - BASE), &value, sizeof(value));
}

static uint64_t g_at(size_t i)
{
	return G + i * G_SIZE;
}

static uint64_t sp_at(size_t i)
{
	return STACKS + i * STACK_SIZE + STACK_SIZE / 2;
}

static void put_list(struct fake *fake, uint64_t len, uint64_t cap)
{
	put(fake, ALLGS, LIST);
	put(fake, ALLGS + 8, len);
	put(fake, ALLGS + 16, cap);
}

/* Goroutine i + 1 waits at `pc`, called by `caller`, which every goroutine's first function has
 * called. */
static void put_g(struct fake *fake, size_t i, uint64_t pc, uint64_t caller)
{
	put(fake, LIST + i * 8, g_at(i));
	put(fake, g_at(i), STACKS + i * STACK_SIZE);
	put(fake, g_at(i) + 8, STACKS + (i + 1) * STACK_SIZE);
	put(fake, g_at(i) + 56, sp_at(i));
	put(fake, g_at(i) + 64, pc);
	put(fake, g_at(i) + 144, GOROUTINE_WAITING);
	put(fake, g_at(i) + 152, i + 1);
	put(fake, g_at(i) + 176, 3);
	put(fake, g_at(i) + 288, PLAIN + 0x80);
	put(fake, sp_at(i) + FRAME, caller);
	put(fake, sp_at(i) + 2 * FRAME + 8, FIRST);
}

static struct fake *fake_new(size_t count)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	put_list(fake, count, count);
	for (size_t i = 0; i < count; i++)
		put_g(fake, i, PLAIN, PLAIN + 0x10);
	return fake;
}

static int take_args(struct fake *fake, bool with_args, struct snapshot *snap)
{
	struct memory mem = {fake_read, fake};
	struct snapshot_source from = {.mem = &mem,
				       .rt = &layout,
				       .allgs = ALLGS,
				       .rule = fake_rule,
				       .with_args = with_args};
	struct errmsg err = {0};

	*snap = (struct snapshot){0};
	return snapshot_take(&from, snap, &err);
}

static int take(struct fake *fake, struct snapshot *snap)
{
	return take_args(fake, false, snap);
}

static void done(struct fake *fake, struct snapshot *snap)
{
	snapshot_free(snap);
	free(fake);
}

static void test_stack(void **state)
{
	struct fake *fake = fake_new(1);
	struct snapshot snap;
	size_t count;

	(void)state;
	assert_int_equal(take(fake, &snap), 0);
	assert_int_equal(snap.count, 1);
	assert_int_equal(snap.all[0].goid, 1);
	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	const uint64_t *frames = snapshot_stack(&snap, snap.all[0].stack, &count);

	assert_int_equal(count, 2);
	assert_int_equal(frames[0], PLAIN);
	assert_int_equal(frames[1], PLAIN + 0x10);
	done(fake, &snap);
}

/* In a system call, the stack is the caller's; a running one has none that could be read. */
static void test_states(void **state)
{
	struct fake *fake = fake_new(4);
	struct snapshot snap;

	(void)state;
	put(fake, g_at(0) + 144, GOROUTINE_SYSCALL);
	put(fake, g_at(0) + 104, sp_at(0) + FRAME + 8);
	put(fake, g_at(0) + 112, PLAIN + 0x30);
	put(fake, g_at(1) + 144, GOROUTINE_RUNNING);
	put(fake, g_at(2) + 144, GOROUTINE_DEAD);
	put(fake, g_at(3) + 144, 0x1000 | GOROUTINE_WAITING); /* the garbage collector looks on */
	assert_int_equal(take(fake, &snap), 0);
	assert_int_equal(snap.count, 3);
	size_t count;
	const uint64_t *frames = snapshot_stack(&snap, snap.all[0].stack, &count);

	assert_int_equal(count, 1);
	assert_int_equal(frames[0], PLAIN + 0x30);
	assert_string_equal(snapshot_state(&snap, &snap.all[0]), "syscall");
	assert_int_equal(snap.all[1].stack_state, STACK_RUNNING);
	assert_int_equal(snap.all[2].stack_state, STACK_READ);
	assert_string_equal(snapshot_state(&snap, &snap.all[2]), "waiting");
	done(fake, &snap);
}

static void test_groups(void **state)
{
	struct fake *fake = fake_new(6);
	struct snapshot snap;
	size_t count;

	(void)state;
	put_g(fake, 0, PLAIN + 0x20, PLAIN + 0x10); /* elsewhere */
	put_g(fake, 1, PLAIN, PLAIN + 0x18);        /* called from elsewhere */
	put(fake, g_at(2) + 176, 4);                /* for another reason */
	put(fake, g_at(3) + 288, PLAIN + 0x90);     /* of another go statement */
	assert_int_equal(take(fake, &snap), 0);
	struct group *groups = groups_make(&snap, NULL, &count);

	assert_int_equal(count, 5);
	assert_int_equal(groups[0].count, 2);
	assert_int_equal(groups[0].first->goid, 5);
	for (size_t i = 1; i < count; i++) {
		assert_int_equal(groups[i].count, 1);
		assert_int_equal(groups[i].first->goid, i);
	}
	free(groups);
	done(fake, &snap);
}

/* --- while it runs --- */

/* The caller is another one at each look. */
static void run_always(struct fake *fake)
{
	put(fake, sp_at(0) + FRAME, PLAIN + 0x10 + fake->reads);
}

/* It moves on while it is read first, and stays then. */
static void run_once(struct fake *fake)
{
	if (fake->reads == 6)
		put(fake, sp_at(0) + FRAME, PLAIN + 0x40);
}

/* Its fields change, but what is on its stack is the same. */
static void run_fields(struct fake *fake)
{
	put(fake, g_at(0) + 64, PLAIN + fake->reads);
}

static void test_changing(void **state)
{
	static void (*const runs[])(struct fake *) = {run_always, run_fields};
	struct snapshot snap;
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct fake *fake = fake_new(1);

		fake->before = runs[i];
		assert_int_equal(take(fake, &snap), 0);
		assert_int_equal(snap.count, 1);
		assert_int_equal(snap.all[0].stack_state, STACK_CHANGED);
		snapshot_stack(&snap, snap.all[0].stack, &count);
		assert_int_equal(count, 0);
		assert_true(fake->reads < 100);
		done(fake, &snap);
	}
}

static void test_changed_once(void **state)
{
	struct fake *fake = fake_new(1);
	struct snapshot snap;
	size_t count;

	(void)state;
	fake->before = run_once;
	assert_int_equal(take(fake, &snap), 0);
	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	const uint64_t *frames = snapshot_stack(&snap, snap.all[0].stack, &count);

	assert_int_equal(count, 2);
	assert_int_equal(frames[1], PLAIN + 0x40);
	done(fake, &snap);
}

/* --- arguments --- */

/* They are behind the return address, of the first frame that of FRAME + 8 bytes. */
static void put_args(struct fake *fake, size_t i, uint64_t first, uint64_t second)
{
	put(fake, sp_at(i) + FRAME + 8, first);
	put(fake, sp_at(i) + 2 * FRAME + 16, second);
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
	struct fake *fake = fake_new(2);
	struct snapshot snap;
	size_t len;

	(void)state;
	put_args(fake, 0, 11, 12);
	put_args(fake, 1, 21, 22);
	assert_int_equal(take_args(fake, true, &snap), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_args(&snap, i, 0, 10 * (i + 1) + 1);
		assert_args(&snap, i, 1, 10 * (i + 1) + 2);
	}
	snapshot_free(&snap);
	assert_int_equal(take(fake, &snap), 0); /* not asked for */
	assert_null(snapshot_args(&snap, &snap.all[0], 0, &len));
	done(fake, &snap);
}

/* The stack ends where they would be. */
static void test_args_cut(void **state)
{
	struct fake *fake = fake_new(1);
	struct snapshot snap;
	size_t len;

	(void)state;
	put(fake, g_at(0) + 8, sp_at(0) + 2 * FRAME + 16);
	assert_int_equal(take_args(fake, true, &snap), 0);
	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	assert_non_null(snapshot_args(&snap, &snap.all[0], 1, &len));
	assert_int_equal(len, 0);
	done(fake, &snap);
}

static void run_args(struct fake *fake)
{
	put_args(fake, 0, fake->reads < 9 ? fake->reads : 9, 5);
}

static void test_args_changing(void **state)
{
	struct fake *fake = fake_new(1);
	struct snapshot snap;

	(void)state;
	fake->before = run_args;
	assert_int_equal(take_args(fake, true, &snap), 0);
	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	assert_args(&snap, 0, 0, 9);
	done(fake, &snap);
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
		struct fake *fake = fake_new(1);

		put_list(fake, wild[i].len, wild[i].cap);
		assert_int_equal(take(fake, &snap), -1);
		assert_true(fake->reads < 100);
		done(fake, &snap);
	}
}

static void test_wild_pointers(void **state)
{
	struct fake *fake = fake_new(4);
	struct snapshot snap;

	(void)state;
	put(fake, LIST, 0);
	put(fake, LIST + 8, UINT64_MAX - 7);
	put(fake, LIST + 16, g_at(2) + 1);
	put(fake, g_at(3) + 144, 77);
	assert_int_equal(take(fake, &snap), 0);
	assert_int_equal(snap.count, 0);
	assert_int_equal(snap.unread, 4);
	done(fake, &snap);
}

static void test_wild_stacks(void **state)
{
	struct fake *fake = fake_new(8);
	struct snapshot snap;
	size_t count;

	(void)state;
	put(fake, g_at(0) + 56, 8);         /* outside its stack */
	put(fake, g_at(1) + 8, UINT64_MAX); /* most of it is not there */
	put(fake, g_at(2) + 56, sp_at(2) + 4);
	put(fake, sp_at(3) + FRAME, UNKNOWN); /* leads nowhere */
	put(fake, sp_at(4) + FRAME, SWITCH);
	put(fake, sp_at(5) + 2 * FRAME + 8, 0);
	put(fake, g_at(6) + 64, FIRST);
	put(fake, g_at(7) + 8, sp_at(7) + FRAME + 8); /* ends too early */
	assert_int_equal(take(fake, &snap), 0);
	assert_int_equal(snap.count, 8);
	for (size_t i = 0; i < snap.count; i++) {
		assert_int_equal(snap.all[i].stack_state, STACK_UNKNOWN);
		snapshot_stack(&snap, snap.all[i].stack, &count);
		assert_int_equal(count, 0);
	}
	assert_true(fake->reads < 1000);
	done(fake, &snap);
}

/* A stack without an end is cut; goroutines of a list that names one again and again are one stack.
 */
static void test_endless(void **state)
{
	struct fake *fake = fake_new(20);
	struct snapshot snap;
	size_t count;

	(void)state;
	put_list(fake, 100, 100);
	for (size_t i = 0; i < 100; i++)
		put(fake, LIST + i * 8, g_at(0));
	for (uint64_t at = STACKS; at < BASE + SIZE; at += 8)
		put(fake, at, PLAIN);
	put(fake, g_at(0) + 8, BASE + SIZE);
	assert_int_equal(take(fake, &snap), 0);
	assert_int_equal(snap.count, 100);
	assert_int_equal(snap.all[99].stack_state, STACK_CUT);
	assert_int_equal(snap.all[99].stack, snap.all[0].stack);
	snapshot_stack(&snap, snap.all[0].stack, &count);
	assert_int_equal(count, UNWINDER_FRAMES);
	done(fake, &snap);
}

/* --- one that runs, while its process does not --- */

enum { M = BASE + 0x800, G0 = BASE + 0x900, TID = 77 };

struct stopped {
	uint64_t pc, sp;
};

static bool fake_registers(const void *ctx, pid_t tid, uint64_t *pc, uint64_t *sp)
{
	const struct stopped *stopped = ctx;

	*pc = stopped->pc;
	*sp = stopped->sp;
	return tid == TID;
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

static void take_running(struct fake *fake, const struct stopped *stopped, struct snapshot *snap)
{
	struct goruntime rt = layout;
	struct memory mem = {fake_read, fake};
	struct snapshot_source from = {.mem = &mem,
				       .rt = &rt,
				       .allgs = ALLGS,
				       .rule = push_rule,
				       .registers = fake_registers,
				       .registers_ctx = stopped};
	struct errmsg err = {0};

	rt.m_procid = 64;
	put(fake, g_at(0) + 48, M);
	put(fake, g_at(0) + 144, GOROUTINE_RUNNING);
	put(fake, M, G0);
	put(fake, M + 64, TID);
	*snap = (struct snapshot){0};
	assert_int_equal(snapshot_take(&from, snap, &err), 0);
}

/* The rule for its frame is that of the instruction which comes next, which has not been executed.
 */
static void test_interrupted(void **state)
{
	const struct stopped stopped = {PLAIN + 0x50, sp_at(0)};
	struct fake *fake = fake_new(1);
	struct snapshot snap;
	size_t count;

	(void)state;
	put(fake, sp_at(0) + FRAME + 8, UNKNOWN);
	put(fake, sp_at(0) + 2 * FRAME + 8, FIRST);
	take_running(fake, &stopped, &snap);
	const uint64_t *stack = snapshot_stack(&snap, snap.all[0].stack, &count);

	assert_int_equal(snap.all[0].stack_state, STACK_READ);
	assert_true(snap.all[0].interrupted);
	assert_int_equal(count, 2);
	assert_int_equal(stack[0], PLAIN + 0x51);
	assert_int_equal(stack[1], PLAIN + 0x10);
	done(fake, &snap);
}

/* On another stack than its own and the system's, it has none that could be read. */
static void test_elsewhere(void **state)
{
	const struct stopped stopped = {PLAIN + 0x50, STACKS + 0x10000};
	struct fake *fake = fake_new(1);
	struct snapshot snap;

	(void)state;
	take_running(fake, &stopped, &snap);
	assert_int_equal(snap.all[0].stack_state, STACK_RUNNING);
	done(fake, &snap);
}

/* Without a clock, it is as late as the latest that was noted. */
static void test_timeless(void **state)
{
	struct fake *fake = fake_new(3);
	struct memory mem = {fake_read, fake};
	struct snapshot_source from = {
		.mem = &mem, .rt = &layout, .allgs = ALLGS, .rule = fake_rule, .timeless = true};
	struct snapshot snap = {0};
	struct errmsg err = {0};
	uint64_t ns;

	(void)state;
	put(fake, g_at(0) + 168, 5000);
	put(fake, g_at(1) + 168, 7000);
	put(fake, g_at(2) + 64, UNKNOWN);
	assert_int_equal(snapshot_take(&from, &snap, &err), 0);
	assert_true(snap.timeless);
	assert_int_equal(snap.all[2].stack_state, STACK_UNKNOWN);
	assert_true(fake->reads < 30); /* the third one is not read again and again */
	assert_true(snapshot_since(&snap, &snap.all[0], &ns));
	assert_int_equal(ns, 2000);
	assert_true(snapshot_since(&snap, &snap.all[1], &ns));
	assert_int_equal(ns, 0);
	done(fake, &snap);
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
	assert_true(runtime_vars_parse_allgs(&code, &addr));
	assert_int_equal(addr, 0x403010);
	code.len -= 7; /* two words in a row are no slice */
	assert_false(runtime_vars_parse_allgs(&code, &addr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack),         cmocka_unit_test(test_states),
		cmocka_unit_test(test_groups),        cmocka_unit_test(test_changing),
		cmocka_unit_test(test_changed_once),  cmocka_unit_test(test_wild_list),
		cmocka_unit_test(test_wild_pointers), cmocka_unit_test(test_wild_stacks),
		cmocka_unit_test(test_endless),       cmocka_unit_test(test_allgs),
		cmocka_unit_test(test_args),          cmocka_unit_test(test_args_cut),
		cmocka_unit_test(test_args_changing), cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_elsewhere),     cmocka_unit_test(test_timeless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
