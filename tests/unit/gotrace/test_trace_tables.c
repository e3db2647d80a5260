// SPDX-License-Identifier: Apache-2.0
/* gotrace's kernel side where it reads by tables of steps, run on this side: what each step reads,
 * calls that are waited for, and rooms that are all in use. */
#define STRING_MAX 16
#define SAVED_MAX 48
#define RING_PAGES 16
#define PLACES 24
#define CALLS 20
#define RETURNS
#define USER_FRAMES 0
#define KERNEL_FRAMES 0
#define TABLES 4
#define TABLE_ENDS 1
#define TABLE_BEGINS 2
#define TABLE_ENTRIES 3
#define STEPS 128
#define STEPS_ENTRY 16
#define STEPS_SAVED 6
#define STEPS_RETURN 8
#define STEPS_DYNAMIC 3
#define ROOMS 4

#include "traceplans.h"

/* without what the kernel's own instruction is for; here it is exact */
#define extremes_exchange extremes_exchange_plain
#include "bpf-src/parts/extremes.h"
#undef extremes_exchange

static inline u64 extremes_exchange(u64 *slot, u64 old, u64 value)
{
	u64 was = *slot;

	if (was == old)
		*slot = value;
	return was;
}

#define steps table_steps        /* steps.h has another */
#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */
#undef steps

#include "tracehits.h"

enum { FREE = FAKEGOROUTINE_FREE, AWAY = FAKEMEM_BASE + FAKEMEM_MAX };

static int prepare(void **state)
{
	begin(state);
	fakekernel.ns_step = 0;
	for (u32 i = 0; i < ROOMS; i++)
		memset(rooms.lookup(&i)->record, 0xa5, sizeof(rooms.lookup(&i)->record));
	return 0;
}

/* Table `n`, of a place with that row: steps of which the first `saved` are done when a call
 * begins, and leave `saved_size` bytes. */
static void table_is(u32 n, u32 record_size, u32 saved_size, const struct trace_step *all,
		     u32 saved, u32 last)
{
	*tables.lookup(&n) = (struct trace_table){record_size, saved_size, 32 * n, saved, last};
	for (u32 i = 0; i < saved + last; i++) {
		u32 at = 32 * n + i;

		*table_steps.lookup(&at) = all[i];
	}
	place(n, n, saved_size ? RETURN_PLAN : ENTRY_PLAN)->table = n;
}

static void enter(const struct trace_step *all, u32 count, u32 record_size, u64 ax)
{
	table_is(1, record_size, 0, all, 0, count);
	hit_copy(TABLE_ENTRIES, 1, 256, 1, COOKIE_CALL, ax, 0);
}

#define ENTER(all, size, ax) enter(all, sizeof(all) / sizeof((all)[0]), size, ax)

static void test_registers(void **state)
{
	static const struct trace_step all[] = {
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 0, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 1, .at = 8, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 2, .at = 16, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 3, .at = 24, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 6, .at = 32, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 7, .at = 40, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 8, .at = 48, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 9, .at = 56, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 10, .at = 64, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 11, .at = 72, .max = 8},
	};
	static const struct trace_step narrow[] = {
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 0, .max = 1},
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 8, .max = 2},
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 16, .max = 4},
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 25, .max = 1, .n = 8},
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 34, .max = 2, .n = 32},
	};

	(void)state;
	regs.cx = 1;
	regs.dx = 2;
	regs.bx = 3;
	regs.si = 6;
	regs.di = 7;
	regs.r8 = 8;
	regs.r9 = 9;
	regs.r10 = 10;
	regs.r11 = 11;
	ENTER(all, 80, 0xaaaa);
	expect_events("1 entry @1000 g1: aaaa 1 2 3 6 7 8 9 a b; ");
	ENTER(narrow, 40, 0x1122334455667788);
	expect_events("1 entry @1000 g1: aa88 7788 55667788 7703 33440006; ");
	ENTER(all, 80, NO);
	expect_events("");
	expect_counts("");
	assert_int_equal(fakekernel.ns, 1000);
}

static void test_states(void **state)
{
	static const struct trace_step all[] = {
		{.what = TRACE_STEP_STACK, .at = 0, .max = 8, .n = 16},
		{.what = TRACE_STEP_STATE, .at = 8, .n = 8},
		{.what = TRACE_STEP_KEPT},
		{.what = TRACE_STEP_STACK, .at = 16, .max = 2, .n = 24},
		{.what = TRACE_STEP_STATE, .at = 24, .n = 2},
		{.what = TRACE_STEP_STATE, .at = 32, .n = 3},
		{.what = TRACE_STEP_STACK, .at = 40, .max = 8, .n = 0x100000},
		{.what = TRACE_STEP_KEPT},
		{.what = TRACE_STEP_STATE, .at = 48, .n = 4},
		{.what = TRACE_STEP_SET, .at = 56, .max = 8, .n = -2},
		{.what = TRACE_STEP_SP, .at = 64},
	};

	(void)state;
	fakemem_put(fakegoroutine_hi(1) - 256 + 16, 0x1234);
	fakemem_put(fakegoroutine_hi(1) - 256 + 24, 0xcccccc);
	ENTER(all, 72, 0);
	expect_events("1 entry @1000 g1: 1234 8 a5a5a5a5a5a5cccc 2 3 0 fffffffffffffffe "
		      "fffffffffffffffe 31f00; ");
	/* resumed at its start: what registers held is lost */
	table_is(1, 72, 0, all, 0, 11);
	places.lookup(&(u32){1})->restart = 0x10;
	regs.bx = TRACEHITS_BIAS + 2 * TRACEHITS_SITE + 0x10;
	hit_copy(TABLE_ENTRIES, 1, 256, 1, COOKIE_CALL, 0, 0);
	expect_events("1 entry @1000 g1: 1234 8 a5a5a5a5a5a5cccc fffffffffffffffc 3 0 "
		      "fffffffffffffffe fffffffffffffffe 31f00; ");
}

static void test_behind_pointers(void **state)
{
	static const struct trace_step all[] = {
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 0, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 3, .at = 8, .max = 8},
		{.what = TRACE_STEP_ELEMENTS, .own = 0, .at = 24, .state = 16, .max = 16, .n = 8},
		{.what = TRACE_STEP_OBJECT, .own = 0, .at = 48, .state = 40, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 1, .at = 72, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 2, .at = 80, .max = 8},
		{.what = TRACE_STEP_GROUP, .how = 1, .own = 56, .at = 96, .state = 88, .max = 8},
		{.what = TRACE_STEP_GROUP, .how = 0, .own = 56, .at = 112, .state = 104, .max = 8},
	};

	(void)state;
	for (u32 i = 0; i < 6; i++)
		fakemem_put(FREE + 8 * i, 0x10 + i);
	fakemem_put(FREE + 0x100, FREE + 0x200);
	fakemem_put(FREE + 0x210, FREE + 8);
	regs.bx = 1;
	regs.cx = FREE + 0x100;
	regs.dx = 1;
	ENTER(all, 120, FREE);
	expect_events("1 entry @1000 g1: 50000 1 8 10 ? 8 10 ?2 50100 1 8 11 8 50200; ");
	regs.bx = 3;
	regs.dx = 0;
	ENTER(all, 120, FREE);
	expect_events("1 entry @1000 g1: 50000 3 10 10 11 8 10 ?2 50100 0 8 50200 8 50200; ");
	regs.cx = 0;
	ENTER(all, 120, 0);
	ENTER(all, 120, AWAY);
	expect_events("1 entry @1000 g1: 0 3 ffffffffffffffff 10 11 ffffffffffffffff 10 ?2 0 "
		      "0 ffffffffffffffff 50200 ffffffffffffffff 50200; 1 entry @1000 g1: "
		      "110000 3 fffffffffffffffe 0 0 fffffffffffffffe 0 ?2 0 0 "
		      "ffffffffffffffff 50200 ffffffffffffffff 50200; ");
}

static void test_skips(void **state)
{
	static const struct trace_step all[] = {
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 0, .max = 8},
		{.what = TRACE_STEP_IF, .state = 0, .n = 3, .skip = 2},
		{.what = TRACE_STEP_SET, .at = 8, .n = 1},
		{.what = TRACE_STEP_SKIP, .skip = 1},
		{.what = TRACE_STEP_SET, .at = 16, .n = 2},
		{.what = TRACE_STEP_SET, .at = 24, .n = 3},
		{.what = TRACE_STEP_IF, .state = 0, .n = 3, .skip = 9},
		{.what = TRACE_STEP_SET, .at = 32, .n = 4},
	};

	(void)state;
	for (u64 ax = 2; ax < 5; ax++) {
		prepare(state);
		ENTER(all, 40, ax);
		expect_events(ax == 2   ? "1 entry @1000 g1: 2 ? 2 3 ?; "
			      : ax == 3 ? "1 entry @1000 g1: 3 1 ? 3 4; "
					: "1 entry @1000 g1: 4 1 ? 3 4; ");
	}
	prepare(state);
	ENTER(all, 40, (u64)-1);
	expect_events("1 entry @1000 g1: ffffffffffffffff ? 2 3 ?; ");
}

/* What interfaces hold is read last, of so many. */
static void test_dynamics(void **state)
{
	static const struct trace_step all[] = {
		{.what = TRACE_STEP_DYNAMIC, .how = DYNAMIC_TYPE, .own = 0, .at = 16, .max = 1},
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 0, .max = 8},
		{.what = TRACE_STEP_REGISTER, .how = 3, .at = 8, .max = 8},
		{.what = TRACE_STEP_DYNAMIC, .how = DYNAMIC_ITAB, .own = 0, .at = 264, .max = 9},
		{.what = TRACE_STEP_DYNAMIC, .how = DYNAMIC_TYPE, .own = 8, .at = 512, .max = 1},
		{.what = TRACE_STEP_DYNAMIC, .how = DYNAMIC_TYPE, .own = 0, .at = 760, .max = 1},
	};
	u64 key = type_key_of(FREE - TRACEHITS_BIAS, 5);
	struct trace_dyntype type = {.direct = 1, .inner = -1};

	(void)state;
	fakemem_put(FREE + 0x108, FREE);
	dyntypes.update(&key, &type);
	regs.bx = 0x77;
	ENTER(all, 264, FREE);
	expect_events("1 entry @1000 g1: 50000 77 ffffffffff950000 77 8 0 ? 0 ? 77 ?11 "
		      "ffffffffffffffff ?2 ffffffffffffffff ?2 ffffffffffffffff ?5; ");
	ENTER(all, 760, FREE + 0x100);
	expect_events("1 entry @1000 g1: 50100 77 ffffffffff950100 77 ffffffffffffffff 0 ? 0 "
		      "? 77 ?11 ffffffffffffffff ?2 ffffffffffffffff ?2 ffffffffffffffff ?5 "
		      "ffffffffff950000 77 8 0 ? 0 ? 77 ?11 ffffffffffffffff ?2 "
		      "ffffffffffffffff ?2 ffffffffffffffff ?5 ffffffffff900077 "
		      "ffffffffff950100 ffffffffffffffff 0 ? 0 ?25; ");
}

/* No more steps than there are, or than the loop has. */
static void test_counts(void **state)
{
	struct trace_step all[20];

	(void)state;
	for (u32 i = 0; i < 20; i++)
		all[i] = (struct trace_step){.what = TRACE_STEP_SET, .at = 8 * i, .n = i};
	enter(all, 20, 160, 0);
	expect_events("1 entry @1000 g1: 0 1 2 3 4 5 6 7 8 9 a b c d e f ?4; ");
	prepare(state);
	table_is(1, 160, 0, all, 0, 20);
	tables.lookup(&(u32){1})->count = 3;
	tables.lookup(&(u32){1})->saved = 2;
	hit_copy(TABLE_ENTRIES, 1, 256, 1, COOKIE_CALL, 0, 0);
	expect_events("1 entry @1000 g1: ?2 2 3 4 ?15; ");
	/* behind the last one there is none */
	prepare(state);
	table_is(1, 160, 0, all, 0, 20);
	tables.lookup(&(u32){1})->first = STEPS - 2;
	table_steps.lookup(&(u32){STEPS - 2})[0] = all[3];
	table_steps.lookup(&(u32){STEPS - 1})[0] = all[4];
	hit_copy(TABLE_ENTRIES, 1, 256, 1, COOKIE_CALL, 0, 0);
	expect_events("1 entry @1000 g1: ?3 3 4 ?15; ");
}

/* --- calls that are waited for --- */

static const struct trace_step returning_steps[] = {
	{.what = TRACE_STEP_REGISTER, .how = 0, .at = 0, .max = 8},
	{.what = TRACE_STEP_SP, .at = 8},
	{.what = TRACE_STEP_REGISTER, .how = 3, .at = 16, .max = 8},
	{.what = TRACE_STEP_REGISTER, .how = 0, .at = 24, .max = 8},
	{.what = TRACE_STEP_MOVED, .own = 16, .at = 32, .state = 8},
	{.what = TRACE_STEP_SET, .at = 40, .n = 7},
};

static void begins(unsigned n, unsigned depth, u64 ax)
{
	hit_copy(TABLE_BEGINS, n, depth, 2, COOKIE_CALL, ax, 0);
}

static void ends(unsigned n, unsigned depth, u64 ax)
{
	hit_copy(TABLE_ENDS, n, depth, 2, COOKIE_RETURN, ax, 0);
}

static void test_returns(void **state)
{
	u64 hi = fakegoroutine_hi(3);

	(void)state;
	fakekernel.ns_step = 10;
	table_is(2, 48, 24, returning_steps, 3, 3);
	regs.bx = fakegoroutine_hi(1) - 8;
	begins(1, 64, 5);
	begins(1, 128, NO);
	regs.bx = 0x55;
	begins(2, 64, 6);
	ends(1, 64, 7);
	expect_events("2 returned @1050+40 g1: 5 31fc0 31ff8 7 31ff8 7; ");
	ends(2, 64, NO);
	assert_int_equal(goroutines_map.count, 0);
	expect_events("");
	/* where a call begins its end is not awaited, nor the other way round */
	hit_copy(TABLE_ENDS, 1, 64, 2, COOKIE_CALL, 1, 0);
	begins(1, 64, 8);
	hit_copy(TABLE_BEGINS, 1, 64, 2, COOKIE_RETURN, 1, 0);
	/* its stack moves meanwhile */
	regs.bx = fakegoroutine_hi(4) - 64;
	begins(4, 96, 9);
	fakemem_put(fakegoroutine_g(4), hi - FAKEGOROUTINE_SIZE);
	fakemem_put(fakegoroutine_g(4) + 8, hi);
	fakegoroutine_runs(3, 96);
	regs.r14 = fakegoroutine_g(4);
	regs.ax = 1;
	fakekernel.cookie = cookie_make(2, COOKIE_RETURN, 0, 0);
	handle(&regs, TABLE_ENDS);
	expect_events("2 returned @1130+10 g4: 9 34fa0 34fc0 1 33fc0 7; ");
	begins(1, 64, 2);
	expect_events("2 unseen @1140+50 g1: 8 31fc0 55 0 0 0; ");
	expect_counts("");
}

/* What is kept of a call has its room; more than that is not kept. */
static void test_saved(void **state)
{
	struct deep_key key = {.index = 0};

	(void)state;
	table_is(2, 56, 48, returning_steps, 6, 0);
	begins(1, 64, 5);
	ends(1, 64, 7);
	expect_events("2 returned @1000 g1: 5 31fc0 0 5 0 7 ?; ");
	table_is(2, 64, 56, returning_steps, 6, 0);
	begins(1, 64, 5);
	key.who = ((const struct deep_key *)fakemap_key(&deep_calls_map, 0))->who;
	assert_int_equal(*(u64 *)deep_calls.lookup(&key)->saved, 0);
}

/* Calls that leave by a jump, of several functions, are known by where they return to. */
static void test_tails(void **state)
{
	(void)state;
	table_is(2, 48, 24, returning_steps, 3, 3);
	table_is(3, 16, 8, returning_steps, 1, 1);
	fakemem_put(fakegoroutine_hi(1) - 64, 0x4444);
	hit_copy(TABLE_BEGINS, 1, 64, 2, COOKIE_CALL, 1, COOKIE_TAIL);
	hit_copy(TABLE_BEGINS, 1, 64, 3, COOKIE_CALL, 2, COOKIE_TAIL);
	place(5, 5, RETURN_PLAN);
	hit_copy(0, 1, 64, 5, COOKIE_RETURN, 3, COOKIE_TAIL);
	expect_events("");
	hit_copy(TABLE_ENDS, 1, 64, 3, COOKIE_RETURN, 3, COOKIE_TAIL);
	hit_copy(TABLE_ENDS, 1, 64, 3, COOKIE_RETURN, 4, COOKIE_TAIL);
	expect_events("3 returned @1000 g1: 2 31fc0; 2 returned @1000 g1: 1 31fc0 0 4 0 7; ");
	assert_int_equal(goroutines_map.count, 0);
}

/* --- rooms --- */

static unsigned busy(void)
{
	unsigned bits = 0;

	for (u32 i = 0; i < ROOMS; i++)
		bits |= rooms.lookup(&i)->busy << i;
	return bits;
}

static void test_rooms(void **state)
{
	static const struct trace_step one = {.what = TRACE_STEP_SET, .at = 0, .n = 7};

	(void)state;
	for (u32 cpu = 0; cpu < 6; cpu++) {
		fakekernel.cpu = cpu;
		enter(&one, 1, 8, 0);
		assert_int_equal(busy(), 0);
		for (u32 i = 0; i < ROOMS; i++) {
			assert_int_equal(*(u64 *)rooms.lookup(&i)->record == 7,
					 i <= cpu || cpu >= 4);
			rooms.lookup(&i)->busy = i == cpu % ROOMS;
		}
		enter(&one, 1, 8, 0);
		assert_int_equal(busy(), 1U << cpu % ROOMS);
		*(u64 *)rooms.lookup(&(u32){(cpu + 3) % ROOMS})->record = 0xa5a5a5a5a5a5a5a5;
		enter(&one, 1, 8, 0);
		assert_int_equal(*(u64 *)rooms.lookup(&(u32){(cpu + 3) % ROOMS})->record, 7);
		for (u32 i = 0; i < ROOMS; i++)
			rooms.lookup(&i)->busy = 0;
		for (u32 i = cpu + 1; i < ROOMS; i++)
			*(u64 *)rooms.lookup(&i)->record = 0xa5a5a5a5a5a5a5a5;
	}
	assert_int_equal(fakekernel.event_count, 18);
	expect_counts("");
	/* of all but the last one tried */
	for (u32 i = 0; i < ROOMS; i++)
		rooms.lookup(&i)->busy = i != 2;
	enter(&one, 1, 8, 0);
	assert_int_equal(fakekernel.event_count, 19);
	rooms.lookup(&(u32){2})->busy = 1;
	enter(&one, 1, 8, 0);
	assert_int_equal(fakekernel.event_count, 19);
	expect_counts("11 1; ");
}

/* A call for which there was no room when it began is not printed when it ends, however. */
static void test_rooms_full(void **state)
{
	(void)state;
	fakekernel.cpu = 0;
	table_is(2, 48, 24, returning_steps, 3, 3);
	for (u32 i = 0; i < ROOMS; i++)
		rooms.lookup(&i)->busy = 1;
	begins(1, 64, 5);
	for (u32 i = 0; i < ROOMS; i++)
		rooms.lookup(&i)->busy = 0;
	ends(1, 64, 5);
	hit(1, 64, 0, COOKIE_GOEXIT, 0);
	expect_events("");
	expect_counts("11 1; ");
	begins(1, 64, 5);
	for (u32 i = 0; i < ROOMS; i++)
		rooms.lookup(&i)->busy = 1;
	ends(1, 64, 5);
	expect_events("");
	expect_counts("11 2; ");
	for (u32 i = 0; i < ROOMS; i++)
		rooms.lookup(&i)->busy = 0;
	fakekernel.ring_room = 0;
	begins(1, 64, 5);
	ends(1, 64, 5);
	assert_int_equal(busy(), 0);
	expect_counts("0 1; 11 2; ");
	/* no such table */
	places.lookup(&(u32){2})->table = TABLES;
	begins(1, 64, 5);
	ends(1, 64, 5);
	hit_copy(TABLE_ENTRIES, 1, 64, 2, COOKIE_CALL, 1, 0);
	expect_counts("0 1; 11 4; ");
	assert_int_equal(goroutines_map.count, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_registers, prepare),
		cmocka_unit_test_setup(test_states, prepare),
		cmocka_unit_test_setup(test_behind_pointers, prepare),
		cmocka_unit_test_setup(test_skips, prepare),
		cmocka_unit_test_setup(test_dynamics, prepare),
		cmocka_unit_test_setup(test_counts, prepare),
		cmocka_unit_test_setup(test_returns, prepare),
		cmocka_unit_test_setup(test_saved, prepare),
		cmocka_unit_test_setup(test_tails, prepare),
		cmocka_unit_test_setup(test_rooms, prepare),
		cmocka_unit_test_setup(test_rooms_full, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
